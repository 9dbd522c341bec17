package desk

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"

	"palmares/internal/account"
	"palmares/internal/catalog"
	"palmares/internal/content/document"
	"palmares/internal/deskdb"
	"palmares/internal/edition"
	"palmares/internal/sqldb"
)

// A draft is a working copy with what it says.
type draft struct {
	copyRow
	doc   *document.Document // nil if the file is in no form that a form can show
	known *catalog.Catalog   // what it may refer to; nil if the folder has problems

	isOutdated bool // another text was saved meanwhile, which is now its original
}

// addressOf returns the address on the site of what a file is about.
func addressOf(name string) string {
	folder, file := path.Split(name)
	if k := catalog.KindIn(strings.TrimSuffix(folder, "/")); k != nil {
		return k.Address + strings.TrimSuffix(strings.TrimSuffix(file, ".md"), ".next")
	}
	return "/"
}

// name returns how people call what a document is about.
func name(doc *document.Document, file string) string {
	if doc == nil {
		return file
	}
	if doc.Kind() == catalog.CatalogueKind {
		return "Réglages du site"
	}
	return cmp.Or(doc.Value("name").Text, doc.Value("title").Text, strings.TrimSuffix(path.Base(file), ".md"))
}

// NameOf returns how people call what a file of the folder is about.
func NameOf(file string, data []byte) string {
	doc, _ := document.Open(file, data)
	return name(doc, recordName(file))
}

// of returns a page of the working copy that a request names.
func (d *desk) of(page func(*request, *draft) (*response, error)) pageFunc {
	return func(r *request) (*response, error) {
		c, err := d.open(r, r.PathValue("id"))
		if err != nil {
			return nil, err
		}
		return page(r, c)
	}
}

// open returns a working copy, if she may see it: her own, and as an editor everybody's.
func (d *desk) open(r *request, id string) (*draft, error) {
	found, err := d.Copies.Find(r.Context(), id)
	if err != nil {
		return nil, err
	}
	if found.Author != r.Email && !r.Role.Includes(account.Editor) {
		return nil, errNoPage
	}
	doc, _ := document.Open(found.Path, found.Data) // without it, its text is shown
	row := copyRow{WorkingCopy: found, Name: name(doc, found.Path), IsMine: true}
	return &draft{copyRow: row, doc: doc, known: r.folder.Catalog}, nil
}

// anew is the response to a form about an older revision of a working copy: its page as it is now.
func anew(r *request, page func() (*response, error)) (*response, error) {
	r.Notice = "Ce texte a été enregistré de nouveau pendant que vous le lisiez\u00a0: rien n’a été fait. Relisez-le, puis recommencez."
	a, err := page()
	if err == nil && a.Location == "" {
		a.Status = http.StatusConflict
	}
	return a, err
}

// withdrawn returns the comparisons that leave the site with the tool of which it is the obituary.
func (c *draft) withdrawn() []*catalog.Comparison {
	if !c.IsObituary() {
		return nil
	}
	return compared(c.known, recordName(c.Replaces))
}

// summary says what publishing it changes, in a line for the history of the folder.
func (c *draft) summary() string {
	switch {
	case c.IsObituary():
		return c.Name + " est retiré"
	case c.Replaces != "":
		return c.Name + " change d’adresse"
	case c.Base == "":
		return c.Name + "\u00a0: nouvelle fiche"
	}
	var parts []string
	fields, text := c.changed()
	for _, f := range fields {
		parts = append(parts, strings.ToLower(f.Label))
	}
	if slices.ContainsFunc(text, func(p passage) bool { return !p.IsSame }) {
		parts = append(parts, "texte")
	}
	if len(parts) == 0 || len(parts) > 4 {
		return c.Name
	}
	return c.Name + "\u00a0: " + strings.Join(parts, ", ")
}

// edition returns the folder with a working copy in it.
func (d *desk) edition(ctx context.Context, c *draft, isPublic bool) (*edition.Edition, error) {
	return d.Editions.With(ctx, edition.Change{
		Key: c.ID, Revision: c.Revision, IsPublic: isPublic, Path: c.Path, Data: c.Data,
		Files: func(folder *edition.Edition) (fs.FS, bool, error) {
			changes, err := d.changes(ctx, folder, c)
			return d.Folder.With(changes), len(changes) == 1, err
		},
	})
}

// A copyRow is a working copy in a list.
type copyRow struct {
	deskdb.WorkingCopy
	Name      string
	Who       string
	IsMine    bool
	IsOpen    bool // she may open it
	IsOffered bool // she may publish it from a list
	IsQuoted  bool // the price of its record was quoted in it
}

// Href returns the address of its page.
func (c copyRow) Href() string { return copiesPath + "/" + c.ID }

// File returns the path of the record that it changes.
func (c copyRow) File() string { return cmp.Or(c.Replaces, c.Path) }

// Seen returns it as a form names it: by the revision that she sees.
func (c copyRow) Seen() string { return c.ID + ":" + strconv.FormatInt(c.Revision, 10) }

// IsObituary reports whether it takes the place of a tool.
func (c copyRow) IsObituary() bool {
	return c.Replaces != "" && strings.HasPrefix(c.Path, "cimetiere/")
}

// Address and Former return the address of its record on the site, and the one that it has until then.
func (c copyRow) Address() string { return addressOf(c.Path) }
func (c copyRow) Former() string  { return addressOf(c.Replaces) }

// IsAuthor reports whether it is about somebody who writes: such a page has one address only.
func (c copyRow) IsAuthor() bool { return strings.HasPrefix(c.Path, "auteurs/") }

// StateText returns the French name of its state.
func (c copyRow) StateText() string {
	switch c.State {
	case deskdb.CopyForReview:
		return "À relire"
	case deskdb.CopyReady:
		return "Prête"
	}
	return "En cours"
}

// copyRows returns all working copies, the last saved first, with the names of those of the records.
func (d *desk) copyRows(r *request, records []row) ([]copyRow, error) {
	all, err := d.Copies.List(r.Context())
	if err != nil {
		return nil, err
	}
	names, err := d.names(r.Context())
	if err != nil {
		return nil, err
	}
	titles := map[string]string{}
	for _, x := range records {
		titles[x.File()] = x.Name
	}
	var list []copyRow
	for _, c := range all {
		c.SavedAt = c.SavedAt.In(zoneOf(r.folder))
		file := cmp.Or(c.Replaces, c.Path)
		if records != nil && titles[file] == "" { // a new one, which only its own text names
			whole, err := d.Copies.Find(r.Context(), c.ID)
			if err != nil && !errors.Is(err, sqldb.ErrNotFound) {
				return nil, err
			}
			titles[file] = NameOf(c.Path, whole.Data)
		}
		list = append(list, copyRow{
			WorkingCopy: c, Name: cmp.Or(titles[file], recordName(c.Path)), Who: cmp.Or(names[c.Author], c.Author),
			IsMine: c.Author == r.Email, IsOpen: c.Author == r.Email || r.Role.Includes(account.Editor),
		})
	}
	return list, nil
}

// copiesOf returns the working copies of a record among others.
func copiesOf(all []copyRow, file string) (list []copyRow) {
	for i := range all {
		if all[i].File() == file {
			list = append(list, all[i])
		}
	}
	return list
}

// recordName returns the name of a file for people who do not know files.
func recordName(file string) string {
	folder, base := path.Split(file)
	k := catalog.KindIn(strings.TrimSuffix(folder, "/"))
	switch {
	case file == settingsFile:
		return "Réglages du site"
	case k == nil:
		return file
	}
	stem, isNext := strings.CutSuffix(strings.TrimSuffix(base, ".md"), ".next")
	if isNext {
		stem += " (prochaine version)"
	}
	return stem
}

// names returns the names of the people at the desk by their addresses.
func (d *desk) names(ctx context.Context) (map[string]string, error) {
	names := map[string]string{}
	if d.isLocal() {
		return names, nil
	}
	all, err := d.Editors.List(ctx)
	for _, e := range all {
		names[e.Email] = e.Name
	}
	return names, err
}
