// Package evidence reads the pages that prices were taken from, and reports whether what a catalogue
// says still stands there.
//
// A page is read as a reader sees it: its visible text, in blocks, with the elements around them
// (page.go, sheet.go), its tables (table.go), and what it says of itself (self.go). Amounts are found in it with their currency and what they are paid for
// (amount.go), the plan that they belong to (plan.go) and a standing: a price, perhaps one, or none
// (context.go). A price is confirmed where the words beside it say nothing but that it is the price, and where nothing
// else in its plan, or on a page without one, could be the price: another amount of the same currency and period that is
// not that of another plan of the tool.
// When in doubt, it is not: a wrong yes costs the trust that the word is there to earn, and a wrong no costs
// somebody a look.
package evidence

import (
	"cmp"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html/atom"

	"palmares/internal/catalog"
)

// A Result is what became of looking at a source.
type Result string

const (
	Confirmed  Result = "confirmed"
	Changed    Result = "changed"
	Moved      Result = "moved"
	Gone       Result = "gone"
	Unreadable Result = "unreadable"
)

// Results are all results.
var Results = []Result{Confirmed, Changed, Moved, Gone, Unreadable}

// A Claim is what a catalogue says, to be looked for on a page.
type Claim struct {
	Name    string // of the tool
	Pricing catalog.Pricing
	Price   string // as in a record: 19 €/mois
	Display string // what pages show instead; "" for Price
	Hint    string // the name of the plan on the page; "" for any
	// Presence is set where only the page itself matters: obituaries, prices on request.
	Presence bool
}

// A Found is an amount on a page, and the words around it.
type Found struct {
	Amount string `json:"amount"`
	Text   string `json:"text"`
}

// want returns the price that is looked for.
func (c *Claim) want() (p price, ok bool) {
	shown, found := findAmounts(c.Display), findAmounts(strings.Replace(c.Price, " €/", " € / ", 1))
	switch {
	case len(shown) > 0 && (shown[0].currency != "EUR" || len(found) == 1 && shown[0].value == found[0].value && shown[0].units != ""):
		p = shown[0].price
	case len(found) == 1:
		p = price{value: found[0].value, currency: "EUR"}
	default:
		return p, false
	}
	if p.units == "" {
		_, period, _ := strings.Cut(c.Price, " €/")
		p.units = parseUnits(period)
		if period == "licence" {
			p.units = once
		}
	}
	return p, true
}

// judgeAt looks for a claim on a page, and returns what it found and the text of the page. A page
// that sends its reader elsewhere is judged by where.
func judgeAt(c *Claim, document []byte, address string) (Result, []Found, string) {
	p, err := parsePage(document)
	if err != nil {
		return Unreadable, nil, ""
	}
	p.isDated = p.isDated || datedPath.MatchString(address)
	if from, err := url.Parse(address); err == nil && p.refresh != "" {
		to, err := from.Parse(p.refresh)
		if err != nil || to.String() != from.String() {
			if err == nil && moved(from, to) {
				return Moved, nil, p.text
			}
			return Unreadable, nil, p.text
		}
	}
	result, amounts := p.judge(c)
	return result, p.sentences(c, amounts), p.text
}

// A dollar is another one on pages for some countries, or on those that say so.
var (
	abroad     = compile(`(?i)(?:^|[-_])(?:CA|AU|NZ|SG|HK|MX|TW)$`)
	dollarNote = compile(`(?i)\b(?:AUD|CAD|NZD|SGD|HKD|MXN|TWD|(?:austral|canad|kanad)\pL+ dollars?|dollars? (?:austral|canad|kanad)\pL+)\b`)
)

// maxAmounts is how many amounts a page may have: nobody could tell more of them apart.
const maxAmounts = 300

func (p *page) judge(c *Claim) (Result, []amount) {
	switch {
	case p.isMissing():
		return Gone, nil
	case c.Presence:
		return Confirmed, nil
	}
	want, ok := c.want()
	if !ok || want.currency == "?" {
		return Unreadable, nil
	}
	p.name, p.isFrom = c.Name, from.MatchString(c.Display)
	p.own = letters().FindAllString(strings.ToLower(c.Name+" "+c.Hint), -1)
	if c.Hint != "" {
		p.plan = func(label string) bool { return isPlan(label, c.Hint, c.Name) }
		p.hint = regexp.MustCompile(`(?im)(^|\PL)` + regexp.QuoteMeta(c.Hint) + `(\PL|$)`)
	}
	all := p.addBare(slices.DeleteFunc(findAmounts(p.text), p.isTorn))
	if want.value == 0 {
		all = p.addFree(all)
	}
	switch {
	case len(all) > maxAmounts:
		return Unreadable, all[:maxAmounts]
	case len(all) == 0:
		return p.judgeOffers(c, want), nil
	}
	if want.units == once {
		p.addOnce(all)
	}
	p.hasPlans = c.Hint == "" && len(all) < maxAmounts/3 && !severalThings.MatchString(p.said())
	p.complete(c, all)
	return p.compare(c, want, all), all
}

// forOnce matches what is said of things that are bought.
var forOnce = matcher(`\b(?:licen[cs]es?|\pL*lizenz|einmalig\pL*|einmalkauf|one-time|once|achat|paiement unique|kauf\pL*|buy|purchase|à vie|lifetime|in den warenkorb|add to (?:cart|basket)|ajouter au panier)\b`)

// addOnce makes amounts that do not say what they are paid for, or for a licence, the prices of things that are bought, if it is said beside them.
func (p *page) addOnce(all []amount) {
	const near = 200
	for i := range all {
		a := &all[i]
		if a.units == "utilisateur" || a.units == "" && forOnce.MatchString(p.headings(a.number)+"\n"+p.text[max(0, a.start-near/2):min(len(p.text), a.end+near)]) {
			a.units = once
		}
	}
}

// isTorn reports whether the number of an amount stands in another cell than its currency.
func (p *page) isTorn(a amount) bool {
	cell := p.around(p.at(a.number), atom.Td, atom.Th)
	return cell >= 0 && a.end > p.elements[cell].end && len(findAmounts(p.text[a.number:p.elements[cell].end])) == 0
}

// complete adds to the amounts what the page says around them.
func (p *page) complete(c *Claim, all []amount) {
	isAbroad := p.isAbroad || dollarNote.MatchString(p.text)
	for i := range all {
		a := &all[i]
		if isAbroad && a.currency == "USD" && !strings.Contains(p.text[a.number:a.end], "US") {
			a.currency = "?"
		}
		_, stop := p.heading(a.number) // what the next heading says is not of this one, nor is what the next cell says
		cell := p.around(p.at(a.number), atom.Td, atom.Th)
		if cell >= 0 {
			stop = min(stop, p.elements[cell].end)
		}
		if a.end >= stop {
			own, _ := amountAt(p.text[:stop], a.number)
			a.units, a.end = own.units, cmp.Or(own.end, stop)
		}
		if a.units == "" {
			p.inherit(a, all)
		}
	}
	for i := range all[1:] { // 20 € HT, soit 24 € TTC par mois
		if all[i].units == "" && p.isTaxed(&all[i], &all[i+1]) {
			all[i].units = all[i+1].units
		}
	}
	p.isBesides = !slices.ContainsFunc(all, func(a amount) bool { return a.units != "" && p.elements[p.at(a.number)].role == plain })
	own := p.ownLabels(c.Name)
	before := 0
	for i := range all {
		behind := len(p.text)
		if i+1 < len(all) {
			behind = all[i+1].start
		}
		all[i].standing = max(p.standing(&all[i], before, behind), p.comparison(&all[i], own))
		before = min(all[i].end, behind)
	}
	p.findList(all)
}

// findOnly makes the only price of a page or of its plan one that stands there plainly, if all that is said against it is that
// the words beside it are not known.
func (p *page) findOnly(all []amount) {
	var only *amount
	for i := range all {
		a := &all[i]
		switch {
		case a.standing >= aside, a.units == "", a.isApart && a.standing == talk, p.hint != nil && !a.isMine:
		case only == nil || only.price == a.price:
			if only == nil || a.isProse {
				only = a
			}
		default:
			return
		}
	}
	if only != nil && only.isProse && only.standing == talk {
		only.standing = plainly
	}
}

// compare decides by the amounts of a page: the price is confirmed where it stands by itself, in the part
// of the page that has the plan, and where nothing else there could be the price.
func (p *page) compare(c *Claim, want price, all []amount) Result {
	isNamed := p.markPlan(c.Hint, all)
	p.findOnly(all)
	var isFound, isDoubtful, isRefuted, hasPrice, isElsewhere bool
	for _, a := range all {
		is := a.price == want || want.value == 0 && a.value == 0
		isAmount := a.value == want.value && a.currency == want.currency && (a.units == "" || a.units == ambiguous)
		hasPrice = hasPrice || a.standing < refuted && a.currency == want.currency && a.value != 0
		isElsewhere = isElsewhere || is && a.standing < refuted
		switch {
		case !a.isMine:
		case is && a.standing == plainly:
			isDoubtful, isFound = true, isFound || !slices.ContainsFunc(all, func(b amount) bool { return p.isRival(c, &a, &b) })
		case is && a.standing == refuted:
			isRefuted = true
		case is, isAmount && a.standing < refuted:
			isDoubtful = true
		}
	}
	isOther := p.isOther(all) || p.isForEach(all) && !strings.Contains(want.units, "utilisateur") && want.value != 0
	switch {
	case c.Hint != "" && !isNamed && isElsewhere, isOther && isElsewhere:
		return Unreadable
	case isFound:
		return Confirmed
	case isDoubtful, p.isUnclear && isElsewhere, p.isHidden(want):
		return Unreadable
	case hasPrice, isRefuted:
		return Changed
	}
	return Unreadable
}

// isRival reports whether b could be the price instead of a.
func (p *page) isRival(c *Claim, a, b *amount) bool {
	switch {
	case !b.isMine, b.value == a.value, b.value == 0, b.currency != a.currency && a.value != 0, b.standing >= aside, (b.isApart || b.isWithdrawn && a.headings != b.headings) && b.standing != plainly && a.value != 0 && strings.Contains(p.text[min(a.end, b.end):max(a.start, b.start)], "\n"):
		return false
	case a.value == 0:
		first, _ := p.heading(a.number)
		second, _ := p.heading(b.number)
		return c.Hint != "" || first == second
	}
	isUnknown := b.units == "" || b.units == ambiguous
	isYear := isUnknown && a.units == "mois" && b.value == 12*a.value || isUnknown && a.units == "an" && a.value == 12*b.value
	if isYear || p.isFrom && b.value > a.value || isUnknown && p.isThing(a, b) {
		return false
	}
	return (b.units == a.units || isUnknown) && !p.isRemark(a, b, isUnknown) && !p.isTaxed(a, b) && (!b.isYearly || a.isYearly) && !p.arePlans(a, b)
}

// isRemark reports whether an amount only stands in a sentence of another section than a price, which does not name the tool and says
// nothing of prices, or, if it does not say what it is paid for, is some cents.
func (p *page) isRemark(a, b *amount, isUnknown bool) bool {
	const one = 10_000
	first, _ := p.heading(a.number)
	second, _ := p.heading(b.number)
	switch {
	case isUnknown && b.standing == talk && b.value < one && a.value >= one:
		return true
	case isUnknown && b.standing == talk && b.isRemark:
		return true
	}
	return (b.standing == talk || isUnknown && a.units != "") && first != second && !b.isNamed && (isUnknown || !b.isOfPrices)
}

// ofPrices matches sentences about prices.
var ofPrices = matcher(`\b(?:prix|tarifs?|prices?|pricing|preise?|abos?|abonnements?|subscriptions?|plans?|offres?|formules?|coût\pL*|costs?|kost\pL+|pay|paye\pL*|zahl\pL+|augment\pL+|rais\pL+|erhöh\pL+|now|désormais|jetzt|nouve\pL+|new|neue?\pL*)\b`)

// isThing reports whether an amount is that of another thing on the list of a table in which the tool is one.
func (p *page) isThing(a, b *amount) bool {
	isOwn := func(l int) bool {
		return slices.ContainsFunc(letters().FindAllString(strings.ToLower(p.textOf(l)), -1), func(w string) bool { return slices.Contains(p.own, w) })
	}
	first, second := p.at(a.number), p.at(b.number)
	return p.around(first, atom.Table) == p.around(second, atom.Table) && !p.isRow(first, second) &&
		slices.ContainsFunc(p.labels(first), isOwn) && !slices.ContainsFunc(p.labels(second), isOwn)
}

var tax = matcher(`\b(?:HT|TTC|TVA|VAT|tax|taxes|MwSt|USt|netto|brutto)\b`)

// isTaxed reports whether two amounts are one price with taxes and without.
func (p *page) isTaxed(a, b *amount) bool {
	low, high := min(a.value, b.value), max(a.value, b.value)
	_, end := p.block(max(a.end, b.end) - 1)
	between := p.text[min(a.start, b.start):end]
	if p.areCells(a, b) && p.isRow(p.at(a.number), p.at(b.number)) {
		between = ""
		for _, l := range p.labels(p.at(b.number)) {
			between += p.textOf(l) + "\n"
		}
		between = shorten(between, 70)
	}
	return high*100 >= low*105 && high*100 <= low*127 && len(between) < 80 && tax.MatchString(between)
}

// ownLabels returns the cells of tables and the lower headings that have the name of a tool.
func (p *page) ownLabels(name string) (found []int) {
	for i := range p.elements {
		e := &p.elements[i]
		isLabel := e.tag == atom.Td || e.tag == atom.Th || e.tag != atom.H1 && slices.Contains(headings, e.tag)
		if isLabel && e.role == plain && e.end-e.start < 100 && planName(p.textOf(i)) == planName(name) && len(found) < 100 {
			found = append(found, i)
		}
	}
	return found
}

// comparison returns what an amount is worth in a comparison with others: nothing in a table that has the tool in
// another row or column, and little under a heading beside one with its name.
func (p *page) comparison(a *amount, own []int) standing {
	element := p.at(a.number)
	table, labels := p.around(element, atom.Table), p.labels(element)
	heading, _ := p.heading(a.number)
	isOwn := func(l int) bool { return slices.Contains(own, l) || p.plan != nil && p.plan(p.textOf(l)) }
	isNamed := heading >= 0 && strings.Contains(" "+planName(p.textOf(heading))+" ", " "+planName(p.name)+" ")
	switch {
	case slices.Contains(own, heading), slices.ContainsFunc(labels, isOwn):
		return plainly
	case table >= 0 && slices.ContainsFunc(own, func(l int) bool { return p.around(l, atom.Table) == table }):
		return refuted
	case !isNamed && heading >= 0 && slices.ContainsFunc(own, func(l int) bool { return p.elements[l].tag == p.elements[heading].tag }):
		return talk
	}
	return plainly
}

// isHidden reports whether a price is in the text that nobody sees, as in the other half of a
// switch between months and years.
func (p *page) isHidden(want price) bool {
	return slices.ContainsFunc(findAmounts(p.hidden), func(a amount) bool {
		return a.value == want.value && a.currency == want.currency
	})
}

var (
	missing = compile(`(?i)\b(?:404|410)\b|introuvable|not found|(?:can[’']?t|cannot|couldn[’']t|could not|unable to) (?:be )?f(?:i|ou)nd|ne trouv\pL+ pas|nicht (?:ge)?f[iu]nden|n[’']existe (?:pas|plus)|existiert nicht|does(?:n[’']t| not) exist|` +
		`(?:was|been) (?:removed|deleted)|a été (?:supprimée|déplacée)|no longer (?:available|exists)|nicht mehr (?:verfügbar|vorhanden)|n[’']est plus (?:disponible|en ligne)|page manquante|seite fehlt|` +
		`\bdomain\pL*\b.{0,60}\b(?:for sale|parked|expired|zu verkaufen|zum verkauf|à vendre|en vente|expiré|parqué)|(?:buy|acheter) (?:this|ce) domain|parked domain|\b(?:is|are) for sale$|lease[- ]to[- ]own`)
	// ofPages matches sentences about a page or an address, and the number of an error.
	ofPages  = compile(`(?i)page|url|adresse?|link|lien|seite|site|domain|404|410|sale|lease`)
	freeLine = compile(`(?i)^(?:(?:prix|tarif|price|cost|preis|kosten)[ \x{a0}]?:? ?)?(?:gratuite?|free|kostenlos|gratis|entièrement gratuite?|100 ?% gratuite?|totally free|completely free|komplett kostenlos)(?:,? (?:pour toujours|à vie|forever|für immer|pour tous|for everyone|pour tout le monde|dauerhaft|et sans publicité))?[ .!*]*$`)
	freeTalk = compile(`(?i)\b(?:est|reste|restera|sont|sera toujours) (?:entièrement |totalement |complètement |100 ?% |et restera |toujours |une? \pL+ |libre et )*gratuite?s?\b|\best une? [^.\n]{0,50}\bgratuite?\b|\b(?:is|remains|stays) (?:completely |totally |entirely |always |100 ?% |an? )*free\b|` +
		`\b(?:ist|bleibt) (?:für alle \pL+ |komplett |dauerhaft |völlig |immer |vollständig )*kostenlos\b|\bfree forever\b|\bgratuite? pour toujours\b|\bfür immer kostenlos\b|\bne coûte rien\b|\bcosts nothing\b|\bkostet nichts\b`)
	trial = compile(`(?i)\bessai|b[eê]ta\b|during|pendant|while|tant que|solange|während|jusqu|until|trial|\btest|\bdémo|\bdemo|\d+ ?(?:jours|days|tage|mois|months|monate)|premier|first|erste|livraison|shipping|support|assistance|consultation|beratung|newsletter|webinaire|webinar|e-?book|` +
		`plus gratuit|no longer|nicht mehr|n[’']est (?:pas|plus)|isn[’']t|is not|ist nicht|[a-z] was\b|était|war\b|ailleurs|concurren|téléchargement|download|mise à jour|update|inscription|sign ?up|20\d\d`)
)

// addFree adds the places that say that something is free, as amounts of nothing.
func (p *page) addFree(all []amount) []amount {
	at := 0
	for line := range strings.Lines(p.text) {
		text := strings.TrimSpace(line)
		place := -1
		switch {
		case freeLine.MatchString(text):
			place = 0
		case !trial.MatchString(text):
			if m := freeTalk().FindStringIndex(text); m != nil {
				place = m[0]
			}
		}
		if place >= 0 {
			start := at + strings.Index(line, text) + place
			all = append(all, amount{price: price{currency: "EUR", units: "mois"}, start: start, number: start, end: at + len(strings.TrimRight(line, "\n"))})
		}
		at += len(line)
	}
	slices.SortStableFunc(all, func(a, b amount) int { return a.start - b.start })
	return all
}

// sentences returns the first amounts of a page with the words around them.
func (p *page) sentences(c *Claim, all []amount) (list []Found) {
	// What was looked for comes first, and what is of another plan says nothing.
	want, _ := c.want()
	all = slices.DeleteFunc(all, func(a amount) bool { return c.Hint != "" && !a.isMine })
	rank := func(a amount) int {
		if a.price == want {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(all, func(a, b amount) int { return rank(a) - rank(b) })
	for _, a := range all {
		if len(list) == 10 {
			break
		}
		start, end := p.block(a.number)
		_, last := p.block(max(a.number, a.end-1))
		text := strings.Join(strings.Fields(p.text[start:max(end, last)]), " ")
		if heading, _, _ := strings.Cut(p.headings(a.number), "\n"); heading != "" && len(text) < 60 {
			text = heading + "\u00a0: " + text
		}
		found := strings.Join(strings.Fields(p.text[a.number:a.end]), " ")
		if a.isBare {
			found += " " + a.currency
			for _, l := range slices.Backward(p.labels(p.at(a.number))) {
				text = shorten(strings.Join(strings.Fields(p.textOf(l)), " "), 60) + "\u00a0: " + text
			}
		}
		list = append(list, Found{Amount: found, Text: shorten(text, 200)})
	}
	return list
}

// shorten returns the first characters of a text.
func shorten(s string, limit int) string {
	runes := []rune(s[:min(len(s), 4*limit+4)])
	if len(runes) <= limit {
		return s
	}
	return string(runes[:limit-1]) + "…"
}
