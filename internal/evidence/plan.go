package evidence

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/net/html/atom"
)

// fillers are words around the name of a plan that are not part of it.
var fillers = strings.Fields("plan plans offre offres formule formules abonnement tarif tarifs the our le la l les notre pack paket pour " +
	"populaire recommandé recommandée popular recommended beliebt empfohlen unser unsere de der die das")

var praise = compile(`(?i)le plus (?:populaire|choisi|vendu)|most popular|am beliebtesten|best(?: value|seller| choice)|meilleur(?:e)? (?:choix|offre|vente)|bestseller`)

// planName returns the words of a name of a plan, as they are compared.
func planName(s string) string {
	s = strings.ToLower(s)
	if rest := praise().ReplaceAllString(s, " "); strings.TrimSpace(rest) != "" {
		s = rest
	}
	all := strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '+' })
	kept := slices.DeleteFunc(slices.Clone(all), func(w string) bool { return slices.Contains(fillers, w) })
	if len(kept) == 0 {
		kept = all
	}
	return strings.Join(kept, " ")
}

// isPart reports whether a text is no name: only recommends the plan that it stands beside, or is a part of its price.
func isPart(s string) bool {
	s = strings.ToLower(s)
	m := perWhat().FindStringSubmatch(s)
	rest := letters().FindAllString(praise().ReplaceAllString(s, " "), -1)
	return m != nil && isTime(unitWords[m[1]]) || !slices.ContainsFunc(rest, func(w string) bool { return !slices.Contains(fillers, w) })
}

// maxNames is how often a page may name a plan and still be understood.
const maxNames = 30

// markPlan marks the amounts that are those of a plan, by its name as the page has it, or all without one; isNamed reports
// whether the page has it at all. The name of the tool may stand before that of the plan.
func (p *page) markPlan(name string, all []amount) (isNamed bool) {
	for i := range all {
		all[i].isMine = name == ""
	}
	if name == "" {
		return false
	}
	at, count := 0, 0
	for line := range strings.Lines(p.text) {
		if len(line) < 100 && count < maxNames && p.plan(line) {
			isNamed = true
			count++
			p.mark(all, at, at+len(strings.TrimRight(line, "\n")))
		}
		at += len(line)
	}
	for i := range p.elements { // <b>Pro</b> for companies
		e := &p.elements[i]
		start, end := p.block(e.start)
		isFirst := (e.tag == atom.B || e.tag == atom.Strong) && start == e.start && e.end < end
		if isFirst && count < maxNames && p.plan(p.textOf(i)) && !slices.ContainsFunc(all, func(a amount) bool { return a.number >= start && a.number < end }) {
			isNamed = true
			count++
			p.mark(all, start, end)
		}
	}
	for i := range all { // Pro : 19 €/mois; the plan “Pro” costs 19 €
		start, _ := p.block(all[i].start)
		if i > 0 {
			start = max(start, all[i-1].end)
		}
		before := numbers().ReplaceAllString(costs().ReplaceAllString(strings.TrimRight(p.text[start:all[i].start], " :–—-(=.,"), ""), "")
		if cut := strings.LastIndexAny(before, ".;,|·•"); cut >= 0 {
			before = before[cut+1:]
		}
		quoted := inQuotes().FindStringSubmatch(before)
		if quoted != nil {
			before = quoted[1]
		}
		if p.plan(before) && strings.TrimSpace(before) != "" {
			all[i].isMine, isNamed = true, true
		}
	}
	return isNamed
}

// numbers matches columns of figures before a price.
var numbers = compile(`(?: [\d.,]+(?: ?[GMT][Bo])?)+ ?$`)

// noPlan matches names of what is no plan: times, places, people, what is sold besides.
var noPlan = matcher(`\b(?:bisher|früher|jetzt|neue?[rs]?|alt|before|after|now|new|today|heute|aktuell|avant|après|maintenant|désormais|nouve\pL+|actuel\pL*|depuis|seit|since|au mois|à l[’']année|mensuel\pL*|annuel\pL*|monthly|yearly|annual\pL*|monatlich\pL*|jährlich\pL*|month|year|mois|monat|jahr|worldwide|world|monde|welt|eu|uk|usa?|us|nous|wir|(?:east|west|latin|north|south)\pL*|europ\pL+|asia|africa|america|france|deutschland|germany|schweiz|outre-mer|` +
	`(?:moins de|under|unter) \d+ (?:ans|years|jahre)|members?|membres?|mitglieder|adhérents?|assurance|insurance|versicherung|(?:custom|own|eigene) domain\pL*|nom de domaine|domain name|sms|coaching|parrainage|referral|black friday|upgrade|worth)\b`)

// inQuotes matches a name in quotation marks, of which something is said.
var inQuotes = compile(`[„“"«‹»][ \x{a0}]?([^„“”"«»]{1,60}?)[ \x{a0}]?[“”"»›«]$`)

// isPlan reports whether a label is the name of a plan, with that of the tool before it or a remark behind it.
func isPlan(label, name, tool string) bool {
	name = planName(name)
	is := func(s string) bool {
		s = planName(s)
		return s == name || s == planName(tool)+" "+name || s == name+" "+planName(tool)
	}
	label = numbered().ReplaceAllString(label, "")
	label, _, _ = strings.Cut(label, "\n")
	if is(label) {
		return true
	}
	first, remark := label, ""
	cut := strings.IndexAny(label, ",:(|·–—")
	if cut >= 0 {
		first, remark = label[:cut], label[cut:]
	}
	return is(first) && remark != "" && !sign.MatchString(remark) && !isRestricted(remark)
}

// isRestricted reports whether a remark makes a plan one for some people, or of another time.
func isRestricted(remark string) bool {
	remark = quantity().ReplaceAllString(remark, "")
	return others.MatchString(remark) || extra.MatchString(remark) || withdrawn.MatchString(remark)
}

// isNoPlan reports whether a name is not that of a plan for everybody.
func isNoPlan(name string) bool {
	return isRestricted(name) || noPlan.MatchString(name) || tax.MatchString(name)
}

// costs matches the verb between the name of a plan and its price.
var costs = compile(`(?i)(?:^|[ \x{a0}])(?:coûte|costs?|kostet|beträgt|revient à|, (?:à|at|zu|für)|est (?:à|de|proposée? à|facturée?)|is(?: priced at| available (?:at|for))?|ist für|gibt es für|zahlt|paie|pays|verse|zahlen sie|zahlst du|(?:sie|du|you|vous) (?:zahlen|zahlst|pay|payez)(?: monatlich| jährlich| mensuellement)?)(?: only| just| seulement| nur)?$`)

// mark marks the amounts that a label of a plan is for.
func (p *page) mark(all []amount, start, end int) {
	label := p.at(start)
	for parent := p.elements[label].parent; parent > 0 && !slices.Contains(headings, p.elements[label].tag) && strings.TrimSpace(p.text[p.elements[parent].start:p.elements[parent].end]) == strings.TrimSpace(p.text[start:end]); parent = p.elements[parent].parent {
		label = parent
	}
	holds := func(from, to int) bool {
		return slices.ContainsFunc(all, func(a amount) bool { return a.number >= from && a.number < to })
	}
	term := p.around(label, atom.Dt)
	if term >= 0 {
		for i := range all {
			all[i].isMine = all[i].isMine || slices.Contains(p.labels(p.at(all[i].number)), term)
		}
		return
	}
	if cell := p.around(label, atom.Td, atom.Th); cell >= 0 && p.around(cell, atom.Table) >= 0 && !holds(p.elements[cell].start, p.elements[cell].end) {
		for i := range all {
			all[i].isMine = all[i].isMine || slices.Contains(p.labels(p.at(all[i].number)), cell)
		}
		return
	}
	if whole := &p.elements[label]; p.textOf(label) != strings.TrimSpace(p.text[start:end]) && holds(whole.start, whole.end) { // the name is a line of it
		for i, a := range all {
			all[i].isMine = a.isMine || a.number >= end && a.number < whole.end && !holds(whole.start, start)
		}
		return
	}
	for outer := p.elements[label].parent; outer >= 0; outer = p.elements[outer].parent {
		from, to := p.elements[outer].start, p.elements[outer].end
		if !holds(from, to) {
			continue
		}
		if names := p.names(outer, label); len(names) > 1 { // what follows the name as far as the next one
			first, last, i := &p.elements[names[0]], &p.elements[names[len(names)-1]], slices.Index(names, label)
			isList := i > 0 && !slices.Contains(headings, first.tag) && !holds(p.elements[names[i-1]].end, start)
			if holds(from, first.start) && !holds(last.end, to) || isList {
				p.isUnclear = true // names may stand under their prices, or all of them before the first one
				return
			}
			from = end
			if i+1 < len(names) {
				to = p.elements[names[i+1]].start
				p.isUnclear = p.isUnclear || !slices.Contains(headings, first.tag) && !holds(from, to)
			}
		}
		for i, a := range all {
			all[i].isMine = a.isMine || a.number >= from && a.number < to
		}
		return
	}
}

// names returns a label and the elements within another one that are names of plans if the label is: of the same tag and
// class, and as short.
func (p *page) names(outer, label int) (found []int) {
	l, own := &p.elements[label], p.textOf(label)
	for i := outer + 1; i < len(p.elements) && p.elements[i].start < p.elements[outer].end && len(found) < maxNames; i++ {
		e, text := &p.elements[i], p.textOf(i)
		isLike := e.tag == l.tag && e.name == l.name && (slices.Contains(headings, e.tag) || e.class == l.class) && text != "" && text != own && len(text) < 60 && !isPart(text)
		if i == label || isLike && !p.isInside(label, i) && !p.isInside(i, label) && planName(text) != planName(own) && len(findAmounts(text)) == 0 {
			found = append(found, i)
		}
	}
	return found
}

// planWords are the words that names of plans are made of.
var planWords = strings.Fields("free gratuit découverte discovery hobby starter start basic basique base basis essentiel essentielle essential essentials " +
	"standard classic classique light lite mini midi maxi max small medium large s m l xl solo duo trio individual individuel einzel perso personal personnel personnelle persönlich privat famille family familie " +
	"indépendant freelance créateur creator plus pro profi professional professionnel premium advanced avancé expert ultra ultimate unlimited illimité gold silver bronze growth scale team teams équipe équipes studio agence agency agentur " +
	"business company entreprise enterprise organisation organization cabinet confort komfort comfort complet complète intégral unternehmen corporate einsteiger débutant beginner fortgeschritten intermédiaire privé klein mittel groß petit moyen grand tpe pme eti kmu 1 2 3 4")

// severalThings matches titles of pages with prices of several tools, or for several countries.
var severalThings = matcher(`\b(?:apps|applications|produits|products|produkte|logiciels|suite|others?|autres|andere\pL*|partenaires|partners|pays|countr\pL+|länder\pL*|region\pL*)\b`)

// arePlans reports whether two amounts are the prices of two plans of one tool: each has a name of its own, under the same
// headings, that of the first is such as plans have, and both have the name of the tool or none has.
func (p *page) arePlans(a, b *amount) bool {
	isOwn := func(w string) bool { return slices.Contains(p.own, w) }
	isStrange := func(w string) bool { return !isOwn(w) && !slices.Contains(planWords, strings.TrimRight(w, "+")) }
	if !p.hasPlans {
		return false
	}
	if a.isListed && p.isBeside(a, b) {
		return true
	}
	second := p.planNames(b, a)
	for i, name := range p.planNames(a, b) {
		mine, other := strings.Fields(planName(shorten(name, 60))), strings.Fields(planName(shorten(second[i], 60)))
		if len(mine) == 0 || len(other) == 0 || slices.ContainsFunc(mine, isStrange) && (!p.areCards(a, b) || isNoPlan(name) || isNoPlan(second[i])) {
			continue
		}
		_, above, _ := strings.Cut(a.headings, "\n")
		_, beside, _ := strings.Cut(b.headings, "\n")
		isAlike := slices.ContainsFunc(mine, isOwn) == slices.ContainsFunc(other, isOwn) && above == beside && !slices.Equal(mine, other)
		return isAlike && (b.standing == plainly && a.units == b.units || audiences.MatchString(second[i]))
	}
	return false
}

// areCards reports whether two amounts stand in boxes of the same kind beside each other, each with several lines of its own.
func (p *page) areCards(a, b *amount) bool {
	first, second := p.part(a, b), p.part(b, a)
	one, other := &p.elements[first], &p.elements[second]
	const few = 3
	isMatrix := one.tag == atom.Tr && len(findAmounts(p.textOf(first))) > 1
	return one.parent == other.parent && one.tag == other.tag && !isCell(one.tag) && !isMatrix &&
		strings.Count(p.textOf(first), "\n")+1 >= few && strings.Count(p.textOf(second), "\n")+1 >= few
}

// part returns the largest element around an amount that another one is not in.
func (p *page) part(a, b *amount) int {
	part := p.at(a.number)
	for e := part; e > 0 && (b.number < p.elements[e].start || b.number >= p.elements[e].end); e = p.elements[e].parent {
		part = e
	}
	return part
}

// planNames returns what may be the name of the plan of an amount that is beside another one: the heading before it, or under the
// same one the heads of its row or column, the words before it, or the first line of its part of the page.
func (p *page) planNames(a, b *amount) (names [3]string) {
	if a.headings != b.headings {
		names[0], _, _ = strings.Cut(a.headings, "\n")
		return names
	}
	for _, l := range p.labels(p.at(a.number)) {
		if text := shorten(p.textOf(l), 60); !slices.Contains(p.labels(p.at(b.number)), l) && !strings.ContainsAny(text, "€$£") {
			names[0] += text + "\n"
		}
	}
	names[1] = a.lead
	names[2], _, _ = strings.Cut(p.textOf(p.part(a, b)), "\n")
	return names
}

// numbered matches the number of a heading.
var numbered = compile(`^\s*\d{1,2}[.)] `)

// findList marks the amounts that are prices of a list of plans, of which nothing says otherwise: three or more for the same units
// that stand beside each other, each with a name.
func (p *page) findList(all []amount) {
	if !p.hasPlans {
		return
	}
	for i := range all {
		a := &all[i]
		if a.units == "" || !a.mayBePlan() {
			continue
		}
		names := map[string]bool{}
		isRow, isColumn := false, false
		for j := range all {
			b := &all[j]
			if i == j || b.price == a.price || !p.isBeside(a, b) {
				continue
			}
			if p.areCells(a, b) {
				isSame := p.isRow(p.at(a.number), p.at(b.number))
				isRow, isColumn = isRow || isSame, isColumn || !isSame
			}
			for _, name := range append(p.besides(a, b), p.planNameOf(a, b), p.planNameOf(b, a)) {
				names[planName(name)] = true
			}
		}
		isOwn := p.name != "" // all have the name of the tool
		for name := range names {
			isOwn = isOwn && strings.HasPrefix(name, planName(p.name)+" ") && !strings.Contains(name, "+")
		}
		a.isListed = (len(names) > 2 || len(names) == 2 && (isOwn || p.areNames(names) && p.isLowest(a, all))) && !(isRow && isColumn)
	}
	for i := range all {
		if all[i].isListed {
			all[i].standing = plainly
		}
	}
}

// areNames reports whether two names may be those of plans though neither is such as plans have: none says what is paid for,
// has the other one in it, that of the tool or the end of what is sold besides.
func (p *page) areNames(names map[string]bool) bool {
	for name := range names {
		words := strings.Fields(quantity().ReplaceAllString(name, " "))
		isKnown := !slices.ContainsFunc(words, func(w string) bool { return !slices.Contains(planWords, w) && !slices.Contains(products, w) })
		if isKnown || len(words) > 3 || says.MatchString(name) || strings.HasSuffix(name, "pack") || slices.ContainsFunc(words, func(w string) bool { return slices.Contains(p.own, w) }) {
			return false
		}
		for other := range names {
			if name != other && strings.Contains(name, other) {
				return false
			}
		}
	}
	return true
}

// isLowest reports whether no amount for the same units is lower.
func (p *page) isLowest(a *amount, all []amount) bool {
	return a.value > 0 && !slices.ContainsFunc(all, func(b amount) bool {
		return b.units == a.units && b.currency == a.currency && b.value > 0 && b.value < a.value
	})
}

// besides returns the first lines of the parts without an amount that stand beside those of two amounts and are of the same kind:
// plans that are free, or whose price one has to ask for.
func (p *page) besides(a, b *amount) (names []string) {
	one, other := p.part(a, b), p.part(b, a)
	outer := p.elements[one].parent
	if one == other || outer < 0 || outer != p.elements[other].parent {
		return nil
	}
	for i := outer + 1; i < min(len(p.elements), outer+maxSiblings) && p.elements[i].start < p.elements[outer].end; i++ {
		e := &p.elements[i]
		if e.parent != outer || e.tag != p.elements[one].tag || e.class != p.elements[one].class || e.end-e.start > 500 || isCell(e.tag) {
			continue
		}
		name, rest, _ := strings.Cut(p.textOf(i), "\n")
		if isShort(name) && rest != "" && !sign.MatchString(p.textOf(i)) {
			names = append(names, name)
		}
	}
	return names
}

// maxSiblings is how many elements are looked through for plans beside one.
const maxSiblings = 1000

// mayBePlan reports whether an amount is a price, if the words before it are the name of a plan.
func (a *amount) mayBePlan() bool {
	return a.standing == plainly || a.standing == talk && a.isLabelled
}

// isBeside reports whether two amounts stand in parts of the same kind, each under a name.
func (p *page) isBeside(a, b *amount) bool {
	isPrice := b.currency == a.currency && b.units == a.units && b.mayBePlan() && b.value != 0
	if !isPrice {
		return false
	}
	first, second := p.planNameOf(a, b), p.planNameOf(b, a)
	return first != "" && second != "" && planName(first) != planName(second) && !isNoPlan(first) && !isNoPlan(second)
}

// areCells reports whether two amounts are in cells of one table.
func (p *page) areCells(a, b *amount) bool {
	table := p.around(p.at(a.number), atom.Table)
	return table >= 0 && table == p.around(p.at(b.number), atom.Table) && p.around(p.at(a.number), atom.Td, atom.Th) > table
}

// planNameOf returns what may be the name of the plan of an amount beside another one, "" if there is none.
func (p *page) planNameOf(a, b *amount) (name string) {
	one, other := p.part(a, b), p.part(b, a)
	switch e, f := &p.elements[one], &p.elements[other]; {
	case one == other: // lines of one element
		start, _ := p.block(a.number)
		name = p.text[start:max(start, a.start)]
	case p.areCells(a, b), p.around(one, atom.Dd) >= 0 && p.around(other, atom.Dd) >= 0:
		beside := p.labels(p.at(b.number))
		for _, l := range p.labels(p.at(a.number)) {
			if !slices.Contains(beside, l) {
				name = p.textOf(l)
			}
		}
	case e.parent == f.parent && e.tag == f.tag:
		name = p.textOf(one)
	}
	name, _, _ = strings.Cut(strings.TrimSpace(name), "\n")
	amounts := findAmounts(name)
	if len(amounts) > 0 {
		name = name[:amounts[0].start]
	}
	if strings.TrimSpace(name) == "" && a.headings != b.headings { // the price stands under a heading
		name, _, _ = strings.Cut(a.headings, "\n")
	}
	if !isShort(name) {
		return ""
	}
	return name
}

// isShort reports whether a text has few words, as the name of a plan has.
func isShort(s string) bool {
	n := len(strings.Fields(s))
	return n > 0 && n <= 7 && len(s) < 60 && !strings.ContainsAny(s, "?!")
}
