package mail_test

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
	"go.uber.org/goleak"

	"palmares/internal/mail"
	"palmares/internal/testkit"
)

func TestMain(m *testing.M) {
	code := testkit.Run(m)
	var left error
	if code == 0 && !testkit.Await(func() bool {
		left = goleak.Find()
		return left == nil
	}) {
		fmt.Fprintln(os.Stderr, left)
		code = 1
	}
	os.Exit(code)
}

// A mailServer is a real mail server on loopback that keeps what it receives.
type mailServer struct {
	server   *smtp.Server
	addr     string
	close    func() // now; otherwise it is closed at the end of the test
	roots    *x509.CertPool
	mechs    []string
	onRcpt   func(to string) error
	onMail   func(from string) error
	onData   error
	mu       sync.Mutex
	received []delivery
	logins   []string // "mechanism user"
	kinds    []string // of connections on which a mail came: "plain" or "tls"
}

// A delivery is what the server received: envelope and bytes.
type delivery struct {
	from, to string
	utf8     bool
	data     []byte
}

type security int

const (
	plain security = iota
	startTLS
	implicit
)

const user, password = "palmares", "p@ss/w0rd"

// startMailServer starts a server that ends with the test.
func startMailServer(t testing.TB, sec security, change ...func(*mailServer)) *mailServer {
	t.Helper()
	box := &mailServer{}
	box.server = smtp.NewServer(smtp.BackendFunc(func(c *smtp.Conn) (smtp.Session, error) {
		return &session{box: box, conn: c}, nil
	}))
	box.server.Domain = "mail.test"
	box.server.ErrorLog = log.New(io.Discard, "", 0) // some tests close connections early
	for _, c := range change {
		c(box)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	box.addr = listener.Addr().String()
	if sec != plain {
		var cert tls.Certificate
		cert, box.roots = certificate(t)
		box.server.TLSConfig = &tls.Config{Certificates: []tls.Certificate{cert}}
	}
	if sec == implicit {
		listener = tls.NewListener(listener, box.server.TLSConfig)
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := box.server.Serve(listener); err != nil && !errors.Is(err, smtp.ErrServerClosed) {
			t.Error(err)
		}
	})
	// The listener too: a server closed before it serves does not close it.
	box.close = sync.OnceFunc(func() {
		box.server.Close() //nolint:errcheck // a client may have gone first
		listener.Close()
		serving.Wait()
	})
	t.Cleanup(box.close)
	return box
}

func (b *mailServer) all() []delivery {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.received)
}

// withLogin makes the server accept mails only after a login.
func withLogin(mechs ...string) func(*mailServer) {
	return func(b *mailServer) { b.mechs, b.server.AllowInsecureAuth = mechs, true }
}

type session struct {
	box      *mailServer
	conn     *smtp.Conn
	loggedIn bool
	now      delivery
}

func (s *session) Reset()        { s.now = delivery{} }
func (s *session) Logout() error { return nil }

func (s *session) AuthMechanisms() []string { return s.box.mechs }

func (s *session) Auth(mech string) (sasl.Server, error) {
	check := func(u, p string) error {
		if u != user || p != password {
			return fmt.Errorf("no such user or password: %s %s", u, p) // some servers repeat credentials
		}
		s.box.mu.Lock()
		defer s.box.mu.Unlock()
		s.loggedIn, s.box.logins = true, append(s.box.logins, mech+" "+u)
		return nil
	}
	if mech == "LOGIN" {
		return &loginServer{check: check}, nil
	}
	return sasl.NewPlainServer(func(_, u, p string) error { return check(u, p) }), nil
}

// A loginServer is the server's side of LOGIN, which was never standardized.
type loginServer struct {
	check func(u, p string) error
	user  string
	step  int
}

func (l *loginServer) Next(response []byte) ([]byte, bool, error) {
	l.step++
	switch l.step {
	case 1:
		return []byte("Username:"), false, nil
	case 2:
		l.user = string(response)
		return []byte("Password:"), false, nil
	}
	return nil, true, l.check(l.user, string(response))
}

func (s *session) Mail(from string, o *smtp.MailOptions) error {
	if s.box.mechs != nil && !s.loggedIn {
		return &smtp.SMTPError{Code: 530, EnhancedCode: smtp.EnhancedCode{5, 7, 0}, Message: "log in first"}
	}
	s.now.from, s.now.utf8 = from, o.UTF8
	if s.box.onMail != nil {
		return s.box.onMail(from)
	}
	return nil
}

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.now.to = to
	if s.box.onRcpt != nil {
		return s.box.onRcpt(to)
	}
	return nil
}

func (s *session) Data(r io.Reader) error {
	var err error
	if s.now.data, err = io.ReadAll(r); err != nil {
		return err
	}
	s.box.mu.Lock()
	defer s.box.mu.Unlock()
	kind := "plain"
	if _, ok := s.conn.TLSConnectionState(); ok {
		kind = "tls"
	}
	s.box.received, s.box.kinds = append(s.box.received, s.now), append(s.box.kinds, kind)
	return s.box.onData
}

// certificate returns a certificate for 127.0.0.1, and the pool that trusts it.
func certificate(t testing.TB) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(parsed)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, roots
}

// scripted starts a server that talks to its one client as the test says.
func scripted(t testing.TB, talk func(in *bufio.Reader, out io.Writer)) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var talking sync.WaitGroup
	talking.Go(func() {
		conn, err := listener.Accept()
		if err != nil {
			return // the test is over
		}
		defer conn.Close()
		talk(bufio.NewReader(conn), conn)
	})
	t.Cleanup(func() {
		listener.Close()
		talking.Wait()
	})
	return listener.Addr().String()
}

// dialogue replies to each line with the next answer, then closes.
func dialogue(answers ...string) func(*bufio.Reader, io.Writer) {
	return func(in *bufio.Reader, out io.Writer) {
		for i, answer := range answers {
			if i > 0 {
				line, err := in.ReadString('\n')
				for err == nil && answers[i-1][:3] == "354" && line != ".\r\n" {
					line, err = in.ReadString('\n')
				}
				if err != nil {
					return
				}
			}
			io.WriteString(out, answer+"\r\n") //nolint:errcheck // the client may have gone
		}
	}
}

// sender returns a sender for an address, as the command line does.
func sender(t testing.TB, address string, box *mailServer) *mail.Sender {
	t.Helper()
	server, err := mail.ParseSMTP(address)
	if err != nil {
		t.Fatal(err)
	}
	if box != nil {
		server.Roots = box.roots
	}
	from, err := mail.ParseFrom("", &url.URL{Scheme: "https", Host: "palmares.example:8443"})
	if err != nil {
		t.Fatal(err)
	}
	return mail.NewSender(server, from)
}

var credentials = url.UserPassword(user, password).String() + "@"

// monday is when every test begins.
var monday = time.Date(2026, 11, 16, 9, 30, 0, 0, time.UTC)

func message() mail.Message {
	return mail.Message{
		From: "Palmarès", To: "ada@example.org", Subject: "Votre lien de connexion à Palmarès, prêt à l’emploi dès maintenant et pour longtemps",
		Text: "Bonjour,\n\nÉté comme hiver\u00a0: « ça » va.\n.\n..\nFrom ici\n" + strings.Repeat("long ", 400) + "\n",
		HTML: "<p>Été\u202f!</p>" + strings.Repeat("x", 3000),
		Date: monday,
	}
}
