package main

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"palmares/internal/catalogdb"
	"palmares/internal/node"
	"palmares/internal/sqldb"
	"palmares/internal/testkit"
)

// A timer makes them: nobody looks.
func TestBackupsInAFolderAreMadeOnBothDatabasesAndKeptUntilASoundOneIsThere(t *testing.T) {
	t.Parallel()
	databases.EachDSN(t, func(t *testing.T, database string) {
		dir := t.TempDir()
		old := []string{"palmares-20250101T030000Z.db", "palmares-20250102T030000Z.dump", "palmares-20250102T040000Z.db"}
		for _, name := range append(old, "palmares-notes.txt") {
			writeFile(t, filepath.Join(dir, name), nil)
		}
		names := func() (found []string) {
			t.Helper()
			all, err := os.ReadDir(dir)
			for _, e := range all {
				found = append(found, e.Name())
			}
			if err != nil {
				t.Fatal(err)
			}
			return found
		}
		before := names()
		must(t, "publish", "../../demo", "--database", database)
		st, err := node.Open(t.Context(), database)
		if err != nil {
			t.Fatal(err)
		}
		defer st.Close()
		flip := func(from, to string) {
			t.Helper()
			err := sqldb.WriteOnce(t.Context(), st.SQL, `UPDATE records SET document = replace(document, $1, $2) WHERE kind = 'outil'`, from, to)
			if err != nil {
				t.Fatal(err)
			}
		}
		flip(`"tagline":`, `"tagLine":`)
		refuses(t, "is not what was written", "backup", dir, "--keep-days", "1", "--database", database)
		if after := names(); !slices.Equal(after, before) {
			t.Errorf("a damaged database: %q, not %q", after, before)
		}
		flip(`"tagLine":`, `"tagline":`)
		for _, damage := range []struct{ statement, repair, want string }{
			{`UPDATE records SET deleted = TRUE WHERE slug = 'babilune'`, `UPDATE records SET deleted = FALSE WHERE slug = 'babilune'`, "records are missing"},
			{`UPDATE picture_files SET hash = 'x' || hash`, `UPDATE picture_files SET hash = substr(hash, 2)`, "is missing"},
		} {
			if err := sqldb.WriteOnce(t.Context(), st.SQL, damage.statement); err != nil {
				t.Fatal(err)
			}
			refuses(t, damage.want, "backup", dir, "--keep-days", "1", "--database", database)
			if err := sqldb.WriteOnce(t.Context(), st.SQL, damage.repair); err != nil {
				t.Fatal(err)
			}
		}
		if after := names(); !slices.Equal(after, before) {
			t.Errorf("a database without some of its rows: %q, not %q", after, before)
		}
		if !strings.HasPrefix(database, "sqlite:") {
			alone := palmares(t.Context(), "backup", dir, "--keep-days", "1", "--database", database)
			alone.Env = append(alone.Env, "PATH=/nonexistent")
			if out, err := alone.CombinedOutput(); err == nil || !strings.Contains(string(out), "pg_dump is not installed") || !slices.Equal(names(), before) {
				t.Errorf("without pg_dump: %v, %s, %q", err, out, names())
			}
		}
		must(t, "backup", dir, "--keep-days", "2", "--database", database)
		after := names()
		if len(after) != 4 || slices.Contains(after, old[0]) || !slices.Contains(after, old[1]) || !slices.Contains(after, old[2]) {
			t.Errorf("the backups of two days: %q", after)
		}
		if !strings.HasPrefix(database, "sqlite:") {
			restored := testkit.Postgres(t)
			out, err := exec.CommandContext(t.Context(), "pg_restore", "--exit-on-error", "--no-owner", "--dbname="+restored, filepath.Join(dir, after[2])).CombinedOutput()
			if err != nil || !strings.Contains(must(t, "log", "--database", restored), "1") {
				t.Errorf("%v: %s", err, out)
			}
		}
		if out := must(t, "check", "--database", database); !strings.Contains(out, "ok     backup       the last one was made on") {
			t.Error(out)
		}
	})
	empty := t.TempDir()
	absent := "sqlite:" + filepath.Join(empty, "none.db")
	must(t, "backup", empty, "--database", absent) // the timer runs before anything is published
	writeFile(t, filepath.Join(empty, "palmares-20250101T030000Z.db"), nil)
	refuses(t, "there is no database", "backup", empty, "--database", absent)
	must(t, "account", "create", "ada@example.org", "--database", absent) // as after the file was emptied
	refuses(t, "nothing is published in", "backup", empty, "--database", absent)
}

func TestABackupThatIsMissingOrOldIsWrong(t *testing.T) {
	t.Parallel()
	databases.EachDSN(t, func(t *testing.T, database string) {
		must(t, "publish", marked(t, "A", 3), "--database", database)
		st, err := node.Open(t.Context(), database)
		if err != nil {
			t.Fatal(err)
		}
		defer st.Close()
		line := func(want string) {
			t.Helper()
			var out strings.Builder
			run(t.Context(), []string{"check", "--database", database}, &out, &out)
			if !strings.Contains(out.String(), want) {
				t.Errorf("no %q in\n%s", want, &out)
			}
		}
		line("?      backup       none was ever made")
		first := sqldb.FormatTime(time.Now().Add(-25 * time.Hour))
		if err := sqldb.WriteOnce(t.Context(), st.SQL, `UPDATE publications SET published_at = $1`, first); err != nil {
			t.Fatal(err)
		}
		line("WRONG  backup       none was ever made")
		must(t, "backup", "--elsewhere", "--database", database)
		line("ok     backup       the last one was made on")
		if err := st.Upkeep.Note(t.Context(), catalogdb.Backup, catalogdb.Done{At: time.Now().Add(-49 * time.Hour)}); err != nil {
			t.Fatal(err)
		}
		line("WRONG  backup       the last one was made on")
	})
}

func TestTheMetricsTellWhatTheNightlyCheckHasFound(t *testing.T) {
	t.Parallel()
	database, ops := databases.SQLite(t), freeAddress(t)
	must(t, "publish", marked(t, "A", 3), "--database", database)
	var said strings.Builder
	if code := run(t.Context(), []string{"check", "--quiet", "--smtp", "smtp://" + freeAddress(t), "--database", database}, &said, &said); code != 1 || strings.Count(said.String(), "\n") != 2 {
		t.Errorf("%d: %s", code, &said)
	}
	s := serveProcess(t, "--database", database, "--ops-listen", ops)
	metrics := &process{t: t, url: "http://" + ops, log: s.log}
	metrics.until("/metrics", func(_ *http.Response, body string) bool { return strings.Contains(body, "\npalmares_check_wrong 1\n") })
	must(t, "check", "--quiet", "--database", database)
	metrics.until("/metrics", func(_ *http.Response, body string) bool { return strings.Contains(body, "\npalmares_check_wrong 0\n") })
}

func TestADeskThatCannotStartLeavesTheSiteServing(t *testing.T) {
	t.Parallel()
	database, ops, desk := databases.SQLite(t), freeAddress(t), filepath.Join(t.TempDir(), "none")
	must(t, "publish", marked(t, "A", 3), "--database", database)
	s := serveProcess(t, "--database", database, "--ops-listen", ops, "--desk", desk)
	if resp, body := s.get("/redaction"); resp.StatusCode != http.StatusServiceUnavailable || !strings.Contains(body, "La rédaction est fermée") {
		t.Errorf("%d: %s", resp.StatusCode, body)
	}
	if resp, _ := s.get("/"); resp.StatusCode != http.StatusOK {
		t.Errorf("the site: %d", resp.StatusCode)
	}
	s.logs("the desk is closed")
	refuses(t, "WRONG  desk         the server cannot use "+desk, "check", "--database", database, "--ops-listen", ops, "--desk", desk)
	refuses(t, "WRONG  desk", "check", "--settings", "--database", database, "--desk", desk)
	must(t, "check", "--settings", "--database", database, "--desk", marked(t, "A", 3))
}
