package content

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"palmares/internal/catalog"
)

// Format is the form in which Write puts records.
type Format int

// Markdown is one file per record; JSONL is one file per kind. A record that
// does not fit the limits of the chosen form is written in the other one.
const (
	Markdown Format = iota
	JSONL
)

// Write makes dir a content folder that Read gives back as c: the same bytes for
// the same catalogue. dir must be absent or empty. If anything fails, dir is as
// before. progress, which may be nil, is told now and then how many records are
// written.
func Write(ctx context.Context, dir string, c *catalog.Catalog, format Format, progress func(records int)) (err error) {
	made, err := claimFolder(dir)
	if err != nil {
		return err
	}
	// Everything is first written aside, within dir so that it is on the same
	// disk even where dir is a mount of its own, and then moved into place,
	// catalogue.yaml last: without it a folder is not read.
	aside, err := os.MkdirTemp(dir, ".export-")
	if err != nil {
		return fmt.Errorf("the folder %s cannot be written: %w", dir, err)
	}
	var placed []string
	defer func() {
		if err == nil {
			return
		}
		for _, name := range append(placed, aside) {
			err = errors.Join(err, os.RemoveAll(name))
		}
		if made {
			err = errors.Join(err, os.Remove(dir))
		}
	}()

	w := &folderWriter{dir: aside, format: format, progress: progress}
	if err := w.write(ctx, c); err != nil {
		return err
	}
	entries, err := os.ReadDir(aside)
	if err != nil {
		return err
	}
	move := func(name string) error {
		to := filepath.Join(dir, name)
		if err := os.Rename(filepath.Join(aside, name), to); err != nil {
			return err
		}
		placed = append(placed, to)
		return nil
	}
	for _, e := range entries {
		if e.Name() == catalogueFile {
			continue
		}
		if err := move(e.Name()); err != nil {
			return err
		}
	}
	if err := move(catalogueFile); err != nil {
		return err
	}
	return os.Remove(aside)
}

// claimFolder makes sure that dir is a folder with nothing in it.
func claimFolder(dir string) (made bool, err error) {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := os.Mkdir(dir, 0o777); err != nil {
			return false, fmt.Errorf("the folder cannot be made: %w", err)
		}
		return true, nil
	case err != nil:
		return false, fmt.Errorf("the folder cannot be written: %w", err)
	case len(entries) > 0:
		return false, fmt.Errorf("the folder %s is not empty; give one that is empty or does not exist", dir)
	}
	return false, nil
}

// A folderWriter writes records into a folder of their own.
type folderWriter struct {
	dir      string
	format   Format
	progress func(records int)
	written  int
	bulk     *bufio.Writer // of the kind being written, nil until it is needed
	bulkFile *os.File
}

func (w *folderWriter) write(ctx context.Context, c *catalog.Catalog) error {
	yaml := appendYAML(nil, catalogueFields(c), "")
	if len(yaml) > maxYAML {
		return fmt.Errorf("the categories do not fit into a %s of %d KiB", catalogueFile, maxYAML>>10)
	}
	if err := os.WriteFile(filepath.Join(w.dir, catalogueFile), yaml, 0o666); err != nil {
		return err
	}
	for _, k := range []struct {
		folder string
		n      int
		at     func(i int) (slug string, fields []pair, body string)
	}{
		{"outils", len(c.Tools), func(i int) (string, []pair, string) {
			return c.Tools[i].Slug, toolFields(&c.Tools[i]), c.Tools[i].Body
		}},
		{"comparatifs", len(c.Comparisons), func(i int) (string, []pair, string) {
			return c.Comparisons[i].Slug, comparisonFields(&c.Comparisons[i]), c.Comparisons[i].Body
		}},
		{"cimetiere", len(c.Retired), func(i int) (string, []pair, string) {
			return c.Retired[i].Slug, retiredFields(&c.Retired[i]), c.Retired[i].Body
		}},
	} {
		if err := w.kind(ctx, k.folder, k.n, k.at); err != nil {
			return err
		}
	}
	if w.progress != nil {
		w.progress(w.written)
	}
	return nil
}

func (w *folderWriter) kind(ctx context.Context, folder string, n int, at func(int) (string, []pair, string)) (err error) {
	defer func() {
		if w.bulk != nil {
			err = errors.Join(err, w.bulk.Flush(), w.bulkFile.Close())
			w.bulk = nil
		}
	}()
	madeFolder := false
	var markdown, line []byte
	for i := range n {
		if i%batchRecords == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			if w.progress != nil {
				w.progress(w.written)
			}
		}
		slug, fields, body := at(i)
		asMarkdown, asLine := false, false
		if w.format == JSONL {
			line = appendJSONLine(line[:0], slug, fields, body)
			asLine = len(line)-1 <= maxFile
		}
		if !asLine {
			var yaml int
			markdown, yaml = appendMarkdown(markdown[:0], fields, body)
			asMarkdown = len(markdown) <= maxFile && yaml <= maxYAML
		}
		if !asMarkdown && !asLine {
			line = appendJSONLine(line[:0], slug, fields, body)
			asLine = len(line)-1 <= maxFile
		}
		switch {
		case asLine:
			err = w.appendBulk(folder, line)
		case asMarkdown:
			if !madeFolder {
				if err := os.Mkdir(filepath.Join(w.dir, folder), 0o777); err != nil {
					return err
				}
				madeFolder = true
			}
			err = os.WriteFile(filepath.Join(w.dir, folder, slug+".md"), markdown, 0o666)
		default:
			err = fmt.Errorf("the record %s of %s is larger than 1 MiB in either form", slug, folder)
		}
		if err != nil {
			return err
		}
		w.written++
	}
	return nil
}

func (w *folderWriter) appendBulk(folder string, line []byte) error {
	if w.bulk == nil {
		file, err := os.Create(filepath.Join(w.dir, folder+".jsonl"))
		if err != nil {
			return err
		}
		w.bulkFile, w.bulk = file, bufio.NewWriterSize(file, 1<<16)
	}
	_, err := w.bulk.Write(line)
	return err
}
