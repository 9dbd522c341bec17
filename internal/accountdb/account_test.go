package accountdb

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"palmares/internal/account"
	"palmares/internal/sqldb"
	"palmares/internal/testkit"
)

// raised reports whether fn raised the revision by which nodes notice changes.
func raised(t *testing.T, s *kit, fn func()) bool {
	t.Helper()
	_, before, err := s.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	fn()
	_, after, err := s.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return after > before
}

func create(t testing.TB, s *kit, email string, plan account.Plan) account.Account {
	t.Helper()
	a, err := s.Accounts.Create(t.Context(), email, plan, monday)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestAccountsAreListedInOrderOfCreation(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		var want []account.Account
		for i, email := range []string{"zoe@example.org", "ada@example.org", "Émile@exemple.fr"} {
			a, err := s.Accounts.Create(t.Context(), email, account.Developer, day(i))
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, a)
		}
		got, err := s.Accounts.List(t.Context())
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("Accounts: %v (-want +got):\n%s", err, diff)
		}
		one, err := s.Accounts.Find(t.Context(), " ADA@example.org ")
		if one != want[1] || err != nil {
			t.Errorf("Account = %+v, %v; want %+v", one, err, want[1])
		}
	})
}

func TestAnAddressHasOneAccount(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		create(t, s, "ada@example.org", account.Developer)
		if raised(t, s, func() {
			_, err := s.Accounts.Create(t.Context(), "Ada@Example.org", account.Pro, monday)
			testkit.Fails(t, err, ErrAccountExists, "ada@example.org")
			_, err = s.Accounts.Create(t.Context(), "ada", account.Pro, monday)
			testkit.Fails(t, err, sqldb.ErrInvalid, "not an e-mail address")
		}) {
			t.Error("a refused account raised the revision")
		}
	})
}

func TestDeletingAnAccountDeletesItsKeysAndSessions(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		ada := create(t, s, "ada@example.org", account.Pro)
		signIn(t, s, "ada@example.org", monday)
		create(t, s, "bob@example.org", account.Pro)
		gone, _, err := s.Keys.Create(t.Context(), "ada@example.org", "a", nil, monday)
		if err != nil {
			t.Fatal(err)
		}
		kept, _, err := s.Keys.Create(t.Context(), "bob@example.org", "b", nil, monday)
		if err != nil {
			t.Fatal(err)
		}
		if !raised(t, s, func() {
			if err := s.Accounts.Delete(t.Context(), "ada@example.org"); err != nil {
				t.Fatal(err)
			}
		}) {
			t.Error("no node would hear of it")
		}
		_, err = s.Keys.ByHash(t.Context(), account.HashKey(gone))
		testkit.Fails(t, err, sqldb.ErrNotFound)
		if _, err := s.Keys.ByHash(t.Context(), account.HashKey(kept)); err != nil {
			t.Errorf("the key of another account: %v", err)
		}
		if rows := dump(t, s); strings.Contains(rows, ada.Email) || strings.Contains(rows, ada.ID) {
			t.Error("something of the account is left")
		}
	})
}

func TestAnUnknownAccountIsNamed(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		ctx := t.Context()
		for _, email := range []string{"ada@example.org", "not an address"} {
			_, errAccount := s.Accounts.Find(ctx, email)
			_, errKeys := s.Keys.List(ctx, email)
			_, _, errKey := s.Keys.Create(ctx, email, "a", nil, monday)
			for _, err := range []error{errAccount, errKeys, errKey, s.Accounts.SetPlan(ctx, email, account.Pro, monday), s.Accounts.Delete(ctx, email)} {
				testkit.Fails(t, err, ErrNoAccount, email)
			}
		}
		if _, keys, err := s.State(ctx); err != nil || keys != 0 {
			t.Errorf("State = %d, %v; what failed raised the revision", keys, err)
		}
	})
}
