//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package osfile

import (
	"errors"
	"os"
	"syscall"
)

// Lock locks a file, which it creates, for as long as it is open; the kernel unlocks it
// when the process ends, however that happens. It reports false if another process has
// it.
func Lock(path string) (*os.File, bool, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, false, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close() // nothing was written
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, false, nil
		}
		return nil, false, err
	}
	return f, true, nil
}

// IsReadOnly reports whether a file is on a file system that nobody can write to.
func IsReadOnly(path string) bool {
	const writable = 2 // W_OK
	return errors.Is(syscall.Access(path, writable), syscall.EROFS)
}

// IsOurs reports whether a file belongs to the user of this process.
func IsOurs(info os.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int64(stat.Uid) == int64(os.Geteuid())
}
