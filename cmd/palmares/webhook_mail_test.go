package main

import (
	"bytes"
	"errors"
	"io"
	"mime/quotedprintable"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/emersion/go-smtp"

	"palmares/internal/node"
	"palmares/internal/sqldb"
	"palmares/internal/testkit"
)

// A mailbox is a mail server on loopback.
type mailbox struct {
	addr string

	mu    sync.Mutex
	mails []string      // the bytes, with quoted-printable decoded
	held  chan struct{} // until it is closed, a mail is stored and not acknowledged
}

func newMailbox(t *testing.T) *mailbox {
	t.Helper()
	box := &mailbox{held: make(chan struct{})}
	close(box.held)
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
	s.box.mails = append(s.box.mails, string(text))
	held := s.box.held
	s.box.mu.Unlock()
	<-held
	return nil
}

// hold has the mail server store mails without an acknowledgement, until release is called.
func (b *mailbox) hold() (release func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	held := make(chan struct{})
	b.held = held
	return sync.OnceFunc(func() { close(held) })
}

var followLink = regexp.MustCompile(`/suivre/confirmation\?(\S+)`)

// Of a mail that the mail server has stored and not yet acknowledged nobody knows whether it arrives. A link
// that somebody waits for is sent again; what is told to followers is not.
func TestAFollowerGetsNoMailTwiceWhenItsNodeIsKilled(t *testing.T) {
	t.Parallel()
	database, box, folder := databases.SQLite(t), newMailbox(t), marked(t, "A", 2)
	must(t, "publish", folder, "--database", database)
	serve := func() *process {
		return serveProcess(t, "--database", database, "--smtp", "smtp://"+box.addr, "--mail-from", "palmares@example.org")
	}
	post := func(p *process, path, form string) {
		t.Helper()
		resp, err := client.Post(p.url+path, "application/x-www-form-urlencoded", strings.NewReader(form))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode >= http.StatusBadRequest {
			t.Fatal(path, resp.Status)
		}
	}
	// killed kills a node while a mail is held, and starts another after the lease of the mail.
	killed := func(p *process, words string, release func()) *process {
		t.Helper()
		testkit.Until(t, words, func() bool { return len(box.about(words)) == 1 })
		p.kill()
		release()
		box.hold()() // from now on it acknowledges
		st, err := node.Open(t.Context(), database)
		if err != nil {
			t.Fatal(err)
		}
		err = errors.Join(sqldb.WriteOnce(t.Context(), st.SQL, `UPDATE mails SET due_at = created_at`), st.Close())
		if err != nil {
			t.Fatal(err)
		}
		return serve()
	}
	// raise raises the price of the next tool.
	raise := func() {
		t.Helper()
		file := filepath.Join(folder, "outils.jsonl")
		text, err := os.ReadFile(file)
		if err == nil {
			err = os.WriteFile(file, bytes.Replace(text, []byte(`"1 €`), []byte(`"2 €`), 1), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		must(t, "publish", folder, "--database", database)
	}
	const told = "T0\u00a0: 1 → 2\u00a0€/mois"
	p, release := serve(), box.hold()
	defer release()
	post(p, "/suivre", "email=lea%40example.org&quoi=&quand=aussitot")
	p = killed(p, "/suivre/confirmation", release)
	testkit.Until(t, "the link again", func() bool { return len(box.about("/suivre/confirmation")) == 2 })
	p.logs("mail sent")
	post(p, "/suivre/confirmation", followLink.FindStringSubmatch(box.about("/suivre/confirmation")[1])[1])

	release = box.hold()
	defer release()
	raise()
	p = killed(p, told, release)
	p.logs("its node died before the server answered")
	raise()
	testkit.Until(t, "the next change", func() bool { return len(box.about("T1\u00a0: 1 → 2\u00a0€/mois")) == 1 })
	if n := len(box.about(told)); n != 1 {
		t.Errorf("a change is told in %d mails\n%s", n, p.log)
	}
}
