package accountdb

import (
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"palmares/internal/account"
	"palmares/internal/keyring"
	"palmares/internal/sqldb"
	"palmares/internal/testkit"
)

func TestARotatedKeyWorksForADayBesideItsSuccessor(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		a := create(t, s, "ada@example.org", account.Pro)
		oldText, old := createKey(t, s, "ada@example.org", "import")
		var text string
		var next account.Key
		if !raised(t, s, func() { text, next = rotate(t, s, old.ID, day(1)) }) {
			t.Error("no node would hear of it")
		}
		want := account.Key{
			ID: next.ID, AccountID: a.ID, Plan: account.Pro, Name: "import",
			Prefix: text[:8], Suffix: text[38:], CreatedAt: day(1),
		}
		if got, err := s.Keys.ByHash(t.Context(), account.HashKey(text)); err != nil || got != want || next != want || text == oldText || !account.CheckKey(text) {
			t.Errorf("the successor is %+v, %v; want %+v", got, err, want)
		}
		old.ExpiresAt = day(2)
		if got, err := s.Keys.ByHash(t.Context(), account.HashKey(oldText)); err != nil || got != old {
			t.Errorf("the old key is %+v, %v; want %+v", got, err, old)
		}

		now := day(2).Add(-time.Millisecond)
		ring := keyring.New(s.Keys, func() time.Time { return now })
		for _, key := range []string{oldText, text} {
			if _, err := ring.Check(t.Context(), key, netip.Prefix{}); err != nil {
				t.Errorf("during the overlap: %v", err)
			}
		}
		now = day(2)
		if _, err := ring.Check(t.Context(), oldText, netip.Prefix{}); !errors.Is(err, account.ErrExpiredKey) {
			t.Errorf("after the overlap: %v", err)
		}
		if _, err := ring.Check(t.Context(), text, netip.Prefix{}); err != nil {
			t.Errorf("the successor: %v", err)
		}
	})
}

func TestAKeyThatHasEndedIsNotRotated(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		create(t, s, "ada@example.org", account.Developer)
		_, revoked := createKey(t, s, "ada@example.org", "1")
		if err := s.Keys.Revoke(t.Context(), account.AnyOwner(), revoked.ID, day(1)); err != nil {
			t.Fatal(err)
		}
		_, rotated := createKey(t, s, "ada@example.org", "2")
		rotate(t, s, rotated.ID, day(1))
		before := dump(t, s)
		for _, test := range []struct {
			id   string
			at   time.Time
			kind error
			says []string
		}{
			{revoked.ID, day(2), ErrKeyEnded, []string{revoked.ID, "revoked on 2026-11-17"}},
			{rotated.ID, day(1), ErrKeyEnded, []string{rotated.ID, "works until 2026-11-18T09:30:00.250Z", "successor"}},
			{rotated.ID, day(2), ErrKeyEnded, []string{rotated.ID, "expired on 2026-11-18"}},
			{"key_nothing", day(2), ErrNoKey, []string{"key_nothing"}},
		} {
			text, k, err := s.Keys.Rotate(t.Context(), account.AnyOwner(), test.id, test.at)
			testkit.Fails(t, err, test.kind, test.says...)
			if text != "" || k != (account.Key{}) {
				t.Errorf("a key was given with the error: %+v", k)
			}
		}
		if after := dump(t, s); after != before {
			t.Error("what was refused changed something")
		}
	})
}

func TestOfFiftyRotationsOfOneKeyOneIsMade(t *testing.T) {
	databases.EachDSN(t, func(t *testing.T, dsn string) {
		nodes := []*kit{open(t, dsn), open(t, dsn)}
		create(t, nodes[0], "ada@example.org", account.Developer)
		_, k := createKey(t, nodes[0], "ada@example.org", "1")
		var made atomic.Int64
		var all sync.WaitGroup
		for i := range 50 {
			all.Go(func() {
				_, _, err := nodes[i%2].Keys.Rotate(t.Context(), account.AnyOwner(), k.ID, monday)
				if err == nil {
					made.Add(1)
				} else if !errors.Is(err, ErrKeyEnded) {
					t.Error(err)
				}
			})
		}
		all.Wait()
		keys, err := nodes[0].Keys.List(t.Context(), "ada@example.org")
		if err != nil || len(keys) != 2 || made.Load() != 1 {
			t.Errorf("%d rotations were made, there are %d keys, %v; want 1 and 2", made.Load(), len(keys), err)
		}
	})
}

// Keys are created and rotated at once by two nodes: there are never more live keys than
// the plan allows, and old keys, in their overlap, do not count.
func TestConcurrentRotationsAndCreationsStayWithinThePlan(t *testing.T) {
	databases.EachDSN(t, func(t *testing.T, dsn string) {
		nodes := []*kit{open(t, dsn), open(t, dsn)}
		for plan, want := range map[account.Plan]int{account.Developer: 3, account.Pro: 10} {
			email := string(plan) + "@example.org"
			create(t, nodes[0], email, plan)
			_, first := createKey(t, nodes[0], email, "0")
			_, second := createKey(t, nodes[0], email, "1")
			var made atomic.Int64
			var all sync.WaitGroup
			for _, k := range []account.Key{first, second} {
				all.Go(func() {
					if _, _, err := nodes[1].Keys.Rotate(t.Context(), account.AnyOwner(), k.ID, monday); err != nil {
						t.Error(err)
					}
				})
			}
			for i := range 50 {
				all.Go(func() {
					_, _, err := nodes[i%2].Keys.Create(t.Context(), email, fmt.Sprint("clé ", i), nil, monday)
					if err == nil {
						made.Add(1)
					} else if !errors.Is(err, ErrKeyLimit) {
						t.Error(err)
					}
				})
			}
			all.Wait()
			keys, err := nodes[0].Keys.List(t.Context(), email)
			if err != nil || len(keys) != want+2 || made.Load() != int64(want-2) {
				t.Errorf("%s: %d keys, %d of them made meanwhile, %v; want %d live and 2 in their overlap", plan, len(keys), made.Load(), err, want)
			}
		}
	})
}

func TestAKeyIsRenamed(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		create(t, s, "ada@example.org", account.Developer)
		text, k := createKey(t, s, "ada@example.org", "1")
		_, other := createKey(t, s, "ada@example.org", "2")
		if !raised(t, s, func() {
			if err := s.Keys.Rename(t.Context(), account.AnyOwner(), k.ID, " production "); err != nil {
				t.Fatal(err)
			}
		}) {
			t.Error("no node would hear of it")
		}
		k.Name = "production"
		if got, err := s.Keys.ByHash(t.Context(), account.HashKey(text)); err != nil || got != k {
			t.Errorf("the key is %+v, %v; want %+v", got, err, k)
		}
		if keys, err := s.Keys.List(t.Context(), "ada@example.org"); err != nil || len(keys) != 2 || keys[0] != other && keys[1] != other {
			t.Errorf("Keys = %+v, %v; the other key was to stay", keys, err)
		}
		testkit.Fails(t, s.Keys.Rename(t.Context(), account.AnyOwner(), k.ID, " "), sqldb.ErrInvalid, "name")
		testkit.Fails(t, s.Keys.Rename(t.Context(), account.AnyOwner(), "key_nothing", "a"), ErrNoKey, "key_nothing")
	})
}
