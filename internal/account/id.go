package account

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"
	"strings"
	"time"
)

// The prefixes say what an ID belongs to, wherever it is seen.
const (
	AccountID  = "acc_"
	KeyID      = "key_"
	EndpointID = "whk_"
	EventID    = "evt_"
	DeliveryID = "dlv_"
	CopyID     = "cop_"
	ShareID    = "shr_"
	ReportID   = "rep_"
	FollowID   = "fol_"
)

// idLength is the length of 128 bits in base 32.
const idLength = 26

// idAlphabet is Crockford's base 32 in lower case: it sorts as the bits do and has
// no i, l, o or u to misread.
const idAlphabet = "0123456789abcdefghjkmnpqrstvwxyz"

// IsID reports whether s has the form of an ID with that prefix. Anything else should not
// be looked up: PostgreSQL fails on a text with a NUL or invalid UTF-8 instead of finding
// nothing.
func IsID(prefix, s string) bool {
	id, ok := strings.CutPrefix(s, prefix)
	return ok && len(id) == idLength && strings.Trim(id, "0123456789abcdefghijklmnopqrstuvwxyz") == ""
}

// NewID returns a new ID: the prefix, then 48 bits of milliseconds and 80 random bits as 26
// characters that sort by time.
func NewID(prefix string, now time.Time, rand io.Reader) string {
	return NewIDs(prefix, now, rand).Next()
}

// IDs generates IDs of the same time, each greater than the one before, whereas IDs that NewID
// returns in one millisecond are in random order. It is not safe for concurrent use.
type IDs struct {
	prefix string
	hi, lo uint64 // the 128 bits of the next id
}

// NewIDs returns a generator. It panics if rand fails, as NewKey does.
func NewIDs(prefix string, now time.Time, rand io.Reader) *IDs {
	var random [10]byte
	if _, err := io.ReadFull(rand, random[:]); err != nil {
		panic(fmt.Sprintf("account: no random bytes for an id: %v", err))
	}
	random[0] &= 0x7f // counting up from here never reaches the bits of the time
	return &IDs{
		prefix: prefix,
		hi:     uint64(now.UnixMilli())<<16 | uint64(binary.BigEndian.Uint16(random[:2])),
		lo:     binary.BigEndian.Uint64(random[2:]),
	}
}

// Next returns the next ID.
func (ids *IDs) Next() string {
	id := make([]byte, len(ids.prefix)+idLength)
	copy(id, ids.prefix)
	hi, lo := ids.hi, ids.lo
	for i := len(id) - 1; i >= len(ids.prefix); i-- {
		id[i] = idAlphabet[lo&31]
		lo = lo>>5 | hi<<59
		hi >>= 5
	}
	var carry uint64
	ids.lo, carry = bits.Add64(ids.lo, 1, 0)
	ids.hi += carry
	return string(id)
}
