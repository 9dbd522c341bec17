package webhook

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// KeySize is the length of a key of --secret-key, in bytes.
const KeySize = 32

// A Sealer keeps endpoints' secrets from whoever reads the database alone. It
// seals under its first key and opens under all of them, so a key is changed by
// putting the new one in front, and the old one is taken away when Current has
// become true of everything. Make it with ParseKeys.
//
// What is sealed names its key, not to try them all and to be able to say which
// is missing, and is bound to its endpoint: moved to another row it does not open.
type Sealer struct {
	keys []sealingKey
}

type sealingKey struct {
	id   string // the first 8 hexadecimal digits of the key's SHA-256
	aead cipher.AEAD
}

// ParseKeys reads --secret-key: one or more keys of 32 bytes in base64, separated
// by commas. The error never quotes them.
func ParseKeys(text string) (Sealer, error) {
	var s Sealer
	for i, part := range strings.Split(text, ",") {
		key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(part))
		if err != nil || len(key) != KeySize {
			return Sealer{}, fmt.Errorf("key %d of the secret keys is not %d bytes in base64: make one with `openssl rand -base64 %d`", i+1, KeySize, KeySize)
		}
		block, err := aes.NewCipher(key)
		if err != nil {
			return Sealer{}, err
		}
		aead, err := cipher.NewGCMWithRandomNonce(block)
		if err != nil {
			return Sealer{}, err
		}
		sum := sha256.Sum256(key)
		s.keys = append(s.keys, sealingKey{id: hex.EncodeToString(sum[:4]), aead: aead})
	}
	return s, nil
}

// Seal gives the text to store in the place of an endpoint's secret: the key's
// id, a dot, and nonce, ciphertext and tag in base64.
func (s Sealer) Seal(endpointID, secret string) string {
	key := s.keys[0]
	return key.id + "." + base64.RawStdEncoding.EncodeToString(key.aead.Seal(nil, nil, []byte(secret), []byte(endpointID)))
}

// Open gives back what Seal was given, if the endpoint is the same and the key is
// among those of s.
func (s Sealer) Open(endpointID, sealed string) (string, error) {
	id, text, ok := strings.Cut(sealed, ".")
	if !ok {
		return "", errors.New("a stored webhook secret is damaged: rotate the endpoint's secret")
	}
	for _, key := range s.keys {
		if key.id != id {
			continue
		}
		box, err := base64.RawStdEncoding.DecodeString(text)
		if err == nil {
			var secret []byte
			if secret, err = key.aead.Open(nil, nil, box, []byte(endpointID)); err == nil {
				return string(secret), nil
			}
		}
		return "", fmt.Errorf("the stored webhook secret of %s is damaged: rotate it (%w)", endpointID, err)
	}
	return "", fmt.Errorf("the webhook secret of %s is sealed under the key %s, which is not among the keys of --secret-key: add it there", endpointID, id)
}

// Missing gives the id of the key that sealed is under when that is not among those
// of s, otherwise "". What names no key is damaged, and no key would mend it.
func (s Sealer) Missing(sealed string) (keyID string) {
	id, _, ok := strings.Cut(sealed, ".")
	if !ok || slices.ContainsFunc(s.keys, func(k sealingKey) bool { return k.id == id }) {
		return ""
	}
	return id
}

// Current tells whether sealed is under the key that seals now; if not, whoever
// stores it should open it and seal it again.
func (s Sealer) Current(sealed string) bool {
	id, _, _ := strings.Cut(sealed, ".")
	return id == s.keys[0].id
}
