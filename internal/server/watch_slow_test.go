package server

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"net/netip"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"palmares/internal/account"
	"palmares/internal/keyring"
	"palmares/internal/snapshot"
	"palmares/internal/testkit/keyringtest"
)

// A slowStore has one key, and can become too slow for requests.
type slowStore struct {
	revision      atomic.Int64
	revoked, slow atomic.Bool
	marking       chan struct{} // MarkUsed hangs until it is closed
}

func (s *slowStore) delay(ctx context.Context) error {
	if !s.slow.Load() {
		return nil
	}
	select {
	case <-time.After(600 * time.Millisecond):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *slowStore) ByHash(ctx context.Context, _ [32]byte) (account.Key, error) {
	key := account.Key{ID: "key_a"}
	if s.revoked.Load() {
		key.RevokedAt = time.Now()
	}
	return key, s.delay(ctx)
}

func (s *slowStore) ByHashes(ctx context.Context, hashes [][32]byte) (map[[32]byte]account.Key, error) {
	found := map[[32]byte]account.Key{}
	key, err := s.ByHash(ctx, [32]byte{})
	for _, h := range hashes {
		found[h] = key
	}
	return found, err
}

func (s *slowStore) State(ctx context.Context) (catalogue, keys int64, err error) {
	return 0, s.revision.Load(), s.delay(ctx)
}

func (s *slowStore) MarkUsed(ctx context.Context, _ []account.KeyUse) error {
	select {
	case <-s.marking:
	case <-ctx.Done():
	}
	return nil
}

// A distant database answers the watch, and is too slow for requests.
func TestARevocationTakesEffectWithinSecondsThoughRequestsCannotLookKeysUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &slowStore{marking: make(chan struct{})}
		ring := keyring.New(store, time.Now)
		w := newWatch(t, ring, store)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- w.Run(ctx) }()

		token := account.NewKey(rand.Reader)
		check := func() error {
			_, err := ring.Check(t.Context(), token, netip.Prefix{})
			return err
		}
		if err := check(); err != nil {
			t.Fatal(err)
		}
		<-time.After(useInterval) // the first MarkUsed is running, and hangs
		store.slow.Store(true)
		store.revoked.Store(true)
		store.revision.Add(1)
		begin := time.Now()
		var err error
		for err == nil {
			<-time.After(10 * time.Millisecond)
			err = check()
		}
		if took := time.Since(begin); !errors.Is(err, account.ErrRevokedKey) || took > 5*time.Second {
			t.Errorf("after %s: %v; want it revoked within 5 s", took, err)
		}
		if w.Outage() != nil {
			t.Error("a store that answers was taken for unreachable")
		}
		close(store.marking)
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
			if _, err := ring.Check(t.Context(), token, netip.Prefix{}); err != nil {
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

// watchStore is everything that a watch asks of the store.
type watchStore interface {
	StateStore
	KeyUseStore
}

func newWatch(t *testing.T, ring *keyring.Keyring, store watchStore) *Watch {
	t.Helper()
	live, err := snapshot.NewLive(t.Context(), func(context.Context, *snapshot.Snapshot) (*snapshot.Snapshot, error) {
		return snapshot.Empty("Essai", "https://essai.example"), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return NewWatch(WatchConfig{
		State: store, Uses: store, Interval: 250 * time.Millisecond, Live: live, Keys: ring, Log: slog.New(slog.DiscardHandler),
	})
}
