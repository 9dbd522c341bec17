package dataset

import (
	"bufio"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/klauspost/compress/zstd"

	"palmares/internal/catalog"
	"palmares/internal/markdown"
	"palmares/internal/record"
	"palmares/internal/snapshot"
	"palmares/internal/wire"
)

// A writer writes the files of one version. Records go through it one by one: what it
// needs in memory does not depend on how many there are.
type writer struct {
	ctx  context.Context
	snap *snapshot.Snapshot
	dir  string // an empty folder
	name string // of the export

	open    []*output // begun and not finished
	written map[string]File
}

func (w *writer) write() (*Export, error) {
	w.written = map[string]File{}
	defer func() {
		for _, o := range w.open { // not finished
			_ = o.file.Close() // nobody will read it
		}
	}()
	if err := w.writeRecords(); err != nil {
		return nil, err
	}
	if !isHeads(w.snap.Catalog) {
		if err := w.writeChunks(); err != nil {
			return nil, err
		}
	}
	feed := w.snap.Feed
	m := Manifest{
		Feed: feed.ID, Version: w.snap.Version, Position: feed.Last, State: feed.State,
		PublishedAt: w.snap.PublishedAt, Credit: w.snap.Catalog.CreditLine(), Files: []File{},
	}
	for _, name := range Files {
		if f, ok := w.written[name]; ok {
			m.Files = append(m.Files, f)
		}
	}
	x := &Export{Manifest: m, JSON: wire.AppendJSON(nil, m)}
	manifest, err := w.create(manifestFile)
	if err != nil {
		return nil, err
	}
	if err := manifest.add(x.JSON); err != nil {
		return nil, err
	}
	return x, manifest.finish()
}

// A row is a record on its way into the files.
type row struct {
	record.Record
	change    *record.Change
	canonical []byte // valid until the next row
}

// writeRecords writes everything that is made from records: one pass over each kind.
func (w *writer) writeRecords() error {
	db, err := w.createDatabase()
	if err != nil {
		return err
	}
	defer db.abandon()
	tools, err := w.createTable(toolTableFile, csvColumns(w.snap.Catalog))
	if err != nil {
		return err
	}
	prices, err := w.createTable(priceFile, priceColumns)
	if err != nil {
		return err
	}
	proofColumns := []string{"slug"}
	for i := range catalog.ProofFields {
		if f := &catalog.ProofFields[i]; isColumn(f) {
			proofColumns = append(proofColumns, f.Name)
		}
	}
	proofs, err := w.createTable(proofTableFile, proofColumns)
	if err != nil {
		return err
	}
	for _, kind := range catalog.Kinds {
		err := w.writeKind(kind, func(r *row) error {
			if err := db.add(r); err != nil {
				return err
			}
			switch kind {
			case catalog.ProofKind:
				return proofs.addRecord(r, nil)
			case catalog.ToolKind:
				tool := w.snap.Catalog.Tool(r.change.Slug)
				return errors.Join(tools.addRecord(r, tool), prices.addPrices(tool))
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if err := errors.Join(tools.finish(), prices.finish(), proofs.finish()); err != nil {
		return err
	}
	return db.finish()
}

// writeKind writes the records of a kind into their file, and gives each to also.
func (w *writer) writeKind(kind *catalog.Kind, also func(*row) error) error {
	o, err := w.create(FileOf(kind))
	if err != nil {
		return err
	}
	var r row
	for rec := range record.Each(w.snap.Catalog, kind) {
		r.change = w.snap.Change(kind, rec.Slug)
		if r.change == nil {
			return errors.New("the feed has no " + kind.Name + " " + rec.Slug)
		}
		r.Record = rec
		r.canonical = rec.Append(r.canonical[:0], r.change.Images)
		if err := also(&r); err != nil {
			return err
		}
		line := r.canonical
		if kind != catalog.CatalogueKind {
			line = append(line, '\n')
		}
		if err := o.add(line); err != nil {
			return err
		}
	}
	return o.finish()
}

// A chunk is a line of the file of chunks: what a retrieval pipeline stores for one
// section of a review. The values are those of the embeddings document of the tool.
type chunk struct {
	UID      string                `json:"uid"`
	Slug     string                `json:"slug"`
	Hash     string                `json:"hash"` // of the text
	URL      string                `json:"url"`
	Text     string                `json:"text"`
	Metadata catalog.ChunkMetadata `json:"metadata"`
}

// writeChunks writes the sections of the reviews of the top set, by slug.
func (w *writer) writeChunks() error {
	o, err := w.create(ChunksFile)
	if err != nil {
		return err
	}
	zipped, err := w.create(gzipChunksFile)
	if err != nil {
		return err
	}
	c := w.snap.Catalog
	top := c.TopSet()
	slices.Sort(top) // tools are sorted by slug
	var line []byte
	for _, i := range top {
		t := c.Tools[i]
		for _, x := range c.EmbeddingsDoc(t, markdown.Sections(t.Body)).Chunks {
			line = wire.AppendJSON(line[:0], chunk{
				UID: t.Slug + "#" + x.ID, Slug: t.Slug, Hash: record.Hash([]byte(x.Text)), URL: x.Metadata.CanonicalURL,
				Text: x.Text, Metadata: x.Metadata,
			})
			line = append(line, '\n')
			if err := errors.Join(o.add(line), zipped.add(line)); err != nil {
				return err
			}
		}
	}
	return errors.Join(o.finish(), zipped.finish())
}

// An output is a file that is being written. It is compressed if its name says so.
type output struct {
	w    *writer
	name string
	file *os.File
	to   io.Writer    // compresses or collects, and writes to the output itself
	end  func() error // writes what to still holds
	sum  hash.Hash
	rows int64
	size int64
}

func (w *writer) create(name string) (*output, error) {
	f, err := os.OpenFile(filepath.Join(w.dir, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	o := &output{w: w, name: name, file: f, sum: sha256.New()}
	w.open = append(w.open, o)
	switch path.Ext(name) {
	case ".gz":
		encoder := gzip.NewWriter(o)
		o.to, o.end = encoder, encoder.Close
	case ".zst":
		// One goroutine, ours: the same bytes each time, and the requests keep the others. A file
		// without content is a frame without content.
		encoder, err := zstd.NewWriter(o, zstd.WithEncoderConcurrency(1),
			zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithZeroFrames(true))
		if err != nil {
			return nil, err
		}
		o.to, o.end = encoder, encoder.Close
	default:
		buffer := bufio.NewWriterSize(o, 64<<10)
		o.to, o.end = buffer, buffer.Flush
	}
	return o, nil
}

func (o *output) add(b []byte) error {
	o.rows++
	_, err := o.to.Write(b)
	return err
}

// Write receives the bytes of the file. It fails when the context of the export has ended.
func (o *output) Write(b []byte) (int, error) {
	if err := o.w.ctx.Err(); err != nil {
		return 0, err
	}
	o.sum.Write(b)
	o.size += int64(len(b))
	return o.file.Write(b)
}

// finish ends the file: it is on the disk then.
func (o *output) finish() error {
	if err := o.end(); err != nil {
		return err
	}
	if err := o.file.Sync(); err != nil {
		return err
	}
	o.w.open = slices.DeleteFunc(o.w.open, func(x *output) bool { return x == o })
	o.w.written[o.name] = File{
		Path: Path + "/" + o.w.name + "/" + o.name, Rows: o.rows, Bytes: o.size,
		SHA256: hex.EncodeToString(o.sum.Sum(nil)), Type: contentTypes[path.Ext(o.name)],
	}
	return o.file.Close()
}
