package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"palmares/internal/catalog"
	"palmares/internal/dataapi"
	"palmares/internal/record"
	"palmares/internal/snapshot"
	"palmares/internal/web"
)

// recordKey names a record.
type recordKey struct {
	kind record.Kind
	slug string
}

// A follower keeps a copy of the catalogue, or of its records of one kind, as far as it
// has read /data/v1.
type follower struct {
	kind   record.Kind // "" for all
	feed   string
	after  int64
	hashes map[recordKey]string
}

// A feedRow is a change as a reader sees it.
type feedRow struct {
	Position int64
	Kind     record.Kind
	Slug     string
	Deleted  bool
	Hash     string
	Record   json.RawMessage
}

type feedMeta struct {
	Feed, State string
	Next        int64
	More        bool
}

// read reads a page, or everything as a stream, and returns the meta that it ends with. It
// has none if the catalogue is not given away.
func (f *follower) read(t failer, handler http.Handler, limit int, isStream bool) (meta feedMeta, ok bool) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cancel() // whoever waits in vain, or has all that a stream has, does not wait on
	query := url.Values{"after": {fmt.Sprint(f.after)}, "limit": {fmt.Sprint(limit)}, "wait": {fmt.Sprint(limit % 3)}}
	if f.kind != "" {
		query.Set("kind", string(f.kind))
	}
	if f.feed != "" {
		query.Set("feed", f.feed)
	}
	req := httptest.NewRequestWithContext(ctx, http.MethodGet, "/data/v1/changes?"+query.Encode(), nil)
	if isStream {
		req.Header.Set("Accept", "text/event-stream")
	}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, req)
	if w.Code == http.StatusNotFound {
		return meta, false
	}
	rows, meta, err := parseChanges(w.Body.Bytes(), isStream)
	if err != nil || w.Code != http.StatusOK {
		t.Fatalf("%s: %d %s, %v", req.URL, w.Code, w.Body, err)
	}
	for _, c := range rows {
		if c.Deleted {
			delete(f.hashes, recordKey{c.Kind, c.Slug})
			continue
		}
		if f.hashes[recordKey{c.Kind, c.Slug}] = c.Hash; record.Hash(c.Record) != c.Hash {
			t.Fatalf("%s has the hash %s", c.Record, c.Hash)
		}
	}
	f.feed, f.after = meta.Feed, meta.Next
	return meta, true
}

// parseChanges reads a page, or the events of a stream up to its first state.
func parseChanges(body []byte, isStream bool) (rows []feedRow, meta feedMeta, err error) {
	if !isStream {
		var page struct {
			Data []feedRow
			Meta feedMeta
		}
		err = json.Unmarshal(body, &page)
		return page.Data, page.Meta, err
	}
	name := ""
	for line := range strings.Lines(string(body)) {
		field, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch {
		case field == "event":
			name = value
		case field == "data" && name == "change":
			var row feedRow
			if err := json.Unmarshal([]byte(value), &row); err != nil {
				return nil, meta, err
			}
			rows = append(rows, row)
		case field == "data" && name == "state":
			return rows, meta, json.Unmarshal([]byte(value), &meta)
		}
	}
	return nil, meta, errors.New("the stream has no state")
}

// follow reads to the end, with pages of a size, and expects to have what the feed has.
func (f *follower) follow(t failer, handler http.Handler, feed *record.Feed, limit int) {
	t.Helper()
	meta := feedMeta{More: true}
	for meta.More {
		var ok bool
		if meta, ok = f.read(t, handler, limit, false); !ok {
			t.Fatalf("nothing is given away")
		}
	}
	want := map[recordKey]string{}
	for _, c := range feed.Changes {
		if !c.Deleted && (f.kind == "" || f.kind == c.Kind) {
			want[recordKey{c.Kind, c.Slug}] = c.Hash
		}
	}
	if !maps.Equal(f.hashes, want) {
		t.Fatalf("a reader of %q has %v; want %v", f.kind, f.hashes, want)
	}
	if f.kind == "" && f.state() != meta.State || meta.State != feed.State {
		t.Fatalf("a copy has the state %s, the server sent %s and has %s", f.state(), meta.State, feed.State)
	}
}

func (f *follower) state() string {
	var all []record.Change
	for key, hash := range f.hashes {
		all = append(all, record.Change{Kind: key.kind, Slug: key.slug, Hash: hash})
	}
	return record.State(all)
}

func newFollower(kind record.Kind) *follower {
	return &follower{kind: kind, hashes: map[recordKey]string{}}
}

// dataAPI serves /data/v1 from a published catalogue.
func dataAPI(p *Published) http.Handler {
	snap := snapshot.Build(p.Catalog, p.Version, p.ChangedOn)
	snap.SetFeed(p.Feed)
	anyone := web.AuthorizerFunc(func(context.Context, *http.Request) (web.Caller, error) { return web.Caller{}, nil })
	return dataapi.New(dataapi.Config{Live: snapshot.Fixed(snap), Callers: anyone, Streams: dataapi.NewStreams(1)})
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
		c.Settings.Dataset = map[string]string{"": catalog.DatasetHead, catalog.DatasetHead: catalog.DatasetOff, catalog.DatasetOff: ""}[c.Settings.Dataset]
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
	s        *Store
	readers  []*follower
	edition  *catalog.Catalog // the last one, as it was written
	previous *record.Feed
	handler  http.Handler // of what is published
	isOff    bool
	public   map[recordKey]bool // ever
	day      int
}

// publish publishes an edition, sometimes with an end in the middle unless it must not.
func (r *feedRun) publish(edition *catalog.Catalog, mayEnd bool) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	opts := PublishOptions{Now: at(day(r.day)), AllowRemovals: true, Pictures: aPicture{}}
	r.day += rapid.IntRange(0, 2).Draw(r.T, "days")
	if mayEnd && rapid.IntRange(0, 4).Draw(r.T, "ends") == 0 {
		stage := rapid.SampledFrom([]string{"load", "tools", "feed", "events"}).Draw(r.T, "stage")
		opts.Progress = func(p Progress) {
			if p.Stage == stage {
				cancel()
			}
		}
	}
	r.edition = edition
	_, err := r.s.Catalogue.Publish(ctx, clone(edition), opts)
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
	r.previous, r.handler, r.isOff = p.Feed, dataAPI(p), p.Catalog.Settings.Dataset == catalog.DatasetOff
}

// readSome has every reader read a few pages, or none.
func (r *feedRun) readSome() {
	for _, reader := range r.readers {
		if rapid.IntRange(0, 9).Draw(r.T, "restart") == 0 {
			*reader = *newFollower(reader.kind)
		}
		for range rapid.IntRange(0, 3).Draw(r.T, "pages") {
			isStream := rapid.IntRange(0, 4).Draw(r.T, "stream") == 0
			if _, ok := reader.read(r, r.handler, rapid.IntRange(1, 6).Draw(r.T, "limit"), isStream); ok == r.isOff {
				r.Fatalf("a page is given away: %t", ok)
			}
		}
	}
}

// check compares the feed with the catalogue and with the feed before.
func (r *feedRun) check(p *Published) {
	if got, want := p.Feed.State, expectedState(r, p.Catalog); got != want {
		r.Fatalf("the state is %s; want %s", got, want)
	}
	aliases := map[recordKey]string{}
	for _, t := range p.Catalog.Tools {
		for _, alias := range t.Aliases {
			aliases[recordKey{record.Tool, alias}] = t.Slug
		}
	}
	for _, x := range p.Catalog.Comparisons {
		for _, alias := range x.Aliases {
			if x.Published {
				aliases[recordKey{record.Comparison, alias}] = x.Slug
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

// Whoever follows the feed over HTTP, with pages of any size or as a stream, all of it or
// one kind, at any time, and from the beginning again whenever she likes, has the published
// catalogue in the end.
func TestWhoeverFollowsTheFeedHasTheCatalogue(t *testing.T) {
	each(t, func(t *testing.T, s *Store) {
		if !s.Shared() { // hundreds of commits that need not survive a power cut
			if _, err := s.writes.Exec("PRAGMA synchronous = OFF"); err != nil {
				t.Fatal(err)
			}
		}
		rapid.Check(t, func(rt *rapid.T) {
			wipe(rt, s)
			p, err := s.Catalogue.Load(rt.Context())
			if err != nil {
				rt.Fatal(err)
			}
			r := feedRun{T: rt, s: s, edition: anyEdition(rt), previous: p.Feed, public: map[recordKey]bool{}}
			for _, kind := range []record.Kind{"", "", rapid.SampledFrom(record.Kinds).Draw(rt, "kind")} {
				r.readers = append(r.readers, newFollower(kind))
			}
			for range rapid.IntRange(1, 6).Draw(rt, "publications") {
				r.publish(edited(rt, r.edition), true)
				r.readSome()
			}
			if r.isOff {
				last := clone(r.edition)
				last.Settings.Dataset = ""
				r.publish(last, false)
			}
			for _, reader := range r.readers {
				reader.follow(rt, r.handler, r.previous, rapid.IntRange(1, 6).Draw(rt, "limit"))
			}
		})
	})
}
