// Package vault seals the secrets of a database, so that reading it is not enough to know them, and keeps the key that
// seals them outside of it.
package vault

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
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

// A Sealer encrypts secrets. It seals with its first key and opens with all of them: to change the key,
// put the new one in front, and remove the old one when everything is Current. ParseKeys
// returns it.
//
// A sealed secret names its key, so that an error can say which one is missing, and is
// bound to its owner: it cannot be opened for another.
type Sealer struct {
	keys []sealingKey
}

type sealingKey struct {
	id   string // the first 8 hexadecimal digits of the key's SHA-256
	aead cipher.AEAD
	mac  [sha256.Size]byte // the key of Hash
}

// ParseKeys parses --secret-key: one or more keys of 32 bytes in base64, separated
// by commas. The error never quotes them.
func ParseKeys(text string) (Sealer, error) {
	var s Sealer
	for i, part := range strings.Split(text, ",") {
		part = strings.TrimSpace(part)
		key, err := base64.StdEncoding.DecodeString(part)
		// Decoding skips line breaks, which an encoded key of this length does not have.
		if err != nil || len(key) != KeySize || strings.ContainsAny(part, "\r\n") {
			return Sealer{}, fmt.Errorf("key %d of the secret keys is not %d bytes in base64: "+
				"create one with `openssl rand -base64 %d`", i+1, KeySize, KeySize)
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
		s.keys = append(s.keys, sealingKey{id: hex.EncodeToString(sum[:4]), aead: aead, mac: sha256.Sum256(append([]byte("hash "), key...))})
	}
	return s, nil
}

// Seal returns the text to store for a secret: the key's id, a dot, and
// nonce, ciphertext and tag in base64.
func (s Sealer) Seal(owner, secret string) string {
	key := s.keys[0]
	box := key.aead.Seal(nil, nil, []byte(secret), []byte(owner))
	return key.id + "." + base64.RawStdEncoding.EncodeToString(box)
}

// Hash returns the name by which a text is found that is stored sealed only. It changes with the first
// key.
func (s Sealer) Hash(text string) string {
	mac := hmac.New(sha256.New, s.keys[0].mac[:])
	mac.Write([]byte(text))
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

// Open returns the secret that was sealed for an owner, if s has the key.
func (s Sealer) Open(owner, sealed string) (string, error) {
	id, text, ok := strings.Cut(sealed, ".")
	if !ok {
		return "", errors.New("a stored secret is damaged: rotate it")
	}
	for _, key := range s.keys {
		if key.id != id {
			continue
		}
		box, err := decodeStrictly(text)
		if err == nil {
			var secret []byte
			secret, err = key.aead.Open(nil, nil, box, []byte(owner))
			if err == nil {
				return string(secret), nil
			}
		}
		return "", fmt.Errorf("the stored secret of %s is damaged: rotate it (%w)", owner, err)
	}
	return "", fmt.Errorf("the secret of %s is sealed with key %s, which is not in --secret-key: add it there",
		owner, id)
}

// Missing returns the id of the key that sealed needs if s does not have it, otherwise
// "". Damaged text names no key, and no key would help.
func (s Sealer) Missing(sealed string) (keyID string) {
	id, _, ok := strings.Cut(sealed, ".")
	if !ok || slices.ContainsFunc(s.keys, func(k sealingKey) bool { return k.id == id }) {
		return ""
	}
	return id
}

// Current reports whether sealed was sealed with the first key; if not, it should be
// resealed.
func (s Sealer) Current(sealed string) bool {
	id, _, _ := strings.Cut(sealed, ".")
	return id == s.keys[0].id
}

// decodeStrictly decodes what Seal encoded. By itself base64 skips line breaks and ignores
// the last bits.
func decodeStrictly(text string) ([]byte, error) {
	decoded, err := base64.RawStdEncoding.DecodeString(text)
	if err == nil && base64.RawStdEncoding.EncodeToString(decoded) != text {
		err = errors.New("it is not what was encoded")
	}
	return decoded, err
}
