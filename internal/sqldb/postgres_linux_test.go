package sqldb

import (
	"net"
	"strconv"
	"syscall"
	"testing"

	"palmares/internal/testkit"
)

func TestTheKernelClosesConnectionsToAServerThatIsGone(t *testing.T) {
	s := openDSN(t, testkit.NewProxy(t, databases.Postgres(t)).DSN)
	cfg := onPostgres(s).config
	conn, err := cfg.DialFunc(t.Context(), "tcp", net.JoinHostPort(cfg.Host, strconv.Itoa(int(cfg.Port))))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := conn.(*trackedConn).Conn.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	if err := raw.Control(func(fd uintptr) {
		if ms, err := syscall.GetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpUserTimeout); err != nil || ms != int(unackedTimeout.Milliseconds()) {
			t.Errorf("it gives up after %d ms, %v; want %s", ms, err, unackedTimeout)
		}
	}); err != nil {
		t.Fatal(err)
	}
}
