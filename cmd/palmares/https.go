package main

import (
	"cmp"
	"fmt"
	"net"
	"net/mail"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/idna"

	"palmares/internal/certificate"
)

// httpsOptions are for a server with certificates of its own.
type httpsOptions struct {
	Domains    domainList    `name:"domain" help:"Domains to serve over HTTPS with certificates by ACME, comma-separated; the first is the address of the site, the others redirect to it (default: none, plain HTTP)." env:"PALMARES_DOMAIN" placeholder:"DOMAINS"`
	ListenHTTP string        `name:"listen-http" help:"Address for the redirects to HTTPS, and for the authority." default:":80" env:"PALMARES_LISTEN_HTTP" placeholder:"HOST:PORT"`
	Directory  acmeDirectory `name:"acme-directory" help:"Directory of the authority (default: Let’s Encrypt)." env:"PALMARES_ACME_DIRECTORY" placeholder:"URL"`
	Contact    acmeContact   `name:"acme-contact" help:"Mail address that the authority may write to (default: none)." env:"PALMARES_ACME_CONTACT" placeholder:"ADDRESS"`
}

// baseURL returns the URL of the site on a listener.
func (o *httpsOptions) baseURL(addr net.Addr) baseURL {
	if len(o.Domains) == 0 {
		return deriveBaseURL(addr)
	}
	if at, ok := addr.(*net.TCPAddr); ok && at.Port != 443 {
		return baseURL(fmt.Sprintf("https://%s:%d", o.Domains[0], at.Port))
	}
	return baseURL("https://" + o.Domains[0])
}

// config returns how certificates are obtained; nil for plain HTTP.
func (o *httpsOptions) config() *certificate.Config {
	if len(o.Domains) == 0 {
		return nil
	}
	return &certificate.Config{
		Domains: o.Domains, Directory: cmp.Or(string(o.Directory), certificate.Directory), Contact: string(o.Contact),
		Agent: "palmares/" + version,
	}
}

// A domainList is the value of --domain.
type domainList []string

// domainNames are those that DNS can have, as a browser sends them.
var domainNames = idna.New(idna.MapForLookup(), idna.BidiRule(), idna.StrictDomainName(true), idna.VerifyDNSLength(true))

// UnmarshalText reads domains, which are kept as a browser sends them.
func (l *domainList) UnmarshalText(text []byte) error {
	for part := range strings.SplitSeq(string(text), ",") {
		part = strings.TrimSuffix(strings.TrimSpace(part), ".")
		name, err := domainNames.ToASCII(part)
		_, isAddress := netip.ParseAddr(part)
		if err != nil || isAddress == nil || !strings.Contains(name, ".") {
			return fmt.Errorf("%q is not a domain that can have a certificate: write a name such as catalogue.example, "+
				"without https://, port and *", part)
		}
		if slices.Contains(*l, name) {
			return fmt.Errorf("%q is there twice: remove one", part)
		}
		*l = append(*l, name)
	}
	return nil
}

// An acmeDirectory is the value of --acme-directory.
type acmeDirectory string

func (d *acmeDirectory) UnmarshalText(text []byte) error {
	at, err := url.Parse(string(text))
	if err != nil || at.Scheme != "https" || at.Host == "" {
		return fmt.Errorf("%q is not the directory of an authority: it begins with https://, as %s does", text, certificate.Directory)
	}
	*d = acmeDirectory(text)
	return nil
}

// An acmeContact is the value of --acme-contact.
type acmeContact string

func (c *acmeContact) UnmarshalText(text []byte) error {
	at, err := mail.ParseAddress(string(text))
	if err != nil || at.Name != "" {
		return fmt.Errorf("%q is not a mail address: write it as operations@catalogue.example", text)
	}
	*c = acmeContact(at.Address)
	return nil
}
