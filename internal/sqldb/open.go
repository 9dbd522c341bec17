package sqldb

import (
	"cmp"
	"context"
	"errors"
	"strings"
)

// Open opens the database that dsn names, `sqlite:PATH` or `postgres://…`, creates it
// if it is a SQLite file that does not exist yet, and brings its tables up to date.
func Open(ctx context.Context, dsn string, cfg Config) (*DB, error) {
	return open(ctx, dsn, cfg, false)
}

// OpenOffline opens a database that no server may use meanwhile, to read and write whole
// tables. ErrServed: a server uses it.
func OpenOffline(ctx context.Context, dsn string, cfg Config) (*DB, error) {
	d, err := open(ctx, dsn, cfg, true)
	if err != nil {
		return nil, err
	}
	if err := d.dialect.offline(ctx); err != nil {
		_ = d.Close() // it was only opened
		return nil, d.Explain(ctx, err)
	}
	return d, nil
}

func open(ctx context.Context, dsn string, cfg Config, alone bool) (*DB, error) {
	d, err := connect(ctx, dsn, cfg, alone)
	if err == nil {
		err = d.migrate(ctx)
	}
	if err != nil {
		return nil, errors.Join(d.Explain(ctx, err), d.Close())
	}
	return d, nil
}

// connect opens a database, whatever its tables are. It also returns a DB with an error.
func connect(ctx context.Context, dsn string, cfg Config, alone bool) (*DB, error) {
	d := &DB{
		parts: cfg.Parts, alone: alone, faults: &faults{}, unwritableFor: unwritableFor,
		writeWait: cmp.Or(cfg.WriteWait, defaultWriteWait), lockWait: lockLimit,
	}
	if path, ok := strings.CutPrefix(dsn, "sqlite:"); ok {
		return d, d.openSQLite(ctx, path)
	}
	if strings.HasPrefix(dsn, "postgres://") || strings.HasPrefix(dsn, "postgresql://") {
		return d, d.openPostgres(ctx, dsn, cfg.Counting)
	}
	// The text is not repeated: it may be an address with a password and a typo.
	return d, errors.New("the database is neither sqlite:PATH nor postgres://USER@HOST/NAME: give one of the two")
}
