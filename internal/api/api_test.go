package api_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"palmares/demo"
	"palmares/internal/catalog"
	"palmares/internal/content"
	"palmares/internal/snapshot"
)

func number(x float64) *float64 { return &x }

// smallCatalogue returns a catalogue in which every rule of lists matters.
func smallCatalogue() *catalog.Catalog {
	tool := func(slug, name, category string, score, obsolescence float64) *catalog.Tool {
		t := &catalog.Tool{
			Slug: slug, Name: name, Domain: slug + ".example", Category: category, ICP: "mixte", Pricing: "payant",
			Price: "10 €/mois", Tagline: "Un outil d’essai", Tier: 3, UpdatedAt: "2026-10-01",
		}
		if score >= 0 {
			t.Score, t.Verifiability = number(score), number(5.5)
		}
		if obsolescence >= 0 {
			t.Obsolescence = number(obsolescence)
		}
		return t
	}
	c := &catalog.Catalog{
		Name: "Essai", URL: "https://essai.example",
		Categories: []catalog.Category{{Slug: "code", Label: "Développement"}, {Slug: "chat", Label: "Échange"}, {Slug: "voix", Label: "Audio"}},
		Tools: []*catalog.Tool{
			tool("cote", "cote", "code", 8, 2),
			tool("cote-accent", "coté", "code", 8, 5),
			tool("cote-circ", "côte", "chat", 8, -1),
			tool("zebre", "Zèbre", "code", 9.5, 7),
			tool("abeille-2", "Abeille", "chat", 3, 1),
			tool("abeille", "Abeille", "chat", 3, 5),
			tool("neuf", "Éclair", "code", -1, 0),
			tool("vide", "dune", "chat", -1, -1),
		},
		Comparisons: []catalog.Comparison{
			{Slug: "cote-vs-zebre", Title: "cote ou Zèbre", ToolA: "cote", ToolB: "zebre", Winner: "zebre", WinnerNote: "Plus vif.", Published: true, UpdatedAt: "2026-05-01"},
			{Slug: "abeille-vs-cote", Title: "Abeille ou cote", ToolA: "abeille", ToolB: "cote", Winner: "cote", WinnerNote: "Plus sûr.", Published: true, UpdatedAt: "2026-06-01"},
			{Slug: "abeille-vs-zebre", Title: "Abeille ou Zèbre", ToolA: "abeille", ToolB: "zebre", Winner: "zebre", WinnerNote: "Loin devant.", Published: true, UpdatedAt: "2026-06-01"},
			{Slug: "brouillon", Title: "Brouillon", ToolA: "cote", ToolB: "zebre", Winner: "cote", WinnerNote: "?", UpdatedAt: "2026-07-01"},
		},
		Retired: []catalog.Retired{
			{Slug: "tombe-a", Name: "Tombe A", Category: "code", Reason: "mort", RetiredAt: "2025-01-01", Note: "Fini."},
			{Slug: "tombe-b", Name: "Tombe B", Category: "chat", Reason: "acquis", RetiredAt: "2026-01-01", Note: "Racheté.", Successor: "zebre"},
			{Slug: "tombe-c", Name: "Tombe C", Category: "code", Reason: "acquis", RetiredAt: "2026-01-01", Note: "Racheté aussi."},
		},
	}
	zebre := c.Tools[3]
	zebre.Tier, zebre.Body = 1, "Un mot d’abord.\n\n## Verdict\n\nTrès **bon**.\n\n## Prix {#cout}\n\nJuste."
	zebre.Aliases = []string{"zebra"}
	zebre.PriceHistory = []catalog.PriceChange{
		{ChangedAt: "2026-02-01", OldPricing: "payant", OldPrice: "12 €/mois", NewPricing: "payant", NewPrice: "10 €/mois"},
		{ChangedAt: "2025-02-01", OldPricing: "freemium", OldPrice: "0 €/mois", NewPricing: "payant", NewPrice: "12 €/mois"},
	}
	return c
}

func TestAToolHasTheDocumentedFields(t *testing.T) {
	s := serve(t, smallCatalogue())
	s.get("/api/v1/tools/zebre").OK().Equals(`{"slug":"zebre","name":"Zèbre","domain":"zebre.example","category":"code","icp":"mixte","pricing":"payant","price":"10 €/mois","score":9.5,"verifiability":5.5,"tagline":"Un outil d’essai","canonical_url":"https://essai.example/outils/zebre","avis_url":"https://essai.example/avis/zebre","alternatives_url":"https://essai.example/alternatives/zebre","updated_at":"2026-10-01"}`)
	s.get("/api/v1/tools/vide").OK().Equals(`{"slug":"vide","name":"dune","domain":"vide.example","category":"chat","icp":"mixte","pricing":"payant","price":"10 €/mois","score":null,"verifiability":null,"tagline":"Un outil d’essai","canonical_url":"https://essai.example/outils/vide","avis_url":null,"alternatives_url":"https://essai.example/alternatives/vide","updated_at":"2026-10-01"}`)
}

func TestToolsAreSortedAsFrenchReadersExpect(t *testing.T) {
	s := serve(t, smallCatalogue())
	byScore := []string{"zebre", "cote", "cote-accent", "cote-circ", "abeille", "abeille-2", "vide", "neuf"}
	s.get("/api/v1/tools").lists(byScore...)
	s.get("/api/v1/tools?sort=score_desc").lists(byScore...)
	s.get("/api/v1/tools?sort=score_asc").lists("abeille", "abeille-2", "cote", "cote-accent", "cote-circ", "zebre", "vide", "neuf")
	s.get("/api/v1/tools?sort=name_asc").lists("abeille", "abeille-2", "cote", "cote-accent", "cote-circ", "vide", "neuf", "zebre")
	s.get("/api/v1/tools?sort=name_desc").lists("zebre", "neuf", "vide", "cote-circ", "cote-accent", "cote", "abeille", "abeille-2")
}

func TestToolsAreFiltered(t *testing.T) {
	s := serve(t, smallCatalogue())
	s.get("/api/v1/tools?category=chat").lists("cote-circ", "abeille", "abeille-2", "vide")
	s.get("/api/v1/tools?score_min=8").lists("zebre", "cote", "cote-accent", "cote-circ")
	s.get("/api/v1/tools?score_min=8.01").lists("zebre")
	s.get("/api/v1/tools?score_min=0").lists("zebre", "cote", "cote-accent", "cote-circ", "abeille", "abeille-2")
	s.get("/api/v1/tools?score_min=-3").lists("zebre", "cote", "cote-accent", "cote-circ", "abeille", "abeille-2")
	s.get("/api/v1/tools?score_min=11").lists()
	s.get("/api/v1/tools?obsolescence_max=5").lists("cote", "cote-accent", "abeille", "abeille-2", "neuf")
	s.get("/api/v1/tools?obsolescence_max=0&sort=name_asc").lists("neuf")
	s.get("/api/v1/tools?obsolescence_max=-1").lists()
	s.get("/api/v1/tools?score_min=3&obsolescence_max=5&category=chat&sort=name_desc").lists("abeille", "abeille-2")
	s.get("/api/v1/tools?category=inconnue").lists().Equals(`{"data":[],"meta":{"total":0,"page":1,"limit":50,"pages":0}}`).HasHeader("X-Total-Count", "0")
	s.get("/api/v1/tools?category=inconnue&score_min=3").lists()
}

func TestListsArePaged(t *testing.T) {
	s := serve(t, smallCatalogue())
	s.get("/api/v1/tools?limit=3&page=2").lists("cote-circ", "abeille", "abeille-2").HasHeader("X-Total-Count", "8")
	s.get("/api/v1/tools?limit=3&page=3").lists("vide", "neuf")
	s.get("/api/v1/tools?limit=3&page=4").lists().Equals(`{"data":[],"meta":{"total":8,"page":4,"limit":3,"pages":3}}`).HasHeader("X-Total-Count", "8")
	s.get("/api/v1/tools?page=9007199254740991&limit=200").lists().Equals(`{"data":[],"meta":{"total":8,"page":9007199254740991,"limit":200,"pages":1}}`)
	s.get("/api/v1/tools?score_min=3&limit=2&page=3").lists("abeille", "abeille-2").HasHeader("X-Total-Count", "6")
	s.get("/api/v1/tools?score_min=3&limit=2&page=4").lists().HasHeader("X-Total-Count", "6")
	s.get("/api/v1/tools?limit=200").OK()
	for _, path := range []string{"comparatifs", "pricing", "cimetiere"} {
		s.get("/api/v1/" + path + "?limit=1&page=99").lists()
	}
}

func TestEveryPageOfEveryOrderShowsEachToolOnce(t *testing.T) {
	c := &catalog.Catalog{Name: "Essai", URL: "https://essai.example", Categories: []catalog.Category{{Slug: "a", Label: "A"}, {Slug: "b", Label: "B"}}}
	for i := range 333 {
		tool := &catalog.Tool{
			Slug: fmt.Sprintf("t%d", i), Name: fmt.Sprintf("N%d", i%40), Domain: "d.example", Category: string("ab"[i%2]), ICP: "mixte",
			Pricing: "gratuit", Price: "0 €/mois", Tagline: "x", Tier: 3, UpdatedAt: "2026-01-01",
		}
		if i%5 != 0 {
			tool.Score = number(float64(i%37) / 3.7)
		}
		if i%3 != 0 {
			tool.Obsolescence = number(float64(i%11) / 1.1)
		}
		c.Tools = append(c.Tools, tool)
	}
	s := serve(t, c)
	for _, sort := range []string{"score_desc", "score_asc", "name_asc", "name_desc"} {
		for _, filter := range []string{"", "&category=a", "&score_min=4.5", "&obsolescence_max=6", "&category=b&score_min=2&obsolescence_max=8.5"} {
			whole := map[string]bool{}
			want := 0
			for _, tool := range c.Tools {
				if passes(tool, filter) {
					want++
				}
			}
			for page := 1; ; page++ {
				r := s.get(fmt.Sprintf("/api/v1/tools?limit=7&page=%d&sort=%s%s", page, sort, filter)).OK()
				r.HasHeader("X-Total-Count", fmt.Sprint(want))
				got := r.slugs()
				if len(got) == 0 {
					break
				}
				for _, slug := range got {
					if whole[slug] {
						t.Errorf("%s: %s twice", r, slug)
					}
					whole[slug] = true
				}
			}
			if len(whole) != want {
				t.Errorf("%s %s: %d tools, not %d", sort, filter, len(whole), want)
			}
		}
	}
}

// passes reports whether a tool passes a filter, written independently of the snapshot.
func passes(t *catalog.Tool, filter string) bool {
	atLeast := func(p *float64, x float64) bool { return p != nil && *p >= x }
	atMost := func(p *float64, x float64) bool { return p != nil && *p <= x }
	switch filter {
	case "&category=a":
		return t.Category == "a"
	case "&score_min=4.5":
		return atLeast(t.Score, 4.5)
	case "&obsolescence_max=6":
		return atMost(t.Obsolescence, 6)
	case "&category=b&score_min=2&obsolescence_max=8.5":
		return t.Category == "b" && atLeast(t.Score, 2) && atMost(t.Obsolescence, 8.5)
	}
	return true
}

func TestComparisonsAreNewestFirstAndOnlyPublished(t *testing.T) {
	s := serve(t, smallCatalogue())
	r := s.get("/api/v1/comparatifs").lists("abeille-vs-cote", "abeille-vs-zebre", "cote-vs-zebre").HasHeader("X-Total-Count", "3")
	if want := `{"slug":"abeille-vs-cote","title":"Abeille ou cote","winner":"cote","updated_at":"2026-06-01","canonical_url":"https://essai.example/comparatifs/abeille-vs-cote"}`; !strings.Contains(r.Body, want) {
		t.Errorf("no %s in %s", want, r.Body)
	}
	s.get("/api/v1/comparatifs?category=chat").lists("abeille-vs-cote", "abeille-vs-zebre")
	s.get("/api/v1/comparatifs?category=code").lists("abeille-vs-cote", "abeille-vs-zebre", "cote-vs-zebre")
	s.get("/api/v1/comparatifs?category=voix").lists()
	s.get("/api/v1/comparatifs?category=inconnue").lists()
	s.get("/api/v1/comparatifs/cote-vs-zebre").OK().Equals(`{"slug":"cote-vs-zebre","tool_a":{"name":"cote","score":8},"tool_b":{"name":"Zèbre","score":9.5},"winner":"Zèbre","winner_note":"Plus vif."}`)
	s.get("/api/v1/comparatifs/brouillon").Fails(404, "comparatif_not_found", "brouillon")
	s.get("/api/v1/comparatifs/rien").Fails(404, "comparatif_not_found", "/api/v1/comparatifs")
}

func TestPricesAreByNameWithTheirHistory(t *testing.T) {
	s := serve(t, smallCatalogue())
	s.get("/api/v1/pricing").lists("abeille", "abeille-2", "cote", "cote-accent", "cote-circ", "vide", "neuf", "zebre").HasHeader("X-Total-Count", "8")
	s.get("/api/v1/pricing?category=code&limit=1&page=2").lists("cote-accent").Equals(`{"data":[{"slug":"cote-accent","name":"coté","pricing":"payant","price":"10 €/mois"}],"meta":{"total":4,"page":2,"limit":1,"pages":4}}`)
	s.get("/api/v1/pricing/zebre").OK().Equals(`{"slug":"zebre","current_pricing":"payant","current_price":"10 €/mois","price_history":[{"changed_at":"2026-02-01","old_pricing":"payant","old_price":"12 €/mois","new_pricing":"payant","new_price":"10 €/mois"},{"changed_at":"2025-02-01","old_pricing":"freemium","old_price":"0 €/mois","new_pricing":"payant","new_price":"12 €/mois"}]}`)
	s.get("/api/v1/pricing/cote").OK().Equals(`{"slug":"cote","current_pricing":"payant","current_price":"10 €/mois","price_history":[]}`)
}

func TestRetiredToolsAreNewestFirst(t *testing.T) {
	s := serve(t, smallCatalogue())
	s.get("/api/v1/cimetiere").lists("tombe-b", "tombe-c", "tombe-a").HasHeader("X-Total-Count", "3")
	s.get("/api/v1/cimetiere?reason=acquis").lists("tombe-b", "tombe-c")
	s.get("/api/v1/cimetiere?category=code").lists("tombe-c", "tombe-a")
	s.get("/api/v1/cimetiere?category=code&reason=mort&limit=1").lists("tombe-a").Equals(`{"data":[{"slug":"tombe-a","name":"Tombe A","reason":"mort","retired_at":"2025-01-01","note":"Fini."}],"meta":{"total":1,"page":1,"limit":1,"pages":1}}`)
	s.get("/api/v1/cimetiere?reason=pivot").lists()
}

func TestCategoriesAreByLabelWithCountAndAverage(t *testing.T) {
	s := serve(t, smallCatalogue())
	s.get("/api/v1/categories").lists("voix", "code", "chat").HasHeader("X-Total-Count", "3").
		Equals(`{"data":[{"slug":"voix","label":"Audio","tool_count":0,"avg_score":0},{"slug":"code","label":"Développement","tool_count":4,"avg_score":8.5},{"slug":"chat","label":"Échange","tool_count":4,"avg_score":4.67}]}`)
}

func TestStatsCountWhatIsPublic(t *testing.T) {
	serve(t, smallCatalogue()).get("/api/v1/stats").OK().Equals(`{"tools_total":8,"tools_tested":6,"tools_avg_score":6.58,"tools_retired":3,"comparatifs_total":3}`)
}

func TestAnEmptyCatalogueHasEmptyListsAndZeroStats(t *testing.T) {
	s := serve(t, &catalog.Catalog{Name: "Rien", URL: "https://rien.example"})
	for _, path := range []string{"tools", "comparatifs", "pricing", "cimetiere"} {
		s.get("/api/v1/"+path).lists().Equals(`{"data":[],"meta":{"total":0,"page":1,"limit":50,"pages":0}}`).HasHeader("X-Total-Count", "0")
		s.get("/api/v1/" + path + "?category=code").lists()
	}
	s.get("/api/v1/tools?score_min=1&sort=name_desc").lists()
	s.get("/api/v1/categories").lists().Equals(`{"data":[]}`).HasHeader("X-Total-Count", "0")
	s.get("/api/v1/stats").OK().Equals(`{"tools_total":0,"tools_tested":0,"tools_avg_score":0,"tools_retired":0,"comparatifs_total":0}`)
	s.get("/api/v1/tools/rien").Fails(404, "tool_not_found")
}

func TestEmbeddingsAreTheSectionsOfTheReview(t *testing.T) {
	s := serve(t, smallCatalogue())
	r := s.get("/api/embeddings/zebre", "Authorization: good").OK().HasHeader("Cdn-Cache-Control", "no-store")
	var doc catalog.EmbeddingsDoc
	r.Into(&doc)
	if doc.Slug != "zebre" || doc.Name != "Zèbre" || doc.CanonicalURL != "https://essai.example/avis/zebre" || doc.ChunkCount != 3 || len(doc.Chunks) != 3 {
		t.Fatalf("document %s", r.Body)
	}
	var texts []string
	for i, chunk := range doc.Chunks {
		want := []struct{ id, text string }{{"introduction", "Un mot d’abord."}, {"verdict", "Verdict\n\nTrès bon."}, {"cout", "Prix\n\nJuste."}}[i]
		m := chunk.Metadata
		if chunk.ID != want.id || chunk.Text != want.text || m.Section != want.id || m.Position != i || m.Slug != "zebre" || m.Tool != "Zèbre" ||
			m.Category != "code" || m.Score != 9.5 || m.Verifiability != 5.5 || m.UpdatedAt != "2026-10-01" || m.CanonicalURL != "https://essai.example/avis/zebre#"+want.id {
			t.Errorf("chunk %d: %+v", i, chunk)
		}
		texts = append(texts, chunk.Text)
	}
	sum := sha256.Sum256([]byte(strings.Join(texts, "\n\n")))
	if want := "sha256-" + hex.EncodeToString(sum[:]); doc.Hash != want {
		t.Errorf("hash %s, not %s", doc.Hash, want)
	}
}

func TestEmbeddingsNeedAKeyAndAToolOfTheSet(t *testing.T) {
	s := serve(t, smallCatalogue())
	for _, slug := range []string{"zebre", "cote", "rien", "zebra", "tombe-a"} {
		s.get("/api/embeddings/"+slug).Fails(401, "missing_api_key").HasHeader("Www-Authenticate", "Bearer")
	}
	s.get("/api/embeddings/cote", "Authorization: good").Fails(404, "not_in_embeddings_set", "300", "cote")
	s.get("/api/embeddings/rien", "Authorization: good").Fails(404, "tool_not_found")
	s.get("/api/embeddings/tombe-a", "Authorization: good").Fails(404, "tool_not_found", "2025-01-01", "/api/v1/cimetiere")
	r := s.get("/api/embeddings/zebra?x=1", "Authorization: good")
	if r.Status != 308 {
		t.Errorf("an alias: %d", r.Status)
	}
	r.HasHeader("Location", "/api/embeddings/zebre?x=1")
}

func TestAFormerSlugOfAComparisonRedirects(t *testing.T) {
	c := smallCatalogue()
	for i := range c.Comparisons {
		if x := &c.Comparisons[i]; x.Published {
			slug := x.Slug
			x.Aliases = []string{"ancien-duel"}
			r := serve(t, c).get("/api/v1/comparatifs/ancien-duel?x=1")
			if r.Status != 308 {
				t.Errorf("an alias: %d", r.Status)
			}
			r.HasHeader("Location", "/api/v1/comparatifs/"+slug+"?x=1")
			return
		}
	}
	t.Fatal("no comparison")
}

func TestAnUnknownToolIsNotFound(t *testing.T) {
	s := serve(t, smallCatalogue())
	s.get("/api/v1/tools/rien").Fails(404, "tool_not_found", "«\u00a0rien\u00a0»", "/api/v1/tools")
	s.get("/api/v1/pricing/rien").Fails(404, "tool_not_found")
	s.get("/api/v1/tools/%FF%00%22%0A").Fails(404, "tool_not_found")
	s.get("/api/v1/tools/..").Fails(404, "tool_not_found")
	s.get("/api/v1/tools/"+strings.Repeat("a", 5000)).Fails(404, "tool_not_found", "…")
}

func TestARetiredToolSaysSinceWhenAndWhatReplacesIt(t *testing.T) {
	s := serve(t, smallCatalogue())
	for _, path := range []string{"/api/v1/tools/", "/api/v1/pricing/"} {
		s.get(path+"tombe-b").Fails(404, "tool_not_found", "Tombe B", "2026-01-01", "/api/v1/cimetiere", "/api/v1/tools/zebre")
	}
}

func TestAnAliasRedirectsToTheToolAndKeepsTheQuery(t *testing.T) {
	s := serve(t, smallCatalogue())
	for _, path := range []string{"/api/v1/tools/", "/api/v1/pricing/"} {
		for _, query := range []string{"", "?a=b&c=%20d"} {
			r := s.get(path + "zebra" + query)
			if r.Status != http.StatusPermanentRedirect {
				t.Errorf("%s: %d", r, r.Status)
			}
			r.HasHeader("Location", path+"zebre"+query)
		}
	}
}

// Whoever pays for a link buys nothing: not a score, a place in an order, nor the date of an update.
func TestAffiliateLinksChangeNoAnswer(t *testing.T) {
	read := func() *catalog.Catalog {
		r, err := content.ReadFS(t.Context(), demo.Folder, content.Options{InMemory: true})
		if err != nil || len(r.Problems) > 0 {
			t.Fatal(err, r.Problems)
		}
		return r.Catalog
	}
	before := read()
	s := serve(t, before)
	paths := []string{"/api/v1/comparatifs?limit=200", "/api/v1/pricing?limit=200", "/api/v1/cimetiere", "/api/v1/categories", "/api/v1/stats"}
	for _, sort := range snapshot.Sorts {
		paths = append(paths, "/api/v1/tools?limit=200&sort="+sort)
	}
	for _, tool := range before.Tools {
		paths = append(paths, "/api/v1/tools/"+tool.Slug, "/api/v1/pricing/"+tool.Slug)
	}
	bodies := map[string]string{}
	for _, path := range paths {
		bodies[path] = s.get(path).OK().Body
	}
	after := read()
	after.Sort()
	for i, tool := range after.Tools {
		if i%2 == 0 {
			tool.AffiliateURL = "https://regie.example/?vers=" + tool.Slug
		}
	}
	catalog.CarryOver(before, after, "2026-11-17")
	s.live = snapshot.Build(after, 1, "2026-11-02")
	for _, path := range paths {
		if s.get(path).OK().Body != bodies[path] {
			t.Errorf("%s changes with affiliate links", path)
		}
	}
	after.Tools[0].Score, after.Tools[0].UpdatedAt = nil, "" // the check must notice something
	catalog.CarryOver(before, after, "2026-11-17")
	s.live = snapshot.Build(after, 1, "2026-11-02")
	if path := "/api/v1/tools/" + after.Tools[0].Slug; s.get(path).OK().Body == bodies[path] {
		t.Error("another score changes nothing: the other answers prove nothing")
	}
}
