package account

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"time"
)

// A LinkPurpose is what the link in a mail does. A link sent for one purpose does not work
// for another.
type LinkPurpose string

// The purposes of a link.
const (
	LinkSignIn   LinkPurpose = "sign_in"
	LinkDeletion LinkPurpose = "delete_account"
	LinkFollow   LinkPurpose = "follow"
)

// LinkLife is how long a link is valid: long enough for a slow mail server, short enough
// that an old mail is useless.
const LinkLife = 15 * time.Minute

// Life returns how long a link is valid: one that lets nobody in may wait for the evening.
func (p LinkPurpose) Life() time.Duration {
	if p == LinkFollow {
		return 24 * time.Hour
	}
	return LinkLife
}

const tokenBytes = 32

// NewToken returns the secret of a link or a session: 32 random bytes in an alphabet that
// needs no escaping in URLs and cookies. It panics if rand fails, as NewKey does.
func NewToken(rand io.Reader) string { return newToken(tokenBytes, rand) }

func newToken(size int, rand io.Reader) string {
	random := make([]byte, size)
	if _, err := io.ReadFull(rand, random); err != nil {
		panic(fmt.Sprintf("account: no random bytes for a token: %v", err))
	}
	return base64.RawURLEncoding.EncodeToString(random)
}

// HasTokenForm reports whether s can be a token at all, so that most made-up tokens are
// refused without asking the store.
func HasTokenForm(s string) bool { return hasTokenForm(tokenBytes, s) }

func hasTokenForm(size int, s string) bool {
	if len(s) != base64.RawURLEncoding.EncodedLen(size) {
		return false
	}
	decoded, err := base64.RawURLEncoding.DecodeString(s)
	// Decoding skips line breaks, and ignores bits that do not fit in the last byte.
	return err == nil && len(decoded) == size && base64.RawURLEncoding.EncodeToString(decoded) == s
}

// HashToken is the only form in which a token is stored. A plain SHA-256 is enough
// for 128 random bits and more, as it is for a key.
func HashToken(s string) [sha256.Size]byte { return sha256.Sum256([]byte(s)) }

// TokenHash is HashToken in hexadecimal.
func TokenHash(s string) string { return fmt.Sprintf("%x", HashToken(s)) }

// A MailLimit limits mails in sliding windows of time.
type MailLimit []struct {
	Most   int
	During time.Duration
}

// AddressLimit returns the limit of one address, whoever requests the mails: enough for
// somebody who did not find the first mail, too few to flood a mailbox.
func AddressLimit() MailLimit { return MailLimit{{3, 15 * time.Minute}, {10, 24 * time.Hour}} }

// NetworkLimit returns the limit of one client, whatever addresses it names.
func NetworkLimit() MailLimit { return MailLimit{{10, time.Hour}} }

// TotalLimit returns the limit of all mails with links to owners of accounts and editors, again
// of those to readers who follow something, and of those to everybody else: far above what a large service needs, and what its mail server
// forgives.
func TotalLimit() MailLimit { return MailLimit{{1000, time.Hour}} }

// ReportLimit returns the limit of what one client reports: enough for somebody who reads a whole
// catalogue closely.
func ReportLimit() MailLimit { return MailLimit{{10, time.Hour}, {30, 24 * time.Hour}} }

// WideLimit returns the limit of what a provider's customers report in a day, and of the mails with links that they
// request in an hour, which leaves room for the customers of other providers.
func WideLimit(d time.Duration) MailLimit { return MailLimit{{100, d}} }

// TotalReportLimit returns the limit of all reports, more than people at a desk read in a day, beyond which each
// provider's customers have the reports of Reserved.
func TotalReportLimit() MailLimit { return MailLimit{{500, 24 * time.Hour}} }

// Reserved returns how many reports and mails with links a provider's customers have however many there are.
func Reserved() MailLimit { return MailLimit{{5, 24 * time.Hour}} }

// AddressPause is after how long without a mail an address gets one however many it had
// that day. Otherwise ten requests by anybody would keep its owner out for a day.
const AddressPause = time.Hour

// Allows reports whether one more mail may be sent after those that were sent.
func (l MailLimit) Allows(sent []time.Time, now time.Time) bool {
	for _, w := range l {
		n := 0
		for _, at := range sent {
			if now.Sub(at) < w.During { // also if it is in the future: another node's clock is ahead
				n++
			}
		}
		if n >= w.Most {
			return false
		}
	}
	return true
}

// LinkMailAllowed reports whether one more mail with a link may go to an address, on
// request of a network, after those of its purpose that went to the one and were requested by
// the other: requests to follow something keep nobody from signing in.
func LinkMailAllowed(toAddress, fromNetwork []time.Time, now time.Time) bool {
	pause := MailLimit{{1, AddressPause}}
	return (AddressLimit().Allows(toAddress, now) || pause.Allows(toAddress, now)) &&
		NetworkLimit().Allows(fromNetwork, now)
}

// Memory returns how long a sent mail counts.
func (l MailLimit) Memory() time.Duration {
	var longest time.Duration
	for _, w := range l {
		longest = max(longest, w.During)
	}
	return longest
}
