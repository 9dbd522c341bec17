package server

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"palmares/internal/account"
	"palmares/internal/keyring"
	"palmares/internal/keyring/keyringtest"
	"palmares/internal/snapshot"
	"palmares/internal/testkit"
)

// fakeStore is a StateStore and a KeyUseStore of functions.
type fakeStore struct {
	state    func(context.Context) (int64, int64, error)
	markUsed func(context.Context, []account.KeyUse) error
}

func (s fakeStore) State(ctx context.Context) (catalogue, keys int64, err error) { return s.state(ctx) }

func (s fakeStore) MarkUsed(ctx context.Context, used []account.KeyUse) error {
	return s.markUsed(ctx, used)
}

func TestTheWatchServesNewVersionsAndRefreshesKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var version, keys, loads, lookups, refreshes, stored atomic.Int64
		var gone atomic.Bool
		var served atomic.Int64 // the version when Served was called
		version.Store(1)
		unreachable := func() error {
			if gone.Load() {
				return errors.New("unreachable")
			}
			return nil
		}
		live, err := snapshot.NewLive(t.Context(), func(context.Context) (*snapshot.Snapshot, error) {
			loads.Add(1)
			s := snapshot.Empty("Essai", "https://essai.example")
			s.Version = version.Load()
			return s, unreachable()
		})
		if err != nil {
			t.Fatal(err)
		}
		ring := keyring.New(keyringtest.Store{
			Find: func(context.Context, [32]byte) (account.Key, error) {
				lookups.Add(1)
				return account.Key{}, nil
			},
			FindAll: func(_ context.Context, hashes [][32]byte) (map[[32]byte]account.Key, error) {
				refreshes.Add(1)
				found := map[[32]byte]account.Key{}
				for _, h := range hashes {
					found[h] = account.Key{}
				}
				return found, unreachable()
			},
		}, time.Now)
		var out testkit.Log
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		store := fakeStore{
			state: func(context.Context) (int64, int64, error) { return version.Load(), keys.Load(), unreachable() },
			markUsed: func(_ context.Context, used []account.KeyUse) error {
				stored.Add(int64(len(used)))
				return nil
			},
		}
		w := NewWatch(WatchConfig{
			State: store, Uses: store, Interval: 250 * time.Millisecond, Live: live, Keys: ring, Log: slog.New(slog.NewTextHandler(&out, nil)),
			Served: func() { served.Store(live.Snapshot().Version) },
		})
		go func() {
			defer close(done)
			if err := w.Run(ctx); err != nil {
				t.Error(err)
			}
		}()
		// after lets the watch look at least once more.
		after := func() { <-time.After(300 * time.Millisecond); synctest.Wait() }
		key := account.NewKey(strings.NewReader(strings.Repeat("palmares", 100)))
		check := func() {
			if _, err := ring.Check(t.Context(), key); err != nil {
				t.Error(err)
			}
		}

		after()
		check()
		after()
		check()
		if loads.Load() != 1 || lookups.Load() != 1 {
			t.Errorf("nothing changed: %d loads, %d lookups", loads.Load(), lookups.Load())
		}
		version.Store(2)
		after()
		if live.Snapshot().Version != 2 || loads.Load() != 2 || served.Load() != 2 {
			t.Errorf("version %d after %d loads, and Served for %d", live.Snapshot().Version, loads.Load(), served.Load())
		}
		keys.Store(2)
		after()
		check()
		if lookups.Load() != 1 || refreshes.Load() != 1 {
			t.Errorf("after the keys changed: %d lookups, %d refreshes; want the keys in use refreshed, and no request to wait for it", lookups.Load(), refreshes.Load())
		}
		gone.Store(true)
		version.Store(3)
		after()
		after()
		if live.Snapshot().Version != 2 || strings.Count(out.String(), "does not answer") != 1 {
			t.Errorf("while the store is unreachable: version %d, log %s", live.Snapshot().Version, out.String())
		}
		known := lookups.Load()
		check()
		if lookups.Load() != known {
			t.Error("a key is looked up although the store is unreachable")
		}
		<-time.After(16 * time.Minute)
		synctest.Wait()
		check()
		if lookups.Load() == known {
			t.Error("a key is trusted after 15 minutes without the store")
		}
		gone.Store(false)
		after()
		if live.Snapshot().Version != 3 || !strings.Contains(out.String(), "answers again") {
			t.Errorf("after it came back: version %d, log %s", live.Snapshot().Version, out.String())
		}
		<-time.After(time.Minute)
		synctest.Wait()
		before := stored.Load()
		if before == 0 {
			t.Error("after a minute no use of a key is stored")
		}
		check()
		stop()
		<-done
		if stored.Load() != before+1 {
			t.Errorf("at the stop the use of %d keys is stored", stored.Load()-before)
		}
	})
}
