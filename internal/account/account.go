// Package account has the rules of accounts: their plans, API keys, sign-in links and
// sessions.
//
// It imports only the standard library. Keys are checked on every request, often without
// the store, and rules that need neither database nor clock are tested without them.
// Package store keeps the rows.
package account

import (
	"fmt"
	"net/mail"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// A Plan determines what an account may do. A caller's quota.Tier follows from it.
type Plan string

// The plans. A caller without an account has none.
const (
	Developer Plan = "developer"
	Pro       Plan = "pro"
)

// ParsePlan parses the name of a plan.
func ParsePlan(s string) (Plan, error) {
	switch p := Plan(s); p {
	case Developer, Pro:
		return p, nil
	}
	return "", fmt.Errorf("%q is not a plan: choose %s or %s", s, Developer, Pro)
}

// MaxKeys returns how many live keys an account on a plan may have.
func MaxKeys(p Plan) int {
	if p == Pro {
		return 10
	}
	return 3
}

// MaxNewKeys is how many keys an account may create in 24 hours, replacements included.
const MaxNewKeys = 50

// An Account is one customer, identified by an e-mail address.
type Account struct {
	ID        string    `json:"id"`
	Email     string    `json:"email"` // as returned by NormalizeEmail
	Plan      Plan      `json:"plan"`
	CreatedAt time.Time `json:"created_at"`
}

// maxEmail is the longest path in SMTP, without its angle brackets (RFC 5321 4.5.3.1.3).
const maxEmail = 254

// NormalizeEmail returns the form in which an address is stored and looked up. The whole
// address is lower-cased: no mailbox in use distinguishes `Ada@` from `ada@`, while people
// type theirs both ways.
func NormalizeEmail(s string) (string, error) {
	email := strings.ToLower(strings.TrimSpace(s))
	if len(email) > maxEmail {
		return "", fmt.Errorf("the address has %d characters; the maximum is %d", len(email), maxEmail)
	}
	// A display name, a comment or quotes parse, but then the parsed address differs from
	// the text.
	parsed, err := mail.ParseAddress(email)
	if err != nil || parsed.Address != email || strings.ContainsFunc(email, notInAddress) ||
		!isDomain(email[strings.LastIndexByte(email, '@')+1:]) {
		return "", fmt.Errorf("%q is not an e-mail address: expected an address alone, as in ada@example.org", s)
	}
	return email, nil
}

// notInAddress reports whether no address may contain r: it would be harmful in logs or
// mail headers, or is the bracket of an address literal, which names a machine by number.
func notInAddress(r rune) bool {
	return r == '[' || r == utf8.RuneError || unicode.IsSpace(r) || !unicode.IsPrint(r)
}

// isDomain reports whether a name can be a mail domain on the Internet: at least two labels
// of letters, digits and hyphens, the last not a number. A name such as localhost would
// make us mail our own machine.
func isDomain(name string) bool {
	labels := strings.Split(name, ".")
	for _, label := range labels {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' ||
			strings.ContainsFunc(label, notInLabel) {
			return false
		}
	}
	return len(labels) > 1 && strings.ContainsFunc(labels[len(labels)-1], unicode.IsLetter)
}

// notInLabel reports whether no label may contain r. Letters of every script are allowed,
// and the marks that some are written with.
func notInLabel(r rune) bool {
	return r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
}

// maxKeyName is long enough for "production, eu-west, nightly import" and short
// enough for a table.
const maxKeyName = 100

// NormalizeKeyName trims and checks the name of a key.
func NormalizeKeyName(s string) (string, error) { return normalizeName("key", s) }

func normalizeName(what, s string) (string, error) {
	name := strings.TrimSpace(s)
	switch {
	case name == "":
		return "", fmt.Errorf("the %s has no name: give it one that says where it is used", what)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, isInvisible):
		return "", fmt.Errorf("the name of the %s contains characters that cannot be printed: use letters, "+
			"digits and spaces", what)
	case utf8.RuneCountInString(name) > maxKeyName:
		return "", fmt.Errorf("the name of the %s has more than %d characters: shorten it", what, maxKeyName)
	}
	return name, nil
}

// isInvisible reports whether r is invisible or changes the direction of text, so that two
// different names could look the same.
func isInvisible(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) }
