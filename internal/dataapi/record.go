package dataapi

import (
	"slices"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/problem"
	"palmares/internal/record"
	"palmares/internal/snapshot"
	"palmares/internal/web"
	"palmares/internal/wire"
)

// maxRecords is how many records can be asked for at once.
const maxRecords = 100

// getRecords returns the operation that returns the records of a kind that are
// asked for, in that order. A record is found by a former slug, too.
func getRecords(kind *catalog.Kind) operation {
	names := slices.DeleteFunc(record.Names(kind), func(name string) bool {
		return name == "draft" || name == "published"
	})
	slugsAllowed, fieldsAllowed := problem.New("allow-slugs"), problem.New("allow-fields", strings.Join(names, ", "))
	return func(r *request) (web.Response, error) {
		p := web.ParseParams(r.URL.RawQuery, func(name string) bool { return name == "slug" || name == "fields" })
		slugs := p.Required("slug", slugsAllowed)
		fields := p.Text("fields", fieldsAllowed)
		if err := p.Err(); err != nil {
			return web.Response{}, err
		}
		page := &recordPage{catalogue: r.Snapshot.Catalog}
		if fields != "" {
			page.fields = strings.Split(fields, ",")
			for _, name := range page.fields {
				if !slices.Contains(names, name) {
					p.Refuse("fields", name, fieldsAllowed)
					return web.Response{}, p.Err()
				}
			}
			page.fields = append(page.fields, "slug") // which tells whose record it is
		}
		asked := strings.Split(slugs, ",")
		if len(asked) > maxRecords {
			p.Refuse("slug", slugs, slugsAllowed)
			return web.Response{}, p.Err()
		}
		isNoSlug := func(s string) bool { return !catalog.IsSlug(s) }
		if i := slices.IndexFunc(asked, isNoSlug); i >= 0 {
			return web.Response{}, web.Invalid("slug", problem.New("records-slug", web.Shorten(asked[i])))
		}
		page.find(r.Snapshot, kind, asked)
		if page.size() > maxPage && len(asked) > 1 {
			return web.Response{}, web.Invalid("slug", problem.New("records-too-large"))
		}
		return web.Response{Body: page.body(kind), Link: licenseLink, Size: page.size()}, nil
	}
}

// A recordPage is a list of records of one kind.
type recordPage struct {
	catalogue *catalog.Catalog
	changes   []*record.Change
	fields    []string // nil for all
	meta      []byte
}

// find looks up the records that are asked for.
func (p *recordPage) find(snap *snapshot.Snapshot, kind *catalog.Kind, asked []string) {
	missing, renamed := []string{}, map[string]string{}
	for _, slug := range asked {
		change := snap.Change(kind, slug)
		if change == nil {
			if current, ok := snap.Aliases[kind][slug]; ok {
				renamed[slug] = current
				change = snap.Change(kind, current)
			}
		}
		if change == nil {
			missing = append(missing, slug)
			continue
		}
		p.changes = append(p.changes, change)
	}
	p.meta = wire.AppendJSON(nil, struct {
		Missing []string          `json:"missing"`
		Renamed map[string]string `json:"renamed"`
	}{missing, renamed})
}

// size returns about how many bytes the page has: bodies are what makes records large.
func (p *recordPage) size() (n int) {
	if p.fields != nil && !slices.Contains(p.fields, "body") {
		return 0
	}
	for _, c := range p.changes {
		n += c.Size
	}
	return n
}

// body returns the body of the page, with a digest of what determines its bytes.
func (p *recordPage) body(kind *catalog.Kind) wire.Body {
	b := append([]byte("records\x00"), kind.Name...)
	b = append(append(b, 0), strings.Join(p.fields, ",")...)
	b = append(append(b, 0), p.meta...)
	for _, c := range p.changes {
		b = append(append(b, c.Hash...), 0)
	}
	return wire.NewParts(wire.Sum(b), p)
}

// Append appends the bytes of the body to b.
func (p *recordPage) Append(b []byte) []byte {
	return appendPieces(b, p.Pieces)
}

// Pieces yields the bytes of the body, record by record.
func (p *recordPage) Pieces(yield func([]byte) bool) {
	yieldRows(yield, len(p.changes), p.meta, func(b []byte, i int) []byte {
		c := p.changes[i]
		return recordOf(p.catalogue, c).AppendOnly(b, c.Images, func(field string) bool {
			return p.fields == nil || slices.Contains(p.fields, field)
		})
	})
}
