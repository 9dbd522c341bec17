package sqldb

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
)

// Backup writes a verified copy of a database to a file. Readers and writers go on meanwhile. It calls verify with the
// copy or, where that is no database, with the database itself.
func Backup(ctx context.Context, d *DB, file string, verify func(Queryer) error) error {
	if err := os.WriteFile(file, nil, 0o600); err != nil { // whatever the umask is
		return err
	}
	err := d.dialect.backup(ctx, file, verify)
	return cmp.Or(ctx.Err(), err)
}

// backup writes a copy, and reads all of it.
func (d *sqliteDialect) backup(ctx context.Context, file string, verify func(Queryer) error) (err error) {
	if _, err := d.writes.ExecContext(ctx, "VACUUM INTO $1", file); err != nil {
		if explained := d.explain(err); errors.Is(explained, ErrDamaged) {
			return explained
		}
		return fmt.Errorf("the backup cannot be written: %w", err)
	}
	copied, err := sql.Open("sqlite", sqliteURI(file, busyTimeout, "_query_only", "on"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, copied.Close()) }()
	if err := integrity(ctx, copied, "the backup"); err != nil {
		return err
	}
	return verify(copied)
}

// backup has pg_dump write an archive, and reads all of that, after all that can be verified of the database.
func (d *postgresDialect) backup(ctx context.Context, file string, verify func(Queryer) error) error {
	if err := verify(d.reads); err != nil {
		return d.explain(err)
	}
	err := d.run(ctx, "pg_dump", "--format=custom", "--no-password", "--file="+file, "--dbname="+d.plainURL())
	if err != nil {
		return err
	}
	return d.run(ctx, "pg_restore", "--file="+os.DevNull, file)
}

var (
	passwordInURL = regexp.MustCompile(`^(\w+://[^:@/?]*):[^/?]*@`)
	// What the programs of PostgreSQL know of the parameters in a URL, where it is about connecting.
	connecting = regexp.MustCompile(`^(host|hostaddr|port|dbname|user|passfile|require_auth|channel_binding|` +
		`connect_timeout|ssl\w*|gss\w*|krbsrvname|target_session_attrs|load_balance_hosts)=`)
)

// plainURL returns the URL of the database for the programs of PostgreSQL, without the password, which everybody
// on the machine would see.
func (d *postgresDialect) plainURL() string {
	base, query, _ := strings.Cut(d.config.ConnString(), "?")
	parameters := slices.DeleteFunc(strings.Split(query, "&"), func(p string) bool { return !connecting.MatchString(p) })
	return passwordInURL.ReplaceAllString(base, "$1@") + "?" + strings.Join(parameters, "&")
}

// run runs a program of PostgreSQL.
func (d *postgresDialect) run(ctx context.Context, program string, args ...string) error {
	command := exec.CommandContext(ctx, program, args...)
	command.Env = append(os.Environ(), "PGPASSWORD="+d.config.Password)
	said, err := command.CombinedOutput()
	if errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("%s is not installed: install the programs of PostgreSQL, not older than the server "+
			"(on Debian: apt install postgresql-client)", program)
	}
	if err != nil {
		return fmt.Errorf("%s failed: %s (%w)", program, strings.TrimSpace(string(said)), err)
	}
	return nil
}

// integrity reads a whole SQLite database and returns ErrDamaged if something is wrong.
func integrity(ctx context.Context, db *sql.DB, name string) error {
	found, err := Value[string](ctx, db, `PRAGMA integrity_check(1)`)
	if err != nil {
		return err
	}
	if found != "ok" {
		return Problem(ErrDamaged, nil, "%s is damaged: restore it from a backup (%s)", name, found)
	}
	orphans, err := Value[int](ctx, db, `SELECT count(*) FROM pragma_foreign_key_check`)
	if err != nil {
		return err
	}
	if orphans > 0 {
		return Problem(ErrDamaged, nil, "%s is damaged: %d rows refer to others that do not exist; restore it from a backup",
			name, orphans)
	}
	return nil
}
