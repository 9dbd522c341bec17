package main

import (
	"fmt"
	"io"
	"mime/quotedprintable"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/emersion/go-smtp"

	"palmares/internal/testkit"
	"palmares/internal/webhook"
)

// A mailbox is a mail server on loopback.
type mailbox struct {
	addr string

	mu    sync.Mutex
	mails []string // the bytes, with quoted-printable decoded
}

func newMailbox(t *testing.T) *mailbox {
	t.Helper()
	box := &mailbox{}
	server := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return &mailSession{box: box}, nil }))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	box.addr = listener.Addr().String()
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(listener) }) // until it is closed
	t.Cleanup(func() {
		_ = server.Close()
		_ = listener.Close()
		serving.Wait()
	})
	return box
}

// about returns the mails whose text says all of these.
func (b *mailbox) about(words ...string) (found []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, m := range b.mails {
		all := true
		for _, w := range words {
			all = all && strings.Contains(m, w)
		}
		if all {
			found = append(found, m)
		}
	}
	return found
}

type mailSession struct{ box *mailbox }

func (s *mailSession) Reset()                               {}
func (s *mailSession) Logout() error                        { return nil }
func (s *mailSession) Mail(string, *smtp.MailOptions) error { return nil }
func (s *mailSession) Rcpt(string, *smtp.RcptOptions) error { return nil }

func (s *mailSession) Data(r io.Reader) error {
	raw, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	text, err := io.ReadAll(quotedprintable.NewReader(strings.NewReader(string(raw))))
	if err != nil {
		text = raw
	}
	s.box.mu.Lock()
	defer s.box.mu.Unlock()
	s.box.mails = append(s.box.mails, string(text))
	return nil
}

func TestTheOwnerOfAFailingEndpointIsMailedOnceUntilItRecovers(t *testing.T) {
	t.Parallel()
	database, box := databases.Postgres(t), newMailbox(t)
	customer(t, database, "ada@example.org", "pro", 1)
	r := newReceiver(t, func() (int, string) { return http.StatusServiceUnavailable, "en panne" })
	r.add("ada@example.org", database)
	id := firstID(t, "webhook", "list", "ada@example.org", "--database", database)
	for range 2 { // two nodes deliver and mail
		serveProcess(t, "--database", database, "--webhook-allow", "127.0.0.0/8", "--smtp", "smtp://"+box.addr, "--mail-from", "palmares@example.org",
			"--webhook-schedule", "0s"+strings.Repeat(",100ms", 1000))
	}
	failing := []string{"To: <ada@example.org>", r.url, "réponse 503", "/compte/webhooks/" + id}
	for series := 1; series <= 2; series++ {
		must(t, "publish", marked(t, fmt.Sprint("A", series), 3), "--database", database)
		testkit.Until(t, "the mail", func() bool { return len(box.about(failing...)) == series })
		r.until(len(r.all()) + 2*webhook.BreakAfter) // failures that are told already
		if n := len(box.about(failing...)); n != series {
			t.Errorf("%d mails in series %d", n, series)
		}
		r.now(accept)
		testkit.Until(t, "the recovery", func() bool {
			return strings.Contains(must(t, "webhook", "list", "ada@example.org", "--json", "--database", database), `"failures":0`)
		})
		r.now(func() (int, string) { return http.StatusServiceUnavailable, "en panne" })
	}
}
