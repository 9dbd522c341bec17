package account

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strings"
	"time"
)

// A Key is the record of an API key: everything but the key itself, which is shown once. A zero
// time means never. Its JSON is what its owner exports.
type Key struct {
	ID         string    `json:"id"`
	AccountID  string    `json:"-"`
	Plan       Plan      `json:"-"` // of the account
	Name       string    `json:"name"`
	Prefix     string    `json:"first_characters"` // 8 of them
	Suffix     string    `json:"last_characters"`  // 4 of them
	CreatedAt  time.Time `json:"created_at"`
	LastUsedAt time.Time `json:"last_used_at,omitzero"`
	RevokedAt  time.Time `json:"revoked_at,omitzero"`
	ExpiresAt  time.Time `json:"expires_at,omitzero"` // the end of the overlap, if the key was rotated
	// SuspendedAt is set while the account has more keys than its plan allows. The key works
	// again when there is room for it.
	SuspendedAt time.Time `json:"suspended_at,omitzero"`
}

// The reasons why a key is refused.
var (
	ErrInvalidKey = errors.New("the key is malformed, mistyped or unknown")
	ErrRevokedKey = errors.New("the key was revoked")
	ErrExpiredKey = errors.New("the key has expired")
	// ErrSuspendedKey refuses a key in excess of what its account's plan allows.
	ErrSuspendedKey = errors.New("the key is suspended")
)

// A KeyUse is when a key was last used, to within a minute.
type KeyUse struct {
	KeyID string
	At    time.Time
}

// Overlap is how long a rotated key works beside its successor.
const Overlap = 24 * time.Hour

// KeyGrace is how long an account may have more keys than its plan allows: time to read the
// mail and to choose which keys to revoke before we suspend some.
const KeyGrace = 7 * 24 * time.Hour

// The format of a key must never change: secret scanners look for it.
const (
	keyPrefix   = "plm_"
	keySecret   = 32
	keyChecksum = 6 // base62 digits of a CRC-32: 62^6 > 2^32

	// KeyLength is the length of every key.
	KeyLength = len(keyPrefix) + keySecret + keyChecksum

	base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// NewKey returns a new key of 190 random bits. It panics if rand fails, which crypto/rand
// never does.
func NewKey(rand io.Reader) string { return newSecret(keyPrefix, rand) }

// newSecret returns a new key, or another secret of the same form with its own prefix of
// four characters.
func newSecret(prefix string, rand io.Reader) string {
	key := make([]byte, 0, KeyLength)
	key = append(key, prefix...)
	var random [keySecret]byte
	for len(key) < len(keyPrefix)+keySecret {
		if _, err := io.ReadFull(rand, random[:]); err != nil {
			panic(fmt.Sprintf("account: no random bytes for a key: %v", err))
		}
		for _, b := range random {
			// 248 is the largest multiple of 62 in a byte; larger values would bias the result.
			if b < 248 && len(key) < len(keyPrefix)+keySecret {
				key = append(key, base62[b%62])
			}
		}
	}
	sum := checksum(string(key))
	return string(append(key, sum[:]...))
}

// HasKeyForm reports whether s looks like a key: prefix, length and alphabet. Nothing that
// does may appear in a query string, valid or not.
func HasKeyForm(s string) bool { return hasForm(keyPrefix, s) }

func hasForm(prefix, s string) bool {
	rest, ok := strings.CutPrefix(s, prefix)
	return ok && len(s) == KeyLength && strings.Trim(rest, base62) == ""
}

// HoldsKey reports whether s contains something that looks like a key.
func HoldsKey(s string) bool {
	for {
		i := strings.Index(s, keyPrefix)
		if i < 0 || len(s)-i < KeyLength {
			return false
		}
		if HasKeyForm(s[i : i+KeyLength]) {
			return true
		}
		s = s[i+1:]
	}
}

// CheckKey reports whether s has the form of a key and a correct checksum, so that a typo is
// refused without asking the store.
func CheckKey(s string) bool { return checkSecret(keyPrefix, s) }

func checkSecret(prefix, s string) bool {
	if !hasForm(prefix, s) {
		return false
	}
	body := s[:KeyLength-keyChecksum]
	sum := checksum(body)
	return s[len(body):] == string(sum[:])
}

// HashKey is the only form in which a key is stored. A plain SHA-256 is enough:
// 190 random bits cannot be guessed from it, as a password could.
func HashKey(s string) [sha256.Size]byte {
	var buf [KeyLength]byte // []byte(s) would be allocated
	return sha256.Sum256(append(buf[:0], s...))
}

// checksum is the CRC-32 (IEEE) of s in base62, most significant digit first.
// The loop avoids the allocation of converting s for crc32.ChecksumIEEE.
func checksum(s string) [keyChecksum]byte {
	crc := ^uint32(0)
	for i := range len(s) {
		crc = crc32.IEEETable[byte(crc)^s[i]] ^ crc>>8
	}
	crc = ^crc
	var digits [keyChecksum]byte
	for i := keyChecksum - 1; i >= 0; i-- {
		digits[i] = base62[crc%62]
		crc /= 62
	}
	return digits
}
