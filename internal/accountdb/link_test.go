package accountdb

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"palmares/internal/account"
	"palmares/internal/sqldb"
	"palmares/internal/testkit"
)

// home is the network that requests links.
var home = netip.MustParsePrefix("203.0.113.9/32")

func link(t testing.TB, s *kit, email string, purpose account.LinkPurpose, now time.Time) string {
	t.Helper()
	token, err := s.Links.Create(t.Context(), email, purpose, now)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func signIn(t testing.TB, s *kit, email string, now time.Time) string {
	t.Helper()
	secret, err := s.Links.SignIn(t.Context(), link(t, s, email, account.LinkSignIn, now), "Firefox sur Linux", "", now)
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

func request(t testing.TB, s *kit, email string, network netip.Prefix, now time.Time) bool {
	t.Helper()
	queued, err := s.Links.Request(t.Context(), email, account.LinkSignIn, "", network, now)
	if err != nil {
		t.Fatal(err)
	}
	return queued
}

func TestALinkIsSpentOnceForItsPurposeWithinFifteenMinutes(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		ctx := t.Context()
		token := link(t, s, "Ada@Example.org", account.LinkSignIn, monday)
		late := monday.Add(15*time.Minute - time.Millisecond)
		for range 3 { // scanners
			if email, err := s.Links.Check(ctx, token, account.LinkSignIn, late); email != "ada@example.org" || err != nil {
				t.Fatalf("a fresh link is %q, %v", email, err)
			}
		}
		if _, err := s.Accounts.Find(ctx, "ada@example.org"); err == nil {
			t.Error("asking and looking made an account")
		}
		_, err := s.Links.Check(ctx, token, account.LinkDeletion, late)
		testkit.Fails(t, err, sqldb.ErrNotFound)
		testkit.Fails(t, s.Links.DeleteAccount(ctx, token, late), sqldb.ErrNotFound)
		secret, err := s.Links.SignIn(ctx, token, "Chrome sur Windows", "", late)
		if err != nil {
			t.Fatal(err)
		}
		session, owner, err := s.Sessions.Find(ctx, secret, late)
		if err != nil || owner.Email != "ada@example.org" || owner.Plan != account.Developer || session.Browser != "Chrome sur Windows" || session.AccountID != owner.ID {
			t.Errorf("the session is %+v of %+v, %v", session, owner, err)
		}
		_, err = s.Links.SignIn(ctx, token, "", "", late)
		testkit.Fails(t, err, ErrLinkUsed)
		_, err = s.Links.Check(ctx, token, account.LinkSignIn, late)
		testkit.Fails(t, err, ErrLinkUsed)

		expired := link(t, s, "ada@example.org", account.LinkSignIn, monday)
		_, err = s.Links.SignIn(ctx, expired, "", "", monday.Add(15*time.Minute))
		testkit.Fails(t, err, ErrLinkExpired)
		for _, made := range []string{"", "x", account.NewToken(strings.NewReader(strings.Repeat("x", 32)))} {
			_, err = s.Links.SignIn(ctx, made, "", "", monday)
			testkit.Fails(t, err, sqldb.ErrNotFound)
			_, err = s.Links.Check(ctx, made, account.LinkSignIn, monday)
			testkit.Fails(t, err, sqldb.ErrNotFound)
		}
		_, err = s.Links.Create(ctx, "ada@example.org\r\nBcc: eve@example.org", account.LinkSignIn, monday)
		testkit.Fails(t, err, sqldb.ErrInvalid)
	})
}

func TestAThousandUsesOfOneLinkCreateOneSession(t *testing.T) {
	databases.EachDSN(t, func(t *testing.T, dsn string) {
		nodes := []*kit{open(t, dsn), open(t, dsn)}
		token := link(t, nodes[0], "ada@example.org", account.LinkSignIn, monday)
		var sessions, used atomic.Int64
		var all sync.WaitGroup
		for i := range 1000 {
			all.Go(func() {
				_, err := nodes[i%2].Links.SignIn(t.Context(), token, "", "", monday)
				switch {
				case err == nil:
					sessions.Add(1)
				default:
					testkit.Fails(t, err, ErrLinkUsed)
					used.Add(1)
				}
			})
		}
		all.Wait()
		a, err := nodes[0].Accounts.Find(t.Context(), "ada@example.org")
		if err != nil {
			t.Fatal(err)
		}
		kept, err := nodes[1].Sessions.List(t.Context(), a.ID, monday)
		if sessions.Load() != 1 || used.Load() != 999 || len(kept) != 1 || err != nil {
			t.Errorf("%d got a session, %d heard that the link was used, %d sessions are kept, %v", sessions.Load(), used.Load(), len(kept), err)
		}
	})
}

func TestManyLinksOfOneNewAddressMakeOneAccount(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		var tokens []string
		for range 20 {
			tokens = append(tokens, link(t, s, "ada@example.org", account.LinkSignIn, monday))
		}
		var all sync.WaitGroup
		for _, token := range tokens {
			all.Go(func() {
				if _, err := s.Links.SignIn(t.Context(), token, "", "", monday); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		accounts, err := s.Accounts.List(t.Context())
		if err != nil || len(accounts) != 1 {
			t.Fatalf("%d accounts, %v", len(accounts), err)
		}
		if sessions, err := s.Sessions.List(t.Context(), accounts[0].ID, monday); len(sessions) != 20 || err != nil {
			t.Errorf("%d sessions, %v", len(sessions), err)
		}
	})
}

func TestAnAccountIsDeletedByItsLink(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		ctx := t.Context()
		secret := signIn(t, s, "ada@example.org", monday)
		signIn(t, s, "bob@example.org", monday)
		other := link(t, s, "ada@example.org", account.LinkSignIn, monday)
		token := link(t, s, "ada@example.org", account.LinkDeletion, monday)
		if !raised(t, s, func() {
			if err := s.Links.DeleteAccount(ctx, token, monday); err != nil {
				t.Fatal(err)
			}
		}) {
			t.Error("no node hears of it")
		}
		_, _, err := s.Sessions.Find(ctx, secret, monday)
		testkit.Fails(t, err, sqldb.ErrNotFound)
		_, err = s.Links.SignIn(ctx, other, "", "", monday)
		testkit.Fails(t, err, sqldb.ErrNotFound)
		// A second click gets ErrLinkUsed, from a link that no longer has an address.
		testkit.Fails(t, s.Links.DeleteAccount(ctx, token, monday), ErrLinkUsed)
		var left, named int
		if err := s.SQL.Reads().QueryRowContext(ctx, `SELECT count(*), count(CASE WHEN email <> '' THEN 1 END) FROM links WHERE purpose = 'delete_account' OR email = 'ada@example.org'`).Scan(&left, &named); err != nil || left != 1 || named != 0 {
			t.Errorf("%d links are left, %d with an address, %v", left, named, err)
		}
		if accounts, err := s.Accounts.List(ctx); len(accounts) != 1 || accounts[0].Email != "bob@example.org" || err != nil {
			t.Errorf("%v, %v are left", accounts, err)
		}
		// A link without an account is not spent: nothing was done.
		orphan := link(t, s, "eve@example.org", account.LinkDeletion, monday)
		testkit.Fails(t, s.Links.DeleteAccount(ctx, orphan, monday), sqldb.ErrNotFound)
		if _, err := s.Links.Check(ctx, orphan, account.LinkDeletion, monday); err != nil {
			t.Error(err)
		}
	})
}

func TestMailsToOneAddressAreLimitedWhateverTheNetwork(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		night := time.Date(2026, 11, 15, 23, 50, 0, 0, time.UTC) // the key of the day changes in between
		var got []int
		for minute := range 40 {
			network := netip.PrefixFrom(netip.AddrFrom4([4]byte{198, 51, 100, byte(minute)}), 32)
			if request(t, s, "Ada@example.org", network, night.Add(time.Duration(minute)*time.Minute)) {
				got = append(got, minute)
			}
		}
		if want := []int{0, 1, 2, 15, 16, 17, 30, 31, 32}; !slices.Equal(got, want) {
			t.Errorf("mails at minutes %v, want %v", got, want)
		}
		// The tenth of the day; then there is one an hour after the last.
		later := night.Add(2 * time.Hour)
		if !request(t, s, "ada@example.org", home, later) || request(t, s, "ada@example.org", home, later.Add(59*time.Minute)) {
			t.Error("ten a day are more or less than ten")
		}
		if !request(t, s, "ada@example.org", home, later.Add(time.Hour)) {
			t.Error("an hour after the tenth there is none")
		}
		if next := night.Add(24 * time.Hour); !request(t, s, "ada@example.org", home, next) {
			t.Error("a day later there is none")
		}
	})
}

func TestMailLimitsAreExactUnderConcurrency(t *testing.T) {
	databases.EachDSN(t, func(t *testing.T, dsn string) {
		nodes := []*kit{open(t, dsn), open(t, dsn)}
		var queued [2]atomic.Int64
		var all sync.WaitGroup
		for i := range 80 {
			all.Go(func() {
				// Half request one address from many networks, half many addresses from one.
				email, network := "ada@example.org", netip.PrefixFrom(netip.AddrFrom4([4]byte{198, 51, 100, byte(i)}), 32)
				if i%2 == 1 {
					email, network = fmt.Sprintf("a%d@example.org", i), home
				}
				var ok bool
				if err := whileBusy(func() (err error) {
					ok, err = nodes[i/2%2].Links.Request(t.Context(), email, account.LinkSignIn, "", network, monday)
					return err
				}); err != nil {
					t.Error(err)
				}
				if ok {
					queued[i%2].Add(1)
				}
			})
		}
		all.Wait()
		if a, n := queued[0].Load(), queued[1].Load(); a != 3 || n != 10 {
			t.Errorf("%d mails for one address and %d from one network, want 3 and 10", a, n)
		}
		mails, err := nodes[0].Mails.Claim(t.Context(), monday, 1000)
		if err != nil || len(mails) != 11 { // those to one address are one mail while it waits
			t.Errorf("%d mails wait, %v", len(mails), err)
		}
		var subjects int
		if err := nodes[0].SQL.Reads().QueryRowContext(t.Context(), `SELECT count(*) FROM link_requests`).Scan(&subjects); err != nil || subjects != 18 { // with those of wide networks and of everybody
			t.Errorf("%d subjects are counted, %v: those who got nothing leave no trace", subjects, err)
		}
	})
}
