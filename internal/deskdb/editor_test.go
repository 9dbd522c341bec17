package deskdb_test

import (
	"fmt"
	"strings"
	"testing"

	"palmares/internal/account"
	"palmares/internal/deskdb"
	"palmares/internal/sqldb"
	"palmares/internal/testkit"
)

// addEditor adds somebody to the desk.
func addEditor(t testing.TB, s *kit, email, name string, role account.Role) deskdb.Editor {
	t.Helper()
	e, err := s.Editors.Add(t.Context(), deskdb.Editor{Email: email, Name: name, Role: role}, monday)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestPeopleAreAddedChangedListedAndRemoved(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		ctx := t.Context()
		zoe := addEditor(t, s, " Zoe@Example.org ", "Zoé Martin", account.Author)
		addEditor(t, s, "ada@example.org", "ada Lovelace", account.Author)
		if want := (deskdb.Editor{"zoe@example.org", "Zoé Martin", account.Author, monday}); zoe != want {
			t.Errorf("added as %+v, want %+v", zoe, want)
		}
		changed, err := s.Editors.Add(ctx, deskdb.Editor{Email: "ZOE@example.org", Name: "Zoé Durand", Role: account.Editor}, day(3))
		if want := (deskdb.Editor{"zoe@example.org", "Zoé Durand", account.Editor, monday}); changed != want || err != nil {
			t.Errorf("changed to %+v, %v, want %+v", changed, err, want)
		}
		if got, err := s.Editors.Find(ctx, "Zoe@example.org"); got != changed || err != nil {
			t.Errorf("found %+v, %v", got, err)
		}
		all, err := s.Editors.List(ctx)
		if err != nil || len(all) != 2 || all[0].Name != "ada Lovelace" || all[1] != changed {
			t.Errorf("the list is %+v, %v", all, err)
		}
		if err := s.Editors.Remove(ctx, "ZOE@example.org"); err != nil {
			t.Fatal(err)
		}
		for _, address := range []string{"zoe@example.org", "", "\x00", "\xff@example.org"} {
			_, err := s.Editors.Find(ctx, address)
			testkit.Fails(t, err, deskdb.ErrNoEditor)
			testkit.Fails(t, s.Editors.Remove(ctx, address), sqldb.ErrNotFound, "is not at the desk")
		}
	})
}

func TestNobodyIsAddedWithoutAnAddressANameAndARole(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		for _, c := range []struct {
			deskdb.Editor
			says string
		}{
			{deskdb.Editor{Email: "ada", Name: "Ada", Role: account.Author}, "not an e-mail address"},
			{deskdb.Editor{Email: "ada@example.org", Name: " ", Role: account.Author}, "name of a person"},
			{deskdb.Editor{Email: "ada@example.org", Name: "Ada <ada>", Role: account.Author}, "without < and >"},
			{deskdb.Editor{Email: "ada@example.org", Name: "Ada\nLovelace", Role: account.Author}, "name of a person"},
			{deskdb.Editor{Email: "ada@example.org", Name: "\xff", Role: account.Author}, "name of a person"},
			{deskdb.Editor{Email: "ada@example.org", Name: strings.Repeat("a", 101), Role: account.Author}, "at most 100"},
			{deskdb.Editor{Email: "ada@example.org", Name: "Ada", Role: "owner"}, "author or editor"},
			{deskdb.Editor{Email: "ada@example.org", Name: "Ada"}, "author or editor"},
		} {
			_, err := s.Editors.Add(t.Context(), c.Editor, monday)
			testkit.Fails(t, err, sqldb.ErrInvalid, c.says)
		}
		for i := range deskdb.MaxEditors {
			addEditor(t, s, fmt.Sprintf("e%d@example.org", i), "E", account.Author)
		}
		_, err := s.Editors.Add(t.Context(), deskdb.Editor{Email: "more@example.org", Name: "More", Role: account.Editor}, monday)
		testkit.Fails(t, err, sqldb.ErrTooMany, "200 people", "remove somebody")
		addEditor(t, s, "e0@example.org", "E", account.Editor)
		if n := count(t, s, "editors"); n != deskdb.MaxEditors {
			t.Errorf("%d people are at the desk", n)
		}
	})
}
