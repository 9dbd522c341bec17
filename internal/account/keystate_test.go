package account

import (
	"testing"
	"time"
)

func TestTheStateOfAKey(t *testing.T) {
	now := time.Date(2026, 11, 16, 12, 0, 0, 0, time.UTC)
	before, after := now.Add(-time.Hour), now.Add(time.Hour)
	for _, test := range []struct {
		key  Key
		want KeyState
	}{
		{Key{}, KeyActive},
		{Key{ExpiresAt: after}, KeyOverlap},
		{Key{ExpiresAt: now.Add(time.Nanosecond)}, KeyOverlap},
		{Key{ExpiresAt: now}, KeyExpired},
		{Key{ExpiresAt: before}, KeyExpired},
		{Key{SuspendedAt: before}, KeySuspended},
		{Key{SuspendedAt: before, ExpiresAt: after}, KeySuspended},
		{Key{SuspendedAt: before, ExpiresAt: before}, KeyExpired},
		{Key{RevokedAt: before}, KeyRevoked},
		{Key{RevokedAt: before, ExpiresAt: before, SuspendedAt: before}, KeyRevoked},
	} {
		if got := test.key.State(now); got != test.want {
			t.Errorf("%+v: %s; want %s", test.key, got, test.want)
		}
	}
}
