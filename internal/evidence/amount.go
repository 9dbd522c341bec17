package evidence

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"palmares/internal/catalog"
)

// A price is an amount with its currency, and what it is for. Two prices are the same if all of
// them are.
type price struct {
	value    int64  // in ten-thousandths
	currency string // EUR, USD, …
	units    string // what it is paid for: words of ours, in order, with slashes between; "" if unknown
}

// once is the unit of what is paid for one time.
const once = "unique"

// An amount is a price in a text.
type amount struct {
	price
	start, end  int // of everything that says it, its unit included
	number      int // where its digits and its currency begin
	isRange     bool
	isBare      bool // its currency is that of its labels
	standing    standing
	headings    string // that it is under
	lead        string // the words before it
	isYearly    bool   // its block says something of years
	isNamed     bool   // its sentence names the tool or the plan
	isOfPrices  bool   // and is about prices
	isRemark    bool   // or neither, and is one
	isApart     bool   // it is said to be a price beside that of the tool
	isWithdrawn bool   // not everybody can buy it
	isProse     bool   // only words that are not known stand beside it
	isLabelled  bool   // its line has only a few words before it, which may be the name of a plan
	isListed    bool   // it is one of the prices of a list of plans
	isMine      bool   // of the plan that is looked for
}

// firm matches those who have one tool for all of them.
const firm = `entreprise|société|company|organi[sz]ation|unternehmen|firma|restaurant|cabinet|étude|praxis|kanzlei|betrieb|école|établissement|verein|haushalt|household|foyer`

const (
	space    = `[ \x{a0}\x{2009}]`
	number   = `\d{1,3}(?:[ \x{a0}\x{2009}.,'’]\d{3})+(?:[.,]\d{1,2})?|\d{1,9}(?: ?,\d{2}|[.,]\d{1,4})?`
	currency = `US\$|CA?\$|AU?\$|NZ\$|HK\$|S\$|R\$|[€$£¥]|EUR\b|USD\b|GBP\b|CHF\b|CAD\b|JPY\b|(?i:euros?|dollars?|Franken)\b`
)

// Two forms: the amount before its currency, with the cents perhaps behind it (19€99), and behind it.
var (
	amountFirst   = compile(`^(` + number + `)(?:,(?:--?|–|—))?` + space + `?\n?(?:` + space + `)?(` + currency + `)(\d{2})?`)
	currencyFirst = compile(`^(` + currency + `)` + space + `?\n?(` + number + `)(?:[,.](?:--?|–|—))?`)
	either        = compile(`\d|` + currency)
)

// code matches a currency that may stand before an amount as well as behind it.
var code = compile(`^[A-Z]{3}$`)

var currencies = map[string]string{
	"€": "EUR", "eur": "EUR", "euro": "EUR", "euros": "EUR", "$": "USD", "us$": "USD", "usd": "USD", "dollar": "USD",
	"dollars": "USD", "£": "GBP", "gbp": "GBP", "chf": "CHF", "franken": "CHF", "ca$": "CAD", "c$": "CAD", "cad": "CAD", "au$": "AUD", "a$": "AUD",
	"nz$": "NZD", "hk$": "HKD", "s$": "SGD", "r$": "BRL",
	"¥": "JPY", "jpy": "JPY",
}

// nearEuro are the currencies that are worth about a euro.
var nearEuro = []string{"EUR", "USD", "GBP", "CHF"}

// IsFar reports whether a text has amounts for the units of a price, all of which differ from it by more than a factor
// of two. Currencies are not converted.
func IsFar(of, text string) (isFar bool) {
	euros, period, _ := catalog.Amount(of)
	for _, a := range findAmounts(text) {
		value := float64(a.value) / 10_000
		switch {
		case a.isRange, euros == 0:
			return false
		case a.units != parseUnits(period) || !slices.Contains(nearEuro, a.currency):
		case value <= 2*euros && euros <= 2*value:
			return false
		default:
			isFar = true
		}
	}
	return isFar
}

func isCurrency(r rune) bool { return strings.ContainsRune("€$£¥", r) }

// findAmounts returns the amounts of a text in their order.
func findAmounts(text string) (found []amount) {
	for at := 0; at < len(text); {
		next := either().FindStringIndex(text[at:])
		if next == nil {
			break
		}
		at += next[0]
		switch a, size := amountAt(text, at); {
		case a.end > 0:
			found = append(found, a)
			at = a.end
		default:
			at += max(size, next[1]-next[0])
		}
	}
	return found
}

// amountAt returns the amount that begins at a place. If there is none its end is 0, and size is how much of the text
// is something else.
func amountAt(text string, at int) (a amount, size int) {
	isAlone := !endsNumber.MatchString(text[max(0, at-3):at]) && !isLetterBefore(text, at)
	rest := text[at:min(len(text), at+60)]
	digits, sign := "", ""
	if m := amountFirst().FindStringSubmatch(rest); m != nil {
		digits, sign, size = m[1], m[2], len(m[0])
		if (strings.Contains(m[0], "\n") || code.MatchString(m[2])) && thenDigit.MatchString(rest[size-len(m[3]):]) { // Pro 7, and then €10
			return amount{}, len(m[1])
		}
		switch {
		case m[3] != "" && strings.ContainsAny(m[1], ".,"): // digits of something else
			size -= len(m[3])
		case m[3] != "":
			digits += "," + m[3]
		}
		if !isAlone { // the end of a longer number, or a version
			return amount{}, size
		}
	} else if m := currencyFirst().FindStringSubmatch(rest); m != nil {
		digits, sign, size = m[2], m[1], len(m[0])
		if thousands.MatchString(rest[size:]) {
			return amount{}, size
		}
	} else {
		// Another number: all of it, so that its end is not taken for one.
		for size < len(rest) && strings.IndexByte("0123456789.,", rest[size]) >= 0 {
			size++
		}
		return amount{}, size
	}
	value, ok := parseNumber(digits)
	if !ok {
		return amount{}, 0
	}
	a = amount{price: price{value: value, currency: currencies[strings.ToLower(sign)]}, start: at, number: at, end: at + size}
	if sign == "$" && (isLetterBefore(text, at) || otherDollars.MatchString(text[a.end:])) {
		a.currency = "?" // R$, $19 CAD
	}
	a.isRange = rangeBefore.MatchString(text[max(0, at-12):at]) || rangeAfter.MatchString(text[a.end:min(len(text), a.end+12)])
	units, length := unitsAfter(text[a.end:])
	a.units, a.end = units, a.end+length
	a.isRange = a.isRange || moreThan.MatchString(text[a.end:])
	return a, size
}

var (
	endsNumber   = compile(`[0-9.,_]$|\d[ \x{a0}\x{2009}]$`)
	thenDigit    = compile(`^` + space + `?\d`)
	thousands    = compile(`^ ?(?:[kKM]|Mio|mn|bn|Mrd|[Mm]illi\pL+|[Bb]illion)\b`)
	otherDollars = compile(`^ ?(?:CA|CAD|CDN|AU|AUD|NZ|NZD|HK|HKD|SG|SGD|MXN|TWD|ARS|CLP|COP|[Cc]anad\pL+|[Aa]ustral\pL+)\b`)
	rangeBefore  = compile(`\d[ ]?[€$£]?[ ]?(?:[-–—]|à|to|bis|et|and|und)[ ]?$`)
	moreThan     = compile(`^ (?:de|en) plus\b`)
	rangeAfter   = compile(`^[ ]?(?:[-–—]|à|to|bis)[ ]?[€$£]?[ ]?\d`)
)

func isLetterBefore(text string, at int) bool {
	r, _ := utf8.DecodeLastRuneInString(text[:at])
	return r != 'x' && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z')
}

// parseNumber reads a number in French, English or German notation. A single separator with three
// digits behind it separates thousands, unless a zero is before it.
func parseNumber(s string) (tenThousandths int64, ok bool) {
	s = strings.NewReplacer(" ", "", "\u00a0", "", "\u2009", "", "'", "", "’", "").Replace(s)
	last := strings.LastIndexAny(s, ".,")
	whole, decimals := s, ""
	if last >= 0 {
		whole, decimals = s[:last], s[last+1:]
		isGroup := len(decimals) == 3 && strings.Trim(whole, "0") != "" && len(whole) <= 3 || strings.Count(s, s[last:last+1]) > 1
		if isGroup {
			whole, decimals = s, ""
		}
	}
	whole = strings.NewReplacer(".", "", ",", "").Replace(whole)
	if len(whole) > 12 || len(decimals) > 4 {
		return 0, false
	}
	n, err := strconv.ParseInt(whole+(decimals + "0000")[:4], 10, 64)
	return n, err == nil
}

// unitWords are the words for what is paid for, by the word of ours.
var unitWords = invert(map[string]string{
	"mois":        "mois month months mo mo. mth monat monate monats mensualité mensualités mensuel mensuels mensuelle mensuelles mensuellement monthly monatlich monatliche monatlicher mtl mtl. mt mt.",
	"an":          "an annuité ans année annee annuel annuels annuelle annuelles annuellement year years yr yr. annum yearly annually annual jahr jahre jährlich jährliche jaehrlich",
	"bimestre":    "bimestre bimestriel bimonthly biweekly fortnight fortnightly quinzaine",
	"trimestre":   "trimestre trimestriel trimestrielle quarter quarterly quartal vierteljährlich",
	"semestre":    "semestre semestriel halbjahr halbjährlich",
	"semaine":     "semaine semaines hebdomadaire week weeks weekly wk woche wochen wöchentlich",
	"jour":        "jour jours journée day days daily tag täglich",
	"utilisateur": "utilisateur utilisateurs utilisatrice user users seat seats siège siege sièges poste postes membre membres member members nutzer benutzer person personne personnes people licence license lizenz agent agents collaborateur collaborateurs éditeur editor editors mitglied mitglieder platz arbeitsplatz rédacteur compte account konto head teammate employé employés employée employee employees mitarbeiter mitarbeitende salarié salariés developer developers dev devs développeur développeurs entwickler praticien praticiens",
	"minute":      "minute minutes min min. minuten",
	"heure":       "heure heures hour hours hourly hr stündlich stunde stunden std",
	"image":       "image images bild bilder picture pictures",
	"page":        "page pages seite seiten",
	"projet":      "projet projets project projects projekt",
	"document":    "document documents dokument",
	"requête":     "requête requêtes request requests anfrage anfragen appel call calls",
	"mot":         "mot mots word words wort",
	"crédit":      "crédit crédits credit credits",
	"site":        "site sites website websites domaine domain",
	"unité":       "unité unités unit units einheit einheiten wohneinheit wohneinheiten logement logements",
	"véhicule":    "véhicule véhicules vehicle vehicles fahrzeug fahrzeuge",
	"équipe":      "équipe équipes team teams",
	once:          "unique lifetime einmalig perpétuelle perpetual",
})

func invert(lists map[string]string) map[string]string {
	by := map[string]string{}
	for word, list := range lists {
		for form := range strings.FieldsSeq(list) {
			by[form] = word
		}
	}
	return by
}

// times are the units that are a time.
var times = []string{"mois", "an", "trimestre", "semestre", "semaine", "jour"}

// Between an amount and its unit, and between two units.
var (
	noise = compile(`^(?i:[ \n*¹²³()\[\],·•]|TTC\b|HT\b|H\.T\.|T\.T\.C\.|hors taxes?\b|toutes taxes comprises\b|hors TVA\b|US\b|TVA (?:incluse|comprise)\b|` +
		`(?:et |and |und |/ ?)?(?:par|per|pro) (?:` + firm + `)\b|EUR\b|USD\b|GBP\b|(?:plus|excl\.?|excluding|ex\.?|incl\.?|including|inkl\.?|zzgl\.?|exkl\.?|netto|brutto|\+) ?(?:VAT|tax|taxes|MwSt\.?|USt\.?)?\b|only\b|seulement\b|nur\b)`)
	link    = compile(`^(?i:/[ \n]?(?:par|per|pro)?\b|par|per|pro|im|je|jeden|chaque|each|every|et par|et|and|und|le|la|the|l[’']|a|p\.)[ \n]*`)
	word    = compile(`^[\pL]+\.?`)
	several = compile(`^(?i:(?:/|par|per|pro|for|pour|für|every|each|tous les|toutes les|alle|chaque)?[ \n]*(?:the |les |die )?([2-9]|\d{2,5}|deux|trois|quatre|six|douze|two|three|four|six|twelve|other|zwei|drei|vier|sechs|zwölf)[ -](\pL+))`)
	paid    = compile(`^(?i:(?:billed|paid|charged|facturée?s?|payée?s?|payable|abgerechnet|bei|jährlich abgerechnet|prélevée?s?)[ ]+(?:\pL+[ ]+)?(annually|yearly|monthly|annuellement|mensuellement|jährlich|jährlicher|monatlich|monatlicher|par an|par mois|à l[’']année|au mois)\b)`)
	// Units that are none of ours: per 1,000 contacts; and those behind ours: per connected device.
	every   = compile(`^(?i:par|per|pro|every|each|chaque|alle|tous les|toutes les|je)[ ]\S`)
	another = compile(`^(?:par|per|pro|et par|and per|und pro|/)[ ]?(?:\d|\pL)`)
	means   = compile(`^(?:par (?:carte|prélèvement|virement|chèque|exemple|défaut|abonnement)|per (?:default|card|invoice)|pro (?:für|pour|for))`)
	// regular matches what is paid each time: tous les mois.
	regular = compile(`^(?i:tous les|toutes les|alle) (mois|ans|monate|jahre|semaines)\b`)
	// perAnnum matches abbreviations of German price lists.
	perAnnum = compile(`^p[./] ?(a|m|M|Mt|J)\b\.?`)
	fees     = compile(`^(?i:(?:[–—-] ?)?(?:une (?:seule )?fois|en une fois|paiement unique|one[- ]time|once\b|à vie|for life|lifetime|einmalig|achat unique|pour toujours))`)
)

// unitsAfter returns the units that follow an amount, and how much of the text they are.
func unitsAfter(text string) (units string, length int) {
	text = text[:min(len(text), 120)]
	found := map[string]bool{}
	at, lines := 0, 0
	for at < len(text) {
		rest := text[at:]
		if m := noise().FindString(rest); m != "" {
			lines += strings.Count(m, "\n")
			if lines > 2 {
				break
			}
			at += len(m)
			continue
		}
		each := regular().FindStringSubmatch(rest)
		if each != nil {
			found[unitWords[strings.ToLower(each[1])]] = true
			return joinUnits(found), at + len(each[0])
		}
		short := perAnnum().FindStringSubmatch(rest)
		if short != nil {
			unit := "mois"
			if short[1] == "a" || short[1] == "J" {
				unit = "an"
			}
			found[unit] = true
			return joinUnits(found), at + len(short[0])
		}
		if m := fees().FindString(rest); m != "" && len(found) == 0 {
			return once, at + len(m)
		}
		if m := several().FindStringSubmatch(rest); m != nil && len(found) == 0 && unitWords[strings.ToLower(m[2])] != "" {
			if lines > 0 && strings.HasPrefix(m[0], m[1]) { // 14 days free, in a block of its own
				break
			}
			return m[1] + " " + unitWords[strings.ToLower(m[2])], at + len(m[0])
		}
		if m := paid().FindStringSubmatch(rest); m != nil {
			if !slices.ContainsFunc(times, func(t string) bool { return found[t] }) {
				found[paidUnit(m[1])] = true
			}
			length = at + len(m[0])
			break
		}
		joined := link().FindString(rest)
		w := strings.ToLower(word().FindString(rest[len(joined):]))
		unit, isKnown := unitWords[w]
		if !isKnown {
			unit, isKnown = unitWords[strings.TrimSuffix(w, ".")]
		}
		trimmed := strings.TrimSpace(strings.ToLower(joined))
		switch {
		case lines == 1 && isTime(unit) && joined == "" && len(found) == 0 && strings.HasPrefix(rest[len(w):]+"\n", "\n"): // 75 €, and below it: Monat
			return unit, at + len(w)
		case lines > 0 && (isKnown && strings.HasPrefix(rest[len(joined)+len(w):], ":") || strings.HasPrefix(rest, "Pro ") && !isTime(unit) && unit != "utilisateur"):
			return joinUnits(found), length // what the next amount is for: Annuel :, Pro Team
		case !isKnown && len(w) == 1 && strings.HasPrefix(trimmed, "/"):
			return ambiguous, at
		case !isKnown && w != "" && len(found) == 0 && (strings.HasPrefix(trimmed, "/") || trimmed == "par" || trimmed == "per" || trimmed == "pro"):
			unit = strings.TrimSuffix(w, ".")
		case !isKnown && len(found) == 0 && (every.MatchString(rest) || isAdverb(w) && w != "only"):
			return ambiguous, at
		case !isKnown && len(found) > 0 && another.MatchString(rest) && !means.MatchString(rest):
			return ambiguous, length
		case !isKnown, joined == "" && !isAdverb(w), found[unit], isTime(unit) && slices.ContainsFunc(times, func(t string) bool { return found[t] }):
			return joinUnits(found), length
		}
		found[unit] = true
		at += len(joined) + len(w)
		length = at
	}
	return joinUnits(found), length
}

func isTime(unit string) bool { return slices.Contains(times, unit) }

// isAdverb reports whether a word says a unit without another one before it: 19 € monthly.
func isAdverb(w string) bool {
	return strings.HasPrefix(w, "mensuel") || strings.HasPrefix(w, "annuel") || strings.HasSuffix(w, "ly") || strings.HasSuffix(w, "lich") ||
		strings.HasPrefix(w, "mtl") || w == "hebdomadaire" || strings.HasPrefix(w, "trimestriel")
}

func paidUnit(w string) string {
	w = strings.ToLower(w)
	if strings.Contains(w, "mo") || strings.Contains(w, "men") {
		return "mois"
	}
	return "an"
}

func joinUnits(found map[string]bool) string {
	return strings.Join(slices.Sorted(maps.Keys(found)), "/")
}

// parseUnits returns the units of a price of the catalogue: utilisateur/mois.
func parseUnits(period string) string {
	found := map[string]bool{}
	for w := range strings.SplitSeq(strings.ToLower(period), "/") {
		if unit, ok := unitWords[w]; ok {
			w = unit
		}
		found[w] = true
	}
	return joinUnits(found)
}
