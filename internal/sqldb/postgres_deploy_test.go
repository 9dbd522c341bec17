package sqldb

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// PgBouncer refuses a node that asks for a parameter that it neither knows nor ignores, and
// what it ignores has to be set on the role.
func TestTheFilesForPgBouncerHaveWhatANodeAsksFor(t *testing.T) {
	read := func(name string) string {
		file, err := os.ReadFile(filepath.Join("..", "..", "deploy", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(file)
	}
	line := regexp.MustCompile(`(?m)^ignore_startup_parameters = (.*)$`).FindStringSubmatch(read("pgbouncer.ini"))
	if line == nil {
		t.Fatal("deploy/pgbouncer.ini ignores nothing")
	}
	asked := append(slices.Collect(maps.Keys(sessionLimits)), "synchronous_commit")
	ignored := strings.Split(line[1], ", ")
	slices.Sort(asked)
	slices.Sort(ignored)
	if !slices.Equal(ignored, asked) {
		t.Errorf("deploy/pgbouncer.ini ignores %q; want %q", ignored, asked)
	}
	role := strings.ReplaceAll(read("postgresql.sql"), "'", "")
	for name, limit := range sessionLimits {
		if want := "ALTER ROLE palmares SET " + name + " = " + limit + ";"; !strings.Contains(role, want) {
			t.Errorf("deploy/postgresql.sql has no %s", want)
		}
	}
}
