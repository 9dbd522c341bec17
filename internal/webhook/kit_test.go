package webhook_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"log/slog"
	"net"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"palmares/internal/vault"
	"palmares/internal/webhook"
)

const (
	testEndpoint = "whk_01k9zt0000000000000000000a"
	testEvent    = "evt_01k9zt0000000000000000000b"
	testBody     = `{"id":"evt_01k9zt0000000000000000000b","type":"webhook.ping","data":{"name":"Déjà vu ✨"}}`
)

// testSecret is what testEndpoint's receiver knows.
var testSecret = "whsec_" + base64.StdEncoding.EncodeToString([]byte("twenty-four random bytes"))

// sealer has one key.
var sealer = sealerOf(1)

func sealerOf(b byte) vault.Sealer {
	s, err := vault.ParseKeys(base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{b}, vault.KeySize)))
	if err != nil {
		panic(err)
	}
	return s
}

var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}

// dispatcher returns one with what cfg leaves out: keys, a clock, a log that shows in
// failures, an empty queue and no secrets.
func dispatcher(t testing.TB, cfg webhook.Config) *webhook.Dispatcher {
	t.Helper()
	cfg.Sealer = sealer
	cfg.Now = time.Now
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.NewTextHandler(t.Output(), nil))
	}
	if cfg.Queue == nil {
		cfg.Queue = &queue{}
	}
	return webhook.NewDispatcher(cfg)
}

// run runs d until the test calls stop, which waits for the end.
func run(t testing.TB, d *webhook.Dispatcher) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- d.Run(ctx) }()
	return func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
	}
}

func claim(url string) webhook.Claim {
	return webhook.Claim{
		DeliveryID: "dlv_01k9zt0000000000000000000c", EndpointID: testEndpoint, EventID: testEvent, Type: webhook.Ping,
		Body: []byte(testBody), URL: url, Secret: sealer.Seal(testEndpoint, testSecret), Attempt: 1, LeaseEnd: time.Now().Add(webhook.Lease),
	}
}

// names is a DNS server on loopback that answers every name, with one set of
// addresses to the first lookup of it, the next to the second, and so on.
type names struct {
	resolver *net.Resolver
	asked    atomic.Int32 // lookups of IPv4 addresses, of which there is one for each lookup of a name
	answers  [][]string
}

func startNames(t *testing.T, answers ...[]string) *names {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n := &names{answers: answers}
	n.resolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
	done := make(chan struct{})
	go func() {
		defer close(done)
		counts := map[uint16]int{}
		packet := make([]byte, 1500)
		for {
			size, from, err := conn.ReadFrom(packet)
			if err != nil {
				return
			}
			conn.WriteTo(n.answer(packet[:size], counts), from)
		}
	}()
	t.Cleanup(func() { conn.Close(); <-done })
	return n
}

// answer makes the answer to a query of one question (RFC 1035, section 4).
func (n *names) answer(query []byte, counts map[uint16]int) []byte {
	end := 12
	for query[end] != 0 {
		end += int(query[end]) + 1
	}
	question := query[12 : end+5]
	kind := binary.BigEndian.Uint16(query[end+1:])
	at := counts[kind]
	counts[kind]++
	if kind == 1 {
		n.asked.Add(1)
	}
	var records []byte
	var count uint16
	for _, text := range n.answers[min(at, len(n.answers)-1)] {
		addr := netip.MustParseAddr(text)
		if addr.Is4() != (kind == 1) || addr.Is6() != (kind == 28) {
			continue
		}
		records = append(records, 0xc0, 12)                 // the question's name
		records = append(records, 0, byte(kind), 0, 1)      // type, class IN
		records = append(records, 0, 0, 0, 0)               // for 0 seconds
		records = append(records, 0, byte(addr.BitLen()/8)) // length
		records = append(records, addr.AsSlice()...)
		count++
	}
	out := append([]byte{}, query[:2]...)
	out = append(out, 0x81, 0x80, 0, 1)
	out = binary.BigEndian.AppendUint16(out, count)
	out = append(out, 0, 0, 0, 0)
	return append(append(out, question...), records...)
}
