package catalogdb

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"palmares/internal/catalog"
	"palmares/internal/record"
	"palmares/internal/sqldb"
	"palmares/internal/wire"
)

// load reads what is published. Tools that stay as they are need not be kept to compare the
// two catalogues.
func (p *publication) load(ctx context.Context) error {
	old, err := loadHead(ctx, p.tx)
	if err != nil {
		return err
	}
	feed, err := feedHead(ctx, p.tx)
	if err != nil {
		return err
	}
	p.feed = feed.Step(p.next, old.Version+1, sqldb.FormatTime(p.now))
	p.stored = map[rowKey]storedRow{}
	all, err := gather(ctx, p.tx, gathering{
		url: old.url,
		each: func(r *row) {
			if r.public {
				p.feed.Before(&r.Change)
			}
			p.knowPrivate(r)
		},
		keep: func(t *catalog.Tool) *catalog.Tool {
			return p.next.Settle(t, p.opts.Undo != nil, catalog.Day(p.now))
		},
	}, "")
	if err != nil {
		return err
	}
	if err := loadScheduled(ctx, p.tx, &all.Catalog); err != nil {
		return err
	}
	old.Catalog = &all.Catalog
	p.old = old
	return loadGone(ctx, p.tx, old.Catalog)
}

func (p *publication) knowPrivate(r *row) {
	if r.private != "" || !r.public && !r.Deleted {
		p.stored[r.key()] = storedRow{r.Hash, privateDigest(r.private)}
	}
}

type recordStep struct {
	*publication
	*recordWriter
	done, total int
	document    []byte // for reuse
}

// writeRecords writes the records that differ from the stored ones, and returns the feed
// after that.
func (p *publication) writeRecords(ctx context.Context, version int64) (*record.Feed, error) {
	most := p.db.Placeholders()
	s := &recordStep{publication: p, recordWriter: &recordWriter{
		tx: p.tx, version: version, most: most, rows: sqldb.NewBatch(p.tx, recordTable, most),
	}}
	c := p.next
	s.total = len(c.Past) + len(c.Pictures)
	for _, kind := range catalog.Kinds {
		s.total += kind.Len(c)
	}
	for _, kind := range catalog.Kinds {
		for i := range kind.Len(c) {
			value := kind.At(c, i)
			if x, ok := value.(*catalog.Comparison); ok && !x.Published {
				continue
			}
			if err := s.public(ctx, value); err != nil {
				return nil, err
			}
		}
	}
	deleted, feed := p.feed.Finish()
	for _, c := range deleted {
		if err := s.put(ctx, row{Change: *c, public: true}); err != nil {
			return nil, err
		}
	}
	if err := s.writePrivate(ctx); err != nil {
		return nil, err
	}
	p.progress("records", s.done, s.total)
	return feed, s.finish(ctx, p.first)
}

func (s *recordStep) public(ctx context.Context, value any) error {
	if err := s.count(ctx); err != nil {
		return err
	}
	r := record.Of(s.next, value).Served(s.next)
	s.document = r.Append(s.document[:0], r.Images(s.next))
	text := privateOf(s.next, value).text()
	c := s.feed.Next(r, s.document)
	if c != nil {
		return s.put(ctx, row{Change: *c, public: true, document: string(s.document), private: text})
	}
	if s.stored[rowKey{r.Kind, r.Slug, true}].private == privateDigest(text) {
		return nil
	}
	if err := s.keep(ctx, r.Kind, true, []string{r.Slug}); err != nil {
		return err
	}
	return sqldb.Exec(ctx, s.recordWriter.tx, `
		UPDATE records SET private = $1, written = $2 WHERE kind = $3 AND slug = $4 AND public`,
		text, s.version, r.Kind.Name, r.Slug)
}

func (s *recordStep) count(ctx context.Context) error {
	if s.done%progressEvery == 0 {
		s.progress("records", s.done, s.total)
	}
	s.done++
	return ctx.Err()
}

// writePrivate writes the records that the public does not see.
func (s *recordStep) writePrivate(ctx context.Context) error {
	c := s.next
	for i := range c.Comparisons {
		x := &c.Comparisons[i]
		if x.Published {
			continue
		}
		r := record.Of(s.next, x)
		if err := s.private(ctx, r.Kind, r.Slug, r.Append(nil, r.Images(c)), private{}); err != nil {
			return err
		}
	}
	for _, slug := range slices.Sorted(maps.Keys(c.Past)) {
		t := c.Past[slug]
		document := record.Of(c, t).AppendOnly(nil, nil, catalog.IsKept)
		if err := s.private(ctx, pastKind, slug, document, privateOfTool(t)); err != nil {
			return err
		}
	}
	for _, path := range slices.Sorted(maps.Keys(c.Pictures)) {
		if err := s.private(ctx, pictureKind, path, wire.AppendJSON(nil, c.Pictures[path]), private{}); err != nil {
			return err
		}
	}
	return s.removePrivate(ctx)
}

// private writes a record that the public does not see.
func (s *recordStep) private(ctx context.Context, kind *catalog.Kind, slug string, document []byte, rest private) error {
	if err := s.count(ctx); err != nil {
		return err
	}
	key, text := rowKey{kind, slug, false}, rest.text()
	now := storedRow{record.Hash(document), privateDigest(text)}
	was, isStored := s.stored[key]
	delete(s.stored, key)
	if isStored && was == now {
		return nil
	}
	return s.put(ctx, row{
		Change:   record.Change{Kind: kind, Slug: slug, Version: s.version, At: sqldb.FormatTime(s.now), Hash: now.hash},
		document: string(document), private: text,
	})
}

// removePrivate removes what is left of the stored records that the public does not see.
func (s *recordStep) removePrivate(ctx context.Context) error {
	var gone []rowKey
	for key := range s.stored {
		if !key.public {
			gone = append(gone, key)
		}
	}
	slices.SortFunc(gone, func(a, b rowKey) int {
		return cmp.Or(cmp.Compare(a.kind.Name, b.kind.Name), cmp.Compare(a.slug, b.slug))
	})
	for _, key := range gone {
		c := record.Change{Kind: key.kind, Slug: key.slug, Version: s.version, At: sqldb.FormatTime(s.now), Deleted: true}
		if err := s.put(ctx, row{Change: c}); err != nil {
			return err
		}
	}
	return nil
}
