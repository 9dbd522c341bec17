package main

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"palmares/internal/testkit"
	"palmares/internal/webhook"
)

func TestPostgreSQLNeedsASecretKeyForWebhooks(t *testing.T) {
	database := testkit.Postgres(t)
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
	// What seals nothing needs none.
	list, stderr, code := command("webhook", "list", "ada@example.org")
	if code != 0 || !strings.HasPrefix(list, "whk_") {
		t.Fatalf("list: %d, %q", code, stderr)
	}
	id, _, _ := strings.Cut(list, " ")
	if _, stderr, code := command("webhook", "deliveries", id); code != 0 {
		t.Errorf("deliveries: %d, %q", code, stderr)
	}
}

func TestOfManyWhoMakeTheKeyFileAllGetTheSameKey(t *testing.T) {
	s := &session{database: "sqlite:" + filepath.Join(t.TempDir(), "palmares.db")}
	sealers := make([]webhook.Sealer, 50)
	var all sync.WaitGroup
	start := make(chan struct{})
	for i := range sealers {
		all.Go(func() {
			<-start
			var err error
			if sealers[i], err = s.keys("", true); err != nil {
				t.Error(err)
			}
		})
	}
	close(start)
	all.Wait()
	if t.Failed() {
		return
	}
	for i, sealer := range sealers {
		sealed := sealer.Seal("whk_1", "whsec_x")
		if secret, err := sealers[0].Open("whk_1", sealed); err != nil || secret != "whsec_x" {
			t.Errorf("the key of number %d is another: %v", i, err)
		}
	}
	folder, err := os.ReadDir(filepath.Dir(strings.TrimPrefix(s.database, "sqlite:")))
	if err != nil || len(folder) != 1 || folder[0].Name() != "palmares.key" {
		t.Errorf("left behind: %v, %v", folder, err)
	}
	if info, err := folder[0].Info(); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

func TestTheKeyFileIsNamedAfterItsDatabase(t *testing.T) {
	dir := t.TempDir()
	for database, want := range map[string]string{"a.db": "a.key", "b": "b.key", "c.sqlite": "c.sqlite.key"} {
		s := &session{database: "sqlite:" + filepath.Join(dir, database)}
		if _, err := s.keys("", true); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(dir, want)); err != nil {
			t.Error(err)
		}
	}
}
