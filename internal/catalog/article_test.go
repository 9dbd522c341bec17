package catalog

import "testing"

func TestTextsAreToldByTheirOwnEvents(t *testing.T) {
	article := func(slug, title string, aliases ...string) Article {
		return Article{Slug: slug, Title: title, Authors: []string{"Ada"}, Date: "2026-01-01", Body: "Un.", Aliases: aliases}
	}
	publishAll := func(steps ...*Catalog) []string {
		t.Helper()
		last := &Catalog{}
		var changes []string
		for _, next := range steps {
			next.Sort()
			changes = publish(t, last, next, "2026-01-02")
			last = next
		}
		return changes
	}
	with := func(articles []Article, pages ...Page) *Catalog {
		c := with(tool("a"))
		c.Articles, c.Pages = articles, pages
		return c
	}
	one, none := with([]Article{article("voix", "Voix")}), with(nil)
	expect(t, publishAll(none, one), "article.published voix")
	expect(t, publishAll(one, with([]Article{article("voix", "La voix")})), "article.updated voix title")
	sponsored := article("voix", "Voix")
	sponsored.Sponsored, sponsored.Body = true, "Deux."
	expect(t, publishAll(one, with([]Article{sponsored})), "article.updated voix sponsored,body")
	expect(t, publishAll(one, with([]Article{article("parler", "Voix", "voix")})), "article.updated parler slug,canonical_url,aliases")
	expect(t, publishAll(one, none), "article.removed voix")

	page := Page{Slug: "methode", Title: "Méthode", Menu: MenuFooter, Body: "Un."}
	moved, rewritten := page, page
	moved.Menu, rewritten.Body = MenuHeader, "Deux."
	expect(t, publishAll(none, with(nil, page)), "page.updated methode")
	expect(t, publishAll(with(nil, page), with(nil, rewritten)), "page.updated methode body")
	if got := publishAll(with(nil, page), with(nil, moved)); len(got) != 1 {
		t.Errorf("a page in another menu is told: %v", got)
	}
}

func TestAToolKnowsSinceWhenItIsInAPublishedCatalogue(t *testing.T) {
	first, second := with(tool("a")), with(tool("a"), tool("b"))
	publish(t, &Catalog{}, first, "2026-01-01")
	publish(t, first, second, "2026-01-02")
	third := with(tool("a"), tool("c", func(t *Tool) { t.Aliases, t.Tagline = []string{"b"}, "Autre" }))
	publish(t, second, third, "2026-01-03")
	for slug, want := range map[string]string{"a": "", "c": "2026-01-02"} {
		if got := third.Tool(slug).AddedAt; got != want {
			t.Errorf("%s: %q, want %q", slug, got, want)
		}
	}
}
