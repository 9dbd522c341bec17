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

// A database on a long way answers the watch, and is too slow for requests.
func TestARevocationHoldsWithinSecondsThoughRequestsCannotLookKeysUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var revision atomic.Int64
		var revoked, slow atomic.Bool
		after := func(ctx context.Context, way time.Duration) error {
			if !slow.Load() {
				return nil
			}
			select {
			case <-time.After(way):
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
		noting := make(chan struct{})
		w := watching(t, ring)
		w.State = func(ctx context.Context) (int64, int64, error) {
			return 0, revision.Load(), after(ctx, 600*time.Millisecond)
		}
		w.NoteUse = func(ctx context.Context, _ []account.KeyUse) error { // which must not hold up the rest
			select {
			case <-noting:
			case <-ctx.Done():
			}
			return nil
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- w.Run(ctx) }()

		token := account.NewKey(rand.Reader)
		if _, err := ring.Check(t.Context(), token); err != nil {
			t.Fatal(err)
		}
		<-time.After(noteEvery) // the first note is under way, and hangs
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
			t.Errorf("after %s: %v; want that it is revoked within 5 s", took, err)
		}
		if w.Away() {
			t.Error("a store that answers was taken for one that is away")
		}
		close(noting)
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func TestANoteThatHangsHoldsUpNeitherTheWatchNorTheNextNoteForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ring := keyring.New(keyringtest.Store{
			Find: func(context.Context, [32]byte) (account.Key, error) { return account.Key{ID: "key_a"}, nil },
		}, time.Now)
		var asked, notes, most atomic.Int64
		w := watching(t, ring)
		w.State = func(context.Context) (int64, int64, error) { asked.Add(1); return 0, 0, nil }
		w.NoteUse = func(ctx context.Context, _ []account.KeyUse) error {
			begin := time.Now()
			notes.Add(1)
			<-ctx.Done()
			most.Store(max(most.Load(), int64(time.Since(begin))))
			return ctx.Err()
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- w.Run(ctx) }()
		token := account.NewKey(rand.Reader)
		<-time.After(time.Second) // apart from the ticks
		for range 2 {
			if _, err := ring.Check(t.Context(), token); err != nil {
				t.Fatal(err)
			}
			<-time.After(noteEvery)
		}
		synctest.Wait()
		before := asked.Load()
		<-time.After(time.Second)
		if n := asked.Load() - before; n < 3 {
			t.Errorf("while a note hangs the store is asked %d times a second; want 4", n)
		}
		stop()
		<-ended // that the last note failed
		if notes.Load() < 2 || time.Duration(most.Load()) > noteTimeout {
			t.Errorf("%d notes, the longest %s", notes.Load(), time.Duration(most.Load()))
		}
	})
}

func watching(t *testing.T, ring *keyring.Keyring) *Watch {
	t.Helper()
	live, err := snapshot.NewLive(t.Context(), func(context.Context) (*snapshot.Snapshot, error) {
		return snapshot.Empty("Essai", "https://essai.example"), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return &Watch{Interval: 250 * time.Millisecond, Live: live, Keys: ring, Log: slog.New(slog.DiscardHandler)}
}
