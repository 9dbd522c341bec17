package testkit

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"syscall"
	"testing"
)

// claims are abstract sockets, by port: no other process of these tests gets a port between the
// moment that it is chosen and its use.
var claims sync.Map

// FreeAddress returns an address of loopback that nobody listens on, for servers whose
// port must be known before they start or that listen on it again. The port is below
// those that the system hands out, so that no outgoing connection takes it meanwhile.
func FreeAddress() (string, error) {
	for {
		port := 20000 + rand.IntN(10000)
		claim, err := net.Listen("unix", fmt.Sprintf("@palmares-test-port-%d", port))
		if errors.Is(err, syscall.EADDRINUSE) {
			continue
		}
		if err != nil {
			return "", err
		}
		claims.Store(port, claim)
		listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if errors.Is(err, syscall.EADDRINUSE) {
			continue
		}
		if err != nil {
			return "", err
		}
		return listener.Addr().String(), listener.Close()
	}
}

// UntilListening waits until somebody listens on an address.
func UntilListening(t testing.TB, address string) {
	t.Helper()
	Until(t, "a listener on "+address, func() bool {
		c, err := net.Dial("tcp", address)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
}
