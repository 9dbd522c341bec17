package desk

import (
	"cmp"
	"context"
	"errors"
	"path"
	"strconv"
	"strings"

	"palmares/internal/account"
	"palmares/internal/catalog"
	"palmares/internal/deskdb"
	"palmares/internal/sqldb"
)

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
