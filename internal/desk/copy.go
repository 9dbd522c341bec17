package desk

import (
	"context"
	"errors"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"palmares/internal/catalog"
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
	PutFile(ctx context.Context, id string, f deskdb.CopyFile) error
	RemoveFile(ctx context.Context, id, path string) error
	Files(ctx context.Context, id string) ([]deskdb.CopyFile, error)
	Paths(ctx context.Context, id string) ([]string, error)
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
	data := copyPage{page: r.page(c.Name), Copy: c.copyRow}
	if done := r.URL.Query().Get("fait"); slices.Contains([]string{"citation", "mots-absents", "prix"}, done) {
		data.OnPrice, data.Notice = data.Notice, ""
	}
	for _, other := range copies {
		switch {
		case other.ID == c.ID:
			data.Copy = other
		case other.File() == c.File():
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
	prefix := c.Href() + "/apercu"
	list := []choice{{Value: prefix + c.Address(), Text: "Aperçu"}}
	if slug, isTool := strings.CutPrefix(c.Address(), "/outils/"); isTool && c.doc != nil && c.doc.Body() != "" {
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
		return seeOther(c.Href()+"/"+path.Base(r.PostForm.Get("vers")), ""), nil
	}
	return seeOther(c.Href(), "enregistre"), nil
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
	c.Revision, c.Original, c.Name, c.isOutdated = other.Revision, other.Data, name(c.doc, c.Path), true
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
		if other.ID != c.ID && other.File() == c.File() {
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
	data.Copy = c.copyRow
	return render("removal", data), nil
}

func (d *copies) removeCopy(r *request, c *draft) (*response, error) {
	if r.PostForm.Get("copie") != c.Seen() {
		return anew(r, func() (*response, error) { return d.confirmRemoval(r, c) })
	}
	return seeOther(homePath, "supprimee"), d.Copies.Delete(r.Context(), c.ID, c.Revision)
}
