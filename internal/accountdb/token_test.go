package accountdb

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"palmares/internal/account"
	"palmares/internal/sqldb"
	"palmares/internal/testkit"
)

func TestATokenIsFoundByItsHashAndNowhereInClear(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		if exists, err := s.Tokens.Any(t.Context()); err != nil || exists {
			t.Errorf("a new database has a token: %v, %v", exists, err)
		}
		text, made, err := s.Tokens.Create(t.Context(), " ci ", day(90), monday)
		if err != nil {
			t.Fatal(err)
		}
		want := account.PublishToken{ID: made.ID, Name: "ci", Prefix: text[:8], Suffix: text[38:], CreatedAt: monday, ExpiresAt: day(90)}
		if !account.CheckPublishToken(text) || made != want || !account.IsID(account.PublishTokenID, made.ID) {
			t.Errorf("made %q: %+v", text, made)
		}
		if got, err := s.Tokens.Find(t.Context(), account.HashKey(text)); err != nil || got != want {
			t.Errorf("Find = %+v, %v; want %+v", got, err, want)
		}
		if exists, err := s.Tokens.Any(t.Context()); err != nil || !exists {
			t.Errorf("Any = %v, %v", exists, err)
		}
		if rows := dump(t, s); strings.Contains(rows, text) || strings.Contains(rows, text[8:38]) {
			t.Error("the token is stored in clear")
		}
		_, err = s.Tokens.Find(t.Context(), account.HashKey(text+"x"))
		testkit.Fails(t, err, sqldb.ErrNotFound)
		testkit.Fails(t, err, account.ErrInvalidToken)
		_, _, err = s.Tokens.Create(t.Context(), "\n", time.Time{}, monday)
		testkit.Fails(t, err, sqldb.ErrInvalid, "token has no name")
	})
}

func TestARevokedTokenKeepsItsTimeAndItsUses(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		_, made, err := s.Tokens.Create(t.Context(), "ci", time.Time{}, monday)
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range []time.Time{day(2), day(1)} { // a node whose clock is behind
			if err := s.Tokens.MarkUsed(t.Context(), made.ID, at); err != nil {
				t.Fatal(err)
			}
		}
		for _, at := range []time.Time{day(3), day(4)} {
			if err := s.Tokens.Revoke(t.Context(), made.ID, at); err != nil {
				t.Fatal(err)
			}
		}
		want := made
		want.LastUsedAt, want.RevokedAt = day(2), day(3)
		if got, err := s.Tokens.List(t.Context()); err != nil || cmp.Diff([]account.PublishToken{want}, got) != "" {
			t.Errorf("List = %+v, %v; want %+v", got, err, want)
		}
		testkit.Fails(t, s.Tokens.Revoke(t.Context(), "tok_none", monday), ErrNoToken, "tok_none")
	})
}
