package desk

import (
	"bytes"
	"errors"
	"io/fs"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"palmares/internal/content/document"
	"palmares/internal/edition"
	"palmares/internal/sqldb"
	"palmares/internal/worktree"
)

// A conflict is a working copy whose record changed since it was opened.
type conflict struct {
	*draft
	theirs []byte             // the record as it is now; nil if it is gone
	doc    *document.Document // of theirs; nil if no form can show it
}

// conflict returns the conflict of a working copy; nil if there is none.
func (d *desk) conflict(e *edition.Edition, c *draft) (*conflict, error) {
	s, err := d.scheduledFor(e, c.File())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	theirs := s.now()
	if worktree.Hash(theirs) == c.Base || bytes.Equal(theirs, c.Data) {
		return nil, nil
	}
	found := &conflict{draft: c, theirs: theirs}
	if theirs != nil {
		found.doc, _ = document.Open(c.Path, theirs) // without it, she chooses a whole file
	}
	return found, nil
}

type conflictPage struct {
	page
	Copy     copyRow
	Now      string // the hash of the record as it is shown
	IsGone   bool
	IsWhole  bool // there are no fields to choose from
	Mine     string
	Theirs   string
	Fields   []difference // Old is theirs, New hers
	Passages []passage
	Missing  bool // she has not chosen everything
}

func (d *copies) showConflict(r *request, c *draft) (*response, error) {
	found, err := d.conflict(r.folder, c)
	if err != nil || found == nil {
		return seeOther(c.Href(), ""), err
	}
	return found.show(r, false), nil
}

func (c *conflict) show(r *request, isMissing bool) *response {
	data := conflictPage{
		page: r.page("Deux versions de la même fiche"), Now: worktree.Hash(c.theirs), IsGone: c.theirs == nil, Missing: isMissing,
		Copy: c.copyRow,
	}
	if c.doc != nil && c.draft.doc != nil {
		data.Fields, data.Passages = differences(c.known, c.doc, c.draft.doc), passages(c.doc.Body(), c.draft.doc.Body())
		if original, err := document.Open(c.Path, c.Original); err == nil && original.Kind() == c.doc.Kind() {
			// Which of both changed what the original said.
			theirs, hers := differences(nil, original, c.doc), differences(nil, original, c.draft.doc)
			for i := range data.Fields {
				isField := func(f difference) bool { return f.Name == data.Fields[i].Name }
				switch {
				case !slices.ContainsFunc(hers, isField):
					data.Fields[i].By = "changé dans le dossier commun"
				case !slices.ContainsFunc(theirs, isField):
					data.Fields[i].By = "changé dans votre copie"
				default:
					data.Fields[i].By = "changé des deux côtés"
				}
			}
		}
	} else if !data.IsGone {
		data.IsWhole, data.Mine, data.Theirs = true, string(c.Data), string(c.theirs)
	}
	return render("conflict", data)
}

// settleConflict makes one version of two, as she chose.
func (d *copies) settleConflict(r *request, c *draft) (*response, error) {
	found, err := d.conflict(r.folder, c)
	if err != nil || found == nil {
		return seeOther(c.Href(), ""), err
	}
	revision, err := strconv.ParseInt(r.PostForm.Get("revision"), 10, 64)
	if err != nil {
		return nil, errUnreadableForm
	}
	data, ok := found.settle(r)
	if !ok || r.PostForm.Get("maintenant") != worktree.Hash(found.theirs) {
		a := found.show(r, true)
		a.Status = http.StatusUnprocessableEntity
		return a, nil
	}
	_, err = d.Copies.Rebase(r.Context(), c.ID, revision, found.theirs, data, r.Now)
	if errors.Is(err, sqldb.ErrChanged) {
		return found.show(r, true), nil
	}
	if err != nil {
		return nil, err
	}
	return seeOther(c.Href(), "reuni"), nil
}

// settle returns the file that she chose, and reports whether she chose everything.
func (c *conflict) settle(r *request) ([]byte, bool) {
	if c.doc == nil || c.draft.doc == nil {
		switch {
		case c.theirs == nil || r.PostForm.Get("tout") == "mien":
			return c.Data, true
		case r.PostForm.Get("tout") == "leur":
			return c.theirs, true
		}
		return nil, false
	}
	hers := map[string]document.Value{}
	for _, f := range differences(nil, c.doc, c.draft.doc) {
		switch r.PostForm.Get("c." + f.Name) {
		case "mien":
			hers[f.Name] = c.draft.doc.Value(f.Name)
		case "leur":
		default:
			return nil, false
		}
	}
	var body []string
	for _, p := range passages(c.doc.Body(), c.draft.doc.Body()) {
		text := p.New
		if !p.IsSame {
			switch r.PostForm.Get("p." + strconv.Itoa(p.Number)) {
			case "mien":
			case "leur":
				text = p.Old
			case "deux":
				text = strings.Join([]string{p.Old, p.New}, blankLine)
			default:
				return nil, false
			}
		}
		if text != "" {
			body = append(body, text)
		}
	}
	hers["body"] = document.Value{Text: strings.Join(body, blankLine)}
	err := c.doc.SetAll(hers)
	return c.doc.Bytes(), err == nil
}
