package account

import (
	"errors"
	"io"
	"time"
)

// PublishTokenID is the prefix of the ID of a publish token.
const PublishTokenID = "tok_"

// publishTokenPrefix is what publish tokens begin with. The rest has the form of a key.
const publishTokenPrefix = "plp_"

// A PublishToken is the record of a token with which folders are published from elsewhere. It
// belongs to the operator, not to an account, and is good for nothing else.
// A zero time means never.
type PublishToken struct {
	ID         string
	Name       string // recorded with the versions that it publishes
	Prefix     string // its first 8 characters
	Suffix     string // its last 4
	CreatedAt  time.Time
	ExpiresAt  time.Time
	RevokedAt  time.Time
	LastUsedAt time.Time
}

// The reasons why a publish token is refused.
var (
	ErrInvalidToken = errors.New("the token is malformed, mistyped or unknown")
	ErrRevokedToken = errors.New("the token was revoked")
	ErrExpiredToken = errors.New("the token has expired")
)

// NewPublishToken returns a new token, as NewKey returns a key.
func NewPublishToken(rand io.Reader) string { return newSecret(publishTokenPrefix, rand) }

// CheckPublishToken reports whether s has the form of a token and a correct checksum.
func CheckPublishToken(s string) bool { return checkSecret(publishTokenPrefix, s) }

// NormalizeTokenName trims and checks the name of a token.
func NormalizeTokenName(s string) (string, error) { return normalizeName("token", s) }

// Check returns why the token is refused, nil if it is accepted.
func (t *PublishToken) Check(now time.Time) error {
	switch {
	case !t.RevokedAt.IsZero():
		return ErrRevokedToken
	case !t.ExpiresAt.IsZero() && !now.Before(t.ExpiresAt):
		return ErrExpiredToken
	}
	return nil
}
