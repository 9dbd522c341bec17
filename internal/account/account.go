// Package account is who may ask for more than a stranger: accounts, their plans
// and their API keys.
//
// It holds the rules alone (what an address, a key or an id looks like, how many
// keys a plan has) and imports only the standard library: keys are checked on
// every request, before and often without asking the store, and a rule that needs
// neither database nor clock is tested without them. Package store keeps the rows.
package account

import (
	"errors"
	"fmt"
	"net/mail"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// A Plan is what an account may do.
type Plan string

// The plans of an account; a caller without one is on no plan at all.
const (
	Developer Plan = "developer"
	Pro       Plan = "pro"
)

// ParsePlan reads the name of a plan.
func ParsePlan(s string) (Plan, error) {
	switch p := Plan(s); p {
	case Developer, Pro:
		return p, nil
	}
	return "", fmt.Errorf("%q is not a plan: choose %s or %s", s, Developer, Pro)
}

// MaxKeys is how many live keys an account on a plan may have.
func MaxKeys(p Plan) int {
	if p == Pro {
		return 10
	}
	return 3
}

// An Account is one customer, known by an address.
type Account struct {
	ID        string
	Email     string // as NormalizeEmail gives it
	Plan      Plan
	CreatedAt time.Time
}

// maxEmail is the longest path that SMTP carries, less its angle brackets
// (RFC 5321 4.5.3.1.3).
const maxEmail = 254

// NormalizeEmail gives the one form in which an address is stored and looked up.
// The whole address is lower-cased: a mailbox that tells `Ada@` from `ada@` is
// unheard of, while people who type theirs both ways are not.
func NormalizeEmail(s string) (string, error) {
	email := strings.ToLower(strings.TrimSpace(s))
	if len(email) > maxEmail {
		return "", fmt.Errorf("the address has %d characters; %d is the most that mail carries", len(email), maxEmail)
	}
	// A display name, a comment or quotes parse, but then the address that comes out
	// is not the text that went in.
	parsed, err := mail.ParseAddress(email)
	if err != nil || parsed.Address != email || strings.ContainsFunc(email, notInAddress) || !isDomain(email[strings.LastIndexByte(email, '@')+1:]) {
		return "", fmt.Errorf("%q is not an e-mail address: give it alone, as in ada@example.org", s)
	}
	return email, nil
}

// notInAddress refuses what no mailbox has and logs or mail headers would suffer
// from. A bracket opens an address literal, which would have us mail a machine by
// number.
func notInAddress(r rune) bool {
	return r == '[' || r == utf8.RuneError || unicode.IsSpace(r) || !unicode.IsPrint(r)
}

// isDomain tells whether a name could be that of somebody's mail on the Internet:
// labels of letters, digits and hyphens, at least two of them, the last no number. A
// name such as localhost would have us mail our own machine.
func isDomain(name string) bool {
	labels := strings.Split(name, ".")
	for _, label := range labels {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' || strings.ContainsFunc(label, notInLabel) {
			return false
		}
	}
	return len(labels) > 1 && strings.ContainsFunc(labels[len(labels)-1], unicode.IsLetter)
}

// notInLabel lets letters of every script pass, and the marks that some are written
// with.
func notInLabel(r rune) bool {
	return r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
}

// maxKeyName is long enough for "production, eu-west, nightly import" and short
// enough for a table.
const maxKeyName = 100

// NormalizeKeyName trims the name that a key's owner gives it.
func NormalizeKeyName(s string) (string, error) {
	name := strings.TrimSpace(s)
	switch {
	case name == "":
		return "", errors.New("the key has no name: give it one that says where it is used")
	case !utf8.ValidString(name) || strings.ContainsFunc(name, unseen):
		return "", errors.New("the name of the key holds characters that cannot be printed: use letters, digits and spaces")
	case utf8.RuneCountInString(name) > maxKeyName:
		return "", fmt.Errorf("the name of the key has more than %d characters: shorten it", maxKeyName)
	}
	return name, nil
}

// unseen are the characters that leave no trace on a page or turn what stands around
// them: with them two names could look the same.
func unseen(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) }
