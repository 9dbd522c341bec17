package account

import "time"

// A KeyState says whether a key works.
type KeyState string

// The states of a key. Only KeyActive and KeyOverlap are accepted.
const (
	KeyActive    KeyState = "active"
	KeyOverlap   KeyState = "overlap" // it has a successor and works until ExpiresAt
	KeySuspended KeyState = "suspended"
	KeyExpired   KeyState = "expired"
	KeyRevoked   KeyState = "revoked"
)

// State returns the state of the key. Revoked comes before expired and expired before
// suspended: the first is final, the last may pass.
func (k *Key) State(now time.Time) KeyState {
	switch {
	case !k.RevokedAt.IsZero():
		return KeyRevoked
	case !k.ExpiresAt.IsZero() && !now.Before(k.ExpiresAt):
		return KeyExpired
	case !k.SuspendedAt.IsZero():
		return KeySuspended
	case !k.ExpiresAt.IsZero():
		return KeyOverlap
	}
	return KeyActive
}
