package catalogdb

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"

	"palmares/internal/catalog"
	"palmares/internal/markdown"
	"palmares/internal/record"
	"palmares/internal/sqldb"
)

// Published is one version of the catalogue.
type Published struct {
	Catalog     *catalog.Catalog // empty when Version is 0
	Version     int64            // 0 when nothing has been published
	PublishedAt string           // when it was published, as in the feed
	ChangedOn   string           // the UTC day of the publication that made it, YYYY-MM-DD
	Feed        *record.Feed     // of the records; set by Load
	Entries     []catalog.Entry  // the last ones of the chronicle, by position, the last first

	sequence int64  // of its last event
	url      string // of the site
}

// Load reads the catalogue as one publication left it, without what is scheduled: nobody sees that.
func (s *Catalogue) Load(ctx context.Context) (*Published, error) {
	return s.load(ctx, false)
}

// LoadAll is Load with what is scheduled.
func (s *Catalogue) LoadAll(ctx context.Context) (*Published, error) {
	return s.load(ctx, true)
}

func (s *Catalogue) load(ctx context.Context, isAll bool) (*Published, error) {
	return sqldb.Read(ctx, s.db, func(tx *sql.Tx) (*Published, error) {
		p, err := loadHead(ctx, tx)
		if err != nil {
			return nil, err
		}
		all, err := gather(ctx, tx, gathering{url: p.url, feed: true}, "")
		if err != nil {
			return nil, err
		}
		p.Catalog = &all.Catalog
		if isAll {
			if err := loadScheduled(ctx, tx, p.Catalog); err != nil {
				return nil, err
			}
		}
		p.Feed, err = feedHead(ctx, tx)
		if err != nil {
			return nil, err
		}
		p.Feed.Changes = all.changes
		p.Entries, err = latestEntries(ctx, tx)
		return p, err
	})
}

// loadHead reads what is known of the published version as a whole.
func loadHead(ctx context.Context, tx *sql.Tx) (*Published, error) {
	p := &Published{}
	err := tx.QueryRowContext(ctx, `SELECT version, sequence, published_at, changed_on, url FROM catalogue`).
		Scan(&p.Version, &p.sequence, &p.PublishedAt, &p.ChangedOn, &p.url)
	return p, err
}

// A gathering says what to do with the rows that gather reads.
type gathering struct {
	url  string                            // of the site
	each func(*row)                        // is called with every row, one at a time; may be nil
	feed bool                              // the changes are wanted, too
	keep func(*catalog.Tool) *catalog.Tool // returns what to keep of a tool, for several at once; may be nil

	known *prepared // has tools that need not be decoded, if the changes are not wanted; may be nil
}

// gathered is what rows hold.
type gathered struct {
	catalog.Catalog
	changes []record.Change // by position
}

// gatherRows is how many rows are decoded together.
const gatherRows = 64

// gather reads the rows that meet a condition, "" for all, and decodes them on every
// processor.
func gather(ctx context.Context, tx *sql.Tx, g gathering, where string, args ...any) (*gathered, error) {
	work := make(chan []row, 2*runtime.GOMAXPROCS(0))
	parts := make([]rowDecoder, runtime.GOMAXPROCS(0))
	var workers sync.WaitGroup
	for i := range parts {
		parts[i].gathering = g
		workers.Go(func() { parts[i].run(work) })
	}
	some := make([]row, 0, gatherRows)
	err := eachRow(ctx, tx, func(r *row) error {
		if g.each != nil {
			g.each(r)
		}
		some = append(some, *r)
		if len(some) == cap(some) {
			work <- some
			some = make([]row, 0, gatherRows)
		}
		return nil
	}, where, args...)
	work <- some
	close(work)
	workers.Wait()
	all, changes, proofs := &gathered{}, 0, 0
	for i := range parts {
		changes, proofs = changes+len(parts[i].changes), proofs+len(parts[i].Proofs)
	}
	all.changes, all.Proofs = slices.Grow(all.changes, changes), slices.Grow(all.Proofs, proofs)
	for i := range parts {
		if err == nil {
			err = parts[i].err
		}
		all.add(&parts[i].gathered)
	}
	if err != nil {
		return nil, err
	}
	if len(all.Pictures) == 0 {
		all.Pictures = nil
	}
	all.Sort()
	slices.SortFunc(all.changes, func(a, b record.Change) int { return cmp.Compare(a.Position, b.Position) })
	return all, nil
}

func (g *gathered) add(part *gathered) {
	for _, kind := range catalog.Kinds {
		kind.Join(&g.Catalog, &part.Catalog)
	}
	g.changes = append(g.changes, part.changes...)
	if g.Past == nil {
		g.Past, g.Pictures = part.Past, part.Pictures
		return
	}
	maps.Copy(g.Past, part.Past)
	maps.Copy(g.Pictures, part.Pictures)
}

type rowDecoder struct {
	gathered
	gathering
	decoder  record.Decoder
	document []byte // for reuse
	err      error  // the first one
}

func (d *rowDecoder) run(work <-chan []row) {
	d.Past, d.Pictures = map[string]*catalog.Tool{}, map[string]catalog.Picture{}
	for some := range work {
		for i := range some {
			if d.err != nil {
				break
			}
			if err := d.decode(&some[i]); err != nil {
				d.err = fmt.Errorf("the record of %s is damaged: restore the database from a backup (%w)", some[i].Slug, err)
			}
		}
	}
}

func (d *rowDecoder) decode(r *row) (err error) {
	c := r.Change
	if !r.Deleted {
		c.Images, err = d.record(r, &c)
	}
	if err == nil && r.public && d.feed {
		c.Size = len(r.document)
		d.changes = append(d.changes, c)
	}
	return err
}

// record adds the record of a row, and returns its pictures. The change gets the slug of the
// record, to keep one text of it.
func (d *rowDecoder) record(r *row, c *record.Change) (images []record.Image, err error) {
	if d.known != nil && r.Kind == catalog.ToolKind {
		if t := d.known.tools[content{r.Hash, r.private}]; t != nil {
			d.Tools = append(d.Tools, t)
			return nil, nil
		}
	}
	d.document = append(d.document[:0], r.document...)
	document := d.document
	var rest private
	if r.private != "" {
		if err := json.Unmarshal([]byte(r.private), &rest); err != nil {
			return nil, err
		}
	}
	switch r.Kind {
	case catalog.ToolKind:
		t := &catalog.Tool{}
		images, err = d.decoder.Decode(r.Kind, document, t)
		t.Body = cmp.Or(t.Body, rest.Body)
		(&catalog.Catalog{URL: d.url}).DropDefaultURLs(t)
		c.Slug = t.Slug
		if err == nil {
			err = rest.mark(t)
		}
		if err == nil && d.keep != nil {
			t = d.keep(t)
		}
		d.Tools = append(d.Tools, t)
	case pastKind:
		t := &catalog.Tool{}
		_, err = d.decoder.Decode(catalog.ToolKind, document, t)
		if err == nil {
			err = rest.mark(t)
		}
		d.Past[r.Slug] = t
	case pictureKind:
		var p catalog.Picture
		err = json.Unmarshal(document, &p)
		d.Pictures[r.Slug] = p
	default:
		if catalog.KindNamed(r.Kind.Name) == nil {
			break // of a later release
		}
		value := r.Kind.New()
		images, err = d.decoder.Decode(r.Kind, document, value)
		if rest.Body != "" {
			*catalog.ValueOf[string](r.Kind.Fields, catalog.Body, value) = rest.Body
		}
		if o, ok := value.(*catalog.Retired); ok && rest.Body != "" {
			o.Note = markdown.Plain(rest.Body)
		}
		c.Slug = r.Kind.Slug(value)
		d.Add(value)
	}
	return images, err
}
