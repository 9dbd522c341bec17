package server

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"palmares/internal/account"
	"palmares/internal/keyring"
	"palmares/internal/keyring/keyringtest"
	"palmares/internal/snapshot"
)

// A distant database answers the watch, and is too slow for requests.
func TestARevocationTakesEffectWithinSecondsThoughRequestsCannotLookKeysUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var revision atomic.Int64
		var revoked, slow atomic.Bool
		after := func(ctx context.Context, delay time.Duration) error {
			if !slow.Load() {
				return nil
			}
			select {
			case <-time.After(delay):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		key := func() account.Key {
			if revoked.Load() {
				return account.Key{ID: "key_a", RevokedAt: time.Now()}
			}
			return account.Key{ID: "key_a"}
		}
		ring := keyring.New(keyringtest.Store{
			Find: func(ctx context.Context, _ [32]byte) (account.Key, error) {
				return key(), after(ctx, 600*time.Millisecond)
			},
			FindAll: func(ctx context.Context, hashes [][32]byte) (map[[32]byte]account.Key, error) {
				found := map[[32]byte]account.Key{}
				for _, h := range hashes {
					found[h] = key()
				}
				return found, after(ctx, 600*time.Millisecond)
			},
		}, time.Now)
		marking := make(chan struct{})
		w := newWatch(t, ring, fakeStore{
			state: func(ctx context.Context) (int64, int64, error) {
				return 0, revision.Load(), after(ctx, 600*time.Millisecond)
			},
			markUsed: func(ctx context.Context, _ []account.KeyUse) error { // which must not delay the rest
				select {
				case <-marking:
				case <-ctx.Done():
				}
				return nil
			},
		})
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- w.Run(ctx) }()

		token := account.NewKey(rand.Reader)
		if _, err := ring.Check(t.Context(), token); err != nil {
			t.Fatal(err)
		}
		<-time.After(useInterval) // the first MarkUsed is running, and hangs
		slow.Store(true)
		revoked.Store(true)
		revision.Add(1)
		begin := time.Now()
		var err error
		for err == nil {
			<-time.After(10 * time.Millisecond)
			_, err = ring.Check(t.Context(), token)
		}
		if took := time.Since(begin); !errors.Is(err, account.ErrRevokedKey) || took > 5*time.Second {
			t.Errorf("after %s: %v; want it revoked within 5 s", took, err)
		}
		if w.Unreachable() {
			t.Error("a store that answers was taken for unreachable")
		}
		close(marking)
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func TestAMarkUsedThatHangsDelaysNeitherTheWatchNorTheNextOneForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ring := keyring.New(keyringtest.Store{
			Find: func(context.Context, [32]byte) (account.Key, error) { return account.Key{ID: "key_a"}, nil },
		}, time.Now)
		var asked, marks, longest atomic.Int64
		w := newWatch(t, ring, fakeStore{
			state: func(context.Context) (int64, int64, error) { asked.Add(1); return 0, 0, nil },
			markUsed: func(ctx context.Context, _ []account.KeyUse) error {
				start := time.Now()
				marks.Add(1)
				<-ctx.Done()
				longest.Store(max(longest.Load(), int64(time.Since(start))))
				return ctx.Err()
			},
		})
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- w.Run(ctx) }()
		token := account.NewKey(rand.Reader)
		<-time.After(time.Second) // apart from the ticks
		for range 2 {
			if _, err := ring.Check(t.Context(), token); err != nil {
				t.Fatal(err)
			}
			<-time.After(useInterval)
		}
		synctest.Wait()
		before := asked.Load()
		<-time.After(time.Second)
		if n := asked.Load() - before; n < 3 {
			t.Errorf("while MarkUsed hangs the store is asked %d times a second; want 4", n)
		}
		stop()
		<-ended // with the error of the last MarkUsed
		if marks.Load() < 2 || time.Duration(longest.Load()) > useTimeout {
			t.Errorf("%d calls, the longest %s", marks.Load(), time.Duration(longest.Load()))
		}
	})
}

func newWatch(t *testing.T, ring *keyring.Keyring, store fakeStore) *Watch {
	t.Helper()
	live, err := snapshot.NewLive(t.Context(), func(context.Context) (*snapshot.Snapshot, error) {
		return snapshot.Empty("Essai", "https://essai.example"), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return NewWatch(WatchConfig{
		State: store, Uses: store, Interval: 250 * time.Millisecond, Live: live, Keys: ring, Log: slog.New(slog.DiscardHandler),
	})
}
