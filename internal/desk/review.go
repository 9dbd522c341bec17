package desk

import (
	"errors"
	"strconv"
	"strings"

	"palmares/internal/account"
	"palmares/internal/catalog"
	"palmares/internal/content/document"
	"palmares/internal/deskdb"
	"palmares/internal/edition"
	"palmares/internal/sqldb"
)

// A changePage is what a working copy changes.
type changePage struct {
	page
	Copy     copyRow
	IsNew    bool
	Fields   []difference
	Passages []passage
	Compared []*catalog.Comparison // they leave the site with it
	Problems []finding
}

func (c *draft) changePage(p page, e *edition.Edition) changePage {
	fields, passages := c.changed()
	return changePage{p, c.copyRow, c.Base == "", fields, passages, c.withdrawn(), findings(e.Problems, c)}
}

type reviewPage struct {
	changePage
	Who       string
	Pages     []choice
	IsAsked   bool
	IsReady   bool
	IsChanged bool // the record changed on the site meanwhile
}

// showReview shows what a working copy changes: its author asks for a review there, and editors say
// what they think of it.
func (d *copies) showReview(r *request, c *draft) (*response, error) {
	e, err := d.edition(r.Context(), c, false)
	if err != nil {
		return nil, err
	}
	names, err := d.names(r.Context())
	if err != nil {
		return nil, err
	}
	found, err := d.conflict(r.folder, c)
	if err != nil {
		return nil, err
	}
	title := "Relire"
	if !r.Role.Includes(account.Editor) {
		title = "Faire relire"
	}
	data := reviewPage{
		changePage: c.changePage(r.page(title), e), Who: names[c.Author],
		IsAsked: c.State == deskdb.CopyForReview, IsReady: c.State == deskdb.CopyReady, IsChanged: found != nil,
	}
	data.Copy.IsMine = c.Author == r.Email
	if e.HasPages() {
		data.Pages = c.pages()
	}
	return render("review", data), nil
}

// changed returns what a working copy changes, in fields and passages; nothing if no form can show it.
func (c *draft) changed() ([]difference, []passage) {
	if c.doc == nil {
		return nil, nil
	}
	original, err := document.Open(c.Path, c.Original)
	if err != nil || original.Kind() != c.doc.Kind() {
		original = document.New(c.doc.Kind())
	}
	return differences(c.known, original, c.doc), passages(original.Body(), c.doc.Body())
}

// step returns the page that changes the state of the revision of a working copy that somebody has read.
func (d *copies) step(state, done string) func(*request, *draft) (*response, error) {
	return func(r *request, c *draft) (*response, error) {
		revision, err := strconv.ParseInt(r.PostForm.Get("revision"), 10, 64)
		if err != nil {
			return nil, errUnreadableForm
		}
		note := strings.TrimSpace(unixLines(r.PostForm.Get("mot")))
		if state == deskdb.CopyInProgress && note == "" {
			return nil, refused("Dites en quelques mots ce qui est à reprendre, puis rendez la fiche.")
		}
		err = d.Copies.SetState(r.Context(), c.ID, revision, deskdb.CopyStep{State: state, Note: note, By: r.Email}, r.Now)
		switch {
		case errors.Is(err, sqldb.ErrChanged):
			return nil, refused("Cette copie a été enregistrée pendant que vous la lisiez\u00a0: rien n’a été fait. Revenez à la page, relisez " +
				"ce qui a changé, puis recommencez.")
		case errors.Is(err, sqldb.ErrInvalid):
			return nil, refused("Le mot est trop long\u00a0: 4\u202f000\u00a0caractères au plus.")
		case err != nil:
			return nil, err
		case r.Role.Includes(account.Editor):
			return seeOther(homePath, done), nil
		}
		return seeOther(c.Href(), done), nil
	}
}
