package mail

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/mail"
	"net/textproto"
	"net/url"
	"strings"
	"time"
	"unicode"

	gomail "github.com/wneessen/go-mail"
)

// connectTimeout is for the TCP connection and, with implicit TLS, its handshake.
const connectTimeout = 5 * time.Second

// A Sender hands mails to a mail server, each on a connection of its own: they are
// few, and an idle connection would be one more thing that breaks. Any number of
// goroutines use it.
type Sender struct {
	server SMTP
	from   mail.Address
}

// NewSender makes a sender; from comes from ParseFrom.
func NewSender(server SMTP, from mail.Address) *Sender { return &Sender{server, from} }

// Send hands over one mail and waits for the server to take it. The error is a
// *Failure.
func (s *Sender) Send(ctx context.Context, m Message) error {
	msg, err := s.compose(m)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, handOver)
	defer cancel()

	// The library leaves the connection open when it fails before the first mail, and
	// looks at ctx only while it dials: this one is closed when ctx ends, below at the latest.
	dial := func(dialing context.Context, _, _ string) (net.Conn, error) {
		conn, err := s.dial(dialing)
		if err == nil {
			context.AfterFunc(ctx, func() { conn.Close() })
		}
		return conn, err
	}
	client, err := s.client(dial, isASCII(m.To))
	if err != nil {
		return &Failure{Class: failedMessage, Detail: err.Error()}
	}
	session, err := client.DialToSMTPClientWithContext(ctx)
	if err != nil {
		return failedBefore(ctx, err)
	}
	if ok, _ := session.Extension("SMTPUTF8"); !ok && !isASCII(m.To) {
		return &Failure{Class: failedRefused, Permanent: true, Detail: "the mail server takes no address with accents"}
	}
	err = client.SendWithSMTPClient(session, msg)
	if !msg.IsDelivered() {
		return failedIn(ctx, err)
	}
	// It is the server's now, whatever becomes of the farewell.
	_ = session.Quit()
	return nil
}

func (s *Sender) tlsConfig() *tls.Config {
	return &tls.Config{ServerName: s.server.Host, RootCAs: s.server.Roots, MinVersion: tls.VersionTLS12}
}

func (s *Sender) dial(ctx context.Context) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	if s.server.Security == Implicit {
		return (&tls.Dialer{Config: s.tlsConfig()}).DialContext(ctx, "tcp", s.server.address())
	}
	return (&net.Dialer{}).DialContext(ctx, "tcp", s.server.address())
}

// client makes the library's client for one mail: it changes itself as it learns
// what the server can do.
func (s *Sender) client(dial gomail.DialContextFunc, ascii bool) (*gomail.Client, error) {
	_, domain, _ := strings.Cut(s.from.Address, "@")
	options := []gomail.Option{
		gomail.WithDialContextFunc(dial),
		gomail.WithTimeout(handOver),
		gomail.WithTLSConfig(s.tlsConfig()),
		gomail.WithHELO(domain), // rather than what this machine is called inside the house
		gomail.WithoutNoop(), gomail.WithoutRset(),
	}
	if ascii {
		// Asked for without need, it has the mail bounce at a next server that lacks it.
		options = append(options, gomail.WithoutSMTPUTF8())
	}
	switch s.server.Security {
	case StartTLS:
		options = append(options, gomail.WithTLSPolicy(gomail.TLSMandatory))
	case opportunistic:
		options = append(options, gomail.WithTLSPolicy(gomail.TLSOpportunistic))
	case Off, Implicit: // there is nothing to ask for, or all is encrypted already
		options = append(options, gomail.WithTLSPolicy(gomail.NoTLS))
	}
	if s.server.User != "" {
		// ParseSMTP saw to it that a password goes out under TLS or stays on this machine,
		// so that the library need not ask: it would not see that our dialer encrypts.
		options = append(options, gomail.WithUsername(s.server.User), gomail.WithPassword(s.server.password),
			gomail.WithOpportunisticSMTPAuth(gomail.SMTPAuthPlainNoEnc, gomail.SMTPAuthLoginNoEnc, gomail.SMTPAuthSCRAMSHA256, gomail.SMTPAuthCramMD5))
	}
	return gomail.NewClient(s.server.Host, options...)
}

// compose writes a mail down. What would end a header early is refused here, not
// encoded: it was never meant well.
func (s *Sender) compose(m Message) (*gomail.Msg, error) {
	to, err := mail.ParseAddress(m.To)
	if err != nil || to.Address != m.To || strings.ContainsFunc(m.To, func(r rune) bool { return unicode.IsControl(r) || unicode.IsSpace(r) }) {
		return nil, &Failure{Class: failedMessage, Permanent: true, Detail: "the reader's address is none"}
	}
	if strings.ContainsFunc(m.Subject, unicode.IsControl) {
		return nil, &Failure{Class: failedMessage, Permanent: true, Detail: "the subject has a line break or another control character"}
	}
	_, domain, _ := strings.Cut(s.from.Address, "@")
	msg := gomail.NewMsg(gomail.WithNoDefaultUserAgent(), gomail.WithCharset(gomail.CharsetUTF8), gomail.WithEncoding(gomail.EncodingQP))
	msg.FromMailAddress(&s.from)
	msg.ToMailAddress(to)
	msg.Subject(m.Subject)
	msg.SetDateWithValue(m.Date)
	// Another one for each attempt: a reader's server that drops what it has seen must
	// not drop the attempt whose link still works.
	msg.SetMessageIDWithValue(strings.ToLower(rand.Text()) + "@" + domain)
	msg.SetGenHeader("Auto-Submitted", "auto-generated") // no holiday notice comes back
	msg.SetBodyString(gomail.TypeTextPlain, m.Text)
	msg.AddAlternativeString(gomail.TypeTextHTML, m.HTML)
	return msg, nil
}

// failedBefore names what went wrong before the server heard of the mail. Nothing
// of that is the reader's fault: the operator repairs it, and the mail goes out.
func failedBefore(ctx context.Context, err error) *Failure {
	var answer *textproto.Error
	var unknown x509.UnknownAuthorityError
	var wrongName x509.HostnameError
	var unverified *tls.CertificateVerificationError
	var noTLS tls.RecordHeaderError
	var babble textproto.ProtocolError
	var network net.Error
	switch {
	case errors.As(err, &babble):
		return &Failure{Class: failedServer, Detail: "what listens there does not speak SMTP: check host and port in --smtp"}
	case errors.As(err, &answer):
		// The code alone: the words are the server's, and might repeat what we said.
		f := &Failure{Class: failedServer, Detail: fmt.Sprintf("the server answered %d before the mail", answer.Code)}
		if strings.Contains(err.Error(), "AUTH") {
			f.Class, f.Detail = failedAuth, fmt.Sprintf("the server answered %d to user and password: check both in --smtp", answer.Code)
		}
		return f
	case errors.As(err, &unverified), errors.As(err, &unknown), errors.As(err, &wrongName):
		return &Failure{Class: failedTLS, Detail: err.Error()}
	case errors.As(err, &noTLS):
		return &Failure{Class: failedTLS, Detail: "the server does not speak TLS from the first byte: use another port, or smtp:// for STARTTLS"}
	case strings.Contains(err.Error(), "STARTTLS"):
		return &Failure{Class: failedTLS, Detail: "the server offers no STARTTLS: use another port, smtps://, or ?tls=off on a network that is yours"}
	case strings.Contains(err.Error(), "AUTH"):
		return &Failure{Class: failedAuth, Detail: "the server offers no way to log in that palmares knows: leave user and password out of --smtp if it needs none"}
	case ctx.Err() != nil, errors.As(err, &network) && network.Timeout():
		return &Failure{Class: failedTimeout, Detail: "the server did not answer in time"}
	}
	return &Failure{Class: failedConnect, Detail: err.Error()}
}

// authRequired is the answer to a mail from somebody who did not log in: 5xx by its
// number, and mended by the operator.
const authRequired = 530

// failedIn names what went wrong in the transaction of a mail. A refusal of the
// reader or of the text lasts; one of the sender is for the operator to mend.
func failedIn(ctx context.Context, err error) *Failure {
	var failed *gomail.SendError
	var network net.Error
	switch {
	case errors.As(err, &failed) && failed.ErrorCode() != 0:
		code := failed.ErrorCode()
		f := &Failure{Class: failedServer, Detail: strings.TrimSpace(fmt.Sprintf("%s: %d %s", failed.Reason, code, failed.EnhancedStatusCode()))}
		switch failed.Reason {
		case gomail.ErrSMTPRcptTo, gomail.ErrSMTPData, gomail.ErrSMTPDataClose:
			if code >= 500 && code != authRequired {
				f.Class, f.Permanent = failedRefused, true
			}
		}
		return f
	case ctx.Err() != nil, errors.As(err, &network) && network.Timeout():
		return &Failure{Class: failedTimeout, Detail: "the server did not answer in time"}
	case failed != nil:
		return &Failure{Class: failedConnect, Detail: "the connection broke: " + failed.Reason.String()}
	}
	return &Failure{Class: failedConnect, Detail: "the connection broke"}
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r > unicode.MaxASCII })
}

// A LogSender writes mails into the log, for a program without a mail server: the
// one way in which a link gets there.
type LogSender struct{ Log *slog.Logger }

// Send writes one record. A link stands in it alone, whole and once, to be copied;
// a mail without one is there with its text, but for what stands after the host in
// the URL of a webhook.
func (s LogSender) Send(_ context.Context, m Message) error {
	const said = "mail not sent but printed here, as --smtp is not set"
	switch {
	case m.Link != "":
		s.Log.Info(said, "to", m.To, "subject", m.Subject, "link", m.Link)
	case m.Hook != "":
		s.Log.Info(said, "to", m.To, "subject", m.Subject, "text", strings.ReplaceAll(m.Text, m.Hook, origin(m.Hook)))
	default:
		s.Log.Info(said, "to", m.To, "subject", m.Subject, "text", m.Text)
	}
	return nil
}

// origin is the part of a URL that is nobody's secret.
func origin(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host}).String()
}
