package site_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"palmares/internal/catalog"
	"palmares/internal/markdown"
)

// poison tries to open an element, leave an attribute, close a script, and reverse or
// widen the page. No text of a catalogue may do that.
const poison = `</script><script>alert(1)</script><img src=x onerror=alert(2)>" onmouseover="alert(3)' {{.}} ${x} ]]> --> ` + "\u202eדבר\u2028" + ` &lt;b&gt;`

// hostile is a catalogue with poison in every text field.
func hostile() *catalog.Catalog {
	word := poison + strings.Repeat("x", 3000)
	escaped := strings.ReplaceAll(markdown.Escape(word), `"`, `\"`)
	picture := "![" + escaped + "](../images/x.png \"" + escaped + "\")"
	c := &catalog.Catalog{
		Name: poison, URL: "https://hostile.example",
		Settings: catalog.Settings{Headline: word, Introduction: poison, Description: word, Contact: "javascript:alert(8)", Publisher: word, Logo: "images/x.png"},
		Categories: []catalog.Category{{
			Slug: "chat", Label: poison, Description: poison, Usages: []catalog.Usage{{Slug: "u", Label: word}},
			Criteria: []catalog.Criterion{{Slug: "a", Label: word, Description: word}, {Slug: "b", Label: poison, Unit: poison, Worst: number(0), Best: number(9)}},
			Profiles: []catalog.Profile{{Label: word, Weights: catalog.Values{{Name: "a", Number: 2}}}},
		}},
		Pages: []catalog.Page{
			{Slug: "a", Title: word, Menu: "header", Description: word, Image: "images/x.png", Body: poison + "\n\n" + picture},
			{Slug: "licence", Title: word, Menu: "footer", Body: poison},
		},
		Pictures: map[string]catalog.Picture{"images/x.png": {Path: "images/x.png", Hash: hashOf("a"), Ext: "png", Width: 3, Height: 2}},
	}
	for i := range 3 {
		c.Tools = append(c.Tools, &catalog.Tool{
			Slug: fmt.Sprintf("outil-%d", i), Name: poison, Domain: poison, Category: "chat", ICP: "mixte", Pricing: "payant",
			Price: "10 €/mois", Tagline: word, Score: number(8), Verifiability: number(5), Obsolescence: number(5), Tier: 1, UpdatedAt: "2026-10-01",
			Sources: []string{"javascript:alert(4)", poison, "https://ok.example/" + poison},
			Body: "Intro " + poison + "\n\n## " + poison + "\n\n[lien](javascript:alert(5)) <script>alert(6)</script>\n\n<iframe src=//evil.example></iframe>\n\n![i](https://evil.example/i.png)\n\n" +
				"## Suite {#suite onclick=\"alert(7)\"}\n\n| a |\n|---|\n| " + poison + " |\n\n" + picture + "\n\nNote[^1]\n\n[^1]: " + poison + "\n",
			PriceDisplay: word, Plans: []catalog.PlanRow{{Name: word, Price: poison, Note: word}}, Authors: []string{word, poison},
			Logo: "images/x.png", Image: "images/x.png", ScoreNote: word,
			Summary: word, Pros: []string{word}, Cons: []string{poison}, Usages: []string{"u"}, Interests: poison, TestedPlan: poison, TestedVersion: poison,
			Criteria:     catalog.Values{{Name: "b", Number: float64(i)}},
			ScoreHistory: []catalog.ScoreChange{{ChangedAt: "2026-09-01", OldScore: number(7), NewScore: number(8), Note: word}},
			PriceHistory: []catalog.PriceChange{{ChangedAt: "2026-01-01", OldPricing: "payant", OldPrice: "8 €/mois", NewPricing: "payant", NewPrice: "10 €/mois"}},
		})
	}
	c.Comparisons = []catalog.Comparison{{
		Slug: "duel", Title: word, ToolA: "outil-0", ToolB: "outil-1", Winner: "outil-0", WinnerNote: word, Published: true, UpdatedAt: "2026-10-02", Body: poison + "\n\n" + picture, Authors: []string{word}, Image: "images/x.png",
	}}
	c.Retired = []catalog.Retired{{Slug: "mort", Name: poison, Category: "chat", Reason: "mort", RetiredAt: "2026-01-02", Note: word, Body: word, Successor: "outil-2", Leaving: poison, LastPrice: poison, ScoreHistory: []catalog.ScoreChange{{ChangedAt: "2025-01-02", NewScore: number(3), Note: poison}}}}
	return c
}

var linkedPattern = regexp.MustCompile(`(?s)<script type="application/ld\+json">(.*?)</script>`)

func TestHostileTextStaysText(t *testing.T) {
	v := open(t, hostile())
	allowed := map[string]bool{}
	for _, name := range strings.Fields("html head meta title link script body a header div svg path use span nav ul ol li main section article aside " +
		"h1 h2 h3 p form search label input button select option dl dt dd figure table caption thead tbody tr th td time strong code pre footer br sup " +
		"rect line text tspan g circle em b details summary h4 wbr img figcaption datalist") {
		allowed[name] = true
	}
	for _, path := range []string{
		"/", "/outils", "/outils?q=alert", "/outils?q=%3Cscript%3Ealert(1)%3C%2Fscript%3E&category=%22%3E%3Cb%3E&score_min=%22%3E%3Cb%3E&sort=%3Cb%3E",
		"/outils/outil-0", "/avis/outil-0", "/alternatives/outil-0", "/categories/chat", "/categories/chat?poids=a:2,b:1", "/categories/chat?poids=%3Cscript%3E:%3Cb%3E", "/comparatifs", "/comparatifs/duel",
		"/comparer", "/comparer?outils=outil-0,outil-1,outil-2", "/comparer?outils=mort,%3Cscript%3Ealert(1)%3C%2Fscript%3E,outil-0",
		"/a", "/prix", "/carte", "/carte?pricing=%22%3E%3Cb%3E&category=%22%3E%3Cb%3E", "/cimetiere", "/cimetiere/mort", "/docs", "/docs/outils", "/docs/embeddings", "/docs/donnees", "/docs/webhooks", "/donnees", "/tarifs", "/licence", "/confidentialite", "/%3Cscript%3Ealert(1)%3C%2Fscript%3E",
	} {
		r := v.get(path)
		for _, one := range r.tags() {
			if !allowed[one.name] {
				t.Errorf("%s: <%s> came through", path, one.name)
			}
			for name, value := range one.attributes {
				if strings.HasPrefix(name, "on") || name == "style" {
					t.Errorf("%s: <%s %s> came through", path, one.name, name)
				}
				if strings.HasPrefix(strings.TrimSpace(strings.ToLower(value)), "javascript:") && name != "value" {
					t.Errorf("%s: <%s %s=%q> came through", path, one.name, name, value)
				}
			}
			if one.name == "script" && one.attributes["src"] == "" && one.attributes["type"] != "application/ld+json" {
				t.Errorf("%s: an inline script came through", path)
			}
			if src := one.attributes["src"]; src != "" && !strings.HasPrefix(src, "/static/") && src != "/media/"+hashOf("a")+".png" {
				t.Errorf("%s: <%s> loads %s", path, one.name, src)
			}
		}
		r.saysNot("<script>", "onerror=alert(2)>", "<iframe", "ZgotmplZ")
		for _, linked := range linkedPattern.FindAllStringSubmatch(r.body, -1) {
			var data []struct {
				Type string `json:"@type"`
			}
			list := "[" + strings.Trim(linked[1], "[]") + "]" // one object, or several
			if err := json.Unmarshal([]byte(list), &data); err != nil || data[0].Type == "" {
				t.Errorf("%s: invalid structured data: %v", path, err)
			}
		}
	}
}

func TestHostileTextIsShown(t *testing.T) {
	v := open(t, hostile())
	const shown = "&lt;/script&gt;&lt;script&gt;"
	v.get("/outils/outil-0").ok().says("Par "+shown, "<strong>"+shown, `scope="row">`+shown, `<td role="cell">`+shown, `"name":"\u003c/script\u003e`)
	v.get("/a").ok().says("<h1>"+shown, `<meta name="description" content="`+shown, `alt="`+shown, "<figcaption>"+shown, ">"+shown+"alert(1)")
	v.get("/").ok().says(`<h1 id="page.titre">`+shown, "publié par "+shown, `<meta name="description" content="`+shown)
	v.get("/outils/outil-0.md").ok().says("- Par\u00a0: \\</script\\>", `| \</script\>`)
}

func TestHostileTextStaysTextInFeeds(t *testing.T) {
	c := hostile()
	v := open(t, c)
	all := feedOf(t, v.get("/flux.atom"))
	var stored []catalog.Entry
	for _, what := range []catalog.What{
		catalog.WhatNew, catalog.WhatScore, catalog.WhatPrice, catalog.WhatPlan, catalog.WhatAnnounced,
		catalog.WhatRenamed, catalog.WhatRemoved,
	} {
		e := catalog.Entry{Kind: "outil", Slug: "outil-0", Name: poison, What: what, Field: poison}
		e.Old, e.New, e.Note = poison, poison, poison
		stored = append(stored, e)
	}
	stored = append(stored, catalog.Entry{Kind: "comparatif", Slug: "duel", Name: poison, What: catalog.WhatText, New: "1"})
	v.tell(c, stored...)
	all = append(all, feedOf(t, v.get("/flux.atom"))...)
	if len(all) <= 2*len(stored) || len(feedOf(t, v.get("/categories/chat.atom"))) < len(stored) {
		t.Errorf("%d entries", len(all))
	}
	for _, e := range all { // as readers get it, whole
		if !strings.Contains(strings.ReplaceAll(e.Title, "\u00a0", " "), "</script><script>alert(1)</script>") {
			t.Errorf("the title %q is not the text", e.Title)
		}
	}
	for _, path := range []string{"/flux.atom", "/categories/chat.atom"} {
		v.get(path).ok().saysNot("<script", "<img", "]]>")
	}
}

func TestStructuredDataDescribesTheReview(t *testing.T) {
	v := open(t, small())
	found := linkedPattern.FindStringSubmatch(v.get("/avis/abeille").ok().body)
	if found == nil {
		t.Fatal("the review has no structured data")
	}
	var review struct {
		Context string `json:"@context"`
		Type    string `json:"@type"`
		Item    struct {
			Type   string `json:"@type"`
			Name   string
			Offers struct {
				Price *float64
				Unit  struct {
					Price, BillingDuration            float64
					PriceCurrency, UnitText, UnitCode string
				} `json:"priceSpecification"`
			}
		} `json:"itemReviewed"`
		Rating struct{ RatingValue, BestRating float64 } `json:"reviewRating"`
		URL    string
	}
	if err := json.Unmarshal([]byte(found[1]), &review); err != nil {
		t.Fatal(err)
	}
	if review.Context != "https://schema.org" || review.Type != "Review" || review.Item.Type != "SoftwareApplication" || review.Item.Name != "Abeille" ||
		review.Item.Offers.Price != nil || fmt.Sprint(review.Item.Offers.Unit) != "{10 1 EUR mois MON}" || review.Rating.RatingValue != 8.5 || review.Rating.BestRating != 10 ||
		review.URL != "https://essai.example/avis/abeille" {
		t.Errorf("got %+v", review)
	}
}
