package desk

import (
	"errors"
	"slices"
	"sync"
	"time"

	"palmares/internal/accountdb"
	"palmares/internal/catalog"
	"palmares/internal/content"
	"palmares/internal/evidence"
	"palmares/internal/french"
	"palmares/internal/preview"
)

const (
	// maxSources is how many sources of each state are kept in memory: whoever settles these sees the next.
	maxSources = 500
	// shownSources is how many the page of all states shows of each.
	shownSources = 20
	// sourceAge is how long the lists are shown as they were made, for each source of the folder: those of a hundred
	// thousand are made at most once in 50 seconds.
	sourceAge = 500 * time.Microsecond
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
	{State: string(evidence.Changed), Text: "Prix changés", Hint: "D’autres prix sont sur la page, ou celui de la fiche y est barré, ou c’est celui d’une autre offre."},
	{State: string(evidence.Gone), Text: "Pages disparues", Hint: "L’adresse ne répond plus, ou dit que la page n’existe pas."},
	{State: string(evidence.Moved), Text: "Pages déplacées", Hint: "L’adresse mène à un autre site, à l’accueil ou à une connexion."},
	{State: string(evidence.Unreadable), Text: "Pages illisibles", Hint: "La lecture ne permet pas de trancher\u00a0: ouvrez la page, et relevez le prix vous-même."},
	{State: evidence.Stale, Text: "Pages à relire", Hint: "Leur prix n’a été ni retrouvé là ni relevé à la main depuis longtemps."},
}

type sourceRow struct {
	evidence.Listed
	Name    string
	Record  row
	Amounts []foundAmount
	Copies  []copyRow // of its record
}

// Recorded returns the price of the record as pages show it; "" for none.
func (s sourceRow) Recorded() string { return french.Price(s.Price) }

// A foundAmount is an amount that was found, and the price that it can be recorded as; "" for none.
type foundAmount struct {
	evidence.Found
	Price string
}

// Label returns the price as pages show it.
func (f foundAmount) Label() string { return french.Price(f.Price) }

// A sourceReading keeps the lists of the folder as it was read last.
type sourceReading struct {
	mu    sync.Mutex
	of    *preview.Edition
	until time.Time
	lists []sourceList
}

func (s *sourceReading) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.until = time.Time{}
}

// sources returns the lists of sources that are not empty. A folder with problems has none.
func (d *desk) sources(e *preview.Edition) ([]sourceList, error) {
	if e.Catalog == nil {
		return nil, nil
	}
	d.sourcesRead.mu.Lock()
	defer d.sourcesRead.mu.Unlock()
	if d.sourcesRead.of == e || d.Now().Before(d.sourcesRead.until) {
		return d.sourcesRead.lists, nil
	}
	lists, n := slices.Clone(sourceLists), 0
	err := evidence.EachListed(e.Catalog, d.Folder.With(nil), catalog.Day(d.Now()), func(l *evidence.Listed) {
		n++
		i := slices.IndexFunc(lists, func(x sourceList) bool { return x.State == l.State })
		if i < 0 {
			return
		}
		if lists[i].Found++; lists[i].Found <= maxSources {
			lists[i].Rows = append(lists[i].Rows, d.sourceRow(e.Catalog, l))
		}
	})
	if _, isLine := errors.AsType[*evidence.LineError](err); isLine { // the next reading of the folder reports it
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	d.sourcesRead.of, d.sourcesRead.until = e, d.Now().Add(time.Duration(n)*sourceAge)
	d.sourcesRead.lists = slices.DeleteFunc(lists, func(x sourceList) bool { return x.Found == 0 })
	return d.sourcesRead.lists, nil
}

func (d *desk) sourceRow(c *catalog.Catalog, l *evidence.Listed) sourceRow {
	r := sourceRow{Listed: *l, Record: row{Kind: &kinds[2], Slug: l.Slug}, Name: l.Slug}
	if t := c.Tool(l.Slug); t != nil {
		r.Record.Kind, r.Name = &kinds[0], t.Name
	}
	isFixed := d.isInBulk(&r.Record)
	for _, f := range l.Found {
		found := foundAmount{Found: f}
		isKnown := func(other foundAmount) bool { return other.Price == found.Price }
		found.Price = l.Recordable(f)
		if isFixed || slices.ContainsFunc(r.Amounts, isKnown) {
			found.Price = ""
		}
		r.Amounts = append(r.Amounts, found)
	}
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

// takeOver records a price that was found at the source of a tool, in her working copy. On her own
// machine that is the file itself.
func (d *desk) takeOver(r *request) (*response, error) {
	found, published, data, err := d.editable(r)
	if err != nil {
		return nil, err
	}
	price, day := r.PostForm.Get("prix"), d.offered(r, found.File())
	if day == "" {
		return nil, refused("Ce prix n’est plus proposé\u00a0: la page a été relue entre-temps, ou la fiche a changé. Revenez à la liste des sources.")
	}
	if published.Value("price").Text != r.PostForm.Get("note") {
		return nil, refused("Le prix de la fiche a changé depuis que cette page s’est affichée\u00a0: rien n’a été fait. Revenez à la liste des sources.")
	}
	c, err := d.copyOf(r, accountdb.WorkingCopy{Path: found.File(), Original: data, Data: data})
	if err != nil {
		return nil, err
	}
	doc, err := content.OpenDocument(c.Path, c.Data)
	if err == nil {
		err = recordPrice(doc, published, price, day)
	}
	if err != nil {
		return nil, refused(sentence(err))
	}
	_, err = d.Copies.Save(r.Context(), c.ID, c.Revision, doc.Bytes(), r.now)
	switch {
	case errors.Is(err, accountdb.ErrChanged):
		return nil, refused("Cette fiche vient d’être enregistrée ailleurs\u00a0: rien n’a été fait. Revenez à la liste des sources, et recommencez.")
	case err != nil:
		return nil, err
	case r.isLocal:
		d.reading.forget()
		d.sourcesRead.forget()
		return seeOther(sourcesPath, "prix-ecrit"), nil
	}
	return seeOther(copiesPath+"/"+c.ID, "prix"), nil
}

// offered returns the day on which the price of a form was found at the source that the form names, if the
// list of sources proposes it for that record; "" if not.
func (d *desk) offered(r *request, file string) string {
	e, err := d.folder(r.Context())
	if err != nil {
		return ""
	}
	lists, _ := d.sources(e) // without them nothing is proposed
	for _, list := range lists {
		for _, s := range list.Rows {
			isIt := func(f foundAmount) bool { return f.Price != "" && f.Price == r.PostForm.Get("prix") }
			if s.Record.File() == file && s.URL == r.PostForm.Get("source") && slices.ContainsFunc(s.Amounts, isIt) {
				return s.Day()
			}
		}
	}
	return ""
}

// recordPrice changes the price of a document as somebody would who read it on a day: the price, the day of the
// check, and an entry of the history that begins with what is published.
func recordPrice(doc, published *content.Document, price, day string) error {
	old, pricing, history := published.Value("price").Text, published.Value("pricing").Text, doc.Value("price_history")
	if history.Text != "" {
		return refused("L’historique des prix de cette fiche ne se lit pas comme une liste\u00a0: modifiez la fiche elle-même.")
	}
	rows := slices.DeleteFunc(history.Rows, func(e content.Row) bool { return e["changed_at"].Text == day && e["old_price"].Text == old })
	at := 0
	if n := len(rows); n > 1 && rows[0]["changed_at"].Text < rows[n-1]["changed_at"].Text { // the oldest is first
		at = n
	}
	rows = slices.Insert(rows, at, content.Row{
		"changed_at": {Text: day}, "old_pricing": {Text: pricing}, "old_price": {Text: old},
		"new_pricing": doc.Value("pricing"), "new_price": {Text: price},
	})
	return errors.Join(
		doc.Set("price", content.Value{Text: price}), doc.Set("price_checked_at", content.Value{Text: day}),
		doc.Set("price_history", content.Value{Rows: rows}),
	)
}
