package account

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"
	"time"
)

// The prefixes say what an id belongs to, wherever it turns up.
const (
	AccountID  = "acc_"
	KeyID      = "key_"
	EndpointID = "whk_"
	EventID    = "evt_"
	DeliveryID = "dlv_"
)

// idLength is what 128 bits need in base 32.
const idLength = 26

// idAlphabet is Crockford's base 32 in lower case: it sorts as the bits do and has
// no i, l, o or u to misread.
const idAlphabet = "0123456789abcdefghjkmnpqrstvwxyz"

// NewID makes an id: the prefix, then 48 bits of milliseconds and 80 random bits
// as 26 characters that sort by time.
func NewID(prefix string, now time.Time, rand io.Reader) string {
	return NewIDs(prefix, now, rand).Next()
}

// IDs makes many ids at one moment, each greater than the one before, where NewID
// would leave those of one millisecond in random order. One goroutine uses it.
type IDs struct {
	prefix string
	hi, lo uint64 // the 128 bits of the next id
}

// NewIDs starts a run of ids. It panics when rand fails, as NewKey does.
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

// Next gives the next id of the run.
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
