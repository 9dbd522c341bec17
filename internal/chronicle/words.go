// Package chronicle tells what happened to a catalogue: the one place where changes become words, for the site and its
// feeds, mails, the desk, the command line and assistants.
package chronicle

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/chart"
	"palmares/internal/french"
	"palmares/internal/markdown"
	"palmares/internal/problem"
)

// Title returns what happened in a line: Relectron : 26 → 29 €/mois.
func Title(e *catalog.Entry, in problem.Language) string {
	colon := in.Either("\u00a0: ", ": ")
	name := markdown.NoBreak(e.Name)
	if kind := catalog.KindNamed(e.Kind); kind.IsText() { // whose title may be a question
		return french.Capital(textWords(kind, e, in)) + colon + name
	}
	if e.What == catalog.WhatRenamed {
		return markdown.NoBreak(e.Old) + " → " + name + colon + in.Either("nouveau nom", "new name")
	}
	return name + colon + words(e, in)
}

func words(e *catalog.Entry, in problem.Language) string {
	switch e.What {
	case catalog.WhatNew:
		return in.Either("nouvel outil", "new tool")
	case catalog.WhatTest:
		if e.New == "" {
			return in.Either("test retiré", "test withdrawn")
		}
		return in.Either("test publié", "test published")
	case catalog.WhatScore:
		return scoreWords(e, in)
	case catalog.WhatPrice:
		return PriceWords(catalog.ParsePrice(e.Old), catalog.ParsePrice(e.New), in)
	case catalog.WhatPlan:
		plan := markdown.NoBreak(e.Field)
		if e.New == "" {
			return in.Either("offre "+plan+" retirée", "plan "+plan+" withdrawn")
		}
		return in.Either("nouvelle offre ", "new plan ") + plan + ", " + markdown.NoBreak(e.New)
	case catalog.WhatAnnounced:
		return announcedWords(e, in)
	case catalog.WhatRetired:
		return in.Either("retiré, ", "retired, ") + Reason(catalog.Reason(e.New), in) + replaced(e.Note, in)
	case catalog.WhatRestored:
		return in.Either("de retour dans le catalogue", "back in the catalogue")
	case catalog.WhatText:
		return textWords(review, e, in)
	}
	if e.New != "" {
		return in.Either("réuni à ", "merged into ") + markdown.NoBreak(e.New)
	}
	return in.Either("retiré du catalogue", "removed from the catalogue")
}

// scoreWords says how a score changed, and why.
func scoreWords(e *catalog.Entry, in problem.Language) string {
	figure := func(text string) string {
		x, err := strconv.ParseFloat(text, 64)
		if err != nil || in == problem.English {
			return cmp.Or(text, "—")
		}
		return french.Figure(x)
	}
	if e.Old == "" {
		return in.Either("première note, ", "first score, ") + figure(e.New) + "/10"
	}
	return in.Either("note ", "score ") + figure(e.Old) + " → " + figure(e.New)
}

// Correction returns what somebody is told who was told an entry before it changed, or was taken back.
func Correction(e *catalog.Entry, in problem.Language) string {
	if !e.Withdrawn {
		return in.Either("Correction\u00a0: ", "Correction: ") + Title(e, in)
	}
	return in.Either("Correction\u00a0: «\u00a0"+Title(e, in)+"\u00a0» n’a pas eu lieu", "Correction: “"+Title(e, in)+"” did not happen")
}

// PriceWords says how a price changed: 26 → 29 €/mois.
func PriceWords(old, now catalog.PriceValue, in problem.Language) string {
	before, after := Price(old, in), Price(now, in)
	switch {
	case before == after && old.Pricing != now.Pricing:
		return in.Either("de ", "from ") + said(string(old.Pricing), in) + in.Either(" à ", " to ") + said(string(now.Pricing), in) +
			in.Either(", toujours ", ", still ") + after
	case old.Pricing != now.Pricing:
		return before + " (" + said(string(old.Pricing), in) + ") → " + after + " (" + said(string(now.Pricing), in) + ")"
	}
	amount, unit, hasUnit := strings.Cut(before, "\u00a0")
	if _, other, _ := strings.Cut(after, "\u00a0"); hasUnit && other == unit {
		before = amount
	}
	return before + " → " + after
}

// Price returns a price as visitors see it.
func Price(p catalog.PriceValue, in problem.Language) string {
	if p.Display != "" && p.Display != catalog.Converted {
		return markdown.NoBreak(p.Display)
	}
	if !catalog.IsPublic(p.Pricing, p.Price) {
		return in.Either("sur devis", "on request")
	}
	amount := chart.Price(p.Pricing, p.Price)
	if p.Display == catalog.Converted {
		amount = "environ " + amount
	}
	return said(amount, in)
}

// said returns words of prices and models, which are French, in a language.
func said(text string, in problem.Language) string {
	if in == problem.French {
		return text
	}
	return word.ReplaceAllStringFunc(text, func(w string) string { return cmp.Or(englishWords[w], w) })
}

var word = regexp.MustCompile(`\pL+`)

var englishWords = map[string]string{
	"an": "year", "semestre": "half-year", "trimestre": "quarter", "mois": "month", "semaine": "week", "jour": "day",
	"heure": "hour", "utilisateur": "user", "gratuit": "free", "payant": "paid", "environ": "about",
}

// announcedWords says what is announced, for which day, or that it no longer is.
func announcedWords(e *catalog.Entry, in problem.Language) string {
	day := in.Either(french.Date(e.Field), e.Field)
	what := Announced(e, in)
	if e.New == "" {
		return in.Either("annonce retirée\u00a0: "+what+" le ", "announcement withdrawn: "+what+" on ") + day
	}
	return what + in.Either(", annonce pour le ", ", announced for ") + day
}

// Announced returns what is announced, without the day: 26 → 29 €/mois.
func Announced(e *catalog.Entry, in problem.Language) string {
	value := cmp.Or(e.New, e.Old)
	if !strings.Contains(value, "\t") {
		return in.Either("fin, ", "end, ") + Reason(catalog.Reason(value), in) + replaced(e.Note, in)
	}
	if now := catalog.ParsePrice(e.Note); now.Price != "" && e.New != "" {
		return PriceWords(now, catalog.ParsePrice(value), in)
	}
	return Price(catalog.ParsePrice(value), in)
}

// Reason returns why a tool was retired.
func Reason(r catalog.Reason, in problem.Language) string {
	known := reasons[r]
	return in.Either(known[0], known[1])
}

var reasons = map[catalog.Reason][2]string{
	"mort": {"fermé", "closed"}, "acquis": {"racheté", "acquired"}, "deprecie": {"périmé", "deprecated"},
	"pivot": {"a changé de métier", "changed its business"}, "absorbe": {"absorbé par un autre", "merged into another"},
}

func replaced(name string, in problem.Language) string {
	if name == "" {
		return ""
	}
	return in.Either(", remplacé par ", ", replaced by ") + markdown.NoBreak(name)
}

// review is the text of a tool.
var review = &catalog.Kind{Name: "avis", Noun: "review"}

// textWords says what happened to a text of a kind.
func textWords(kind *catalog.Kind, e *catalog.Entry, in problem.Language) string {
	nounFrench, nounEnglish, ending := kind.Name, kind.Noun, ""
	if kind.IsFeminine {
		ending = "e"
	}
	if kind == catalog.ArticleKind && e.Note != "" {
		nounFrench, nounEnglish = "article sponsorisé", "sponsored article"
	}
	inFrench, inEnglish := " réécrit", " rewritten"
	switch {
	case e.What == catalog.WhatRemoved || e.New == "":
		inFrench, inEnglish = " retiré", " removed"
	case e.Old == "":
		inFrench, inEnglish = " publié", " published"
	}
	return in.Either(nounFrench+inFrench+ending, nounEnglish+inEnglish)
}

// Values returns what was, what is now and why, for programs: prices as editors write them, and nothing of a text.
func Values(e *catalog.Entry) (old, now, note string) {
	switch e.What {
	case catalog.WhatNew, catalog.WhatTest, catalog.WhatText:
		return "", "", ""
	}
	values := [...]string{e.Old, e.New, e.Note}
	for i, text := range values {
		if strings.Contains(text, "\t") {
			p := catalog.ParsePrice(text)
			values[i] = p.Display
			if p.Display == "" || p.Display == catalog.Converted {
				values[i] = catalog.WrittenPrice(p.Pricing, p.Price)
			}
		}
	}
	return values[0], values[1], values[2]
}

// Label returns the word for what happened, in lists.
func Label(e *catalog.Entry) string {
	if kind := catalog.KindNamed(e.Kind); kind.IsText() {
		return kind.Label
	}
	return labels[e.What]
}

var labels = map[catalog.What]string{
	catalog.WhatNew: "Nouvel outil", catalog.WhatTest: "Test", catalog.WhatScore: "Note", catalog.WhatPrice: "Prix",
	catalog.WhatPlan: "Offre", catalog.WhatAnnounced: "Annonce", catalog.WhatRenamed: "Nom",
	catalog.WhatRemoved: "Retiré", catalog.WhatRetired: "Retiré", catalog.WhatRestored: "De retour",
	catalog.WhatText: "Avis",
}
