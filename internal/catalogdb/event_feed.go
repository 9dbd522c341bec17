package catalogdb

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/sqldb"
)

// feedEvents is how many events a feed is made from, the feed of all changes and that of
// each category. They are more than its 50 entries, because a new price has two events,
// and several of a day may be one entry.
const feedEvents = 150

// feedBatch is how many events are read at once.
const feedBatch = 500

// latestEvents returns the events that the feeds of a catalogue are made from, newest
// first. It is not nil.
func latestEvents(ctx context.Context, tx *sql.Tx, c *catalog.Catalog) ([]catalog.Event, error) {
	t := topicsOf(c)
	sequences, err := t.sequences(ctx, tx)
	if err != nil {
		return nil, err
	}
	events := make([]catalog.Event, 0, len(sequences))
	for batch := range slices.Chunk(sequences, feedBatch) {
		some, err := eventsAt(ctx, tx, batch)
		if err != nil {
			return nil, err
		}
		events = append(events, some...)
	}
	for i := range events {
		events[i].Categories, _ = t.of(events[i].Type, events[i].Slug)
	}
	return events, nil
}

// eventsAt returns the events of some sequences, newest first.
func eventsAt(ctx context.Context, q sqldb.Queryer, sequences []int64) ([]catalog.Event, error) {
	args, list := sqldb.InAfter(nil, sequences)
	return sqldb.Rows(ctx, q, `SELECT id, type, slug, created_at, body FROM events
		WHERE sequence IN `+list+` ORDER BY sequence DESC`, scanChange, args...)
}

// Between returns the events after a sequence up to another that are wanted by their type and slug, newest
// first and at most MaxBetween, and reports whether there are more.
func (s *Events) Between(
	ctx context.Context, after, upTo int64, isWanted func(sequence int64, e *catalog.Event) bool,
) (events []catalog.Event, more bool, err error) {
	var wanted []int64
	_, err = sqldb.List(ctx, s.db, `SELECT sequence, type, slug FROM events WHERE sequence > $1 AND sequence <= $2 ORDER BY sequence DESC`,
		func(scan sqldb.Scanner, _ *struct{}) error {
			var sequence int64
			var e catalog.Event
			err := scan(&sequence, &e.Type, &e.Slug)
			if err == nil && len(wanted) <= MaxBetween && isWanted(sequence, &e) {
				wanted = append(wanted, sequence)
			}
			return err
		}, after, upTo)
	if err != nil || len(wanted) == 0 {
		return nil, false, err
	}
	events, err = eventsAt(ctx, s.db.Reads(), wanted[:min(len(wanted), MaxBetween)])
	return events, len(wanted) > MaxBetween, s.db.Explain(ctx, err)
}

// MaxBetween is how many events Between returns.
const MaxBetween = feedBatch

// topics are the categories of all that events may be about.
type topics struct {
	catalog     *catalog.Catalog
	inactive    map[string]string // by slug, the category of tools that are no longer active
	aliases     map[string]string // by former slug, the category of the tool
	comparisons map[string]int    // by slug and former slug, published ones
	categories  []string          // those that have tools, active or not
}

// topicsOf returns the topics of a catalogue, of whose tools it needs slug, category and
// aliases.
func topicsOf(c *catalog.Catalog) *topics {
	t := &topics{
		catalog: c, inactive: map[string]string{}, aliases: map[string]string{}, comparisons: map[string]int{},
	}
	used := map[string]bool{}
	for _, tool := range c.Tools {
		used[tool.Category] = true
		for _, alias := range tool.Aliases {
			t.aliases[alias] = tool.Category
		}
	}
	for slug, past := range c.Past {
		if past.Category != "" { // the slug of a tool that was absorbed is an alias, too
			t.inactive[slug] = past.Category
		}
	}
	for i := range c.Retired {
		t.inactive[c.Retired[i].Slug] = c.Retired[i].Category
	}
	for _, category := range t.inactive {
		used[category] = true
	}
	for i := range c.Categories {
		if slug := c.Categories[i].Slug; used[slug] {
			t.categories = append(t.categories, slug)
		}
	}
	for i := range c.Comparisons {
		x := &c.Comparisons[i]
		if !x.Published {
			continue
		}
		t.comparisons[x.Slug] = i
		for _, alias := range x.Aliases {
			t.comparisons[alias] = i
		}
	}
	return t
}

// loadTopics reads the topics of the published catalogue.
func loadTopics(ctx context.Context, tx *sql.Tx) (*topics, error) {
	all, err := gather(ctx, tx, gathering{keep: func(t *catalog.Tool) *catalog.Tool {
		return &catalog.Tool{Slug: t.Slug, Category: t.Category, Aliases: t.Aliases} // there may be many
	}}, "kind <> $1", string(pictureKind))
	if err != nil {
		return nil, err
	}
	return topicsOf(&all.Catalog), nil
}

// of returns the categories of what an event is about, and reports whether feeds tell it.
func (t *topics) of(eventType, slug string) (categories []string, isTold bool) {
	if strings.HasPrefix(eventType, "comparatif.") {
		i, found := t.comparisons[slug]
		if !found {
			return nil, false
		}
		x := &t.catalog.Comparisons[i]
		return slices.Compact([]string{t.catalog.Tool(x.ToolA).Category, t.catalog.Tool(x.ToolB).Category}), true
	}
	if strings.HasPrefix(eventType, "page.") {
		return nil, true
	}
	if strings.HasPrefix(eventType, "article.") {
		return t.ofArticle(slug), true
	}
	if category, ok := t.inactive[slug]; ok {
		return []string{category}, true
	}
	if tool := t.catalog.Tool(slug); tool != nil {
		return []string{tool.Category}, true
	}
	if category, ok := t.aliases[slug]; ok {
		return []string{category}, true
	}
	return nil, true
}

// ofArticle returns the categories of an article and of its tools; none if it is gone.
func (t *topics) ofArticle(slug string) (categories []string) {
	a := cmp.Or(t.catalog.Article(slug), &catalog.Article{})
	if a.Category != "" {
		categories = append(categories, a.Category)
	}
	for _, slug := range a.Tools {
		if tool := t.catalog.Tool(slug); tool != nil && !slices.Contains(categories, tool.Category) {
			categories = append(categories, tool.Category)
		}
	}
	return categories
}

// sequences returns the events that feeds are made from, newest first: the latest of
// all, and the latest of each category. It reads events until every feed has enough.
func (t *topics) sequences(ctx context.Context, tx *sql.Tx) ([]int64, error) {
	found, err := tx.QueryContext(ctx, `SELECT sequence, type, slug FROM events WHERE type NOT IN ($1, $2, $3)
		ORDER BY sequence DESC`,
		catalog.EmbeddingsUpdated, catalog.CatalogUpdated, catalog.ComparisonUnpublished)
	if err != nil {
		return nil, err
	}
	defer found.Close()
	const all = ""                             // is no category
	missing := map[string]int{all: feedEvents} // by feed, while any are
	for _, category := range t.categories {
		missing[category] = feedEvents
	}
	var sequences []int64
	for len(missing) > 0 && found.Next() {
		var sequence int64
		var eventType, slug string
		if err := found.Scan(&sequence, &eventType, &slug); err != nil {
			return nil, err
		}
		categories, isTold := t.of(eventType, slug)
		if !isTold {
			continue
		}
		isWanted := false
		for _, feed := range slices.Concat(categories, []string{all}) {
			if n := missing[feed]; n > 1 {
				missing[feed], isWanted = n-1, true
			} else if n == 1 {
				delete(missing, feed)
				isWanted = true
			}
		}
		if isWanted {
			sequences = append(sequences, sequence)
		}
	}
	return sequences, found.Err()
}
