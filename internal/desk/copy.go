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
	"time"

	"palmares/internal/account"
	"palmares/internal/catalog"
	"palmares/internal/content/document"
	"palmares/internal/deskdb"
	"palmares/internal/edition"
	"palmares/internal/sqldb"
)

// Copies keeps working copies, as deskdb.Copies does.
type Copies interface {
	Create(ctx context.Context, c deskdb.WorkingCopy, now time.Time) (deskdb.WorkingCopy, error)
	Find(ctx context.Context, id string) (deskdb.WorkingCopy, error)
	List(ctx context.Context) ([]deskdb.WorkingCopy, error)
	Save(ctx context.Context, id string, revision int64, data []byte, now time.Time) (int64, error)
	Rebase(ctx context.Context, id string, revision int64, original, data []byte, now time.Time) (int64, error)
	SetState(ctx context.Context, id string, revision int64, step deskdb.CopyStep, now time.Time) error
	Delete(ctx context.Context, id string, revision int64) error
	PutFile(ctx context.Context, c *deskdb.WorkingCopy, f deskdb.CopyFile, now time.Time) error
	Files(ctx context.Context, id string) ([]deskdb.CopyFile, error)
	Paths(ctx context.Context, id string) ([]string, error)
}

// A draft is a working copy with what it says.
type draft struct {
	deskdb.WorkingCopy
	doc   *document.Document // nil if the file is in no form that a form can show
	known *catalog.Catalog   // what it may refer to; nil if the folder has problems

	isOutdated bool // another text was saved meanwhile, which is now its original
}

func (c *draft) path() string { return copiesPath + "/" + c.ID }

func (c *draft) address() string { return addressOf(c.Path) }

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
	c := &draft{WorkingCopy: found, known: r.folder.Catalog}
	c.doc, _ = document.Open(c.Path, c.Data) // without it, its text is shown
	return c, nil
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

// row returns it for a page of its own.
func (c *draft) row() copyRow {
	return copyRow{WorkingCopy: c.WorkingCopy, Name: name(c.doc, c.Path), IsMine: true}
}

// file returns the path of the record that it changes.
func (c *draft) file() string { return cmp.Or(c.Replaces, c.Path) }

// withdrawn returns the comparisons that leave the site with the tool of which it is the obituary.
func (c *draft) withdrawn() []*catalog.Comparison {
	if !c.row().IsObituary() {
		return nil
	}
	return compared(c.known, recordName(c.Replaces))
}

// summary says what publishing it changes, in a line for the history of the folder.
func (c *draft) summary() string {
	title := name(c.doc, c.Path)
	switch {
	case c.row().IsObituary():
		return title + " est retiré"
	case c.Replaces != "":
		return title + " change d’adresse"
	case c.Base == "":
		return title + "\u00a0: nouvelle fiche"
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
		return title
	}
	return title + "\u00a0: " + strings.Join(parts, ", ")
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
	File      string
	Name      string
	Who       string
	IsMine    bool
	IsOpen    bool // she may open it
	IsOffered bool // she may publish it from a list
	IsQuoted  bool // the price of its record was quoted in it
}

// Href returns the address of its page.
func (c copyRow) Href() string { return copiesPath + "/" + c.ID }

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
			WorkingCopy: c, File: file, Name: cmp.Or(titles[file], recordName(c.Path)), Who: cmp.Or(names[c.Author], c.Author),
			IsMine: c.Author == r.Email, IsOpen: c.Author == r.Email || r.Role.Includes(account.Editor),
		})
	}
	return list, nil
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

type copyPage struct {
	page
	Copy       copyRow
	Pages      []choice // the pages of the site that show it, by their addresses
	IsShown    bool     // they can be seen: there were no problems yet
	OnPrice    string   // what was done with its price, said there; "" for nothing
	Groups     []group
	Source     string    // the whole file, if no form can show it
	General    []string  // problems of no field
	Warnings   []string  // what is to be looked at in it
	Others     []finding // problems of other files
	Colleagues []copyRow // of the same record
	IsChanged  bool      // the record changed on the site meanwhile
	Tools      []*catalog.Tool
	Authors    []string
	Pictures   []string // that it adds
	IsOutdated bool     // another text was saved meanwhile
	Fields     []difference
	Passages   []passage // in which that one differs
}

func (d *copies) showCopy(r *request, c *draft) (*response, error) {
	e, err := d.edition(r.Context(), c, false)
	if err != nil {
		return nil, err
	}
	return d.form(r, c, e)
}

// form shows a working copy as a form, in an edition of the folder.
func (d *copies) form(r *request, c *draft, e *edition.Edition, messages ...string) (*response, error) {
	copies, err := d.copyRows(r, nil)
	if err != nil {
		return nil, err
	}
	data := copyPage{page: r.page(name(c.doc, c.Path)), Copy: c.row()}
	if done := r.URL.Query().Get("fait"); slices.Contains([]string{"citation", "mots-absents", "prix"}, done) {
		data.OnPrice, data.Notice = data.Notice, ""
	}
	for _, other := range copies {
		switch {
		case other.ID == c.ID:
			data.Copy = other
		case other.File == c.file():
			data.Colleagues = append(data.Colleagues, other)
		}
	}
	found, err := d.conflict(r.folder, c)
	if err != nil {
		return nil, err
	}
	data.Pages, data.IsShown, data.IsChanged = c.pages(), e.HasPages(), found != nil
	problems, others := problemsOf(e.Problems, c.Path, c.doc)
	data.General, data.Others = append(messages, problems[""]...), findings(others)
	data.Warnings = warningsOf(e, c)
	if c.isOutdated {
		data.IsOutdated = true
		data.Fields, data.Passages = c.changed()
	}
	if c.doc == nil {
		data.Source = string(c.Data)
		return render("copy", data), nil
	}
	known := e.Catalog
	if known == nil { // there is something to correct: what may be chosen is in the folder as it was
		known = r.folder.Catalog
	}
	data.Pictures, err = d.Copies.Paths(r.Context(), c.ID)
	if err != nil {
		return nil, err
	}
	data.Tools, data.Authors = proposals(known), signatures(d.rows(r.folder, r.Now))
	data.Groups = newForm(c.doc, known, problems)
	return render("copy", data), nil
}

// pages returns the addresses of the pages that show it. The first one is its own, the last one has its text.
func (c *draft) pages() []choice {
	prefix := c.path() + "/apercu"
	list := []choice{{Value: prefix + c.address(), Text: "Aperçu"}}
	if slug, isTool := strings.CutPrefix(c.address(), "/outils/"); isTool && c.doc != nil && c.doc.Body() != "" {
		list = append(list, choice{Value: prefix + "/avis/" + slug, Text: "Avis"})
	}
	return list
}

// saveCopy saves what somebody wrote. Our script sends the form again and again, and reads what is
// wrong in it; without it, the response is the form.
func (d *copies) saveCopy(r *request, c *draft) (*response, error) {
	if a, err := d.keep(r, c); a != nil || err != nil {
		return a, err
	}
	if r.isScript() {
		return d.report(r, c)
	}
	if r.PostForm.Has("vers") { // one of the buttons that lead on
		return seeOther(c.path()+"/"+path.Base(r.PostForm.Get("vers")), ""), nil
	}
	return seeOther(c.path(), "enregistre"), nil
}

// keep saves what a form says. The response is nil unless somebody saved another text since.
func (d *copies) keep(r *request, c *draft) (*response, error) {
	if err := c.read(r); err != nil {
		return nil, refused(sentence(err))
	}
	revision, err := strconv.ParseInt(r.PostForm.Get("revision"), 10, 64)
	if err != nil {
		return nil, errUnreadableForm
	}
	saved, err := d.Copies.Save(r.Context(), c.ID, revision, c.Data, r.Now)
	if errors.Is(err, sqldb.ErrChanged) {
		return d.outdated(r, c)
	}
	if err == nil {
		c.Revision = saved
	}
	return nil, err
}

// read takes over what a form says.
func (c *draft) read(r *request) error {
	if c.doc == nil {
		if r.PostForm.Has("source") {
			c.Data = []byte(unixLines(r.PostForm.Get("source")))
		}
		return nil
	}
	if err := parse(r.PostForm, c.doc, c.known); err != nil {
		return err
	}
	c.Data = c.doc.Bytes()
	return nil
}

// outdated is the response to a form that was written on the basis of an older revision. Nothing is lost: the form has
// her text, the page shows where the other one differs, and nothing is saved before she says so.
func (d *copies) outdated(r *request, c *draft) (*response, error) {
	if r.isScript() {
		return writeJSON(http.StatusConflict, map[string]string{
			"error": "Cette copie a été enregistrée dans une autre fenêtre, ou par quelqu’un d’autre. «\u00a0Enregistrer\u00a0» " +
				"montre les deux textes, sans rien écraser.",
		}), nil
	}
	other, err := d.Copies.Find(r.Context(), c.ID)
	if err != nil {
		return nil, err
	}
	c.Revision, c.Original, c.isOutdated = other.Revision, other.Data, true
	a, err := d.form(r, c, &edition.Edition{}, "Cette copie a été enregistrée dans une autre fenêtre, ou par quelqu’un d’autre, "+
		"pendant que vous écriviez. Le formulaire a votre texte, qui n’est pas enregistré\u00a0: reprenez-y ce qu’il faut de "+
		"l’autre, puis «\u00a0Enregistrer\u00a0» le garde à sa place.")
	if err == nil {
		a.Status = http.StatusConflict
	}
	return a, err
}

// A saved is what our script learns after a save.
type saved struct {
	Revision int64               `json:"revision"`
	Saved    string              `json:"saved"`    // the time by the clock of the site
	Problems map[string][]string `json:"problems"` // by field; "" for none in particular
	Others   int                 `json:"others"`   // problems elsewhere in the folder
	With     []string            `json:"with"`     // who else works on the record
	IsShown  bool                `json:"shown"`    // its pages can be seen
}

func (d *copies) report(r *request, c *draft) (*response, error) {
	e, err := d.edition(r.Context(), c, false)
	if err != nil {
		return nil, err
	}
	problems, others := problemsOf(e.Problems, c.Path, c.doc)
	a := saved{
		Revision: c.Revision, Saved: r.Now.In(zoneOf(r.folder)).Format("15:04"), Problems: problems, Others: len(others), IsShown: e.HasPages(),
	}
	copies, err := d.copyRows(r, nil)
	if err != nil {
		return nil, err
	}
	for _, other := range copies {
		if other.ID != c.ID && other.File == c.file() {
			a.With = append(a.With, other.Who)
		}
	}
	return writeJSON(http.StatusOK, a), nil
}

type removalPage struct {
	page
	Copy    copyRow
	IsAdded bool // the record is not in the folder yet
}

func (d *copies) confirmRemoval(r *request, c *draft) (*response, error) {
	data := removalPage{page: r.page("Supprimer la copie de travail"), IsAdded: c.Base == ""}
	data.Copy = c.row()
	return render("removal", data), nil
}

func (d *copies) removeCopy(r *request, c *draft) (*response, error) {
	if r.PostForm.Get("copie") != c.row().Seen() {
		return anew(r, func() (*response, error) { return d.confirmRemoval(r, c) })
	}
	return seeOther(homePath, "supprimee"), d.Copies.Delete(r.Context(), c.ID, c.Revision)
}
