package desk

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"palmares/internal/catalog"
	"palmares/internal/content"
	"palmares/internal/deskdb"
	"palmares/internal/evidence"
	"palmares/internal/preview"
)

const (
	// maxSources is how many sources of each state are kept in memory: whoever settles these sees the next.
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
	Rows  []sourceRow
	Found int
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

// oneLine returns a text with single spaces and no line breaks.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// A sourceReading keeps the lists of an edition of the folder.
type sourceReading struct {
	mu    sync.Mutex
	of    *preview.Edition
	lists []sourceList
}

// sources returns the lists of sources that are not empty. A folder with problems has none.
func (d *desk) sources(e *preview.Edition) ([]sourceList, error) {
	if e.Catalog == nil {
		return nil, nil
	}
	d.sourcesRead.mu.Lock()
	defer d.sourcesRead.mu.Unlock()
	if d.sourcesRead.of == e {
		return d.sourcesRead.lists, nil
	}
	today := catalog.Day(d.Now())
	proofs, err := content.LoadProofs(d.Folder.With(nil), today)
	if _, isLine := errors.AsType[*content.ProofError](err); isLine { // the next reading of the folder reports it
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	all := evidence.List(e.Catalog, proofs, today)
	for _, t := range e.Catalog.Tools {
		if !t.Draft && t.PriceQuote == "" && (t.PriceSource != "" || !catalog.IsFree(t.Price)) {
			found := evidence.Listed{State: unquoted, Price: catalog.WrittenPrice(t.Pricing, t.Price)}
			found.Slug, found.URL = t.Slug, t.PriceSource
			all = append(all, found)
		}
	}
	lists := slices.Clone(sourceLists)
	for i := range all {
		at := slices.IndexFunc(lists, func(x sourceList) bool { return x.State == all[i].State })
		if at < 0 {
			continue
		}
		if lists[at].Found++; lists[at].Found <= maxSources {
			lists[at].Rows = append(lists[at].Rows, d.sourceRow(e.Catalog, &all[i]))
		}
	}
	d.sourcesRead.of = e
	d.sourcesRead.lists = slices.DeleteFunc(lists, func(x sourceList) bool { return x.Found == 0 })
	return d.sourcesRead.lists, nil
}

func (d *desk) sourceRow(c *catalog.Catalog, l *evidence.Listed) sourceRow {
	r := sourceRow{Listed: *l, Record: row{Kind: &kinds[2], Slug: l.Slug}, Name: l.Slug}
	r.Found = oneLine(l.Found)
	r.Change = passage{Old: oneLine(l.Quote), New: r.Found}
	if t := c.Tool(l.Slug); t != nil {
		r.Record.Kind, r.Name, r.Shown = &kinds[0], t.Name, cmp.Or(t.PriceDisplay, l.Price)
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

func (d *desk) listSources(r *request) (*response, error) {
	lists, err := d.sources(r.folder)
	if err != nil {
		return nil, err
	}
	copies, err := d.copyRows(r, nil)
	if err != nil {
		return nil, err
	}
	data := sourcesPage{page: r.page("Sources"), Problems: findings(r.folder.Problems), State: r.URL.Query().Get("etat")}
	for _, list := range lists {
		switch {
		case data.State == "":
			list.Rows = list.Rows[:min(len(list.Rows), shownSources)]
		case data.State != list.State:
			continue
		}
		list.Rows = slices.Clone(list.Rows)
		for i := range list.Rows {
			own := &list.Rows[i]
			own.Copies = slices.DeleteFunc(slices.Clone(copies), func(c copyRow) bool { return c.File != own.Record.File() })
		}
		data.Lists = append(data.Lists, list)
	}
	return render("sources", data), nil
}

// takeOver records the words that were found at the source of a tool, and their price, in her working copy. On her own
// machine that is the file itself.
func (d *desk) takeOver(r *request) (*response, error) {
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
	doc, err := content.OpenDocument(c.Path, c.Data)
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
func (d *desk) offered(r *request, file string) *sourceRow {
	lists, _ := d.sources(r.folder) // without them nothing is proposed
	for _, list := range lists {
		for i := range list.Rows {
			s := &list.Rows[i]
			if s.IsTaken && s.Record.File() == file && s.URL == r.PostForm.Get("source") && s.Found == r.PostForm.Get("mots") {
				return s
			}
		}
	}
	return nil
}
