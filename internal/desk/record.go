package desk

import (
	"cmp"
	"errors"
	"io/fs"
	"net/http"
	"slices"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/content/document"
	"palmares/internal/deskdb"
	"palmares/internal/sqldb"
	"palmares/internal/worktree"
)

type recordPage struct {
	page
	Row      row
	Copies   []copyRow
	Reasons  []document.Choice
	Today    string
	Tools    []*catalog.Tool
	Compared []*catalog.Comparison // they leave the site with the tool
}

// reasons returns why a tool may be retired.
func reasons() []document.Choice {
	for _, g := range document.Form(catalog.RetiredKind) {
		for _, f := range g.Fields {
			if f.Name == "reason" {
				return f.Choices
			}
		}
	}
	return nil
}

// record finds the record that the path of a request names, and its file; nil if it has none.
func (d *desk) record(r *request) (row, []byte, *catalog.Catalog, error) {
	file := r.PathValue("folder") + "/" + r.PathValue("slug") + ".md"
	all := d.rows(r.folder, r.Now)
	i := slices.IndexFunc(all, func(x row) bool { return x.File() == file })
	if i < 0 {
		return row{}, nil, nil, errNoPage
	}
	s, err := d.scheduledFor(r.folder, file)
	if errors.Is(err, fs.ErrNotExist) {
		all[i].IsInBulk, err = true, nil
	}
	return all[i], s.now(), r.folder.Catalog, err
}

func (d *records) showRecord(r *request) (*response, error) {
	found, _, c, err := d.record(r)
	if err != nil {
		return nil, err
	}
	data := recordPage{page: r.page(found.Name), Row: found, Reasons: reasons(), Today: catalog.Day(r.Now)}
	all, err := d.copyRows(r, []row{found})
	data.Copies = copiesOf(all, found.File())
	data.Tools = proposals(c)
	if found.Kind == catalog.ToolKind {
		data.Compared = compared(c, found.Slug)
	}
	return render("record", data), err
}

// editable is record for a form that changes it.
func (d *desk) editable(r *request) (row, *document.Document, []byte, error) {
	found, data, _, err := d.record(r)
	if err != nil {
		return found, nil, nil, err
	}
	if found.IsInBulk {
		return found, nil, nil, refused("Cette fiche vient d’un fichier qui en réunit beaucoup\u00a0: elle se lit ici, mais ne s’y modifie pas.")
	}
	doc, err := document.Open(found.File(), data)
	if err != nil {
		return found, nil, data, refused("Le fichier de cette fiche est abîmé\u00a0: ouvrez-la d’abord pour le corriger.")
	}
	return found, doc, data, nil
}

// create opens a new working copy and leads to it.
func (d *desk) create(r *request, c deskdb.WorkingCopy) (*response, error) {
	made, err := d.copyOf(r, c)
	return seeOther(copiesPath+"/"+made.ID, "ouverte"), err
}

// copyOf returns a new working copy, or the one that she has of the file.
func (d *desk) copyOf(r *request, c deskdb.WorkingCopy) (deskdb.WorkingCopy, error) {
	c.Author = r.Email
	if d.isLocal() && c.Replaces != "" { // nothing else publishes what it changes elsewhere
		changes, err := d.changes(r.Context(), r.folder, &draft{copyRow: copyRow{WorkingCopy: c}})
		if err == nil {
			err = d.Folder.Publish(r.Context(), worktree.Publication{Changes: changes})
		}
		if err != nil {
			return c, err
		}
	}
	made, err := d.Copies.Create(r.Context(), c, r.Now)
	d.Editions.Forget("") // on somebody's own machine, it is in the folder
	if errors.Is(err, sqldb.ErrTooMany) {
		return made, refused("Il y a déjà 500\u00a0copies de travail, le plus possible\u00a0: publiez-en ou supprimez-en d’abord.")
	}
	return made, err
}

// openRecord opens a working copy of a record, or the one that she has, as a form or where its price is quoted.
func (d *records) openRecord(r *request) (*response, error) {
	found, data, _, err := d.record(r)
	if err != nil {
		return nil, err
	}
	if found.IsInBulk {
		_, _, _, err := d.editable(r)
		return nil, err
	}
	a, err := d.create(r, deskdb.WorkingCopy{Path: found.File(), Original: data, Data: data})
	if err == nil && r.PostForm.Get("vers") == "source" { // to mark the words that say its price
		place, _, _ := strings.Cut(a.Location, "?")
		a = seeOther(place+"/source", "")
	}
	return a, err
}

// free returns the path of a new record, if nothing has it yet.
func (d *records) free(r *request, folder, given string) (string, error) {
	slug := slugOf(given)
	file := folder + "/" + slug + ".md"
	if slug == "" {
		return "", refused("Il manque l’adresse de la fiche\u00a0: des lettres, des chiffres et des traits d’union, comme plume-2.")
	}
	copies, err := d.Copies.List(r.Context())
	if err != nil {
		return "", err
	}
	if slices.ContainsFunc(copies, func(c deskdb.WorkingCopy) bool { return c.Path == file }) ||
		slices.ContainsFunc(d.rows(r.folder, r.Now), func(x row) bool { return x.File() == file }) {
		return "", refused("L’adresse «\u00a0" + slug + "\u00a0» est déjà prise. Choisissez-en une autre.")
	}
	return file, nil
}

// slugOf makes an address of what people type.
func slugOf(s string) string {
	words := strings.FieldsFunc(plain(s), func(c rune) bool { return (c < 'a' || c > 'z') && (c < '0' || c > '9') })
	slug := strings.Join(words, "-")
	return strings.Trim(slug[:min(len(slug), catalog.MaxSlug)], "-")
}

type newPage struct {
	page
	Kinds []*catalog.Kind
	Tools []*catalog.Tool
	A, B  string // the tools of a comparison
}

func (d *records) newRecord(r *request) (*response, error) {
	data := newPage{page: r.page("Nouvelle fiche"), Kinds: catalog.WrittenKinds, A: r.URL.Query().Get("a"), B: r.URL.Query().Get("b")}
	data.Tools = proposals(r.folder.Catalog)
	return render("new", data), nil
}

// createRecord begins a record, or a comparison of two tools.
func (d *records) createRecord(r *request) (*response, error) {
	k := catalog.KindIn(r.PostForm.Get("genre"))
	if k == nil {
		return nil, refused("Choisissez ce que vous voulez écrire\u00a0: un outil, un comparatif, un outil disparu, une page, un article ou la page de quelqu’un.")
	}
	title := strings.TrimSpace(r.PostForm.Get("nom"))
	a, b := strings.TrimSpace(r.PostForm.Get("a")), strings.TrimSpace(r.PostForm.Get("b"))
	if k == catalog.ComparisonKind && a != "" && b != "" && title == "" {
		title = a + " ou " + b
	}
	file, err := d.free(r, k.Folder, cmp.Or(r.PostForm.Get("adresse"), title))
	if err != nil {
		return nil, err
	}
	doc := document.New(k)
	values := map[string]document.Value{k.Title(): {Text: title}}
	if k == catalog.ComparisonKind {
		for name, typed := range map[string]string{"tool_a": a, "tool_b": b} {
			values[name] = document.Value{Text: slugOf(toolNamed(r.folder.Catalog, typed))}
		}
	}
	if err := doc.SetAll(values); err != nil {
		return nil, refused(sentence(err))
	}
	return d.create(r, deskdb.WorkingCopy{Path: file, Data: doc.Bytes()})
}

// duplicate begins a record that is like another one.
func (d *records) duplicate(r *request) (*response, error) {
	found, doc, _, err := d.editable(r)
	if err != nil {
		return nil, err
	}
	file, err := d.free(r, found.Kind.Folder, r.PostForm.Get("adresse"))
	if err != nil {
		return nil, err
	}
	twin, err := doc.Duplicate(slugOf(r.PostForm.Get("adresse")))
	if err != nil {
		return nil, refused(sentence(err))
	}
	return d.create(r, deskdb.WorkingCopy{Path: file, Data: twin.Bytes()})
}

// rename gives a record another address. The old one keeps leading to it.
func (d *records) rename(r *request) (*response, error) {
	found, doc, data, err := d.editable(r)
	if err != nil {
		return nil, err
	}
	if found.Next { // it has the address of the record that it replaces
		return nil, errNoPage
	}
	file, err := d.free(r, found.Kind.Folder, r.PostForm.Get("adresse"))
	if err != nil {
		return nil, err
	}
	renamed, err := doc.Rename(slugOf(r.PostForm.Get("adresse")))
	if err != nil {
		return nil, refused(sentence(err))
	}
	return d.create(r, deskdb.WorkingCopy{Path: file, Replaces: found.File(), Original: data, Data: renamed.Bytes()})
}

// retire makes an obituary of a tool.
func (d *records) retire(r *request) (*response, error) {
	found, doc, data, err := d.editable(r)
	if err != nil {
		return nil, err
	}
	if found.Kind != catalog.ToolKind || found.Next {
		return nil, errNoPage
	}
	reason, day := r.PostForm.Get("raison"), r.PostForm.Get("jour")
	text := strings.TrimSpace(unixLines(r.PostForm.Get("texte")))
	if !slices.ContainsFunc(reasons(), func(c document.Choice) bool { return c.Value == reason }) || !catalog.IsDate(day) || text == "" {
		return nil, refused("Pour retirer un outil, il faut une raison, un jour et un texte qui dise ce qui s’est passé.")
	}
	obituary, err := document.Retire(doc, reason, day, toolNamed(r.folder.Catalog, strings.TrimSpace(r.PostForm.Get("successeur"))), text)
	if err != nil {
		return nil, refused(sentence(err))
	}
	file, err := d.free(r, "cimetiere", found.Slug)
	if err != nil {
		return nil, err
	}
	return d.create(r, deskdb.WorkingCopy{Path: file, Replaces: found.File(), Original: data, Data: obituary.Bytes()})
}

const settingsFile = "catalogue.yaml"

type settingsPage struct {
	page
	Catalog *catalog.Catalog
	Pages   []row
	Copies  []copyRow
}

func (d *records) showSettings(r *request) (*response, error) {
	copies, err := d.copyRows(r, nil)
	if err != nil {
		return nil, err
	}
	data := settingsPage{
		page: r.page("Réglages"), Catalog: cmp.Or(r.folder.Catalog, &catalog.Catalog{}), Copies: copiesOf(copies, settingsFile),
	}
	for _, x := range d.rows(r.folder, r.Now) {
		if x.Kind == catalog.PageKind {
			data.Pages = append(data.Pages, x)
		}
	}
	return render("settings", data), nil
}

func (d *records) openSettings(r *request) (*response, error) {
	data, err := d.Folder.Read(settingsFile)
	if err != nil {
		return nil, &failure{Status: http.StatusNotFound, Title: "Réglages introuvables", Text: "Le dossier n’a pas de fichier catalogue.yaml."}
	}
	return d.create(r, deskdb.WorkingCopy{Path: settingsFile, Original: data, Data: data})
}
