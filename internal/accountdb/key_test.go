package accountdb

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"palmares/internal/account"
	"palmares/internal/sqldb"
	"palmares/internal/testkit"
)

func createKey(t *testing.T, s *kit, email, name string) (string, account.Key) {
	t.Helper()
	text, k, err := s.Keys.Create(t.Context(), email, name, nil, monday)
	if err != nil {
		t.Fatal(err)
	}
	return text, k
}

func TestAKeyIsFoundByItsHashAndNowhereInClear(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		a := create(t, s, "ada@example.org", account.Pro)
		var text string
		var made account.Key
		if !raised(t, s, func() { text, made = createKey(t, s, "ADA@example.org", " import de nuit ") }) {
			t.Error("no node would hear of it")
		}
		want := account.Key{
			ID: made.ID, AccountID: a.ID, Plan: account.Pro, Name: "import de nuit",
			Prefix: text[:8], Suffix: text[38:], CreatedAt: monday,
		}
		if !account.CheckKey(text) || made != want || !strings.HasPrefix(made.ID, "key_") {
			t.Errorf("made %q: %+v", text, made)
		}
		if got, err := s.Keys.ByHash(t.Context(), account.HashKey(text)); err != nil || got != want {
			t.Errorf("Keys.ByHash = %+v, %v; want %+v", got, err, want)
		}
		if got, err := s.Keys.List(t.Context(), "ada@example.org"); err != nil || cmp.Diff([]account.Key{want}, got) != "" {
			t.Errorf("Keys = %+v, %v", got, err)
		}
		if rows := dump(t, s); strings.Contains(rows, text) || strings.Contains(rows, text[8:38]) {
			t.Error("the key is stored in clear")
		}
		_, err := s.Keys.ByHash(t.Context(), account.HashKey(text+"x"))
		testkit.Fails(t, err, sqldb.ErrNotFound)
	})
}

func rotate(t *testing.T, s *kit, id string, at time.Time) (string, account.Key) {
	t.Helper()
	text, k, err := s.Keys.Rotate(t.Context(), account.AnyOwner(), id, at)
	if err != nil {
		t.Fatal(err)
	}
	return text, k
}

func TestTheLimitCountsLiveKeysOnly(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		create(t, s, "ada@example.org", account.Developer)
		_, first := createKey(t, s, "ada@example.org", "1")
		_, second := createKey(t, s, "ada@example.org", "2")
		createKey(t, s, "ada@example.org", "3")
		_, _, err := s.Keys.Create(t.Context(), "ada@example.org", "4", nil, monday)
		testkit.Fails(t, err, ErrKeyLimit, "3 live keys", "developer")

		if err := s.Keys.Revoke(t.Context(), account.AnyOwner(), first.ID, monday); err != nil {
			t.Fatal(err)
		}
		createKey(t, s, "ada@example.org", "4")
		// In its rotation overlap a key does not count, but its successor does.
		rotate(t, s, second.ID, monday)
		_, _, err = s.Keys.Create(t.Context(), "ada@example.org", "5", nil, monday)
		testkit.Fails(t, err, ErrKeyLimit, "3 live keys")

		if err := s.Accounts.SetPlan(t.Context(), "ada@example.org", account.Pro, monday); err != nil {
			t.Fatal(err)
		}
		createKey(t, s, "ada@example.org", "6")
	})
}

func TestARevokedKeyIsKnownAsSuch(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		create(t, s, "ada@example.org", account.Developer)
		text, k := createKey(t, s, "ada@example.org", "1")
		other, _ := createKey(t, s, "ada@example.org", "2")
		if !raised(t, s, func() {
			if err := s.Keys.Revoke(t.Context(), account.AnyOwner(), k.ID, day(1)); err != nil {
				t.Fatal(err)
			}
		}) {
			t.Error("no node would hear of it")
		}
		if err := s.Keys.Revoke(t.Context(), account.AnyOwner(), k.ID, day(2)); err != nil {
			t.Errorf("revoked again: %v", err)
		}
		if got, err := s.Keys.ByHash(t.Context(), account.HashKey(text)); err != nil || !got.RevokedAt.Equal(day(1)) {
			t.Errorf("Keys.ByHash = %+v, %v; want one revoked on %s", got, err, day(1))
		}
		hashes := [][32]byte{account.HashKey(text), account.HashKey("plm_nothing"), account.HashKey(other)}
		found, err := s.Keys.ByHashes(t.Context(), hashes)
		if err != nil || len(found) != 2 || !found[hashes[0]].RevokedAt.Equal(day(1)) || !found[hashes[2]].RevokedAt.IsZero() {
			t.Errorf("Keys.ByHashes = %+v, %v; want both keys, the first revoked on %s", found, err, day(1))
		}
		testkit.Fails(t, s.Keys.Revoke(t.Context(), account.AnyOwner(), "key_nothing", day(1)), ErrNoKey, "key_nothing")
	})
}

func TestTheLastUseOfAKeyOnlyMovesForward(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		create(t, s, "ada@example.org", account.Developer)
		text, k := createKey(t, s, "ada@example.org", "1")
		if raised(t, s, func() {
			for _, at := range []time.Time{day(2), day(1)} { // a slower node comes second
				if err := s.Keys.MarkUsed(t.Context(), []account.KeyUse{{KeyID: k.ID, At: at}, {KeyID: "key_gone", At: at}}); err != nil {
					t.Fatal(err)
				}
			}
		}) {
			t.Error("a use made every node look up its keys again")
		}
		if got, err := s.Keys.ByHash(t.Context(), account.HashKey(text)); err != nil || !got.LastUsedAt.Equal(day(2)) {
			t.Errorf("last used %s, %v; want %s", got.LastUsedAt, err, day(2))
		}
	})
}

func TestTheLastUsesOfManyKeysAreStoredTogether(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		var uses []account.KeyUse
		var hashes [][32]byte
		want := map[string]time.Time{}
		for i := range 12 {
			email := fmt.Sprintf("%d@example.org", i)
			create(t, s, email, account.Pro)
			for j := range 10 { // more than one statement takes
				text, k := createKey(t, s, email, fmt.Sprint(j))
				hashes = append(hashes, account.HashKey(text))
				want[k.ID] = day(1).Add(time.Duration(10*i+j) * time.Second)
				uses = append(uses, account.KeyUse{KeyID: k.ID, At: want[k.ID]})
			}
		}
		if err := s.Keys.MarkUsed(t.Context(), uses); err != nil {
			t.Fatal(err)
		}
		found, err := s.Keys.ByHashes(t.Context(), hashes)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]time.Time{}
		for _, k := range found {
			got[k.ID] = k.LastUsedAt
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("last uses (-want +got):\n%s", diff)
		}
		if err := s.Keys.MarkUsed(t.Context(), nil); err != nil {
			t.Errorf("no use at all: %v", err)
		}
	})
}
