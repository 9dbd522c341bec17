package dataapi

import (
	"encoding/binary"
	"strconv"

	"palmares/internal/catalog"
	"palmares/internal/record"
	"palmares/internal/web"
	"palmares/internal/wire"
)

const (
	maxChanges = 1000    // of a page, and its default
	maxPage    = 8 << 20 // bytes of a page, but for a single record
	large      = 1 << 20 // bytes of what is compressed quickly rather than well
)

// kindNames are the kinds as parameters have them.
var kindNames = func() []string {
	names := make([]string, len(record.Kinds))
	for i, kind := range record.Kinds {
		names[i] = string(kind)
	}
	return names
}()

// listChanges answers with what changed after a position.
func listChanges(r *request) (web.Answer, error) {
	p := web.ParseParams(r.URL.RawQuery, func(name string) bool {
		return name == "after" || name == "limit" || name == "kind" || name == "feed"
	})
	after := p.Integer("after", 0, 0, web.MaxInteger)
	limit := p.Integer("limit", maxChanges, 1, maxChanges)
	kind := record.Kind("")
	if i, given := p.Choice("kind", kindNames); given {
		kind = record.Kinds[i]
	}
	feed := p.Text("feed", "la valeur de « meta.feed » reçue avec la position")
	if err := p.Err(); err != nil {
		return web.Answer{}, err
	}
	current := r.snap.Feed()
	switch {
	case feed != "" && feed != current.ID:
		return web.Answer{}, web.NewError(web.CodeForeignCursor, "Le flux "+web.Quote(feed)+" n’est pas celui de ce catalogue : sa base a été remplacée. Repartez de zéro, sans « after » ni « feed ».")
	case after > current.Last:
		return web.Answer{}, web.NewError(web.CodeForeignCursor, "La position "+strconv.FormatInt(after, 10)+" est au-delà de la dernière, "+
			strconv.FormatInt(current.Last, 10)+" : elle vient d’une autre base. Repartez de zéro, sans « after » ni « feed ».")
	}
	page := newChangePage(r.snap.Catalog, current, r.snap.Version, after, int(limit), kind)
	return web.Answer{Body: page.body(), Link: licenseLink, NoCache: true, Large: page.size > large}, nil
}

// A changePage is a part of the feed.
type changePage struct {
	catalogue *catalog.Catalog
	changes   []*record.Change
	size      int // in bytes, or a few more
	meta      []byte
}

// newChangePage returns the changes of a kind after a position, or of all kinds. It ends
// before the change that would be one too many or make it too large.
func newChangePage(c *catalog.Catalog, feed *record.Feed, version, after int64, limit int, kind record.Kind) *changePage {
	p := &changePage{catalogue: c}
	next, more := after, false
	rest := feed.From(after)
	for i := range rest {
		change := &rest[i]
		if kind == "" || change.Kind == kind {
			size := rowSize(change)
			if more = len(p.changes) == limit || p.size+size > maxPage && len(p.changes) > 0; more {
				break
			}
			p.changes, p.size = append(p.changes, change), p.size+size
		}
		next = change.Position // also past the changes of other kinds
	}
	p.meta = wire.AppendJSON(nil, struct {
		Feed    string `json:"feed"`
		Next    int64  `json:"next"`
		Last    int64  `json:"last"`
		More    bool   `json:"more"`
		Version int64  `json:"version"`
		State   string `json:"state"`
	}{feed.ID, next, feed.Last, more, version, feed.State})
	return p
}

// body returns the body of the page. Its digest is made from what determines the bytes:
// the positions and hashes of the changes, and meta.
func (p *changePage) body() wire.Body {
	b := append([]byte("changes\x00"), p.meta...)
	for _, c := range p.changes {
		b = binary.BigEndian.AppendUint64(b, uint64(c.Position))
		b = append(append(b, c.Hash...), 0)
	}
	return wire.NewParts(wire.Sum(b), p)
}

// Append appends the bytes of the body to b.
func (p *changePage) Append(b []byte) []byte {
	b = append(b, `{"data":[`...)
	for i, c := range p.changes {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendChange(b, c), `,"record":`...)
		if c.Deleted {
			b = append(b, `null}`...)
		} else {
			b = append(recordOf(p.catalogue, c).Append(b, c.Images), '}')
		}
	}
	b = append(b, `],"meta":`...)
	return append(append(b, p.meta...), '}')
}

// appendChange appends a change without its record and without its end.
func appendChange(b []byte, c *record.Change) []byte {
	null := func(s string) *string {
		if s == "" {
			return nil
		}
		return &s
	}
	b = wire.AppendJSON(b, struct {
		Position  int64       `json:"position"`
		Version   int64       `json:"version"`
		At        string      `json:"at"`
		Kind      record.Kind `json:"kind"`
		Slug      string      `json:"slug"`
		Deleted   bool        `json:"deleted"`
		RenamedTo *string     `json:"renamed_to"`
		Hash      *string     `json:"hash"`
	}{c.Position, c.Version, c.At, c.Kind, c.Slug, c.Deleted, null(c.RenamedTo), null(c.Hash)})
	return b[:len(b)-1]
}

// rowSize returns how many bytes a change takes in a page, or a few more.
func rowSize(c *record.Change) int {
	const fields = 300 // all but slugs and the record
	return fields + len(c.Slug) + len(c.RenamedTo) + c.Size
}

// recordOf returns the record of a change that is not a deletion.
func recordOf(c *catalog.Catalog, change *record.Change) record.Record {
	r, found := record.Find(c, change.Kind, change.Slug)
	if !found {
		panic("dataapi: the feed has " + string(change.Kind) + " " + change.Slug + ", the catalogue has not")
	}
	return r
}
