package keyring

import (
	"context"
	"crypto/rand"
	"errors"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"palmares/internal/account"
)

// network returns the n-th of many networks.
func network(n int) netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(n >> 16), byte(n >> 8), byte(n)}), 32)
}

// checkFrom checks a key for a caller who waits as long as a request does.
func checkFrom(t *testing.T, k *Keyring, token string, from netip.Prefix) error {
	ctx, cancel := context.WithTimeout(t.Context(), lookupTimeout)
	defer cancel()
	_, err := k.Check(ctx, token, from)
	return err
}

// A node that was just started knows no key. Its customers come while others make up
// 10,000 keys a second, and each query takes 10 ms.
func TestCustomersAreFoundWhileOthersMakeUpKeys(t *testing.T) {
	for name, networks := range map[string]int{"from one network": 1, "from many networks": 1000} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := newFakeStore()
				store.during = func() { time.Sleep(10 * time.Millisecond) }
				k := New(store, time.Now)
				var all sync.WaitGroup
				for i := range 10_000 { // for a second
					time.Sleep(100 * time.Microsecond)
					all.Go(func() {
						err := checkFrom(t, k, account.NewKey(rand.Reader), network(i%networks))
						if !errors.Is(err, account.ErrInvalidKey) && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, ErrTooManyLookups) {
							t.Error(err)
						}
					})
					if i%50 != 0 {
						continue
					}
					customer := store.put("", account.Key{})
					all.Go(func() {
						if err := checkFrom(t, k, customer, network(2000+i)); err != nil {
							t.Errorf("a customer after %d made-up keys: %v", i, err)
						}
					})
				}
				all.Wait()
				if n := store.lookups(); n > 300 {
					t.Errorf("%d queries", n)
				}
			})
		})
	}
}

func TestMadeUpKeysOccupyFewLookupsAndKeepNoCustomerOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newFakeStore()
		k := New(store, atNoon)
		customer := store.put("", account.Key{})
		checks(t, k, customer, nil)
		k.Invalidate()

		release := make(chan struct{})
		store.during = func() { <-release }
		const madeUp = maxWaitingPerNetwork + 500
		var tooMany, invalid atomic.Int64
		var all sync.WaitGroup
		flood := func(n int, from netip.Prefix) {
			for range n {
				all.Go(func() {
					switch _, err := k.Check(t.Context(), account.NewKey(rand.Reader), from); {
					case errors.Is(err, ErrTooManyLookups):
						tooMany.Add(1)
					case errors.Is(err, account.ErrInvalidKey):
						invalid.Add(1)
					default:
						t.Error(err)
					}
				})
			}
			synctest.Wait()
		}
		flood(1, network(1))
		flood(1, network(1))
		flood(madeUp, network(1))
		if n := store.lookups() - 1; n != maxLookups || tooMany.Load() != madeUp-maxWaitingPerNetwork {
			t.Errorf("%d lookups run and %d were refused; want %d and %d", n, tooMany.Load(), maxLookups, madeUp-maxWaitingPerNetwork)
		}
		flood(1, network(2))
		if tooMany.Load() != madeUp-maxWaitingPerNetwork {
			t.Error("a key of another network was refused")
		}
		store.mu.Lock()
		store.during = nil
		store.mu.Unlock()
		checks(t, k, customer, nil) // while made-up keys wait for each other
		close(release)
		all.Wait()
		if invalid.Load() != maxWaitingPerNetwork+3 {
			t.Errorf("%d made-up keys were looked up; want %d", invalid.Load(), maxWaitingPerNetwork+3)
		}
		if k.unseen.waiting != 0 || len(k.unseen.lines) != 0 || len(k.unseen.byHash) != 0 || k.unseen.turns.Len() != 0 {
			t.Errorf("left behind: %+v", &k.unseen)
		}
	})
}

func TestManyRequestsWithOneUnseenKeyAreOneLookup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newFakeStore()
		customer := store.put("", account.Key{})
		var asked atomic.Int64
		store.findAll = func(ctx context.Context, hashes [][32]byte) (map[[32]byte]account.Key, error) {
			asked.Add(int64(len(hashes)))
			time.Sleep(10 * time.Millisecond)
			return store.find(ctx, hashes)
		}
		k := New(store, time.Now)
		var all sync.WaitGroup
		for range 1000 {
			all.Go(func() {
				if err := checkFrom(t, k, customer, network(1)); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if asked.Load() > maxLookups+1 {
			t.Errorf("one key was looked up %d times", asked.Load())
		}
	})
}

func TestAQueryEndsWhenNobodyWaitsForItAnyMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newFakeStore()
		store.hang(true)
		k := New(store, time.Now)
		for range 3 {
			if err := checkFrom(t, k, account.NewKey(rand.Reader), network(1)); !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
		}
		synctest.Wait()
		if k.unseen.running != 0 {
			t.Errorf("%d queries run for nobody", k.unseen.running)
		}
		store.hang(false)
		checks(t, k, store.put("", account.Key{}), nil)
	})
}
