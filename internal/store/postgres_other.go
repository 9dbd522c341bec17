//go:build !linux

package store

import "syscall"

// limitSilence does nothing where the kernel has no such limit, or another by each
// version: there keepalive is all.
func limitSilence(string, string, syscall.RawConn) error { return nil }
