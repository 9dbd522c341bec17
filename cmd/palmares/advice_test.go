package main

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAnErrorNamesTheCommandThatHelps(t *testing.T) {
	folder := t.TempDir()
	database := "sqlite:" + filepath.Join(folder, "palmares.db")
	command := func(args ...string) (stdout, stderr string) {
		var out, errs strings.Builder
		run(t.Context(), append(args, "--database", database), &out, &errs)
		return out.String(), errs.String()
	}
	for _, args := range [][]string{{"account", "create", "ada@example.org"}, {"key", "create", "ada@example.org", "--name", "x"}, {"key", "create", "ada@example.org", "--name", "x"}, {"key", "create", "ada@example.org", "--name", "x"}} {
		if _, stderr := command(args...); stderr != "" {
			t.Fatal(stderr)
		}
	}
	for _, test := range []struct{ command, want string }{
		{"account create Ada@example.org", "ada@example.org has an account already: change its plan with `palmares account plan ada@example.org PLAN`"},
		{"account plan bob@example.org pro", "\"bob@example.org\" has no account: see `palmares account list`, or create one with `palmares account create`"},
		{"key create ada@example.org --name x", "ada@example.org has 3 live keys and the developer plan has 3: revoke one with `palmares key revoke ID`, or change the plan"},
		{"key revoke key_none", "there is no key \"key_none\": see `palmares key list EMAIL`"},
		{"token revoke tok_none", "there is no token \"tok_none\": see `palmares token list`"},
		{"webhook add ada@example.org https://hooks.example", "ada@example.org has the developer plan and webhooks are part of the pro plan: change it with `palmares account plan ada@example.org pro`"},
		{"webhook deliveries whk_none", "there is no endpoint \"whk_none\": see `palmares webhook list EMAIL`"},
		{"webhook resend dlv_none", "there is no delivery \"dlv_none\": see `palmares webhook deliveries ID`; they are kept for 30 days"},
	} {
		if _, stderr := command(strings.Fields(test.command)...); stderr != "palmares: "+test.want+"\n" {
			t.Errorf("%s:\ngot  %swant palmares: %s", test.command, stderr, test.want)
		}
	}

	other, text := filepath.Join(folder, "other.db"), filepath.Join(folder, "text.db")
	db, err := sql.Open("sqlite", other)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), `CREATE TABLE theirs (x TEXT)`); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(text, []byte(strings.Repeat("no database ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		other: " is the database of another program: give --database another path; nothing was changed",
		text:  " is not a SQLite database: give --database the path of one, or of a file that does not exist yet; nothing was changed",
	} {
		database = "sqlite:" + path
		if _, stderr := command("account", "list"); stderr != "palmares: "+path+want+"\n" {
			t.Errorf("got  %swant palmares: %s%s", stderr, path, want)
		}
	}
}
