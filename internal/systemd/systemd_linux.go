package systemd

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// firstSocket is the file descriptor of the first socket.
const firstSocket = 3

// FromEnvironment returns the systemd that started this process. It removes what it reads from the
// environment, which is not for the processes that this one starts.
func FromEnvironment() (*Manager, error) {
	take := func(name string) string {
		value := os.Getenv(name)
		_ = os.Unsetenv(name) // it fails for invalid names only
		return value
	}
	m := &Manager{}
	if at := take("NOTIFY_SOCKET"); at != "" {
		m.address = &net.UnixAddr{Name: at, Net: "unixgram"} // @ begins the name of an abstract one, as in Go
	}
	isOurs := func(pid string) bool { return pid == strconv.Itoa(os.Getpid()) }
	pid, period := take("WATCHDOG_PID"), take("WATCHDOG_USEC")
	if microseconds, err := strconv.ParseInt(period, 10, 64); err == nil && (pid == "" || isOurs(pid)) {
		m.Watchdog = time.Duration(microseconds) * time.Microsecond
	}
	pid, count, names := take("LISTEN_PID"), take("LISTEN_FDS"), strings.Split(take("LISTEN_FDNAMES"), ":")
	if !isOurs(pid) {
		return m, nil
	}
	n, err := strconv.Atoi(count)
	if err != nil {
		return nil, fmt.Errorf("LISTEN_FDS=%q is not a number of sockets", count)
	}
	for i := range n {
		s, err := adopt(firstSocket + i)
		if err != nil {
			return nil, fmt.Errorf("socket %d that systemd passed cannot be used: %w; "+
				"a ListenStream= of a socket unit for Palmarès is a port, or an address with a port", i+1, err)
		}
		if i < len(names) {
			s.name = names[i]
		}
		m.sockets = append(m.sockets, s)
	}
	return m, nil
}

// adopt makes a file descriptor a listener.
func adopt(fd int) (socket, error) {
	syscall.CloseOnExec(fd)
	f := os.NewFile(uintptr(fd), "socket") //nolint:gosec // not negative
	l, err := net.FileListener(f)          // which has a descriptor of its own
	if err := errors.Join(err, f.Close()); err != nil {
		return socket{}, err
	}
	at, ok := l.Addr().(*net.TCPAddr)
	if !ok {
		return socket{}, errors.Join(fmt.Errorf("it is of %s, not of TCP", l.Addr().Network()), l.Close())
	}
	return socket{Listener: l, port: at.Port}, nil
}

// Store has systemd keep a listener and pass it to the next process of this service. Connections that
// arrive while the service restarts wait there, until Forget is called or the service was stopped.
func (m *Manager) Store(l net.Listener) {
	tcp, ok := l.(*net.TCPListener)
	if m.address == nil || !ok {
		return
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return // it is closed
	}
	name := storedPrefix + strconv.Itoa(tcp.Addr().(*net.TCPAddr).Port)
	err = raw.Control(func(fd uintptr) { m.send("FDSTORE=1\nFDNAME="+name, syscall.UnixRights(int(fd))) })
	if err == nil {
		m.stored = append(m.stored, name)
	}
}

// send sends a message, with files.
func (m *Manager) send(state string, files []byte) {
	if m.address == nil {
		return
	}
	conn, err := net.DialUnix("unixgram", nil, m.address)
	if err != nil {
		return
	}
	defer conn.Close()
	raw, err := conn.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Write(func(fd uintptr) bool { // net has no way to send files to a connected address
		return syscall.Sendmsg(int(fd), []byte(state), files, nil, 0) != syscall.EAGAIN
	})
}
