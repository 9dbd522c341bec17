package sqldb

import (
	"net"
	"syscall"
	"testing"

	"palmares/internal/testkit"
)

func TestTheKernelClosesConnectionsToAServerThatIsGone(t *testing.T) {
	s := openDSN(t, testkit.NewProxy(t, databases.Postgres(t)).DSN)
	onPostgres(s).connections.mu.Lock()
	defer onPostgres(s).connections.mu.Unlock()
	seen := 0
	for w := range onPostgres(s).connections.open {
		raw, err := w.Conn.(*net.TCPConn).SyscallConn()
		if err != nil {
			t.Fatal(err)
		}
		if err := raw.Control(func(fd uintptr) {
			seen++
			if ms, err := syscall.GetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpUserTimeout); err != nil || ms != int(unackedTimeout.Milliseconds()) {
				t.Errorf("it gives up after %d ms, %v; want %s", ms, err, unackedTimeout)
			}
		}); err != nil {
			t.Fatal(err)
		}
	}
	if seen == 0 {
		t.Error("there is no connection")
	}
}
