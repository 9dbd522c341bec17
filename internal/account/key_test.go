package account

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"hash/crc32"
	"strings"
	"testing"
)

// The checksums were computed with Python's zlib.crc32 and integer division.
var knownKeys = []string{
	"plm_000000000000000000000000000000001UrRXC",
	"plm_zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz08WiSS",
	"plm_0123456789ABCDEFGHIJKLMNOPQRSTUV3ASlSv",
	"plm_PalmaresPalmaresPalmaresPalmares0fFR6l",
	"plm_aZ9aZ9aZ9aZ9aZ9aZ9aZ9aZ9aZ9aZ9xx197tsz",
	"plm_AAAAAAAAAAAAAAAAAAAAAAAAAAAAKRcZ000133", // a small sum, padded
}

func TestKnownKeysPass(t *testing.T) {
	for _, key := range knownKeys {
		if !CheckKey(key) || !HasKeyForm(key) {
			t.Errorf("%s is refused", key)
		}
	}
}

func TestAKeyIsStoredAsTheSHA256OfAllOfIt(t *testing.T) {
	const want = "97d5f7b8966e4fa85e4e7c9e84084c91128662c805e349c5faf3fc54ec2a167c" // Python's hashlib
	if sum := HashKey(knownKeys[0]); hex.EncodeToString(sum[:]) != want {
		t.Errorf("HashKey = %x; want %s", sum, want)
	}
}

func TestEveryTypoIsRefused(t *testing.T) {
	key := knownKeys[2]
	for i := range len(key) {
		for _, c := range []byte(base62 + "-_= \x00\xc3") {
			if c == key[i] {
				continue
			}
			if typo := key[:i] + string(rune(c)) + key[i+1:]; CheckKey(typo) {
				t.Errorf("%q passes", typo)
			}
		}
		if i > 0 && key[i] != key[i-1] {
			if swapped := key[:i-1] + key[i:i+1] + key[i-1:i] + key[i+1:]; CheckKey(swapped) {
				t.Errorf("%q passes", swapped)
			}
		}
	}
	for _, s := range []string{"", "plm_", key[:41], key + "0", " " + key, key + "\n", strings.ToLower(key), "PLM_" + key[4:]} {
		if CheckKey(s) {
			t.Errorf("%q passes", s)
		}
	}
}

func TestTheFormOfAKeyIsKnownWithoutItsChecksum(t *testing.T) {
	wrong := "plm_" + strings.Repeat("a", 38)
	if !HasKeyForm(wrong) || CheckKey(wrong) {
		t.Errorf("%s: form %v, check %v; want true, false", wrong, HasKeyForm(wrong), CheckKey(wrong))
	}
	for _, s := range []string{"plm_" + strings.Repeat("a", 37), "plm_" + strings.Repeat("a", 39), "plm-" + strings.Repeat("a", 38), "plm_" + strings.Repeat("a", 37) + "-"} {
		if HasKeyForm(s) {
			t.Errorf("%s has the form of a key", s)
		}
	}
}

func TestNewKeysPassAndDiffer(t *testing.T) {
	seen := map[string]bool{}
	for range 10_000 {
		key := NewKey(rand.Reader)
		if !CheckKey(key) || len(key) != 42 || seen[key] {
			t.Fatalf("NewKey = %q", key)
		}
		seen[key] = true
	}
}

// Bytes of 248 and above would give the first eight characters five chances in
// 256 where the others have four.
func TestBytesThatWouldBiasAKeyAreDropped(t *testing.T) {
	var random []byte
	for b := 255; b >= 192; b-- {
		random = append(random, byte(b))
	}
	key := NewKey(bytes.NewReader(random))
	want := ""
	for b := 247; len(want) < 32; b-- {
		want += string(base62[b%62])
	}
	if key[4:36] != want {
		t.Errorf("secret %s; want %s", key[4:36], want)
	}
}

func TestANewKeyNeverFallsBackOnPoorRandomness(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a key was made without random bytes")
		}
	}()
	NewKey(strings.NewReader("too short"))
}

func TestCheckingAKeyAllocatesNothing(t *testing.T) {
	key := NewKey(rand.Reader)
	if n := testing.AllocsPerRun(100, func() { CheckKey(key) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzCheckKey(f *testing.F) {
	for _, key := range knownKeys {
		f.Add(key)
		f.Add(key[:41] + "!")
	}
	f.Add("")
	f.Add("plm_")
	f.Fuzz(func(t *testing.T, s string) {
		if !CheckKey(s) {
			return
		}
		sum, value := s[36:], uint64(0)
		for _, c := range []byte(sum) {
			value = value*62 + uint64(strings.IndexByte(base62, c))
		}
		if want := uint64(crc32.ChecksumIEEE([]byte(s[:36]))); value != want || !HasKeyForm(s) {
			t.Errorf("%q passes with checksum %d; want %d", s, value, want)
		}
	})
}

func TestAKeyIsFoundWhereverItStands(t *testing.T) {
	key := NewKey(strings.NewReader(strings.Repeat("palmares", 100)))
	for _, s := range []string{key, "Bearer " + key, "plm_" + key, key + "&x", "x=" + key, "plm_plm_" + key} {
		if !HoldsKey(s) {
			t.Errorf("no key is found in %q", s)
		}
	}
	for _, s := range []string{"", "plm_", key[:41], key[:20] + "-" + key[21:], "plm" + key[4:]} {
		if HoldsKey(s) {
			t.Errorf("a key is found in %q", s)
		}
	}
}
