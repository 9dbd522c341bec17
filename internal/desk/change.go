package desk

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/content"
	"palmares/internal/record"
	"palmares/internal/worktree"
)

// changes returns what a working copy changes in the folder. Records that name a tool by the address that it
// had change with it; comparisons with a tool that is retired, which no site can have, go with it.
func (d *desk) changes(ctx context.Context, c *draft) ([]worktree.Change, error) {
	list, err := d.foldIn(ctx, c)
	if err != nil {
		return nil, err
	}
	old, isTool := strings.CutPrefix(strings.TrimSuffix(c.Replaces, ".md"), "outils/")
	if !isTool {
		return list, nil
	}
	slug, isRenamed := strings.CutPrefix(strings.TrimSuffix(c.Path, ".md"), "outils/")
	e, err := d.folder(ctx)
	if err != nil || e.Catalog == nil {
		return list, err
	}
	if !isRenamed {
		return append(list, d.withdrawals(compared(e.Catalog, old))...), nil
	}
	for _, file := range naming(e.Catalog, old) {
		data, err := d.Folder.Read(file)
		if err != nil { // one of many in a file
			continue
		}
		doc, err := content.OpenDocument(file, data)
		if err == nil {
			_, err = doc.ReplaceTool(old, slug)
		}
		if err == nil && file != c.Replaces {
			list = append(list, worktree.Change{Path: file, Data: doc.Bytes(), Base: hash(data)})
		}
	}
	return list, nil
}

// withdrawals returns what takes comparisons out of the folder, with the texts that were to replace them.
func (d *desk) withdrawals(all []*catalog.Comparison) (list []worktree.Change) {
	for _, x := range all {
		file := content.PathOf(record.Comparison, x.Slug)
		for _, place := range []string{file, content.NextPath(file)} {
			if data, err := d.Folder.Read(place); err == nil { // not one of many in a file
				list = append(list, worktree.Change{Path: place, Base: hash(data)})
			}
		}
	}
	return list
}

// foldIn returns what a working copy changes by itself. If a text that was to replace its record has, its
// file goes with the old one, unless she has not seen that text: then the two are a conflict.
func (d *desk) foldIn(ctx context.Context, c *draft) ([]worktree.Change, error) {
	list, err := d.ownChanges(ctx, c)
	if err != nil {
		return nil, err
	}
	now, next, err := d.current(ctx, c.file())
	if err != nil || next == nil {
		return list, ignoreMissing(err)
	}
	if hash(now) != c.Base {
		next.Base = c.Base
		return append(list, *next), nil
	}
	old, err := d.Folder.Read(c.file())
	if err != nil {
		return nil, err
	}
	for i := range list {
		if list[i].Path == c.file() {
			list[i].Base = hash(old)
		}
	}
	return append(list, *next), nil
}

// current returns the file of a record as the site has it. If a text that was to replace it has, this is
// that text, and next the change that takes its own file out of the folder.
func (d *desk) current(ctx context.Context, file string) (data []byte, next *worktree.Change, err error) {
	e, err := d.folder(ctx)
	if err != nil {
		return nil, nil, err
	}
	data, err = d.Folder.Read(file)
	place := content.NextPath(file)
	text, missing := d.Folder.Read(place)
	if err != nil || missing != nil || e.Catalog == nil || d.isLocal() {
		return data, nil, err
	}
	for i := range e.Catalog.Scheduled {
		if s := &e.Catalog.Scheduled[i]; s.Name()+".md" == file && s.Due > catalog.FormatTime(d.Now()) {
			return data, nil, nil
		}
	}
	doc, err := content.OpenDocument(place, text)
	if err != nil || doc.Value("draft").Text == "true" {
		return data, nil, nil // no form can show it, or it never happens
	}
	return withoutHour(place, text), &worktree.Change{Path: place, Base: hash(text)}, nil
}

// ignoreMissing returns err unless it says that a file is not there.
func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// compared returns the comparisons with a tool, as far as they are known.
func compared(c *catalog.Catalog, slug string) (list []*catalog.Comparison) {
	for i := 0; c != nil && i < len(c.Comparisons); i++ {
		if x := &c.Comparisons[i]; x.ToolA == slug || x.ToolB == slug {
			list = append(list, x)
		}
	}
	return list
}

// naming returns the files of the records that name a tool.
func naming(c *catalog.Catalog, slug string) (files []string) {
	for _, x := range compared(c, slug) {
		files = append(files, content.PathOf(record.Comparison, x.Slug))
	}
	for i := range c.Retired {
		if x := &c.Retired[i]; x.Successor == slug {
			files = append(files, content.PathOf(record.Retired, x.Slug))
		}
	}
	for _, t := range c.Tools {
		if slices.ContainsFunc(t.Announced, func(a catalog.Announcement) bool { return a.Successor == slug }) {
			files = append(files, content.PathOf(record.Tool, t.Slug))
		}
	}
	for i := range c.Articles {
		if a := &c.Articles[i]; slices.Contains(a.Tools, slug) {
			files = append(files, content.PathOf(record.Article, a.Slug))
		}
	}
	return files
}

// ownChanges returns what a working copy changes by itself, with the pictures that it shows.
func (d *desk) ownChanges(ctx context.Context, c *draft) ([]worktree.Change, error) {
	list := []worktree.Change{{Path: c.Path, Data: c.Data, Base: c.Base}}
	if c.Replaces != "" {
		list[0].Base = ""
		list = append(list, worktree.Change{Path: c.Replaces, Base: c.Base})
	}
	files, err := d.Copies.Files(ctx, c.ID)
	for _, f := range files {
		if bytes.Contains(c.Data, []byte(f.Path)) {
			list = append(list, worktree.Change{Path: f.Path, Data: f.Data})
		}
	}
	return list, err
}
