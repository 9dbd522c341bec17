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
	"palmares/internal/content/document"
	"palmares/internal/edition"
	"palmares/internal/worktree"
)

// changes returns what a working copy changes in the folder. A text that is to replace its record moves or goes
// with that. Records that name a tool by the address that it had change with it; comparisons with a tool that is
// retired, which no site can have, go with it.
func (d *desk) changes(ctx context.Context, e *edition.Edition, c *draft) ([]worktree.Change, error) {
	list, err := d.ownChanges(ctx, c)
	if err != nil {
		return nil, err
	}
	scheduled, err := d.scheduledFor(e, c.File())
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	case scheduled.isDue:
		list = scheduled.fold(list)
	}
	if c.Replaces == "" {
		return list, nil
	}
	isChanged := func(file string) bool {
		return slices.ContainsFunc(list, func(x worktree.Change) bool { return x.Path == file })
	}
	old, slug, isRenamed := recordName(c.Replaces), recordName(c.Path), path.Dir(c.Path) == path.Dir(c.Replaces)
	if next := content.NextPath(c.Replaces); scheduled.next != nil && !scheduled.isDue {
		list = append(list, worktree.Change{Path: next, Base: worktree.Hash(scheduled.next)})
		if doc, err := document.Open(next, scheduled.next); err == nil && isRenamed {
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
			list = append(list, d.withdrawal(content.PathOf(catalog.ComparisonKind, x.Slug))...)
		}
		return list, nil
	}
	for _, file := range naming(e.Catalog, old) {
		for _, place := range []string{file, content.NextPath(file)} {
			data, err := d.Folder.Read(place)
			if err != nil || isChanged(place) { // one of many in a file
				continue
			}
			doc, err := document.Open(place, data)
			isNamed := false
			if err == nil {
				isNamed, err = doc.ReplaceTool(old, slug)
			}
			if err == nil && isNamed {
				list = append(list, worktree.Change{Path: place, Data: doc.Bytes(), Base: worktree.Hash(data)})
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
			list = append(list, worktree.Change{Path: place, Base: worktree.Hash(data)})
		}
	}
	return list
}

// A scheduled text is the file beside a record that replaces it at an hour.
type scheduledText struct {
	file   string // of the record
	record []byte // what it has
	next   []byte // what the file beside it has; nil for none
	isDue  bool   // the hour has passed: the site has the text
	text   []byte // without its hour, if it is due
}

// scheduledFor returns the text that is scheduled for a record. On somebody's own machine it stays as it is, as it
// does if no form can show it, or if it is a draft: then it never replaces anything.
func (d *desk) scheduledFor(e *edition.Edition, file string) (s scheduledText, err error) {
	s.file = file
	s.record, err = d.Folder.Read(file)
	place := content.NextPath(file)
	next, missing := d.Folder.Read(place)
	if err != nil || missing != nil {
		return s, err
	}
	s.next = next
	doc, err := document.Open(place, next)
	if err != nil || d.isLocal() || doc.Value("draft").Text == "true" {
		return s, nil
	}
	// The edition may be older than the file.
	due, err := catalog.ParseTime(doc.Value("publish_at").Text, zoneOf(e))
	if err != nil || due.After(d.Now()) {
		return s, nil
	}
	s.isDue, s.text = true, withoutHour(place, next)
	return s, nil
}

// now returns the record as the site has it.
func (s *scheduledText) now() []byte {
	if s.isDue {
		return s.text
	}
	return s.record
}

// fold returns changes of a record with what becomes of its scheduled text, whose hour has passed: whoever writes next
// writes it into the file of the record first. A change of the record that was not made of that text is a conflict, so
// that it gets a base that the folder does not have.
func (s *scheduledText) fold(changes []worktree.Change) []worktree.Change {
	all := []worktree.Change{
		{Path: s.file, Data: s.text, Base: worktree.Hash(s.record)},
		{Path: content.NextPath(s.file), Base: worktree.Hash(s.next)},
	}
	for _, c := range changes {
		i := slices.IndexFunc(all, func(first worktree.Change) bool { return first.Path == c.Path })
		if i < 0 {
			all = append(all, c)
			continue
		}
		base := all[i].Base
		if left := worktree.Hash(all[i].Data); c.Base != left {
			base = left
		}
		all[i] = worktree.Change{Path: c.Path, Data: c.Data, Base: base}
	}
	return all
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
		files = append(files, content.PathOf(catalog.ComparisonKind, x.Slug))
	}
	for i := range c.Retired {
		if x := &c.Retired[i]; x.Successor == slug {
			files = append(files, content.PathOf(catalog.RetiredKind, x.Slug))
		}
	}
	for _, t := range c.Tools {
		if slices.ContainsFunc(t.Announced, func(a catalog.Announcement) bool { return a.Successor == slug }) {
			files = append(files, content.PathOf(catalog.ToolKind, t.Slug))
		}
	}
	for i := range c.Articles {
		if a := &c.Articles[i]; slices.Contains(a.Tools, slug) {
			files = append(files, content.PathOf(catalog.ArticleKind, a.Slug))
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
