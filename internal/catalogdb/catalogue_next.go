package catalogdb

import (
	"context"
	"database/sql"
	"errors"
	"maps"

	"palmares/internal/catalog"
	"palmares/internal/record"
	"palmares/internal/sqldb"
)

// LoadAfter is Load for a caller that has an earlier version, which must not be changed
// and may be nil. What did not change since is taken from there, and step says how the
// tools of the two versions are related; it is nil if everything was read.
func (s *Catalogue) LoadAfter(ctx context.Context, before *Published) (p *Published, step *catalog.Step, err error) {
	if before != nil && before.Version > 0 {
		err = s.db.Read(ctx, func(tx *sql.Tx) error {
			p, step, err = loadChanges(ctx, tx, before)
			return err
		})
		if err != nil || step != nil {
			return p, step, err
		}
	}
	p, err = s.Load(ctx)
	return p, nil, err
}

// loadChanges is LoadAfter for a version from which it is not far. step is nil if it is.
func loadChanges(ctx context.Context, tx *sql.Tx, before *Published) (p *Published, step *catalog.Step, err error) {
	p, err = loadHead(ctx, tx)
	if err != nil {
		return nil, nil, err
	}
	isNear, err := isNear(ctx, tx, before, p)
	if err != nil || !isNear {
		return nil, nil, err
	}
	n := nextLoad{old: before.Catalog, touched: map[*catalog.Kind][]string{}}
	n.fresh, err = gather(ctx, tx, gathering{url: p.url, each: n.touch, feed: true}, "written > $1", before.Version)
	if err != nil {
		return nil, nil, err
	}
	p.Catalog, step = n.replace()
	p.Feed, err = feedHead(ctx, tx)
	if err != nil {
		return nil, nil, err
	}
	p.Feed.Changes = before.Feed.With((&record.Feed{Changes: n.fresh.changes}).From(before.Feed.Last))
	p.Entries, err = latestEntries(ctx, tx)
	return p, step, err
}

// isNear reports whether an earlier version is one of this database, so recent that all that
// changed since is known, and so similar that reading that costs less than reading
// everything.
func isNear(ctx context.Context, tx *sql.Tx, before, now *Published) (bool, error) {
	// Versions of a database that was restored from a backup have the numbers of others.
	publishedAt, err := sqldb.Value[string](ctx, tx, `SELECT published_at FROM publications WHERE version = $1`,
		before.Version)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	behind := now.Version - before.Version
	if publishedAt != before.PublishedAt || behind < 0 || behind > keptVersions {
		return false, nil
	}
	// Proofs are small, and nothing is built of them.
	changed, err := sqldb.Value[int](ctx, tx, `SELECT count(*) FROM records WHERE written > $1 AND kind <> $2`, before.Version,
		catalog.ProofKind.Name)
	return changed <= max(100, len(before.Catalog.Tools)/4), err
}

// A nextLoad makes a catalogue from an earlier one and the rows that were written since.
type nextLoad struct {
	old     *catalog.Catalog
	fresh   *gathered
	touched map[*catalog.Kind][]string // the slugs of the records of old that are replaced or gone
}

// touch is called with each row. The row of a comparison that is deleted may have another
// beside it, which is only one of old if that is public like the row.
func (n *nextLoad) touch(r *row) {
	if r.Kind == catalog.ComparisonKind && r.Deleted {
		if x := n.old.Comparison(r.Slug); x == nil || x.Published != r.public {
			return
		}
	}
	n.touched[r.Kind] = append(n.touched[r.Kind], r.Slug)
}

// replace returns the next catalogue, and how its tools are related to those of the old one.
func (n *nextLoad) replace() (*catalog.Catalog, *catalog.Step) {
	old, fresh := n.old, &n.fresh.Catalog
	c, step := &catalog.Catalog{}, &catalog.Step{}
	for _, kind := range catalog.Kinds {
		moved := kind.Replace(c, old, fresh, n.touched[kind])
		if kind == catalog.ToolKind {
			*step = moved
		}
	}
	c.Past = replaceKeys(old.Past, fresh.Past, n.touched[pastKind])
	c.Pictures = replaceKeys(old.Pictures, fresh.Pictures, n.touched[pictureKind])
	return c, step
}

// replaceKeys returns old without the given keys, and with fresh, whose keys are among them.
func replaceKeys[T any](old, fresh map[string]T, keys []string) map[string]T {
	if len(keys) == 0 {
		return old
	}
	next := maps.Clone(old)
	if next == nil {
		next = map[string]T{}
	}
	for _, key := range keys {
		delete(next, key)
	}
	maps.Copy(next, fresh)
	return next
}
