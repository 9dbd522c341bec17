package accountdb

import (
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"

	"palmares/internal/account"
	"palmares/internal/quota"
)

// today returns the day by the server's clock.
func today(t testing.TB, s *kit) string {
	t.Helper()
	tally, err := s.Usage.Count(t.Context(), "", quota.Usage{})
	if err != nil {
		t.Fatal(err)
	}
	if tally.Open {
		t.Fatal("no day at all is open")
	}
	// Near midnight two statements might see different days.
	if left := tally.Now.Truncate(24 * time.Hour).Add(24 * time.Hour).Sub(tally.Now); left < 30*time.Second {
		<-time.After(left)
	}
	return tally.Now.UTC().Format(time.DateOnly)
}

func grant(t testing.TB, s *kit, day string, asked quota.Usage) quota.Tally {
	t.Helper()
	tally, err := s.Usage.Count(t.Context(), day, asked)
	if err != nil {
		t.Fatal(err)
	}
	return tally
}

func TestNodesTogetherGrantWhatALimitAllowsAndEachNumberOnce(t *testing.T) {
	dsn := databases.Postgres(t)
	nodes := []*kit{open(t, dsn), open(t, dsn), open(t, dsn)}
	ada, bob := create(t, nodes[0], "ada@example.org", account.Developer), create(t, nodes[0], "bob@example.org", account.Developer)
	now := today(t, nodes[0])
	var mu sync.Mutex
	numbers := map[string][]int64{}
	note := func(who string, c quota.Counted) {
		mu.Lock()
		defer mu.Unlock()
		for i := range c.Granted {
			numbers[who] = append(numbers[who], c.Used-i)
		}
	}
	var all sync.WaitGroup
	for i, s := range nodes {
		all.Go(func() {
			for round := range int64(60) { // 60 × 3 × about 7 is more than a thousand, for each
				n := round%13 + 1
				asked := quota.Usage{
					Accounts: []quota.AccountCount{{Account: bob.ID, Requests: n}, {Account: ada.ID, Requests: 14 - n}},
					Networks: []quota.NetworkCount{{Network: nthNetwork(1), Requests: n}, {Network: nthNetwork(2), Requests: 1}, {Network: nthNetwork(3), Requests: n, Limit: 500}},
				}
				if i == 1 {
					slices.Reverse(asked.Accounts)
					slices.Reverse(asked.Networks)
				}
				tally, err := s.Usage.Count(t.Context(), now, asked)
				if err != nil {
					t.Error(err)
					return
				}
				note("ada", tally.Accounts[ada.ID])
				note("bob", tally.Accounts[bob.ID])
				note("1", tally.Networks[nthNetwork(1)])
				note("2", tally.Networks[nthNetwork(2)])
				note("3", tally.Networks[nthNetwork(3)])
			}
		})
	}
	all.Wait()
	for who, limit := range map[string]int{"ada": 1000, "bob": 1000, "1": 100, "2": 100, "3": 500} {
		slices.Sort(numbers[who])
		if len(numbers[who]) != limit {
			t.Errorf("%s was granted %d requests; want %d", who, len(numbers[who]), limit)
		}
		for i, n := range numbers[who] {
			if n != int64(i+1) {
				t.Fatalf("%s: the numbers are not 1 to %d, each once: %v", who, limit, numbers[who])
			}
		}
	}
	saved(t, nodes[0], now, quota.Usage{
		Accounts: []quota.AccountCount{{Account: ada.ID, Requests: 1000}, {Account: bob.ID, Requests: 1000}},
		Networks: []quota.NetworkCount{{Network: nthNetwork(1), Requests: 100}, {Network: nthNetwork(2), Requests: 100}, {Network: nthNetwork(3), Requests: 500}},
	})
}

func TestWhatWasUsedBeyondALimitIsKept(t *testing.T) {
	s := open(t, databases.Postgres(t))
	ada := create(t, s, "ada@example.org", account.Developer)
	now := today(t, s)
	save(t, s, now, quota.Usage{Accounts: []quota.AccountCount{{Account: ada.ID, Requests: 2500}}}) // as Pro
	c := grant(t, s, now, quota.Usage{Accounts: []quota.AccountCount{{Account: ada.ID, Requests: 5}}}).Accounts[ada.ID]
	if c != (quota.Counted{Granted: 0, Used: 2500}) {
		t.Errorf("counted %+v; want none of 2500", c)
	}
}

func TestTheServersClockDecidesTheDay(t *testing.T) {
	s := open(t, databases.Postgres(t))
	ada := create(t, s, "ada@example.org", account.Developer)
	asked := quota.Usage{
		Accounts: []quota.AccountCount{{Account: ada.ID, Requests: 5}},
		Networks: []quota.NetworkCount{{Network: nthNetwork(1), Requests: 5}},
	}
	now, err := time.Parse(time.DateOnly, today(t, s))
	if err != nil {
		t.Fatal(err)
	}
	for _, days := range []int{-1, 1, 365} {
		other := now.AddDate(0, 0, days).Format(time.DateOnly)
		if tally := grant(t, s, other, asked); tally.Open || len(tally.Accounts)+len(tally.Networks) != 0 {
			t.Errorf("%s was open: %+v", other, tally)
		}
		saved(t, s, other, quota.Usage{})
	}
	if tally := grant(t, s, now.Format(time.DateOnly), asked); !tally.Open || tally.Accounts[ada.ID].Granted != 5 {
		t.Errorf("today: %+v", tally)
	}
}

func TestAnAccountDeletedMeanwhileDoesNotBreakItsGroup(t *testing.T) {
	dsn := databases.Postgres(t)
	nodes := []*kit{open(t, dsn), open(t, dsn)}
	now := today(t, nodes[0])
	const accounts = 30
	asked := quota.Usage{Networks: []quota.NetworkCount{{Network: nthNetwork(1), Requests: 1}}}
	for i := range accounts {
		a := create(t, nodes[0], fmt.Sprintf("%d@example.org", i), account.Developer)
		asked.Accounts = append(asked.Accounts, quota.AccountCount{Account: a.ID, Requests: 1})
	}
	const rounds = 20
	var all sync.WaitGroup
	for _, s := range nodes {
		all.Go(func() {
			for range rounds {
				tally, err := s.Usage.Count(t.Context(), now, asked)
				if err != nil {
					t.Error(err)
					return
				}
				if c := tally.Accounts[asked.Accounts[0].Account]; c.Granted != 1 {
					t.Errorf("the account that stays was given %+v", c)
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
	saved(t, nodes[0], now, quota.Usage{
		Accounts: []quota.AccountCount{{Account: asked.Accounts[0].Account, Requests: 2 * rounds}},
		Networks: []quota.NetworkCount{{Network: nthNetwork(1), Requests: 2 * rounds}},
	})
}

func TestBehindATransactionPoolerNoStatementIsPrepared(t *testing.T) {
	dsn, err := url.Parse(databases.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	query := dsn.Query()
	query.Set("default_query_exec_mode", "exec")
	dsn.RawQuery = query.Encode()
	s := open(t, dsn.String())
	ada := create(t, s, "ada@example.org", account.Developer)
	tally := grant(t, s, today(t, s), quota.Usage{
		Accounts: []quota.AccountCount{{Account: ada.ID, Requests: 3}},
		Networks: []quota.NetworkCount{{Network: quota.Pseudonym{1}, Requests: 2}},
	})
	if tally.Accounts[ada.ID].Granted != 3 || tally.Networks[quota.Pseudonym{1}].Granted != 2 {
		t.Errorf("granted %+v", tally)
	}
	if _, _, err := s.State(t.Context()); err != nil {
		t.Fatal(err)
	}
	none := func(pool *sql.DB) error {
		var prepared int
		err := pool.QueryRowContext(t.Context(), `SELECT count(*) FROM pg_prepared_statements`).Scan(&prepared)
		if err == nil && prepared != 0 {
			err = fmt.Errorf("%d prepared statements", prepared)
		}
		return err
	}
	err = errors.Join(none(s.SQL.Reads()), s.SQL.Lookup(t.Context(), none), s.SQL.Count(t.Context(), none))
	if err != nil {
		t.Error(err)
	}
}
