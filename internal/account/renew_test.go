package account

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// find is what a store gives for many keys at once.
func (d *drawer) find(ctx context.Context, hashes [][32]byte) (map[[32]byte]Key, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	found := map[[32]byte]Key{}
	for _, h := range hashes {
		if k, ok := d.keys[h]; ok {
			found[h] = k
		}
	}
	return found, ctx.Err()
}

func TestKeysInUseAreRenewedAndNoRequestPaysForIt(t *testing.T) {
	d := newDrawer()
	now := noon
	k := NewKeyring(d.lookup, func() time.Time { return now })
	idle := d.put("", Key{})
	checks(t, k, idle, nil)
	now = noon.Add(trustFor)
	kept, revoked, gone := d.put("", Key{}), d.put("", Key{}), d.put("", Key{})
	for _, token := range []string{kept, revoked, gone} {
		checks(t, k, token, nil)
		now = now.Add(time.Second)
	}
	d.put(revoked, Key{RevokedAt: noon})
	d.put(idle, Key{RevokedAt: noon})
	d.remove(gone)
	k.Forget()
	if !k.IsForgotten() {
		t.Error("nothing is forgotten")
	}
	before := d.lookups()
	var asked [][32]byte
	if err := k.Renew(t.Context(), func(ctx context.Context, hashes [][32]byte) (map[[32]byte]Key, error) {
		asked = append(asked, hashes...)
		checks(t, k, revoked, nil) // it is what it was until that is known
		return d.find(ctx, hashes)
	}); err != nil {
		t.Fatal(err)
	}
	if len(asked) != 3 || asked[0] != HashKey(gone) || asked[2] != HashKey(kept) {
		t.Errorf("%d keys were read again; want the three in use, the last used first", len(asked))
	}
	checks(t, k, kept, nil)
	checks(t, k, revoked, ErrRevokedKey)
	if n := d.lookups() - before; n != 0 || k.IsForgotten() {
		t.Errorf("%d requests looked a key up", n)
	}
	checks(t, k, gone, ErrInvalidKey)
	checks(t, k, idle, ErrRevokedKey) // which was looked up
}

func TestARenewalThatIsOvertakenOrFailsIsMadeAgain(t *testing.T) {
	d := newDrawer()
	k := NewKeyring(d.lookup, atNoon)
	token := d.put("", Key{})
	checks(t, k, token, nil)
	k.Forget()
	away := errors.New("away")
	if err := k.Renew(t.Context(), func(context.Context, [][32]byte) (map[[32]byte]Key, error) { return nil, away }); !errors.Is(err, away) || !k.IsForgotten() {
		t.Errorf("Renew = %v", err)
	}
	rounds := 0
	if err := k.Renew(t.Context(), func(ctx context.Context, hashes [][32]byte) (map[[32]byte]Key, error) {
		found, err := d.find(ctx, hashes)
		if rounds++; rounds == 1 { // after it was read
			d.put(token, Key{RevokedAt: noon})
			k.Forget()
		}
		return found, err
	}); err != nil || rounds != 2 {
		t.Errorf("Renew = %v after %d rounds", err, rounds)
	}
	checks(t, k, token, ErrRevokedKey)
}

// A store that answers the watch and is too slow for requests must not keep a revoked
// key alive; one that answers nobody may, for a quarter of an hour.
func TestAForgottenKeyIsBelievedForSecondsUnlessTheStoreIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDrawer()
		var stuck atomic.Bool
		k := NewKeyring(func(ctx context.Context, hash [32]byte) (Key, error) {
			if stuck.Load() {
				<-ctx.Done()
				return Key{}, ctx.Err()
			}
			return d.lookup(ctx, hash)
		}, time.Now)
		token := d.put("", Key{})
		checks(t, k, token, nil)
		stuck.Store(true)
		k.Forget()
		<-time.After(believeFor - lookupTimeout - time.Millisecond)
		k.Forget() // another change does not prolong it
		checks(t, k, token, nil)
		<-time.After(failurePause)
		checks(t, k, token, context.DeadlineExceeded)

		k.Away(true)
		checks(t, k, token, nil)
		<-time.After(trustFor / 2)
		checks(t, k, token, nil)
		k.Away(false) // now it can be renewed: a moment more
		checks(t, k, token, nil)
		<-time.After(believeFor)
		checks(t, k, token, context.DeadlineExceeded)
		k.Away(true)
		<-time.After(trustFor / 2)
		checks(t, k, token, context.DeadlineExceeded) // however often it comes and goes
	})
}

func TestAKeyThatWasNotKeptUpToDateIsNotBelieved(t *testing.T) {
	d := newDrawer()
	away := errors.New("away")
	now, broken := noon, false
	k := NewKeyring(func(ctx context.Context, hash [32]byte) (Key, error) {
		if broken {
			return Key{}, away
		}
		return d.lookup(ctx, hash)
	}, func() time.Time { return now })
	token := d.put("", Key{})
	checks(t, k, token, nil)
	now = noon.Add(time.Hour) // nobody uses it, and it is revoked
	k.Forget()
	if err := k.Renew(t.Context(), d.find); err != nil {
		t.Fatal(err)
	}
	broken = true
	k.Away(true)
	k.Forget()
	checks(t, k, token, away)
}

func TestAWaitForTheStoreIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDrawer()
		d.during = func() { <-time.After(50 * time.Millisecond) }
		var stuck atomic.Bool
		k := NewKeyring(func(ctx context.Context, hash [32]byte) (Key, error) {
			if stuck.Load() {
				<-ctx.Done()
				return Key{}, ctx.Err()
			}
			return d.lookup(ctx, hash)
		}, time.Now)
		token := d.put("", Key{})
		for _, want := range []time.Duration{50 * time.Millisecond, 0} {
			if _, waited, err := k.CheckTimed(t.Context(), token); err != nil || waited != want {
				t.Errorf("waited %s, %v; want %s", waited, err, want)
			}
		}
		stuck.Store(true)
		k.Forget()
		if _, waited, err := k.CheckTimed(t.Context(), token); err != nil || waited != InVain {
			t.Errorf("waited %s, %v; want in vain", waited, err)
		}
	})
}
