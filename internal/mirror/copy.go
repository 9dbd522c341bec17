package mirror

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/sync/errgroup"

	"palmares/internal/catalogdb"
	"palmares/internal/content"
	"palmares/internal/peer"
	"palmares/internal/record"
)

const (
	maxPages = 12
	pageSize = 1000
	// maxWindow is how far back a file may refer, in bytes: four times as far as ours do.
	maxWindow = 32 << 20
	// pictureWorkers is how many pictures are requested at once.
	pictureWorkers = 4
)

// A copier makes one copy of what an origin serves.
type copier struct {
	*Follower
	base   catalogdb.Origin // what the mirror has
	forked bool             // the origin has another past, which a reset permits
	folder *folder
}

// copy brings the mirror to what m announces, or to what the origin has by then.
func (f *Follower) copy(ctx context.Context, base catalogdb.Origin, m *manifest) (copied catalogdb.Origin, err error) {
	forked := false
	// Before the position of the mirror, the feed cannot tell what is different.
	if base.Feed == m.Feed && m.Position >= base.Position && m.Position-base.Position <= f.few {
		copied, err = f.copyBy(ctx, base, func(c *copier) (catalogdb.Origin, error) { return c.fromFeed(ctx) })
		switch {
		case errors.Is(err, errForked) && !base.Permitted:
			return copied, f.refuse("has another past than the one that was copied, " +
				"although its feed has the same name: most likely a backup was restored there, " +
				"or the address is now that of a copy of its database")
		case !errors.Is(err, errForked) && !errors.Is(err, errUnlike):
			return copied, err
		}
		forked = errors.Is(err, errForked)
	}
	if m.Files == nil {
		return copied, &peer.Error{
			Text: f.client.URL + " is still making its export, which takes a minute for a large catalogue: " +
				"it is asked again soon",
		}
	}
	return f.copyBy(ctx, base, func(c *copier) (catalogdb.Origin, error) {
		c.forked = forked
		return c.fromExport(ctx, m)
	})
}

var (
	// errUnlike: the feed cannot bring the mirror to what the origin has.
	errUnlike = errors.New("so much has changed that the export is better")
	// errForked: the origin's history diverged from the copy.
	errForked = errors.New("the copy is not what the feed continues")
)

// copyBy makes a copy whose records fill brings.
func (f *Follower) copyBy(
	ctx context.Context, base catalogdb.Origin, fill func(*copier) (catalogdb.Origin, error),
) (to catalogdb.Origin, err error) {
	folder, err := newFolder(&f.cfg, f.client.URL)
	if err != nil {
		return to, err
	}
	defer func() { err = errors.Join(err, folder.remove()) }()
	c := &copier{Follower: f, base: base, folder: folder}
	to, err = fill(c)
	if err != nil {
		return to, err
	}
	to.Records = len(folder.records)
	if err := c.permit(base, &to); err != nil {
		return to, err
	}
	to.Permitted = to.Permitted && !c.forked
	return to, c.publish(ctx, to)
}

// fromExport fills the folder with the files of an export.
func (c *copier) fromExport(ctx context.Context, m *manifest) (to catalogdb.Origin, err error) {
	for _, kind := range record.Kinds {
		ending := ".ndjson.zst"
		if kind == record.Catalogue {
			ending = ".json"
		}
		isWanted := func(x file) bool { return strings.HasSuffix(x.Path, "/"+fileNames[kind]+ending) }
		at := slices.IndexFunc(m.Files, isWanted)
		if at < 0 && kind == record.Proof {
			continue // of a release that had none: the state tells
		}
		if at < 0 || !strings.HasPrefix(m.Files[at].Path, manifestPath+"/") || m.Files[at].Bytes < 0 ||
			m.Files[at].Bytes > maxText {
			return to, fmt.Errorf("the export of %s has no %s%s: upgrade the older of the two servers",
				c.client.URL, fileNames[kind], ending)
		}
		if err := c.download(ctx, kind, &m.Files[at]); err != nil {
			return to, err
		}
	}
	to = m.origin(c.client.URL)
	if got := c.folder.state(); got != to.State {
		return to, fmt.Errorf("the export of %s is not of the version that it announces: its state is %s, not %s; "+
			"it is asked for again soon", c.client.URL, got, to.State)
	}
	return to, nil
}

func (c *copier) download(ctx context.Context, kind record.Kind, f *file) error {
	damaged := func(what string) error {
		return fmt.Errorf("the file %s of %s is damaged: %s; it is asked for again soon", f.Path, c.client.URL, what)
	}
	resp, err := c.client.get(ctx, f.Path, http.Header{}, f.Bytes)
	if r, ok := errors.AsType[*peer.Error](err); ok && (r.Status == 404 || r.Status == 410) {
		return &movedError{
			fmt.Sprintf("%s no longer has %s: it has published since, and is asked again soon", c.client.URL, f.Path),
		}
	}
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	limited := &io.LimitedReader{R: resp.Body, N: f.Bytes + 1}
	sum := sha256.New()
	body := io.TeeReader(limited, sum)
	rows, err := c.addLines(kind, body)
	if r, ok := errors.AsType[*peer.Error](err); ok { // the connection broke
		return r
	}
	if errors.Is(err, errFormat) {
		return damaged(err.Error())
	}
	if err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, body); err != nil { // after the last frame
		return err
	}
	switch {
	case limited.N != 1:
		return damaged(fmt.Sprintf("it has another length than %d bytes", f.Bytes))
	case hex.EncodeToString(sum.Sum(nil)) != strings.TrimPrefix(f.SHA256, "sha256-"):
		return damaged("its SHA-256 is not " + f.SHA256)
	case rows != f.Rows && kind != record.Catalogue:
		return damaged(fmt.Sprintf("it has %d records, not %d", rows, f.Rows))
	}
	return nil
}

// errFormat is wrapped by errors about the bytes of a file.
var errFormat = errors.New("it cannot be read")

// addLines adds the records of an NDJSON file, which is compressed unless it is the catalogue.
func (c *copier) addLines(kind record.Kind, body io.Reader) (rows int64, err error) {
	if kind != record.Catalogue {
		unpacked, err := zstd.NewReader(body, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxWindow))
		if err != nil {
			return 0, fmt.Errorf("%w (%w)", errFormat, err)
		}
		defer unpacked.Close()
		body = unpacked
	}
	all := bufio.NewScanner(body)
	all.Buffer(make([]byte, 0, 64<<10), maxLine+2)
	for all.Scan() {
		line := bytes.TrimSuffix(all.Bytes(), []byte("\n"))
		if len(line) == 0 {
			continue
		}
		if err := c.folder.add(kind, line); err != nil {
			return rows, err
		}
		rows++
	}
	if err := all.Err(); err != nil {
		return rows, fmt.Errorf("%w (%w)", errFormat, err)
	}
	return rows, nil
}

// fromFeed fills the folder with what the mirror has and what has changed since.
func (c *copier) fromFeed(ctx context.Context) (to catalogdb.Origin, err error) {
	changed, to, err := c.follow(ctx)
	if err != nil {
		return to, err
	}
	if err := c.addStored(ctx, changed); err != nil {
		return to, err
	}
	for _, change := range changed {
		if !change.Deleted {
			if err := c.folder.add(change.Kind, change.Record); err != nil {
				return to, err
			}
		}
	}
	if got := c.folder.state(); got != to.State {
		return to, errForked
	}
	return to, nil
}

type recordName struct {
	kind record.Kind
	slug string
}

// follow reads the feed from where the mirror is to its end. What the origin publishes
// meanwhile comes later in the feed, so that the last page tells the state of all.
func (c *copier) follow(ctx context.Context) (map[recordName]*Change, catalogdb.Origin, error) {
	changed, after, weight := map[recordName]*Change{}, c.base.Position, int64(0)
	for range maxPages {
		page, err := c.client.Changes(ctx, c.base.Feed, after, pageSize)
		if r, ok := errors.AsType[*peer.Error](err); ok && r.Status == 409 {
			return nil, catalogdb.Origin{}, &movedError{r.Text}
		}
		if err != nil {
			return nil, catalogdb.Origin{}, err
		}
		for i := range page.Data {
			change := &page.Data[i]
			weight += weightOf(change.Record)
			if c.folder.budget > 0 && weight > c.folder.budget/4 {
				return nil, catalogdb.Origin{}, errUnlike // an export is read record by record
			}
			changed[recordName{change.Kind, change.Slug}] = change
		}
		after = page.Meta.Next
		if !page.Meta.More {
			meta := &page.Meta
			return changed, catalogdb.Origin{
				URL: c.client.URL, Feed: meta.Feed, Version: meta.Version, Position: meta.Last, State: meta.State,
				UpdatedAt: page.updatedAt,
			}, nil
		}
	}
	return nil, catalogdb.Origin{}, errUnlike // so much has changed that the export is better
}

// addStored adds the records that the mirror has, but for those that changed.
func (c *copier) addStored(ctx context.Context, changed map[recordName]*Change) error {
	stored, err := c.cfg.Store.Catalogue.Load(ctx)
	if err != nil {
		return err
	}
	var line []byte
	for i := range stored.Feed.Changes {
		was := &stored.Feed.Changes[i]
		if _, isNew := changed[recordName{was.Kind, was.Slug}]; was.Deleted || isNew {
			continue
		}
		r, found := record.Find(stored.Catalog, was.Kind, was.Slug)
		if !found {
			return errUnlike
		}
		line = r.Append(line[:0], was.Images)
		if record.Hash(line) != was.Hash {
			return errUnlike
		}
		known := record.Change{Kind: was.Kind, Slug: was.Slug, Hash: was.Hash, Images: was.Images}
		if err := c.folder.write(known, line); err != nil {
			return err
		}
	}
	return nil
}

func (c *copier) publish(ctx context.Context, to catalogdb.Origin) (err error) {
	known, err := c.cfg.Store.Pictures.Known(ctx)
	if err != nil {
		return err
	}
	opts := content.Options{Known: known, Elsewhere: map[string]string{}}
	missing := map[string]string{}
	for path, sum := range c.folder.images {
		if _, ok := known(sum); !ok {
			missing[path] = sum
			continue
		}
		opts.Elsewhere[path] = sum
		if err := c.folder.addPicture(path, nil); err != nil {
			return err
		}
	}
	if err := c.fetchPictures(ctx, missing); err != nil {
		return err
	}
	read, err := c.folder.read(ctx, opts)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, read.Close()) }()
	_, err = c.cfg.Store.Catalogue.Publish(ctx, read.Catalog, catalogdb.PublishOptions{
		Now: c.cfg.Now, AllowRemovals: true, Pictures: read.Pictures,
		Mirror: &catalogdb.MirrorCopy{Base: c.base, Origin: to},
	})
	if errors.Is(err, catalogdb.ErrInexact) {
		return c.explain(read, err)
	}
	return err
}

// explain names the record that became another one.
func (c *copier) explain(read *content.Result, inexact error) error {
	for i := range c.folder.records {
		want := &c.folder.records[i]
		r, found := record.Find(read.Catalog, want.Kind, want.Slug)
		if !found || record.Hash(r.Append(nil, r.Images(read.Catalog))) != want.Hash {
			return fmt.Errorf("the %s %s is another record here than at %s: upgrade the older of the two servers; "+
				"nothing was changed", want.Kind, want.Slug, c.client.URL)
		}
	}
	return inexact
}

// fetchPictures adds pictures, given by path, that the mirror does not have.
func (c *copier) fetchPictures(ctx context.Context, missing map[string]string) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(pictureWorkers)
	for _, path := range slices.Sorted(maps.Keys(missing)) {
		group.Go(func() error {
			content, err := c.client.picture(ctx, path, missing[path])
			if err != nil {
				return err
			}
			return c.folder.addPicture(path, content)
		})
	}
	return group.Wait()
}
