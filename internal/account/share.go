package account

import (
	"io"
	"time"
)

// ShareLife is how long a private link to a working copy works.
const ShareLife = 14 * 24 * time.Hour

// shareBytes is how many random bytes the token of such a link has.
const shareBytes = 16

// NewShareToken returns the token of a private link. It panics if rand fails, as NewKey does.
func NewShareToken(rand io.Reader) string { return newToken(shareBytes, rand) }

// HasShareForm is HasTokenForm for the tokens of private links.
func HasShareForm(s string) bool { return hasTokenForm(shareBytes, s) }
