package account

import (
	"bytes"
	"crypto/rand"
	"regexp"
	"testing"
	"time"
)

func TestIdsAreAPrefixAnd26Characters(t *testing.T) {
	form := regexp.MustCompile(`^evt_[0-7][0-9a-hjkmnp-tv-z]{25}$`)
	for range 1000 {
		if id := NewID(EventID, time.UnixMilli(1_794_000_000_000), rand.Reader); !form.MatchString(id) || !IsID(EventID, id) || IsID(KeyID, id) {
			t.Fatalf("id %q", id)
		}
	}
}

// The bits are those of a ULID: the expected text is the time and the random part
// in Crockford's base 32, from 01ARZ3NDEKTSV4RRFFQ69G5FAV, the
// example of its specification, less the bit that a run of ids keeps free.
func TestAnIdIsTheTimeThenTheRandomBits(t *testing.T) {
	random := []byte{0xd6, 0x76, 0x4c, 0x61, 0xef, 0xb9, 0x93, 0x02, 0xbd, 0x5b}
	random[0] &= 0x7f
	id := NewID(KeyID, time.UnixMilli(1469922850259), bytes.NewReader(random))
	if want := "key_01arz3ndek" + "asv4rrffq69g5fav"; id != want {
		t.Errorf("id %s; want %s", id, want)
	}
}

func TestIdsSortByTime(t *testing.T) {
	at := time.UnixMilli(1_794_000_000_000)
	before := NewID(AccountID, at, bytes.NewReader(bytes.Repeat([]byte{0xff}, 10)))
	after := NewID(AccountID, at.Add(time.Millisecond), bytes.NewReader(make([]byte, 10)))
	if before >= after {
		t.Errorf("%s is not before %s", before, after)
	}
}

func TestIdsOfOneRunRise(t *testing.T) {
	at := time.UnixMilli(1_794_000_000_000)
	// All ones below the cleared bit: the very next id carries through every digit.
	ids := NewIDs(EventID, at, bytes.NewReader([]byte{0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe}))
	last := ""
	for range 5000 {
		id := ids.Next()
		if id <= last {
			t.Fatalf("%s comes after %s", id, last)
		}
		last = id
	}
	if next := NewID(EventID, at.Add(time.Millisecond), bytes.NewReader(make([]byte, 10))); next <= last {
		t.Errorf("a run reached the bits of the time: %s, then %s", last, next)
	}
}
