package account

import (
	"crypto/rand"
	"errors"
	"strings"
	"testing"
	"time"
)

func TestAPublishTokenIsNoKeyAndAKeyNoToken(t *testing.T) {
	// The checksum was computed with Python's zlib.crc32 and integer division.
	const known = "plp_PalmaresPalmaresPalmaresPalmares1JnShv"
	if !CheckPublishToken(known) {
		t.Errorf("%s is refused", known)
	}
	key, token := NewKey(rand.Reader), NewPublishToken(rand.Reader)
	if !CheckPublishToken(token) || CheckKey(token) || HasKeyForm(token) || CheckPublishToken(key) {
		t.Errorf("the token %s or the key %s passes for the other", token, key)
	}
	for _, s := range []string{"", token[:41], token + "0", "plm_" + token[4:], token[:20] + "-" + token[21:], strings.ToUpper(token)} {
		if CheckPublishToken(s) {
			t.Errorf("%q passes", s)
		}
	}
}

func TestAPublishTokenEndsWhenItExpiresOrIsRevoked(t *testing.T) {
	now := time.Date(2026, 11, 16, 12, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		token PublishToken
		want  error
	}{
		{PublishToken{}, nil},
		{PublishToken{ExpiresAt: now.Add(time.Nanosecond)}, nil},
		{PublishToken{ExpiresAt: now}, ErrExpiredToken},
		{PublishToken{RevokedAt: now.Add(-time.Hour)}, ErrRevokedToken},
		{PublishToken{RevokedAt: now.Add(-time.Hour), ExpiresAt: now}, ErrRevokedToken},
	} {
		if got := test.token.Check(now); !errors.Is(got, test.want) {
			t.Errorf("%+v: %v; want %v", test.token, got, test.want)
		}
	}
}
