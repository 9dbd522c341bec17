package readerdb_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"palmares/internal/account"
	"palmares/internal/accountdb"
	"palmares/internal/mail"
	"palmares/internal/readerdb"
	"palmares/internal/sqldb"
	"palmares/internal/testkit"
	"palmares/internal/vault"
)

func finishMail(t testing.TB, s *kit, c mail.Claim, v mail.Verdict) {
	t.Helper()
	if err := s.Mails.Finish(t.Context(), c, v); err != nil {
		t.Fatal(err)
	}
}

func sealerOf(t testing.TB, keys ...byte) vault.Sealer {
	t.Helper()
	var text string
	for _, b := range keys {
		text += "," + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{b}, vault.KeySize))
	}
	s, err := vault.ParseKeys(text[1:])
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func followLink(t *testing.T, s *kit, email string, key byte, now time.Time) string {
	t.Helper()
	token, err := s.Links.Sealed(sealerOf(t, key)).Create(t.Context(), email, account.LinkFollow, now)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func confirm(t *testing.T, s *kit, email, topic, pace string, now time.Time) {
	t.Helper()
	token := followLink(t, s, email, 1, now)
	if err := s.Follows.Sealed(sealerOf(t, 1)).Confirm(t.Context(), token, topic, pace, now); err != nil {
		t.Fatal(err)
	}
	testkit.Fails(t, s.Follows.Sealed(sealerOf(t, 1)).Confirm(t.Context(), token, topic, pace, now), accountdb.ErrLinkUsed)
}

func TestFollowsAreSealedBoundedAndEnd(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		ctx := t.Context()
		for i := range 3 {
			confirm(t, s, "Lea@Example.org", fmt.Sprintf("outils/t%d", i), readerdb.FollowAtOnce, monday)
		}
		confirm(t, s, "lea@example.org", "outils/t0", readerdb.FollowWeekly, monday) // another pace, not another follow
		tell := func(period string, upTo int64) (mails []mail.Claim) {
			t.Helper()
			for _, pace := range []string{readerdb.FollowAtOnce, readerdb.FollowWeekly} {
				count := func(f []readerdb.Follow) string { return fmt.Sprint(len(f)) }
				err := s.Follows.Tell(ctx, readerdb.Round{Pace: pace, UpTo: upTo, Period: period, Most: 1, Now: monday, Write: count})
				if err != nil {
					t.Fatal(err)
				}
			}
			mails, err := s.Mails.Claim(ctx, monday, 10)
			if err != nil {
				t.Fatal(err)
			}
			return mails
		}
		first := tell("a", 5)
		// One mail in a period, with all that is followed at a pace.
		if len(first) != 2 || first[0].Content == first[1].Content || len(tell("a", 6)) != 0 {
			t.Fatalf("got %+v", first)
		}
		if n, err := sealerOf(t, 2, 1).Reseal(ctx, s.Follows.Secrets()); n != 3 || err != nil {
			t.Errorf("%d addresses were sealed again, %v", n, err)
		}
		follows := s.Follows.Sealed(sealerOf(t, 2)) // the old key is gone
		f, err := follows.Find(ctx, first[0].To)
		if err != nil || f.Address != "lea@example.org" || !account.HasTokenForm(f.Token) {
			t.Fatalf("%+v, %v", f, err)
		}
		if bytes.Contains(testkit.AtRest(t, s.SQL.Reads()), []byte(f.Token)) {
			t.Error("the secret by which it ends is stored in clear")
		}
		followLink(t, s, f.Address, 2, monday) // is not confirmed
		if bytes.Contains(testkit.AtRest(t, s.SQL.Reads()), []byte(f.Address)) {
			t.Error("an address that is not confirmed is stored in clear")
		}
		left, err := follows.End(ctx, f.Token, "")
		if len(left) != 2 || err != nil || left[0].Address != f.Address {
			t.Fatalf("%+v are left, %v", left, err)
		}
		rows, err := sqldb.Value[int](ctx, s.SQL.Reads(), `SELECT count(*) FROM links WHERE email <> ''`)
		if rows != 0 || err != nil {
			t.Errorf("%d links keep an address, %v", rows, err)
		}
		_, err = follows.Meant(ctx, f.Token, "")
		testkit.Fails(t, err, sqldb.ErrNotFound)
		if rest, err := follows.Meant(ctx, f.Token, f.All); len(rest) != 2 || err != nil {
			t.Errorf("the link to end all means %+v, %v", rest, err)
		}
		// A mail that was refused by policy changes nothing; an address that does not exist ends all.
		finishMail(t, s, first[0], mail.Verdict{})
		for i, want := range []int{2, 0} {
			c := first[1]
			if i == 1 {
				c = tell("b", 7)[0]
			}
			finishMail(t, s, c, mail.Verdict{Failure: "refused", Bounced: want == 0})
			left, err := sqldb.Value[int](ctx, s.SQL.Reads(), `SELECT count(*) FROM follows`)
			if left != want || err != nil {
				t.Errorf("%d follows are left, want %d, %v", left, want, err)
			}
		}
		for i := range 50 {
			confirm(t, s, "max@example.org", fmt.Sprint("outils/t", i), readerdb.FollowAtOnce, monday)
		}
		token := followLink(t, s, "max@example.org", 1, monday)
		testkit.Fails(t, s.Follows.Sealed(sealerOf(t, 1)).Confirm(ctx, token, "outils/one-more", readerdb.FollowAtOnce, monday), sqldb.ErrTooMany)

		// On her request she is forgotten, whichever key sealed her address, and nobody else.
		confirm(t, s, "amax@example.org", "outils/t0", readerdb.FollowAtOnce, monday)
		report := readerdb.Report{Text: "Faux.", Address: "max@example.org"}
		_, unsent := s.Reports.Sealed(sealerOf(t, 1)).Add(ctx, report, netip.MustParsePrefix("203.0.113.9/32"), monday)
		n, err := s.Follows.Sealed(sealerOf(t, 2, 1)).Remove(ctx, "Max@Example.org")
		reports, failed := s.Reports.Sealed(sealerOf(t, 1)).List(ctx, 0)
		rows, _ = sqldb.Value[int](ctx, s.SQL.Reads(), `SELECT count(*) FROM follows`)
		err = errors.Join(unsent, err, failed)
		if err != nil || n != 51 || len(reports) != 1 || reports[0].Address != "" || rows != 1 {
			t.Errorf("%d rows had her address, %v: %+v", n, err, reports)
		}
	})
}
