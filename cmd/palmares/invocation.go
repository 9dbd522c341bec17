package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"palmares/internal/node"
	"palmares/internal/problem"
)

// An invocation is what one run of a command is given.
type invocation struct {
	ctx      context.Context
	stdout   io.Writer
	stderr   io.Writer
	database string
	now      func() time.Time
	language problem.Language
}

// say returns a text in the language of the command.
func (inv *invocation) say(code string, args ...any) string {
	return problem.New(code, args...).In(inv.language)
}

// printf prints to standard output.
func (inv *invocation) printf(format string, args ...any) error {
	_, err := fmt.Fprintf(inv.stdout, format, args...)
	return err
}

// result prints what was done, unless that failed.
func (inv *invocation) result(err error, format string, args ...any) error {
	if err != nil {
		return err
	}
	return inv.printf(format, args...)
}

// withStore opens the database, calls do with it and closes it.
func (inv *invocation) withStore(do func(*node.Database) error) error {
	if err := installed.become(inv.stderr); err != nil {
		return err
	}
	st, err := node.Open(inv.ctx, inv.database)
	if err != nil {
		return err
	}
	return errors.Join(do(st), st.Close())
}

// withExisting is withStore for commands that make no sense in a new database: they do not
// create one at a mistyped path.
func (inv *invocation) withExisting(do func(*node.Database) error) error {
	if isAbsent(inv.database) {
		hint := ""
		if installed.denied {
			hint = "; for the server of this machine run it as root, who may read " + installed.settings
		}
		return fmt.Errorf("there is no database %s: check --database or PALMARES_DATABASE (`palmares publish` and "+
			"`palmares serve` create one)%s", inv.database, hint)
	}
	return inv.withStore(do)
}

// keyFile returns where the key that seals webhook secrets is kept, beside a SQLite
// database; "" for another database.
func keyFile(database string) string {
	path, ok := strings.CutPrefix(database, "sqlite:")
	if !ok {
		return ""
	}
	return strings.TrimSuffix(path, ".db") + ".key"
}
