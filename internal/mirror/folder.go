package mirror

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path"
	"slices"
	"strings"

	"palmares/internal/content"
	"palmares/internal/osfile"
	"palmares/internal/peer"
	"palmares/internal/picture"
	"palmares/internal/record"
)

// maxRecords and maxLine are the limits of content, and maxText is the disk space that an
// export may take.
const (
	maxRecords = 2_000_000
	maxLine    = 8 << 20
	maxText    = 16 << 30
)

// A folder holds the records of a catalogue as a content folder, which content checks and
// turns into a catalogue.
type folder struct {
	origin  string
	dir     string
	root    *os.Root
	files   map[record.Kind]*lines
	records []record.Change   // kind, slug and hash of each
	images  map[string]string // SHA-256 by path, of the pictures that records use
	size    int64             // of their texts
	weight  int64             // see weightOf
	budget  int64             // of weight; 0 for any
}

// weightOf estimates how much memory a record takes once it is read and served.
func weightOf(line []byte) int64 {
	const ofRecord, ofObject, ofValue = 1 << 10, 128, 16
	objects, values := bytes.Count(line, []byte{'{'}), bytes.Count(line, []byte{','})
	return int64(len(line) + ofRecord + objects*ofObject + values*ofValue)
}

type lines struct {
	file *os.File
	*bufio.Writer
}

// newFolder returns an empty folder, in cfg.TempDir. Half of cfg.Memory is for what is in it: the rest
// is for the version that is served meanwhile, and for what it takes to replace it.
func newFolder(cfg *Config, origin string) (*folder, error) {
	dir, err := osfile.TempDir(cfg.TempDir)
	if err != nil {
		return nil, fmt.Errorf("a temporary folder cannot be created: free some space, "+
			"or set TMPDIR to another folder (%w)", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return &folder{
		origin: origin, dir: dir, root: root, files: map[record.Kind]*lines{}, images: map[string]string{},
		budget: cfg.Memory / 2,
	}, nil
}

func (f *folder) remove() error {
	var err error
	for _, l := range f.files {
		err = errors.Join(err, l.file.Close())
	}
	return errors.Join(err, f.root.Close(), os.RemoveAll(f.dir))
}

func name(kind record.Kind) string {
	if kind == record.Catalogue {
		return "catalogue.yaml" // of one line of JSON
	}
	return fileNames[kind] + ".jsonl"
}

// add adds a record in its canonical form.
func (f *folder) add(kind record.Kind, line []byte) error {
	f.weight += weightOf(line)
	if f.budget > 0 && f.weight > f.budget {
		return fmt.Errorf("the records of %s need more memory than this server may use for them, which is half of its "+
			"%d MiB: raise it (--memory, MemoryMax of systemd, the limits of the container), or check the address; "+
			"nothing was changed", f.origin, f.budget>>19)
	}
	var head struct {
		Slug   string
		Images []record.Image
	}
	if err := json.Unmarshal(line, &head); err != nil || head.Slug == "" {
		return fmt.Errorf("a record of the kind %s that %s sent cannot be read: it is asked for again soon (%v)",
			kind, f.origin, err)
	}
	return f.write(record.Change{Kind: kind, Slug: head.Slug, Hash: record.Hash(line), Images: head.Images}, line)
}

func (f *folder) write(r record.Change, line []byte) error {
	f.size += int64(len(line))
	switch {
	case len(f.records) == maxRecords:
		return fmt.Errorf("%s has more than %d records, which is more than this release can copy", f.origin, maxRecords)
	case f.size > maxText:
		return fmt.Errorf("the records of %s take more than %d GiB, which is more than this release can copy",
			f.origin, maxText>>30)
	case bytes.IndexByte(line, '\n') >= 0:
		return fmt.Errorf("the %s %s of %s is not in its canonical form: upgrade the older of the two servers",
			r.Kind, r.Slug, f.origin)
	}
	for _, image := range r.Images {
		if known, ok := f.images[image.Path]; ok && known != image.SHA256 {
			return fmt.Errorf("two records of %s disagree about the picture %s: look into its log; "+
				"it is asked again soon", f.origin, image.Path)
		}
		f.images[image.Path] = image.SHA256
	}
	l := f.files[r.Kind]
	if l == nil {
		file, err := f.root.Create(name(r.Kind))
		if err != nil {
			return err
		}
		l = &lines{file, bufio.NewWriterSize(file, 1<<16)}
		f.files[r.Kind] = l
	}
	r.Images = nil
	f.records = append(f.records, r)
	_, err := l.Write(append(line, '\n'))
	return err
}

func (f *folder) state() string { return record.State(f.records) }

// addPicture adds a picture, or an empty file for one that is known.
func (f *folder) addPicture(name string, content []byte) error {
	if !strings.HasPrefix(name, "images/") || !fs.ValidPath(name) {
		return fmt.Errorf("%s has a picture with the path %q: it must be below images/", f.origin, name)
	}
	if err := f.root.MkdirAll(path.Dir(name), 0o700); err != nil {
		return err
	}
	return f.root.WriteFile(name, content, 0o600)
}

// read checks the folder and returns its catalogue. elsewhere are the pictures that are
// known, by path.
func (f *folder) read(ctx context.Context, opts content.Options) (*content.Result, error) {
	for _, l := range f.files {
		if err := l.Flush(); err != nil {
			return nil, err
		}
	}
	opts.Records = true
	read, err := content.Read(ctx, f.dir, opts)
	if err != nil {
		return nil, err
	}
	if n := len(read.Problems); n > 0 {
		more := ""
		if n > 1 {
			more = fmt.Sprintf(" (and %d more)", n-1)
		}
		return nil, errors.Join(fmt.Errorf("%s of %s is not valid here: %s%s; upgrade the older of the two servers, "+
			"or have its publisher correct it",
			f.subject(read.Problems[0]), f.origin, read.Problems[0].Text, more), read.Close())
	}
	for name, sum := range f.images {
		if got := read.Catalog.Pictures[name].Hash; got != sum && got != "" {
			return nil, errors.Join(fmt.Errorf("the picture %s of %s is not as this release makes it: "+
				"upgrade the older of the two servers", name, f.origin), read.Close())
		}
	}
	return read, nil
}

// subject names the record that a problem is about.
func (f *folder) subject(p content.Problem) string {
	for kind, file := range fileNames {
		if name(kind) != p.File || kind == record.Catalogue {
			continue
		}
		if slug := f.slugAt(kind, p.Line); slug != "" {
			return fmt.Sprintf("the %s %s", kind, slug)
		}
		return "a record of " + file
	}
	if p.File == name(record.Catalogue) {
		return "the record of the catalogue"
	}
	return "the picture " + p.File
}

// slugAt returns the slug of a record by the line of its file, "" for none.
func (f *folder) slugAt(kind record.Kind, line int) string {
	for _, r := range f.records {
		if r.Kind != kind {
			continue
		}
		line--
		if line == 0 {
			return r.Slug
		}
	}
	return ""
}

// pictureTypes are the endings under which pictures are served, the most likely one for a
// path first.
func pictureTypes(name string) []string {
	all := []string{"png", "jpg", "webp", "gif"}
	ending := strings.TrimPrefix(strings.ToLower(path.Ext(name)), ".")
	if ending == "jpeg" {
		ending = "jpg"
	}
	if i := slices.Index(all, ending); i > 0 {
		all[0], all[i] = all[i], all[0]
	}
	return all
}

func (c *Client) picture(ctx context.Context, name, sum string) ([]byte, error) {
	if !isHash("sha256-" + sum) {
		return nil, fmt.Errorf("%s has no SHA-256 for the picture %s: upgrade the older of the two servers",
			c.URL, name)
	}
	for _, ending := range pictureTypes(name) {
		content, err := c.media(ctx, sum+"."+ending)
		if r, ok := errors.AsType[*peer.Error](err); ok && r.Status == 404 {
			continue
		}
		if err == nil && record.Hash(content) != "sha256-"+sum {
			err = fmt.Errorf("the picture %s of %s was changed on the way: it has another hash than %s; "+
				"it is asked for again soon", name, c.URL, sum)
		}
		return content, err
	}
	return nil, &movedError{
		fmt.Sprintf("%s no longer has the picture %s (%s): it has published since, and is asked again soon",
			c.URL, name, sum),
	}
}

func (c *Client) media(ctx context.Context, name string) ([]byte, error) {
	resp, err := c.get(ctx, "/media/"+name, http.Header{}, picture.MaxBytes)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	return io.ReadAll(resp.Body)
}

// A movedError says that the origin has published while it was read.
type movedError struct{ text string }

func (e *movedError) Error() string { return e.text }
