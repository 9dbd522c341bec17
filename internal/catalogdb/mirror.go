package catalogdb

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"palmares/internal/catalog"
	"palmares/internal/sqldb"
)

// Errors of mirrors.
var (
	ErrMirror    = errors.New("the database is a mirror")
	ErrNotMirror = errors.New("the database is not a mirror")
	// ErrMirrorMoved: what a copy was based on has changed.
	ErrMirrorMoved = errors.New("the mirror has changed")
	// ErrInexact: a copy does not have the state of its origin.
	ErrInexact = errors.New("the copy differs from its origin")
)

// An Origin is what a mirror knows of the server that it copies. The zero value is the
// origin of a database that is no mirror.
type Origin struct {
	URL string
	// Feed to Records are what was copied last; zero if nothing was yet.
	Feed              string
	Version, Position int64
	State             string
	UpdatedAt         string // the day of its last update, YYYY-MM-DD
	Records           int    // how many it has
	// Permitted says that one copy may be of another feed, older, or much smaller.
	Permitted bool
	// CheckedAt is when the origin was last seen to have nothing else; zero for never.
	CheckedAt time.Time
}

// copied returns what decides whether a copy still fits.
func (o Origin) copied() Origin {
	o.URL, o.CheckedAt = "", time.Time{}
	return o
}

const selectOrigin = `SELECT origin, feed, version, position, state, updated_at, records, permitted, checked_at
	FROM mirror`

func origin(ctx context.Context, q sqldb.Queryer) (o Origin, err error) {
	err = q.QueryRowContext(ctx, selectOrigin).Scan(&o.URL, &o.Feed, &o.Version, &o.Position, &o.State, &o.UpdatedAt,
		&o.Records, &o.Permitted, sqldb.Time(&o.CheckedAt))
	if errors.Is(err, sql.ErrNoRows) {
		return Origin{}, nil
	}
	return o, err
}

// Origin returns what the database is a mirror of.
func (s *Mirror) Origin(ctx context.Context) (Origin, error) {
	o, err := origin(ctx, s.db.Reads())
	return o, s.db.Explain(ctx, err)
}

// Begin makes an empty database a mirror of the origin at url, and returns what is known
// of it. Of a mirror it changes nothing. ErrNotMirror: something was published here.
func (s *Mirror) Begin(ctx context.Context, url string) (o Origin, err error) {
	o, err = s.Origin(ctx)
	if err != nil || o.URL != "" || o.Permitted {
		return o, err
	}
	err = s.db.Write(ctx, func(tx *sql.Tx) error {
		o, err = origin(ctx, tx)
		if err != nil || o.URL != "" || o.Permitted {
			return err
		}
		version, err := sqldb.Value[int64](ctx, tx, VersionQuery)
		if err != nil {
			return err
		}
		if version > 0 {
			return sqldb.Problem(ErrNotMirror, nil, "%s has a catalogue that was published here and is no mirror: "+
				"give --database an empty one, or run `palmares mirror reset` once to have it replaced by a copy of %s", s.db.Name(), url)
		}
		o.URL = url
		return recordOrigin(ctx, tx, o)
	})
	return o, err
}

// recordOrigin stores o and leaves the node that follows the origin as it is.
func recordOrigin(ctx context.Context, tx *sql.Tx, o Origin) error {
	return sqldb.Exec(ctx, tx, `
		INSERT INTO mirror (id, origin, feed, version, position, state, updated_at, records, permitted, checked_at, node, node_until)
		VALUES (1, $1, $2, $3, $4, $5, $6, $7, $8, $9, '', '')
		ON CONFLICT (id) DO UPDATE SET origin = excluded.origin, feed = excluded.feed, version = excluded.version, position = excluded.position,
			state = excluded.state, updated_at = excluded.updated_at, records = excluded.records,
			permitted = excluded.permitted, checked_at = excluded.checked_at`,
		o.URL, o.Feed, o.Version, o.Position, o.State, o.UpdatedAt, o.Records, o.Permitted, sqldb.FormatTime(o.CheckedAt))
}

// Checked stores that the origin has nothing but what was copied from it, under the
// version and the position that it has now. ErrMirrorMoved: base is not what is stored.
func (s *Mirror) Checked(ctx context.Context, base, now Origin) error {
	return s.db.Write(ctx, func(tx *sql.Tx) error {
		if err := fits(ctx, tx, base); err != nil {
			return err
		}
		return recordOrigin(ctx, tx, now)
	})
}

// fits returns an error if the stored origin is not base, or if there is none any more.
func fits(ctx context.Context, tx *sql.Tx, base Origin) error {
	stored, err := origin(ctx, tx)
	detached := stored.URL == "" && !stored.Permitted
	if err == nil && (detached || stored.copied() != base.copied()) {
		err = sqldb.Problem(ErrMirrorMoved, nil, "the mirror has changed in the meantime, "+
			"by another node or by `palmares mirror reset`: the next check starts from there")
	}
	return err
}

// Reset permits one copy that a mirror would refuse: of another feed, older, or much
// smaller.
func (s *Mirror) Reset(ctx context.Context) error {
	return s.db.Write(ctx, func(tx *sql.Tx) error {
		o, err := origin(ctx, tx)
		if err != nil {
			return err
		}
		o.Permitted = true
		return recordOrigin(ctx, tx, o)
	})
}

// Detach makes the database one that is published here, with the catalogue that it has.
// ErrNotMirror: it is one.
func (s *Mirror) Detach(ctx context.Context) error {
	return s.db.Write(ctx, func(tx *sql.Tx) error {
		missing := sqldb.Problem(ErrNotMirror, nil, "%s is no mirror", s.db.Name())
		return sqldb.ExecSome(ctx, tx, missing, `DELETE FROM mirror`)
	})
}

// Lead reports whether a node is the one that follows the origin, until the given time.
// It is that if no other is.
func (s *Mirror) Lead(ctx context.Context, node string, now, until time.Time) (bool, error) {
	n, err := sqldb.Write(ctx, s.db, func(tx *sql.Tx) (int64, error) {
		return sqldb.ExecRows(ctx, tx, `UPDATE mirror SET node = $1, node_until = $2 WHERE node = $1 OR node_until < $3`,
			node, sqldb.FormatTime(until), sqldb.FormatTime(now))
	})
	return n > 0, err
}

// Leave lets another node lead at once.
func (s *Mirror) Leave(ctx context.Context, node string) error {
	return sqldb.WriteOnce(ctx, s.db, `UPDATE mirror SET node = '', node_until = '' WHERE node = $1`, node)
}

// checkMirror returns an error if the catalogue of a mirror would be published here, or if
// a copy no longer fits.
func (p *publication) checkMirror(ctx context.Context) error {
	if p.opts.Mirror != nil {
		return fits(ctx, p.tx, p.opts.Mirror.Base)
	}
	o, err := origin(ctx, p.tx)
	if err == nil && o.URL != "" {
		err = sqldb.Problem(ErrMirror, nil, "the database is a mirror of %s: publish there, "+
			"or make it a catalogue of its own with `palmares mirror reset --detach`; nothing was changed", o.URL)
	}
	return err
}

// complete gives next what records do not say. A copy only keeps what is known of tools
// that are no longer active.
func (p *publication) complete(today string) {
	switch {
	case p.opts.Mirror != nil:
		catalog.KeepPast(p.old.Catalog, p.next)
	case !p.isExact():
		catalog.CarryOver(p.old.Catalog, p.next, today)
	}
}

// changesDate reports whether a copy only has another date than what is stored. That is a
// new version, so that every node notices.
func (p *publication) changesDate() bool {
	return p.opts.Mirror != nil && p.old.ChangedOn != p.opts.Mirror.Origin.UpdatedAt
}

// recordCopy stores what was copied, if the catalogue has become what the origin has.
func (p *publication) recordCopy(ctx context.Context, state string) error {
	if p.opts.Mirror == nil {
		return nil
	}
	o := p.opts.Mirror.Origin
	if state != o.State {
		return sqldb.Problem(ErrInexact, nil, "the records that %s sent do not become what it has (%s, not %s): "+
			"upgrade the older of the two servers; nothing was changed", o.URL, state, o.State)
	}
	o.CheckedAt = p.now
	return recordOrigin(ctx, p.tx, o)
}

// standCopy stores what a copy that changes nothing adds to the version that stands.
func (p *publication) standCopy(ctx context.Context) error {
	state, err := sqldb.Value[string](ctx, p.tx, `SELECT feed_state FROM catalogue`)
	if err != nil {
		return err
	}
	if err := p.writeListed(ctx); err != nil {
		return err
	}
	return p.recordCopy(ctx, state)
}
