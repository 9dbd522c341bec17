package mail_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	netmail "net/mail"
	"slices"
	"strings"
	"testing"

	"github.com/emersion/go-smtp"
	"github.com/google/go-cmp/cmp"

	"palmares/internal/mail"
)

func TestAMailArrivesOverEveryKindOfConnection(t *testing.T) {
	for _, c := range []struct {
		name, address string // %s is the server
		security      security
		login         []string
		connection    string
		logins        []string
	}{
		{name: "in clear on this machine", address: "smtp://%s", connection: "plain"},
		{name: "STARTTLS because it is offered", address: "smtp://%s", security: startTLS, connection: "tls"},
		{name: "in clear because that was asked for", address: "smtp://%s?tls=off", security: startTLS, connection: "plain"},
		{name: "STARTTLS", address: "smtp://%s?tls=starttls", security: startTLS, connection: "tls"},
		{name: "TLS from the first byte", address: "smtps://%s", security: implicit, connection: "tls"},
		{name: "TLS from the first byte by option", address: "smtp://%s?tls=implicit", security: implicit, connection: "tls"},
		{name: "PLAIN under STARTTLS", address: "smtp://" + credentials + "%s", security: startTLS, login: []string{"PLAIN", "LOGIN"}, connection: "tls", logins: []string{"PLAIN palmares"}},
		{name: "PLAIN under TLS", address: "smtps://" + credentials + "%s", security: implicit, login: []string{"PLAIN"}, connection: "tls", logins: []string{"PLAIN palmares"}},
		{name: "LOGIN under TLS", address: "smtps://" + credentials + "%s", security: implicit, login: []string{"LOGIN"}, connection: "tls", logins: []string{"LOGIN palmares"}},
		{name: "PLAIN in clear on this machine", address: "smtp://" + credentials + "%s?tls=off", login: []string{"PLAIN"}, connection: "plain", logins: []string{"PLAIN palmares"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var change []func(*mailServer)
			if c.login != nil {
				change = append(change, withLogin(c.login...))
			}
			box := startMailServer(t, c.security, change...)
			s := sender(t, strings.ReplaceAll(c.address, "%s", box.addr), box)
			if err := s.Send(t.Context(), message()); err != nil {
				t.Fatal(err)
			}
			if err := s.Check(t.Context()); err != nil { // which sends nothing
				t.Error(err)
			}
			if got := box.all(); len(got) != 1 || got[0].to != "ada@example.org" || got[0].from != "no-reply@palmares.example" || got[0].utf8 {
				t.Errorf("the server has %+v", got)
			}
			if diff := cmp.Diff([]string{c.connection}, box.kinds); diff != "" {
				t.Errorf("connection: %s", diff)
			}
			if diff := cmp.Diff(slices.Concat(c.logins, c.logins), box.logins); diff != "" {
				t.Errorf("logins: %s", diff)
			}
		})
	}
}

func TestAMailIsWrittenAsItsReadersProgramsExpect(t *testing.T) {
	box := startMailServer(t, plain)
	m := message()
	if err := sender(t, "smtp://"+box.addr, box).Send(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	raw := box.all()[0].data
	for line := range bytes.Lines(raw) {
		if n := len(bytes.TrimRight(line, "\r\n")); n > 78 {
			t.Errorf("a line has %d bytes: %.60q…", n, line)
		}
		if !bytes.HasSuffix(line, []byte("\r\n")) {
			t.Errorf("a line does not end with CRLF: %q", line)
		}
		if i := bytes.IndexFunc(line, func(r rune) bool { return r > 126 }); i >= 0 {
			t.Errorf("a line holds more than seven bits: %q", line)
		}
	}

	got, err := netmail.ReadMessage(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	decoded := map[string]string{}
	for name, values := range got.Header {
		if len(values) != 1 {
			t.Errorf("%s is there %d times", name, len(values))
		}
		if decoded[name], err = new(mime.WordDecoder).DecodeHeader(values[0]); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	id := decoded["Message-Id"]
	if !strings.HasPrefix(id, "<") || !strings.HasSuffix(id, "@palmares.example>") || len(id) < 30 {
		t.Errorf("Message-ID is %s", id)
	}
	kind, params, err := mime.ParseMediaType(decoded["Content-Type"])
	if err != nil || kind != "multipart/alternative" {
		t.Fatalf("Content-Type is %s, %v", decoded["Content-Type"], err)
	}
	delete(decoded, "Message-Id")
	delete(decoded, "Content-Type")
	want := map[string]string{
		"From": "Palmarès <no-reply@palmares.example>", "To": "<ada@example.org>", "Subject": m.Subject,
		"Date": "Mon, 16 Nov 2026 09:30:00 +0000", "Mime-Version": "1.0", "Auto-Submitted": "auto-generated",
	}
	if diff := cmp.Diff(want, decoded); diff != "" {
		t.Errorf("headers: %s", diff)
	}

	parts := multipart.NewReader(got.Body, params["boundary"])
	for _, want := range []struct{ kind, body string }{
		{"text/plain; charset=UTF-8", m.Text}, {"text/html; charset=UTF-8", m.HTML},
	} {
		part, err := parts.NextRawPart()
		if err != nil {
			t.Fatal(err)
		}
		if k, e := part.Header.Get("Content-Type"), part.Header.Get("Content-Transfer-Encoding"); k != want.kind || e != "quoted-printable" {
			t.Errorf("a part is %s, %s; want %s", k, e, want.kind)
		}
		body, err := io.ReadAll(quotedprintable.NewReader(part))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want.body, strings.ReplaceAll(string(body), "\r\n", "\n")); diff != "" {
			t.Errorf("%s: %s", want.kind, diff)
		}
	}
	if _, err := parts.NextRawPart(); !errors.Is(err, io.EOF) {
		t.Errorf("after both parts: %v", err)
	}
}

func TestNoTwoMailsShareAnID(t *testing.T) {
	box := startMailServer(t, plain)
	s := sender(t, "smtp://"+box.addr, box)
	seen := map[string]bool{}
	for range 3 {
		if err := s.Send(t.Context(), message()); err != nil {
			t.Fatal(err)
		}
	}
	for _, d := range box.all() {
		got, err := netmail.ReadMessage(bytes.NewReader(d.data))
		if err != nil {
			t.Fatal(err)
		}
		seen[got.Header.Get("Message-ID")] = true
	}
	if len(seen) != 3 {
		t.Errorf("3 mails have these ids: %v", seen)
	}
}

func TestAnAddressOrSubjectThatWouldAddAHeaderIsRefused(t *testing.T) {
	box := startMailServer(t, plain)
	s := sender(t, "smtp://"+box.addr, box)
	for _, to := range []string{
		"", "ada", "ada@example.org\r\nBcc: eve@example.org", "ada@example.org\nX: y", "ada@example.org, eve@example.org",
		"Ada <ada@example.org>", "ada@example.org>\r\nRCPT TO:<eve@example.org", "\"a\r\nb\"@example.org", "ada @example.org", "ada@example.org\x00",
	} {
		m := message()
		m.To = to
		wantFailure(t, to, s.Send(t.Context(), m), "message", true)
	}
	for _, subject := range []string{"Bonjour\r\nBcc: eve@example.org", "Bonjour\nX: y", "Bonjour\r", "Bonjour\x00"} {
		m := message()
		m.Subject = subject
		wantFailure(t, subject, s.Send(t.Context(), m), "message", true)
	}
	if got := box.all(); len(got) != 0 {
		t.Errorf("the server was given %d mails", len(got))
	}
}

func wantFailure(t *testing.T, what string, err error, class string, permanent bool) *mail.Failure {
	t.Helper()
	var failure *mail.Failure
	if !errors.As(err, &failure) || failure.Class != class || failure.Permanent != permanent {
		t.Fatalf("%q: %#v, want a failure of class %s, permanent %v", what, err, class, permanent)
	}
	if text := failure.Error(); strings.Contains(text, "ada@") || strings.Contains(text, password) || strings.Contains(text, "w0rd") {
		t.Errorf("%q: the failure tells too much: %s", what, text)
	}
	return failure
}

func TestARefusalIsForeverOnlyWhenItIsAboutTheMail(t *testing.T) {
	refuse := func(code int) error {
		return &smtp.SMTPError{Code: code, EnhancedCode: smtp.EnhancedCode{code / 100, 1, 1}, Message: "no ada@example.org here"}
	}
	for _, c := range []struct {
		name      string
		change    func(*mailServer)
		class     string
		permanent bool
	}{
		{"no such mailbox", func(b *mailServer) { b.onRcpt = func(string) error { return refuse(550) } }, "refused", true},
		{"greylisting", func(b *mailServer) { b.onRcpt = func(string) error { return refuse(451) } }, "server", false},
		{"a sender who must log in", func(b *mailServer) { b.onRcpt = func(string) error { return refuse(530) } }, "server", false},
		{"a sender who is not welcome", func(b *mailServer) { b.onMail = func(string) error { return refuse(553) } }, "server", false},
		{"a message that is too long", func(b *mailServer) { b.server.MaxMessageBytes = 100 }, "refused", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			box := startMailServer(t, plain, c.change)
			wantFailure(t, c.name, sender(t, "smtp://"+box.addr, box).Send(t.Context(), message()), c.class, c.permanent)
		})
	}
}

func TestOnlyAnUnknownAddressBounces(t *testing.T) {
	for _, c := range []struct {
		refusal smtp.SMTPError
		bounces bool
	}{
		{smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 1, 1}, Message: "no such user"}, true},
		{smtp.SMTPError{Code: 550, EnhancedCode: smtp.NoEnhancedCode, Message: "5.1.10 null MX"}, true},
		{smtp.SMTPError{Code: 550, EnhancedCode: smtp.NoEnhancedCode, Message: "relaying denied"}, false},
		{smtp.SMTPError{Code: 550, EnhancedCode: smtp.NoEnhancedCode, Message: "Requested action not taken: mailbox unavailable"}, true},
		{smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 7, 1}, Message: "unknown sender"}, false},
		{smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 7, 1}, Message: "relaying denied"}, false},
		{smtp.SMTPError{Code: 552, EnhancedCode: smtp.EnhancedCode{5, 2, 2}, Message: "mailbox full, was 550 5.1.1"}, false},
		{smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 1, 8}, Message: "bad sender"}, false},
	} {
		box := startMailServer(t, plain, func(b *mailServer) { b.onRcpt = func(string) error { return &c.refusal } })
		failure := wantFailure(t, c.refusal.Message, sender(t, "smtp://"+box.addr, box).Send(t.Context(), message()), "refused", true)
		if failure.Bounce != c.bounces {
			t.Errorf("%s: bounces %v", c.refusal.Error(), failure.Bounce)
		}
	}
}

func TestAnAddressThatIsLookedUpAfterTheTextBounces(t *testing.T) {
	for words, bounces := range map[string]bool{"5.1.1 no such user": true, "mailbox unavailable": false} { // a text may be refused so
		box := startMailServer(t, plain, func(b *mailServer) {
			b.onData = &smtp.SMTPError{Code: 550, EnhancedCode: smtp.NoEnhancedCode, Message: words}
		})
		failure := wantFailure(t, words, sender(t, "smtp://"+box.addr, box).Send(t.Context(), message()), "refused", true)
		if failure.Bounce != bounces {
			t.Errorf("%s: bounces %v", words, failure.Bounce)
		}
	}
}

func TestAnUnusableServerIsTriedAgain(t *testing.T) {
	for _, c := range []struct {
		name, address string
		security      security
		change        func(*mailServer)
		stranger      bool // the server's certificate is not trusted
		class         string
	}{
		{name: "a wrong password", address: "smtp://palmares:w0rdling@%s?tls=off", change: withLogin("PLAIN"), class: "auth"},
		{name: "a wrong password by LOGIN", address: "smtps://palmares:w0rdling@%s", security: implicit, change: withLogin("LOGIN"), class: "auth"},
		{name: "no login offered", address: "smtp://" + credentials + "%s?tls=off", class: "auth"},
		{name: "no login given", address: "smtp://%s", change: withLogin("PLAIN"), class: "server"},
		{name: "no STARTTLS for a password", address: "smtp://" + credentials + "%s", change: withLogin("PLAIN"), class: "tls"},
		{name: "no TLS where it was expected", address: "smtps://%s", class: "tls"},
		{name: "an unknown certificate", address: "smtps://%s", security: implicit, stranger: true, class: "tls"},
		{name: "an unknown certificate under STARTTLS", address: "smtp://%s", security: startTLS, stranger: true, class: "tls"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var change []func(*mailServer)
			if c.change != nil {
				change = append(change, c.change)
			}
			box := startMailServer(t, c.security, change...)
			if c.stranger {
				_, box.roots = certificate(t)
			}
			s := sender(t, strings.ReplaceAll(c.address, "%s", box.addr), box)
			wantFailure(t, c.name, s.Send(t.Context(), message()), c.class, false)
			if len(box.logins) != 0 || len(box.all()) != 0 {
				t.Errorf("the server saw logins %q and %d mails", box.logins, len(box.all()))
			}
		})
	}
}

func TestAServerThatDiesInMidConversationIsTriedAgain(t *testing.T) {
	const data = "354 go on"
	steps := []string{"220 mail.test", "250 mail.test", "250 sender", "250 reader", data}
	for n := range len(steps) + 1 {
		address := scripted(t, dialogue(steps[:n]...))
		wantFailure(t, strings.Join(steps[:n], ", "), sender(t, "smtp://"+address, nil).Send(t.Context(), message()), "connect", false)
	}
	address := scripted(t, dialogue("554 go away"))
	wantFailure(t, "554 at once", sender(t, "smtp://"+address, nil).Send(t.Context(), message()), "server", false)
	address = scripted(t, dialogue("HTTP/1.1 400 Bad Request"))
	wantFailure(t, "another protocol", sender(t, "smtp://"+address, nil).Send(t.Context(), message()), "server", false)
	address = scripted(t, dialogue("220 mail.test", "250-mail.test\r\n250 AUTH PLAIN", "you said "+password))
	wantFailure(t, "an echo", sender(t, "smtp://"+credentials+address+"?tls=off", nil).Send(t.Context(), message()), "server", false)
}

func TestAMailThatTheServerTookIsSentWhateverFollows(t *testing.T) {
	address := scripted(t, dialogue("220 mail.test", "250 mail.test", "250 sender", "250 reader", "354 go on", "250 taken"))
	if err := sender(t, "smtp://"+address, nil).Send(t.Context(), message()); err != nil {
		t.Errorf("the server took the mail and hung up: %v", err)
	}
}

func TestAServerThatHangsBlocksNobodyBeyondTheEndOfTheContext(t *testing.T) {
	steps := []string{"220 mail.test", "250 mail.test", "250 sender", "250 reader", "354 go on"}
	for n := range len(steps) + 1 {
		ctx, cancel := context.WithCancel(t.Context())
		address := scripted(t, func(in *bufio.Reader, out io.Writer) {
			dialogue(steps[:n]...)(in, out)
			cancel()                // as the timeout would
			io.Copy(io.Discard, in) //nolint:errcheck // until the client gives up
		})
		wantFailure(t, strings.Join(steps[:n], ", "), sender(t, "smtp://"+address, nil).Send(ctx, message()), "timeout", false)
		cancel()
	}
}

func TestAnAddressWithAccentsNeedsAServerThatTakesThem(t *testing.T) {
	m := message()
	m.To = "zoé@example.org"
	box := startMailServer(t, plain, func(b *mailServer) { b.server.EnableSMTPUTF8 = true })
	if err := sender(t, "smtp://"+box.addr, box).Send(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	if got := box.all(); len(got) != 1 || got[0].to != m.To || !got[0].utf8 {
		t.Errorf("the server has %+v", got)
	}
	old := startMailServer(t, plain)
	wantFailure(t, m.To, sender(t, "smtp://"+old.addr, old).Send(t.Context(), m), "refused", true)
}
