package accountsite_test

import (
	"database/sql"
	"net/url"
	"path"
	"strings"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib"

	"palmares/internal/testkit"
)

// makeUnreachable makes a database unreachable until the test ends.
func makeUnreachable(t *testing.T, dsn string) {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	name := path.Base(u.Path)
	u.Path = "/postgres"
	db, err := sql.Open("pgx", u.String())
	if err != nil {
		t.Fatal(err)
	}
	exec := func(query string) {
		t.Helper()
		if _, err := db.Exec(query); err != nil {
			t.Fatal(err)
		}
	}
	exec("ALTER DATABASE " + name + " ALLOW_CONNECTIONS false")
	exec("SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE datname = '" + name + "'")
	exec("ALTER DATABASE " + name + " RENAME TO " + name + "away")
	t.Cleanup(func() {
		exec("ALTER DATABASE " + name + "away RENAME TO " + name)
		exec("ALTER DATABASE " + name + " ALLOW_CONNECTIONS true")
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestAnUnreachableDatabaseIsReportedAndNoSecretLogged(t *testing.T) {
	dsn := databases.Postgres(t)
	p := open(t, dsn, publicURL)
	b := p.signedIn("ada@example.org")
	token, secret := p.link("ada@example.org"), b.cookie.Value
	makeUnreachable(t, dsn)

	stranger := p.browser()
	for _, r := range []*testkit.Reply{
		b.get("/compte"), b.get("/compte/sessions"), b.post("/compte/deconnexion"),
		stranger.get("/compte/connexion?jeton=" + token), stranger.post("/compte/connexion", "jeton", token), stranger.post("/compte", "email", "eve@example.org"),
	} {
		// The database is gone for good.
		r.Is(503).Contains("Compte indisponible", "intervention de son exploitant").Lacks("Réessayez", "palmares_", "database", "postgres")
		if r.Header.Get("Retry-After") == "" {
			t.Errorf("%s does not say when to come back", r)
		}
	}
	stranger.get("/compte").Is(200).Contains(form) // which needs no database
	if b.cookie == nil {
		t.Error("the cookie of a session that may still exist was deleted")
	}
	log := p.log.String()
	if !strings.Contains(log, "path=/compte/connexion") {
		t.Errorf("the log does not say what failed: %s", log)
	}
	for what, hidden := range map[string]string{"token": token, "session": secret, "address": "eve@example.org"} {
		if strings.Contains(log, hidden) {
			t.Errorf("the log holds the %s: %s", what, log)
		}
	}
}
