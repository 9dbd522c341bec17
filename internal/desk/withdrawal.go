package desk

import (
	"io/fs"
	"slices"

	"palmares/internal/catalog"

	"palmares/internal/content"
	"palmares/internal/edition"
	"palmares/internal/worktree"
)

type withdrawalPage struct {
	page
	Row      row
	Seen     string // the hash of its file
	Copies   []copyRow
	Signed   int // how many records somebody has signed whose page it is
	Problems []finding
	Warnings []string
}

// CanGo reports whether a record can be withdrawn. A tool that visitors know is retired instead.
func (r row) CanGo() bool {
	isKept := r.Kind == catalog.RetiredKind || r.Kind == catalog.ToolKind && !r.Draft
	return !isKept && r.Due == "" && !r.IsInBulk // what waits for its hour is unscheduled
}

// IsRemembered reports whether the site says of its address that there was a page.
func (r row) IsRemembered() bool {
	return !r.Draft && (r.Kind == catalog.PageKind || r.Kind == catalog.ArticleKind)
}

// goes returns the record that is to be withdrawn, and what takes it out of the folder.
func (d *records) goes(r *request) (row, []worktree.Change, error) {
	found, _, _, err := d.record(r)
	if err != nil {
		return found, nil, err
	}
	changes := d.withdrawal(found.File())
	if !found.CanGo() || len(changes) == 0 {
		return found, nil, errNoPage
	}
	return found, changes, nil
}

// confirmWithdrawal shows what there will not be any more, and what is wrong without it.
func (d *records) confirmWithdrawal(r *request) (*response, error) {
	found, changes, err := d.goes(r)
	if err != nil {
		return nil, err
	}
	e, err := d.Editions.With(r.Context(), edition.Change{
		Key:   "without " + found.File(),
		Files: func(*edition.Edition) (fs.FS, bool, error) { return d.Folder.With(changes), false, nil },
	})
	if err != nil {
		return nil, err
	}
	data := withdrawalPage{page: r.page("Retirer du site"), Row: found, Seen: changes[0].Base, Problems: findings(e.Problems)}
	data.Warnings = row{warnings: slices.DeleteFunc(slices.Clone(e.Warnings), func(w content.Warning) bool {
		return slices.Contains(r.folder.Warnings, w)
	})}.Warnings()
	all, err := d.copyRows(r, []row{found})
	data.Copies = copiesOf(all, found.File())
	for _, x := range d.rows(r.folder, r.Now) {
		if found.Kind == catalog.AuthorKind && slices.Contains(x.Authors, found.Name) {
			data.Signed++
		}
	}
	return render("withdrawal", data), err
}

// withdraw takes a record out of the folder and off the site.
func (d *records) withdraw(r *request) (*response, error) {
	found, changes, err := d.goes(r)
	if err != nil {
		return nil, err
	}
	if r.PostForm.Get("vu") != changes[0].Base {
		return anew(r, func() (*response, error) { return d.confirmWithdrawal(r) })
	}
	a, err := d.send(r, nil, worktree.Publication{Changes: changes, Message: found.Name + "\u00a0: hors du site"})
	if a != nil || err != nil {
		return a, err
	}
	return seeOther(recordsPath, "sortie"), nil
}
