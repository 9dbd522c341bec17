package content

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"palmares/internal/catalog"
	"palmares/internal/content/tree"
	"palmares/internal/problem"
)

// A folder with warnings can be published, but probably does not say what its
// editors mean. The warnings of one record are found by the worker that read it and
// has the lines of its fields; those that compare records, once all have been read.
// Drafts are unfinished by definition, and give none; see article for the one exception.

// dates say which days deserve a warning. Its zero value accepts them all.
type dates struct {
	today  string // days after it are in the future
	oldest string // price checks before it are too old; "" for none
	maxAge int    // days from oldest to today

	oldestTest string // tests before it are too old
}

// testAge is how many days old a test may be, if nothing else is said.
const testAge = 365

func newDates(today string, maxAge int) dates {
	c := dates{today: today, maxAge: maxAge}
	t, err := time.Parse(time.DateOnly, today)
	if err != nil {
		return c
	}
	c.oldestTest = catalog.Day(t.AddDate(0, 0, -cmp.Or(maxAge, testAge)))
	if maxAge > 0 {
		c.oldest = c.oldestTest
	}
	return c
}

func (c dates) isFuture(day string) bool { return c.today != "" && day > c.today }

// warnAbout adds the warnings of a record, and keeps the lines that further warnings
// need.
func (d *decoder) warnAbout(r *record) {
	if r.isDraft() {
		return
	}
	if r.publishAt != "" && d.days.today != "" { // until then, no day is in the future
		if hour, err := time.Parse(time.RFC3339, r.publishAt); err == nil {
			d.days.today = max(d.days.today, hour.In(d.zone).Format(time.DateOnly))
		}
	}
	switch {
	case r.tool() != nil:
		d.warnTool(r.tool())
		r.keyLine = d.lineOf("domain")
		r.priceLine, r.scoreLine, r.checkedLine = d.lineOf("price"), d.lineOf("score"), d.lineOf("price_checked_at")
	case r.comparison() != nil:
		d.warnFuture("updated_at", r.comparison().UpdatedAt)
		r.keyLine = d.lineOf("winner")
	case r.retired() != nil:
		d.warnFuture("retired_at", r.retired().RetiredAt)
	case r.page() != nil:
		d.warnFuture("date", r.page().Date)
	case r.article() != nil:
		d.warnFuture("date", r.article().Date)
	}
	r.authorLine = d.lineOf("author")
	if d.isGiven("updated_at") {
		r.updatedLine = d.lineOf("updated_at")
	}
	d.warnPictures()
}

// warnPictures warns about pictures in texts that have no alternative text, or a
// caption that nobody sees.
func (d *decoder) warnPictures() {
	for _, picture := range d.pictures {
		if strings.TrimSpace(picture.alt) == "" {
			d.warnOf(picture.line, picture.in(problem.New("picture-without-alt", tree.Quoted(picture.written))))
		}
		if picture.hidesTitle {
			d.warnOf(picture.line, picture.in(problem.New("caption-hidden", tree.Quoted(picture.written))))
		}
	}
}

// isGiven reports whether a field is there and not empty.
func (d *decoder) isGiven(name string) bool {
	f := d.find(name)
	return f != nil && !f.Value.IsEmpty()
}

// warnAnnounced warns about announced prices that have come, and those that cannot be meant.
func (d *decoder) warnAnnounced(t *catalog.Tool) {
	pricing, price := t.Pricing, t.Price
	for _, a := range t.Announced {
		pricing, price = cmp.Or(a.Pricing, pricing), cmp.Or(a.Price, price)
		switch {
		case a.Retire != "" || a.From == "":
		case a.From < d.days.today:
			d.warn(d.lineOf("announced"), "announced-price-passed", a.From)
		case pricing == "gratuit" && price != "" && !catalog.IsFree(price):
			d.warn(d.lineOf("announced"), "announced-free-priced", a.From, tree.Quoted(price))
		}
	}
}

func (d *decoder) warnTool(t *catalog.Tool) {
	d.warnFuture("updated_at", t.UpdatedAt)
	d.warnFuture("tested_at", t.TestedAt)
	d.warnFuture("price_checked_at", t.PriceCheckedAt)
	d.warnOld("tested_at", t.TestedAt, d.days.oldestTest, "test-too-old")
	d.warnOld("price_checked_at", t.PriceCheckedAt, d.days.oldest, "price-too-old")
	if t.Price != "" && t.Pricing == "gratuit" && !catalog.IsFree(t.Price) {
		d.warn(d.lineOf("price"), "free-but-priced", tree.Quoted(t.Price))
	}
	if euros, _, _ := catalog.Amount(t.Price); euros > largePrice {
		d.warn(d.lineOf("price"), "price-large", tree.Quoted(t.Price))
	}
	if contradicts(t) {
		d.warn(d.lineOf("price_display"), otherPrice, tree.Quoted(t.PriceDisplay), tree.Quoted(t.Price))
	}
	if t.Score != nil && !d.isGiven("tested_at") {
		d.warn(d.lineOf("score"), "score-without-day")
	}
	d.warnTest(t)
	d.warnHistory("price_history")
	d.warnHistory("score_history")
	d.warnHistory("criteria_history")
	d.warnLatestPrice(t)
	d.warnAnnounced(t)
}

func (d *decoder) warnFuture(name, day string) {
	switch {
	case !d.days.isFuture(day):
	case name == "date": // of a text, which can wait for it
		d.warn(d.lineOf(name), "text-in-future", day)
	default:
		d.warn(d.lineOf(name), "in-future", d.label(name), day)
	}
}

// warnOld warns about something that was done before the oldest day.
func (d *decoder) warnOld(name, day, oldest, code string) {
	if day != "" && day < oldest {
		d.warn(d.lineOf(name), code, day, cmp.Or(d.days.maxAge, testAge), name)
	}
}

func (d *decoder) warnHistory(name string) {
	for i, entry := range d.entries(name) {
		if v := entry.Find("changed_at"); v != nil && catalog.IsDate(v.Text) && d.days.isFuture(v.Text) {
			d.warn(v.Line, "in-future", label{name: "changed_at", within: problem.New("in", label{name: name, item: i + 1})}, v.Text)
		}
	}
}

// warnLatestPrice warns if the price history does not end at the price, or the plans have the price before it.
func (d *decoder) warnLatestPrice(t *catalog.Tool) {
	entries, price := d.entries("price_history"), catalog.WrittenPrice(t.Pricing, t.Price)
	for _, e := range entries {
		if e.TextOf("changed_at") == "" || e.TextOf("new_price") == "" {
			return
		}
	}
	if t.Price == "" || len(entries) == 0 {
		return
	}
	// A list may be written in either order; see catalog.CarryOver.
	if entries[0].TextOf("changed_at") < entries[len(entries)-1].TextOf("changed_at") {
		entries = slices.Clone(entries)
		slices.Reverse(entries)
	}
	latest := slices.MaxFunc(entries,
		func(a, b tree.Value) int { return strings.Compare(a.TextOf("changed_at"), b.TextOf("changed_at")) })
	last := latest.Find("new_price")
	end := catalog.WrittenPrice(catalog.Pricing(latest.TextOf("new_pricing")), last.Text)
	if !strings.EqualFold(plainSpaces(end), plainSpaces(price)) { // Sur devis
		d.warn(last.Line, "history-ends-elsewhere", tree.Quoted(price), tree.Quoted(last.Text))
	}
	of := func(price string) bool {
		return slices.ContainsFunc(t.Plans, func(p catalog.PlanRow) bool { return catalog.Quotes(p.Price, price) })
	}
	if was := latest.TextOf("old_price"); !catalog.IsFree(was) && of(was) && !of(t.Price) {
		d.warn(d.lineOf("plans"), "plan-with-old-price", tree.Quoted(was), tree.Quoted(price))
	}
}

// checkDisplay reports what the site would show as free of a price that is not.
func (d *decoder) checkDisplay(t *catalog.Tool) {
	if strings.EqualFold(t.PriceDisplay, "gratuit") && t.Price != "" && !catalog.IsPublic(t.Pricing, t.Price) {
		d.report(d.lineOf("price_display"), otherPrice, tree.Quoted(t.PriceDisplay), catalog.OnRequest)
	}
}

const otherPrice = "display-contradicts"

// contradicts reports whether the site would show something else than the price that is public.
func contradicts(t *catalog.Tool) bool {
	shown := plainSpaces(t.PriceDisplay)
	return t.Price != "" && catalog.IsPublic(t.Pricing, t.Price) &&
		(strings.EqualFold(shown, catalog.OnRequest) || t.Pricing == catalog.Paid && strings.EqualFold(shown, "gratuit") ||
			isFar(t))
}

// isFar reports whether the site shows an amount for the period of the price that differs from it by more than a factor of
// two, in a currency that is worth about a euro.
func isFar(t *catalog.Tool) bool {
	shown, period, code, ok := t.Asked()
	euros, own, _ := catalog.Amount(t.Price)
	return ok && period == own && euros > 0 && (shown > 2*euros || euros > 2*shown) &&
		slices.Contains([]string{"EUR", "USD", "GBP", "CHF"}, code)
}

// plainSpaces returns a price without the difference between kinds of spaces.
func plainSpaces(price string) string { return spaces.Replace(price) }

var spaces = strings.NewReplacer("\u00a0", " ", "\u202f", " ")

// entries returns the elements of a list, whatever they are.
func (d *decoder) entries(name string) []tree.Value {
	if f := d.find(name); f != nil {
		return f.Value.Items
	}
	return nil
}

func (f *folder) warnTogether(x index) {
	f.warnAuthors(x)
	domains := make(map[string]*record, len(x[catalog.ToolKind]))
	pairs := map[[2]string]*record{}
	for _, r := range f.present() {
		switch {
		case r.isDraft():
		case r.tool() != nil && x.active(r.slug) == r:
			f.checkRetirement(r, x)
			domain := strings.ToLower(r.tool().Domain)
			if first, ok := domains[domain]; ok && domain != "" {
				f.warn(r.file, r.keyLine, "domain-twice", domain, first.slug, first.file, first.keyLine)
				continue
			}
			domains[domain] = r
		case r.comparison() != nil:
			f.warnWinner(r, x)
			f.warnPair(r, pairs)
		}
	}
}

// warnAuthors warns about authors who are called nearly like one who has a page: they are not linked to it.
func (f *folder) warnAuthors(x index) {
	var names []string
	for _, own := range x[catalog.AuthorKind] {
		if own.by.author() != nil && own.by.author().Name != "" && !slices.Contains(names, own.by.author().Name) {
			names = append(names, own.by.author().Name)
		}
	}
	slices.Sort(names)
	meant := map[string]string{} // by what is written
	for _, r := range f.present() {
		var authors []string
		switch {
		case len(names) == 0 || r.isDraft():
		case r.tool() != nil:
			authors = r.tool().Authors
		case r.article() != nil:
			authors = r.article().Authors
		}
		for _, written := range authors {
			name, isKnown := meant[written]
			if _, hasPage := x[catalog.AuthorKind][" "+written]; !isKnown && !hasPage {
				name = nearest(written, names)
				if own := x[catalog.AuthorKind][written].by; own != nil && own.author() != nil {
					name = own.author().Name
				}
				meant[written] = name
			}
			if name != "" {
				f.warn(r.file, r.authorLine, "author-without-page", written, name)
			}
		}
	}
}

// warnWinner warns about a winner with the lower score.
func (f *folder) warnWinner(r *record, x index) {
	winner, loser := r.comparison().ToolA, r.comparison().ToolB
	if r.comparison().Winner == loser {
		winner, loser = loser, winner
	}
	won, lost := x.active(winner), x.active(loser)
	if r.comparison().Winner != winner || won == nil || lost == nil || won.tool() == nil || lost.tool() == nil {
		return
	}
	if a, b := won.tool().Score, lost.tool().Score; a != nil && b != nil && *a < *b {
		f.warn(r.file, r.keyLine, "winner-scores-less", winner, figure(*a), loser, figure(*b))
	}
}

func figure(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// warnPair warns about the second comparison of two tools.
func (f *folder) warnPair(r *record, pairs map[[2]string]*record) {
	pair := [2]string{r.comparison().ToolA, r.comparison().ToolB}
	if pair[0] == "" || pair[1] == "" {
		return
	}
	slices.Sort(pair[:])
	if first, ok := pairs[pair]; ok {
		f.warn(r.file, r.refs[0].line, "pair-twice", pair[0], pair[1], first.file, first.refs[0].line)
		return
	}
	pairs[pair] = r
}

// recordLines are where a record gives what warnings are about that compare it with what is published.
type recordLines struct {
	slug                           string
	updated, price, score, checked int32 // lines; 0 for none
	inBulk                         bool  // in the .jsonl file
}

// lines returns where the records give their dates and figures, by folder.
func (f *folder) lines() map[string][]recordLines {
	found := map[string][]recordLines{}
	for k, r := range f.present() {
		if r.updatedLine+r.priceLine > 0 {
			found[k.Folder] = append(found[k.Folder], recordLines{
				r.slug, int32(r.updatedLine), int32(r.priceLine), int32(r.scoreLine), int32(r.checkedLine),
				strings.HasSuffix(r.file, ".jsonl"),
			})
		}
	}
	return found
}

// eachOf calls do with the file of each of some records, and where in it their fields are.
func (r *Result) eachOf(folder string, slugs []string, do func(file string, p recordLines)) {
	if len(slugs) == 0 {
		return
	}
	wanted := map[string]bool{}
	for _, slug := range slugs {
		wanted[slug] = true
	}
	for _, p := range r.lines[folder] {
		switch {
		case !wanted[p.slug]:
		case p.inBulk:
			do(folder+".jsonl", p)
		default:
			do(folder+"/"+p.slug+".md", p)
		}
	}
}

// WarnUndated returns the warnings about records that changed while the updated_at
// in their file did not. Only a comparison with the published catalogue finds them:
// see catalog.Diff.Undated. It is called once: what it needs is released then.
func (r *Result) WarnUndated(tools, comparisons []string) []Warning {
	defer func() { r.lines = nil }()
	var warnings []Warning
	warn := func(file string, p recordLines) {
		if p.updated > 0 {
			text := problem.New("undated", p.slug)
			addWarning(&warnings, ignoredBy(r.Catalog), Warning{file, int(p.updated), text})
		}
	}
	r.eachOf("outils", tools, warn)
	r.eachOf("comparatifs", comparisons, warn)
	return finish(warnings, moreWarnings)
}
