package mail

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/mail"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode"

	"palmares/internal/clientip"
)

// Security is how the connection to a mail server is protected.
type Security string

// The values of `?tls=` in the address. The default is Implicit for smtps:// and
// StartTLS for smtp://; on loopback without a password StartTLS is used only if the
// server offers it.
const (
	Off           Security = "off"
	StartTLS      Security = "starttls"
	Implicit      Security = "implicit"
	opportunistic Security = ""
)

// SMTP is a mail server and how to talk to it. ParseSMTP returns it.
type SMTP struct {
	Host     string
	Port     int
	User     string // "" without authentication
	Security Security
	Roots    *x509.CertPool // trusted certificate authorities, nil for the system's

	password string
}

// String returns the address without the password, for every verb of fmt.
func (s SMTP) String() string { return "smtp server " + s.address() }

// GoString keeps the password out of %#v.
func (s SMTP) GoString() string { return s.String() }

func (s SMTP) address() string { return net.JoinHostPort(s.Host, strconv.Itoa(s.Port)) }

// The ports of RFC 6409 and RFC 8314.
const (
	portSubmission  = 587
	portSubmissions = 465
)

const smtpForm = "smtp://USER:PASSWORD@HOST:PORT, or smtps:// for TLS from the first byte"

// ParseSMTP reads the address of a mail server: smtp://[user:password@]host[:port],
// or smtps://, with `?tls=off`, `?tls=starttls` or `?tls=implicit` where the default
// does not fit. No error repeats the text, which may contain a password.
func ParseSMTP(text string) (SMTP, error) {
	u, err := url.Parse(text)
	if err != nil || strings.ContainsFunc(text, unicode.IsControl) {
		return SMTP{}, errors.New("the mail server is not a URL: give " + smtpForm + "; in user and password, " +
			"write %40 for @, %2F for / and %25 for %")
	}
	var s SMTP
	switch u.Scheme {
	case "smtp":
		s.Port = portSubmission
	case "smtps":
		s.Port, s.Security = portSubmissions, Implicit
	default:
		return SMTP{}, errors.New("the mail server has another scheme than smtp:// and smtps://: give " + smtpForm)
	}
	s.Host = u.Hostname()
	if s.Host == "" || strings.ContainsAny(s.Host, " <>\"") || u.Opaque != "" {
		return SMTP{}, errors.New("the mail server has no host: give " + smtpForm)
	}
	if port := u.Port(); port != "" {
		s.Port, err = strconv.Atoi(port)
		if err != nil || s.Port < 1 || s.Port > 65535 {
			return SMTP{}, errors.New("the port of the mail server is not a number from 1 to 65535: " +
				"most servers use 587, or 465 with smtps://")
		}
	}
	if u.Path != "" && u.Path != "/" || u.Fragment != "" {
		return SMTP{}, errors.New("the mail server has something after its port: end it there, " +
			"and write %2F for a / and %23 for a # in a password")
	}
	if u.User != nil {
		s.User = u.User.Username()
		s.password, _ = u.User.Password()
		if s.User == "" || s.password == "" {
			return SMTP{}, errors.New("the mail server has a user without a password, or the reverse: give both, " +
				"or neither")
		}
		if strings.ContainsFunc(s.User+s.password, unicode.IsControl) {
			return SMTP{}, errors.New("the user or the password of the mail server contains a control character: " +
				"check what follows each %")
		}
	}
	return s, s.secure(u)
}

// secure sets the encryption that the address asks for, or else the default.
func (s *SMTP) secure(u *url.URL) error {
	query, err := url.ParseQuery(u.RawQuery)
	asked := query["tls"]
	if err != nil || len(query) > 1 || len(query) == 1 && len(asked) != 1 {
		return errors.New("the mail server has options that palmares does not know: the only one is tls, " +
			"as in ?tls=starttls")
	}
	local := clientip.IsLoopback(s.Host)
	if len(asked) == 0 {
		if s.Security != Implicit && (!local || s.User != "") {
			s.Security = StartTLS
		}
		return nil
	}
	switch mode := Security(asked[0]); {
	case mode != Off && mode != StartTLS && mode != Implicit:
		return errors.New("the option tls of the mail server is neither off nor starttls nor implicit: " +
			"use one of these, or leave it out")
	case s.Security == Implicit && mode != Implicit:
		return fmt.Errorf("smtps:// means TLS from the first byte and tls=%s contradicts it: write smtp://", mode)
	case mode == Off && s.User != "" && !local:
		return errors.New("tls=off would send the password of the mail server across the network for all to read: " +
			"leave it out")
	default:
		s.Security = mode
	}
	return nil
}

// ParseFrom parses the sender of mails: `Palmarès <no-reply@example.org>`, or an
// address alone. The default is no-reply at the host of the base URL. The catalogue gives the name to one without.
func ParseFrom(text string, base *url.URL) (mail.Address, error) {
	if text == "" {
		host := base.Hostname()
		if ip, err := netip.ParseAddr(host); err == nil {
			if !ip.IsLoopback() {
				return mail.Address{}, errors.New("mails need a sender, and the host of the base URL is an IP " +
					"address: give --mail-from 'Palmarès <no-reply@example.org>'")
			}
			host = "localhost" // an IP address is not a mail domain
		}
		text = "no-reply@" + host // the catalogue gives the name
	}
	from, err := mail.ParseAddress(text)
	if err != nil || strings.ContainsFunc(text, unicode.IsControl) {
		return mail.Address{}, fmt.Errorf("%q is not the sender of a mail: give an address, "+
			"as in 'Palmarès <no-reply@example.org>'", text)
	}
	isRare := func(r rune) bool { return r > unicode.MaxASCII || r <= ' ' || strings.ContainsRune(`"[]<>()`, r) }
	if strings.ContainsFunc(from.Address, isRare) {
		return mail.Address{}, fmt.Errorf("the sender %q has characters that not every mail server accepts: "+
			"use plain letters, and the xn-- form of the domain, with --mail-from", from.Address)
	}
	return *from, nil
}
