package vault_test

import (
	"bytes"
	"encoding/base64"
	"strings"
	"testing"

	"palmares/internal/vault"
)

const (
	testOwner  = "whk_01k9zt0000000000000000000a"
	testSecret = "whsec_dHdlbnR5LWZvdXIgcmFuZG9tIGJ5dGVz"
)

func mustKeys(text string) vault.Sealer {
	s, err := vault.ParseKeys(text)
	if err != nil {
		panic(err)
	}
	return s
}

func key(b byte) string {
	return base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{b}, vault.KeySize))
}

func TestWhatIsSealedOpensForItsEndpointAlone(t *testing.T) {
	s := mustKeys(key(1))
	sealed := s.Seal(testOwner, testSecret)
	if strings.Contains(sealed, testSecret) || strings.Contains(sealed, strings.TrimPrefix(testSecret, "whsec_")) {
		t.Errorf("the secret can be read in %s", sealed)
	}
	if again := s.Seal(testOwner, testSecret); again == sealed {
		t.Error("sealing twice gave the same text: the nonce is not random")
	}
	if opened, err := s.Open(testOwner, sealed); err != nil || opened != testSecret {
		t.Errorf("opened: %q, %v", opened, err)
	}
	if opened, err := s.Open("whk_other", sealed); err == nil {
		t.Errorf("opened for another endpoint: %q", opened)
	}
}

func TestEveryChangedCharacterOfASealedSecretIsNoticed(t *testing.T) {
	s := mustKeys(key(1))
	sealed := s.Seal(testOwner, testSecret)
	for i := range sealed {
		for _, c := range []byte{'A', 'b', '0', '.', '!', '\n', sealed[i] ^ 1} {
			damaged := []byte(sealed)
			damaged[i] = c
			if string(damaged) == sealed {
				continue
			}
			if opened, err := s.Open(testOwner, string(damaged)); err == nil {
				t.Errorf("opened with %q at %d: %q", c, i, opened)
			}
		}
	}
	for _, damaged := range []string{"", ".", sealed[:8], sealed[:9], sealed[:30], sealed[9:], sealed + "A"} {
		if opened, err := s.Open(testOwner, damaged); err == nil {
			t.Errorf("%q opened: %q", damaged, opened)
		}
	}
}

func TestTheKeyIsChangedByPuttingANewOneInFront(t *testing.T) {
	older, both, newer := mustKeys(key(1)), mustKeys(key(2)+", "+key(1)), mustKeys(key(2))
	sealed := older.Seal(testOwner, testSecret)
	if opened, err := both.Open(testOwner, sealed); err != nil || opened != testSecret {
		t.Errorf("under the second key: %q, %v", opened, err)
	}
	for what, known := range map[string]bool{older.Missing(sealed): true, both.Missing(sealed): true, newer.Missing(sealed): false} {
		if known != (what == "") || !known && what != sealed[:8] {
			t.Errorf("the missing key is said to be %q", what)
		}
	}
	if damaged := newer.Missing("no key has made this"); damaged != "" {
		t.Errorf("what is damaged is said to need the key %q", damaged)
	}
	if both.Current(sealed) || !older.Current(sealed) {
		t.Error("it is not known that the secret is to be sealed anew")
	}
	if _, err := newer.Open(testOwner, sealed); err == nil || !strings.Contains(err.Error(), sealed[:8]) || !strings.Contains(err.Error(), "--secret-key") {
		t.Errorf("without its key: %v", err)
	}
	sealed = both.Seal(testOwner, testSecret)
	if !both.Current(sealed) || !newer.Current(sealed) {
		t.Error("what was sealed now is not under the first key")
	}
	if opened, err := newer.Open(testOwner, sealed); err != nil || opened != testSecret {
		t.Errorf("after the old key is gone: %q, %v", opened, err)
	}
}

func TestKeysThatAreNotKeysAreRefusedUnquoted(t *testing.T) {
	for _, text := range []string{"", ",", "hunter2", key(1)[:20] + "\n" + key(1)[20:], key(1) + ",", key(1) + ",hunter2", strings.TrimRight(key(1), "="), base64.StdEncoding.EncodeToString(make([]byte, 31)), base64.StdEncoding.EncodeToString(make([]byte, 33))} {
		if _, err := vault.ParseKeys(text); err == nil {
			t.Errorf("%q passes", text)
		} else if strings.Contains(err.Error(), "hunter") || strings.Contains(err.Error(), key(1)) {
			t.Errorf("the error quotes a key: %v", err)
		}
	}
}
