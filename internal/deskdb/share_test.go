package deskdb_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"palmares/internal/account"
	"palmares/internal/deskdb"
	"palmares/internal/sqldb"
	"palmares/internal/testkit"
)

func TestAPrivateLinkWorksForFourteenDaysUnlessItIsRevoked(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		ctx := t.Context()
		c, other := workingCopy(t, s, "ada@example.org", "outils/plume.md"), workingCopy(t, s, "ada@example.org", "outils/autre.md")
		token, share, err := s.Shares.Create(ctx, c.ID, "ada@example.org", monday)
		if err != nil || len(token) != 22 || share.CopyID != c.ID || !share.ExpiresAt.Equal(day(14)) {
			t.Fatalf("%d characters, %+v, %v", len(token), share, err)
		}
		if stored := testkit.AtRest(t, s.SQL.Reads()); bytes.Contains(stored, []byte(token)) || !bytes.Contains(stored, []byte(share.ID)) {
			t.Error("the token is stored, or nothing is")
		}
		for range 3 {
			if got, err := s.Shares.Find(ctx, token, day(14).Add(-time.Millisecond)); got.ID != share.ID || err != nil {
				t.Fatalf("found %+v, %v", got, err)
			}
			if err := s.Shares.CountView(ctx, share.ID); err != nil {
				t.Fatal(err)
			}
		}
		if all, err := s.Shares.List(ctx, c.ID, monday); len(all) != 1 || all[0].Views != 3 || err != nil {
			t.Errorf("listed %+v, %v", all, err)
		}
		for _, wrong := range []string{"", "\x00", strings.ToUpper(token), token[:21], token + "A", account.NewToken(strings.NewReader(strings.Repeat("x", 32)))} {
			_, err := s.Shares.Find(ctx, wrong, monday)
			testkit.Fails(t, err, deskdb.ErrNoShare)
			if wrong != "" && strings.Contains(err.Error(), wrong) {
				t.Errorf("%v repeats the token", err)
			}
		}
		_, err = s.Shares.Find(ctx, token, day(14))
		testkit.Fails(t, err, sqldb.ErrNotFound, "expired")

		testkit.Fails(t, s.Shares.Revoke(ctx, other.ID, share.ID), deskdb.ErrNoShare)
		testkit.Fails(t, s.Shares.Revoke(ctx, c.ID, "shr_\x00"), deskdb.ErrNoShare)
		if err := s.Shares.Revoke(ctx, c.ID, share.ID); err != nil {
			t.Fatal(err)
		}
		_, err = s.Shares.Find(ctx, token, monday)
		testkit.Fails(t, err, deskdb.ErrNoShare)
	})
}

func TestPrivateLinksEndWithTheRoleOfTheirMaker(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		const ada = "ada@example.org"
		own, _, err := s.Shares.Create(t.Context(), workingCopy(t, s, ada, "outils/plume.md").ID, ada, monday)
		other, _, failed := s.Shares.Create(t.Context(), workingCopy(t, s, "bob@example.org", "outils/plume.md").ID, ada, monday)
		are := func(want string) {
			t.Helper()
			_, ofOwn := s.Shares.Find(t.Context(), own, monday)
			_, ofOther := s.Shares.Find(t.Context(), other, monday)
			if got := fmt.Sprint(ofOwn == nil, ofOther == nil); got != want {
				t.Errorf("her links to her copy and to another work: %s, want %s", got, want)
			}
		}
		addEditor(t, s, ada, "Ada", account.Editor)
		are("true true")
		addEditor(t, s, ada, "Ada", account.Author)
		are("true false")
		if err := errors.Join(err, failed, s.Editors.Remove(t.Context(), ada)); err != nil {
			t.Fatal(err)
		}
		are("false false")
	})
}

func TestPrivateLinksAreFewAndGoWithTheirCopyOrTheirTime(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		ctx := t.Context()
		c := workingCopy(t, s, "ada@example.org", "outils/plume.md")
		create := func(now time.Time) (string, error) {
			token, _, err := s.Shares.Create(ctx, c.ID, "ada@example.org", now)
			return token, err
		}
		for range deskdb.MaxShares {
			if _, err := create(monday); err != nil {
				t.Fatal(err)
			}
		}
		_, err := create(day(13))
		testkit.Fails(t, err, sqldb.ErrTooMany, "20 private links")
		if _, err := create(day(14)); err != nil { // those are over
			t.Fatal(err)
		}
		if n := count(t, s, "shares"); n != 1 {
			t.Errorf("%d links are kept", n)
		}
		if err := s.Shares.Prune(ctx, day(28)); err != nil {
			t.Fatal(err)
		}
		if n := count(t, s, "shares"); n != 0 {
			t.Errorf("%d links outlive their time", n)
		}
		token, err := create(day(28))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Copies.Delete(ctx, c.ID, c.Revision); err != nil {
			t.Fatal(err)
		}
		_, err = s.Shares.Find(ctx, token, day(28))
		testkit.Fails(t, err, deskdb.ErrNoShare)
	})
}
