//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package lockfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestIsLockedCreatesNothingAndKeepsNobodyOut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	want := func(want bool) {
		t.Helper()
		if got, err := IsLocked(path); got != want || err != nil {
			t.Errorf("IsLocked = %t, %v; want %t", got, err, want)
		}
	}
	want(false)
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("IsLocked left a file: %v", err)
	}
	f, ok, err := Lock(path)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	want(true)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	want(false)
	f, ok, err = Lock(path)
	if err != nil || !ok {
		t.Fatal("IsLocked keeps the lock", err)
	}
	defer f.Close()
	if _, err := IsLocked(filepath.Join(path, "below")); err == nil {
		t.Error("a file that cannot be opened is not reported")
	}
}
