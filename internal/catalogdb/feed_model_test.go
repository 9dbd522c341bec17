package catalogdb

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"palmares/internal/catalog"
	"palmares/internal/record"
)

// recordKey names a record.
type recordKey struct {
	kind *catalog.Kind
	slug string
}

// A follower keeps a copy of the catalogue, as far as it has read.
type follower struct {
	after  int64
	hashes map[recordKey]string
}

// read reads a page of the feed.
func (f *follower) read(feed *record.Feed, limit int) {
	page := feed.From(f.after)
	for _, c := range page[:min(limit, len(page))] {
		if f.after = c.Position; c.Deleted {
			delete(f.hashes, recordKey{c.Kind, c.Slug})
		} else {
			f.hashes[recordKey{c.Kind, c.Slug}] = c.Hash
		}
	}
}

func (f *follower) state() string {
	var all []record.Change
	for key, hash := range f.hashes {
		all = append(all, record.Change{Kind: key.kind, Slug: key.slug, Hash: hash})
	}
	return record.State(all)
}

// aPicture has any picture.
type aPicture struct{}

func (aPicture) Read(_ context.Context, hash string) ([]byte, error) { return []byte(hash), nil }

// anyEdition is anyCatalogue with what only the feed is about: pictures that change under
// one name, texts that show them, and former slugs of comparisons.
func anyEdition(t *rapid.T) *catalog.Catalog {
	c := anyCatalogue(t)
	c.URL = rapid.SampledFrom([]string{"https://a.example", "https://a.example", "https://a.example", "https://b.example"}).Draw(t, "url")
	use := func(path string) string {
		if c.Pictures == nil {
			c.Pictures = map[string]catalog.Picture{}
		}
		if _, used := c.Pictures[path]; !used {
			hash := fmt.Sprintf("%s-%d", path[len("images/"):], rapid.IntRange(0, 1).Draw(t, path))
			c.Pictures[path] = catalog.Picture{Path: path, Source: hash, Hash: hash, Ext: "png", Width: 1, Height: 1}
		}
		return path
	}
	for i := range c.Tools {
		if rapid.IntRange(0, 2).Draw(t, "logo") == 0 {
			c.Tools[i].Logo = use("images/logo.png")
		}
		if rapid.IntRange(0, 2).Draw(t, "shown") == 0 {
			c.Tools[i].Body = "Voir :\n\n![Écran](../" + use("images/écran.png") + ")"
		}
	}
	if rapid.Bool().Draw(t, "introduction") {
		c.Settings.Introduction = "![](" + use("images/logo.png") + ")"
	}
	for i := range c.Comparisons {
		if rapid.Bool().Draw(t, "renamed") {
			c.Comparisons[i].Aliases = []string{c.Comparisons[i].Slug}
			c.Comparisons[i].Slug = "grand-" + c.Comparisons[i].Slug
		}
	}
	return c
}

// edited returns an edition that differs from the one before in one thing, or in many.
func edited(t *rapid.T, before *catalog.Catalog) *catalog.Catalog {
	c := clone(before)
	switch rapid.SampledFrom([]string{"all", "all", "picture", "url", "dataset", "headline", "tool", "comparison", "nothing"}).Draw(t, "edit") {
	case "all":
		return anyEdition(t)
	case "picture":
		c.Pictures = maps.Clone(c.Pictures)
		for path, p := range c.Pictures {
			p.Hash += "x"
			c.Pictures[path] = p
		}
	case "url":
		c.URL += "/x"
	case "dataset":
		c.Settings.Dataset = map[string]string{"": catalog.DatasetHead, catalog.DatasetHead: ""}[c.Settings.Dataset]
	case "headline":
		c.Settings.Headline += "x"
	case "tool":
		if len(c.Tools) > 0 {
			c.Tools[0].Tagline += "x"
		}
	case "comparison":
		if len(c.Comparisons) > 0 {
			c.Comparisons[0].Published = !c.Comparisons[0].Published
		}
	}
	return c
}

// A feedRun is one history: publications, and readers that follow them.
type feedRun struct {
	*rapid.T
	s        *kit
	readers  []*follower
	edition  *catalog.Catalog // the last one, as it was written
	previous *record.Feed
	public   map[recordKey]bool // ever
	day      int
}

// publish publishes an edition, sometimes with an end in the middle.
func (r *feedRun) publish() {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	opts := PublishOptions{Now: at(day(r.day)), AllowRemovals: true, Pictures: aPicture{}}
	r.day += rapid.IntRange(0, 2).Draw(r.T, "days")
	if rapid.IntRange(0, 4).Draw(r.T, "ends") == 0 {
		stage := rapid.SampledFrom([]string{"load", "compare", "records", "events"}).Draw(r.T, "stage")
		opts.Progress = func(p Progress) {
			if p.Stage == stage {
				cancel()
			}
		}
	}
	r.edition = edited(r.T, r.edition)
	_, err := r.s.Catalogue.Publish(ctx, clone(r.edition), opts)
	if err != nil && ctx.Err() == nil {
		r.Fatal(err)
	}
	p, loadErr := r.s.Catalogue.Load(r.Context())
	if loadErr != nil {
		r.Fatal(loadErr)
	}
	if err != nil && !reflect.DeepEqual(p.Feed, r.previous) {
		r.Fatalf("an interrupted publication left %v; want %v", p.Feed, r.previous)
	}
	r.check(p)
	r.previous = p.Feed
}

// check compares the feed with the catalogue and with the feed before.
func (r *feedRun) check(p *Published) {
	if got, want := p.Feed.State, expectedState(r, p.Catalog); got != want {
		r.Fatalf("the state is %s; want %s", got, want)
	}
	aliases := map[recordKey]string{}
	for _, t := range p.Catalog.Tools {
		for _, alias := range t.Aliases {
			aliases[recordKey{catalog.ToolKind, alias}] = t.Slug
		}
	}
	for _, x := range p.Catalog.Comparisons {
		for _, alias := range x.Aliases {
			if x.Published {
				aliases[recordKey{catalog.ComparisonKind, alias}] = x.Slug
			}
		}
	}
	position, seen := int64(0), map[recordKey]bool{}
	for _, c := range p.Feed.Changes {
		key := recordKey{c.Kind, c.Slug}
		_, isPublic := record.Find(p.Catalog, c.Kind, c.Slug)
		switch {
		case c.Position <= position || c.Position > p.Feed.Last || seen[key]:
			r.Fatalf("%+v follows position %d of %d", c, position, p.Feed.Last)
		case isPublic == c.Deleted || c.Deleted != (c.Hash == ""):
			r.Fatalf("%+v of a record that is public: %t", c, isPublic)
		case c.Deleted && (c.RenamedTo != aliases[key] || !r.public[key]):
			r.Fatalf("%+v was renamed to %q", c, aliases[key])
		}
		position, seen[key] = c.Position, true
		r.public[key] = r.public[key] || isPublic
	}
	for key := range r.public {
		if !seen[key] {
			r.Fatalf("%v is no longer in the feed", key)
		}
	}
	if added := p.Feed.From(r.previous.Last); len(added) > 0 && added[0].Position <= r.previous.Last || p.Feed.Last != r.previous.Last+int64(len(added)) {
		r.Fatalf("%d changes lead from %d to %d", len(added), r.previous.Last, p.Feed.Last)
	}
}

// Whoever follows the feed, with pages of any size, at any time, and from the beginning
// again whenever she likes, has the published catalogue in the end.
func TestWhoeverFollowsTheFeedHasTheCatalogue(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		rapid.Check(t, func(rt *rapid.T) {
			wipe(rt, s)
			p, err := s.Catalogue.Load(rt.Context())
			if err != nil {
				rt.Fatal(err)
			}
			r := feedRun{T: rt, s: s, edition: anyEdition(rt), previous: p.Feed, public: map[recordKey]bool{}}
			for range 2 {
				r.readers = append(r.readers, &follower{hashes: map[recordKey]string{}})
			}
			for range rapid.IntRange(1, 6).Draw(rt, "publications") {
				r.publish()
				for _, reader := range r.readers {
					if rapid.IntRange(0, 9).Draw(rt, "restart") == 0 {
						*reader = follower{hashes: map[recordKey]string{}}
					}
					for range rapid.IntRange(0, 3).Draw(rt, "pages") {
						reader.read(r.previous, rapid.IntRange(1, 6).Draw(rt, "limit"))
					}
				}
			}
			for i, reader := range r.readers {
				for reader.after < r.previous.Last && len(r.previous.From(reader.after)) > 0 {
					reader.read(r.previous, rapid.IntRange(1, 6).Draw(rt, "limit"))
				}
				if reader.state() != r.previous.State {
					rt.Fatalf("reader %d has %v", i, reader.hashes)
				}
			}
		})
	})
}
