// Package osfile has files that several processes share: locks, and temporary folders that
// carry the id of their process, so that what killed processes left can be removed.
package osfile

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// prefix begins the names of the folders. The id of the process follows.
const prefix = "palmares-draft-"

// TempDir makes an empty folder in another one, which is the temporary folder of the system
// if in is "". The caller removes it.
func TempDir(in string) (string, error) {
	return os.MkdirTemp(in, prefix+strconv.Itoa(os.Getpid())+"-")
}

// TryWrite returns an error if a number of bytes cannot be written to a new file in a folder. It leaves none behind.
func TryWrite(dir string, size int) error {
	f, err := os.CreateTemp(dir, ".palmares-*")
	if err != nil {
		return err
	}
	_ = os.Remove(f.Name()) // a process that is killed leaves nothing, where files may be removed while they are open
	defer os.Remove(f.Name())
	_, err = f.Write(make([]byte, size))
	return errors.Join(err, f.Sync(), f.Close())
}

// started is when this process started, or a moment later.
var started = time.Now()

// RemoveLeftovers removes the folders of processes that no longer run. The id of this
// process may have been another's, as in a container, where it is always the same. in is
// as in TempDir.
func RemoveLeftovers(in string) error {
	in = cmp.Or(in, os.TempDir())
	found, err := os.ReadDir(in)
	for _, e := range found {
		rest, isOurs := strings.CutPrefix(e.Name(), prefix)
		if !isOurs {
			continue
		}
		dir := filepath.Join(in, e.Name())
		id, _, _ := strings.Cut(rest, "-")
		pid, parseErr := strconv.Atoi(id)
		if parseErr != nil || pid <= 0 {
			continue
		}
		info, statErr := os.Lstat(dir)
		if statErr != nil || !info.IsDir() || pid == os.Getpid() && !info.ModTime().Before(started) ||
			pid != os.Getpid() && isRunning(pid) {
			continue
		}
		err = errors.Join(err, os.RemoveAll(dir))
	}
	return err
}

// isRunning reports whether there is a process with that id, be it another user's.
func isRunning(pid int) bool {
	process, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	defer process.Release() //nolint:errcheck // it fails only if it was released before
	err = process.Signal(syscall.Signal(0))
	// Windows knows no such signal, but does not find processes that have ended.
	return err == nil || errors.Is(err, fs.ErrPermission) || runtime.GOOS == "windows"
}
