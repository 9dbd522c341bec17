package server

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"palmares/internal/account"
	"palmares/internal/keyring"
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

// A watched server is a keyring and a catalogue that a running Watch keeps up to date.
type watched struct {
	t     *testing.T
	live  *snapshot.Live
	ring  *keyring.Keyring
	token string // a key that exists
	log   testkit.Log
	watch *Watch
	stop  func() // ends the watch and waits for it

	// Of the store.
	version, keys                  atomic.Int64
	down, broken                   atomic.Bool // broken: only the catalogue cannot be loaded
	loads, lookups, groups, stored atomic.Int64
	served                         atomic.Int64 // the version when Served was called
}

func (s *watched) unreachable() error {
	if s.down.Load() {
		return errors.New("unreachable")
	}
	return nil
}

func (s *watched) ByHash(context.Context, [32]byte) (account.Key, error) {
	s.lookups.Add(1)
	return account.Key{}, nil
}

func (s *watched) ByHashes(_ context.Context, hashes [][32]byte) (map[[32]byte]account.Key, error) {
	s.groups.Add(1)
	found := map[[32]byte]account.Key{}
	for _, h := range hashes {
		found[h] = account.Key{}
	}
	return found, s.unreachable()
}

func (s *watched) State(context.Context) (catalogue, keys int64, err error) {
	return s.version.Load(), s.keys.Load(), s.unreachable()
}

func (s *watched) MarkUsed(_ context.Context, used []account.KeyUse) error {
	s.stored.Add(int64(len(used)))
	return nil
}

// watch starts a watch over version 1.
func watch(t *testing.T) *watched {
	t.Helper()
	s := &watched{t: t, token: account.NewKey(strings.NewReader(strings.Repeat("palmares", 100)))}
	s.version.Store(1)
	s.ring = keyring.New(s, time.Now)
	var err error
	s.live, err = snapshot.NewLive(t.Context(), func(context.Context, *snapshot.Snapshot) (*snapshot.Snapshot, error) {
		s.loads.Add(1)
		snap := snapshot.Empty("Essai", "https://essai.example")
		snap.Version = s.version.Load()
		if s.broken.Load() {
			return nil, errors.New("a row is damaged")
		}
		return snap, s.unreachable()
	})
	if err != nil {
		t.Fatal(err)
	}
	w := NewWatch(WatchConfig{
		State: s, Uses: s, Interval: 250 * time.Millisecond, Live: s.live, Keys: s.ring, Log: slog.New(slog.NewTextHandler(&s.log, nil)),
		Served: func() { s.served.Store(s.live.Snapshot().Version) },
	})
	s.watch = w
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- w.Run(ctx) }()
	s.stop = func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	return s
}

// poll lets the watch ask the store at least once more.
func (s *watched) poll() {
	<-time.After(300 * time.Millisecond)
	synctest.Wait()
}

// check uses the key.
func (s *watched) check() {
	s.t.Helper()
	if _, err := s.ring.Check(s.t.Context(), s.token, netip.Prefix{}); err != nil {
		s.t.Error(err)
	}
}

func TestTheWatchServesNewVersionsAndRefreshesKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := watch(t)
		defer s.stop()
		for range 2 {
			s.poll()
			s.check()
		}
		if s.loads.Load() != 1 || s.groups.Load() != 1 {
			t.Errorf("nothing changed: %d loads, %d lookups", s.loads.Load(), s.groups.Load())
		}
		s.version.Store(2)
		s.poll()
		if s.live.Snapshot().Version != 2 || s.loads.Load() != 2 || s.served.Load() != 2 {
			t.Errorf("version %d after %d loads, and Served for %d", s.live.Snapshot().Version, s.loads.Load(), s.served.Load())
		}
		s.keys.Store(2)
		s.poll()
		s.check()
		if s.lookups.Load() != 0 || s.groups.Load() != 2 {
			t.Errorf("after the keys changed: %d lookups, %d refreshes; want the keys in use refreshed, and no request to wait for it", s.lookups.Load(), s.groups.Load()-1)
		}
	})
}

func TestWhileTheStoreIsUnreachableMemoryIsServedAndKeysAreTrustedFor15Minutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := watch(t)
		defer s.stop()
		s.poll()
		s.check()
		s.down.Store(true)
		s.version.Store(2)
		s.poll()
		s.poll()
		if s.live.Snapshot().Version != 1 || s.log.Count("does not respond") != 1 {
			t.Errorf("while the store is unreachable: version %d, log %s", s.live.Snapshot().Version, s.log.String())
		}
		known := s.lookups.Load()
		s.check()
		if s.lookups.Load() != known {
			t.Error("a key is looked up although the store is unreachable")
		}
		<-time.After(16 * time.Minute)
		synctest.Wait()
		s.check()
		if s.lookups.Load() == known {
			t.Error("a key is trusted after 15 minutes without the store")
		}
		s.down.Store(false)
		s.poll()
		if s.live.Snapshot().Version != 2 || !s.log.Contains("responds again") {
			t.Errorf("after it came back: version %d, log %s", s.live.Snapshot().Version, s.log.String())
		}
	})
}

func TestACatalogueThatCannotBeLoadedIsNotALostDatabase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := watch(t)
		defer s.stop()
		s.poll()
		s.broken.Store(true)
		s.version.Store(2)
		before := s.loads.Load()
		<-time.After(5 * time.Minute)
		synctest.Wait()
		if s.watch.Outage() != nil || s.log.Contains("does not respond") {
			t.Errorf("the database is said to be unreachable: %s", s.log.String())
		}
		if !s.watch.Behind() || s.log.Count("could not be loaded") != 1 || !s.log.Contains("a row is damaged") {
			t.Errorf("behind: %v; logged %s", s.watch.Behind(), s.log.String())
		}
		if n := s.loads.Load() - before; n < 10 || n > 20 {
			t.Errorf("%d attempts to load the catalogue in five minutes", n)
		}
		s.broken.Store(false)
		<-time.After(maxLoadDelay + time.Second)
		synctest.Wait()
		if s.watch.Behind() || s.live.Snapshot().Version != 2 {
			t.Errorf("after it was repaired version %d is served, behind: %v", s.live.Snapshot().Version, s.watch.Behind())
		}
	})
}

func TestADatabaseThatRefusesIsNotSaidToBeSilent(t *testing.T) {
	if got := outage(refusal{}); !strings.Contains(got, "refuses") {
		t.Error(got)
	}
	if got := outage(errors.New("timeout")); !strings.Contains(got, "does not respond") {
		t.Error(got)
	}
}

// A refusal is an error that waiting does not cure.
type refusal struct{}

func (refusal) Error() string   { return "wrong password" }
func (refusal) Permanent() bool { return true }

func TestTheLastUseOfKeysIsStoredEveryMinuteAndAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := watch(t)
		s.check()
		<-time.After(useInterval + time.Second)
		synctest.Wait()
		before := s.stored.Load()
		if before == 0 {
			t.Error("after a minute no use of a key is stored")
		}
		s.check()
		s.stop()
		if s.stored.Load() != before+1 {
			t.Errorf("at the stop the use of %d keys is stored", s.stored.Load()-before)
		}
	})
}
