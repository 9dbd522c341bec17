package content

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/content/tree"
	canonical "palmares/internal/record"
)

// Format is the format in which Write stores records.
type Format int

// Markdown is one file per record; JSONL is one file per kind. A record that
// exceeds the limits of one format is written in the other.
const (
	Markdown Format = iota
	JSONL
)

// WriteOptions say how to write a folder.
type WriteOptions struct {
	Format Format
	// Pictures has the bytes of the catalogue's pictures, by hash. It may be nil if
	// there are none.
	Pictures interface {
		Read(ctx context.Context, hash string) ([]byte, error)
	}
	// Progress may be nil; it is called from time to time with the number of records
	// written so far.
	Progress func(records int)
}

// Write writes c to dir as a content folder, which Read reads back as c. The same
// catalogue is written as the same bytes. dir must not exist or be empty; after an
// error it is as before.
func Write(ctx context.Context, dir string, c *catalog.Catalog, opts WriteOptions) (err error) {
	created, err := prepareFolder(dir)
	if err != nil {
		return err
	}
	// Everything is first written to a temporary folder, inside dir so that it is
	// on the same file system even if dir is a mount point, and then moved.
	temp, err := os.MkdirTemp(dir, ".export-")
	if err != nil {
		return fmt.Errorf("the folder %s cannot be written: %w", dir, err)
	}
	var moved []string
	defer func() {
		if err == nil {
			return
		}
		for _, name := range append(moved, temp) {
			err = errors.Join(err, os.RemoveAll(name))
		}
		if created {
			err = errors.Join(err, os.Remove(dir))
		}
	}()

	w := &folderWriter{dir: temp, format: opts.Format, catalogue: c, progress: opts.Progress}
	if err := w.write(ctx); err != nil {
		return err
	}
	if err := w.writePictures(ctx, opts); err != nil {
		return err
	}
	moved, err = moveAll(temp, dir)
	if err != nil {
		return err
	}
	return os.Remove(temp)
}

// moveAll moves the entries of one folder to another and returns their new paths,
// also after an error. catalogue.yaml comes last: without it a folder is not read.
func moveAll(from, to string) (moved []string, err error) {
	entries, err := os.ReadDir(from)
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		if e.Name() != catalog.SettingsFile {
			names = append(names, e.Name())
		}
	}
	for _, name := range append(names, catalog.SettingsFile) {
		target := filepath.Join(to, name)
		if err := os.Rename(filepath.Join(from, name), target); err != nil {
			return moved, err
		}
		moved = append(moved, target)
	}
	return moved, nil
}

// prepareFolder creates dir, or checks that it is an empty folder.
func prepareFolder(dir string) (created bool, err error) {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := os.Mkdir(dir, 0o777); err != nil {
			return false, fmt.Errorf("the folder cannot be created: %w", err)
		}
		return true, nil
	case err != nil:
		return false, fmt.Errorf("the folder cannot be written: %w", err)
	case len(entries) > 0:
		return false, fmt.Errorf("the folder %s is not empty; give one that is empty or does not exist", dir)
	}
	return false, nil
}

type folderWriter struct {
	dir       string
	format    Format
	catalogue *catalog.Catalog
	progress  func(records int)
	written   int
	lines     *bufio.Writer // JSON lines of the kind being written; nil until needed
	file      *os.File      // beneath lines
}

func (w *folderWriter) write(ctx context.Context) error {
	c := w.catalogue
	yaml := appendYAML(nil, catalog.CatalogueFields, c.InOrder(), "")
	if len(yaml) > tree.MaxYAML {
		return fmt.Errorf("the categories do not fit into a %s of %d KiB", catalog.SettingsFile, tree.MaxYAML>>10)
	}
	if err := os.WriteFile(filepath.Join(w.dir, catalog.SettingsFile), yaml, 0o666); err != nil {
		return err
	}
	for _, k := range catalog.WrittenKinds {
		if err := w.kind(ctx, k); err != nil {
			return err
		}
	}
	if err := w.writeScheduled(); err != nil {
		return err
	}
	if len(w.catalogue.Proofs) > 0 {
		if err := SaveProofs(w.dir, slices.Clone(w.catalogue.Proofs)); err != nil {
			return err
		}
	}
	if w.progress != nil {
		w.progress(w.written)
	}
	return nil
}

// writePictures writes the pictures as they are served.
func (w *folderWriter) writePictures(ctx context.Context, opts WriteOptions) error {
	pictures := maps.Clone(w.catalogue.Held)
	if pictures == nil {
		pictures = map[string]catalog.Picture{}
	}
	maps.Copy(pictures, w.catalogue.Pictures)
	for _, name := range slices.Sorted(maps.Keys(pictures)) {
		content, err := opts.Pictures.Read(ctx, pictures[name].Hash)
		if err != nil {
			return fmt.Errorf("the picture %s cannot be read: %w", name, err)
		}
		target := filepath.Join(w.dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(target), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(target, content, 0o666); err != nil {
			return err
		}
	}
	return nil
}

func (w *folderWriter) kind(ctx context.Context, k *catalog.Kind) (err error) {
	defer func() {
		if w.lines != nil {
			err = errors.Join(err, w.lines.Flush(), w.file.Close())
			w.lines = nil
		}
	}()
	var buf []byte
	for i := range k.Len(w.catalogue) {
		if i%batchRecords == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			if w.progress != nil {
				w.progress(w.written)
			}
		}
		written := k.At(w.catalogue, i)
		record := canonical.Of(w.catalogue, written)
		var format Format
		buf, format, err = w.encode(buf[:0], record, written)
		if err != nil {
			return fmt.Errorf("the record %s of %s %w", record.Slug, k.Folder, err)
		}
		if format == JSONL {
			err = w.writeLine(k.Folder, buf)
		} else {
			err = w.writeFile(k.Folder, record.Slug, buf)
		}
		if err != nil {
			return err
		}
		w.written++
	}
	return nil
}

var errTooLarge = errors.New("is larger than 1 MiB in either format")

// encode appends a record to b in the writer's format, or in the other one if it
// exceeds the limits, and returns the format used: a line of JSON in its canonical form, or a
// Markdown file that says what its editors wrote.
func (w *folderWriter) encode(b []byte, record canonical.Record, written any) ([]byte, Format, error) {
	for _, format := range []Format{w.format, 1 - w.format} {
		if format == JSONL {
			b = record.Append(b[:0], record.Images(w.catalogue))
			if len(b) <= tree.MaxFile {
				return append(b, '\n'), format, nil
			}
			continue
		}
		var yaml int
		b, yaml = appendMarkdown(b[:0], record.Kind.Fields, written)
		if len(b) <= tree.MaxFile && yaml <= tree.MaxYAML {
			return b, format, nil
		}
	}
	return b, w.format, errTooLarge
}

func (w *folderWriter) writeFile(folder, slug string, data []byte) error {
	if err := os.Mkdir(filepath.Join(w.dir, folder), 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return os.WriteFile(filepath.Join(w.dir, folder, slug+".md"), data, 0o666)
}

func (w *folderWriter) writeLine(folder string, line []byte) error {
	if w.lines == nil {
		file, err := os.Create(filepath.Join(w.dir, folder+".jsonl"))
		if err != nil {
			return err
		}
		w.file, w.lines = file, bufio.NewWriterSize(file, 1<<16)
	}
	_, err := w.lines.Write(line)
	return err
}

// writeScheduled writes the records that wait, as files: beside the record that they replace, if there
// is one.
func (w *folderWriter) writeScheduled() error {
	taken := map[string]bool{}
	for _, k := range catalog.WrittenKinds {
		for i := range k.Len(w.catalogue) {
			taken[k.Folder+"/"+canonical.Of(w.catalogue, k.At(w.catalogue, i)).Slug] = true
		}
	}
	for i := range w.catalogue.Scheduled {
		s := &w.catalogue.Scheduled[i]
		folder, file, _ := strings.Cut(s.Name(), "/")
		if taken[s.Name()] {
			file += nextSuffix
		}
		taken[s.Name()] = true
		b, yaml := appendMarkdown(nil, catalog.KindOf(s.Record).Fields, withHour(s.Record, s.Due))
		if len(b) > tree.MaxFile || yaml > tree.MaxYAML {
			return fmt.Errorf("the scheduled record %s %w", s.Name(), errTooLarge)
		}
		if err := w.writeFile(folder, file, b); err != nil {
			return err
		}
		w.written++
	}
	return nil
}

// withHour returns a copy of a record with an hour.
func withHour(record any, hour string) any {
	r := copied(record)
	*catalog.ValueOf[string](catalog.KindOf(r).Fields, catalog.PublishAt, r) = hour
	return r
}
