//go:build !linux

package sqldb

import "syscall"

// limitUnacked does nothing: other kernels have no such limit, or name it differently
// in each version. There only keepalive notices.
func limitUnacked(string, string, syscall.RawConn) error { return nil }
