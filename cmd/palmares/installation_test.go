package main

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCommandsHaveTheSettingsOfTheInstallationUnlessTheyNameADatabase(t *testing.T) {
	i := installation{settings: filepath.Join(t.TempDir(), "palmares.env"), user: "palmares", folder: "/var/lib/palmares"}
	for _, name := range []string{"PALMARES_DATABASE", "PALMARES_SMTP", "PALMARES_DOMAIN"} {
		t.Setenv(name, "") // which sets it back at the end
	}
	t.Cleanup(func() { _ = os.Unsetenv("export PALMARES_DATABASE") })
	adopts := func(args ...string) map[string]string {
		t.Helper()
		i.adopted = false
		for _, name := range []string{"PALMARES_DATABASE", "PALMARES_SMTP"} {
			if err := os.Unsetenv(name); err != nil {
				t.Fatal(err)
			}
		}
		t.Setenv("PALMARES_DOMAIN", "given.example")
		if err := i.adopt(args); err != nil {
			t.Fatal(err)
		}
		if !i.adopted {
			return nil
		}
		return map[string]string{"database": os.Getenv("PALMARES_DATABASE"), "smtp": os.Getenv("PALMARES_SMTP"), "domain": os.Getenv("PALMARES_DOMAIN")}
	}
	if got := adopts("account", "list"); got != nil {
		t.Errorf("without an installation: %v", got)
	}
	for text, database := range map[string]string{
		"":                                     "sqlite:/var/lib/palmares/palmares.db",
		"PALMARES_DATABASE=sqlite:x.db\n":      "sqlite:/var/lib/palmares/x.db",
		"PALMARES_DATABASE='sqlite:/srv/x.db'": "sqlite:/srv/x.db",
		"# PALMARES_DATABASE=sqlite:no\n; no=1\nPALMARES_DATABASE=\"postgres://a:b=c@db.example/x\"": "postgres://a:b=c@db.example/x",
		"export PALMARES_DATABASE=sqlite:x.db":                                                       "sqlite:/var/lib/palmares/palmares.db", // as systemd reads it
	} {
		writeFile(t, i.settings, []byte(text+"\nPALMARES_SMTP=smtp://mail.example\nPALMARES_DOMAIN=catalogue.example\n"))
		want := map[string]string{"database": database, "smtp": "smtp://mail.example", "domain": "given.example"}
		if got := adopts("account", "list"); !maps.Equal(got, want) {
			t.Errorf("%q: %v; want %v", text, got, want)
		}
	}
	var said strings.Builder
	other := installation{denied: true}
	if err := errors.Join(other.become(&said), other.become(&said)); err != nil || strings.Count(said.String(), "run it as root") != 1 {
		t.Errorf("%v, %q", err, said.String())
	}
	if got := adopts("account", "list", "--database", "sqlite:x.db"); got != nil {
		t.Errorf("with --database: %v", got)
	}
	t.Setenv("PALMARES_DATABASE", "sqlite:x.db")
	if err := i.adopt(nil); err != nil || i.adopted {
		t.Errorf("with PALMARES_DATABASE: %v", err)
	}
}
