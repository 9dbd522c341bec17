package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/record"
	"palmares/internal/wire"
)

// Published is one version of the catalogue.
type Published struct {
	Catalog     *catalog.Catalog // empty when Version is 0
	Version     int64            // 0 when nothing has been published
	PublishedAt string           // when it was published, as in the feed
	ChangedOn   string           // the UTC day of the publication that made it, YYYY-MM-DD
	Feed        *record.Feed     // of the records; set by Load
	Events      []catalog.Event  // for feeds, newest first; nil when Version is 0

	sequence int64 // of its last event
}

// Load reads the catalogue as one publication left it. It reads with two connections at
// once, and again if a publication came between them.
func (s *Catalogue) Load(ctx context.Context) (*Published, error) {
	for {
		p, err := s.tryLoad(ctx)
		if err != nil || p != nil {
			return p, err
		}
	}
}

// A part is what the second connection reads.
type part struct {
	version     int64
	publishedAt string
	feed        *record.Feed
	tools       []*catalog.Tool
}

// tryLoad is one attempt of Load. It returns nil if the connections see two versions.
func (s *Catalogue) tryLoad(ctx context.Context) (p *Published, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	second := make(chan *part, 1)
	go func() {
		var other part
		err := s.read(ctx, func(tx *sql.Tx) error { return other.load(ctx, tx) })
		if err != nil {
			cancel(err)
		}
		second <- &other
	}()
	err = s.read(ctx, func(tx *sql.Tx) error {
		p, err = loadAll(ctx, tx, second)
		return err
	})
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause // of the other connection
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// load reads the feed, and the tools of the second half.
func (o *part) load(ctx context.Context, tx *sql.Tx) (err error) {
	if err := tx.QueryRowContext(ctx, `SELECT version, published_at FROM catalogue`).Scan(&o.version, &o.publishedAt); err != nil {
		return err
	}
	if o.feed, err = loadFeed(ctx, tx, changeColumns); err != nil {
		return err
	}
	o.tools, err = toolsWhere(ctx, tx, toolColumns, nil, "slug >= "+middle)
	return err
}

// middle is a slug, the same in every reading of a version, with about as many before it as
// after it; "" if there is none.
const middle = `coalesce((SELECT slug FROM tools ORDER BY slug LIMIT 1 OFFSET (SELECT count(*) / 2 FROM tools)), '')`

// loadAll reads the catalogue, its feed and the latest events, apart from what the second
// connection reads. It returns nil if that is of another version.
func loadAll(ctx context.Context, tx *sql.Tx, second <-chan *part) (*Published, error) {
	p := &Published{Catalog: &catalog.Catalog{}}
	if err := loadHead(ctx, tx, p); err != nil {
		return nil, err
	}
	if err := loadRecords(ctx, tx, p.Catalog); err != nil {
		return nil, err
	}
	var other *part
	err := loadTools(ctx, tx, p.Catalog, func(histories func(*catalog.Tool)) error {
		tools, err := toolsWhere(ctx, tx, toolColumns, nil, "slug < "+middle)
		if err != nil {
			return err
		}
		other = <-second
		p.Catalog.Tools = append(tools, other.tools...)
		for _, t := range p.Catalog.Tools {
			histories(t)
		}
		return ctx.Err()
	})
	if err != nil || other.version != p.Version || other.publishedAt != p.PublishedAt {
		return nil, err
	}
	p.Catalog.Sort()
	p.Feed = other.feed
	if p.Version > 0 {
		p.Events, err = latestEvents(ctx, tx, p.Catalog)
	}
	return p, err
}

// Feed reads the last change of every record: kind, slug, hash, and whether it is deleted.
func (s *Catalogue) Feed(ctx context.Context) (f *record.Feed, err error) {
	err = s.read(ctx, func(tx *sql.Tx) error {
		f, err = loadFeed(ctx, tx, only(changeColumns, "kind", "slug", "deleted", "hash"))
		return err
	})
	return f, err
}

// load reads the catalogue for a publication. Only the tools for which keep reports true
// are kept; it may be nil.
func load(ctx context.Context, tx *sql.Tx, keep func(*catalog.Tool) bool) (*Published, error) {
	c := &catalog.Catalog{}
	p := &Published{Catalog: c}
	if err := loadHead(ctx, tx, p); err != nil {
		return nil, err
	}
	if err := loadRecords(ctx, tx, c); err != nil {
		return nil, err
	}
	err := loadTools(ctx, tx, c, func(histories func(*catalog.Tool)) (err error) {
		c.Tools, err = toolsWhere(ctx, tx, toolColumns, func(t *catalog.Tool) bool {
			histories(t)
			return keep == nil || keep(t)
		}, "")
		return err
	})
	c.Sort()
	return p, err
}

// loadRecords reads all records but tools, in a few large queries without ORDER BY: the
// caller sorts them, whatever the database's collation.
func loadRecords(ctx context.Context, tx *sql.Tx, c *catalog.Catalog) (err error) {
	if err := loadSmall(ctx, tx, c); err != nil {
		return err
	}
	if c.Comparisons, err = records(ctx, tx, 0, comparisonTable, comparisonColumns); err != nil {
		return err
	}
	if c.Retired, err = records(ctx, tx, 0, retiredTable, retiredColumns); err != nil {
		return err
	}
	return loadPictures(ctx, tx, c)
}

// loadTools calls read, which reads the tools of c and passes each to histories, and reads
// what is kept of former ones.
func loadTools(ctx context.Context, tx *sql.Tx, c *catalog.Catalog, read func(histories func(*catalog.Tool)) error) error {
	prices, err := priceHistory.load(ctx, tx)
	if err != nil {
		return err
	}
	scores, err := scoreHistory.load(ctx, tx)
	if err != nil {
		return err
	}
	err = read(func(t *catalog.Tool) {
		t.PriceHistory, t.ScoreHistory = prices[t.Slug], scores[t.Slug]
		delete(prices, t.Slug)
		delete(scores, t.Slug)
	})
	if err != nil {
		return err
	}
	if err := loadPast(ctx, tx, c); err != nil {
		return err
	}
	for slug, changes := range prices {
		past := c.Past[slug]
		past.PriceHistory = changes
		c.Past[slug] = past
	}
	for slug, changes := range scores {
		past := c.Past[slug]
		past.ScoreHistory = changes
		c.Past[slug] = past
	}
	return nil
}

// loadHead reads what is known of the published version as a whole.
func loadHead(ctx context.Context, tx *sql.Tx, p *Published) error {
	return tx.QueryRowContext(ctx, `SELECT name, url, version, sequence, published_at, changed_on FROM catalogue`).
		Scan(&p.Catalog.Name, &p.Catalog.URL, &p.Version, &p.sequence, &p.PublishedAt, &p.ChangedOn)
}

// loadSmall reads the records of which there are few.
func loadSmall(ctx context.Context, tx *sql.Tx, c *catalog.Catalog) (err error) {
	if c.Categories, err = records(ctx, tx, 0, categoryTable, categoryColumns); err != nil {
		return err
	}
	if c.Pages, err = records(ctx, tx, 0, pageTable, pageColumns); err != nil {
		return err
	}
	settings, err := records(ctx, tx, 1, settingTable, settingColumns)
	if err != nil {
		return err
	}
	c.Settings = settings[0]
	c.Sort()
	return nil
}

// joinList, splitList and parseList store a list in one column; an empty list is "".
func joinList[T any](list []T) string {
	if len(list) == 0 {
		return ""
	}
	return string(wire.AppendJSON(nil, list))
}

func splitList(s string) (list []string, err error) {
	if s == "" {
		return nil, nil
	}
	if strings.IndexByte(s, '\\') < 0 { // without escapes no string contains a quote, and the array need not be parsed
		return strings.Split(s[len(`["`):len(s)-len(`"]`)], `","`), nil
	}
	return parseList[string](s)
}

func parseList[T any](s string) (list []T, err error) {
	if s != "" {
		err = json.Unmarshal([]byte(s), &list)
	}
	return list, err
}

type scanner func(dest ...any) error

// errSkip leaves out a row.
var errSkip = errors.New("skipped")

// rows returns all rows of a query, about capacity of them, but for those for which read
// returns errSkip; nil for none.
func rows[T any](ctx context.Context, q queryer, capacity int, query string, read func(scanner, *T) error, args ...any) ([]T, error) {
	found, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer found.Close()
	var all []T
	if capacity > 0 {
		all = make([]T, 0, capacity)
	}
	for found.Next() {
		all = append(all, *new(T))
		switch err := read(found.Scan, &all[len(all)-1]); {
		case err == errSkip:
			all = all[:len(all)-1]
		case err != nil:
			return nil, err
		}
	}
	return all, found.Err()
}
