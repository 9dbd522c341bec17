package evidence

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/net/html/atom"
)

// fillers are words around the name of a plan that are not part of it.
var fillers = strings.Fields("plan plans offre offres formule formules abonnement tarif tarifs the our le la l les notre pack paket pour " +
	"populaire recommandé recommandée popular recommended beliebt empfohlen unser unsere de der die das")

var praise = regexp.MustCompile(`(?i)le plus (?:populaire|choisi|vendu)|most popular|am beliebtesten|best(?: value|seller| choice)|meilleur(?:e)? (?:choix|offre|vente)|bestseller`)

// planName returns the words of a name of a plan, as they are compared.
func planName(s string) string {
	s = strings.ToLower(s)
	if rest := praise.ReplaceAllString(s, " "); strings.TrimSpace(rest) != "" {
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
	m := perWhat.FindStringSubmatch(s)
	rest := letters.FindAllString(praise.ReplaceAllString(s, " "), -1)
	return m != nil && isTime(unitWords[m[1]]) || !slices.ContainsFunc(rest, func(w string) bool { return !slices.Contains(fillers, w) })
}

// maxNames is how often a page may name a plan and still be understood.
const maxNames = 30

// markPlan marks the amounts that are those of a plan, by its name as the page has it, or all without one; isNamed reports
// whether the page has it at all. The name of the tool may stand before that of the plan.
func (p *page) markPlan(tool, name string, all []amount) (isNamed bool) {
	for i := range all {
		all[i].isMine = name == ""
	}
	if name == "" {
		return false
	}
	name = planName(name)
	isName := func(s string) bool {
		s = planName(s)
		return s == name || s == planName(tool)+" "+name
	}
	at, count := 0, 0
	for line := range strings.Lines(p.text) {
		if len(line) < 100 && count < maxNames && isName(line) {
			isNamed = true
			count++
			p.mark(all, at, at+len(strings.TrimRight(line, "\n")))
		}
		at += len(line)
	}
	for i := range all { // Pro : 19 €/mois
		start, _ := p.block(all[i].start)
		if i > 0 {
			start = max(start, all[i-1].end)
		}
		before := costs.ReplaceAllString(strings.TrimRight(p.text[start:all[i].start], " :–—-(="), "")
		if cut := strings.LastIndexAny(before, ".;,|·•"); cut >= 0 {
			before = before[cut+1:]
		}
		if isName(before) && strings.TrimSpace(before) != "" {
			all[i].isMine, isNamed = true, true
		}
	}
	return isNamed
}

// costs matches the verb between the name of a plan and its price.
var costs = regexp.MustCompile(`(?i) (?:coûte|costs?|kostet|est (?:à|proposée? à|facturée?)|is(?: priced at)?|ist für)$`)

// mark marks the amounts that a label of a plan is for.
func (p *page) mark(all []amount, start, end int) {
	label := p.at(start)
	for parent := p.elements[label].parent; parent > 0 && strings.TrimSpace(p.text[p.elements[parent].start:p.elements[parent].end]) == strings.TrimSpace(p.text[start:end]); parent = p.elements[parent].parent {
		label = parent
	}
	holds := func(from, to int) bool {
		return slices.ContainsFunc(all, func(a amount) bool { return a.number >= from && a.number < to })
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
	second := p.planNames(b, a)
	for i, name := range p.planNames(a, b) {
		mine, other := strings.Fields(planName(shorten(name, 60))), strings.Fields(planName(shorten(second[i], 60)))
		if len(mine) == 0 || len(other) == 0 || slices.ContainsFunc(mine, isStrange) {
			continue
		}
		_, above, _ := strings.Cut(a.headings, "\n")
		_, beside, _ := strings.Cut(b.headings, "\n")
		isAlike := slices.ContainsFunc(mine, isOwn) == slices.ContainsFunc(other, isOwn) && above == beside && !slices.Equal(mine, other)
		return isAlike && (b.standing == plainly && a.units == b.units || audiences.MatchString(second[i]))
	}
	return false
}

// planNames returns what may be the name of the plan of an amount that is beside another one: the heading before it, or under the
// same one the heads of its row or column, the words before it, or the first line of its part of the page.
func (p *page) planNames(a, b *amount) (names [3]string) {
	if a.headings != b.headings {
		names[0], _, _ = strings.Cut(a.headings, "\n")
		return names
	}
	part := p.at(a.number)
	for _, l := range p.labels(part) {
		if text := shorten(p.textOf(l), 60); !slices.Contains(p.labels(p.at(b.number)), l) && !strings.ContainsAny(text, "€$£") {
			names[0] += text + "\n"
		}
	}
	for e := part; e > 0 && (b.number < p.elements[e].start || b.number >= p.elements[e].end); e = p.elements[e].parent {
		part = e
	}
	names[1] = a.lead
	names[2], _, _ = strings.Cut(p.textOf(part), "\n")
	return names
}
