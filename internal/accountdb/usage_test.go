package accountdb

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"palmares/internal/account"
	"palmares/internal/catalogdb"
	"palmares/internal/pseudonym"
	"palmares/internal/quota"
	"palmares/internal/sqldb"
	"palmares/internal/testkit"
)

func save(t testing.TB, s *kit, day string, u quota.Usage) {
	t.Helper()
	if err := s.Usage.Save(t.Context(), day, u); err != nil {
		t.Fatal(err)
	}
}

// saved checks what is stored of a day, in any order.
func saved(t testing.TB, s *kit, day string, want quota.Usage) {
	t.Helper()
	got, err := s.Usage.Load(t.Context(), day)
	if err != nil {
		t.Fatal(err)
	}
	want, got = sorted(want), sorted(got)
	if !slices.Equal(want.Accounts, got.Accounts) || !slices.Equal(want.Networks, got.Networks) {
		t.Errorf("%s (-want +got):\n%s", day, cmp.Diff(want, got))
	}
}

func sorted(u quota.Usage) quota.Usage {
	u.Accounts, u.Networks = slices.Clone(u.Accounts), slices.Clone(u.Networks)
	slices.SortFunc(u.Accounts, func(a, b quota.AccountCount) int { return strings.Compare(a.Account, b.Account) })
	slices.SortFunc(u.Networks, func(a, b quota.NetworkCount) int { return bytes.Compare(a.Network[:], b.Network[:]) })
	return u
}

func prune(t testing.TB, s *kit, networks, accounts string) {
	t.Helper()
	if err := s.Usage.Prune(t.Context(), networks, accounts); err != nil {
		t.Fatal(err)
	}
}

func nthNetwork(n int) (p quota.Pseudonym) {
	binary.BigEndian.PutUint64(p[:], uint64(n)*0x9e3779b97f4a7c15) // in random order
	p[15] = byte(n)
	return p
}

func TestUsageAddsUpByDay(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		ada, bob := create(t, s, "ada@example.org", account.Pro), create(t, s, "bob@example.org", account.Developer)
		if raised(t, s, func() {
			save(t, s, "2026-11-16", quota.Usage{
				Accounts: []quota.AccountCount{{Account: bob.ID, Requests: 1000}, {Account: ada.ID, Requests: 2}},
				Networks: []quota.NetworkCount{{Network: nthNetwork(2), Requests: 100}, {Network: nthNetwork(1), Requests: 1}},
			})
			save(t, s, "2026-11-16", quota.Usage{
				Accounts: []quota.AccountCount{{Account: ada.ID, Requests: 1 << 32}},
				Networks: []quota.NetworkCount{{Network: nthNetwork(1), Requests: 41}, {Network: nthNetwork(3), Requests: 7}},
			})
			save(t, s, "2026-11-17", quota.Usage{Accounts: []quota.AccountCount{{Account: ada.ID, Requests: 5}}})
			save(t, s, "2026-11-18", quota.Usage{})
		}) {
			t.Error("a count made every node look up its keys again")
		}
		saved(t, s, "2026-11-15", quota.Usage{})
		saved(t, s, "2026-11-16", quota.Usage{
			Accounts: []quota.AccountCount{{Account: ada.ID, Requests: 1<<32 + 2}, {Account: bob.ID, Requests: 1000}},
			Networks: []quota.NetworkCount{{Network: nthNetwork(1), Requests: 42}, {Network: nthNetwork(2), Requests: 100}, {Network: nthNetwork(3), Requests: 7}},
		})
		saved(t, s, "2026-11-17", quota.Usage{Accounts: []quota.AccountCount{{Account: ada.ID, Requests: 5}}})
	})
}

func TestForAccountReturnsTheRequestedDays(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		ada, bob := create(t, s, "ada@example.org", account.Pro), create(t, s, "bob@example.org", account.Developer)
		for i, d := range []string{"2026-11-18", "2026-10-31", "2026-11-01", "2026-11-30", "2026-12-01"} {
			save(t, s, d, quota.Usage{Accounts: []quota.AccountCount{{Account: ada.ID, Requests: int64(i + 1)}, {Account: bob.ID, Requests: 9}}})
		}
		got, err := s.Usage.ForAccount(t.Context(), ada.ID, "2026-11-01", "2026-11-30")
		want := []DayUsage{{"2026-11-01", 3}, {"2026-11-18", 1}, {"2026-11-30", 4}}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("Usage.ForAccount: %v (-want +got):\n%s", err, diff)
		}
		if got, err := s.Usage.ForAccount(t.Context(), "acc_nobody", "2026-11-01", "2026-11-30"); err != nil || len(got) != 0 {
			t.Errorf("of nobody: %v, %v", got, err)
		}
	})
}

// Accounts are deleted while their requests are saved: no save fails, and none creates
// rows of a deleted account.
func TestConcurrentSavesAndDeletionsLeaveNothingBehind(t *testing.T) {
	databases.EachDSN(t, func(t *testing.T, dsn string) {
		const accounts = 20
		nodes := []*kit{open(t, dsn), open(t, dsn)}
		var u quota.Usage
		for i := range accounts {
			a := create(t, nodes[0], fmt.Sprintf("%d@example.org", i), account.Developer)
			u.Accounts = append(u.Accounts, quota.AccountCount{Account: a.ID, Requests: 1})
		}
		save(t, nodes[0], "2026-11-16", u)
		var all sync.WaitGroup
		for i := range nodes {
			all.Go(func() {
				for range 10 {
					if err := nodes[i].Usage.Save(t.Context(), "2026-11-16", u); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Go(func() {
			for i := 1; i < accounts; i++ {
				if err := nodes[i%2].Accounts.Delete(t.Context(), fmt.Sprintf("%d@example.org", i)); err != nil {
					t.Error(err)
				}
			}
		})
		all.Wait()
		save(t, nodes[0], "2026-11-16", u) // counted before the deletions
		kept := quota.AccountCount{Account: u.Accounts[0].Account, Requests: 22}
		saved(t, nodes[0], "2026-11-16", quota.Usage{Accounts: []quota.AccountCount{kept}})
	})
}

func TestManyNetworksAreSavedAndPruned(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		const networks = 2*5000 + 1234 // more than one transaction deletes
		var u, twice quota.Usage
		for i := range networks {
			u.Networks = append(u.Networks, quota.NetworkCount{Network: nthNetwork(i), Requests: int64(i%100 + 1)})
			twice.Networks = append(twice.Networks, quota.NetworkCount{Network: nthNetwork(i), Requests: 2 * int64(i%100+1)})
		}
		save(t, s, "2026-11-16", u)
		save(t, s, "2026-11-16", u)
		saved(t, s, "2026-11-16", twice)
		save(t, s, "2026-11-17", quota.Usage{Networks: u.Networks[:1]})
		prune(t, s, "2026-11-17", "2026-11-17")
		saved(t, s, "2026-11-16", quota.Usage{})
		saved(t, s, "2026-11-17", quota.Usage{Networks: u.Networks[:1]})
	})
}

func TestNetworksAndKeysArePrunedBeforeAccounts(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		ada := create(t, s, "ada@example.org", account.Pro)
		all := quota.Usage{
			Accounts: []quota.AccountCount{{Account: ada.ID, Requests: 3}},
			Networks: []quota.NetworkCount{{Network: nthNetwork(1), Requests: 4}},
		}
		days := []string{"2025-10-15", "2025-10-16", "2026-11-15", "2026-11-16"}
		keys := map[string]pseudonym.Key{}
		for _, d := range days {
			save(t, s, d, all)
			keys[d] = dayKey(t, s, d)
		}
		for _, d := range []string{"2026-11-10", "2026-11-11", "2026-11-12", "2026-11-13"} { // so that time has passed
			save(t, s, d, quota.Usage{Accounts: all.Accounts})
		}
		for range 2 { // the second time there is nothing left to do
			prune(t, s, "2026-11-16", "2025-10-16")
			saved(t, s, days[0], quota.Usage{})
			saved(t, s, days[1], quota.Usage{Accounts: all.Accounts})
			saved(t, s, days[2], quota.Usage{Accounts: all.Accounts})
			saved(t, s, days[3], all)
		}
		if dayKey(t, s, days[3]) != keys[days[3]] {
			t.Error("the key of the day is gone")
		}
		for _, d := range days[:3] {
			if dayKey(t, s, d) == keys[d] {
				t.Errorf("the key of %s was not destroyed", d)
			}
		}
	})
}

func TestAClockThatIsAYearAheadDeletesNoCountsOfAccounts(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		ada := create(t, s, "ada@example.org", account.Pro)
		counts := quota.Usage{Accounts: []quota.AccountCount{{Account: ada.ID, Requests: 3}}}
		day := func(n int) string { return time.Date(2026, 11, 15+n, 0, 0, 0, 0, time.UTC).Format(time.DateOnly) }
		save(t, s, day(0), counts)
		for n := range 7 { // under the wrong clock
			prune(t, s, day(400+n), day(5+n))
			saved(t, s, day(0), counts)
			save(t, s, day(400+n), counts)
		}
		prune(t, s, day(407), day(12)) // a clock that goes on for so long is right
		saved(t, s, day(0), quota.Usage{})
	})
}

func dayKey(t testing.TB, s *kit, day string) pseudonym.Key {
	t.Helper()
	key, err := s.Usage.DayKey(t.Context(), day, pseudonym.NewKey())
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestADayHasOneKeyUnderConcurrency(t *testing.T) {
	databases.EachDSN(t, func(t *testing.T, dsn string) {
		nodes := []*kit{open(t, dsn), open(t, dsn)}
		const callers = 50
		var keys, candidates [callers]pseudonym.Key
		var all sync.WaitGroup
		for i := range callers {
			candidates[i] = pseudonym.NewKey()
			all.Go(func() {
				var err error
				if keys[i], err = nodes[i%2].Usage.DayKey(t.Context(), "2026-11-16", candidates[i]); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		known := false
		for i := range callers {
			if keys[i] != keys[0] {
				t.Fatalf("two keys for one day: %x and %x", keys[0], keys[i])
			}
			known = known || keys[0] == candidates[i]
		}
		if !known || keys[0] != dayKey(t, open(t, dsn), "2026-11-16") {
			t.Errorf("the key %x is nobody's, or was not kept", keys[0])
		}
		if dayKey(t, nodes[0], "2026-11-17") == keys[0] {
			t.Error("two days have one key")
		}
	})
}

// A publication locks SQLite for all writers; on PostgreSQL it locks nothing that a count
// needs.
func TestASaveDuringAPublicationIsRefusedOrCompleteNeverPartial(t *testing.T) {
	databases.EachDSN(t, func(t *testing.T, dsn string) {
		s, publisher := open(t, dsn), open(t, dsn)
		impatient, err := openWith(t.Context(), dsn, sqldb.Config{WriteWait: 20 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		defer impatient.Close()
		ada := create(t, s, "ada@example.org", account.Pro)
		key := dayKey(t, s, "2026-11-16")
		u := quota.Usage{
			Accounts: []quota.AccountCount{{Account: ada.ID, Requests: 3}},
			Networks: []quota.NetworkCount{{Network: nthNetwork(1), Requests: 4}},
		}
		tried := false
		_, err = publisher.Catalogue.Publish(t.Context(), small(tool("a", "1 €/mois")), catalogdb.PublishOptions{Now: at(monday), Progress: func(catalogdb.Progress) {
			if tried {
				return
			}
			tried = true
			if s.SQL.Shared() {
				save(t, s, "2026-11-16", u)
			} else {
				testkit.Fails(t, impatient.Usage.Save(t.Context(), "2026-11-16", u), sqldb.ErrBusy, "busy", "nothing was changed")
				saved(t, s, "2026-11-16", quota.Usage{}) // reading goes on
				testkit.Fails(t, impatient.Usage.Prune(t.Context(), "2026-11-17", "2025-11-17"), sqldb.ErrBusy)
			}
			if dayKey(t, s, "2026-11-16") != key {
				t.Error("the key of the day cannot be read")
			}
		}})
		if err != nil || !tried {
			t.Fatal(err)
		}
		if !s.SQL.Shared() {
			save(t, s, "2026-11-16", u)
		}
		saved(t, s, "2026-11-16", u)
	})
}

func TestASaveThatFailsSavesNothing(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		ada := create(t, s, "ada@example.org", account.Pro)
		u := quota.Usage{
			Accounts: []quota.AccountCount{{Account: ada.ID, Requests: 3}},
			Networks: []quota.NetworkCount{{Network: nthNetwork(1), Requests: 4}},
		}
		// The networks come after the accounts, and their table is not there.
		exec(t, s, `ALTER TABLE network_usage RENAME TO elsewhere`)
		if err := s.Usage.Save(t.Context(), "2026-11-16", u); err == nil {
			t.Fatal("saved to a table that is not there")
		}
		exec(t, s, `ALTER TABLE elsewhere RENAME TO network_usage`)
		saved(t, s, "2026-11-16", quota.Usage{})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := s.Usage.Save(ctx, "2026-11-16", u); !errors.Is(err, context.Canceled) {
			t.Errorf("Usage.Save = %v; want context.Canceled", err)
		}
		saved(t, s, "2026-11-16", quota.Usage{})
	})
}

func TestAReaderOfAnotherProgramDoesNotBlockPruning(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		dayKey(t, s, "2026-11-15")
		err := s.SQL.Read(t.Context(), func(tx *sql.Tx) error {
			var n int
			if err := tx.QueryRow(`SELECT count(*) FROM pseudonym_keys`).Scan(&n); err != nil || n != 1 {
				t.Errorf("%d keys, %v", n, err)
			}
			return s.Usage.Prune(t.Context(), "2026-11-16", "2025-10-16")
		})
		if err != nil {
			t.Error(err)
		}
	})
}
