package dataapi_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"palmares/internal/catalog"
)

// searchable is a catalogue whose tools differ in what a search can be limited to.
func searchable() *catalog.Catalog {
	c := small()
	c.Categories = append(c.Categories, catalog.Category{Slug: "audio", Label: "Audio", Aliases: []string{"son"}})
	add := func(slug, category, tagline, body string, pricing catalog.Pricing, price string, score *float64) {
		t := tool(slug)
		t.Category, t.Tagline, t.Body, t.Pricing, t.Price, t.Score = category, tagline, body, pricing, price, score
		t.Name = strings.ToUpper(slug[:1]) + slug[1:]
		c.Tools = append(c.Tools, t)
	}
	long := strings.Repeat("Rien de ce que l’on cherche ici. ", 20)
	add("greffier", "audio", "Transcrit vos réunions", "Un <début> & une fin.\n\n## Prise en main\n\n"+long+"\n\n## Le compte rendu {#rendu}\n\n"+long+
		"La *transcription* d’une réunion arrive en deux minutes. "+long, "payant", "18 €/mois", ptr(8.5))
	add("scribe", "audio", "Des réunions transcrites, sans avis", "", "gratuit", "0 €/mois", nil)
	add("stenotype", "code", "La transcription de réunions en ligne de commande", "La transcription d’une réunion, pour qui code.", "freemium", "100 €/an", ptr(6))
	return c
}

type found struct {
	Data []struct {
		Record  json.RawMessage
		Section *struct{ ID, Heading string }
		URL     string
		Snippet string
		Euros   *float64 `json:"euros_per_month"`
	}
	Meta struct {
		Total, Page, Limit, Pages int
		Partial                   bool
		Suggestion                *string
		Constraints               struct{ Pricing *string }
		Retired                   []struct {
			Name, URL  string
			Retired_at string
			Successor  *string
		}
	}
}

func (s *service) search(query string) (f found, slugs []string) {
	s.t.Helper()
	s.get("/data/v1/search?" + query).OK().Into(&f)
	for _, hit := range f.Data {
		var r struct{ Slug string }
		if err := json.Unmarshal(hit.Record, &r); err != nil {
			s.t.Fatal(err)
		}
		slugs = append(slugs, r.Slug)
	}
	return f, slugs
}

func TestASearchAcceptsTheFormerSlugOfACategory(t *testing.T) {
	s := serve(t, searchable(), nil)
	_, now := s.search("q=transcription&category=audio")
	if _, former := s.search("q=transcription&category=son"); len(now) == 0 || !slices.Equal(now, former) {
		t.Errorf("%q; want %q", former, now)
	}
}

func TestASearchFindsTheSectionThatAnswers(t *testing.T) {
	s := serve(t, searchable(), nil)
	f, slugs := s.search("q=" + url.QueryEscape("transcrire une réunion"))
	if len(slugs) != 3 || f.Meta.Total != 3 || f.Meta.Page != 1 || f.Meta.Limit != 50 || f.Meta.Pages != 1 || f.Meta.Suggestion != nil {
		t.Fatalf("%q, %+v", slugs, f.Meta)
	}
	hit := f.Data[slices.Index(slugs, "greffier")]
	if hit.Section == nil || hit.Section.ID != "rendu" || hit.Section.Heading != "Le compte rendu" || hit.URL != "https://essai.example/avis/greffier#rendu" ||
		!strings.HasPrefix(hit.Snippet, "La transcription d’une réunion arrive") || utf8.RuneCountInString(hit.Snippet) > 240 {
		t.Errorf("%+v", hit)
	}
	var page struct{ Data []json.RawMessage }
	s.get("/data/v1/records/outil?slug=greffier&fields=" + "name,domain,category,icp,pricing,price,tagline,score,tier,updated_at,canonical_url,avis_url,alternatives_url").OK().Into(&page)
	if string(hit.Record) != string(page.Data[0]) {
		t.Errorf("the head is %s; want %s", hit.Record, page.Data[0])
	}
	if hit := f.Data[slices.Index(slugs, "scribe")]; hit.Section != nil || hit.URL != "https://essai.example/outils/scribe" || hit.Snippet != "Des réunions transcrites, sans avis" {
		t.Errorf("without a review: %+v", hit)
	}
	if hit := f.Data[slices.Index(slugs, "stenotype")]; hit.Section == nil || hit.Section.ID != "introduction" || hit.Section.Heading != "" {
		t.Errorf("in the introduction: %+v", hit)
	}
	f, _ = s.search("q=A")
	if want := `"images":[{"path":"images/l.png","sha256":"` + strings.Repeat("0f", 32) + `"}]}`; !strings.HasSuffix(string(f.Data[0].Record), want) {
		t.Errorf("%s has no images", f.Data[0].Record)
	}
}

func TestASearchCanBeLimited(t *testing.T) {
	s := serve(t, searchable(), nil)
	meeting := "q=" + url.QueryEscape("transcription réunion")
	for query, want := range map[string]string{
		meeting:                                  "greffier scribe stenotype",
		meeting + "&category=audio":              "greffier scribe",
		meeting + "&category=inconnue":           "",
		meeting + "&score_min=6":                 "greffier stenotype",
		meeting + "&pricing=gratuit":             "scribe",
		meeting + "&pricing=freemium":            "stenotype",
		meeting + "&price_max=20":                "greffier scribe stenotype",
		meeting + "&price_max=17.99":             "scribe stenotype",
		meeting + "&price_max=17.99&score_min=6": "stenotype",
		meeting + "&inconnu=x":                   "greffier scribe stenotype",
		meeting + "+gratuit":                     "scribe stenotype", // a free plan is enough
		meeting + "+gratuit&pricing=gratuit":     "scribe",
		"q=Greffier&price_max=5":                 "", // although it is named
		"q=zzzzqqqq":                             "",
		"q=!!!":                                  "",
	} {
		f, slugs := s.search(query)
		slices.Sort(slugs)
		if got := strings.Join(slugs, " "); got != want || f.Meta.Total != len(slugs) {
			t.Errorf("%s finds %q, in all %d; want %q", query, got, f.Meta.Total, want)
		}
	}
	f, slugs := s.search("q=transcripsion")
	if f.Meta.Suggestion == nil || *f.Meta.Suggestion != "transcription" || len(slugs) == 0 {
		t.Errorf("%q, %+v", slugs, f.Meta)
	}
}

func TestASearchSaysWhatItDoesNotFind(t *testing.T) {
	c := searchable()
	c.Retired = []catalog.Retired{
		{Slug: "perce-brume", Name: "Perce-Brume", Category: "audio", Reason: "mort", RetiredAt: "2026-01-02", Successor: "scribe"},
		{Slug: "vieux", Name: "Vieux Métier", Category: "audio", Reason: "mort", RetiredAt: "2026-01-03"},
	}
	c.Tools[slices.IndexFunc(c.Tools, func(t *catalog.Tool) bool { return t.Slug == "scribe" })].Tagline = "Une transcription gratuite, parce que brune"
	s := serve(t, c, nil)
	f, _ := s.search("q=" + url.QueryEscape("transcription zygomatique"))
	if !f.Meta.Partial || len(f.Meta.Retired) != 0 {
		t.Errorf("%+v", f.Meta)
	}
	f, _ = s.search("q=" + url.QueryEscape("le prix de Perce-brume, ou vieux metier"))
	if f, _ := s.search("q=perce-brume"); f.Meta.Suggestion != nil || len(f.Meta.Retired) != 1 {
		t.Errorf("the name of a retired tool: %+v", f.Meta)
	}
	for _, typed := range []string{"perce-brum", "perse-brume", "Perce-Brumes", "que devient percebrune"} {
		if f, _ := s.search("q=" + url.QueryEscape(typed)); f.Meta.Suggestion != nil || len(f.Meta.Retired) != 1 {
			t.Errorf("the misspelt name %q of a retired tool: %+v", typed, f.Meta)
		}
	}
	if f, _ := s.search("q=metier"); len(f.Meta.Retired) != 0 {
		t.Errorf("a word of a name: %+v", f.Meta)
	}
	if got := f.Meta.Retired; len(got) != 2 || got[0].Name != "Perce-Brume" && got[1].Name != "Perce-Brume" {
		t.Fatalf("%+v", got)
	}
	for _, one := range f.Meta.Retired {
		if one.Name == "Perce-Brume" && (one.Retired_at != "2026-01-02" || *one.Successor != "scribe" || one.URL != "https://essai.example/cimetiere/perce-brume") ||
			one.Name != "Perce-Brume" && one.Successor != nil {
			t.Errorf("%+v", one)
		}
	}
	if f, slugs := s.search("q=" + url.QueryEscape("transcription gratiute")); len(slugs) != 2 || f.Meta.Constraints.Pricing == nil || *f.Meta.Suggestion != "transcription" {
		t.Errorf("a misspelt condition: %q, %+v", slugs, f.Meta)
	}
}

func TestASearchHasPages(t *testing.T) {
	s := serve(t, searchable(), nil)
	_, all := s.search("q=transcription")
	var one []string
	for page := 1; page <= 3; page++ {
		f, slugs := s.search(fmt.Sprintf("q=transcription&limit=1&page=%d", page))
		if f.Meta.Total != 3 || f.Meta.Pages != 3 || f.Meta.Page != page || f.Meta.Limit != 1 {
			t.Errorf("%+v", f.Meta)
		}
		one = append(one, slugs...)
	}
	if !slices.Equal(one, all) || len(all) != 3 {
		t.Errorf("by page %q, in one %q", one, all)
	}
	s.get("/data/v1/search?q=transcription&limit=1&page=2&x=y").OK().HasHeader("X-Total-Count", "3").HasHeader("Link", `</data/v1/search?q=transcription&limit=1&page=1>; rel="first", `+
		`</data/v1/search?q=transcription&limit=1&page=1>; rel="prev", </data/v1/search?q=transcription&limit=1&page=3>; rel="next", </data/v1/search?q=transcription&limit=1&page=3>; rel="last", </licence>; rel="license"`)
	if r := s.get("/data/v1/search?q=transcription&limit=200&page=9007199254740991").OK(); r.Body != `{"data":[],"meta":{"total":3,"page":9007199254740991,"limit":200,"pages":1,"partial":false,"suggestion":null,"constraints":{"pricing":null,"price_max":null},"retired":[],"articles":[]}}` {
		t.Error(r.Body)
	}
}

func TestASearchIsRefusedForWhatIsWrong(t *testing.T) {
	s := serve(t, searchable(), nil)
	for query, param := range map[string]string{
		"q=": "q", "q=+": "q", "q=%ff": "q", "q=a&q=b": "q", "q=" + strings.Repeat("%C3%A9", 201): "q",
		"sort=date": "sort", "usage=": "usage", "exclude_category=": "exclude_category", "alternatives_to=absent": "alternatives_to",
		"q=a&category=": "category", "q=a&score_min=x": "score_min", "q=a&score_min=NaN": "score_min", "q=a&pricing=cher": "pricing", "q=a&price_max=20%E2%82%AC": "price_max", "q=a&price_max=-1": "price_max",
		"q=a&limit=0": "limit", "q=a&limit=201": "limit", "q=a&page=0": "page", "q=a&page=1.5": "page",
	} {
		if r := s.get("/data/v1/search?"+query).Fails(400, "invalid_parameter"); !strings.Contains(r.Body, `"param":"`+param+`"`) {
			t.Errorf("%s: %s", query, r.Body)
		}
	}
	s.get("/data/v1/search?q=" + strings.Repeat("%C3%A9", 200)).OK()
	s.get("/data/v1/search/?q=a").Fails(404, "not_found")
}

func TestASearchGoesOnWhereTheCatalogueIsNotGivenAway(t *testing.T) {
	for _, dataset := range []string{catalog.DatasetHead, catalog.DatasetOff} {
		c := searchable()
		c.Settings.Dataset = dataset
		s := serve(t, c, nil)
		if f, slugs := s.search("q=transcription"); len(slugs) != 3 || !strings.Contains(f.Data[slices.Index(slugs, "greffier")].Snippet, "transcription") {
			t.Errorf("%s: %+v", dataset, f)
		}
	}
}

func TestASearchIsOfTheVersionThatIsServed(t *testing.T) {
	s := serve(t, searchable(), nil)
	before := s.get("/data/v1/search?q=transcription").OK().Header.Get("ETag")
	next := searchable()
	next.Tools = slices.DeleteFunc(next.Tools, func(t *catalog.Tool) bool { return t.Slug == "scribe" })
	s.publish(next)
	s.get("/data/v1/search?q=transcription", "If-None-Match: "+before).OK()
	if _, slugs := s.search("q=transcription"); len(slugs) != 2 {
		t.Errorf("%q", slugs)
	}
}

func TestASearchWithoutWordsListsWhatTheFiltersKeep(t *testing.T) {
	c := searchable()
	c.Categories[len(c.Categories)-1].Usages = []catalog.Usage{{Slug: "noter", Label: "Noter"}}
	c.Tools[slices.IndexFunc(c.Tools, func(x *catalog.Tool) bool { return x.Slug == "scribe" })].Usages = []string{"noter"}
	s := serve(t, c, nil)
	all := len(c.Tools)
	for query, want := range map[string]string{
		"usage=noter":                  "scribe",
		"usage=absent":                 "",
		"category=audio":               "greffier scribe",
		"alternatives_to=scribe":       "greffier",
		"score_min=8":                  "greffier",
		"category=audio&sort=price":    "scribe greffier",
		"category=audio&sort=score":    "greffier scribe",
		"q=transcription&sort=price":   "scribe stenotype greffier",
		"q=transcription&usage=noter":  "scribe",
		"category=son&pricing=gratuit": "scribe",
	} {
		if _, slugs := s.search(query); strings.Join(slugs, " ") != want {
			t.Errorf("%q finds %q, not %q", query, slugs, want)
		}
	}
	if f, _ := s.search(""); f.Meta.Total != all {
		t.Errorf("%d tools, not all %d", f.Meta.Total, all)
	}
	if f, _ := s.search("exclude_category=audio"); f.Meta.Total != all-2 {
		t.Errorf("%d tools are not of a category, of %d", f.Meta.Total, all)
	}
	if f, _ := s.search("q=stenotype"); f.Data[0].Euros == nil || *f.Data[0].Euros != 8.33 {
		t.Errorf("100 € a year are %v a month", f.Data[0].Euros)
	}
}

func TestASearchSaysWhichWishesItRead(t *testing.T) {
	s := serve(t, searchable(), nil)
	for query, want := range map[string]struct{ constraints, slugs string }{
		"transcription pas Scribe":               {`{"pricing":null,"price_max":null,"without":["scribe"]}`, "stenotype greffier"},
		"alternative à Greffier":                 {`{"pricing":null,"price_max":null,"alternatives_to":"Greffier"}`, "scribe"},
		"transcription la moins chère":           {`{"pricing":null,"price_max":null,"sort":"price"}`, "scribe stenotype greffier"},
		"meeting transcription over $10":         {`{"pricing":null,"price_max":null,"price_min":10}`, "greffier"},
		"transcription note supérieure à 7":      {`{"pricing":null,"price_max":null,"score_min":7}`, "greffier"},
		"transcrption gratiute moins de 20 €":    {`{"pricing":"gratuit","price_max":20}`, "stenotype scribe"},
		"transcription testée en 2019 pas audio": {`{"pricing":null,"price_max":null,"tested_from":"2019-01-01","tested_to":"2019-12-31","without":["audio"]}`, ""},
	} {
		body := s.get("/data/v1/search?q=" + url.QueryEscape(query)).OK().Body
		if _, slugs := s.search("q=" + url.QueryEscape(query)); strings.Join(slugs, " ") != want.slugs || !strings.Contains(body, `"constraints":`+want.constraints+`,`) {
			t.Errorf("%q finds %q; want %q and %s:\n%s", query, slugs, want.slugs, want.constraints, body[strings.LastIndex(body, `"meta"`):])
		}
	}
}
