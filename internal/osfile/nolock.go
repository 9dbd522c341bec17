//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package osfile

import "os"

// Lock does not lock: the standard library has no such lock here.
func Lock(string) (*os.File, bool, error) { return nil, true, nil }

// IsReadOnly is not known here.
func IsReadOnly(string) bool { return false }

// IsOurs is not known here.
func IsOurs(os.FileInfo) bool { return true }
