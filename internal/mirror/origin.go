package mirror

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"palmares/internal/catalog"
	"palmares/internal/catalogdb"
	"palmares/internal/peer"
	"palmares/internal/record"
)

// The limits of responses, in bytes. A page of changes ends at 8 MiB, or after one record.
const (
	maxManifest = 1 << 20
	maxPage     = 16 << 20
)

const (
	manifestPath = "/data/v1/export"
	changesPath  = "/data/v1/changes"
)

// A manifest says what an origin serves, and where its export is.
type manifest struct {
	Feed     string
	Version  int64
	Position int64
	State    string
	Files    []file

	tag       string // of the response
	updatedAt string // the day of the origin's last update
}

type file struct {
	Path   string
	Rows   int64
	Bytes  int64
	SHA256 string
}

// manifest requests the manifest, unless it still has the tag; nil then.
func (c *Client) manifest(ctx context.Context, tag string) (*manifest, error) {
	m := &manifest{}
	header, isNew, err := c.getJSON(ctx, manifestPath, tag, maxManifest, m)
	if err != nil || !isNew {
		return nil, err
	}
	m.tag, m.updatedAt = header.Get("ETag"), header.Get("X-Service-Updated-At")
	if m.Feed == "" || !isHash(m.State) || m.Position < 0 || m.Version < 0 || !catalog.IsDate(m.updatedAt) {
		return nil, fmt.Errorf("%s does not answer %s as a server of Palmarès does: check the address",
			c.URL, manifestPath)
	}
	return m, nil
}

// manifestTimeout is how long an origin that was copied before may take for its manifest.
// A large one makes its export when it is first asked for it, which takes a minute; few
// changes need not wait for that.
const manifestTimeout = 2 * time.Second

// announcement requests the manifest, as manifest does, or what the feed says if the
// export is still being made: then there are no files.
func (c *Client) announcement(ctx context.Context, tag string, base catalogdb.Origin) (*manifest, error) {
	hasty := *c
	if base.Feed != "" {
		hasty.stall = manifestTimeout
	}
	m, err := hasty.manifest(ctx, tag)
	r, ok := errors.AsType[*peer.Error](err)
	if !ok || r.Status != http.StatusServiceUnavailable && r.Status != http.StatusGatewayTimeout || base.Feed == "" {
		return m, err
	}
	page, pageErr := c.Changes(ctx, base.Feed, base.Position, 1)
	if r, ok := errors.AsType[*peer.Error](pageErr); ok && r.Status == http.StatusConflict {
		return nil, &peer.Error{
			Text: fmt.Sprintf("%s no longer knows the position that was copied last, and is still making its export: "+
				"most likely a backup was restored there; it is asked again soon", c.URL),
		}
	}
	if pageErr != nil {
		return nil, err
	}
	return &manifest{
		Feed: page.Meta.Feed, Version: page.Meta.Version, Position: page.Meta.Last, State: page.Meta.State,
		updatedAt: page.updatedAt,
	}, nil
}

// origin returns what a copy of the manifest's version is a copy of.
func (m *manifest) origin(url string) catalogdb.Origin {
	return catalogdb.Origin{
		URL: url, Feed: m.Feed, Version: m.Version, Position: m.Position, State: m.State, UpdatedAt: m.updatedAt,
	}
}

// isHash reports whether s is a hash or a state.
func isHash(s string) bool {
	digits, ok := strings.CutPrefix(s, "sha256-")
	sum, err := hex.DecodeString(digits)
	return ok && err == nil && len(sum) == 32
}

// A Change is a change of a record at a server.
type Change struct {
	Position int64
	Kind     record.Kind
	Slug     string
	Deleted  bool
	Hash     string
	Record   json.RawMessage // null if Deleted
}

// A changeList is a list of changes that is not read past the end of a page, whatever was sent.
type changeList []Change

// UnmarshalJSON implements json.Unmarshaler.
func (l *changeList) UnmarshalJSON(text []byte) error {
	all := json.NewDecoder(bytes.NewReader(text))
	if start, err := all.Token(); err != nil || start != json.Delim('[') {
		return errors.Join(errors.New("the changes are no list"), err)
	}
	for all.More() {
		if len(*l) == pageSize {
			return fmt.Errorf("there are more than %d changes", pageSize)
		}
		var next Change
		if err := all.Decode(&next); err != nil {
			return err
		}
		*l = append(*l, next)
	}
	return nil
}

// A Page is a part of the feed of a server.
type Page struct {
	Data changeList
	Meta struct {
		Feed    string
		Next    int64
		Last    int64
		More    bool
		Version int64
		State   string
	}

	updatedAt string // the day of the origin's last update
}

// Changes requests what changed after a position of a feed, at most limit records. feed
// is "" to start with.
func (c *Client) Changes(ctx context.Context, feed string, after int64, limit int) (*Page, error) {
	query := url.Values{"limit": {fmt.Sprint(limit)}}
	if feed != "" {
		query.Set("feed", feed)
		query.Set("after", fmt.Sprint(after))
	}
	p := &Page{}
	header, _, err := c.getJSON(ctx, changesPath+"?"+query.Encode(), "", maxPage, p)
	if err != nil {
		return nil, err
	}
	p.updatedAt = header.Get("X-Service-Updated-At")
	return p, c.checkPage(p, feed, after, limit)
}

// Wait returns when the server has something after a position of its feed. It returns an
// error if the server ends the stream before, as it does every quarter of an hour.
func (c *Client) Wait(ctx context.Context, feed string, after int64) error {
	query := url.Values{"feed": {feed}, "after": {fmt.Sprint(after)}}
	resp, err := c.get(ctx, changesPath+"?"+query.Encode(), http.Header{"Accept": {"text/event-stream"}}, maxPage)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	states := 0
	for lines := bufio.NewReader(resp.Body); ; {
		line, _, err := lines.ReadLine()
		switch {
		case err != nil:
			return err
		case bytes.HasPrefix(line, []byte("event: change")):
			return nil
		case bytes.HasPrefix(line, []byte("event: state")):
			if states++; states > 1 { // the first event is the state at the position
				return nil
			}
		}
	}
}

// checkPage returns an error for a page that no server of ours sends.
func (c *Client) checkPage(p *Page, feed string, after int64, limit int) error {
	wrong := func(what string) error {
		return fmt.Errorf("%s does not answer %s as a server of Palmarès does: %s; check the address",
			c.URL, changesPath, what)
	}
	switch {
	case p.Meta.Feed == "" || feed != "" && p.Meta.Feed != feed:
		return wrong("the feed is another one")
	case !isHash(p.Meta.State) || !catalog.IsDate(p.updatedAt):
		return wrong("the state or the date is missing")
	case len(p.Data) > limit || p.Meta.Next < after || p.Meta.More && p.Meta.Next == after:
		return wrong("the page does not end where it should")
	}
	for i := range p.Data {
		change := &p.Data[i]
		if change.Position <= after || fileNames[change.Kind] == "" || !catalog.IsSlug(change.Slug) {
			return wrong("a change has no position, kind or slug")
		}
		after = change.Position
		if change.Deleted {
			continue
		}
		if got := record.Hash(change.Record); got != change.Hash {
			return fmt.Errorf("the %s %s of %s was changed on the way: its hash is %s, not %s; "+
				"it is asked for again soon", change.Kind, change.Slug, c.URL, got, change.Hash)
		}
	}
	return nil
}

// fileNames are the files of records, by kind, without ending, in an export as in a content
// folder.
var fileNames = map[record.Kind]string{
	record.Tool: "outils", record.Comparison: "comparatifs", record.Retired: "cimetiere", record.Page: "pages",
	record.Article: "articles", record.Author: "auteurs", record.Proof: "preuves",
	record.Catalogue: "catalogue",
}
