package accountdb

import (
	"slices"
	"testing"
	"time"

	"palmares/internal/account"
	"palmares/internal/sqldb"
	"palmares/internal/testkit"
)

func session(t testing.TB, s *kit, secret string, now time.Time) (account.Session, account.Account) {
	t.Helper()
	found, owner, err := s.Sessions.Find(t.Context(), secret, now)
	if err != nil {
		t.Fatal(err)
	}
	return found, owner
}

func TestASessionIsExtendedOnceADayAndEndsAfterThirtyDaysWithoutAVisit(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		secret := signIn(t, s, "ada@example.org", monday)
		extend := func(now time.Time, want bool) {
			t.Helper()
			found, _ := session(t, s, secret, now)
			if got, err := s.Sessions.Extend(t.Context(), found, now); got != want || err != nil {
				t.Errorf("at %s the session is extended: %t, %v", now, got, err)
			}
		}
		extend(monday.Add(time.Hour), false)
		extend(day(29), true)
		extend(day(29).Add(time.Hour), false)
		found, _ := session(t, s, secret, day(29))
		if found.SeenOn != "2026-12-15" || !found.ExpiresAt.Equal(day(59)) || !found.CreatedAt.Equal(monday) {
			t.Errorf("after a visit the session is %+v", found)
		}
		session(t, s, secret, day(59).Add(-time.Millisecond))
		_, _, err := s.Sessions.Find(t.Context(), secret, day(59))
		testkit.Fails(t, err, sqldb.ErrNotFound, "sign in again")
	})
}

func TestOfConcurrentVisitsOneExtendsTheSession(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		secret := signIn(t, s, "ada@example.org", monday)
		seen, _ := session(t, s, secret, day(1))
		var extended int
		for range 3 { // all of them read the session before any extended it
			ok, err := s.Sessions.Extend(t.Context(), seen, day(1))
			if err != nil {
				t.Fatal(err)
			}
			if ok {
				extended++
			}
		}
		if extended != 1 {
			t.Errorf("it was written %d times", extended)
		}
	})
}

func TestOwnersEndTheirOwnSessionsOnly(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		ctx := t.Context()
		var secrets []string
		for i := range 4 {
			secrets = append(secrets, signIn(t, s, "ada@example.org", day(i)))
		}
		foreign := signIn(t, s, "eve@example.org", day(3))
		now := day(4)
		first, ada := session(t, s, secrets[0], now)
		theirs, eve := session(t, s, foreign, now)

		list := func() []string {
			all, err := s.Sessions.List(ctx, ada.ID, now)
			if err != nil {
				t.Fatal(err)
			}
			var days []string
			for _, one := range all {
				days = append(days, one.SeenOn)
			}
			return days
		}
		if got, want := list(), []string{"2026-11-19", "2026-11-18", "2026-11-17", "2026-11-16"}; !slices.Equal(got, want) {
			t.Errorf("the sessions are of %v, want %v", got, want)
		}
		testkit.Fails(t, s.Sessions.End(ctx, ada.ID, theirs.ID), sqldb.ErrNotFound)
		testkit.Fails(t, s.Sessions.End(ctx, eve.ID, first.ID), sqldb.ErrNotFound)
		if err := s.Sessions.End(ctx, ada.ID, first.ID); err != nil {
			t.Fatal(err)
		}
		testkit.Fails(t, s.Sessions.End(ctx, ada.ID, first.ID), sqldb.ErrNotFound)
		_, _, err := s.Sessions.Find(ctx, secrets[0], now)
		testkit.Fails(t, err, sqldb.ErrNotFound)
		kept, _ := session(t, s, secrets[2], now)
		if err := s.Sessions.EndOthers(ctx, ada.ID, kept.ID); err != nil {
			t.Fatal(err)
		}
		if got := list(); !slices.Equal(got, []string{"2026-11-18"}) {
			t.Errorf("the sessions of %v are left", got)
		}
		session(t, s, foreign, now)
	})
}

func TestASignInEndsTheBrowsersPreviousSession(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		old := signIn(t, s, "ada@example.org", monday)
		secret, err := s.Links.SignIn(t.Context(), link(t, s, "ada@example.org", account.LinkSignIn, monday), "", old, monday)
		if err != nil || secret == old {
			t.Fatal("the new session has the old one's secret", err)
		}
		session(t, s, secret, monday)
		_, _, err = s.Sessions.Find(t.Context(), old, monday)
		testkit.Fails(t, err, sqldb.ErrNotFound)
		// A link that cannot be spent ends nothing.
		_, err = s.Links.SignIn(t.Context(), link(t, s, "ada@example.org", account.LinkSignIn, monday), "", secret, day(1))
		testkit.Fails(t, err, ErrLinkExpired)
		session(t, s, secret, monday)
	})
}

func TestWhatHasExpiredIsPruned(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		ctx := t.Context()
		count := func(table string) (n int) {
			t.Helper()
			if err := s.SQL.Reads().QueryRowContext(ctx, `SELECT count(*) FROM `+table).Scan(&n); err != nil {
				t.Fatal(err)
			}
			return n
		}
		signIn(t, s, "ada@example.org", monday)
		link(t, s, "bob@example.org", account.LinkSignIn, monday)
		request(t, s, "ada@example.org", home, monday)
		check := func(now time.Time, links, requests, keys, sessions int) {
			t.Helper()
			if err := s.Sessions.Prune(ctx, now); err != nil {
				t.Fatal(err)
			}
			for table, want := range map[string]int{"links": links, "link_requests": requests, "pseudonym_keys": keys, "sessions": sessions} {
				if got := count(table); got != want {
					t.Errorf("at %s there are %d %s, want %d", now, got, table, want)
				}
			}
		}
		check(monday.Add(time.Hour-1), 2, 4, 1, 1)
		check(monday.Add(time.Hour), 2, 1, 1, 1) // the counts of the networks and of everybody
		check(monday.Add(75*time.Minute), 0, 1, 1, 1)
		check(day(1), 0, 0, 1, 1)
		check(day(2), 0, 0, 0, 1)
		check(day(30), 0, 0, 0, 0)
	})
}
