package desk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"palmares/internal/catalog"
	"palmares/internal/content/document"
	"palmares/internal/deskdb"
	"palmares/internal/evidence"
	"palmares/internal/sqldb"
)

// The limits of reading pages for people at the desk.
const (
	readingTime = 20 * time.Second
	maxReadings = 30 // a minute, of all people
)

// priceGroup is the part of the form of a tool that has its price.
const priceGroup = "#page.groupe-prix"

// A pageReading reads the pages that prices were taken from.
type pageReading struct {
	mu     sync.Mutex
	reader *evidence.Reader // nil before the first page
	busy   map[string]bool  // people who wait for a page
	begun  []time.Time      // when the pages of the last minute were asked for
}

// Why a page is not read now.
var (
	errBusy    = errors.New("une page se lit déjà pour vous\u00a0: attendez qu’elle s’affiche")
	errTooMany = errors.New("la rédaction a lu 30\u00a0pages en une minute, le plus possible\u00a0: attendez un peu")
)

// begin returns the reader, unless somebody waits for a page already or too many were read. Whoever has it ends the reading.
func (p *pageReading) begin(d *sources, r *request) (*evidence.Reader, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.begun = slices.DeleteFunc(p.begun, func(at time.Time) bool { return r.Now.Sub(at) >= time.Minute })
	switch {
	case p.busy[r.Email]:
		return nil, errBusy
	case len(p.begun) >= maxReadings:
		return nil, errTooMany
	case p.reader == nil:
		cfg, c := d.Reader, cmp.Or(r.folder.Catalog, &catalog.Catalog{URL: d.BaseURL})
		cfg.Agent = evidence.Agent(cfg.Agent, c)
		p.reader, p.busy = evidence.NewReader(cfg), map[string]bool{}
	}
	p.begun, p.busy[r.Email] = append(p.begun, r.Now), true
	return p.reader, nil
}

func (p *pageReading) end(r *request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.busy, r.Email)
}

// reading calls read with the reader, if a page may be read now.
func (d *sources) reading(r *request, read func(context.Context, *evidence.Reader) error) error {
	reader, err := d.pages.begin(d, r)
	if err != nil {
		return err
	}
	defer d.pages.end(r)
	ctx, cancel := context.WithTimeout(r.Context(), readingTime)
	defer cancel()
	err = read(ctx, reader)
	if ctx.Err() != nil && r.Context().Err() == nil {
		err = evidence.ErrNoAnswer
	}
	return err
}

// isMissing reports whether words do not stand on a page. Of a page that cannot be read nothing is said.
func (d *sources) isMissing(r *request, address, words string) (isMissing bool) {
	_ = d.reading(r, func(ctx context.Context, reader *evidence.Reader) error {
		check := evidence.Check{Reader: reader, Now: d.Now, Each: func(_, _ int, p *catalog.Proof, _ func() []catalog.Proof) {
			isMissing = p.Why == "" && p.Result != catalog.Confirmed
		}}
		check.Run(ctx, []evidence.Listed{{Proof: catalog.Proof{URL: address, Quote: words}}})
		return nil
	})
	return isMissing
}

type sourcePage struct {
	page
	Copy      copyRow
	URL       string // "" until somebody gives it
	Proposed  string // an address that may be it: the first source of the record
	Price     string // of the record, as the site shows it
	Why       string // the page cannot be read
	IsWrong   bool   // another address may help
	IsPassing bool   // another try may help
	Passages  []evidence.Passage
	Chosen    string // the quotation that is chosen already; "" for none
	IsPriced  bool   // amounts can become the price of the record
}

// showSource reads the page that the price of a tool was taken from, and proposes its words as the quotation.
func (d *sources) showSource(r *request, c *draft) (_ *response, err error) {
	if c.doc == nil || c.doc.Kind() != catalog.ToolKind {
		return nil, errNoPage
	}
	data := sourcePage{
		page: r.page("Citer le prix"), Copy: c.copyRow, URL: c.doc.Value("price_source").Text,
		Price:  cmp.Or(c.doc.Value("price_display").Text, c.doc.Value("price").Text),
		Chosen: c.doc.Value("price_quote").Text,
	}
	status := 0
	if data.URL != "" {
		err = d.reading(r, func(ctx context.Context, reader *evidence.Reader) (err error) {
			data.Passages, status, err = reader.Passages(ctx, data.URL, data.Price)
			return err
		})
	} else if sources := c.doc.Value("sources").Items; len(sources) > 0 {
		data.Proposed = sources[0]
	}
	switch {
	case r.Context().Err() != nil:
		return nil, r.Context().Err()
	case err != nil:
		data.Why = sentence(err) + "."
		switch {
		case status == http.StatusNotFound, status == http.StatusGone:
			data.Why, data.IsWrong = fmt.Sprintf("La page n’existe pas (%d)\u00a0: corrigez l’adresse.", status), true
		case errors.Is(err, evidence.ErrNoHost), errors.Is(err, evidence.ErrAddress):
			data.Why, data.IsWrong = data.Why+" Corrigez l’adresse.", true
		case errors.Is(err, evidence.ErrNoAnswer), errors.Is(err, errTooMany), errors.Is(err, errBusy), status == 429, status >= 500:
			data.IsPassing = true
		}
	}
	if len(data.Passages) == 1 && data.Passages[0].IsOwn {
		data.Chosen = data.Passages[0].Quote
	}
	isOther := func(p evidence.Passage) bool { return p.Price != "" && !p.IsOwn }
	data.IsPriced = slices.ContainsFunc(data.Passages, isOther)
	return render("source", data), nil
}

// mark records the words that somebody chose on a page, with their amount as the price if she wants, or else those that
// she pasted.
func (d *sources) mark(r *request, c *draft) (*response, error) {
	if c.doc == nil || c.doc.Kind() != catalog.ToolKind {
		return nil, errNoPage
	}
	price, words, _ := strings.Cut(r.PostForm.Get("mots"), ": ")
	pasted := oneLine(r.PostForm.Get("colle"))
	if pasted != "" || !r.PostForm.Has("montant") {
		price = ""
	}
	words = cmp.Or(pasted, oneLine(words))
	if n := utf8.RuneCountInString(words); n < catalog.MinQuote || n > catalog.MaxQuote {
		return nil, refused("Choisissez ou collez les mots de la page qui disent le prix, de 3 à 300\u00a0caractères.")
	}
	revision, err := strconv.ParseInt(r.PostForm.Get("revision"), 10, 64)
	if err != nil {
		return nil, errUnreadableForm
	}
	c.Revision = revision // that she read
	published, missing := document.Open(c.File(), c.Original)
	if missing != nil { // a new record
		published = document.New(catalog.ToolKind)
	}
	done := "citation"
	if pasted != "" && d.isMissing(r, c.doc.Value("price_source").Text, words) {
		done = "mots-absents"
	}
	err = d.saveQuote(r, c.WorkingCopy, c.doc, quotation{words, price, catalog.Day(r.Now), published})
	return seeOther(c.Href()+priceGroup, done), err
}

// A quotation is the words of a page that say a price, read on a day.
type quotation struct {
	words, price, day string             // price is "" if it stays
	published         *document.Document // the record on the site
}

// saveQuote writes a quotation into a working copy.
func (d *sources) saveQuote(r *request, c deskdb.WorkingCopy, doc *document.Document, q quotation) error {
	if err := q.write(doc); err != nil {
		return refused(sentence(err))
	}
	_, err := d.Copies.Save(r.Context(), c.ID, c.Revision, doc.Bytes(), r.Now)
	if errors.Is(err, sqldb.ErrChanged) {
		return refused("Cette fiche vient d’être enregistrée ailleurs\u00a0: rien n’a été fait. Revenez à la page précédente, et recommencez.")
	}
	return err
}

// write changes a document as somebody would who read a page: the quotation, the day, and another price with an
// entry of the history that begins with what is published.
func (q *quotation) write(doc *document.Document) error {
	values := map[string]document.Value{"price_quote": {Text: q.words}, "price_checked_at": {Text: q.day}}
	if q.price == "" || q.price == doc.Value("price").Text {
		return doc.SetAll(values)
	}
	old, pricing, history := q.published.Value("price").Text, q.published.Value("pricing").Text, doc.Value("price_history")
	if history.Text != "" {
		return refused("L’historique des prix de cette fiche ne se lit pas comme une liste\u00a0: modifiez la fiche elle-même.")
	}
	rows := slices.DeleteFunc(history.Rows, func(e document.Row) bool { return e["changed_at"].Text == q.day && e["old_price"].Text == old })
	at := 0
	if n := len(rows); n > 1 && rows[0]["changed_at"].Text < rows[n-1]["changed_at"].Text { // the oldest is first
		at = n
	}
	if q.price != old && old != "" {
		rows = slices.Insert(rows, at, document.Row{
			"changed_at": {Text: q.day}, "old_pricing": {Text: pricing}, "old_price": {Text: old},
			"new_pricing": doc.Value("pricing"), "new_price": {Text: q.price},
		})
	}
	values["price"], values["price_history"] = document.Value{Text: q.price}, document.Value{Rows: rows}
	return doc.SetAll(values)
}
