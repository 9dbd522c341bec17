package chronicle_test

import (
	"strings"
	"testing"

	"palmares/internal/catalog"
	"palmares/internal/chronicle"
	"palmares/internal/problem"
)

func TestEveryEntryHasItsWords(t *testing.T) {
	price := func(pricing catalog.Pricing, price, display string) string {
		return catalog.PriceValue{Pricing: pricing, Price: price, Display: display}.String()
	}
	paid := func(amount string) string { return price(catalog.Paid, amount, "") }
	tool := func(what catalog.What, old, now string) catalog.Entry {
		return catalog.Entry{Kind: "outil", Name: "Relectron", What: what, Old: old, New: now}
	}
	of := func(e catalog.Entry, field, note string) catalog.Entry {
		e.Field, e.Note = field, note
		return e
	}
	text := func(kind, old, note string) catalog.Entry {
		return catalog.Entry{Kind: kind, Name: "Plume ou stylo ?", What: catalog.WhatText, Old: old, New: "2", Note: note}
	}
	removed := func(kind string) catalog.Entry {
		return catalog.Entry{Kind: kind, Name: "Foire", What: catalog.WhatRemoved, Old: "1"}
	}
	const day = "2027-01-01"
	told := map[catalog.What]bool{}
	for _, test := range []struct {
		entry catalog.Entry
		words string // French | English | label, ~ for a no-break space and _ for a narrow one
	}{
		{tool(catalog.WhatNew, "", ""), "Relectron~: nouvel outil|Relectron: new tool|Nouvel outil"},
		{tool(catalog.WhatTest, "", day), "Relectron~: test publié|Relectron: test published|Test"},
		{tool(catalog.WhatTest, day, ""), "Relectron~: test retiré|Relectron: test withdrawn|Test"},
		{tool(catalog.WhatScore, "", "8.5"), "Relectron~: première note, 8,5/10|Relectron: first score, 8.5/10|Note"},
		{tool(catalog.WhatScore, "7", "8.5"), "Relectron~: note 7,0 → 8,5|Relectron: score 7 → 8.5|Note"},
		{tool(catalog.WhatScore, "7", ""), "Relectron~: note 7,0 → —|Relectron: score 7 → —|Note"},
		{
			tool(catalog.WhatPrice, paid("26 €/mois"), paid("29 €/mois")),
			"Relectron~: 26 → 29~€/mois|Relectron: 26 → 29~€/month|Prix",
		},
		{
			tool(catalog.WhatPrice, paid("1 234,50 €/mois"), paid("120 €/an")),
			"Relectron~: 1_234,50~€/mois → 120~€/an|Relectron: 1_234,50~€/month → 120~€/year|Prix",
		},
		{
			tool(catalog.WhatPrice, price("freemium", "10 €/mois", ""), paid("10 €/mois")),
			"Relectron~: de freemium à payant, toujours 10~€/mois|" +
				"Relectron: from freemium to paid, still 10~€/month|Prix",
		},
		{
			tool(catalog.WhatPrice, price("gratuit", "0 €/mois", ""), paid("9 €/mois")),
			"Relectron~: 0~€/mois (gratuit) → 9~€/mois (payant)|Relectron: 0~€/month (free) → 9~€/month (paid)|Prix",
		},
		{
			tool(catalog.WhatPrice, paid(catalog.NoPrice), price(catalog.Paid, "18 €/mois", "20 $/mois")),
			"Relectron~: sur devis → 20 $/mois|Relectron: on request → 20 $/mois|Prix",
		},
		{
			of(tool(catalog.WhatPlan, "", "40 €/mois"), "Équipe", ""),
			"Relectron~: nouvelle offre Équipe, 40~€/mois|Relectron: new plan Équipe, 40~€/mois|Offre",
		},
		{
			of(tool(catalog.WhatPlan, "40 €/mois", ""), "Équipe", ""),
			"Relectron~: offre Équipe retirée|Relectron: plan Équipe withdrawn|Offre",
		},
		{
			of(tool(catalog.WhatAnnounced, "", paid("29 €/mois")), day, paid("26 €/mois")),
			"Relectron~: 26 → 29~€/mois, annonce pour le 1er~janvier 2027|" +
				"Relectron: 26 → 29~€/month, announced for 2027-01-01|Annonce",
		},
		{
			of(tool(catalog.WhatAnnounced, "", "mort"), day, "Plume"),
			"Relectron~: fin, fermé, remplacé par Plume, annonce pour le 1er~janvier 2027|" +
				"Relectron: end, closed, replaced by Plume, announced for 2027-01-01|Annonce",
		},
		{
			of(tool(catalog.WhatAnnounced, paid("29 €/mois"), ""), day, ""),
			"Relectron~: annonce retirée~: 29~€/mois le 1er~janvier 2027|" +
				"Relectron: announcement withdrawn: 29~€/month on 2027-01-01|Annonce",
		},
		{
			tool(catalog.WhatRenamed, "Lecteur", "Relectron"),
			"Lecteur → Relectron~: nouveau nom|Lecteur → Relectron: new name|Nom",
		},
		{tool(catalog.WhatRemoved, "1", "Plume"), "Relectron~: réuni à Plume|Relectron: merged into Plume|Retiré"},
		{removed("outil"), "Foire~: retiré du catalogue|Foire: removed from the catalogue|Retiré"},
		{tool(catalog.WhatText, "1", ""), "Relectron~: avis retiré|Relectron: review removed|Avis"},
		{
			of(tool(catalog.WhatRetired, "", "acquis"), "", "Plume"),
			"Relectron~: retiré, racheté, remplacé par Plume|Relectron: retired, acquired, replaced by Plume|Retiré",
		},
		{
			tool(catalog.WhatRestored, "", "Relectron"),
			"Relectron~: de retour dans le catalogue|Relectron: back in the catalogue|De retour",
		},
		{tool(catalog.WhatText, "", "2"), "Relectron~: avis publié|Relectron: review published|Avis"},
		{tool(catalog.WhatText, "1", "2"), "Relectron~: avis réécrit|Relectron: review rewritten|Avis"},
		{
			text("comparatif", "", ""),
			"Comparatif publié~: Plume ou stylo_?|Comparison published: Plume ou stylo_?|Comparatif",
		},
		{text("article", "1", ""), "Article réécrit~: Plume ou stylo_?|Article rewritten: Plume ou stylo_?|Article"},
		{
			text("article", "", "sponsored"),
			"Article sponsorisé publié~: Plume ou stylo_?|Sponsored article published: Plume ou stylo_?|Article",
		},
		{text("page", "1", ""), "Page réécrite~: Plume ou stylo_?|Page rewritten: Plume ou stylo_?|Page"},
		{removed("page"), "Page retirée~: Foire|Page removed: Foire|Page"},
	} {
		e := &test.entry
		told[e.What] = true
		inFrench, inEnglish := chronicle.Title(e, problem.French), chronicle.Title(e, problem.English)
		got := inFrench + "|" + inEnglish + "|" + chronicle.Label(e)
		if want := strings.NewReplacer("~", "\u00a0", "_", "\u202f").Replace(test.words); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if len(told) != 11 {
		t.Errorf("only %d kinds of entries are told", len(told))
	}
	for _, reason := range catalog.Reasons {
		if chronicle.Reason(reason, problem.French) == "" || chronicle.Reason(reason, problem.English) == "" {
			t.Errorf("%s has no words", reason)
		}
	}
}
