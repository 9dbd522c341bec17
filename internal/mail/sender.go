package mail

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/mail"
	"net/textproto"
	"net/url"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	gomail "github.com/wneessen/go-mail"
	"github.com/wneessen/go-mail/smtp"
)

// connectTimeout is for the TCP connection and, with implicit TLS, its handshake.
const connectTimeout = 5 * time.Second

// A Sender sends mails through a mail server, each on a new connection: they are few,
// and an idle connection would be one more thing that breaks. It is safe for
// concurrent use.
type Sender struct {
	server SMTP
	from   mail.Address
}

// NewSender returns a sender; from comes from ParseFrom.
func NewSender(server SMTP, from mail.Address) *Sender { return &Sender{server, from} }

// Send sends one mail and waits until the server has accepted it. The error is a
// *Failure.
func (s *Sender) Send(ctx context.Context, m Message) error {
	msg, err := s.compose(m)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()

	client, session, err := s.connect(ctx, isASCII(m.To))
	if err != nil {
		return err
	}
	if ok, _ := session.Extension("SMTPUTF8"); !ok && !isASCII(m.To) {
		return &Failure{
			Class: failedRefused, Permanent: true, Detail: "the mail server does not support non-ASCII addresses",
		}
	}
	err = client.SendWithSMTPClient(session, msg)
	if !msg.IsDelivered() {
		return mailFailure(ctx, err)
	}
	// The server has accepted it, whatever happens to QUIT.
	_ = session.Quit()
	return nil
}

// Check connects to the mail server and logs in, but sends nothing. The error is a *Failure.
func (s *Sender) Check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	_, session, err := s.connect(ctx, true)
	if err != nil {
		return err
	}
	_ = session.Quit() // it has answered
	return nil
}

// connect begins a session for one mail, which ends with ctx at the latest. The error is a *Failure.
func (s *Sender) connect(ctx context.Context, ascii bool) (*gomail.Client, *smtp.Client, error) {
	// The library leaves the connection open if it fails before the first mail, and
	// observes ctx only while dialing. This closes it when ctx ends, at the latest on return.
	dial := func(dialing context.Context, _, _ string) (net.Conn, error) {
		conn, err := s.dial(dialing)
		if err == nil {
			context.AfterFunc(ctx, func() { conn.Close() })
		}
		return conn, err
	}
	client, err := s.client(dial, ascii)
	if err != nil {
		return nil, nil, &Failure{Class: failedMessage, Detail: err.Error()}
	}
	session, err := client.DialToSMTPClientWithContext(ctx)
	if err != nil {
		return nil, nil, sessionFailure(ctx, err)
	}
	return client, session, nil
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

// client returns a library client for one mail: a client changes its state as it
// learns what the server supports.
func (s *Sender) client(dial gomail.DialContextFunc, ascii bool) (*gomail.Client, error) {
	_, domain, _ := strings.Cut(s.from.Address, "@")
	options := []gomail.Option{
		gomail.WithDialContextFunc(dial),
		gomail.WithTimeout(sendTimeout),
		gomail.WithTLSConfig(s.tlsConfig()),
		gomail.WithHELO(domain), // rather than the machine's name on a private network
		gomail.WithoutNoop(), gomail.WithoutRset(),
	}
	if ascii {
		// With SMTPUTF8 the mail would bounce at a later server that lacks the extension.
		options = append(options, gomail.WithoutSMTPUTF8())
	}
	switch s.server.Security {
	case StartTLS:
		options = append(options, gomail.WithTLSPolicy(gomail.TLSMandatory))
	case opportunistic:
		options = append(options, gomail.WithTLSPolicy(gomail.TLSOpportunistic))
	case Off, Implicit: // not wanted, or encrypted already
		options = append(options, gomail.WithTLSPolicy(gomail.NoTLS))
	}
	if s.server.User != "" {
		// ParseSMTP ensures that a password is sent over TLS or to loopback only. The library
		// must not check that: it does not see that our dialer encrypts.
		options = append(options, gomail.WithUsername(s.server.User), gomail.WithPassword(s.server.password),
			gomail.WithOpportunisticSMTPAuth(gomail.SMTPAuthPlainNoEnc, gomail.SMTPAuthLoginNoEnc,
				gomail.SMTPAuthSCRAMSHA256, gomail.SMTPAuthCramMD5))
	}
	return gomail.NewClient(s.server.Host, options...)
}

// compose encodes a mail. It rejects line breaks in headers instead of encoding them:
// only an attack has them.
func (s *Sender) compose(m Message) (*gomail.Msg, error) {
	to, err := mail.ParseAddress(m.To)
	isForbidden := func(r rune) bool { return unicode.IsControl(r) || unicode.IsSpace(r) }
	if err != nil || to.Address != m.To || strings.ContainsFunc(m.To, isForbidden) {
		return nil, &Failure{Class: failedMessage, Permanent: true, Detail: "the recipient is not a valid address"}
	}
	if strings.ContainsFunc(m.Subject, unicode.IsControl) {
		return nil, &Failure{
			Class: failedMessage, Permanent: true, Detail: "the subject has a line break or another control character",
		}
	}
	_, domain, _ := strings.Cut(s.from.Address, "@")
	msg := gomail.NewMsg(gomail.WithNoDefaultUserAgent(), gomail.WithCharset(gomail.CharsetUTF8),
		gomail.WithEncoding(gomail.EncodingQP))
	msg.FromMailAddress(&mail.Address{Name: cmp.Or(s.from.Name, m.From), Address: s.from.Address})
	msg.ToMailAddress(to)
	msg.Subject(encodeSubject(m.Subject))
	msg.SetDateWithValue(m.Date)
	msg.SetMessageIDWithValue(cmp.Or(m.ID, strings.ToLower(rand.Text())) + "@" + domain)
	msg.SetGenHeader("Auto-Submitted", "auto-generated") // suppresses vacation replies
	if m.End != "" {
		msg.SetGenHeader(gomail.HeaderListUnsubscribe, "<"+m.End+">")
		msg.SetGenHeader(gomail.HeaderListUnsubscribePost, "List-Unsubscribe=One-Click")
	}
	msg.SetBodyString(gomail.TypeTextPlain, m.Text)
	msg.AddAlternativeString(gomail.TypeTextHTML, m.HTML)
	return msg, nil
}

// encodeSubject encodes a subject in words so short that the first is on the first line of the header: some readers
// show no subject that begins on the second.
func encodeSubject(s string) string {
	if isASCII(s) {
		return s
	}
	const size = 36 // in bytes, of which base64 makes 48
	var words []string
	for s != "" {
		n := min(len(s), size)
		for n < len(s) && !utf8.RuneStart(s[n]) {
			n--
		}
		words = append(words, "=?utf-8?b?"+base64.StdEncoding.EncodeToString([]byte(s[:n]))+"?=")
		s = s[n:]
	}
	return strings.Join(words, " ")
}

// sessionFailure classifies an error before the mail's transaction. None of them is
// permanent: the operator fixes the cause and the mail is sent.
func sessionFailure(ctx context.Context, err error) *Failure {
	var reply *textproto.Error
	var unknown x509.UnknownAuthorityError
	var wrongName x509.HostnameError
	var unverified *tls.CertificateVerificationError
	var noTLS tls.RecordHeaderError
	var notSMTP textproto.ProtocolError
	var network net.Error
	switch {
	case errors.As(err, &notSMTP):
		return &Failure{Class: failedServer, Detail: "the server does not speak SMTP: check host and port in --smtp"}
	case errors.As(err, &reply):
		// Only the code: the server's text might repeat what we sent.
		f := &Failure{Class: failedServer, Detail: fmt.Sprintf("the server replied %d before the mail", reply.Code)}
		if strings.Contains(err.Error(), "AUTH") {
			f.Class, f.Detail = failedAuth, fmt.Sprintf("the server replied %d to user and password: "+
				"check both in --smtp", reply.Code)
		}
		return f
	case errors.As(err, &unverified), errors.As(err, &unknown), errors.As(err, &wrongName):
		return &Failure{Class: failedTLS, Detail: err.Error()}
	case errors.As(err, &noTLS):
		return &Failure{
			Class:  failedTLS,
			Detail: "the server does not speak TLS from the first byte: use another port, or smtp:// for STARTTLS",
		}
	case strings.Contains(err.Error(), "STARTTLS"):
		return &Failure{
			Class:  failedTLS,
			Detail: "the server offers no STARTTLS: use another port, smtps://, or ?tls=off on a private network",
		}
	case strings.Contains(err.Error(), "AUTH"):
		return &Failure{
			Class: failedAuth,
			Detail: "the server offers no supported way to log in: remove user and password from --smtp if it needs " +
				"none",
		}
	case ctx.Err() != nil, errors.As(err, &network) && network.Timeout():
		return &Failure{Class: failedTimeout, Detail: "the server did not answer in time"}
	}
	return &Failure{Class: failedConnect, Detail: err.Error()}
}

// authRequired is the reply to a client that did not log in. It is not permanent,
// although it is a 5xx code: the operator can fix it.
const authRequired = 530

// noMailbox matches the refusal of an address that does not exist, or no longer: 5.1.1, 5.1.6 and 5.1.10 of
// RFC 3463 and 7505, also from servers that do not announce such codes. No other refusal is about the
// address: a full mailbox, a policy or a server that relays nothing must not end what everybody follows.
// Old servers say it in words, when they hear the address; a bare 550 may be any of these.
var (
	noMailbox     = regexp.MustCompile(`^[^:]*: 5\d\d "?5\.1\.(1|6|10)\b`)
	bareNoMailbox = regexp.MustCompile(`(?i)^[^:]*: 550 "?[^\d"].*(no such|unknown|not exist|not found|unavailable|invalid)`)
)

// mailFailure classifies an error in the mail's transaction. A rejected recipient or
// text is permanent; a rejected sender is for the operator to fix.
func mailFailure(ctx context.Context, err error) *Failure {
	var failed *gomail.SendError
	var network net.Error
	isUnclear := errors.As(err, &failed) && failed.Reason == gomail.ErrSMTPDataClose
	switch {
	case failed != nil && failed.ErrorCode() != 0:
		code := failed.ErrorCode()
		f := &Failure{
			Class:  failedServer,
			Detail: strings.TrimSpace(fmt.Sprintf("%s: %d %s", failed.Reason, code, failed.EnhancedStatusCode())),
		}
		switch failed.Reason {
		case gomail.ErrSMTPRcptTo, gomail.ErrSMTPData, gomail.ErrSMTPDataClose:
			if code >= 500 && code != authRequired {
				f.Class, f.Permanent = failedRefused, true
				isBare := failed.Reason == gomail.ErrSMTPRcptTo && bareNoMailbox.MatchString(failed.Error())
				f.Bounce = isBare || noMailbox.MatchString(failed.Error())
			}
		}
		return f
	case ctx.Err() != nil, errors.As(err, &network) && network.Timeout():
		return &Failure{Class: failedTimeout, Detail: "the server did not answer in time", Unclear: isUnclear}
	case failed != nil:
		return &Failure{Class: failedConnect, Detail: "the connection broke: " + failed.Reason.String(), Unclear: isUnclear}
	}
	return &Failure{Class: failedConnect, Detail: "the connection broke"}
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r > unicode.MaxASCII })
}

// A LogSender writes mails to the log, for installations without a mail server. It is
// the only code that logs a link.
type LogSender struct{ Log *slog.Logger }

// Send writes one record: of a mail with a link only the link, to be copied; of any
// other the text, with the webhook URL cut after the host.
func (s LogSender) Send(_ context.Context, m Message) error {
	what, text := "text", m.Text
	switch {
	case m.Link != "":
		what, text = "link", m.Link
	case m.Hook != "":
		text = strings.ReplaceAll(m.Text, m.Hook, origin(m.Hook))
	}
	s.Log.Info("mail not sent but printed here, as --smtp is not set", "to", m.To, "subject", m.Subject, what, text)
	return nil
}

// origin returns the part of a URL that is not secret.
func origin(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host}).String()
}
