//go:build linux || darwin

package osfile

import "syscall"

// Free returns how many bytes this process may still write to the file system of a folder.
func Free(dir string) (int64, error) {
	var s syscall.Statfs_t
	err := syscall.Statfs(dir, &s)
	return int64(s.Bavail) * int64(s.Bsize), err //nolint:gosec,unconvert // the types differ by system
}
