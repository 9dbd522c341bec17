package account

import (
	"testing"
	"time"
)

func TestASuspendedKeyIsRefusedAndItsUseIsNotNoted(t *testing.T) {
	d := newDrawer()
	k := NewKeyring(d.lookup, func() time.Time { return noon })
	checks(t, k, d.put("", Key{ID: "key_a", SuspendedAt: noon}), ErrSuspendedKey)
	checks(t, k, d.put("", Key{ID: "key_b", SuspendedAt: noon, RevokedAt: noon}), ErrRevokedKey)
	checks(t, k, d.put("", Key{ID: "key_c", SuspendedAt: noon, ExpiresAt: noon}), ErrExpiredKey)
	if used := k.Used(); len(used) > 0 {
		t.Errorf("Used = %v; a key that does not work would seem in use when it is chosen which to keep", used)
	}
}
