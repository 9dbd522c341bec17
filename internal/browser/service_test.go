package browser_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net"
	"net/http"
	"net/http/httptest"
	"net/mail"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/emersion/go-smtp"

	"palmares/internal/testkit"
)

// A service is palmares as customers use it: the binary that ships with a published
// catalogue, a mail server, and a customer's receiver of webhooks.
type service struct {
	t        *testing.T
	binary   string
	folder   string // of the catalogue
	database string
	url      string
	mails    chan string // plain texts of the mails sent
	hooks    chan string // bodies of the webhooks sent
	receiver string      // URL that webhooks are sent to
}

// buildPalmares builds the binary, once for all tests, and returns its path.
var buildPalmares = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "palmares-binary")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "palmares")
	if out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", path, "palmares/cmd/palmares").CombinedOutput(); err != nil {
		return "", errors.Join(fmt.Errorf("%w: %s", err, out), os.RemoveAll(dir))
	}
	palmaresDir = dir
	return path, nil
})

// palmaresDir is where buildPalmares put the binary; "" when it did not.
var palmaresDir string

func removePalmares() error {
	if palmaresDir == "" {
		return nil
	}
	return os.RemoveAll(palmaresDir)
}

func startService(t *testing.T) *service {
	t.Helper()
	binary, err := buildPalmares()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	s := &service{
		t: t, binary: binary, folder: filepath.Join(dir, "catalogue"), database: "sqlite:" + filepath.Join(dir, "palmares.db"),
		mails: make(chan string, 100), hooks: make(chan string, 100),
	}
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		s.hooks <- string(body)
		_, _ = io.WriteString(w, `<script>alert("received")</script>`) // pages show it as text
	}))
	t.Cleanup(receiver.Close)
	s.receiver = receiver.URL
	s.publish("19 €/mois")

	// The port must be known before the server starts, because links in mails contain it.
	address, err := testkit.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	s.url = "http://" + address
	s.serve("serve", "--listen", address, "--base-url", s.url, "--smtp", "smtp://"+s.mailServer(), "--webhook-allow", "127.0.0.0/8", "--desk", s.folder)
	return s
}

// serve runs palmares until the test ends.
func (s *service) serve(args ...string) {
	s.t.Helper()
	var stderr bytes.Buffer
	c := exec.Command(s.binary, append(args, "--database", s.database)...)
	c.Stderr = &stderr
	if err := c.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		err := c.Process.Signal(syscall.SIGTERM)
		if err = errors.Join(err, c.Wait()); err != nil || s.t.Failed() {
			var lines []string
			for line := range strings.Lines(stderr.String()) {
				if !strings.Contains(line, `"/readyz"`) {
					lines = append(lines, line)
				}
			}
			s.t.Errorf("palmares %v: %v\n%s", args, err, strings.Join(lines, ""))
		}
	})
	testkit.Until(s.t, "readiness", func() bool {
		resp, err := http.Get(s.url + "/readyz")
		if err != nil {
			return false
		}
		resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
}

// command runs a palmares command to its end.
func (s *service) command(args ...string) {
	s.t.Helper()
	if out, err := exec.Command(s.binary, append(args, "--database", s.database)...).CombinedOutput(); err != nil {
		s.t.Fatalf("palmares %v: %v\n%s", args, err, out)
	}
}

// publish publishes a catalogue of one tool with this price.
func (s *service) publish(price string) {
	s.t.Helper()
	for name, text := range map[string]string{
		"catalogue.yaml":  "name: Essais\nurl: https://essais.example\ncategories:\n  - slug: code\n    label: Code\n",
		"outils/plume.md": "---\nname: Plume\ndomain: plume.example\ncategory: code\nicp: mixte\npricing: payant\nprice: " + price + "\ntagline: Écrit.\nscore: 8\n---\n## Verdict\n\nBien.\n",
	} {
		path := filepath.Join(s.folder, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			s.t.Fatal(err)
		}
	}
	s.command("publish", s.folder)
}

// mailServer starts a mail server and returns its address.
func (s *service) mailServer() string {
	s.t.Helper()
	server := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return &mailSession{s}, nil }))
	server.Domain = "mail.test"
	server.ErrorLog = log.New(io.Discard, "", 0) // clients may disconnect without QUIT
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := server.Serve(listener); err != nil && !errors.Is(err, smtp.ErrServerClosed) {
			s.t.Error(err)
		}
	})
	s.t.Cleanup(func() {
		server.Close() //nolint:errcheck // the client may have disconnected first
		serving.Wait()
	})
	return listener.Addr().String()
}

// A mailSession receives mails.
type mailSession struct{ s *service }

func (*mailSession) Mail(string, *smtp.MailOptions) error { return nil }
func (*mailSession) Rcpt(string, *smtp.RcptOptions) error { return nil }
func (*mailSession) Reset()                               {}
func (*mailSession) Logout() error                        { return nil }

// Data keeps the plain text of a mail.
func (m *mailSession) Data(r io.Reader) error {
	message, err := mail.ReadMessage(r)
	if err != nil {
		return err
	}
	_, params, err := mime.ParseMediaType(message.Header.Get("Content-Type"))
	if err != nil {
		return err
	}
	part, err := multipart.NewReader(message.Body, params["boundary"]).NextRawPart()
	if err != nil {
		return err
	}
	var text io.Reader = part
	if strings.EqualFold(part.Header.Get("Content-Transfer-Encoding"), "quoted-printable") {
		text = quotedprintable.NewReader(part)
	}
	body, err := io.ReadAll(text)
	if err != nil {
		return err
	}
	m.s.mails <- string(body)
	return nil
}

var linkInMail = regexp.MustCompile(`http://\S+\?jeton=\S+`)

// link waits for the next mail and returns the path of its link.
func (s *service) link() string {
	s.t.Helper()
	text := next(s.t, s.mails)
	link := linkInMail.FindString(text)
	if !strings.HasPrefix(link, s.url) {
		s.t.Fatalf("the mail has no link to the server: %s", text)
	}
	return strings.TrimPrefix(link, s.url)
}

// hook waits until the receiver has an event of a type, and returns its body. Events
// of one publication arrive in any order.
func (s *service) hook(kind string) string {
	s.t.Helper()
	for {
		if body := next(s.t, s.hooks); strings.Contains(body, `"type":"`+kind+`"`) {
			return body
		}
	}
}

// next waits for the next value.
func next(t *testing.T, from <-chan string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	defer cancel()
	select {
	case got := <-from:
		return got
	case <-ctx.Done():
		t.Fatalf("nothing arrived within %v", deadline)
		return ""
	}
}

// call sends the API a request with a key, and returns the status.
func (s *service) call(key string) int {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.url+"/api/v1/tools", nil)
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	resp.Body.Close()
	return resp.StatusCode
}
