package desk

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"

	"palmares/internal/catalog"
	"palmares/internal/content"
	"palmares/internal/edition"
	"palmares/internal/record"
	"palmares/internal/worktree"
)

// changes returns what a working copy changes in the folder. A text that is to replace its record moves or goes
// with that. Records that name a tool by the address that it had change with it; comparisons with a tool that is
// retired, which no site can have, go with it.
func (d *desk) changes(ctx context.Context, e *edition.Edition, c *draft) ([]worktree.Change, error) {
	list, err := d.foldIn(ctx, e, c)
	if err != nil || c.Replaces == "" {
		return list, err
	}
	isChanged := func(file string) bool {
		return slices.ContainsFunc(list, func(x worktree.Change) bool { return x.Path == file })
	}
	old, slug, isRenamed := recordName(c.Replaces), recordName(c.Path), path.Dir(c.Path) == path.Dir(c.Replaces)
	next := content.NextPath(c.Replaces)
	text, missing := d.Folder.Read(next)
	if missing == nil && !isChanged(next) {
		list = append(list, worktree.Change{Path: next, Base: hash(text)})
		if doc, err := content.OpenDocument(next, text); err == nil && isRenamed {
			doc, err = doc.Rename(slug)
			if err != nil {
				return nil, refused(sentence(err))
			}
			list = append(list, worktree.Change{Path: content.NextPath(c.Path), Data: doc.Bytes()})
		}
	}
	if e.Catalog == nil || path.Dir(c.Replaces) != "outils" {
		return list, nil
	}
	if !isRenamed {
		for _, x := range compared(e.Catalog, old) {
			list = append(list, d.withdrawal(content.PathOf(record.Comparison, x.Slug))...)
		}
		return list, nil
	}
	for _, file := range naming(e.Catalog, old) {
		for _, place := range []string{file, content.NextPath(file)} {
			data, err := d.Folder.Read(place)
			if err != nil || isChanged(place) { // one of many in a file
				continue
			}
			doc, err := content.OpenDocument(place, data)
			isNamed := false
			if err == nil {
				isNamed, err = doc.ReplaceTool(old, slug)
			}
			if err == nil && isNamed {
				list = append(list, worktree.Change{Path: place, Data: doc.Bytes(), Base: hash(data)})
			}
		}
	}
	return list, nil
}

// withdrawal returns what takes a record out of the folder, with the text that was to replace it.
func (d *desk) withdrawal(file string) (list []worktree.Change) {
	for _, place := range []string{file, content.NextPath(file)} {
		data, err := d.Folder.Read(place)
		if err == nil { // not one of many in a file
			list = append(list, worktree.Change{Path: place, Base: hash(data)})
		}
	}
	return list
}

// foldIn returns what a working copy changes by itself. If a text that was to replace its record has, its
// file goes with the old one, unless she has not seen that text: then the two are a conflict.
func (d *desk) foldIn(ctx context.Context, e *edition.Edition, c *draft) ([]worktree.Change, error) {
	list, err := d.ownChanges(ctx, c)
	if err != nil {
		return nil, err
	}
	now, next, err := d.current(e, c.file())
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
func (d *desk) current(e *edition.Edition, file string) (data []byte, next *worktree.Change, err error) {
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

// naming returns the files of the records that name a tool, and of those that another text is to replace.
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
	for i := range c.Scheduled {
		files = append(files, c.Scheduled[i].Name()+".md")
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
