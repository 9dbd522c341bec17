package evidence

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/net/html/atom"
)

// A standing says what an amount on a page is worth.
type standing int

const (
	strong   standing = iota // it stands where a price stands
	weak                     // it is a price if the page has no better one: in a sentence, or "from"
	doubtful                 // it may be a price, and only a person can tell
	refuted                  // it is not what the tool costs today
)

// matcher compiles an expression that ignores case, and in which \b is the end of a word with or without accents.
func matcher(expression string) *regexp.Regexp {
	return regexp.MustCompile(`(?im)` + strings.ReplaceAll(expression, `\b`, `(?:^|[^\pL\d]|$)`))
}

// What stands before an amount that is no price, and behind one.
var (
	leads = regexp.MustCompile(`(?i)(?:^|[^\pL\d])(?:au lieu d[e’']|instead of|statt|anstatt|anstelle von|was|avant|before|autrefois|auparavant|previously|formerly|früher|bisher|vorher|` +
		`ancien(?:ne)?(?:ment)?(?: prix| tarif)?|old price|prix public|prix conseillé|UVP|contre|vs\.?|versus|compared (?:to|with)|gegenüber|than|que|` +
		`économisez|épargnez|économie de|économies de|gagnez|save|saving|savings of|sparen(?: sie)?|spare|ersparnis|jusqu[’']à|up to|bis zu|` +
		`valeur|valeur de|worth|wert|im wert von|d[’']une valeur de|remise de|réduction de|rabais de|discount of|rabatt(?: von)?|bonus de|crédit de|credit of|` +
		`caution de|frais de|fee of|gebühr(?: von)?|supplément de|supplément|option|en option|add-on|extra|additional|zusätzlich|zzgl\.?|moins de|less than|under|unter|weniger als|` +
		`plus de|more than|over|über|mehr als|environ|env\.|about|around|roughly|approx\.?|approximately|circa|etwa|ca\.|budget de|concurren(?:t|ts|ce)|ailleurs|elsewhere|anderswo|d[’']ici|dès le .{1,20}|from .{1,12} on|` +
		`ab dem .{1,15}|à partir du .{1,20}|starting .{3,14} 20\d\d|passe(?:ra)? à|will be|wird|sera(?:it)?(?: de| à)?|would be|étudiants?|students?|studierende|education|éducation|` +
		`associations?|non-?profits?|enseignants?|teachers?)[ \n]*[:–—-]?[ \n]*$`)
	signs = regexp.MustCompile(`(?:^|[\s(])[+−-][ ]?$|[≈~±][ ]?$`)
	tails = regexp.MustCompile(`(?i)^[ \n]*(?:[(–—,-][ ]?)?(?:d[’']économies?|économisés?|de moins|de plus|de réduction|de remise|de rabais|off\b|saved|savings|d[’']avance|de crédits?|credits?\b|in credits|` +
		`guthaben|offerts?|günstiger|gespart|rabatt|chez\b|ailleurs|elsewhere|bei [A-ZÉ]|at [A-Z]|with competitor|en 20\d\d|in 20\d\d|im jahr 20\d\d|jusqu[’']en|jusqu[’']au|until|bis (?:zum|ende|20)|` +
		`pendant|durant|for (?:the first|your first|\d+|three|six|twelve)|für (?:die ersten|den ersten|\d+|drei|sechs)|les? (?:\d+ |trois |six )?premiers?|le premier|la première|first|` +
		`the first|(?:im|in den|die|den) ersten|supplémentaires?|extra|additional|zusätzlich|de frais|setup|par (?:dépassement)|puis\b|then\b|danach\b|avant\b|auparavant|previously|before\b|` +
		`pour les (?:étudiants|associations|enseignants)|for students|für studierende|dès le \d|à partir du|à compter du|from (?:january|february|march|april|may|june|july|august|september|october|november|december)|ab (?:dem )?\d)`)
	nexts = regexp.MustCompile(`(?i)^[ \n]*(?:à|to|auf|→|->|vers)[ \n]*[€$£]?[ ]?\d`)
	froms = regexp.MustCompile(`(?i)(?:^|[^\pL\d])(?:à partir de|dès|starts? at|starting (?:at|from)|from|ab)[ \n]*(?:seulement|only|nur)?[ \n]*$`)
)

// What a sentence says about another time, and about today.
var (
	past = matcher(`\b(?:était|étaient|coûtait|coutait|coûtaient|facturait|valait|passait|passée? de|passe de|passer de|augment\pL+|a baissé|baisse\pL*|used to|was|were|had been|went (?:up|from)|raised|increased|dropped|` +
		`war|waren|kostete|betrug|gestiegen|erhöht|stieg|lancée?s? à|launched at|à l[’']époque|back then|damals|historique|archiv\pL*|ancien(?:ne)?s?|legacy|grandfathered|payais|payions|paid|payé|bezahlte|zahlten|` +
		`je paie|j[’']ai|nous payons|i pay|we pay|ich zahle|wir zahlen)\b|\b(?:19|20)\d\d\b`)
	today = matcher(`\b(?:coûte|coûtent|revient|costs?|kostet|tarifs?|prix|prices?|pricing|preise?|abonnement|subscription|plan|offre|formule|licence|license|à partir de|dès|from|starting|ab|pour|for|für|est à|is)\b`)
)

// What the headings say of the amounts under them.
var (
	doubtfulHeading = matcher(`\b(?:europe|asia|asie|asien|africa|afrique|afrika|americas?|amérique|amerika)\b|\bvs\b|versus|concurren|competitor|compar[ae]|alternativ|wettbewerb|vergleich|faq\b|questions|fragen|add-?ons?\b|options?\b|suppléments?|zusatz|extras\b|` +
		`étudiant|student|studierende|education|éducation|\b(?:jusqu\pL*|until|till|bis|ermäßigt\pL*|réduite?s?|reduced|concessions?|jeunes?|youth|seniors?|under|unter|moins de)\b|\b\d+ (?:ans|years|jahre)\b|associat|non-?profit|charit|gemeinnützig|\bécoles?\b|\bschools?\b|\bschulen?\b|\b(?:works|integrat\pL+|with|avec|mit)\b|exemple|example|beispiel|simulat|calculat|partner|partenaire`)
	refutedHeading = matcher(`témoignage|\b(?:replies|comments|commentaires|réponses|antworten|kommentare|discussions?|diskussion)\b|temoignage|ils (?:en parlent|nous|témoignent)|(?:avis|paroles?) (?:de |des |d[’'])?(?:clients?|utilisat\pL+)|what (?:our )?(?:customers?|users?|people)|testimonial|kundenstimmen|das sagen|` +
		`historique|anciens? (?:tarifs?|prix)|archive|previous (?:prices|plans)|old prices|frühere|bisherige|legacy|nouveautés|changelog|actualités|news\b|communiqué|press`)
)

var (
	denial = matcher(`\bne\b|\bn[’']|\bpas\b|\bjamais\b|\bnot\b|n[’']t\b|\bnever\b|\bno longer\b|\bnicht\b|\bkeine?\b|\bnie(?:mals)?\b|\bj[’']|\b(?:je|my|mes|ich|mein\pL*)\b`)
	// supposed matches questions and examples.
	supposed = matcher(`\?[ ]*$|\b(?:exemple|example|e\.g|p\. ?ex|par ex|beispiel\pL*|z\. ?B|budget|supposons|suppose|imaginez|imagine|si vous|if you|wenn sie|contrairement|équivalente?|équivaut|equivalent|en moyenne|average|im schnitt|cannot|can[’']t|any ?more|réservée?s?|reserved|unlike|entgegen|exclusivement|exclusively|plan to|planned|prévoyons|prévue?s?|geplant|planen|bientôt|soon|demnächst|after launch|au lancement)\b`)
	year     = regexp.MustCompile(`\b(?:19|20)\d\d\b`)
	// otherLabel matches labels of rows, columns and terms with amounts of another time or for others.
	otherLabel = matcher(`\b(?:modules?|modul|socle|ancien\pL*|old|previous\pL*|avant|before|former\pL*|was|r[ée]gul\pL+|normal\pL*|habituel\pL*|usual\pL*|üblich\pL*|bisher\pL*|alte[rs]?|früher\pL*|prix public|conseillé|list|listenpreis|jusqu\pL*|until|bis|` +
		`économies?|savings?|remise|rabais|discount|rabatt|ersparnis|frais|fees?|setup|caution|deposit|valeur|value|wert|supplément\pL*|option\pL*|(?:19|20)\d\d)\b`)
	// oldPage matches titles of pages that are about other times or several tools.
	oldPage = matcher(`archiv|version (?:du|of|vom)\b|\bancien|historique|history|changelog|release notes|communiqué|press release|pressemitteilung|conditions (?:générales|d[’'])|terms (?:of|and)|\bCG[VU]\b|\bAGB\b|` +
		`\b(?:forums?|invoices?|factures?|rechnung|survey|sondage|umfrage|roadmap|affiliat\pL+|affiliés?|parrainage|careers?|carrières?|recrut\pL+|karriere|in the media|dans les médias|presse?|human|humain|just a moment|captcha)\b|\bcommunity\b|\bcommunauté\b|\bvs\b|versus|alternatives? (?:à|to|zu)\b|concurren|competitor|discontinued|shut(?:ting)? down|end of life|eingestellt|ferme(?:ture)? (?:ses|du|de)|offre d[’']emploi|\bjobs?\b|stellen|webinar|podcast|` +
		`étude de cas|case stud|newsletter|interview|20[01]\d|202[0-4]`)
)

var headings = []atom.Atom{atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6}

// standing returns what an amount is worth. before and behind are the ends of the amount before it
// and the start of the one behind it.
func (p *page) standing(a *amount, before, behind int) standing {
	element := p.at(a.number)
	start, _ := p.block(a.number)
	_, end := p.block(max(a.number, a.end-1))
	switch p.elements[element].role {
	case struck, quote:
		return refuted
	case margin, folded:
		return doubtful
	}
	lead := p.text[max(before, start, a.start-60):a.start]
	if strings.TrimSpace(lead) == "" && before < start { // what introduces it may be a block of its own
		previous, _ := p.block(max(0, start-1))
		if start-previous < 40 {
			lead = p.text[max(before, previous):a.start]
		}
	}
	if introduces, _ := p.block(min(behind, len(p.text))); behind < len(p.text) && introduces > end {
		behind = introduces // what stands before the next amount in its block is about that one
	}
	tail := p.text[a.end:max(a.end, min(len(p.text), behind, end+40, a.end+60))]
	switch {
	case leads.MatchString(lead) && !froms.MatchString(lead), signs.MatchString(lead), tails.MatchString(tail), p.isQuoted(start, a.number, end):
		return refuted
	case nexts.MatchString(p.text[a.end:min(len(p.text), a.end+20)]):
		return refuted
	case a.isRange, p.isDated:
		return doubtful
	}
	heading := p.headings(a.number)
	labels := ""
	for _, l := range p.labels(element) {
		labels += p.textOf(l) + "\n"
	}
	if label, isLabel := strings.CutSuffix(strings.TrimSpace(lead), ":"); isLabel {
		labels += label[strings.LastIndexAny(label, ".;,|·•(")+1:]
	}
	switch {
	case refutedHeading.MatchString(heading), otherLabel.MatchString(labels):
		return refuted
	case doubtfulHeading.MatchString(heading), doubtfulHeading.MatchString(labels), year.MatchString(heading), p.isOld:
		return doubtful
	case a.value == 0 && trial.MatchString(heading+labels):
		return doubtful
	}
	return p.inSentence(a, lead, start, end)
}

// inSentence decides about an amount by the block that it is in.
func (p *page) inSentence(a *amount, lead string, start, end int) standing {
	const far = 1000 // what is farther away is about something else
	start, end = max(start, a.start-far), min(end, max(a.end, a.start)+far)
	block := p.text[start:end]
	before, behind := p.text[start:a.start], p.text[min(a.end, end):end]
	if i := strings.LastIndex(before, ". "); i >= 0 {
		before = before[i+2:]
	}
	if i := strings.Index(behind, ". "); i >= 0 {
		behind = behind[:i]
	}
	rest := p.text[start:a.start] + p.text[min(a.end, end):end]
	count := len(strings.Fields(rest))
	switch {
	case count > 5 && past.MatchString(rest), denial.MatchString(before + " " + behind):
		return refuted
	case count > 12 && !today.MatchString(block), year.MatchString(before), supposed.MatchString(before + behind), charges.MatchString(lead), p.isWithdrawn(a), p.isEnd(a, start):
		return doubtful
	case froms.MatchString(lead), !p.isPlainTalk(rest):
		return weak
	}
	return strong
}

// charges matches what introduces the price of somebody else.
var charges = matcher(`\b(?:charges|asks|verlangt|berechnet|facture|demande)[ \n:]*$`)

// withdrawn matches what cards say of plans that nobody can buy.
var withdrawn = matcher(`\b(?:sold out|épuisée?|ausverkauft|vergriffen|coming soon|bientôt|demnächst|wait ?list|liste d[’']attente|warteliste|n[’']est plus|no longer|nicht mehr|discontinued|neukunden|bestandskunden|(?:new|existing) customers|(?:nouveaux|anciens) clients|aktion|contrats? (?:signés?|conclus?)|contracts? (?:signed|concluded)|unavailable|indisponible|nicht verfügbar)\b`)

// isWithdrawn reports whether the part of the page that has no other amount than one, or what stands below it as far as
// the next heading, says that it cannot be bought by everybody.
func (p *page) isWithdrawn(a *amount) bool {
	card, last := "", -1
	for e := p.at(a.number); e >= 0; e = p.elements[e].parent {
		text := p.textOf(e)
		if len(text) == last {
			continue
		}
		last = len(text)
		if len(text) > 600 || len(findAmounts(text)) > 1 || p.countHeadings(e) > 1 {
			break
		}
		card = text
	}
	const near = 300
	note := p.text[min(len(p.text), a.end):min(len(p.text), a.end+near)]
	for i := p.at(a.number); i < len(p.elements) && p.elements[i].start < a.end+near; i++ {
		if start := p.elements[i].start; start >= a.end && slices.Contains(headings, p.elements[i].tag) {
			note = p.text[min(len(p.text), a.end):start]
			break
		}
	}
	return withdrawn.MatchString(card) || withdrawn.MatchString(note)
}

// countHeadings returns how many headings an element has, or 2 if it has more or is large.
func (p *page) countHeadings(outer int) (n int) {
	for i := outer; i < len(p.elements) && p.elements[i].start < p.elements[outer].end && n < 2; i++ {
		if i > outer+200 {
			return 2
		}
		if slices.Contains(headings, p.elements[i].tag) {
			n++
		}
	}
	return n
}

// isEnd reports whether an amount may be the end of one whose first figures are in a block of their own, outside of tables.
func (p *page) isEnd(a *amount, start int) bool {
	previous, end := p.block(max(0, start-1))
	digits := p.text[previous:min(end, start)]
	return start == a.number && digits != "" && strings.Trim(digits, "0123456789.,") == "" && p.around(p.at(a.number), atom.Td, atom.Th) < 0
}

// isPlainTalk reports whether the words beside an amount say nothing but that it is the price.
func (p *page) isPlainTalk(rest string) bool {
	for w := range strings.FieldsFuncSeq(strings.ToLower(rest), func(r rune) bool { return !unicode.IsLetter(r) }) {
		if _, isUnit := unitWords[w]; !isUnit && !slices.Contains(plainWords, w) && !slices.Contains(p.own, w) {
			return false
		}
	}
	return true
}

var plainWords = strings.Fields("prix tarif tarifs price prices pricing preis preise seulement only nur just ou or oder soit ttc ht hors taxe taxes tax tva vat mwst ust inkl zzgl excl incl incluse comprise " +
	"netto brutto plus par per pro facturé facturée facturés billed paid payé payable abgerechnet bei jährlicher monatlicher zahlung sans engagement no commitment abonnement subscription plan offre formule " +
	"coûte costs cost kostet cancel anytime any time résiliable à tout moment kündbar jederzeit aujourd hui now today jetzt heute maintenant pour for für toujours forever et and und de of un une a an the le la les l d " +
	"eur usd gbp us all everything tout compris inclus included it is est")

// isQuoted reports whether a place of a block is between quotation marks, with other words.
func (p *page) isQuoted(start, at, end int) bool {
	for _, marks := range []string{"«»", "“”", "„“", "\"\""} {
		pair := []rune(marks)
		opened := strings.LastIndex(p.text[start:at], string(pair[0]))
		if opened < 0 || strings.Contains(p.text[start+opened+len(string(pair[0])):at], string(pair[1])) {
			continue
		}
		closed := strings.Index(p.text[at:end], string(pair[1]))
		if closed >= 0 && len(strings.Fields(p.text[start+opened:at+closed])) > 4 {
			return true
		}
	}
	return false
}

// headings returns the headings that a place is under: the last one before it, and the last one of
// each higher level before that.
func (p *page) headings(at int) string {
	var found []string
	level := atom.Atom(0)
	for i := len(p.elements) - 1; i > 0; i-- {
		e := &p.elements[i]
		if e.start > at || !slices.Contains(headings, e.tag) || at < e.end {
			continue
		}
		if level == 0 || slices.Index(headings, e.tag) < slices.Index(headings, level) {
			level = e.tag
			if e.tag != atom.H1 {
				found = append(found, p.textOf(i))
			}
		}
	}
	return strings.Join(found, "\n")
}

// heading returns the last heading before a place, or -1.
func (p *page) heading(at int) int {
	for i := len(p.elements) - 1; i > 0; i-- {
		if e := &p.elements[i]; e.end <= at && slices.Contains(headings, e.tag) {
			return i
		}
	}
	return -1
}

// inherit gives an amount that does not say what it is paid for the unit that its surroundings
// say: its row and column, its label, the nearest part of the page that says one and only one.
func (p *page) inherit(a *amount, all []amount) {
	element := p.at(a.number)
	start, end := p.block(a.number)
	if units := unitsIn(p.text[start:a.start] + " " + p.text[min(a.end, end):end]); units != "" {
		a.units = units
		return
	}
	for _, cell := range p.labels(element) {
		if units := unitsIn(p.textOf(cell)); units != "" {
			a.units = units
			return
		}
	}
	const levels = 12
	for e, n := p.elements[element].parent, 0; e >= 0 && n < levels; e, n = p.elements[e].parent, n+1 {
		text, isLong := p.withoutPrices(e, all)
		if isLong {
			return
		}
		if units := unitsIn(text); units != "" {
			a.units = strings.TrimPrefix(units, ambiguous)
			return
		}
	}
}

// ambiguous stands for more than one unit of time.
const ambiguous = "?"

// labelWords are what a block about the unit of prices begins with or is.
var labelWords = regexp.MustCompile(`(?i)\b(?:prix|tarifs?|prices?|pricing|preise?|abonnements?|subscriptions?|facturation|paiements?|payments?|zahlung|billing|billed|facturé|plans?|offres?|formules?|pro|par|per|/)[ ]?\b|^(?:mensuel|monthly|monatlich|annuel|yearly|jährlich|annual)\pL*(?:[^\pL].*)?$`)

var perWhat = regexp.MustCompile(`(?:par|per|pro|/)[ ]?(\pL+)`)

// unitsIn returns the unit of time that a text says, with the user if it says so; ambiguous if it says
// two, "" if it says none.
func unitsIn(text string) string {
	found := map[string]bool{}
	for line := range strings.Lines(strings.ToLower(text)) {
		line = strings.TrimSpace(line)
		if !labelWords.MatchString(line) {
			continue
		}
		if m := perWhat.FindAllStringSubmatch(line, -1); len(m) > 1 && slices.ContainsFunc(m, func(m []string) bool { return unitWords[m[1]] == "" }) {
			return ambiguous
		}
		for _, w := range strings.FieldsFunc(line, func(r rune) bool { return !unicode.IsLetter(r) && r != '.' }) {
			switch unit := unitWords[strings.TrimSuffix(w, ".")]; {
			case isTime(unit), unit == once:
				found[unit] = true
			case unit == "utilisateur" && (strings.Contains(line, "par "+w) || strings.Contains(line, "per "+w) || strings.Contains(line, "pro "+w) || strings.Contains(line, "/"+w) || strings.Contains(line, "/ "+w)):
				found[unit] = true
			}
		}
	}
	isOne := len(slices.DeleteFunc(append(slices.Clone(times), once), func(t string) bool { return !found[t] })) == 1
	switch {
	case isOne:
		return joinUnits(found)
	case len(found) > 1:
		return ambiguous
	}
	return ""
}

// withoutPrices returns the short blocks of an element that hold no amount.
func (p *page) withoutPrices(element int, all []amount) (text string, isLong bool) {
	e := &p.elements[element]
	if e.end-e.start > 8000 {
		return "", true
	}
	var b strings.Builder
	at, next := e.start, 0
	for line := range strings.Lines(p.text[e.start:e.end]) {
		for next < len(all) && all[next].end <= at {
			next++
		}
		if holds := next < len(all) && all[next].start < at+len(line); !holds && len(line) < 80 {
			b.WriteString(line)
		}
		at += len(line)
	}
	return b.String(), false
}

// labels returns the elements that label an element: the heads of its column and of its row, the
// caption of its table, the term of its definition.
func (p *page) labels(element int) (found []int) {
	cell := p.around(element, atom.Td, atom.Th)
	if cell < 0 {
		if d := p.around(element, atom.Dd); d >= 0 {
			for i := d - 1; i > p.elements[d].parent; i-- {
				if p.elements[i].tag == atom.Dt {
					return []int{i}
				}
			}
		}
		return nil
	}
	table := p.around(cell, atom.Table)
	row := p.around(cell, atom.Tr)
	if table < 0 || row < 0 {
		return nil
	}
	if known, ok := p.labelled[cell]; ok {
		return known
	}
	head := -1
	for _, i := range p.cells {
		e := &p.elements[i]
		in := p.around(i, atom.Tr)
		switch {
		case !p.isInside(i, table):
		case e.tag == atom.Caption:
			found = append(found, i)
		case head < 0, in == head:
			head = in
			if e.column == p.elements[cell].column && i != cell && in != row {
				found = append(found, i)
			}
		}
		if e.tag != atom.Caption && in == row && e.column == 0 && i != cell {
			found = append(found, i)
		}
	}
	p.labelled[cell] = found
	return found
}
