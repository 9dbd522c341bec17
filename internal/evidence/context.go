package evidence

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html/atom"
)

// A standing says what an amount on a page is worth.
type standing int

const (
	plainly standing = iota // it stands where a price stands, and nothing else is said of it
	talk                    // it may be the price, and only a person can tell
	aside                   // beside the matter of the page
	refuted                 // it is not what the tool costs today
)

// matcher compiles an expression that ignores case, and in which \b is the end of a word with or without accents.
func matcher(expression string) pattern {
	return compile(`(?im)` + strings.ReplaceAll(expression, `\b`, `(?:^|[^\pL\d]|$)`))
}

// A pattern is a regular expression that is compiled when it is first used: all of them take longer than
// everything else that a command does before it starts.
type pattern func() *regexp.Regexp

func compile(expression string) pattern {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

func (p pattern) MatchString(s string) bool { return p().MatchString(s) }

var headings = []atom.Atom{atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6}

var (
	// instead matches what stands before an amount that is no longer paid, or is not to be paid.
	instead = matcher(`\b(?:au lieu d[e’']|instead of|statt|was|avant|before|früher|bisher|économi\pL+(?: de)?|save|sav(?:e|ing)s?(?: of)?|sparen(?: sie)?|ersparnis)[ \n:]*$|(?:^|dont|of which|davon|darin)[ ]?(?:\d+ ?% )?(?:TVA|VAT|MwSt\.?|USt\.?)(?: \(?\d+ ?%\)?)?[ \n:]*$|(?:^|[^\pL\d])[≈~±+−][ ]?$`)
	// insteadOf matches it behind the price that replaces it, and from what stands before the lowest of several prices.
	insteadOf = matcher(`\b(?:au lieu d[e’']|instead of|statt)[ ]*$`)
	plusTax   = matcher(`\b(?:plus|zzgl\.?|zuzüglich|\+) (?:VAT|tax|taxes|TVA|MwSt|USt)\b`)
	from      = matcher(`\b(?:à partir d[e’']|dès|from|start(?:s|ing)? (?:at|from)|ab)[ \n]*(?:$|\d)`)
	// extra matches labels and headings of what is paid besides.
	extra = matcher(`\b(?:add-?ons?|options?|optionn?el\pL*|suppl[ée]ment\pL*|extras?|zusatz\pL*|zusätzlich\pL*|weitere[rs]?|additional|modules?|frais|fees?|setup|support|assistance|maintenance|hébergement|hosting|stockage|storage|formation|training|schulung|onboarding|migration|crédits?|credits?|(?:stamm|grund)?[ck]apital)\b`)
	// audiences matches names of plans that are for some people only.
	audience  = `étudiant\pL*|students?|studierende|studenten|education|éducation|enseignants?|teachers?|campus|jeunes?|youth|seniors?|non-?profits?|gemeinnützig\pL*|réduite?s?|reduced|ermäßigt\pL*`
	audiences = matcher(`\b(?:` + audience + `)\b`)
	// apart matches what is said of a price beside that of the tool: one for some people, for the beginning, or of somebody else.
	apart = matcher(`\b(?:` + audience + `|écoles?|schools?|schulen?|associat\pL+|charit\pL+|vereine?|(?:anciens|existing|bestehende|current|new) (?:abonnés|clients|customers|subscribers|users|kunden)|bestandskunden|(?:first|premi\pL+|erste\pL*) (?:\pL+ )?(?:months?|mois|monate?|years?|année|jahr|weeks?|semaines?|wochen?)|concurren\pL+|compet\pL+|wettbewerb\pL*|others?|autres?|andere\pL*|elsewhere|ailleurs|au-delà|supplément\pL*|additional|further|extra|weitere\pL*|zusätzlich\pL*|einmalig\pL*|one-off|one-time|setup|einrichtung\pL*|mise en service|caution|deposit|kaution|gutschein|bon d[’']achat|gift card|voucher|durchschnitt\pL*|average|moyenne|exemples?|examples?|beispiel\pL*|vendue?s?|sold|verkauft|zurück|refund\pL*|previously|zuvor|auparavant|früher|budget|turnover|revenue|umsatz|chiffre d[’']affaires|(?:ab|from|over|more than|plus de|mehr als) \d[\d .,]* \pL+)\b`)
	// others matches labels and headings of what is not the tool, or not for everybody, or not of today.
	others = matcher(`\b(?:(?:for|pour(?: les)?|für) (?:schools?|écoles?|schulen?|associations?|charities)|vs|versus|concurren\pL+|compet\pL+|alternativ\pL+|wettbewerb\pL*|` +
		audience + `|` +
		`anciens?|anciennes?|old|retired|previous\pL*|former\pL*|regular (?:price|rate)s?|regulär\pL*|régulier\pL*|normal\pL*|usual\pL*|archives?|legacy|historique|jusqu\pL*|until|up to|bis|average|(?:prix|tarif|en) moyenn?e?|durchschnitt\pL*|market|marché|markt|donat\pL+|dons?|spenden?|soutenir|sponsor\pL*|cashback|rent|rental|mieten?|louer|gagne\pL*|earn\pL*|(?:invoice|facture|rechnung) (?:n[°or]|#|\d)\S*|revendeur\pL*|resellers?|others?|autres?|andere\pL*|ailleurs|elsewhere|budget|promo\pL*|launch|lancement|exemples?|examples?|beispiel\pL*|partners?|partenaires?|témoignages?|testimonials?|` + otherYear() + `)\b`)
	// quantity matches how much of something there is in a plan, and the fee that is its price.
	quantity = matcher(`^\W*(?:frais|fees?)\W*$|\b(?:für jeden?|für alle|pour (?:toutes|tous) les|pour chaque|for every|for each|for all) \pL+|\b(?:subscription|membership|monthly|annual|yearly|plan|licen[cs]e) fees?\b|\bfrais (?:d[’']abonnement|mensuels|annuels)\b|\b(?:up to|jusqu[’']à|bis(?: zu)?) (?:\d[\d .,]*|\pL+) \pL+|\b(?:existing|current) (?:customers|subscribers|users)[^.\n]* keep\b|\b(?:up to|jusqu[’']à|bis(?: zu)?) \d[\d .,k]*(?: \pL+|\)?$)|\b(?:alle[nr]?|tous les|all) modul\pL*|\b\d[\d .,]* [GMT][Bo] \pL+`)
	// withdrawn matches what cards say of plans that not everybody can buy.
	withdrawn = matcher(`\b(?:for|during|pendant|durant|in|während)(?: \pL+){0,2} (?:first|premi\pL+|erste\pL*)\b|\b(?:first|premi\pL+|erste\pL*) [^.\n]{0,20}\b(?:only|seulement|uniquement)\b|\b(?:sold out|épuisée?|ausverkauft|vergriffen|coming (?:soon|in)|bientôt|demnächst|wait ?list|liste d[’']attente|warteliste|n[’']est plus|no longer|nicht mehr|discontinued|neukunden|bestandskunden|(?:new|existing) (?:customers|subscribers|users|members|clients)|(?:nouveaux|anciens) (?:clients|abonnés)|réservée?s? (?:aux?|à nos)|fermée?s? (?:aux?|à)|closed to|geschlossen für|reserved for|(?:kunden|mitgliedern|nutzern|abonnenten) vorbehalten|supprim\pL+|abgeschafft|(?:was|been|were) removed|retirée?s?|retired|withdrawn|eingestellt|valables? (?:pour|jusqu\pL*|avant)|valid (?:until|through|for (?:\d|new|first))|gültig bis|aktion|contrats? (?:signés?|conclus?)|contracts? (?:signed|concluded)|terminée?s?|a pris fin|ended|expired?|expirée?s?|abgelaufen|beendet|unavailable|indisponible|nicht verfügbar)\b`)

	sentenceStart = compile(`[.!…] |\b(?i:puis|ensuite|then|danach|dann|anschließend|after that,|après cela,|(?:after|après|nach|à l[’']issue de)[^,.:]{0,30}(?:trial|essai|test\pL*|probe\pL*)[,:]?) `)
	sentenceEnd   = compile(`[.!…] \P{L}*\p{Lu}| (?i:after|après|nach)[^,.:]{0,30}(?i:trial|essai|test\pL*|probe\pL*)`)
	sentenceStop  = compile(`(?:[.!?…] |\n)\P{L}*\p{Lu}`)
	asked         = compile(`(?i)^.?[^.!?…\n]*(?:\?|[.!…] \W*(?:c[’']est faux|(?:that is|that[’']s) (?:wrong|false)|das ist falsch|das stimmt nicht|stimmt nicht))`)
	freeFor       = matcher(`\b(?:for|pendant|für|durant) (?:\d+|\pL+) (?:days?|jours?|tage?|weeks?|semaines?|wochen|months?|mois|monate?)\b`)
	// harmless matches what behind a price says nothing of it.
	harmless pattern = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(quantity().String() + `|(?i) ?(?:et |and |und )?(?:par|per|pro|je) (?:` + firm + `)(?:\PL|$)|(?i) (?:with|avec|mit) (?:an? |une? |eine[mr]? )?(?:free )?\d+[- ]?\pL+ (?:free )?(?:trial|d[’']essai|testphase)`)
	})
	// before matches the old price in front of the one that replaces it.
	before = compile(`(?i)^\W*(?:statt|au lieu d[e’']|instead of|was) ?[€$£]? ?[\d.,]+ ?(?:€|\$|£|EUR|Euro)?\W*`)
	// included matches how much a price is for: for one workspace.
	included = compile(`(?i)^ (?:pour|for|für) (?:up to |jusqu[’']à |bis zu )?(?:une?|one|a|an|eine?n?|\d[\d .,]*|deux|trois|quatre|cinq|dix|cent|two|three|four|five|ten|zwei|drei|vier|fünf|zehn) (\pL+)(?: \pL+){0,3}[.]?$`)
	says     = matcher(`\b(?:coût\pL+|costs?|kost\pL+|is|est|ist|was|worth|add|ajoutez|get|save|pay\pL*|paie\pL*|zahl\pL*|erh[aä]lt\pL*|bekomm\pL*|receiv\pL*|reçoi\pL*|recev\pL*|earn\pL*|gagn\pL*|verdien\pL*)\b`)
	negation = matcher(`\b(?:not|never|cannot|can[’']t|nicht|nie|kein\pL*|ne|n[’']\pL+|pas|jamais)\b`)
	// yearly matches what is said of prices by the month that are paid by the year.
	yearly = matcher(`\b(?:annuel\pL*|à l[’']année|par an|annual\pL*|yearly|jährlich\pL*|im jahr)\b`)
	// condition matches what makes the price in a sentence one of some time, of some people or of a part.
	condition = matcher(`\b(?:puis|ensuite|then|danach|dann|pendant|during|while|first|premi\pL+|ersten?|jusqu\pL*|until|bis|(?:par|per|pro|/) ?(?:utilis\pL+|users?|seats?|sièges?|postes?|membres?|members?|nutzer|personn?e?|agents?|sites?|proje[ck]?ts?|tranche|filleul)|each|chacune?|jeweils?|minimum|mindestens|` +
		`if|si|wenn|falls|on top|unless|sauf|except|otherwise|sinon|sonst|but|mais|aber|price|prix|tarif|preis|offers?|offres?|angebot|deal|code|fermée?s?|closed|geschlossen|en complément|in addition|en plus|réservée?s?|reserved|only for|nur für|au lieu|instead|statt|économi\pL+|sav(?:e|es|ing|ings)|sparen|selon|depending|je nach|était|was|war|(?:ne|not|nicht|plus) \pL+|concurren\pL+|confrères?|compet\pL+|wettbewerb\pL*|anciens?|anciennes?|old|previous\pL*|former\pL*|legacy|regular\pL*|normal\pL*|others?|autres?|andere\pL*|` + audience + `|` + otherYear() + `)\b`)
)

// otherYear returns an expression that matches years but this one.
func otherYear() string {
	now := time.Now().Format("2006")
	var years []string
	for i, digit := range now {
		others := strings.ReplaceAll("0123456789", string(digit), "")
		if i < 2 {
			continue
		}
		years = append(years, now[:i]+"["+others+"]"+strings.Repeat(`\d`, 3-i))
	}
	return `19\d\d|` + strings.Join(years, "|")
}

// Surroundings are the words that are said of an amount.
type surroundings struct {
	lead    string // right before it
	labels  string // its headings, the heads of its row and column, the lead
	nearest string // those of them that are of this amount alone
	// The parts of its sentence: before it, behind it, and the rest, which says what is in the price.
	subject, object, tail string
	beside                string // on either side of it, as far as the amounts before and behind it
	note                  string // that an asterisk refers to
	isCondition           bool   // the block before it introduces it with more than its name
	isOdd                 bool   // its row is not about prices
}

// near is how far what is said of an amount is from it.
const near = 300

// standing returns what an amount is worth, given the end of the amount before it and the start of the one behind it.
func (p *page) standing(a *amount, before, behind int) standing {
	element := p.at(a.number)
	s := p.surroundings(a, before, behind)
	switch role := p.elements[element].role; {
	case role == struck, role == quote, instead.MatchString(s.lead):
		return refuted
	case role == margin && !p.isInAside(element):
		return aside
	}
	start, _ := p.block(a.number)
	_, end := p.block(max(a.number, a.end-1))
	said := s.subject + " " + s.object
	sentence := p.text[max(start, a.start-near):max(a.end, min(end, a.end+near))]
	words := letters().FindAllString(strings.ToLower(sentence), -1)
	a.isNamed = slices.ContainsFunc(words, func(w string) bool { return slices.Contains(p.own, w) })
	a.isOfPrices = ofPrices.MatchString(sentence)
	a.isRemark = !a.isNamed && !a.isOfPrices && len(words) > 3
	a.isWithdrawn = withdrawn.MatchString(s.beside)
	a.isApart = apart.MatchString(s.labels + "\n" + said + "\n" + s.tail)
	isTrial := func() bool {
		_, next := p.heading(a.number)
		return trial.MatchString(s.labels) || freeFor.MatchString(p.text[a.number:max(a.end, min(next, a.end+near))])
	}
	switch {
	case extra.MatchString(s.nearest):
		return aside
	case p.elements[element].role == folded, a.isRange, a.isWithdrawn, s.isCondition, s.isOdd, p.isInArticle(a), p.isEnd(a, start),
		asked.MatchString(p.text[a.end-1 : max(a.end, min(end, a.end+near))]), condition.MatchString(s.tail), others.MatchString(s.labels),
		condition.MatchString(priceWords().ReplaceAllString(s.note, " ")), withdrawn.MatchString(s.note), a.value == 0 && isTrial():
		return talk
	case !p.isPrice(a, s):
		a.isProse = p.isName(s.subject) && p.isPlainTalk(s.object) || p.hint != nil && len(strings.Fields(s.subject)) > 3 && !isDoubtful(said)
		a.isLabelled = isShort(s.subject) && p.isPlainTalk(s.object) && !says.MatchString(s.subject) && !condition.MatchString(s.subject) && !negation.MatchString(s.subject)
		return talk
	}
	return plainly
}

// isPrice reports whether the sentence of an amount says that it is the price.
func (p *page) isPrice(a *amount, s *surroundings) bool {
	isPlain := p.isPlainTalk(s.subject) && (p.isPlainTalk(s.object) || !isDoubtful(s.object) && !each.MatchString(s.object))
	isFree := a.value == 0 && a.isNamed && !isDoubtful(s.subject) && !reported.MatchString(s.subject)
	return isPlain || isFree || p.isStatement(s.subject, s.object) || p.isFrom && from.MatchString(s.lead)
}

// surroundings returns what is said of an amount, given the end of the amount before it and the start of the one behind it.
func (p *page) surroundings(a *amount, before, behind int) *surroundings {
	element := p.at(a.number)
	start, _ := p.block(a.number)
	_, end := p.block(max(a.number, a.end-1))
	s := &surroundings{lead: p.text[max(before, start, a.start-60):a.start], note: p.note(a)}
	isSame := func(at int) bool { // it is in the same item or cell
		return p.around(p.at(at), atom.Li, atom.Td, atom.Th) == p.around(element, atom.Li, atom.Td, atom.Th)
	}
	previous, _ := p.block(max(0, start-1))
	if strings.TrimSpace(s.lead) == "" && start-previous < 40 && !strings.HasSuffix(p.text[previous:max(previous, start-1)], ".") && isSame(previous) { // what introduces it may be a block of its own
		s.lead = p.text[max(before, previous):max(before, a.start)]
		s.isCondition = strings.HasSuffix(strings.TrimSpace(s.lead), ":") && !p.isPlainTalk(s.lead) && (isDoubtful(s.lead) || !p.isName(s.lead))
	}
	_, next := p.heading(a.number)
	rest := p.text[a.end:max(a.end, min(behind, next, a.end+near))]
	stop := sentenceStop().FindAllStringIndex(rest, -1)
	if stop != nil && behind < min(next, a.end+near) { // what is said of the next amount is not said of this one
		rest = rest[:stop[len(stop)-1][0]]
	}
	s.beside = p.text[max(before, a.start-near):a.start] + p.withoutItems(a, rest)
	cell := p.around(element, atom.Td, atom.Th)
	t := p.tableOf(cell)
	if t != nil && t.width > 1 && len(p.textOf(cell)) < near {
		s.beside = p.textOf(cell)
	}
	s.subject, s.object, s.tail = p.sentence(a, start, max(a.end, min(end, behind)))
	a.headings, a.lead, a.isYearly = p.headings(a.number), s.lead, yearly.MatchString(p.text[max(start, a.start-60):min(end, a.end+60)])
	own := "\n" + s.lead
	for _, l := range p.labels(element) {
		text := p.textOf(l)
		if p.elements[l].tag == atom.Caption { // it says of the whole table what it is
			a.headings = text + "\n" + a.headings
			continue
		}
		own += "\n" + text
		isHead := p.elements[l].column == 0 && p.isRow(l, element) && !p.isHead(element)
		s.isOdd = s.isOdd || isHead && p.hint != nil && !p.plan(text) && !p.isPlainTalk(text) && !labelWords.MatchString(text)
	}
	s.labels, s.nearest = a.headings+own, own
	if !p.isPlan(element) && !p.isStatement(s.subject, s.object) {
		heading, _, _ := strings.Cut(a.headings, "\n")
		s.nearest = heading + own
	}
	for _, text := range []*string{&s.labels, &s.nearest} {
		*text = quantity().ReplaceAllString(*text, "")
		if p.hint != nil {
			*text = p.hint.ReplaceAllString(*text, "$1$2")
		}
	}
	return s
}

// withoutItems returns what is said behind an amount without the items of lists, which say what is in a plan.
func (p *page) withoutItems(a *amount, behind string) string {
	var kept strings.Builder
	at := a.end
	for line := range strings.Lines(behind) {
		isFar := at > a.end && len(line) > 110 // a paragraph of its own
		if !isFar && p.around(p.at(at), atom.Li) == p.around(p.at(a.number), atom.Li) {
			kept.WriteString(line)
		}
		at += len(line)
	}
	return kept.String()
}

// isPlan reports whether one of the labels of an element is the name of the plan that is looked for.
func (p *page) isPlan(element int) bool {
	return p.plan != nil && slices.ContainsFunc(p.labels(element), func(l int) bool { return p.plan(p.textOf(l)) })
}

// isInAside reports whether an element is in the part beside the text that has all the prices of the page.
func (p *page) isInAside(element int) bool {
	aside := p.around(element, atom.Aside)
	if aside < 0 || p.elements[p.elements[aside].parent].role != plain {
		return false
	}
	return p.isBesides
}

// sentence returns the words before and behind an amount that must say that it is the price, and the rest of its sentence,
// which may say what is in it.
func (p *page) sentence(a *amount, start, end int) (said, object, tail string) {
	const far = 400
	start, end = max(start, a.start-far), min(end, a.end+far)
	said, tail = p.text[min(start, a.start):a.start], p.text[min(a.end, end):end]
	if stop := sentenceStart().FindAllStringIndex(said, -1); stop != nil {
		said = said[stop[len(stop)-1][1]:]
	}
	if stop := sentenceEnd().FindStringIndex(p.text[a.end-1 : end]); stop != nil {
		tail = tail[:max(0, stop[0]-1)]
	}
	tail = plusTax().ReplaceAllString(insteadOf().ReplaceAllString(tail, ""), "")
	if clause := strings.IndexAny(tail, ",;:(–—|·"); clause >= 0 {
		tail, object = tail[clause:], tail[:clause]
	} else {
		tail, object = "", tail
	}
	much := included().FindStringSubmatch(object)
	if much != nil && !isTime(unitWords[strings.ToLower(much[1])]) {
		object = ""
	}
	said = before().ReplaceAllString(harmless().ReplaceAllString(said, " "), "")
	return numbers().ReplaceAllString(said, " "), harmless().ReplaceAllString(object, ""), harmless().ReplaceAllString(tail, "")
}

// isStatement reports whether the words before an amount say that the tool or its plan costs it, and those behind it nothing
// that makes it the price of some people or of some time.
func (p *page) isStatement(subject, object string) bool {
	verb := costs().FindStringIndex(strings.TrimRight(subject, " "))
	if verb == nil {
		return false
	}
	subject = subject[:verb[0]]
	payer := somebody().FindStringSubmatch(subject)
	if payer != nil && unitWords[strings.ToLower(payer[1])] == "" {
		subject = ""
	}
	isTool := strings.TrimSpace(subject) == "" || slices.ContainsFunc(letters().FindAllString(strings.ToLower(subject), -1), func(w string) bool {
		return slices.Contains(p.own, w) || slices.Contains(products, w)
	})
	return isTool && !isDoubtful(subject) && !reported.MatchString(subject) && (p.isPlainTalk(object) || !isDoubtful(object))
}

// isDoubtful reports whether words beside a price make it another one: of some people, of some time, of a part.
func isDoubtful(s string) bool {
	return condition.MatchString(s) || negation.MatchString(s) || apart.MatchString(s) || others.MatchString(s) || extra.MatchString(s) || withdrawn.MatchString(s)
}

// each matches what makes a price one of several that are paid.
var each = matcher(`\b(?:je|per|pro|par|each|every|chaque|\d+(?:e|nd|rd|th|\.))\b`)

// reported matches what others say.
var reported = matcher(`\b(?:que|qu[’'](?:il|elle|on)|that|dass|parfois|sometimes|manchmal|lit|read|liest|say|dit|sagt|think|croi\pL+|glaub\pL+|wrong|faux|falsch)\b`)

// somebody matches those who pay, one by one.
var somebody = compile(`(?i)^\W*(?:eine?|jede[rs]?|chaque|une?|an?|each|every) (\pL+)$`)

// products are the words for what is paid for.
var products = strings.Fields("monatsgebühr jahresgebühr zugang plan offre formule abonnement abo tarif pack paket subscription licence license lizenz account compte konto zugang accès access nutzung utilisation use " +
	"software programm programme logiciel outil tool app application service")

// isName reports whether the words before a price are a label that names the tool or says what is paid for, and nothing else.
func (p *page) isName(label string) bool {
	words := letters().FindAllString(strings.ToLower(label), -1)
	isOurs := slices.ContainsFunc(words, func(w string) bool { return slices.Contains(p.own, w) || slices.Contains(products, w) })
	isLabel := strings.ContainsAny(lastRune(strings.TrimSpace(label)), ":–—-") || len(words) > 0 && slices.Contains(products, words[len(words)-1]) && !strings.ContainsAny(label, ":0123456789")
	return isOurs && isLabel && isShort(label) && !says.MatchString(label) && !isNoPlan(label) && !condition.MatchString(label) && !negation.MatchString(label)
}

func lastRune(s string) string {
	_, size := utf8.DecodeLastRuneInString(s)
	return s[len(s)-size:]
}

// isEnd reports whether an amount may be the end of one whose first figures are in a block of their own, outside of tables.
func (p *page) isEnd(a *amount, start int) bool {
	previous, end := p.block(max(0, start-1))
	digits := p.text[previous:min(end, start)]
	return start == a.number && digits != "" && strings.Trim(digits, "0123456789.,") == "" && p.around(p.at(a.number), atom.Td, atom.Th) < 0
}

// isPlainTalk reports whether the words beside an amount say nothing but that it is the price.
func (p *page) isPlainTalk(rest string) bool {
	for _, w := range letters().FindAllString(strings.ToLower(rest), -1) {
		if unit := unitWords[w]; !isTime(unit) && unit != once && !slices.Contains(plainWords, w) && !slices.Contains(planWords, w) && !slices.Contains(p.own, w) {
			return false
		}
	}
	return true
}

var letters = compile(`\pL+`)

var plainWords = strings.Fields("deux trois quatre cinq six sept huit neuf dix douze vingt trente two three four five six seven eight nine ten twelve twenty thirty sixty zwei drei vier fünf sechs sieben acht neun zehn zwölf zwanzig euro euros dollars im même same gleich purchase in alles drin grundgebühr grundpreis basispreis prix tarif tarifs price prices pricing preis preise seulement only nur just ou or oder soit ttc ht hors taxe taxes tax tva vat mwst ust inkl inklusive zzgl zuzüglich excl incl incluse mehrwertsteuer umsatzsteuer gesetzlicher comprise " +
	"netto brutto plus par per pro facturé facturée facturés billed paid payé payable abgerechnet bei jährlicher monatlicher zahlung sans engagement no commitment abonnement subscription plan offre formule " +
	"coûte costs cost kostet cancel anytime any time résiliable à tout moment kündbar jederzeit aujourd hui now today jetzt heute maintenant pour for für toujours forever et and und de of un une a an the le la les l d " +
	"eur usd gbp us all everything tout compris inclus included includes inclut it is est updates update mises mise jour comprises illimité illimités unlimited features fonctions " +
	"résilier résiliez résilie arrêter annuler annulable cancelled canceled can be when you want quand vous voulez pouvez se depuis votre compte peut être arrêté " +
	"choisir choose get started start commencer abonner abonnez souscrire subscribe buy acheter kaufen wählen starten there one there's licence license access accès partir dès from starts starting at ab sofort pay payez zahlen priced complet complète seul seule single payment paiement comptez we charge our nous notre your der die das ist beträgt proposé proposée au en service membership adhésion cotisation keep simple revient public alle funktionen hosted gehostet hébergé hébergement plans abo abos abonnieren bestellen order join upgrade unlock freischalten dauerhaft buchen commander commandez essayer souscrivez m je profiter passer passez flat forfait membres mitgliedschaft mitglied beitrag gebühr lizenz tarife fee rate monatspreis jahrespreis jahresbeitrag monatsbeitrag jahresabo monatsabo festpreis paket renews automatically s renouvelle automatiquement")

// headings returns the headings that a place is under: the last one before it, and the last one of
// each higher level before that.
func (p *page) headings(at int) string {
	var found []string
	level := "h7"
	for _, i := range slices.Backward(p.heads) {
		e := &p.elements[i]
		if e.end > at || e.name >= level || strings.ContainsAny(p.textOf(i), "€$£") {
			continue
		}
		level = e.name
		if level != "h1" {
			found = append(found, p.textOf(i))
		}
	}
	return strings.Join(found, "\n")
}

// heading returns the last heading before a place, or -1, and where the next one begins.
func (p *page) heading(at int) (last, next int) {
	last, next = -1, len(p.text)
	for _, i := range p.heads {
		if e := &p.elements[i]; e.end <= at {
			last = i
		} else if e.start > at {
			return last, e.start
		}
	}
	return last, next
}

// inherit gives an amount that does not say what it is paid for the unit that its surroundings
// say: its row and column, its label, the nearest part of the page that says one and only one.
func (p *page) inherit(a *amount, all []amount) {
	element := p.at(a.number)
	start, end := p.block(a.number)
	noted, _ := unitsAfter(strings.TrimLeft(p.note(a), "* "))
	several := severalTimes().FindStringSubmatch(p.text[start:a.start])
	said := adverb().FindStringSubmatch(p.text[start:a.start])
	switch {
	case noted != "":
		a.units = noted
		return
	case several != nil && isTime(unitWords[strings.ToLower(several[2])]):
		a.units = several[1] + " " + unitWords[strings.ToLower(several[2])]
		return
	case said != nil:
		a.units = unitWords[strings.ToLower(said[1])]
		return
	}
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
	below := p.unitsBelow(element)
	if below != "" {
		a.units = below
		return
	}
	if h, _ := p.heading(a.number); h >= 0 && p.around(element, atom.Table) < 0 {
		if units := unitsIn(p.textOf(h)); units != "" {
			a.units = units
			return
		}
	}
	const levels = 12
	table := p.around(element, atom.Table)
	if table >= 0 && len(p.labels(element)) > 1 { // what other rows say is not of this one
		element = table
	} else {
		table = 0
	}
	for e, n := p.elements[element].parent, 0; e >= 0 && n < levels; e, n = p.elements[e].parent, n+1 {
		text, isLong := p.withoutPrices(e, table, all)
		if isLong {
			return
		}
		if units := unitsIn(text); units != "" {
			a.units = strings.TrimPrefix(units, ambiguous)
			return
		}
	}
}

var priceWords = matcher(`\b(?:prices?|prix|tarifs?|preise?)\b`)

// note returns the line of the page that an asterisk behind an amount refers to.
func (p *page) note(a *amount) string {
	rest := strings.TrimLeft(p.text[min(a.number+1, len(p.text)):], "0123456789., €$£")
	_, note, ok := strings.Cut(p.text[a.end:], "\n*")
	if ok && (strings.HasPrefix(rest, "*") || strings.Contains(p.text[a.number:a.end], "*")) {
		line, _, _ := strings.Cut(note, "\n")
		return line
	}
	return ""
}

// adverb matches it right before an amount: Sie zahlen monatlich 12 Euro.
var adverb = compile(`(?i) (monatlich|jährlich|mensuellement|annuellement|monthly|yearly|annually) (?:nur |only )?$`)

// severalTimes matches what stands before an amount for some months or years.
var severalTimes = compile(`^\W*([2-9]|\d\d+) (\pL+)\W*$`)

// ambiguous stands for more than one unit of time.
const ambiguous = "?"

// labelWords are what a block about the unit of prices begins with or is.
var labelWords = compile(`(?i)\b(?:prix|tarifs?|prices?|pricing|preise?|abonnements?|subscriptions?|mensualités?|annuités?|facturation|paiements?|payments?|zahlung|billing|billed|facturé|plans?|offres?|formules?|fees?|licences?|licenses?|lizenz|cotisations?|adhésion|membership|forfaits?|costs?|coût|kosten|pro|par|per|/)[ ]?\b|/ ?(?:mois|month|mo|monat|an|année|year|yr|jahr)\b|(?:[€$£]|EUR|USD|GBP|CHF) ?/ ?\pL+|(?:^|\W)(?:monats|jahres)(?:abo|abonnement|preis|lizenz|beitrag|tarif|gebühr|karte|paket)|(?:^|[ ,(–—])(?:1|une?|one|eine?) \pL+\)?$|^(?:au |à l[’']|by the )\pL+$|^(?:mensuel|mensualit|annuit|monthly|monatlich|annuel|yearly|jährlich|annual)\pL*(?:[^\pL].*)?$`)

// eachOf are what stands before somebody who is paid for.
var eachOf = []string{"par ", "per ", "pro ", "/", "/ ", "each ", "chaque ", "je "}

var compound = compile(`^(monat|jahr)e?s(?:abo|abonnement|preis|lizenz|beitrag|tarif|gebühr|karte|paket)$`)

var perWhat = compile(`(?:par|per|pro|/)[ ]?(\pL+)`)

// unitsIn returns the unit of time that a text says, with the user if it says so; ambiguous if it says
// two, "" if it says none.
func unitsIn(text string) string {
	found := map[string]bool{}
	for line := range strings.Lines(strings.ToLower(text)) {
		line = strings.TrimSpace(line)
		if !labelWords.MatchString(line) && !isAdverb(line) {
			continue
		}
		for _, m := range perWhat().FindAllStringSubmatch(line, 3) {
			if unitWords[m[1]] == "" && strings.Count(line, m[0]) == 1 && len(perWhat().FindAllString(line, 3)) == 2 {
				found[m[1]] = true
			}
		}
		for _, w := range strings.FieldsFunc(line, func(r rune) bool { return !unicode.IsLetter(r) && r != '.' }) {
			switch unit := unitWords[compound().ReplaceAllString(strings.TrimSuffix(w, "."), "$1")]; {
			case isTime(unit), unit == once, unit != "" && w == line && isAdverb(w):
				found[unit] = true
			case (unit == "utilisateur" || unit != "" && len(perWhat().FindAllString(line, 2)) == 2) && slices.ContainsFunc(eachOf, func(each string) bool { return strings.Contains(line, each+w) }):
				found[unit] = true
			}
		}
	}
	isOne := len(slices.DeleteFunc(append(slices.Clone(times), once), func(t string) bool { return !found[t] })) == 1
	switch {
	case isOne, len(found) == 1 && !found["utilisateur"]:
		return joinUnits(found)
	case len(found) > 1:
		return ambiguous
	}
	return ""
}

// withoutPrices returns the short blocks of an element that hold no amount and are not in a table, 0 for none.
func (p *page) withoutPrices(element, table int, all []amount) (text string, isLong bool) {
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
		if holds := next < len(all) && all[next].start < at+len(line); !holds && len(line) < 80 && (table == 0 || at < p.elements[table].start || at >= p.elements[table].end) {
			b.WriteString(line)
		}
		at += len(line)
	}
	return b.String(), false
}
