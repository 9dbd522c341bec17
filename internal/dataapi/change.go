package dataapi

import (
	"crypto/sha256"
	"encoding/binary"
	"iter"
	"mime"
	"strconv"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/problem"
	"palmares/internal/record"
	"palmares/internal/snapshot"
	"palmares/internal/web"
	"palmares/internal/wire"
)

const (
	maxChanges = 1000    // of a page, and its default
	maxPage    = 8 << 20 // bytes of a page, but for a single record
)

const changesPath = "/data/v1/changes"

// listChanges returns what changed after a position.
func listChanges(r *request) (web.Response, error) {
	if wantsOnlyEvents(r.Header["Accept"]) {
		return web.Response{}, web.ErrorOf(web.CodeNotAcceptable)
	}
	q, err := readChangeQuery(r.URL.RawQuery)
	if err != nil {
		return web.Response{}, err
	}
	if err := q.check(r.Snapshot); err != nil {
		return web.Response{}, err
	}
	page := q.page(r.Snapshot)
	body := wire.NewParts(page.digest(), page)
	return web.Response{Body: body, Link: licenseLink, NoCache: true, Size: page.size}, nil
}

// wantsOnlyEvents reports whether an Accept header admits nothing but a stream of events.
func wantsOnlyEvents(accept []string) (only bool) {
	for one := range strings.SplitSeq(strings.Join(accept, ","), ",") {
		kind, parameters, _ := mime.ParseMediaType(one)
		switch {
		case parameters["q"] == "0":
		case kind != "text/event-stream":
			return false
		default:
			only = true
		}
	}
	return only
}

// A changeQuery is which part of the feed is asked for.
type changeQuery struct {
	feed  string // "" for any
	after int64
	limit int           // of changes
	kind  *catalog.Kind // nil for all
}

func readChangeQuery(query string) (q changeQuery, err error) {
	waits := false
	p := web.ParseParams(query, func(name string) bool {
		waits = waits || name == "wait"
		return name == "after" || name == "limit" || name == "kind" || name == "feed"
	})
	if waits {
		return q, web.Invalid("wait", problem.New("changes-not-awaited"))
	}
	q.after = p.Integer("after", 0, 0, web.MaxInteger)
	q.limit = int(p.Integer("limit", maxChanges, 1, maxChanges))
	q.kind = catalog.KindNamed(web.Choice(p, "kind", catalog.KindNames(catalog.Kinds)))
	q.feed = p.Text("feed", problem.New("allow-feed"))
	return q, p.Err()
}

// check returns an error if a snapshot does not have that part of the feed.
func (q *changeQuery) check(snap *snapshot.Snapshot) error {
	feed := snap.Feed
	switch {
	case q.feed != "" && q.feed != feed.ID:
		return web.NewError(web.CodeForeignCursor, problem.New("feed-replaced", web.Shorten(q.feed)))
	case q.after > feed.Last:
		return web.NewError(web.CodeForeignCursor, problem.New("feed-too-short", q.after, feed.Last))
	}
	return nil
}

// page returns that part of the feed. It ends before the change that would be one too many
// or make it too large.
func (q *changeQuery) page(snap *snapshot.Snapshot) *changePage {
	const otherBytes = 300 // that a change takes beside slugs and the record, or a few less
	feed := snap.Feed
	p := &changePage{catalogue: snap.Catalog, next: q.after}
	rest := feed.From(q.after)
	p.changes = make([]*record.Change, 0, min(q.limit, len(rest)))
	for i := range rest {
		change := &rest[i]
		if q.kind == nil || change.Kind == q.kind {
			size := otherBytes + len(change.Slug) + len(change.RenamedTo) + change.Size
			p.more = len(p.changes) == q.limit || p.size+size > maxPage && len(p.changes) > 0
			if p.more {
				break
			}
			p.changes, p.size = append(p.changes, change), p.size+size
		}
		p.next = change.Position // also past the changes of other kinds
	}
	p.meta = p.appendMeta(make([]byte, 0, 256), feed, snap.Version)
	return p
}

// A changePage is a part of the feed.
type changePage struct {
	catalogue *catalog.Catalog
	changes   []*record.Change
	size      int // in bytes, or a few more
	next      int64
	more      bool
	meta      []byte
}

// appendMeta appends meta. It is assembled by hand: it is most of what a poll that finds
// nothing new costs.
func (p *changePage) appendMeta(b []byte, feed *record.Feed, version int64) []byte {
	b = strconv.AppendQuote(append(b, `{"feed":`...), feed.ID) // of letters and digits
	b = strconv.AppendInt(append(b, `,"next":`...), p.next, 10)
	b = strconv.AppendInt(append(b, `,"last":`...), feed.Last, 10)
	b = strconv.AppendBool(append(b, `,"more":`...), p.more)
	b = strconv.AppendInt(append(b, `,"version":`...), version, 10)
	b = strconv.AppendQuote(append(b, `,"state":`...), feed.State)
	return append(b, '}')
}

// digest returns the digest of the page. It is made from what determines the bytes: the
// positions and hashes of the changes, and meta.
func (p *changePage) digest() wire.Digest {
	h := sha256.New()
	var room [128]byte // for the longest line
	h.Write(append(room[:0], "changes\x00"...))
	h.Write(p.meta)
	for _, c := range p.changes {
		b := binary.BigEndian.AppendUint64(room[:0], uint64(c.Position))
		h.Write(append(append(b, c.Hash...), 0))
	}
	return wire.Digest(h.Sum(room[:0]))
}

// Append appends the bytes of the page to b.
func (p *changePage) Append(b []byte) []byte {
	return appendPieces(b, p.Pieces)
}

// Pieces yields the bytes of the page, row by row.
func (p *changePage) Pieces(yield func([]byte) bool) {
	yieldRows(yield, len(p.changes), p.meta, func(b []byte, i int) []byte { return p.appendRow(b, p.changes[i]) })
}

func appendPieces(b []byte, pieces iter.Seq[[]byte]) []byte {
	for piece := range pieces {
		b = append(b, piece...)
	}
	return b
}

// yieldRows yields a list of n rows, one by one, and what is said about it.
func yieldRows(yield func([]byte) bool, n int, meta []byte, appendRow func([]byte, int) []byte) {
	b := append([]byte(nil), `{"data":[`...)
	for i := range n {
		b = appendRow(b, i)
		if !yield(b) {
			return
		}
		b = append(b[:0], ',')
	}
	if n > 0 {
		b = b[:0]
	}
	yield(append(append(append(b, `],"meta":`...), meta...), '}'))
}

func (p *changePage) appendRow(b []byte, c *record.Change) []byte {
	b = wire.AppendJSON(b, struct {
		Position  int64   `json:"position"`
		Version   int64   `json:"version"`
		At        string  `json:"at"`
		Kind      string  `json:"kind"`
		Slug      string  `json:"slug"`
		Deleted   bool    `json:"deleted"`
		RenamedTo *string `json:"renamed_to"`
		Hash      *string `json:"hash"`
	}{c.Position, c.Version, c.At, c.Kind.Name, c.Slug, c.Deleted, null(c.RenamedTo), null(c.Hash)})
	b = append(b[:len(b)-1], `,"record":`...)
	if c.Deleted {
		return append(b, `null}`...)
	}
	return append(recordOf(p.catalogue, c).Append(b, c.Images), '}')
}

// null returns nil, which is null, for a text that is empty.
func null(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// recordOf returns the record of a change that is not a deletion.
func recordOf(c *catalog.Catalog, change *record.Change) record.Record {
	r, found := record.Find(c, change.Kind, change.Slug)
	if !found {
		panic("dataapi: the feed has " + change.Kind.Name + " " + change.Slug + ", the catalogue has not")
	}
	return r
}
