// Package evidence reads the pages that prices were taken from, and reports whether what a catalogue
// says still stands there.
//
// A page is read as a reader sees it: its visible text, in blocks, with the elements around them
// (page.go, sheet.go). Amounts are found in it with their currency and what they are paid for
// (amount.go), and each gets a standing: a price, perhaps one, or none, by the words around it
// (context.go) and the plan that it belongs to (plan.go). Judge compares them with what is recorded.
// When in doubt, a price is not confirmed: a wrong yes costs the trust that the word is there to
// earn, and a wrong no costs somebody a look.
package evidence

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"

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
	if shown := findAmounts(c.Display); len(shown) > 0 && shown[0].currency != "EUR" {
		return shown[0].price, true
	}
	if found := findAmounts(strings.Replace(c.Price, " €/", " € / ", 1)); len(found) == 1 {
		_, period, _ := strings.Cut(c.Price, " €/")
		return price{value: found[0].value, currency: "EUR", units: parseUnits(period)}, true
	}
	return p, false
}

// judgeAt looks for a claim on a page, and returns what it found and the text of the page. A page
// that sends its reader elsewhere is judged by where.
func judgeAt(c *Claim, document []byte, address string) (Result, []Found, string) {
	p, err := parsePage(document)
	if err != nil {
		return Unreadable, nil, ""
	}
	p.isDated = p.isDated || datedPath.MatchString(address) || byline.MatchString(p.text) || notice.MatchString(p.text)
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
	abroad     = regexp.MustCompile(`(?i)(?:^|[-_])(?:CA|AU|NZ|SG|HK|MX|TW)$`)
	dollarNote = regexp.MustCompile(`(?i)(?:prices?|prix|tarifs?|montants?|amounts?|preise?|beträge|dollars?)\b[^\n]{0,40}\b(?:AUD|CAD|NZD|SGD|HKD|MXN|TWD|austral\pL+|canad\pL+|kanad\pL+|new zealand|singapore|hong kong)\b`)
)

// datedPath matches addresses of articles.
var datedPath = regexp.MustCompile(`(?i)/(?:blog|news|actualites?|actus?|journal|presse?|changelog|release-notes|archives?|articles?|posts?|magazine|stories|aktuelles|(?:19|20)\d\d)/`)

// byline matches the line of an article with its day.
var byline = matcher(`^(?:publiée?|postée?|posted|published|veröffentlicht|mise? en ligne|rédigée?|écrit|written|par|by|von)\b.{0,60}\b(?:19|20)\d\d\b`)

// notice matches what pages say of themselves when their prices no longer hold.
var notice = matcher(`\b(?:(?:is|are|est|sont|ist|sind) (?:now )?(?:outdated|obsolete|obsolètes?|veraltet|périmée?s?)|shut(?:ting|s)? down|sunset(?:ting|ted)?|ferme(?:ra)? ses portes|cesse(?:ra)? (?:son|ses) activités?|stellt den betrieb ein|` +
	`(?:sign-?ups|subscriptions|abonnements|inscriptions) (?:are|is|sont) (?:now )?(?:closed|fermée?s?|clos)|wayback machine|(?:no longer|ne) (?:apply|s[’']appliquent plus)|gelten nicht mehr|(?:is|are|has been) (?:now )?(?:part of|called|known as|renamed|acquired|merged)|fait (?:désormais |maintenant )?partie de|(?:devient|est devenue?|s[’']appelle) |(?:heißt|gehört) jetzt|` +
	`(?:valid|valable|gültig|stand|en vigueur|effective)s?\b[^\n]{0,30}\b20(?:[01]\d|2[0-5]))\b`)

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
	if !ok {
		return Unreadable, nil
	}
	p.isOld = oldPage.MatchString(p.said())
	all := findAmounts(p.text)
	if p.isAbroad || dollarNote.MatchString(p.text) {
		for i, a := range all {
			if a.currency == "USD" && !strings.Contains(p.text[a.number:a.end], "US") {
				all[i].currency = "?"
			}
		}
	}
	for i := range all {
		if all[i].units == "" && len(all) <= maxAmounts {
			p.inherit(&all[i], all)
		}
	}
	if want.value == 0 {
		all = p.addFree(all)
	}
	if len(all) > maxAmounts {
		return Unreadable, all[:maxAmounts]
	}
	if len(all) == 0 {
		return p.judgeOffers(c, want), nil
	}
	return p.compare(c, want, all), all
}

// compare decides by the amounts of a page.
func (p *page) compare(c *Claim, want price, all []amount) Result {
	p.own = strings.Fields(strings.ToLower(c.Name + " " + c.Hint))
	standings := p.standings(c, all)
	scope, isNamed := make([]bool, len(all)), true
	for i := range scope {
		scope[i] = true
	}
	if c.Hint != "" {
		scope, isNamed = p.ofPlan(c.Name, c.Hint, all)
	}
	var s scores
	for i, a := range all {
		is := a.price == want || want.value == 0 && a.value == 0
		s.add(standings[i], is, scope[i], a.value == want.value && a.currency == want.currency, a.units == "" || a.units == ambiguous,
			a.currency == want.currency && a.value != 0)
	}
	switch {
	case c.Hint != "" && !isNamed && (s.elsewhere || s.doubtful || !s.hasAny):
		return Unreadable
	case c.Hint != "" && !isNamed:
		return Changed
	case (s.strong || s.weak && !s.hasStrong) && p.isClear(c, want, all, standings, scope):
		return Confirmed
	case s.strong:
		return Unreadable
	case s.weak, s.doubtful, s.unknownUnit, p.isHidden(want):
		return Unreadable
	case s.hasAny, s.refuted:
		return Changed
	}
	return Unreadable
}

// isClear reports whether one of the places with the price can be told apart from every other price for
// the same thing: something is said between them, or they are in other cells of a table.
func (p *page) isClear(c *Claim, want price, all []amount, standings []standing, scope []bool) bool {
	if !strings.Contains(want.units, "utilisateur") && want.value != 0 && perUser.MatchString(p.text) {
		return false
	}
	isAbout := c.Hint != "" || p.isAboutPrices()
	under, isNamed := make([]int, len(all)), make([]bool, len(all)) // which heading, and whether it has the name of the tool
	for i := range all {
		under[i] = p.heading(all[i].number)
		isNamed[i] = p.isNamed(under[i], c.Name)
	}
	for i, a := range all {
		if is := a.price == want || want.value == 0 && a.value == 0; !is || !scope[i] || standings[i] > weak || standings[i] == weak && !isAbout {
			continue
		}
		if c.Hint != "" && standings[i] == weak && p.isFeature(&a, c.Hint) {
			continue
		}
		isFirst := true // in its plan, or of those of the tool
		for j, b := range all {
			isOther := b.value != 0 && b.value != want.value && scope[j] && standings[j] <= weak
			isLike := b.units == want.units && b.currency == want.currency
			switch {
			case !isFirst || !isOther:
			case want.value == 0:
				isFirst = c.Hint == "" && under[i] != under[j]
			case isLike && c.Hint == "":
				isFirst = (isNamed[i] || !isNamed[j]) && (under[i] != under[j] || !p.isRenewal(&a, &b))
			case isLike:
				isFirst = j > i && !p.isRenewal(&a, &b)
			}
		}
		if isFirst && !slices.ContainsFunc(all, func(b amount) bool { return p.rivals(c, &a, &b) }) {
			return true
		}
	}
	return false
}

// renews matches what stands before the price that follows an offer.
var renews = matcher(`\b(?:renew\pL*|renouvel\pL*|verlänger\pL*|puis|ensuite|then|after\pL*|danach|später|regular\pL*|normale?ment)\b`)

// isRenewal reports whether an amount is what is paid after another one.
func (p *page) isRenewal(first, later *amount) bool {
	return renews.MatchString(p.text[max(first.end, later.start-60):max(first.end, later.start)])
}

// isFeature reports whether an amount is in an item of a list that says something else than the name of a plan.
func (p *page) isFeature(a *amount, plan string) bool {
	start, end := p.block(a.number)
	return p.around(p.at(a.number), atom.Li) >= 0 && p.around(p.at(a.number), headings...) < 0 &&
		!strings.Contains(planName(p.text[start:end]), planName(plan))
}

// isNamed reports whether a short element has the name of a tool in it.
func (p *page) isNamed(element int, name string) bool {
	return element >= 0 && p.elements[element].end-p.elements[element].start < 200 && strings.Contains(" "+planName(p.textOf(element))+" ", " "+planName(name)+" ")
}

var aboutPrices = matcher(`pric(?:e|ing)|tarif|\bprix\b|preis|kost|\bcosts?\b|coût|\bplans?\b|abonn|\babos?\b|subscri|\boffres?\b|formule|licen[cs]e|lizenz|\bbuy\b|ach(?:at|eter)|kauf|upgrade|premium|\bfree\b|gratuit|angebot|bestell|commande|order`)

// isAboutPrices reports whether a page says that it is about prices, or a short line of it does.
func (p *page) isAboutPrices() bool {
	if aboutPrices.MatchString(p.said()) {
		return true
	}
	for line := range strings.Lines(p.text) {
		if len(line) < 120 && aboutPrices.MatchString(line) {
			return true
		}
	}
	return false
}

// perUser matches notes that all prices of a page are for one user each.
var perUser = regexp.MustCompile(`(?im)^(?:\W*(?:all |tous les |toutes les |alle |nos |our |unsere )?(?:prix|tarifs?|prices?|pricing|preise)\b[^€$£\n]{0,60})?(?:par|per|pro|/) ?(?:utilisat\pL+|users?|seats?|sièges?|(?:be)?nutzer|members?|membres?|lizenz|personne?|collaborat\pL+)\b[^€$£\n]{0,40}$`)

// rivals reports whether two amounts are prices for the same thing and nothing tells which holds.
func (p *page) rivals(c *Claim, a, b *amount) bool {
	if a.value == b.value || a.currency != b.currency || b.value == 0 || p.elements[p.at(b.number)].role == struck {
		return false
	}
	first, second := a, b
	if b.start < a.start {
		first, second = b, a
	}
	start, end := p.block(a.start)
	if a.units != b.units && p.isPlainTalk(p.text[start:end]) {
		return false
	}
	if otherStart, _ := p.block(b.start); start == otherStart && p.around(p.at(a.number), atom.Label, atom.Li) == p.around(p.at(b.number), atom.Label, atom.Li) {
		label := strings.TrimRight(p.text[start:a.start], " :–—-(=")
		if first == b {
			label = strings.TrimRight(p.text[b.end:a.start], " :–—-(=")
		}
		label = label[strings.LastIndexAny(label, ".;,|·•")+1:]
		return c.Hint == "" || planName(label) != planName(c.Hint)
	}
	between := p.text[min(first.end, second.start):second.start]
	isSilent := !strings.ContainsFunc(between, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
	isSamePay := paidHow.FindString(p.text[a.number:a.end]) == paidHow.FindString(p.text[b.number:b.end])
	cell := p.around(p.at(a.number), atom.Td, atom.Th, atom.Dd)
	return a.units == b.units && isSilent && isSamePay && (cell < 0 || cell == p.around(p.at(b.number), atom.Td, atom.Th, atom.Dd))
}

var paidHow = regexp.MustCompile(`(?i)(?:billed|paid|charged|factur|pay[ée]|abgerechnet|zahlung).*`)

// scores says what was found of a price.
type scores struct {
	strong, weak, doubtful, refuted bool // the price itself, in its plan
	unknownUnit                     bool // its amount, without saying what for
	elsewhere                       bool // the price, in any plan
	hasStrong, hasAny               bool // another price, in its plan; on the page
}

func (s *scores) add(at standing, is, inScope, isValue, lacksUnit, isPrice bool) {
	s.elsewhere = s.elsewhere || is && at <= weak
	if isPrice && at <= weak {
		s.hasAny = true
	}
	if !inScope {
		return
	}
	switch {
	case is && at == strong:
		s.strong = true
	case is && at == weak:
		s.weak = true
	case is && at == doubtful:
		s.doubtful = true
	case is:
		s.refuted = true
	case isValue && lacksUnit && at < refuted:
		s.unknownUnit = true
	}
	s.hasStrong = s.hasStrong || isPrice && at == strong && !is
}

// standings returns what each amount is worth.
func (p *page) standings(c *Claim, all []amount) []standing {
	list := make([]standing, len(all))
	own := p.ownLabels(c.Name)
	for i := range all {
		before, behind := 0, len(p.text)
		if i > 0 {
			before = all[i-1].end
		}
		if i+1 < len(all) {
			behind = all[i+1].start
		}
		list[i] = p.standing(&all[i], before, behind)
		if list[i] <= weak && p.isOthers(&all[i], own) {
			list[i] = refuted
		}
	}
	return list
}

// ownLabels returns the cells of tables and the lower headings that have the name of a tool.
func (p *page) ownLabels(name string) (found []int) {
	for i := range p.elements {
		e := &p.elements[i]
		isLabel := e.tag == atom.Td || e.tag == atom.Th || e.tag != atom.H1 && slices.Contains(headings, e.tag)
		if isLabel && name != "" && e.end-e.start < 100 && planName(p.textOf(i)) == planName(name) {
			found = append(found, i)
		}
		if len(found) == 100 {
			break
		}
	}
	return found
}

// isOthers reports whether an amount is in a comparison with others: in a table that has the tool in
// another row or column, or under a heading beside one with its name.
func (p *page) isOthers(a *amount, own []int) bool {
	element := p.at(a.number)
	labels := p.labels(element)
	table, heading := p.around(element, atom.Table), p.heading(a.number)
	isCompared := slices.ContainsFunc(own, func(label int) bool {
		return table >= 0 && p.around(label, atom.Table) == table || heading >= 0 && p.elements[label].tag == p.elements[heading].tag
	})
	return isCompared && !slices.Contains(own, heading) && !slices.ContainsFunc(labels, func(l int) bool { return slices.Contains(own, l) })
}

// isHidden reports whether a price is in the text that nobody sees, as in the other half of a
// switch between months and years.
func (p *page) isHidden(want price) bool {
	return slices.ContainsFunc(findAmounts(p.hidden), func(a amount) bool {
		return a.value == want.value && a.currency == want.currency
	})
}

var (
	missing = regexp.MustCompile(`(?i)\b(?:404|410)\b|introuvable|not found|(?:can[’']?t|cannot|couldn[’']t|could not|unable to) (?:be )?f(?:i|ou)nd|ne trouv\pL+ pas|nicht finden|n[’']existe (?:pas|plus)|nicht gefunden|existiert nicht|a été (?:supprimée|déplacée)|(?:was|been) (?:removed|deleted)|` +
		`does(?:n[’']t| not) exist|no longer (?:available|exists)|nicht mehr (?:verfügbar|vorhanden)|n[’']est plus (?:disponible|en ligne)|page manquante|seite fehlt|` +
		`domains?\b.{0,60}\b(?:for sale|parked|expired|zu verkaufen|zum verkauf|steht zum)|domaine\b.{0,60}(?:à vendre|en vente|expiré|parqué)|(?:buy|acheter) (?:this|ce) domain|parked domain|\b(?:is|are) for sale$|lease[- ]to[- ]own`)
	freeLine = regexp.MustCompile(`(?i)^(?:gratuite?|free|kostenlos|gratis|entièrement gratuite?|100 ?% gratuite?|totally free|completely free|komplett kostenlos)(?: (?:pour toujours|à vie|forever|für immer|pour tous|for everyone|pour tout le monde|dauerhaft|et sans publicité))?[ .!*]*$`)
	freeTalk = regexp.MustCompile(`(?i)\b(?:est|reste|restera|sont|sera toujours) (?:entièrement |totalement |complètement |100 ?% |et restera |toujours )*gratuite?s?\b|\b(?:is|remains|stays) (?:completely |totally |entirely |always |100 ?% )*free\b|` +
		`\b(?:ist|bleibt) (?:komplett |dauerhaft |völlig |immer |vollständig )*kostenlos\b|\bfree forever\b|\bgratuite? pour toujours\b|\bfür immer kostenlos\b`)
	trial = regexp.MustCompile(`(?i)essai|b[eê]ta\b|during|pendant|while|tant que|solange|während|jusqu|until|trial|test|démo|demo|\d+ ?(?:jours|days|tage|mois|months|monate)|premier|first|erste|livraison|shipping|support|assistance|consultation|beratung|newsletter|webinaire|webinar|e-?book|` +
		`plus gratuit|no longer|nicht mehr|n[’']est (?:pas|plus)|isn[’']t|is not|ist nicht|was|était|war\b|ailleurs|concurren|téléchargement|download|mise à jour|update|inscription|sign ?up|(?:19|20)\d\d`)
)

// said returns what a page says that it is: its title and its first heading.
func (p *page) said() string {
	said := p.title
	for i := range p.elements {
		if p.elements[i].tag == atom.H1 {
			said += "\n" + shorten(p.textOf(i), 300)
		}
		if len(said) > 4000 {
			break
		}
	}
	return said
}

// isMissing reports whether a page says that there is none.
func (p *page) isMissing() bool {
	said := p.said()
	if len(p.text) < 1500 {
		said += "\n" + p.text[:min(len(p.text), 600)]
	}
	return missing.MatchString(said)
}

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
			if m := freeTalk.FindStringIndex(text); m != nil {
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
	// What was looked for comes first, and then what is of its plan.
	want, _ := c.want()
	mine := make([]bool, len(all))
	if c.Hint != "" {
		mine, _ = p.ofPlan(c.Name, c.Hint, all)
	}
	rank := map[int]int{} // by place
	for i, a := range all {
		switch {
		case a.price == want:
			rank[a.number] = -2
		case mine[i]:
			rank[a.number] = -1
		}
	}
	slices.SortStableFunc(all, func(a, b amount) int { return rank[a.number] - rank[b.number] })
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
		list = append(list, Found{Amount: strings.Join(strings.Fields(p.text[a.number:a.end]), " "), Text: shorten(text, 200)})
	}
	return list
}

// shorten returns the first characters of a text.
func shorten(s string, limit int) string {
	runes := []rune(s)
	if len(runes) <= limit {
		return s
	}
	return string(runes[:limit-1]) + "…"
}
