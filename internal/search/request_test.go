package search

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"palmares/internal/catalog"
)

// describe writes a request as its text and what is understood.
func describe(x *Index, r *Request) string {
	parts := []string{r.Text}
	for _, c := range r.Constraints {
		switch {
		case c.Instead != "":
			parts = append(parts, strings.TrimSuffix(fmt.Sprintf("au lieu de %s %s<%g", c.Instead, c.Pricing, c.PriceMax), " <0"))
		case c.Pricing != "":
			parts = append(parts, string(c.Pricing))
		case c.ScoreMin > 0:
			parts = append(parts, fmt.Sprintf("note>%g", c.ScoreMin))
		case c.PriceMin > 0 && c.PriceMax > 0:
			parts = append(parts, fmt.Sprintf("%g-%g", c.PriceMin, c.PriceMax))
		case c.PriceMin > 0:
			parts = append(parts, fmt.Sprintf(">%g", c.PriceMin))
		case c.TestedFrom+c.TestedTo != "":
			parts = append(parts, strings.Join([]string{"testé", orDash(c.TestedFrom), orDash(c.TestedTo)}, " "))
		case c.About:
			parts = append(parts, "sans* "+c.Without)
		case c.Without != "":
			parts = append(parts, "sans "+c.Without)
		case c.Sort != ByRelevance:
			parts = append(parts, fmt.Sprintf("trié %d", c.Sort))
		default:
			parts = append(parts, fmt.Sprintf("<%g", c.PriceMax))
		}
	}
	if len(r.Versus) == 2 {
		slugs := []string{x.tools[r.Versus[0]].Slug, x.tools[r.Versus[1]].Slug}
		slices.Sort(slugs)
		parts = append(parts, strings.Join(slugs, " contre "))
	}
	return strings.Join(parts, "|")
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

func TestWhatASentenceSaysIsUnderstood(t *testing.T) {
	dear, free := tool("Hublot", "", ""), tool("Libelle", "", "")
	dear.Pricing, dear.Price, free.Pricing = "payant", "199 €/an", "gratuit"
	x, _ := index(t, tool("Gratuit Pro", "", ""), tool("Autre", "", ""), tool("Ocrelune", "", ""), tool("Carnet Rank", "", ""), dear, free)
	gone := func(key string) *catalog.Retired {
		if key == "jaserin" {
			return &catalog.Retired{Slug: "jaserin", Name: "Jaserin"}
		}
		return nil
	}
	for query, want := range map[string]string{
		"montage vidéo gratuit":                            "montage vidéo|gratuit",
		"outil gratuit":                                    "outil|gratuit",
		"apprendre l’anglais gratuitement":                 "apprendre l’anglais|gratuit",
		"une version gratuite de chat":                     "de chat|gratuit",
		"logiciel payant":                                  "logiciel|payant",
		"freemium":                                         "|freemium",
		"transcription à moins de 20 € / mois":             "transcription|<20",
		"réunions à moins de 20 € par mois ?":              "réunions ?|<20",
		"moins de 12,50 euros":                             "|<12.5",
		"logo max 10€":                                     "logo|<10",
		"logo 10 € maximum":                                "logo|<10",
		"logo à 10\u00a0€\u202f/\u00a0mois":                "logo|<10",
		"crm jusqu’à 15 euros":                             "crm|<15",
		"crm pour moins de 240 € par an":                   "crm|<20",
		"crm avec un budget de 30 €":                       "crm|<30",
		"crm entre 10 et 20 €":                             "crm|10-20",
		"crm à moins de 20 par mois":                       "crm|<20",
		"gratuit ou moins de 5 €":                          "ou|gratuit|<5",
		"crm à plus de 20 €":                               "crm|>20",
		"la gratuité des musées":                           "la gratuité des musées",
		"code moins de 20 €":                               "code|<20",
		"data moins de 20 €":                               "data|<20",
		"code max 20 €":                                    "code|<20",
		"code < 20 €":                                      "code|<20",
		"code inférieur à 20 €":                            "code|<20",
		"éditeur de code moins de 20 €":                    "éditeur de code|<20",
		"crm 20 €":                                         "crm|<20",
		"crm pas plus de 20 €":                             "crm|<20",
		"crm à 20 € par mois par utilisateur":              "crm par utilisateur|<20",
		"crm à 20 €/utilisateur/mois":                      "crm|<20",
		"moins de vingt euros":                             "|<20",
		"moins de cinquante euros par mois":                "|<50",
		"moins de €20":                                     "|<20",
		"moins de 1 000 € par an":                          "|<83.33",
		"moins de 1\u00a0000 €":                            "|<1000",
		"moins de 1\u202f000\u202f€":                       "|<1000",
		"moins de 1.000 €":                                 "|<1000",
		"moins de 1.234,50 €":                              "|<1234.5",
		"moins de 12 000 € par an":                         "|<1000",
		"moins de 100 € par an":                            "|<8.33",
		"crm entre 10 € et 20 €":                           "crm|10-20",
		"crm de 10 à 20 €":                                 "crm|10-20",
		"crm à partir de 5 € jusqu’à 20 €":                 "crm|>5|<20",
		"pas payant, gratuit":                              "pas payant,|gratuit",
		"chatbot sans internet gratuit":                    "chatbot sans internet|gratuit",
		"pas cher ou gratuit":                              "pas cher ou|gratuit",
		"gpt 4":                                            "gpt 4",
		"moins de 20 images":                               "moins de 20 images",
		"Gratuit Pro":                                      "Gratuit Pro",
		"":                                                 "",
		"supérieur à 30 euros":                             "|>30",
		"plus de 50 €":                                     "|>50",
		"vidéo à plus de 50 € par mois":                    "vidéo|>50",
		"au moins 20 €":                                    "|>20",
		"pas moins de 20 €":                                "|>20",
		"20 € minimum":                                     "|>20",
		"20 € et plus":                                     "|>20",
		"> 20 €":                                           "|>20",
		"au-delà de 20 €":                                  "|>20",
		"montage avec une note supérieure à 8":             "montage|note>8",
		"chatbot noté plus de 7,5":                         "chatbot|note>7.5",
		"logo note minimum 7":                              "logo|note>7",
		"images notées au moins 8/10":                      "images|note>8",
		"au moins 8 sur 10":                                "|note>8",
		"crm 8/10 et plus":                                 "crm|note>8",
		"prendre des notes de 8 réunions":                  "prendre des notes de 8 réunions",
		"note inférieure à 5":                              "note inférieure à 5",
		"un modèle moins cher":                             "un modèle|trié 1",
		"une table mieux notée":                            "une table|trié 2",
		"montage vidéo le moins cher":                      "montage vidéo|trié 1",
		"le logiciel de dictée le moins cher":              "le logiciel de dictée|trié 1",
		"chatbot au meilleur prix":                         "chatbot|trié 1",
		"les mieux notés en code":                          "en code|trié 2",
		"image testé en 2026":                              "image|testé 2026-01-01 2026-12-31",
		"crm testé en mars 2026":                           "crm|testé 2026-03-01 2026-03-31",
		"crm testés depuis 2025":                           "crm|testé 2025-01-01 -",
		"crm testé avant 2025":                             "crm|testé - 2024-12-31",
		"crm testé après 2025":                             "crm|testé 2026-01-01 -",
		"testé récemment":                                  "|trié 3",
		"alternative à Ocrelune":                           "|au lieu de Ocrelune",
		"alternatives à ocrelune ?":                        "?|au lieu de Ocrelune",
		"une alternative gratuite à Ocrelune":              "une|gratuit|au lieu de Ocrelune",
		"remplacer Carnet Rank":                            "|au lieu de Carnet Rank",
		"quelle alternative à carnet rank à moins de 10 €": "quelle|au lieu de Carnet Rank|<10",
		"outil comme Ocrelune":                             "outil|au lieu de Ocrelune",
		"alternative à Jaserin":                            "|au lieu de Jaserin",
		"alternative à notion":                             "alternative à notion",
		"alternative à Hublot moins cher":                  "|au lieu de Hublot <16.57|trié 1",
		"une alternative moins chère à hublot":             "une|trié 1|au lieu de Hublot <16.57",
		"crm moins cher que Hublot":                        "crm|au lieu de Hublot <16.57",
		"cheaper than hublot":                              "|au lieu de Hublot <16.57",
		"alternative à Libelle moins cher":                 "|au lieu de Libelle gratuit<0|trié 1",
		"alternative à Ocrelune moins cher":                "|au lieu de Ocrelune|trié 1", // whose price is not known
		"alternative à Hublot":                             "|au lieu de Hublot",
		"images mais pas Ocrelune":                         "images|sans ocrelune",
		"images pas ocrelune":                              "images|sans ocrelune",
		"autre que Ocrelune":                               "|sans ocrelune",
		"carnet sauf Carnet Rank":                          "carnet|sans carnet rank",
		"carnet sans Ocrelune ni Carnet Rank":              "carnet|sans ocrelune|sans carnet rank",
		"images pas ocrelune ou carnet rank":               "images|sans ocrelune|sans carnet rank",
		"chat mais pas pour adultes":                       "chat|sans* adultes",
		"jeux pas pour les enfants":                        "jeux|sans* enfants",
		"je ne veux pas de vidéo":                          "je ne veux|sans* video",
		"un carnet hormis la photo":                        "un carnet|sans* photo",
		"un assistant qui ne sait pas mentir":              "un assistant qui ne sait pas mentir",
		"chatbot sans internet":                            "chatbot sans internet",
		"créer un site sans coder":                         "créer un site sans coder",
		"cours pas à pas":                                  "cours pas à pas",
		"logiciel pas cher":                                "logiciel pas cher",
		"pas gratuit":                                      "pas gratuit",
		"crm non gratuit":                                  "crm non gratuit",
		"je ne veux pas d'un outil gratuit":                "je ne veux pas d'un outil gratuit",
		"je ne veux pas d’un logiciel entièrement gratuit": "je ne veux pas d’un logiciel entièrement gratuit",
		"sans version gratuite":                            "sans version gratuite",
		"sans être payant":                                 "sans être payant",
		"sans abonnement payant":                           "sans abonnement payant",
		"0,50 € de l'heure":                                "0,50 € de l'heure",
		"20 € par semaine":                                 "20 € par semaine",
		"20 €/jour":                                        "20 €/jour",
		"20 € la minute":                                   "20 € la minute",
		"0,10 € par requête":                               "0,10 € par requête",
		"20 € hebdomadaires":                               "20 € hebdomadaires",
		"moins de vingt-cinq euros":                        "moins de vingt-cinq euros",
		"moins de 1,0000 €":                                "moins de 1,0000 €",
		"Ocrelune ou Carnet Rank":                          "Ocrelune ou Carnet Rank|carnetrank contre ocrelune",
		"ocrelune vs carnet rank gratuit":                  "ocrelune vs carnet rank gratuit|carnetrank contre ocrelune",
		"comparer ocrelune et carnet rank":                 "comparer ocrelune et carnet rank|carnetrank contre ocrelune",
		"ocrelune et carnet rank":                          "ocrelune et carnet rank",
		"jaserin":                                          "jaserin",
		"free logo maker":                                  "logo maker|gratuit",
		"logo for free":                                    "logo|gratuit",
		"royalty-free music":                               "royalty-free music",
		"free trial":                                       "free trial",
		"video editing under $20":                          "video editing|<20",
		"crm for less than 30 dollars a month":             "crm|<30",
		"crm at most $240 per year":                        "crm|<20",
		"crm over $50":                                     "crm|>50",
		"cheapest logo tool":                               "logo tool|trié 1",
		"rated above 8":                                    "|note>8",
		"transcription without Ocrelune":                   "transcription|sans ocrelune",
		"image generator but not Ocrelune":                 "image generator|sans ocrelune",
		"images not for kids":                              "images|sans* kids",
		"alternatives to Ocrelune":                         "|au lieu de Ocrelune",
		"tested in 2026":                                   "|testé 2026-01-01 2026-12-31",
	} {
		if r := x.ReadRequest(query, gone); describe(x, &r) != want {
			t.Errorf("%q is read as %q, want %q", query, describe(x, &r), want)
		}
	}
	r := x.ReadRequest("montage gratuit de vidéo à moins de 5 €", nil)
	if a, b := r.Without(0), r.Without(1); a != "montage de vidéo à moins de 5 €" || b != "montage gratuit de vidéo" {
		t.Errorf("without each: %q and %q", a, b)
	}
}
