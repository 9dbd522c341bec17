// Package pseudonym names networks and addresses so that nobody can trace a name back once the
// secret key of its day or week is destroyed.
package pseudonym

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"net/netip"
)

// A Key is the secret of one day or week.
type Key [32]byte

// NewKey returns a random key.
func NewKey() (k Key) {
	_, _ = rand.Read(k[:]) // never fails: without randomness it ends the process
	return k
}

// A Name is the first half of an HMAC-SHA-256, enough to distinguish a billion values.
type Name [16]byte

func (n Name) String() string { return hex.EncodeToString(n[:]) }

// Of returns the name of a value of a kind. Equal values of two kinds have unrelated names.
func (k *Key) Of(kind string, value []byte) Name {
	mac := hmac.New(sha256.New, k[:])
	mac.Write(append([]byte(kind+"\x00"), value...))
	return Name(mac.Sum(nil))
}

// Network returns a network as a value. The prefix length is part of it, so that an IPv4 address and
// an IPv6 network never collide.
func Network(network netip.Prefix) []byte {
	addr := network.Addr().As16()
	return append(addr[:], byte(network.Bits()))
}
