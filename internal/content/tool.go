package content

import (
	"cmp"
	"slices"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/content/tree"
	"palmares/internal/problem"
)

// The rules of a tool, beside those of its fields.

// toolRules judge a tool that was read.
type toolRules struct {
	*decoder
	tool *catalog.Tool
}

func (r toolRules) check() {
	r.checkTest()
	r.checkAnnounced()
	r.checkQuote(r.tool.PriceQuote, r.tool.Pricing, r.tool.Price, r.tool.PriceDisplay)
	// The site would show as free a price that is not.
	t := r.tool
	if strings.EqualFold(t.PriceDisplay, "gratuit") && t.Price != "" && !catalog.IsPublic(t.Pricing, t.Price) {
		r.report(r.lineOf("price_display"), otherPrice, tree.Quoted(t.PriceDisplay), catalog.OnRequest)
	}
}

// maxAnnounced is how many changes of a tool may be announced.
const maxAnnounced = 12

// checkAnnounced sorts the announced changes of a tool, and checks that each has its day.
func (r toolRules) checkAnnounced() {
	line := r.lineOf("announced")
	if len(r.tool.Announced) > maxAnnounced {
		r.report(line, "too-many-items", "announced", len(r.tool.Announced), maxAnnounced)
	}
	slices.SortStableFunc(r.tool.Announced, func(a, b catalog.Announcement) int { return strings.Compare(a.From, b.From) })
	pricing := r.tool.Pricing
	for i := range r.tool.Announced {
		a := &r.tool.Announced[i]
		pricing = cmp.Or(a.Pricing, pricing)
		if pricing == catalog.Paid && a.Price != "" && catalog.IsFree(a.Price) {
			a.Pricing, a.Price = catalog.Paid, catalog.NoPrice // it says itself that it is none
		}
	}
	for i := 1; i < len(r.tool.Announced); i++ {
		if a := r.tool.Announced[i]; a.From != "" && a.From == r.tool.Announced[i-1].From {
			r.report(line, "announced-twice", a.From)
		}
		if r.tool.Announced[i-1].Retire != "" {
			r.report(line, "announced-after-retirement", r.tool.Announced[i-1].From)
		}
	}
}

func (r toolRules) warnAll() {
	r.warnFuture("updated_at", r.tool.UpdatedAt)
	r.warnFuture("tested_at", r.tool.TestedAt)
	r.warnFuture("price_checked_at", r.tool.PriceCheckedAt)
	r.warnOld("tested_at", r.tool.TestedAt, r.days.oldestTest, "test-too-old")
	r.warnOld("price_checked_at", r.tool.PriceCheckedAt, r.days.oldest, "price-too-old")
	if r.tool.Price != "" && r.tool.Pricing == "gratuit" && !catalog.IsFree(r.tool.Price) {
		r.warn("price", "free-but-priced", tree.Quoted(r.tool.Price))
	}
	if euros, _, _ := catalog.Amount(r.tool.Price); euros > largePrice {
		r.warn("price", "price-large", tree.Quoted(r.tool.Price))
	}
	if contradicts(r.tool) {
		r.warn("price_display", otherPrice, tree.Quoted(r.tool.PriceDisplay), tree.Quoted(r.tool.Price))
	}
	if r.tool.Score != nil && !r.isGiven("tested_at") {
		r.warn("score", "score-without-day")
	}
	r.warnTest()
	r.warnHistory("price_history")
	r.warnHistory("score_history")
	r.warnHistory("criteria_history")
	r.warnLatestPrice()
	pricing, price := r.tool.Pricing, r.tool.Price
	for _, a := range r.tool.Announced {
		pricing, price = cmp.Or(a.Pricing, pricing), cmp.Or(a.Price, price)
		switch {
		case a.Retire != "" || a.From == "":
		case a.From < r.days.today:
			r.warn("announced", "announced-price-passed", a.From)
		case pricing == "gratuit" && price != "" && !catalog.IsFree(price):
			r.warn("announced", "announced-free-priced", a.From, tree.Quoted(price))
		}
	}
}

// warnLatestPrice warns if the price history does not end at the price, or the plans have the price before it.
func (r toolRules) warnLatestPrice() {
	entries, price := r.entries("price_history"), catalog.WrittenPrice(r.tool.Pricing, r.tool.Price)
	for _, e := range entries {
		if e.TextOf("changed_at") == "" || e.TextOf("new_price") == "" {
			return
		}
	}
	if r.tool.Price == "" || len(entries) == 0 {
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
		r.found.warn(r.file, last.Line, "history-ends-elsewhere", tree.Quoted(price), tree.Quoted(last.Text))
	}
	of := func(price string) bool {
		return slices.ContainsFunc(r.tool.Plans, func(p catalog.PlanRow) bool { return catalog.Quotes(p.Price, price) })
	}
	if was := latest.TextOf("old_price"); !catalog.IsFree(was) && of(was) && !of(r.tool.Price) {
		r.warn("plans", "plan-with-old-price", tree.Quoted(was), tree.Quoted(price))
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
var plainSpaces = strings.NewReplacer("\u00a0", " ", "\u202f", " ").Replace

// checkTest checks what a tool says about its test against its category.
func (r toolRules) checkTest() {
	c := r.declared[r.tool.Category]
	if c == nil {
		return // catalogue.yaml could not be read, or the category was reported
	}
	r.checkUsages(c, r.tool.Usages)
	for _, v := range r.tool.Criteria {
		x, line := c.Criterion(v.Name), r.lineIn("criteria", v.Name)
		at := label{name: v.Name, within: problem.New("in", "criteria")}
		switch {
		case x == nil:
			r.report(line, "undeclared-criterion", v.Name, c.Slug, criteriaOf(c))
		case x.Is() == catalog.KindYesNo && !v.IsFlag:
			r.report(line, "not-flag", at, v)
		case x.Is() != catalog.KindYesNo && v.IsFlag:
			r.report(line, "not-number", at, v)
		case x.Is() == catalog.KindMark && (v.Number < 0 || v.Number > 10):
			r.report(line, "not-mark", at, v, catalog.SettingsFile)
		}
	}
}

// warnTest warns about what readers of a test will miss.
func (r toolRules) warnTest() {
	if r.tool.Score == nil {
		return
	}
	if r.tool.Summary == "" {
		r.warn("score", "score-without-summary")
	}
	if r.tool.Access == "" {
		r.warn("score", "score-without-access")
	}
	c := r.declared[r.tool.Category]
	if c == nil {
		return
	}
	if version, isCurrent := c.TestedUnder(r.tool); !isCurrent {
		under := problem.New("former-protocol")
		if version != "" {
			under = problem.New("named-protocol", tree.Quoted(version))
		}
		r.warn("tested_at", "other-protocol", under, tree.Quoted(c.Protocol[0].Version))
	}
}

// checkAnnouncement checks that the parts of an announced change fit together.
func (o *object) checkAnnouncement(a *catalog.Announcement) {
	isPrice := o.isGiven("price") || o.isGiven("pricing") || o.isGiven("price_display")
	switch {
	case isPrice && o.isGiven("retire"):
		o.report(o.line, "announced-both", o.within)
	case !isPrice && !o.isGiven("retire") && len(o.known) > 0:
		o.report(o.line, "announced-nothing", o.within)
	case a.Successor != "" && !o.isGiven("retire"):
		o.report(o.lineOf("successor"), "successor-without-retire", o.within)
	case isPrice && o.isGiven("source"):
		o.report(o.lineOf("source"), "announced-source", o.within)
	}
	for _, name := range []string{"price_source", "price_quote", "price_checked_at"} {
		if o.isGiven("retire") && o.isGiven(name) {
			o.report(o.lineOf(name), "announced-price-field", o.label(name))
		}
	}
	o.checkQuote(a.PriceQuote, a.Pricing, a.Price, a.PriceDisplay)
}

// checkQuote checks the quotation of a price, of a tool or of an announced one.
func (o *object) checkQuote(quote string, pricing catalog.Pricing, price, display string) {
	quote = strings.Join(strings.Fields(quote), " ") // white space of every kind separates the digits of an amount
	v := o.find("price_quote")
	switch {
	case v != nil && v.IsEmpty() && v.Text != "": // white space; forms write fields without any
		o.warn("price_quote", "too-short", o.label("price_quote"), catalog.MinQuote, 0)
	case quote == "":
	case !o.isGiven("price_source"):
		o.report(o.lineOf("price_quote"), "quote-without-source", o.within)
	case !o.isDraft && !catalog.IsQuoted(quote, pricing, price, display):
		o.warn("price_quote", "quote-without-amount", o.within, tree.Quoted(price))
	}
}

// checkUsages checks the usages of a record against its category; nil if that is not known.
func (o *object) checkUsages(c *catalog.Category, usages []string) {
	for _, u := range usages {
		if c != nil && !c.HasUsage(u) {
			known := slugsOf(c.Usages, func(u catalog.Usage) string { return u.Slug })
			o.report(o.lineOf("usages"), "undeclared-usage", u, c.Slug, known)
		}
	}
}
