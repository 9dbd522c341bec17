package main

import (
	"os"
	"strings"
	"testing"
)

func TestPostgreSQLNeedsASecretKeyForWebhooks(t *testing.T) {
	t.Setenv("PALMARES_SECRET_KEY", "") // which sets it back at the end
	if err := os.Unsetenv("PALMARES_SECRET_KEY"); err != nil {
		t.Fatal(err)
	}
	database := databases.Postgres(t)
	command := func(args ...string) (stdout, stderr string, code int) {
		var out, errs strings.Builder
		code = run(t.Context(), append(args, "--database", database), &out, &errs)
		return out.String(), errs.String(), code
	}
	if _, stderr, code := command("account", "create", "ada@example.org", "--plan", "pro"); code != 0 {
		t.Fatal(stderr)
	}
	_, stderr, code := command("webhook", "add", "ada@example.org", "https://hooks.example")
	if code != 1 || !strings.Contains(stderr, "openssl rand -base64 32") || !strings.Contains(stderr, "--secret-key") {
		t.Errorf("without a key: %d, %q", code, stderr)
	}
	stdout, stderr, code := command("webhook", "add", "ada@example.org", "https://hooks.example", "--secret-key", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")
	if code != 0 || !strings.HasPrefix(stdout, "whsec_") {
		t.Errorf("with a key: %d, %q", code, stderr)
	}
	// Commands that seal nothing need no key.
	list, stderr, code := command("webhook", "list", "ada@example.org")
	_, records, _ := strings.Cut(list, "\n") // below the names of the columns
	id, _, _ := strings.Cut(records, " ")
	if code != 0 || !strings.HasPrefix(id, "whk_") {
		t.Fatalf("list: %d, %q, %q", code, list, stderr)
	}
	if _, stderr, code := command("webhook", "deliveries", id); code != 0 {
		t.Errorf("deliveries: %d, %q", code, stderr)
	}
}

func TestTheKeyFileIsNamedAfterItsDatabase(t *testing.T) {
	for database, want := range map[string]string{"sqlite:x/a.db": "x/a.key", "sqlite:b": "b.key", "sqlite:c.sqlite": "c.sqlite.key", "postgres://x/a.db": ""} {
		if got := keyFile(database); got != want {
			t.Errorf("keyFile(%q) = %q; want %q", database, got, want)
		}
	}
}
