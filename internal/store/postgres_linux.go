package store

import (
	"strings"
	"syscall"
)

// tcpUserTimeout is TCP_USER_TIMEOUT, a number of the kernel's that package syscall
// does not name.
const tcpUserTimeout = 0x12

// limitSilence has the kernel end a connection when what was sent to the server is
// not acknowledged. Keepalive does not see to that: it only asks when nothing was
// sent, and otherwise the kernel tries for a quarter of an hour.
func limitSilence(network, _ string, raw syscall.RawConn) error {
	if !strings.HasPrefix(network, "tcp") {
		return nil
	}
	var failed error
	err := raw.Control(func(fd uintptr) {
		failed = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpUserTimeout, int(silence.Milliseconds()))
	})
	if err != nil {
		return err
	}
	return failed
}
