// Package systemd is what systemd and a service that it has started tell each other: sockets that
// stay open while the service restarts, whether the service is ready, and that it is alive.
//
// The protocols are those of sd_listen_fds(3), sd_notify(3) and sd_watchdog_enabled(3).
package systemd

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"strings"
	"time"
)

// A Manager is the systemd that started this process. Without one, as in a terminal or a container,
// it has no sockets, and whatever it is told is lost.
type Manager struct {
	address  *net.UnixAddr // where it listens; nil for nowhere
	Watchdog time.Duration // how long systemd waits for "WATCHDOG=1" before it restarts the service; 0 for ever
	sockets  []socket      // that nobody has taken
	stored   []string      // the names of those in use that systemd keeps for this service
}

// A socket is a listener that systemd passed to this process.
type socket struct {
	net.Listener
	port int
	name string
}

// storedPrefix begins the names of the sockets that a service gives systemd to keep.
const storedPrefix = "palmares-"

// Take returns the listener that systemd has for the port of an address, and nil if it has none.
// It matches by the port alone: nobody else could listen there.
func (m *Manager) Take(address string) net.Listener {
	_, service, err := net.SplitHostPort(address)
	if err != nil {
		return nil
	}
	port, err := net.LookupPort("tcp", service)
	if err != nil {
		return nil
	}
	for i, s := range m.sockets {
		if s.port == port {
			m.sockets = append(m.sockets[:i:i], m.sockets[i+1:]...)
			if strings.HasPrefix(s.name, storedPrefix) {
				m.stored = append(m.stored, s.name)
			}
			return s.Listener
		}
	}
	return nil
}

// CloseRest closes the sockets that were not taken: nobody would ever answer on them. It returns the
// ports of those that a unit opened. Those that this service had opened itself, with other
// settings, are forgotten.
func (m *Manager) CloseRest() (ports []int) {
	for _, s := range m.sockets {
		_ = s.Close() // nobody uses it
		if strings.HasPrefix(s.name, storedPrefix) {
			m.Notify("FDSTOREREMOVE=1\nFDNAME=" + s.name)
		} else {
			ports = append(ports, s.port)
		}
	}
	m.sockets = nil
	return ports
}

// Fail says why the service ends, where `systemctl status` shows it, and has systemd close the sockets that it keeps
// for this service: whoever connects is refused from now on, and does not wait for a service that does not start.
func (m *Manager) Fail(why string) {
	m.CloseRest()
	for _, name := range m.stored {
		m.Notify("FDSTOREREMOVE=1\nFDNAME=" + name)
	}
	m.Notify("STATUS=" + strings.ReplaceAll(why, "\n", " "))
}

// Notify tells systemd something, such as "READY=1". What it does not hear is lost: it may be
// restarting itself, and says again what it needs to know.
func (m *Manager) Notify(state string) { m.send(state, nil) }

// A Unit is what systemd says of a unit.
type Unit struct {
	Enabled bool   // it is started when the machine is
	State   string // "active", "inactive", "activating", "failed", …
}

// ShouldRun reports whether somebody wants the unit to run.
func (u *Unit) ShouldRun() bool { return u != nil && (u.Enabled || u.State != "inactive") }

// Look asks systemd for a unit. It returns nil where systemd does not run or has no such unit.
func Look(ctx context.Context, name string) (*Unit, error) {
	command := exec.CommandContext(ctx, "systemctl", "show", "--property=LoadState,UnitFileState,ActiveState", name)
	out, err := command.CombinedOutput()
	said := strings.TrimSpace(string(out))
	switch {
	case errors.Is(err, exec.ErrNotFound), strings.Contains(said, "not been booted with systemd"):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("systemd does not say whether %s runs: %s (%w)", name, said, err)
	}
	properties := map[string]string{}
	for line := range strings.SplitSeq(said, "\n") {
		property, value, _ := strings.Cut(line, "=")
		properties[property] = value
	}
	if properties["LoadState"] == "not-found" {
		return nil, nil
	}
	return &Unit{properties["UnitFileState"] == "enabled", properties["ActiveState"]}, nil
}
