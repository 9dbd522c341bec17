package account

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A drawer keeps keys as the store does, can be stuck, and tells how it was asked.
type drawer struct {
	mu    sync.Mutex
	keys  map[[32]byte]Key
	asked int
	// during, when set, runs in the middle of each lookup, after the key was read.
	during func()
}

func newDrawer() *drawer { return &drawer{keys: map[[32]byte]Key{}} }

func (d *drawer) lookup(ctx context.Context, hash [32]byte) (Key, error) {
	d.mu.Lock()
	d.asked++
	key, ok := d.keys[hash]
	during := d.during
	d.mu.Unlock()
	if during != nil {
		during()
	}
	switch {
	case ctx.Err() != nil:
		return Key{}, ctx.Err()
	case !ok:
		return Key{}, ErrInvalidKey
	}
	return key, nil
}

// put makes a key, or changes the one that there is.
func (d *drawer) put(token string, k Key) string {
	if token == "" {
		token = NewKey(rand.Reader)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.keys[HashKey(token)] = k
	return token
}

func (d *drawer) remove(token string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.keys, HashKey(token))
}

func (d *drawer) lookups() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.asked
}

var noon = time.Date(2026, 11, 16, 12, 0, 0, 0, time.UTC)

func atNoon() time.Time { return noon }

// checks fails the test unless a key is answered with the given reason, nil for none.
func checks(t *testing.T, k *Keyring, token string, want error) {
	t.Helper()
	if _, err := k.Check(t.Context(), token); !errors.Is(err, want) {
		t.Errorf("Check = %v; want %v", err, want)
	}
}

func TestAKeyIsLookedUpOnceAndThenKnown(t *testing.T) {
	d := newDrawer()
	k := NewKeyring(d.lookup, atNoon)
	token := d.put("", Key{ID: "key_a", Plan: Pro})
	for range 3 {
		key, err := k.Check(t.Context(), token)
		if err != nil || key.ID != "key_a" || key.Plan != Pro {
			t.Fatalf("Check = %+v, %v", key, err)
		}
	}
	if n := d.lookups(); n != 1 {
		t.Errorf("%d lookups; want 1", n)
	}
	checks(t, k, token[:41]+"!", ErrInvalidKey)
	if n := d.lookups(); n != 1 {
		t.Error("a typo was looked up")
	}
}

func TestAKeyMadeAMomentAgoWorksAlthoughItWasUnknown(t *testing.T) {
	d := newDrawer()
	k := NewKeyring(d.lookup, atNoon)
	token := NewKey(rand.Reader)
	checks(t, k, token, ErrInvalidKey)
	d.put(token, Key{})
	checks(t, k, token, nil)
}

func TestAKeyEndsWhenItIsRevokedAndForgottenOrExpires(t *testing.T) {
	d := newDrawer()
	now := noon
	k := NewKeyring(d.lookup, func() time.Time { return now })
	rotated := d.put("", Key{ExpiresAt: noon.Add(time.Hour)})
	token := d.put("", Key{})
	gone := d.put("", Key{})
	for _, s := range []string{rotated, token, gone} {
		checks(t, k, s, nil)
	}
	d.put(token, Key{RevokedAt: noon})
	d.remove(gone)
	checks(t, k, token, nil)
	k.Forget()
	checks(t, k, token, ErrRevokedKey)
	checks(t, k, gone, ErrInvalidKey)
	checks(t, k, rotated, nil)
	now = noon.Add(time.Hour)
	checks(t, k, rotated, ErrExpiredKey)
	d.put(gone, Key{})
	checks(t, k, gone, nil)
}

func TestAKnownKeyHoldsWhileTheStoreIsAwayUntilItIsDoubted(t *testing.T) {
	away := errors.New("away")
	d := newDrawer()
	broken := false
	k := NewKeyring(func(ctx context.Context, hash [32]byte) (Key, error) {
		if broken {
			return Key{}, away
		}
		return d.lookup(ctx, hash)
	}, atNoon)
	token := d.put("", Key{})
	checks(t, k, token, nil)
	broken = true
	checks(t, k, token, nil)
	k.Forget()
	checks(t, k, token, nil)
	checks(t, k, d.put("", Key{}), away) // one that was never seen
	k.Doubt(true)
	checks(t, k, token, away)
	broken = false
	checks(t, k, token, nil)
	k.Doubt(false)
	broken = true
	checks(t, k, token, nil)
}

func TestALookupThatForgetOvertookIsNotRemembered(t *testing.T) {
	d := newDrawer()
	k := NewKeyring(d.lookup, atNoon)
	token := d.put("", Key{})
	d.during = func() { // the key was read; now it is revoked and every key forgotten
		d.put(token, Key{RevokedAt: noon})
		k.Forget()
	}
	checks(t, k, token, nil) // it asked before
	d.during = nil
	checks(t, k, token, ErrRevokedKey)
	if n := d.lookups(); n != 2 {
		t.Errorf("%d lookups; want 2", n)
	}
}

// Whoever asks after Forget has returned is told of what was revoked before it.
func TestARevokedKeyIsRefusedByEveryRequestThatBeginsAfterForget(t *testing.T) {
	const rounds, callers = 50, 4
	d := newDrawer()
	k := NewKeyring(d.lookup, atNoon)
	for range rounds {
		token := d.put("", Key{})
		var revoked atomic.Bool
		var all sync.WaitGroup
		for range callers {
			all.Go(func() {
				for last := false; !last; {
					last = revoked.Load()
					_, err := k.Check(t.Context(), token)
					if last && !errors.Is(err, ErrRevokedKey) || err != nil && !errors.Is(err, ErrRevokedKey) {
						t.Errorf("Check = %v after the revocation: %v", err, last)
					}
				}
			})
		}
		all.Go(func() {
			d.put(token, Key{RevokedAt: noon})
			k.Forget()
			revoked.Store(true)
		})
		all.Wait()
	}
}

func TestAUseIsToldOnceAMinuteAndSurvivesForget(t *testing.T) {
	d := newDrawer()
	now := noon
	k := NewKeyring(d.lookup, func() time.Time { return now })
	token := d.put("", Key{ID: "key_a"})
	revoked := d.put("", Key{ID: "key_b", RevokedAt: noon})
	uses := func() []Use {
		checks(t, k, token, nil)
		checks(t, k, revoked, ErrRevokedKey)
		return k.Used()
	}
	told := func(at time.Time) []Use { return []Use{{KeyID: "key_a", At: at}} }
	sees := func(what string, want, got []Use) {
		t.Helper()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	sees("the first use", told(noon), uses())
	now = noon.Add(59 * time.Second)
	sees("within the minute", nil, uses())
	now = noon.Add(60 * time.Second)
	checks(t, k, token, nil)
	k.Forget()
	sees("before Forget and after", told(now), uses())
	now = noon // the clock steps back
	sees("in the past", nil, uses())
	now = noon.Add(time.Hour)
	sees("an hour later", told(now), uses())
	sees("used by nobody", nil, k.Used())
}

func TestAStrangerWithManyKeysKeepsFewLookupsBusyAndNoCustomerOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDrawer()
		k := NewKeyring(d.lookup, atNoon)
		customer := d.put("", Key{})
		checks(t, k, customer, nil)
		k.Forget()

		stuck := make(chan struct{})
		d.during = func() { <-stuck }
		const strangers = maxWaiting + 500
		var crowded, invalid atomic.Int64
		var all sync.WaitGroup
		for range strangers {
			all.Go(func() {
				_, err := k.Check(t.Context(), NewKey(rand.Reader))
				switch {
				case errors.Is(err, ErrCrowded):
					crowded.Add(1)
				case errors.Is(err, ErrInvalidKey):
					invalid.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		if n := d.lookups() - 1; n != lookups || crowded.Load() != strangers-maxWaiting {
			t.Errorf("%d lookups run and %d were sent away; want %d and %d", n, crowded.Load(), lookups, strangers-maxWaiting)
		}
		d.mu.Lock()
		d.during = nil
		d.mu.Unlock()
		checks(t, k, customer, nil) // while strangers are in the way of each other
		close(stuck)
		all.Wait()
		if invalid.Load() != maxWaiting {
			t.Errorf("%d strangers were answered; want %d", invalid.Load(), maxWaiting)
		}
	})
}

func TestAStuckStoreIsNotWaitedForForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := NewKeyring(func(ctx context.Context, _ [32]byte) (Key, error) {
			<-ctx.Done()
			return Key{}, ctx.Err()
		}, time.Now)
		begin := time.Now()
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() { checks(t, k, NewKey(rand.Reader), context.DeadlineExceeded) })
		}
		all.Wait()
		if took := time.Since(begin); took != lookupTimeout {
			t.Errorf("a hundred callers waited for %s; want %s", took, lookupTimeout)
		}
	})
}

func TestMemoryIsBoundedHoweverManyKeysThereAre(t *testing.T) {
	d := newDrawer()
	k := NewKeyring(d.lookup, atNoon)
	crowd := &k.shards[7]
	for i := range 2 * maxKnown {
		crowd.keep([32]byte{7, byte(i), byte(i >> 8)}, known{})
	}
	for range 500 { // and by the front door
		checks(t, k, d.put("", Key{}), nil)
	}
	if n := len(crowd.keys); n != maxKnown {
		t.Errorf("a shard remembers %d keys; want %d", n, maxKnown)
	}
	// What had to make room is found again.
	crowd.keep([32]byte{7, 1, 0}, known{key: Key{ID: "key_a"}})
	if got := crowd.known([32]byte{7, 1, 0}); got == nil || got.key.ID != "key_a" {
		t.Errorf("the newest key is not remembered: %+v", got)
	}
	before := len(k.shards[0].keys)
	for range 500 {
		checks(t, k, NewKey(rand.Reader), ErrInvalidKey)
	}
	if after := len(k.shards[0].keys); after != before {
		t.Errorf("keys that do not exist take room: %d became %d", before, after)
	}
}

func TestCheckingAKnownKeyAllocatesNothing(t *testing.T) {
	if raceDetector {
		return // it allocates by itself; the test runs without it too
	}
	d := newDrawer()
	now := noon
	k := NewKeyring(d.lookup, func() time.Time { now = now.Add(time.Minute); return now }) // each use is noted
	token := d.put("", Key{ExpiresAt: noon.AddDate(1, 0, 0)})
	checks(t, k, token, nil)
	ctx := t.Context()
	if n := testing.AllocsPerRun(1000, func() {
		if _, err := k.Check(ctx, token); err != nil {
			t.Error(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// The cost of a known key on a request's path. Run it with -cpu 1,8.
func BenchmarkCheck(b *testing.B) {
	for _, keys := range []int{1, 1024} {
		b.Run(fmt.Sprintf("%d keys", keys), func(b *testing.B) {
			d := newDrawer()
			k := NewKeyring(d.lookup, time.Now)
			tokens := make([]string, keys)
			for i := range tokens {
				tokens[i] = d.put("", Key{})
			}
			ctx := b.Context()
			var worker atomic.Int64
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for i := int(worker.Add(101)); pb.Next(); i++ {
					if _, err := k.Check(ctx, tokens[i%keys]); err != nil {
						b.Error(err)
					}
				}
			})
		})
	}
}

func TestAKnownKeyIsNotHeldUpByAStoreThatFailedAMomentAgo(t *testing.T) {
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
		token, other := d.put("", Key{}), d.put("", Key{})
		checks(t, k, token, nil)
		checks(t, k, other, nil)
		k.Forget()
		stuck.Store(true)
		waits := func(token string, want time.Duration, reason error) {
			t.Helper()
			begin := time.Now()
			checks(t, k, token, reason)
			if took := time.Since(begin); took != want {
				t.Errorf("a request waited for %s; want %s", took, want)
			}
		}
		waits(NewKey(rand.Reader), lookupTimeout, context.DeadlineExceeded) // says nothing of the others
		waits(token, lookupTimeout, nil)
		waits(token, 0, nil)
		waits(other, 0, nil)
		d.put(token, Key{RevokedAt: time.Now()})
		stuck.Store(false)
		<-time.After(failurePause)
		waits(token, 0, ErrRevokedKey)
	})
}
