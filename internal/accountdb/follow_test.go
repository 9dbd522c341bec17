package accountdb

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"palmares/internal/account"
	"palmares/internal/mail"
	"palmares/internal/sqldb"
	"palmares/internal/webhook"
)

func sealerOf(t testing.TB, keys ...byte) webhook.Sealer {
	t.Helper()
	var text string
	for _, b := range keys {
		text += "," + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{b}, webhook.KeySize))
	}
	s, err := webhook.ParseKeys(text[1:])
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
	fails(t, s.Follows.Sealed(sealerOf(t, 1)).Confirm(t.Context(), token, topic, pace, now), ErrLinkUsed)
}

// Nodes are killed at any moment while they queue: their transactions are cut, and others go on.
func TestEveryFollowerIsToldOnceWhoeverIsKilled(t *testing.T) {
	databases.EachDSN(t, func(t *testing.T, dsn string) {
		nodes := []*kit{open(t, dsn), open(t, dsn), open(t, dsn)}
		s := nodes[0]
		const readers = 450
		for i := range readers {
			pace := FollowAtOnce
			if i%10 == 0 {
				pace = FollowWeekly
			}
			confirm(t, s, fmt.Sprintf("r%d@example.org", i), []string{"", "outils/plume", "categories/code"}[i%3], pace, monday)
		}
		confirm(t, s, "other@example.org", "outils/encre", FollowAtOnce, monday)
		topics := []string{"", "outils/plume", "categories/code"}
		for upTo := int64(5); upTo <= 6; upTo++ {
			var all sync.WaitGroup
			for i, n := range nodes {
				all.Go(func() {
					for try := range 40 {
						ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i+3*try)*time.Millisecond)
						_ = n.Follows.Tell(ctx, FollowAtOnce, "2026-11-16", 10, topics, 0, upTo, 2, monday) // mostly killed
						cancel()
					}
				})
			}
			all.Wait()
			if err := whileBusy(func() error {
				return s.Follows.Tell(t.Context(), FollowAtOnce, "2026-11-16", 10, topics, 0, upTo, 2, monday)
			}); err != nil {
				t.Fatal(err)
			}
		}
		told, want := map[string]int{}, readers*9/10
		for n := range 2 { // whoever gets several gets them one after the other
			queued := claimMails(t, s, monday, 2000)
			if more := claimMails(t, s, monday, 2000); len(queued) != want || len(more) != 0 {
				t.Errorf("%d mails, and %d while they are sent, want %d", len(queued), len(more), want)
			}
			for _, m := range queued {
				told[m.To+" "+m.About]++
				if n == 0 {
					finishMail(t, s, m, mail.Verdict{RetryAt: monday.Add(time.Hour)})
				}
			}
		}
		if len(told) != 2*want {
			t.Errorf("%d different mails, want %d", len(told), 2*want)
		}
	})
}

func TestFollowsAreSealedBoundedAndEnd(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		ctx := t.Context()
		for i := range 3 {
			confirm(t, s, "Lea@Example.org", fmt.Sprintf("outils/t%d", i), FollowAtOnce, monday)
		}
		confirm(t, s, "lea@example.org", "outils/t0", FollowWeekly, monday) // another pace, not another follow
		tell := func(period string, upTo int64) (mails []mail.Claim) {
			t.Helper()
			for _, pace := range []string{FollowAtOnce, FollowWeekly} {
				if err := s.Follows.Tell(ctx, pace, period, 1, []string{"outils/t0", "outils/t1", "outils/t2"}, 0, upTo, 1, monday); err != nil {
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
		if len(first) != 2 || len(tell("a", 6)) != 0 { // one mail in a period, with all that is followed at a pace
			t.Fatalf("got %+v", first)
		}
		if n, err := sealerOf(t, 2, 1).Reseal(ctx, s.Endpoints); n != 3 || err != nil {
			t.Errorf("%d addresses were sealed again, %v", n, err)
		}
		follows := s.Follows.Sealed(sealerOf(t, 2)) // the old key is gone
		f, err := follows.Find(ctx, first[0].To)
		if err != nil || f.Address != "lea@example.org" || !account.HasTokenForm(f.Token) {
			t.Fatalf("%+v, %v", f, err)
		}
		if bytes.Contains(wholeDatabase(t, s), []byte(f.Token)) {
			t.Error("the secret by which it ends is stored in clear")
		}
		followLink(t, s, f.Address, 2, monday) // is not confirmed
		if bytes.Contains(wholeDatabase(t, s), []byte(f.Address)) {
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
		fails(t, err, sqldb.ErrNotFound)
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
		for i := range maxFollows {
			confirm(t, s, "max@example.org", fmt.Sprint("outils/t", i), FollowAtOnce, monday)
		}
		token := followLink(t, s, "max@example.org", 1, monday)
		fails(t, s.Follows.Sealed(sealerOf(t, 1)).Confirm(ctx, token, "outils/one-more", FollowAtOnce, monday), ErrTooMany)
	})
}

func TestThePricesThatAReaderWasMailedOnADayAreKnown(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		follows := s.Follows.Sealed(sealerOf(t, 1))
		confirm(t, s, "lea@example.org", "outils/plume", FollowAtOnce, monday)
		confirm(t, s, "lea@example.org", "", FollowAtOnce, monday)
		for i, test := range []struct {
			told mail.Verdict
			want map[string]string
		}{
			{mail.Verdict{Dropped: true}, map[string]string{}},
			{mail.Verdict{Told: "2026-11-16 plume=16.1a"}, map[string]string{"plume": "16.1a"}},
			{mail.Verdict{Told: "2026-11-16 encre=15.2b  trait=16.3c "}, map[string]string{"plume": "16.1a", "encre": "15.2b", "trait": "16.3c"}},
			{mail.Verdict{Told: "2026-11-16 -plume encre=16.4d "}, map[string]string{"encre": "16.4d", "trait": "16.3c"}},
			{mail.Verdict{Told: "2026-11-17 "}, map[string]string{}},
			{mail.Verdict{Told: "2026-11-17 -encre encre=17.5e"}, map[string]string{"encre": "17.5e"}},
		} {
			if err := follows.Tell(t.Context(), FollowAtOnce, "2026-11-16", 10, []string{""}, 0, int64(i+1), 2, monday); err != nil {
				t.Fatal(err)
			}
			c := claimMail(t, s, monday)
			finishMail(t, s, c, test.told)
			for id := range strings.FieldsSeq(c.About) {
				if !strings.HasPrefix(id, account.FollowID) {
					continue
				}
				if f, err := follows.Find(t.Context(), id); err != nil || !maps.Equal(f.Mailed, test.want) {
					t.Errorf("after %+v a reader knows %v, %v", test.told, f.Mailed, err)
				}
			}
		}
	})
}
