package keyring

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"palmares/internal/account"
)

// fakeStore is a Store in memory that can fail and hang, and counts its lookups.
type fakeStore struct {
	mu    sync.Mutex
	keys  map[[32]byte]account.Key
	asked int
	// err is what every lookup returns, nil for what is stored.
	err error
	// hangs makes lookups wait for the end of their context.
	hangs bool
	// during, if set, runs in the middle of each lookup, after the key was read.
	during func()
	// findAll, if set, is called in place of ByHashes.
	findAll func(ctx context.Context, hashes [][32]byte) (map[[32]byte]account.Key, error)
}

func newFakeStore() *fakeStore { return &fakeStore{keys: map[[32]byte]account.Key{}} }

func (s *fakeStore) ByHash(ctx context.Context, hash [32]byte) (account.Key, error) {
	s.mu.Lock()
	s.asked++
	key, ok := s.keys[hash]
	during, hangs, err := s.during, s.hangs, s.err
	s.mu.Unlock()
	if during != nil {
		during()
	}
	if hangs {
		<-ctx.Done()
	}
	switch {
	case ctx.Err() != nil:
		return account.Key{}, ctx.Err()
	case err != nil:
		return account.Key{}, err
	case !ok:
		return account.Key{}, account.ErrInvalidKey
	}
	return key, nil
}

func (s *fakeStore) ByHashes(ctx context.Context, hashes [][32]byte) (map[[32]byte]account.Key, error) {
	if s.findAll != nil {
		return s.findAll(ctx, hashes)
	}
	found, _ := s.find(ctx, hashes)
	s.mu.Lock()
	s.asked++
	during, hangs, err := s.during, s.hangs, s.err
	s.mu.Unlock()
	if during != nil {
		during()
	}
	if hangs {
		<-ctx.Done()
	}
	return found, cmp.Or(ctx.Err(), err)
}

func (s *fakeStore) find(ctx context.Context, hashes [][32]byte) (map[[32]byte]account.Key, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := map[[32]byte]account.Key{}
	for _, h := range hashes {
		if k, ok := s.keys[h]; ok {
			found[h] = k
		}
	}
	return found, ctx.Err()
}

// put stores a key under a token, and returns the token; "" makes a new one.
func (s *fakeStore) put(token string, k account.Key) string {
	if token == "" {
		token = account.NewKey(rand.Reader)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys[account.HashKey(token)] = k
	return token
}

func (s *fakeStore) remove(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.keys, account.HashKey(token))
}

func (s *fakeStore) lookups() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

func (s *fakeStore) hang(hangs bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hangs = hangs
}

var errDown = errors.New("the store is down")

var noon = time.Date(2026, 11, 16, 12, 0, 0, 0, time.UTC)

func atNoon() time.Time { return noon }

// lookupTimeout is how long a request waits for its key in these tests.
const lookupTimeout = 200 * time.Millisecond

// checks fails the test unless Check returns the given error.
func checks(t *testing.T, k *Keyring, token string, want error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), lookupTimeout)
	defer cancel()
	if _, err := k.Check(ctx, token, netip.Prefix{}); !errors.Is(err, want) {
		t.Errorf("Check = %v; want %v", err, want)
	}
}

func TestAKeyIsLookedUpOnceAndThenKnown(t *testing.T) {
	store := newFakeStore()
	k := New(store, atNoon)
	token := store.put("", account.Key{ID: "key_a", Plan: account.Pro})
	for range 3 {
		key, err := k.Check(t.Context(), token, netip.Prefix{})
		if err != nil || key.ID != "key_a" || key.Plan != account.Pro {
			t.Fatalf("Check = %+v, %v", key, err)
		}
	}
	if n := store.lookups(); n != 1 {
		t.Errorf("%d lookups; want 1", n)
	}
	checks(t, k, token[:41]+"!", account.ErrInvalidKey)
	if n := store.lookups(); n != 1 {
		t.Error("a typo was looked up")
	}
}

func TestAKeyMadeAMomentAgoWorksAlthoughItWasUnknown(t *testing.T) {
	store := newFakeStore()
	k := New(store, atNoon)
	token := account.NewKey(rand.Reader)
	checks(t, k, token, account.ErrInvalidKey)
	store.put(token, account.Key{})
	checks(t, k, token, nil)
}

func TestAKeyEndsWhenItIsRevokedAndForgottenOrExpires(t *testing.T) {
	store := newFakeStore()
	now := noon
	k := New(store, func() time.Time { return now })
	rotated := store.put("", account.Key{ExpiresAt: noon.Add(time.Hour)})
	token := store.put("", account.Key{})
	gone := store.put("", account.Key{})
	for _, s := range []string{rotated, token, gone} {
		checks(t, k, s, nil)
	}
	store.put(token, account.Key{RevokedAt: noon})
	store.remove(gone)
	checks(t, k, token, nil)
	k.Invalidate()
	checks(t, k, token, account.ErrRevokedKey)
	checks(t, k, gone, account.ErrInvalidKey)
	checks(t, k, rotated, nil)
	now = noon.Add(time.Hour)
	checks(t, k, rotated, account.ErrExpiredKey)
	store.put(gone, account.Key{})
	checks(t, k, gone, nil)
}

func TestAKnownKeyIsGoodWhileTheStoreIsDownUntilItIsDistrusted(t *testing.T) {
	store := newFakeStore()
	k := New(store, atNoon)
	token := store.put("", account.Key{})
	checks(t, k, token, nil)
	store.err = errDown
	checks(t, k, token, nil)
	k.Invalidate()
	checks(t, k, token, nil)
	checks(t, k, store.put("", account.Key{}), errDown) // an unknown one
	k.Distrust(true)
	checks(t, k, token, errDown)
	store.err = nil
	checks(t, k, token, nil)
	k.Distrust(false)
	store.err = errDown
	checks(t, k, token, nil)
}

func TestALookupThatInvalidateOvertookIsRepeated(t *testing.T) {
	store := newFakeStore()
	k := New(store, atNoon)
	token := store.put("", account.Key{})
	store.during = func() { // the key was read; now it is revoked and every key invalidated
		store.during = nil
		store.put(token, account.Key{RevokedAt: noon})
		k.Invalidate()
	}
	checks(t, k, token, account.ErrRevokedKey) // it is read again
	checks(t, k, token, account.ErrRevokedKey)
	if n := store.lookups(); n != 2 {
		t.Errorf("%d lookups; want 2", n)
	}
}

func TestARevokedKeyIsRefusedByEveryRequestThatStartsAfterInvalidate(t *testing.T) {
	const rounds, callers = 50, 4
	store := newFakeStore()
	k := New(store, atNoon)
	for range rounds {
		token := store.put("", account.Key{})
		var revoked atomic.Bool
		var all sync.WaitGroup
		for range callers {
			all.Go(func() {
				for last := false; !last; {
					last = revoked.Load()
					_, err := k.Check(t.Context(), token, netip.Prefix{})
					if last && !errors.Is(err, account.ErrRevokedKey) || err != nil && !errors.Is(err, account.ErrRevokedKey) {
						t.Errorf("Check = %v after the revocation: %v", err, last)
					}
				}
			})
		}
		all.Go(func() {
			store.put(token, account.Key{RevokedAt: noon})
			k.Invalidate()
			revoked.Store(true)
		})
		all.Wait()
	}
}

func TestAUseIsReportedOnceAMinuteAndSurvivesInvalidate(t *testing.T) {
	store := newFakeStore()
	now := noon
	k := New(store, func() time.Time { return now })
	token := store.put("", account.Key{ID: "key_a"})
	revoked := store.put("", account.Key{ID: "key_b", RevokedAt: noon})
	uses := func() []account.KeyUse {
		checks(t, k, token, nil)
		checks(t, k, revoked, account.ErrRevokedKey)
		return k.Used()
	}
	reported := func(at time.Time) []account.KeyUse { return []account.KeyUse{{KeyID: "key_a", At: at}} }
	equal := func(what string, want, got []account.KeyUse) {
		t.Helper()
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	equal("the first use", reported(noon), uses())
	now = noon.Add(59 * time.Second)
	equal("within the minute", nil, uses())
	now = noon.Add(60 * time.Second)
	checks(t, k, token, nil)
	k.Invalidate()
	equal("before Invalidate and after", reported(now), uses())
	now = noon // the clock steps back
	equal("in the past", nil, uses())
	now = noon.Add(time.Hour)
	equal("an hour later", reported(now), uses())
	equal("used by nobody", nil, k.Used())
}

func TestAStoreThatHangsIsNotWaitedForIndefinitely(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newFakeStore()
		store.hang(true)
		k := New(store, time.Now)
		start := time.Now()
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() { checks(t, k, account.NewKey(rand.Reader), context.DeadlineExceeded) })
		}
		all.Wait()
		if took := time.Since(start); took != lookupTimeout {
			t.Errorf("a hundred callers waited for %s; want %s", took, lookupTimeout)
		}
	})
}

func TestMemoryIsBoundedHoweverManyKeysThereAre(t *testing.T) {
	store := newFakeStore()
	k := New(store, atNoon)
	full := &k.shards[7]
	for i := range 2 * maxPerShard {
		full.put([32]byte{7, byte(i), byte(i >> 8)}, entry{})
	}
	for range 500 { // and through Check
		checks(t, k, store.put("", account.Key{}), nil)
	}
	if n := len(full.entries); n != maxPerShard {
		t.Errorf("a shard remembers %d keys; want %d", n, maxPerShard)
	}
	// An evicted key is remembered when it returns.
	full.put([32]byte{7, 1, 0}, entry{key: account.Key{ID: "key_a"}})
	if got := full.get([32]byte{7, 1, 0}); got == nil || got.key.ID != "key_a" {
		t.Errorf("the newest key is not remembered: %+v", got)
	}
	before := len(k.shards[0].entries)
	for range 500 {
		checks(t, k, account.NewKey(rand.Reader), account.ErrInvalidKey)
	}
	if after := len(k.shards[0].entries); after != before {
		t.Errorf("keys that do not exist take room: %d became %d", before, after)
	}
}

func TestAKnownKeyIsNotDelayedByAStoreThatFailedAMomentAgo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newFakeStore()
		k := New(store, time.Now)
		token, other := store.put("", account.Key{}), store.put("", account.Key{})
		checks(t, k, token, nil)
		checks(t, k, other, nil)
		k.Invalidate()
		store.hang(true)
		waits := func(token string, want time.Duration, reason error) {
			t.Helper()
			start := time.Now()
			checks(t, k, token, reason)
			if took := time.Since(start); took != want {
				t.Errorf("a request waited for %s; want %s", took, want)
			}
		}
		waits(account.NewKey(rand.Reader), lookupTimeout, context.DeadlineExceeded) // says nothing about the others
		waits(token, lookupTimeout, nil)
		waits(token, 0, nil)
		waits(other, 0, nil)
		store.put(token, account.Key{RevokedAt: time.Now()})
		store.hang(false)
		<-time.After(failurePause)
		waits(token, 0, account.ErrRevokedKey)
	})
}

func TestASuspendedKeyIsRefusedAndItsUseIsNotRecorded(t *testing.T) {
	store := newFakeStore()
	k := New(store, atNoon)
	checks(t, k, store.put("", account.Key{ID: "key_a", SuspendedAt: noon}), account.ErrSuspendedKey)
	checks(t, k, store.put("", account.Key{ID: "key_b", SuspendedAt: noon, RevokedAt: noon}), account.ErrRevokedKey)
	checks(t, k, store.put("", account.Key{ID: "key_c", SuspendedAt: noon, ExpiresAt: noon}), account.ErrExpiredKey)
	if used := k.Used(); len(used) > 0 {
		t.Errorf("Used = %v; a key that does not work would seem in use when it is chosen which to keep", used)
	}
}

// TestTheStateTable goes through the table of the package comment, row by row.
func TestTheStateTable(t *testing.T) {
	type memory string
	const (
		unknown memory = "unknown"
		current memory = "current"
		stale   memory = "stale"    // usable
		old     memory = "unusable" // stale for longer than maxStale
	)
	for _, row := range []struct {
		in        memory
		err       error // of the store
		gone      bool  // from the store
		refreshes bool  // Refresh is running
		failed    bool  // another lookup failed a moment ago
		crowded   bool  // too many lookups are waiting
		want      error
		lookups   int
	}{
		{in: unknown, lookups: 1},
		{in: unknown, gone: true, want: account.ErrInvalidKey, lookups: 1},
		{in: unknown, err: errDown, want: errDown, lookups: 1},
		{in: unknown, crowded: true, want: ErrTooManyLookups},
		{in: current},
		{in: current, err: errDown},
		{in: stale, refreshes: true},
		{in: stale, failed: true},
		{in: old, refreshes: true, lookups: 1},
		{in: old, failed: true, lookups: 1},
		{in: stale, lookups: 1},
		{in: stale, gone: true, want: account.ErrInvalidKey, lookups: 1},
		{in: stale, err: errDown, lookups: 1},
		{in: old, err: errDown, want: errDown, lookups: 1},
	} {
		t.Run(fmt.Sprintf("%+v", row), func(t *testing.T) {
			now := noon
			store := newFakeStore()
			k := New(store, func() time.Time { return now })
			token := store.put("", account.Key{})
			if row.in != unknown {
				checks(t, k, token, nil)
			}
			if row.in == stale || row.in == old {
				k.Invalidate()
			}
			if row.in == old {
				now = now.Add(maxStale)
			}
			if row.gone {
				store.remove(token)
			}
			if row.failed {
				k.failedAt.Store(now.UnixMilli())
			}
			if row.crowded {
				k.unseen.waiting = maxWaiting
			}
			k.refreshing.Store(row.refreshes)
			store.err = row.err
			before := store.lookups()
			checks(t, k, token, row.want)
			if n := store.lookups() - before; n != row.lookups {
				t.Errorf("%d lookups; want %d", n, row.lookups)
			}
		})
	}
}
