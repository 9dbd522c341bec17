package browser_test

import (
	"bytes"
	"context"
	"errors"
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
	"time"

	"github.com/emersion/go-smtp"
)

// A service is palmares as customers meet it: the binary that ships, with a catalogue
// that was published, a mail server and, of a customer, a receiver of webhooks.
type service struct {
	t        *testing.T
	binary   string
	folder   string // of the catalogue
	database string
	url      string
	mails    chan string // the text of each
	hooks    chan string // the body of each
	receiver string      // where they are received
}

// deadline is for what must happen soon and may never happen.
const deadline = 30 * time.Second

func startService(t *testing.T) *service {
	t.Helper()
	dir := t.TempDir()
	s := &service{
		t: t, binary: filepath.Join(dir, "palmares"), folder: filepath.Join(dir, "catalogue"), database: "sqlite:" + filepath.Join(dir, "palmares.db"),
		mails: make(chan string, 100), hooks: make(chan string, 100),
	}
	if out, err := exec.Command("go", "build", "-o", s.binary, "palmares/cmd/palmares").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		s.hooks <- string(body)
		_, _ = io.WriteString(w, `<script>alert("received")</script>`) // what answers hold is not ours to trust
	}))
	t.Cleanup(receiver.Close)
	s.receiver = receiver.URL
	s.publish("19 €/mois")

	// The port must be known before the server is there: it stands in the links of mails.
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	s.url = "http://" + address
	s.serve("serve", "--listen", address, "--base-url", s.url, "--smtp", "smtp://"+s.postbox(), "--webhook-allow", "127.0.0.0/8")
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
			var told []string
			for line := range strings.Lines(stderr.String()) {
				if !strings.Contains(line, `"/readyz"`) {
					told = append(told, line)
				}
			}
			s.t.Errorf("palmares %v: %v\n%s", args, err, strings.Join(told, ""))
		}
	})
	s.eventually("the server is ready", func() bool {
		resp, err := http.Get(s.url + "/readyz")
		if err != nil {
			return false
		}
		resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
}

// eventually asks until it is so.
func (s *service) eventually(what string, so func() bool) {
	s.t.Helper()
	for end := time.Now().Add(deadline); !so(); {
		if time.Now().After(end) {
			s.t.Fatalf("it never came true that %s", what)
		}
	}
}

// command runs palmares as the operator does.
func (s *service) command(args ...string) {
	s.t.Helper()
	if out, err := exec.Command(s.binary, append(args, "--database", s.database)...).CombinedOutput(); err != nil {
		s.t.Fatalf("palmares %v: %v\n%s", args, err, out)
	}
}

// publish makes a catalogue of one tool at a price what is served.
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

// postbox starts a mail server and gives its address.
func (s *service) postbox() string {
	s.t.Helper()
	server := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return &letterbox{s}, nil }))
	server.Domain = "mail.test"
	server.ErrorLog = log.New(io.Discard, "", 0) // a client that goes away says nothing
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
		server.Close() //nolint:errcheck // the client may have gone first
		serving.Wait()
	})
	return listener.Addr().String()
}

// A letterbox takes what is mailed.
type letterbox struct{ s *service }

func (*letterbox) Mail(string, *smtp.MailOptions) error { return nil }
func (*letterbox) Rcpt(string, *smtp.RcptOptions) error { return nil }
func (*letterbox) Reset()                               {}
func (*letterbox) Logout() error                        { return nil }

// Data keeps the plain text of a mail.
func (l *letterbox) Data(r io.Reader) error {
	m, err := mail.ReadMessage(r)
	if err != nil {
		return err
	}
	_, params, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil {
		return err
	}
	part, err := multipart.NewReader(m.Body, params["boundary"]).NextRawPart()
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
	l.s.mails <- string(body)
	return nil
}

var linkInMail = regexp.MustCompile(`http://\S+\?jeton=\S+`)

// link waits for the next mail and gives what it leads to, as a path.
func (s *service) link() string {
	s.t.Helper()
	text := next(s.t, s.mails)
	link := linkInMail.FindString(text)
	if !strings.HasPrefix(link, s.url) {
		s.t.Fatalf("the mail has no link to the server: %s", text)
	}
	return strings.TrimPrefix(link, s.url)
}

// hook waits until the receiver has got an event of a type, and gives its bytes. Those
// of a publication come in any order.
func (s *service) hook(kind string) string {
	s.t.Helper()
	for {
		if body := next(s.t, s.hooks); strings.Contains(body, `"type":"`+kind+`"`) {
			return body
		}
	}
}

// next waits for what comes.
func next(t *testing.T, from <-chan string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	defer cancel()
	select {
	case got := <-from:
		return got
	case <-ctx.Done():
		t.Fatal("nothing came")
		return ""
	}
}

// call asks the API with a key, and gives the status.
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
