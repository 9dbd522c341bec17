package main

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"palmares/internal/store"
)

// An invocation is what one run of a command is given.
type invocation struct {
	ctx      context.Context
	stdout   io.Writer
	stderr   io.Writer
	database string
	now      func() time.Time
}

// withStore opens the database, calls do with it and closes it.
func (inv *invocation) withStore(do func(*store.Store) error) error {
	st, err := store.Open(inv.ctx, inv.database)
	if err != nil {
		return err
	}
	return errors.Join(do(st), st.Close())
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
