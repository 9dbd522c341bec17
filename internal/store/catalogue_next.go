package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"palmares/internal/catalog"
	"palmares/internal/record"
	"palmares/internal/wire"
)

// versionChanges are the records that a version changed, added or removed.
type versionChanges struct {
	Tools       []string `json:"tools,omitempty"`
	Comparisons []string `json:"comparisons,omitempty"`
	Retired     []string `json:"retired,omitempty"`
	Pictures    bool     `json:"pictures,omitempty"`
	Past        bool     `json:"past,omitempty"`
}

func (v *versionChanges) add(o versionChanges) {
	v.Tools = append(v.Tools, o.Tools...)
	v.Comparisons = append(v.Comparisons, o.Comparisons...)
	v.Retired = append(v.Retired, o.Retired...)
	v.Pictures = v.Pictures || o.Pictures
	v.Past = v.Past || o.Past
}

// recordedVersions is how many versions have their changes stored. A server that is further
// behind reads everything.
const recordedVersions = 100

// isSmall reports whether reading the changes of a version costs less than reading a
// catalogue of that many tools.
func (v *versionChanges) isSmall(tools int) bool {
	return len(v.Tools)+len(v.Comparisons)+len(v.Retired) <= max(100, tools/4)
}

// writeVersionChanges stores which records the publication changes.
func (p *publication) writeVersionChanges(ctx context.Context, version int64) error {
	if _, err := p.tx.ExecContext(ctx, `DELETE FROM version_changes WHERE version <= $1`, version-recordedVersions); err != nil {
		return err
	}
	slugs := func(r catalog.RecordChanges) []string { return slices.Concat(r.Added, r.Changed, r.Removed) }
	v := versionChanges{
		Tools: append(slugs(p.diff.Tools), p.diff.Listed...), Comparisons: slugs(p.diff.Comparisons), Retired: slugs(p.diff.Retired),
		Pictures: p.diff.Pictures, Past: p.diff.Past,
	}
	if !v.isSmall(len(p.next.Tools)) {
		return nil
	}
	_, err := p.tx.ExecContext(ctx, `INSERT INTO version_changes (version, records) VALUES ($1, $2)`, version, string(wire.AppendJSON(nil, v)))
	return err
}

// LoadAfter is Load for a caller that has an earlier version, which must not be changed
// and may be nil. What did not change since is taken from there, and step says how the
// records of the two versions are related; it is nil if everything was read.
func (s *Catalogue) LoadAfter(ctx context.Context, before *Published) (p *Published, step *catalog.Step, err error) {
	if before == nil || before.Version == 0 {
		p, err = s.Load(ctx)
		return p, nil, err
	}
	err = s.read(ctx, func(tx *sql.Tx) error {
		p = &Published{Catalog: &catalog.Catalog{}}
		if err := loadHead(ctx, tx, p); err != nil {
			return err
		}
		changed, err := changesSince(ctx, tx, before, p.Version)
		if err != nil || changed == nil || !changed.isSmall(len(before.Catalog.Tools)) {
			return err
		}
		n := nextLoad{tx: tx, placeholders: s.dialect.placeholders(), before: before, next: p, changed: changed}
		if err := n.load(ctx); err != nil {
			return err
		}
		step = &n.step
		return nil
	})
	if err == nil && step == nil {
		p, err = s.Load(ctx)
	}
	if err != nil {
		return nil, nil, err
	}
	return p, step, nil
}

// changesSince returns what the versions after before changed, up to version; nil if that
// is not known, or if before is not a version of this database.
func changesSince(ctx context.Context, tx *sql.Tx, before *Published, version int64) (*versionChanges, error) {
	// Versions of a database that was restored from a backup have the numbers of others.
	var publishedAt string
	err := tx.QueryRowContext(ctx, `SELECT published_at FROM publications WHERE version = $1`, before.Version).Scan(&publishedAt)
	if errors.Is(err, sql.ErrNoRows) || err == nil && (publishedAt != before.PublishedAt || version < before.Version) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	all, err := rows(ctx, tx, 0, `SELECT records FROM version_changes WHERE version > $1 AND version <= $2`,
		func(scan scanner, v *versionChanges) error {
			var text string
			if err := scan(&text); err != nil {
				return err
			}
			return json.Unmarshal([]byte(text), v)
		}, before.Version, version)
	if err != nil || int64(len(all)) < version-before.Version {
		return nil, err
	}
	sum := &versionChanges{}
	for _, v := range all {
		sum.add(v)
	}
	return sum, nil
}

// A nextLoad reads what changed since a version.
type nextLoad struct {
	tx           *sql.Tx
	placeholders int
	before, next *Published
	changed      *versionChanges
	step         catalog.Step
}

func (n *nextLoad) load(ctx context.Context) (err error) {
	old, c := n.before.Catalog, n.next.Catalog
	if err := loadSmall(ctx, n.tx, c); err != nil {
		return err
	}
	tools, err := ofSlugs(n, n.changed.Tools, func(where string, args []any) ([]*catalog.Tool, error) {
		return toolsWhere(ctx, n.tx, toolColumns, nil, where, args...)
	})
	if err != nil {
		return err
	}
	fresh := &catalog.Catalog{Tools: tools, Past: map[string]catalog.PastTool{}}
	fresh.Sort()
	if err := n.loadHistories(ctx, fresh, n.changed.Tools); err != nil {
		return err
	}
	c.Tools, n.step.Tools = catalog.Replace(old.Tools, fresh.Tools, n.changed.Tools, func(t **catalog.Tool) string { return (*t).Slug })
	comparisons, err := recordsOfSlugs(ctx, n, comparisonTable, comparisonColumns, n.changed.Comparisons)
	if err != nil {
		return err
	}
	slices.SortFunc(comparisons, func(a, b catalog.Comparison) int { return cmp.Compare(a.Slug, b.Slug) })
	c.Comparisons, n.step.Comparisons = catalog.Replace(old.Comparisons, comparisons, n.changed.Comparisons, func(x *catalog.Comparison) string { return x.Slug })
	retired, err := recordsOfSlugs(ctx, n, retiredTable, retiredColumns, n.changed.Retired)
	if err != nil {
		return err
	}
	slices.SortFunc(retired, func(a, b catalog.Retired) int { return cmp.Compare(a.Slug, b.Slug) })
	c.Retired, n.step.Retired = catalog.Replace(old.Retired, retired, n.changed.Retired, func(r *catalog.Retired) string { return r.Slug })
	if c.Past = old.Past; n.changed.Past {
		if err := n.loadPast(ctx); err != nil {
			return err
		}
	}
	if c.Pictures = old.Pictures; n.changed.Pictures {
		if err := loadPictures(ctx, n.tx, c); err != nil {
			return err
		}
	}
	if err := n.loadFeed(ctx); err != nil {
		return err
	}
	n.next.Events, err = latestEvents(ctx, n.tx, c)
	return err
}

// loadPast reads what is kept of all tools that are no longer active.
func (n *nextLoad) loadPast(ctx context.Context) error {
	c := n.next.Catalog
	if err := loadPast(ctx, n.tx, c); err != nil {
		return err
	}
	// Of some only a history is known.
	slugs := slices.Concat(slices.Collect(maps.Keys(c.Past)), slices.Collect(maps.Keys(n.before.Catalog.Past)), n.changed.Tools)
	slices.Sort(slugs)
	slugs = slices.DeleteFunc(slices.Compact(slugs), func(slug string) bool { return c.Tool(slug) != nil })
	return n.loadHistories(ctx, c, slugs)
}

func (n *nextLoad) loadHistories(ctx context.Context, into *catalog.Catalog, slugs []string) error {
	prices, err := recordsOfSlugs(ctx, n, priceTable, priceColumns, slugs)
	if err != nil {
		return err
	}
	priceHistory.set(into, prices)
	scores, err := recordsOfSlugs(ctx, n, scoreTable, scoreColumns, slugs)
	if err != nil {
		return err
	}
	scoreHistory.set(into, scores)
	return nil
}

// loadFeed reads the changes after those of the earlier version.
func (n *nextLoad) loadFeed(ctx context.Context) error {
	f, err := feedHead(ctx, n.tx)
	if err != nil {
		return err
	}
	added, err := recordsWhere(ctx, n.tx, 0, changeTable, changeColumns, nil, "position > $2", n.before.Feed.Last)
	if err != nil {
		return err
	}
	slices.SortFunc(added, func(a, b record.Change) int { return cmp.Compare(a.Position, b.Position) })
	f.Changes = n.before.Feed.With(added)
	n.next.Feed = f
	return nil
}

// recordsOfSlugs reads the rows of the given slugs.
func recordsOfSlugs[T any](ctx context.Context, n *nextLoad, t table, columns []column[T], slugs []string) ([]T, error) {
	return ofSlugs(n, slugs, func(where string, args []any) ([]T, error) {
		return recordsWhere(ctx, n.tx, 0, t, columns, nil, where, args...)
	})
}

// ofSlugs calls read for some of the slugs at a time, with a condition for them.
func ofSlugs[T any](n *nextLoad, slugs []string, read func(where string, args []any) ([]T, error)) (all []T, err error) {
	slugs = slices.Clone(slugs)
	slices.Sort(slugs)
	for some := range slices.Chunk(slices.Compact(slugs), n.placeholders) {
		args, list := inAfter([]any{separator}, some)
		found, err := read("slug IN "+list, args[1:])
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}
