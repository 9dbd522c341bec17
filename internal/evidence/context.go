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
	plainly standing = iota // it stands where a price stands, and nothing else is said of it
	talk                    // it may be the price, and only a person can tell
	aside                   // beside the matter of the page
	refuted                 // it is not what the tool costs today
)

// matcher compiles an expression that ignores case, and in which \b is the end of a word with or without accents.
func matcher(expression string) *regexp.Regexp {
	return regexp.MustCompile(`(?im)` + strings.ReplaceAll(expression, `\b`, `(?:^|[^\pL\d]|$)`))
}

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
	audience  = `étudiant\pL*|students?|studierende|studenten|education|éducation|enseignants?|teachers?|écoles?|schools?|schulen?|campus|jeunes?|youth|seniors?|associat\pL+|non-?profits?|charit\pL+|gemeinnützig\pL*|vereine?|réduite?s?|reduced|ermäßigt\pL*`
	audiences = matcher(`\b(?:` + audience + `)\b`)
	// others matches labels and headings of what is not the tool, or not for everybody, or not of today.
	others = matcher(`\b(?:vs|versus|concurren\pL+|compet\pL+|alternativ\pL+|wettbewerb\pL*|` +
		audience + `|` +
		`anciens?|anciennes?|old|previous\pL*|former\pL*|regul\pL+|régul\pL+|normal\pL*|usual\pL*|archives?|legacy|historique|jusqu\pL*|until|up to|bis|average|moyennes?|durchschnitt\pL*|market|marché|markt|donat\pL+|dons?|spenden?|soutenir|sponsor\pL*|cashback|rent|rental|mieten?|louer|gagne\pL*|earn\pL*|factures?|invoices?|rechnung\pL*|revendeur\pL*|resellers?|others?|autres?|andere\pL*|ailleurs|elsewhere|budget|promo\pL*|launch|lancement|exemples?|examples?|beispiel\pL*|partners?|partenaires?|témoignages?|testimonials?|(?:19|20)\d\d)\b`)
	// quantity matches how much of something there is in a plan, and the fee that is its price.
	quantity = matcher(`\b(?:subscription|membership|monthly|annual|yearly|plan) fees?\b|\bfrais (?:d[’']abonnement|mensuels|annuels)\b|\b(?:up to|jusqu[’']à|bis zu) (?:\d[\d .,]*|\pL+) \pL+|\b(?:up to|jusqu[’']à|bis) \d+$|\b\d[\d .,]* [GMT][Bo] \pL+`)
	// withdrawn matches what cards say of plans that not everybody can buy.
	withdrawn = matcher(`\b(?:for|during|pendant|durant|in|während)(?: \pL+){0,2} (?:first|premi\pL+|erste\pL*)\b|\b(?:first|premi\pL+|erste\pL*) [^.\n]{0,20}\b(?:only|seulement|uniquement)\b|\b(?:sold out|épuisée?|ausverkauft|vergriffen|coming soon|bientôt|demnächst|wait ?list|liste d[’']attente|warteliste|n[’']est plus|no longer|nicht mehr|discontinued|neukunden|bestandskunden|(?:new|existing) (?:customers|subscribers|users|members|clients)|(?:nouveaux|anciens) (?:clients|abonnés)|réservée?s? (?:aux?|à nos)|reserved for|(?:kunden|mitgliedern|nutzern|abonnenten) vorbehalten|retirée?s?|withdrawn|eingestellt|valables? (?:pour|jusqu\pL*|avant)|valid (?:for|until|through)|gültig (?:bis|für)|aktion|contrats? (?:signés?|conclus?)|contracts? (?:signed|concluded)|terminée?s?|a pris fin|ended|expired?|expirée?s?|abgelaufen|beendet|unavailable|indisponible|nicht verfügbar)\b`)

	sentenceStart = regexp.MustCompile(`[.!…] |\b(?i:puis|ensuite|then|danach|dann|anschließend|after that,|après cela,|(?:after|après|nach|à l[’']issue de)[^,.:]{0,30}(?:trial|essai|test\pL*|probe\pL*)[,:]?) `)
	sentenceEnd   = regexp.MustCompile(`[.!…] \P{L}*\p{Lu}| (?i:after|après|nach)[^,.:]{0,30}(?i:trial|essai|test\pL*|probe\pL*)`)
	freeFor       = matcher(`\b(?:for|pendant|für|durant) (?:\d+|\pL+) (?:days?|jours?|tage?|weeks?|semaines?|wochen|months?|mois|monate?)\b`)
	// yearly matches what is said of prices by the month that are paid by the year.
	yearly = matcher(`\b(?:annuel\pL*|à l[’']année|par an|annual\pL*|yearly|jährlich\pL*|im jahr)\b`)
	// condition matches what makes the price in a sentence one of some time, of some people or of a part.
	condition = matcher(`\b(?:puis|ensuite|then|danach|dann|pendant|during|while|first|premi\pL+|ersten?|jusqu\pL*|until|bis|(?:par|per|pro|/) ?(?:utilis\pL+|users?|seats?|sièges?|postes?|membres?|members?|nutzer|personn?e?|agents?|sites?|proje[ck]?ts?|tranche|filleul)|each|chacune?|jeweils?|minimum|mindestens|` +
		`if|si|wenn|falls|with|avec|mit|on|chez|bei|of|that|which|who|qui|unless|sauf|except|otherwise|sinon|sonst|but|mais|aber|price|prix|tarif|preis|offers?|offres?|angebot|deal|code|fermée?s?|closed|geschlossen|en complément|in addition|en plus|réservée?s?|reserved|only for|nur für|au lieu|instead|statt|économi\pL+|sav(?:e|es|ing|ings)|sparen|selon|depending|je nach|était|was|war|(?:ne|not|nicht|plus) \pL+)\b|` + others.String())
)

// standing returns what an amount is worth, given the end of the amount before it and the start of the one behind it.
func (p *page) standing(a *amount, before, behind int) standing {
	element := p.at(a.number)
	start, _ := p.block(a.number)
	_, end := p.block(max(a.number, a.end-1))
	lead, isCondition := p.text[max(before, start, a.start-60):a.start], false
	if previous, _ := p.block(max(0, start-1)); strings.TrimSpace(lead) == "" && start-previous < 40 && !strings.HasSuffix(p.text[previous:max(previous, start-1)], ".") && p.around(p.at(previous), atom.Li) == p.around(element, atom.Li) { // what introduces it may be a block of its own
		lead = p.text[max(before, previous):max(before, a.start)]
		isCondition = strings.HasSuffix(strings.TrimSpace(lead), ":") && !p.isPlainTalk(lead)
	}
	switch role := p.elements[element].role; {
	case role == struck, role == quote, instead.MatchString(lead):
		return refuted
	case role == margin:
		return aside
	}
	const near = 300
	_, next := p.heading(a.number)
	beside := p.text[max(before, a.start-near):a.start] + p.text[a.end:max(a.end, min(behind, next, a.end+near))]
	a.headings, a.lead, a.isYearly = p.headings(a.number), lead, yearly.MatchString(p.text[max(start, a.start-60):min(end, a.end+60)])
	labels := a.headings + "\n" + lead
	said, tail := p.sentence(a, start, max(a.end, min(end, behind)))
	isOdd := false // its row is not about prices
	for _, l := range p.labels(element) {
		text := p.textOf(l)
		labels += "\n" + text
		isOdd = isOdd || p.hint != nil && p.elements[l].column == 0 && p.around(l, atom.Tr) == p.around(element, atom.Tr) && !p.isPlainTalk(text) && !labelWords.MatchString(text)
	}
	labels = quantity.ReplaceAllString(labels, "")
	if p.hint != nil {
		labels = p.hint.ReplaceAllString(labels, "$1$2")
	}
	switch {
	case extra.MatchString(labels):
		return aside
	case p.elements[element].role == folded, a.isRange, p.isEnd(a, start), isCondition, isOdd, !p.isPlainTalk(said) && !(p.isFrom && from.MatchString(lead)), condition.MatchString(tail), withdrawn.MatchString(beside),
		others.MatchString(labels), a.value == 0 && (trial.MatchString(labels) || freeFor.MatchString(p.text[a.number:max(a.end, min(next, a.end+near))])):
		return talk
	}
	return plainly
}

// sentence returns the words beside an amount that must say that it is the price, and the rest of its sentence, which may say
// what is in it.
func (p *page) sentence(a *amount, start, end int) (said, tail string) {
	said, tail = p.text[min(start, a.start):a.start], p.text[min(a.end, end):end]
	if stop := sentenceStart.FindAllStringIndex(said, -1); stop != nil {
		said = said[stop[len(stop)-1][1]:]
	}
	if stop := sentenceEnd.FindStringIndex(p.text[a.end-1 : end]); stop != nil {
		tail = tail[:max(0, stop[0]-1)]
	}
	tail = plusTax.ReplaceAllString(insteadOf.ReplaceAllString(tail, ""), "")
	if clause := strings.IndexAny(tail, ",;:(–—|·"); clause >= 0 {
		return said + " " + tail[:clause], tail[clause:]
	}
	return said + " " + tail, ""
}

// isEnd reports whether an amount may be the end of one whose first figures are in a block of their own, outside of tables.
func (p *page) isEnd(a *amount, start int) bool {
	previous, end := p.block(max(0, start-1))
	digits := p.text[previous:min(end, start)]
	return start == a.number && digits != "" && strings.Trim(digits, "0123456789.,") == "" && p.around(p.at(a.number), atom.Td, atom.Th) < 0
}

// isPlainTalk reports whether the words beside an amount say nothing but that it is the price.
func (p *page) isPlainTalk(rest string) bool {
	for _, w := range letters.FindAllString(strings.ToLower(rest), -1) {
		if unit := unitWords[w]; !isTime(unit) && unit != once && !slices.Contains(plainWords, w) && !slices.Contains(planWords, w) && !slices.Contains(p.own, w) {
			return false
		}
	}
	return true
}

var letters = regexp.MustCompile(`\pL+`)

var plainWords = strings.Fields("prix tarif tarifs price prices pricing preis preise seulement only nur just ou or oder soit ttc ht hors taxe taxes tax tva vat mwst ust inkl inklusive zzgl zuzüglich excl incl incluse mehrwertsteuer umsatzsteuer gesetzlicher comprise " +
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
	}
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
var labelWords = regexp.MustCompile(`(?i)\b(?:prix|tarifs?|prices?|pricing|preise?|abonnements?|subscriptions?|facturation|paiements?|payments?|zahlung|billing|billed|facturé|plans?|offres?|formules?|fees?|licences?|licenses?|lizenz|cotisations?|adhésion|membership|forfaits?|costs?|coût|kosten|pro|par|per|/)[ ]?\b|^(?:monats|jahres)(?:abo|abonnement|preis|lizenz|beitrag|tarif|gebühr|karte|paket)|^(?:au |à l[’']|by the )\pL+$|^(?:mensuel|monthly|monatlich|annuel|yearly|jährlich|annual)\pL*(?:[^\pL].*)?$`)

// eachOf are what stands before somebody who is paid for.
var eachOf = []string{"par ", "per ", "pro ", "/", "/ ", "each ", "chaque ", "je "}

var compound = regexp.MustCompile(`^(monat|jahr)e?s(?:abo|abonnement|preis|lizenz|beitrag|tarif|gebühr|karte|paket)$`)

var perWhat = regexp.MustCompile(`(?:par|per|pro|/)[ ]?(\pL+)`)

// unitsIn returns the unit of time that a text says, with the user if it says so; ambiguous if it says
// two, "" if it says none.
func unitsIn(text string) string {
	found := map[string]bool{}
	for line := range strings.Lines(strings.ToLower(text)) {
		line = strings.TrimSpace(line)
		if !labelWords.MatchString(line) && !isAdverb(line) {
			continue
		}
		if m := perWhat.FindAllStringSubmatch(line, -1); len(m) > 1 && slices.ContainsFunc(m, func(m []string) bool { return unitWords[m[1]] == "" }) {
			return ambiguous
		}
		for _, w := range strings.FieldsFunc(line, func(r rune) bool { return !unicode.IsLetter(r) && r != '.' }) {
			switch unit := unitWords[compound.ReplaceAllString(strings.TrimSuffix(w, "."), "$1")]; {
			case isTime(unit), unit == once, unit != "" && w == line && isAdverb(w):
				found[unit] = true
			case unit == "utilisateur" && slices.ContainsFunc(eachOf, func(each string) bool { return strings.Contains(line, each+w) }):
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
