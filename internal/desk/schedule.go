package desk

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"time"

	"palmares/internal/catalog"
	"palmares/internal/content"
	"palmares/internal/content/document"
	"palmares/internal/deskdb"
	"palmares/internal/edition"
	"palmares/internal/french"
	"palmares/internal/sqldb"
	"palmares/internal/worktree"
)

const nextSuffix = ".next.md"

type schedulePage struct {
	page
	Copy     copyRow
	IsNext   bool // it replaces a record that is public
	Zone     string
	First    string // the first minute that can be chosen
	Problems []finding
}

func zoneOf(e *edition.Edition) *time.Location {
	if e.Catalog == nil {
		return (&catalog.Catalog{}).Zone()
	}
	return e.Catalog.Zone()
}

// chooseHour asks when a working copy is to appear.
func (d *publications) chooseHour(r *request, c *draft) (*response, error) {
	if found, err := d.conflict(r.folder, c); err != nil || found != nil {
		return seeOther(c.Href()+"/conflit", ""), err
	}
	e, err := d.edition(r.Context(), c, false)
	if err != nil {
		return nil, err
	}
	place, err := d.placeOf(r, c)
	if err != nil {
		return nil, err
	}
	zone := zoneOf(e)
	return render("schedule", schedulePage{
		page: r.page("Programmer"), Copy: c.copyRow, IsNext: place != c.Path, Zone: zone.String(), Problems: findings(e.Problems, c),
		First: r.Now.In(zone).Add(time.Minute).Format("2006-01-02T15:04"),
	}), nil
}

// hasHour reports whether what it is about can appear at an hour.
func (c *draft) hasHour() bool {
	return c.doc != nil && c.doc.Kind() != catalog.CatalogueKind && c.doc.Kind() != catalog.AuthorKind
}

// placeOf returns the file that a scheduled working copy becomes: one beside the record, if that is public.
func (d *publications) placeOf(r *request, c *draft) (string, error) {
	switch {
	case !c.hasHour():
		return "", refused("Les réglages, les auteurs et les fichiers à réparer ne se programment pas\u00a0: publiez-les quand il le faut.")
	case c.Replaces != "":
		return "", refused("Un changement d’adresse ou un retrait ne se programme pas\u00a0: publiez-le quand il le faut.")
	case c.doc.Value("draft").Text == "true":
		return "", refused("Cette fiche est un brouillon, et le resterait à son heure\u00a0: décochez d’abord «\u00a0Brouillon\u00a0».")
	case c.Base == "" || strings.HasSuffix(c.Path, nextSuffix):
		return c.Path, nil
	}
	all := d.rows(r.folder, r.Now)
	i := slices.IndexFunc(all, func(x row) bool { return x.File() == c.Path })
	if i >= 0 && (all[i].Draft || all[i].Due != "") {
		return c.Path, nil
	}
	s, err := d.scheduledFor(r.folder, c.Path)
	if err != nil {
		return "", err
	}
	if s.next != nil && !s.isDue {
		return "", refused("Une prochaine version de cette fiche est déjà programmée\u00a0: annulez-la d’abord, ou modifiez-la, dans " +
			"«\u00a0Programmées\u00a0».")
	}
	return content.NextPath(c.Path), nil
}

// schedule publishes a working copy so that it appears by itself at its hour.
func (d *publications) schedule(r *request, c *draft) (*response, error) {
	if r.PostForm.Get("copie") != c.Seen() {
		return anew(r, func() (*response, error) { return d.chooseHour(r, c) })
	}
	if found, err := d.conflict(r.folder, c); err != nil || found != nil {
		return seeOther(c.Href()+"/conflit", ""), err
	}
	place, err := d.placeOf(r, c)
	if err != nil {
		return nil, err
	}
	when := r.PostForm.Get("quand")
	if err := checkHour(when, zoneOf(r.folder), r.Now); err != nil {
		return nil, err
	}
	if err := c.doc.Set("publish_at", document.Value{Text: when}); err != nil {
		return nil, refused(sentence(err))
	}
	isBeside := place != c.Path
	c.Data = c.doc.Bytes()
	changes, err := d.ownChanges(r.Context(), c)
	if err != nil {
		return nil, err
	}
	work := worktree.Publication{Changes: changes, Message: c.Name + " paraîtra le " + french.Date(when[:10]) + " à " + when[11:]}
	work.Changes[0].Path = place
	if isBeside {
		s, err := d.scheduledFor(r.folder, c.Path)
		if err != nil {
			return nil, err
		}
		work.Changes[0].Base = ""
		if s.isDue {
			work.Changes = s.fold(work.Changes)
		}
	}
	if a, err := d.send(r, []*draft{c}, work); a != nil || err != nil {
		return a, err
	}
	if !isBeside {
		d.done(r, c)
	} else if err := d.Copies.Delete(r.Context(), c.ID, c.Revision); err != nil && !errors.Is(err, sqldb.ErrChanged) {
		d.Log.Error("a working copy that was scheduled could not be deleted", "copy", c.ID, "error", err)
	}
	return seeOther(schedulePath, "programmee"), nil
}

// checkHour says what is wrong with an hour that somebody chose.
func checkHour(when string, zone *time.Location, now time.Time) error {
	at, err := catalog.ParseTime(when, zone)
	switch {
	case errors.Is(err, catalog.ErrNoTime), catalog.IsDate(when):
		return refused("Choisissez un jour et une heure.")
	case err != nil:
		return refused("À cette heure-là, les pendules changent\u00a0: elle n’existe pas, ou elle vient deux fois. Choisissez une heure plus tôt ou plus tard.")
	case !at.After(now):
		return refused("Cette heure est passée\u00a0: choisissez-en une à venir, ou publiez tout de suite.")
	}
	return nil
}

type scheduledPage struct {
	page
	Rows []row
}

// listScheduled shows what appears by itself, the next first.
func (d *publications) listScheduled(r *request) (*response, error) {
	data := scheduledPage{page: r.page("Programmées")}
	for _, x := range d.rows(r.folder, r.Now) {
		if x.Due != "" {
			data.Rows = append(data.Rows, x)
		}
	}
	slices.SortStableFunc(data.Rows, func(a, b row) int { return strings.Compare(a.Due, b.Due) })
	return render("scheduled", data), nil
}

// unschedule takes what was to appear out of the folder. Its text becomes a working copy of whoever does so.
func (d *publications) unschedule(r *request) (*response, error) {
	found, doc, data, err := d.editable(r)
	if err != nil {
		return nil, err
	}
	if found.Due == "" {
		return nil, refused("Cette fiche n’est pas programmée, ou elle a déjà paru.")
	}
	if err := doc.Set("publish_at", document.Value{}); err != nil {
		return nil, refused(sentence(err))
	}
	c := deskdb.WorkingCopy{Path: found.File(), Data: doc.Bytes()}
	if found.Next {
		c.Path = strings.TrimSuffix(c.Path, nextSuffix) + ".md"
		c.Original, err = d.Folder.Read(c.Path)
		if err != nil {
			return nil, err
		}
	}
	kept, err := d.copyOf(r, c)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(kept.Data, c.Data) {
		return nil, refused("Vous avez déjà une copie de travail de cette fiche\u00a0: publiez-la ou supprimez-la d’abord, pour que le texte " +
			"programmé devienne la vôtre.")
	}
	a, err := d.send(r, nil, worktree.Publication{
		Changes: []worktree.Change{{Path: found.File(), Base: worktree.Hash(data)}}, Message: "Annule la programmation de " + found.Name,
	})
	if a != nil || err != nil { // the folder still has it
		return a, errors.Join(err, d.Copies.Delete(r.Context(), kept.ID, kept.Revision))
	}
	return seeOther(copiesPath+"/"+kept.ID, "deprogrammee"), nil
}
