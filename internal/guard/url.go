package guard

import (
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// The lengths of DNS (RFC 1035, section 2.3.4), and a length of the whole URL that
// every proxy and server accepts.
const (
	maxHost  = 253
	maxLabel = 63
	maxURL   = 2048
)

// A URLError is why a URL cannot be an endpoint's: Code, of package problem, for the API and the account page, and
// Error, in English, for the operator.
type URLError struct {
	Code    string
	english string
}

func (e *URLError) Error() string { return e.english }

// The errors, in the order in which they are checked. None repeats the URL, which may
// contain a password.
var (
	errForm = &URLError{
		"url_form",
		"this is not a valid URL: give it whole, in ASCII, without spaces or backslashes, in at most 2048 characters",
	}
	errScheme = &URLError{
		"url_scheme",
		"the URL must begin with https:// (http:// only with --webhook-allow)",
	}
	errUserInfo = &URLError{
		"url_user_info",
		"the URL must not contain a user name or a password: the signature of each request proves where it comes from",
	}
	errFragment = &URLError{
		"url_fragment",
		"the URL must not contain a fragment (#…): it is never sent",
	}
	errPort = &URLError{
		"url_port",
		"the port must be 443: leave it out (other ports only with --webhook-allow)",
	}
	errAddress = &URLError{
		"url_address",
		"the host must be a domain name, not an IP address in any notation (only addresses inside --webhook-allow, " +
			"in their usual form)",
	}
	errHost = &URLError{
		"url_host",
		"the host must be a complete public domain name such as hooks.example.com: ASCII letters, " +
			"digits and hyphens, no final dot (an internationalised name in its xn-- form)",
	}
)

// localNames are last labels that never belong to a public host. The guard would
// refuse their addresses too, but this tells the owner immediately.
var localNames = []string{"localhost", "localdomain", "local", "internal"}

// CheckURL checks whether raw may be an endpoint's URL and returns it normalized:
// scheme and host in lower case, without the scheme's default port. The error is a
// *URLError. Nothing is resolved: the Guard checks addresses, for each connection.
//
// If allow is not empty, http, other ports and names without a dot are accepted for
// every host, since only the address shows whether it is in an allowed network; the
// Guard refuses all others. An IP address as host must be in allow.
func CheckURL(raw string, allow []netip.Prefix) (string, error) {
	if len(raw) > maxURL {
		return "", errForm
	}
	for i := range len(raw) {
		if raw[i] <= ' ' || raw[i] >= 0x7f || raw[i] == '\\' {
			return "", errForm
		}
	}
	u, err := url.Parse(raw)
	if err != nil {
		return "", errForm
	}
	opened := len(allow) > 0
	switch {
	case u.Scheme != "https" && (u.Scheme != "http" || !opened):
		return "", errScheme
	case u.Opaque != "" || u.Host == "":
		return "", errForm
	case u.User != nil:
		return "", errUserInfo
	case strings.Contains(raw, "#"):
		return "", errFragment
	}
	host, port := strings.ToLower(u.Hostname()), u.Port()
	if strings.HasSuffix(u.Host, ":") {
		return "", errPort
	}
	if port != "" {
		n, err := strconv.ParseUint(port, 10, 16)
		// The Guard would allow plain HTTP to port 443 of a public address: it sees the port,
		// not the scheme.
		if err != nil || n == 0 || n != 443 && !opened || n == 443 && u.Scheme == "http" {
			return "", errPort
		}
		port = strconv.FormatUint(n, 10)
	}
	if err := checkHost(host, allow); err != nil {
		return "", err
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if port == "" || u.Scheme == "https" && port == "443" || u.Scheme == "http" && port == "80" {
		u.Host = host
	} else {
		u.Host = host + ":" + port
	}
	return u.String(), nil
}

// checkHost accepts only names that no resolver reads as an address: inet_aton reads
// 127.1, 0x7f.1, 2130706433 and 0177.0.0.1 as such, hence the rule on last labels.
func checkHost(host string, allow []netip.Prefix) error {
	if addr, err := netip.ParseAddr(host); err == nil {
		if addr.Zone() != "" || !contains(allow, addr) {
			return errAddress
		}
		return nil
	}
	if len(host) > maxHost {
		return errHost
	}
	labels := strings.Split(host, ".")
	for _, label := range labels {
		if label == "" || len(label) > maxLabel || label[0] == '-' || label[len(label)-1] == '-' ||
			strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
			return errHost
		}
	}
	last := labels[len(labels)-1]
	if strings.HasPrefix(last, "0x") || strings.Trim(last, "0123456789") == "" {
		return errAddress
	}
	if len(allow) > 0 {
		return nil
	}
	if len(labels) == 1 || slices.Contains(localNames, last) {
		return errHost
	}
	return nil
}

func contains(prefixes []netip.Prefix, addr netip.Addr) bool {
	return slices.ContainsFunc(prefixes, func(p netip.Prefix) bool { return p.Contains(addr.Unmap()) })
}
