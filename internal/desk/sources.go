package desk

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"palmares/internal/catalog"
	"palmares/internal/content/document"
	"palmares/internal/deskdb"
	"palmares/internal/edition"
	"palmares/internal/evidence"
	"palmares/internal/french"
	"palmares/internal/problem"
	"palmares/internal/sqldb"
)

const (
	// maxSources is how many sources of a state its page shows: whoever settles these sees the next.
	maxSources = 500
	// shownSources is how many the page of all states shows of each.
	shownSources = 20
	// unquoted is the state of a price that nobody has quoted.
	unquoted = "unquoted"
)

// A sourceList is the sources in a state that somebody should look at.
type sourceList struct {
	State string
	Text  string
	Hint  string
	Rows  []sourceRow // that are shown
	Found int

	listed []evidence.Listed
}

// sourceLists are the lists by their states, without rows.
var sourceLists = []sourceList{
	{State: catalog.Changed, Text: "Prix changés", Hint: "Les mots cités sont sur la page, avec d’autres nombres."},
	{State: catalog.Gone, Text: "Pages disparues", Hint: "L’adresse ne répond plus, ou dit que la page n’existe pas."},
	{State: catalog.Moved, Text: "Pages déplacées", Hint: "L’adresse mène à un autre site, à l’accueil ou à une connexion, et les mots cités n’y sont pas."},
	{State: catalog.Unreadable, Text: "Pages illisibles", Hint: "La page n’a pas pu être lue, ou les mots cités n’y sont plus\u00a0: ouvrez-la, et marquez-les de nouveau."},
	{State: evidence.Stale, Text: "Pages à relire", Hint: "Leur prix n’a été ni retrouvé là ni relevé à la main depuis longtemps."},
	{State: unquoted, Text: "Prix sans citation", Hint: "Personne n’a encore marqué les mots d’une page qui disent ces prix. Ce qui est gratuit ou sur devis est ici si la fiche a une page du prix."},
}

type sourceRow struct {
	evidence.Listed
	Name    string
	Record  row
	Shown   string    // the price as the site shows it; "" for none
	Change  passage   // from the words that are quoted to those that were found
	IsOpen  bool      // it is the source of a tool that can be edited, and can be marked anew
	IsTaken bool      // what was found can be taken over
	New     string    // the price that this says; "" if only a person can tell
	Copies  []copyRow // of its record
}

// Reason returns why its page was not read; "" if it was.
func (r sourceRow) Reason() string { return french.Capital(problem.Foreign(r.Why).French) }

// IsQuoted reports whether a working copy settles it.
func (r sourceRow) IsQuoted() bool {
	return slices.ContainsFunc(r.Copies, func(c copyRow) bool { return c.IsQuoted })
}

// oneLine returns a text with single spaces and no line breaks.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// listSources returns the lists of sources that are not empty. A folder with problems has none.
func listSources(e *edition.Edition, now time.Time) []sourceList {
	if e.Catalog == nil {
		return nil
	}
	all := evidence.List(e.Catalog, e.Proofs, catalog.Day(now))
	for _, t := range e.Catalog.Tools {
		if !t.Draft && t.PriceQuote == "" && (t.PriceSource != "" || !catalog.IsFree(t.Price)) {
			found := evidence.Listed{State: unquoted, Price: catalog.WrittenPrice(t.Pricing, t.Price)}
			found.Slug, found.URL = t.Slug, t.PriceSource
			all = append(all, found)
		}
	}
	lists := slices.Clone(sourceLists)
	for i := range lists {
		lists[i].listed = slices.DeleteFunc(slices.Clone(all), func(x evidence.Listed) bool { return x.State != lists[i].State })
		lists[i].Found = len(lists[i].listed)
	}
	return slices.DeleteFunc(lists, func(x sourceList) bool { return x.Found == 0 })
}

func (d *sources) sourceRow(c *catalog.Catalog, l *evidence.Listed) sourceRow {
	r := sourceRow{Listed: *l, Record: row{Kind: catalog.RetiredKind, Slug: l.Slug}, Name: l.Slug}
	r.Found = oneLine(l.Found)
	r.Change = passage{Old: oneLine(l.Quote), New: r.Found}
	if t := c.Tool(l.Slug); t != nil {
		r.Record.Kind, r.Name, r.Shown = catalog.ToolKind, t.Name, cmp.Or(t.PriceDisplay, l.Price)
		r.IsOpen = l.URL == t.PriceSource && l.Quote == t.PriceQuote && !d.isInBulk(&r.Record) // not an announced price
	}
	r.IsTaken = r.IsOpen && l.State == catalog.Changed && utf8.RuneCountInString(r.Found) <= catalog.MaxQuote
	r.New = l.NewPrice()
	return r
}

type sourcesPage struct {
	page
	Problems []finding
	State    string // the only one that is shown; "" for all
	Lists    []sourceList
}

func (d *sources) show(r *request) (*response, error) {
	copies, err := d.copyRows(r, nil)
	if err != nil {
		return nil, err
	}
	data := sourcesPage{page: r.page("Sources"), Problems: findings(r.folder.Problems), State: r.URL.Query().Get("etat")}
	most := maxSources
	if data.State == "" {
		most = shownSources
	}
	for _, list := range listSources(r.folder, r.Now) {
		if data.State != "" && data.State != list.State {
			continue
		}
		for i := range list.listed[:min(len(list.listed), most)] {
			own := d.sourceRow(r.folder.Catalog, &list.listed[i])
			own.Copies = copiesOf(copies, own.Record.File())
			for i := range own.Copies {
				own.Copies[i].IsQuoted, err = d.isQuoted(r, own.Copies[i].ID)
				if err != nil {
					return nil, err
				}
			}
			list.Rows = append(list.Rows, own)
		}
		data.Lists = append(data.Lists, list)
	}
	return render("sources", data), nil
}

// isQuoted reports whether the price was quoted in a working copy: the words or their day are others than before.
func (d *sources) isQuoted(r *request, id string) (bool, error) {
	c, err := d.Copies.Find(r.Context(), id)
	if errors.Is(err, sqldb.ErrNotFound) {
		return false, nil
	}
	now, broken := document.Open(c.Path, c.Data)
	before, missing := document.Open(c.Path, c.Original)
	if err != nil || broken != nil || missing != nil {
		return false, err
	}
	isSame := func(field string) bool { return now.Value(field).Text == before.Value(field).Text }
	return now.Value("price_quote").Text != "" && !(isSame("price_quote") && isSame("price_checked_at")), nil
}

// takeOver records the words that were found at the source of a tool, and their price, in her working copy. On her own
// machine that is the file itself.
func (d *sources) takeOver(r *request) (*response, error) {
	found, published, data, err := d.editable(r)
	if err != nil {
		return nil, err
	}
	changed := refused("Ces mots ne sont plus proposés\u00a0: la page a été relue entre-temps, ou la fiche a changé. Rien n’a été fait\u00a0: revenez à la liste des sources.")
	s := d.offered(r, found.File())
	if s == nil || published.Value("price_quote").Text != s.Quote || published.Value("price_source").Text != s.URL ||
		s.New != "" && published.Value("price").Text != r.PostForm.Get("note") {
		return nil, changed
	}
	c, err := d.copyOf(r, deskdb.WorkingCopy{Path: found.File(), Original: data, Data: data})
	if err != nil {
		return nil, err
	}
	doc, err := document.Open(c.Path, c.Data)
	switch {
	case err != nil:
		return nil, refused(sentence(err))
	case doc.Value("price_source").Text != s.URL: // in a copy that she had
		return nil, changed
	}
	err = d.saveQuote(r, c, doc, quotation{s.Found, s.New, s.Day(), published})
	switch {
	case err != nil:
		return nil, err
	case s.New == "":
		return seeOther(copiesPath+"/"+c.ID+priceGroup, "citation"), nil
	case r.isLocal:
		return seeOther(sourcesPath, "prix-ecrit"), nil
	}
	return seeOther(copiesPath+"/"+c.ID+priceGroup, "prix"), nil
}

// offered returns the source whose words a form takes over, if the list of sources proposes them for that record; nil if
// not.
func (d *sources) offered(r *request, file string) *sourceRow {
	for _, list := range listSources(r.folder, r.Now) {
		for i := range list.listed {
			if list.listed[i].URL != r.PostForm.Get("source") {
				continue
			}
			s := d.sourceRow(r.folder.Catalog, &list.listed[i])
			if s.IsTaken && s.Record.File() == file && s.Found == r.PostForm.Get("mots") {
				return &s
			}
		}
	}
	return nil
}
