package systemd

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// supervise returns what a process finds that systemd has started, and what systemd hears of it.
func supervise(t *testing.T) (*Manager, func() (message string, sockets []net.Listener)) {
	t.Helper()
	at := &net.UnixAddr{Name: filepath.Join(t.TempDir(), "notify"), Net: "unixgram"}
	heard, err := net.ListenUnixgram("unixgram", at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { heard.Close() })
	t.Setenv("NOTIFY_SOCKET", at.Name)
	m, err := FromEnvironment()
	if err != nil || os.Getenv("NOTIFY_SOCKET") != "" {
		t.Fatalf("%v; the environment still has %q", err, os.Getenv("NOTIFY_SOCKET"))
	}
	return m, func() (string, []net.Listener) {
		t.Helper()
		message, control := make([]byte, 4096), make([]byte, 4096)
		n, controls, _, _, err := heard.ReadMsgUnix(message, control)
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := syscall.ParseSocketControlMessage(control[:controls])
		if err != nil {
			t.Fatal(err)
		}
		var sockets []net.Listener
		for _, p := range parsed {
			fds, err := syscall.ParseUnixRights(&p)
			if err != nil {
				t.Fatal(err)
			}
			for _, fd := range fds {
				s, err := adopt(fd)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { s.Close() })
				sockets = append(sockets, s.Listener)
			}
		}
		return string(message[:n]), sockets
	}
}

func TestASocketThatSystemdKeepsIsTheSameUntilItIsForgotten(t *testing.T) {
	m, hear := supervise(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	m.Store(listener)
	name := "palmares-" + strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)
	said, kept := hear()
	if said != "FDSTORE=1\nFDNAME="+name || len(kept) != 1 {
		t.Fatalf("%q with %d sockets", said, len(kept))
	}
	if err := listener.Close(); err != nil { // which has not become a blocking one
		t.Fatal(err)
	}
	waiting, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatalf("nobody listens while the service restarts: %v", err)
	}
	defer waiting.Close()
	accepted, err := kept[0].Accept()
	if err != nil || accepted.RemoteAddr().String() != waiting.LocalAddr().String() {
		t.Errorf("%v, %v", accepted, err)
	}
	m.Fail("it cannot\nstart")
	for _, want := range []string{"FDSTOREREMOVE=1\nFDNAME=" + name, "STATUS=it cannot start"} {
		if said, _ := hear(); said != want {
			t.Errorf("%q, not %q", said, want)
		}
	}
}

func TestASocketIsTakenByItsPortAndTheOthersAreClosed(t *testing.T) {
	m, hear := supervise(t)
	var ports []int
	for _, name := range []string{"palmares.socket", "palmares.socket", "palmares-1"} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { listener.Close() })
		port := listener.Addr().(*net.TCPAddr).Port
		ports = append(ports, port)
		m.sockets = append(m.sockets, socket{Listener: listener, port: port, name: name})
	}
	if l := m.Take("localhost:0"); l != nil {
		t.Errorf("any port is %s", l.Addr())
	}
	taken := m.Take("localhost:" + strconv.Itoa(ports[0]))
	if taken == nil || !strings.HasSuffix(taken.Addr().String(), strconv.Itoa(ports[0])) {
		t.Fatalf("%v", taken)
	}
	if rest := m.CloseRest(); len(rest) != 1 || rest[0] != ports[1] {
		t.Errorf("ports of the unit that are not served: %v, not %d", rest, ports[1])
	}
	if said, _ := hear(); said != "FDSTOREREMOVE=1\nFDNAME=palmares-1" {
		t.Errorf("%q", said)
	}
	for i, port := range ports {
		conn, err := net.Dial("tcp", "127.0.0.1:"+strconv.Itoa(port))
		if (err == nil) != (i == 0) {
			t.Errorf("socket %d: %v", i, err)
		}
		if err == nil {
			conn.Close()
		}
	}
}
