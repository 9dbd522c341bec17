package keyring

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"palmares/internal/account"
)

func TestKeysInUseAreRefreshedAndNoRequestWaitsForIt(t *testing.T) {
	store := newFakeStore()
	now := noon
	k := New(store, func() time.Time { return now })
	idle := store.put("", account.Key{})
	checks(t, k, idle, nil)
	now = noon.Add(maxStaleUnreachable)
	kept, revoked, gone := store.put("", account.Key{}), store.put("", account.Key{}), store.put("", account.Key{})
	for _, token := range []string{kept, revoked, gone} {
		checks(t, k, token, nil)
		now = now.Add(time.Second)
	}
	store.put(revoked, account.Key{RevokedAt: noon})
	store.put(idle, account.Key{RevokedAt: noon})
	store.remove(gone)
	k.Invalidate()
	if !k.NeedsRefresh() {
		t.Error("nothing needs a refresh")
	}
	before := store.lookups()
	var asked [][32]byte
	store.findAll = func(ctx context.Context, hashes [][32]byte) (map[[32]byte]account.Key, error) {
		asked = append(asked, hashes...)
		checks(t, k, revoked, nil) // until it has been read
		return store.find(ctx, hashes)
	}
	if err := k.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	store.findAll = nil
	if len(asked) != 3 || asked[0] != account.HashKey(gone) || asked[2] != account.HashKey(kept) {
		t.Errorf("%d keys were read again; want the three in use, the last used first", len(asked))
	}
	checks(t, k, kept, nil)
	checks(t, k, revoked, account.ErrRevokedKey)
	if n := store.lookups() - before; n != 0 || k.NeedsRefresh() {
		t.Errorf("%d requests looked a key up", n)
	}
	checks(t, k, gone, account.ErrInvalidKey)
	checks(t, k, idle, account.ErrRevokedKey) // which was looked up
}

func TestARefreshThatIsOvertakenOrFailsIsRepeated(t *testing.T) {
	store := newFakeStore()
	k := New(store, atNoon)
	token := store.put("", account.Key{})
	checks(t, k, token, nil)
	k.Invalidate()
	store.findAll = func(context.Context, [][32]byte) (map[[32]byte]account.Key, error) { return nil, errDown }
	if err := k.Refresh(t.Context()); !errors.Is(err, errDown) || !k.NeedsRefresh() {
		t.Errorf("Refresh = %v", err)
	}
	rounds := 0
	store.findAll = func(ctx context.Context, hashes [][32]byte) (map[[32]byte]account.Key, error) {
		found, err := store.find(ctx, hashes)
		if rounds++; rounds == 1 { // after it was read
			store.put(token, account.Key{RevokedAt: noon})
			k.Invalidate()
		}
		return found, err
	}
	if err := k.Refresh(t.Context()); err != nil || rounds != 2 {
		t.Errorf("Refresh = %v after %d rounds", err, rounds)
	}
	checks(t, k, token, account.ErrRevokedKey)
}

// A store that is merely too slow for requests must not keep a revoked key alive; one
// that is unreachable may, for a quarter of an hour.
func TestAStaleKeyIsUsableForSecondsUnlessTheStoreIsUnreachable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newFakeStore()
		k := New(store, time.Now)
		token := store.put("", account.Key{})
		checks(t, k, token, nil)
		store.hang(true)
		k.Invalidate()
		<-time.After(maxStale - lookupTimeout - time.Millisecond)
		k.Invalidate() // another change does not prolong it
		checks(t, k, token, nil)
		<-time.After(failurePause)
		checks(t, k, token, context.DeadlineExceeded)

		k.SetReachable(false)
		checks(t, k, token, nil)
		<-time.After(maxStaleUnreachable / 2)
		checks(t, k, token, nil)
		k.SetReachable(true) // now it can be refreshed: a few seconds more
		checks(t, k, token, nil)
		<-time.After(maxStale)
		checks(t, k, token, context.DeadlineExceeded)
		k.SetReachable(false)
		<-time.After(maxStaleUnreachable / 2)
		checks(t, k, token, context.DeadlineExceeded) // however often the store comes and goes
	})
}

func TestAKeyThatWasNotRefreshedIsNotUsable(t *testing.T) {
	store := newFakeStore()
	now := noon
	k := New(store, func() time.Time { return now })
	token := store.put("", account.Key{})
	checks(t, k, token, nil)
	now = noon.Add(time.Hour) // nobody uses it, and it is revoked
	k.Invalidate()
	if err := k.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	store.err = errDown
	k.SetReachable(false)
	k.Invalidate()
	checks(t, k, token, errDown)
}

func TestAStaleKeyWaitsForTheStoreUntilItsDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newFakeStore()
		store.during = func() { <-time.After(50 * time.Millisecond) }
		k := New(store, time.Now)
		token := store.put("", account.Key{})
		waits := func(want time.Duration) {
			t.Helper()
			start := time.Now()
			checks(t, k, token, nil)
			if waited := time.Since(start); waited != want {
				t.Errorf("waited %s; want %s", waited, want)
			}
		}
		waits(50 * time.Millisecond)
		waits(0)
		store.hang(true)
		k.Invalidate()
		waits(lookupTimeout)
	})
}

func TestAKeyThatRefreshReadDuringAFailedLookupIsCurrent(t *testing.T) {
	store := newFakeStore()
	k := New(store, atNoon)
	kept, revoked := store.put("", account.Key{}), store.put("", account.Key{})
	checks(t, k, kept, nil)
	checks(t, k, revoked, nil)
	store.put(revoked, account.Key{RevokedAt: noon})
	k.Invalidate()
	store.err, store.findAll = errDown, store.find
	store.during = func() {
		if err := k.Refresh(t.Context()); err != nil {
			t.Error(err)
		}
	}
	checks(t, k, kept, nil)
	checks(t, k, revoked, account.ErrRevokedKey)
}

// As on a node that has just started: it reads the state of all keys for the first time while
// callers arrive.
func TestAKeyThatInvalidateOvertookIsKnownWhenTheStoreFails(t *testing.T) {
	store := newFakeStore()
	k := New(store, atNoon)
	token := store.put("", account.Key{})
	store.findAll = func(ctx context.Context, hashes [][32]byte) (map[[32]byte]account.Key, error) {
		found, err := store.find(ctx, hashes)
		store.findAll = store.find
		k.Invalidate()
		return found, errors.Join(err, k.Refresh(ctx))
	}
	checks(t, k, token, nil)
	store.err = errDown
	k.SetReachable(false)
	checks(t, k, token, nil)
}
