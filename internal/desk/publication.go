package desk

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"palmares/internal/content"
	"palmares/internal/content/document"
	"palmares/internal/deskdb"
	"palmares/internal/sqldb"
	"palmares/internal/worktree"
)

const (
	maxAtOnce = 50  // how many working copies can be published at once
	maxNote   = 200 // characters of what a publication says
)

type publicationPage struct {
	changePage
	HasHour  bool     // it can be scheduled
	Warnings []string // of this record
}

// confirmPublication shows what publishing a working copy changes.
func (d *publications) confirmPublication(r *request, c *draft) (*response, error) {
	if found, err := d.conflict(r.folder, c); err != nil || found != nil {
		return seeOther(c.Href()+"/conflit", ""), err
	}
	e, err := d.edition(r.Context(), c, false)
	if err != nil {
		return nil, err
	}
	data := publicationPage{c.changePage(r.page("Publier"), e), c.hasHour() && c.Replaces == "", warningsOf(e, c)}
	return render("publication", data), nil
}

type batchPage struct {
	page
	Copies []warnedCopy
}

type warnedCopy struct {
	copyRow
	Warnings []string
}

// confirmAll shows what is to be looked at in working copies that are published together; nil if there is nothing.
func (d *publications) confirmAll(r *request, copies []*draft) (*response, error) {
	data, isWarned := batchPage{page: r.page("Publier")}, false
	for _, c := range copies {
		e, err := d.edition(r.Context(), c, false)
		if err != nil {
			return nil, err
		}
		warned := warnedCopy{c.copyRow, warningsOf(e, c)}
		data.Copies, isWarned = append(data.Copies, warned), isWarned || warned.Warnings != nil
	}
	if !isWarned {
		return nil, nil
	}
	return render("batch", data), nil
}

// publish publishes the working copies of a form, all of them or none.
func (d *publications) publish(r *request) (*response, error) {
	forms := r.PostForm["copie"]
	if len(forms) == 0 || len(forms) > maxAtOnce {
		return nil, refused("Choisissez ce qu’il faut publier, au plus 50\u00a0copies à la fois.")
	}
	var copies []*draft
	var titles []string
	var work worktree.Publication
	for _, seen := range forms {
		id, _, _ := strings.Cut(seen, ":")
		c, err := d.open(r, id)
		switch {
		case errors.Is(err, sqldb.ErrNotFound):
			return seeOther(homePath, "deja"), nil
		case err != nil:
			return nil, err
		case c.Seen() != seen && len(forms) == 1:
			return anew(r, func() (*response, error) { return d.confirmPublication(r, c) })
		case c.Seen() != seen:
			return anew(r, func() (*response, error) { return d.home(r) })
		}
		copies, titles = append(copies, c), append(titles, c.summary())
		changes, err := d.changes(r.Context(), r.folder, c)
		if err != nil {
			return nil, err
		}
		work.Changes = append(work.Changes, changes...)
	}
	work.Note = strings.TrimSpace(r.PostForm.Get("message"))
	if utf8.RuneCountInString(work.Note) > maxNote {
		return nil, refused("Ce que dit la publication est trop long\u00a0: 200\u00a0caractères au plus.")
	}
	if !r.PostForm.Has("message") { // from a list, which shows no warnings
		if a, err := d.confirmAll(r, copies); a != nil || err != nil {
			return a, err
		}
	}
	work.Message = cmp.Or(work.Note, strings.Join(titles, "\u202f; "))
	if a, err := d.send(r, copies, work); a != nil || err != nil {
		return a, err
	}
	for _, c := range copies {
		d.done(r, c)
	}
	return seeOther(homePath, "publie"), nil
}

// send publishes the changes of working copies, in the name of the one person at the desk who wrote them, or
// else of whoever sends the form. The response says why nothing was published; it is nil if everything was.
func (d *desk) send(r *request, copies []*draft, work worktree.Publication) (*response, error) {
	names, err := d.names(r.Context())
	if err != nil {
		return nil, err
	}
	work.AuthorName, work.AuthorEmail, work.PublisherName, work.PublisherEmail = r.Name, r.Email, r.Name, r.Email
	isOther := func(c *draft) bool { return c.Author != copies[0].Author || names[c.Author] == "" }
	if len(copies) > 0 && !slices.ContainsFunc(copies, isOther) {
		work.AuthorName, work.AuthorEmail = names[copies[0].Author], copies[0].Author
	}
	work.Over, _ = strconv.ParseInt(r.PostForm.Get("sur"), 10, 64) // 0 without it
	err = d.Folder.Publish(r.Context(), work)
	d.Editions.Forget("")
	if err != nil {
		return d.notPublished(r, copies, err)
	}
	return nil, nil
}

// done deletes a working copy that was published. If it was saved meanwhile, it stays, on the basis of
// what was published. The publication is done in any case.
func (d *publications) done(r *request, c *draft) {
	ctx := context.WithoutCancel(r.Context())
	err := d.Copies.Delete(ctx, c.ID, c.Revision)
	if errors.Is(err, sqldb.ErrChanged) {
		var now deskdb.WorkingCopy
		now, err = d.Copies.Find(ctx, c.ID)
		if err == nil {
			_, err = d.Copies.Rebase(ctx, c.ID, now.Revision, c.Data, now.Data, r.Now)
		}
	}
	if err != nil {
		d.Log.Error("a working copy that was published could not be deleted", "copy", c.ID, "error", err)
	}
}

// EndPublished deletes the working copies that the folder has: a process that was killed had published them.
func EndPublished(ctx context.Context, folder Folder, copies Copies) error {
	all, err := copies.List(ctx)
	for _, listed := range all {
		c, findErr := copies.Find(ctx, listed.ID)
		if findErr == nil && isPublished(folder, &c) {
			findErr = copies.Delete(ctx, c.ID, c.Revision)
		}
		if !errors.Is(findErr, sqldb.ErrNotFound) && !errors.Is(findErr, sqldb.ErrChanged) {
			err = errors.Join(err, findErr)
		}
	}
	return err
}

// isPublished reports whether the folder has what a working copy changes, perhaps to appear at its hour.
func isPublished(folder Folder, c *deskdb.WorkingCopy) bool {
	if c.Replaces == "" && worktree.Hash(c.Data) == c.Base {
		return false // she has only opened it
	}
	if _, err := folder.Read(c.Replaces); c.Replaces != "" && err == nil {
		return false
	}
	for _, place := range []string{c.Path, content.NextPath(c.Path)} {
		data, err := folder.Read(place)
		if err == nil && (bytes.Equal(data, c.Data) || bytes.Equal(withoutHour(place, data), c.Data)) {
			return true
		}
	}
	return false
}

func withoutHour(file string, data []byte) []byte {
	doc, err := document.Open(file, data)
	if err != nil || doc.Set("publish_at", document.Value{}) != nil {
		return data
	}
	return doc.Bytes()
}

type refusalPage struct {
	page
	Text     string
	Findings []finding
	Copies   []copyRow
	Over     int64      // the version that she may replace; 0 for none
	Action   string     // where the form that says so is sent
	Form     url.Values // what it says but for that
}

// notPublished says why nothing was published, and what to do.
func (d *desk) notPublished(r *request, copies []*draft, err error) (*response, error) {
	data := refusalPage{page: r.page("Rien n’est publié"), Text: err.Error(), Action: r.URL.Path, Form: maps.Clone(r.PostForm)}
	delete(data.Form, "jeton")
	delete(data.Form, "sur")
	conflict, isConflict := errors.AsType[*worktree.ConflictError](err)
	refusal, isRefused := errors.AsType[*worktree.RefusedError](err)
	stale, isStale := errors.AsType[*worktree.StaleError](err)
	failed, isFailed := errors.AsType[*worktree.Error](err)
	switch {
	case isConflict && !conflict.Local && len(copies) <= 1:
		// What a colleague did may not be in the folder yet.
		if err := d.Folder.Send(r.Context()); err != nil {
			d.Log.Warn("what is new could not be brought into the folder", "error", err)
		}
		for _, c := range copies {
			if found, err := d.conflict(r.folder, c); err != nil || found != nil {
				return seeOther(c.Href()+"/conflit", ""), err
			}
		}
	case isConflict:
	case isRefused:
		data.Findings = findings(refusal.Problems, copies...)
	case isStale && !stale.Unsent:
		data.Over = stale.Version
	case isStale:
	case isFailed:
		d.Log.Warn("a publication of the desk failed", "error", failed.Unwrap())
	default:
		return nil, err
	}
	for _, c := range copies {
		data.Copies = append(data.Copies, c.copyRow)
	}
	a := render("refusal", data)
	a.Status = http.StatusConflict
	return a, nil
}
