package site_test

import (
	"encoding/xml"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"palmares/internal/catalog"
	"palmares/internal/record"
	"palmares/internal/snapshot"
)

func TestTheFeedListsTheNewestChanges(t *testing.T) {
	for _, v := range []*server{openDemo(t), open(t, hostile())} {
		r := v.get("/flux.atom").ok().is("Content-Type", "application/atom+xml; charset=utf-8")
		var feed struct {
			XMLName xml.Name
			ID      string    `xml:"id"`
			Title   string    `xml:"title"`
			Updated time.Time `xml:"updated"`
			Entries []struct {
				ID      string    `xml:"id"`
				Title   string    `xml:"title"`
				Updated time.Time `xml:"updated"`
				Link    struct {
					Href string `xml:"href,attr"`
				} `xml:"link"`
			} `xml:"entry"`
		}
		if err := xml.Unmarshal([]byte(r.body), &feed); err != nil {
			t.Fatal(err)
		}
		base := v.live.Load().Catalog.URL
		if feed.XMLName.Space != "http://www.w3.org/2005/Atom" || feed.ID != base+"/flux.atom" || feed.Title == "" || feed.Updated.IsZero() || len(feed.Entries) == 0 {
			t.Errorf("got %+v", feed)
		}
		ids := map[string]bool{}
		for i, e := range feed.Entries {
			if ids[e.ID] || e.Title == "" || i > 0 && e.Updated.After(feed.Entries[i-1].Updated) {
				t.Errorf("entry %d: %+v", i, e)
			}
			ids[e.ID] = true
			path, ours := strings.CutPrefix(e.Link.Href, base)
			path, anchor, _ := strings.Cut(path, "#")
			if !ours || anchor != "" && !v.get(path).ok().ids()[anchor] {
				t.Errorf("entry %d leads to %s", i, e.Link.Href)
			}
			v.get(path).ok()
		}
	}
}

func TestChangesAreDescribed(t *testing.T) {
	c := small()
	c.Tools[0].PriceHistory = []catalog.PriceChange{
		{ChangedAt: "2026-10-01", OldPricing: "payant", OldPrice: "1 234,50 €/mois", NewPricing: "payant", NewPrice: "10 €/mois"},
		{ChangedAt: "2026-09-01", OldPricing: "freemium", OldPrice: "10 €/mois", NewPricing: "payant", NewPrice: "10 €/mois"},
	}
	open(t, c).get("/flux.atom").ok().
		says("Abeille\u00a0: 1\u202f234,50\u00a0€/mois → 10\u00a0€/mois", "Abeille\u00a0: de freemium à payant, toujours 10\u00a0€/mois",
						"Abeille ou Bourdon\u202f?", "Bourdon\u00a0: fiche, 6,0/10", "Fantôme 0 quitte le catalogue\u00a0: mort").
		saysNot("Abeille\u00a0: fiche") // the price change says so
}

func TestWithoutEventsTheChangesOfADayAreOneEntry(t *testing.T) {
	v := open(t, small())
	for _, tagline := range []string{"Une", "Deux"} {
		c := small()
		c.Tools[1].Tagline = tagline
		v.publish(c, 1)
		v.get("/flux.atom").ok().says("<id>https://essai.example/flux.atom#fiche-bourdon-2026-10-01</id>")
	}
}

// titlesOf returns the ids and titles of the entries of a feed once it has these events,
// given newest first.
func titlesOf(t *testing.T, c *catalog.Catalog, events ...catalog.Event) (titles []string) {
	t.Helper()
	v := open(t, small())
	snap := snapshot.Build(c, 2, "2026-11-02")
	for i, e := range events {
		e.ID = fmt.Sprintf("evt_%d", len(events)-i)
		snap.Events = append(snap.Events, e)
	}
	v.show(snap)
	for _, e := range feedOf(t, v.get("/flux.atom")) {
		titles = append(titles, strings.TrimPrefix(strings.TrimPrefix(e.ID, "urn:palmares:"), c.URL+"/flux.atom#")+" "+strings.ReplaceAll(e.Title, "\u00a0", " ")+" "+strings.TrimPrefix(e.Link.Href, c.URL))
	}
	return titles
}

func onDay(day int) time.Time { return time.Date(2026, 10, day, 10, 0, 0, 0, time.UTC) }

func named(name string) map[string]any { return map[string]any{"name": name} }

func TestARemovedToolIsToldByItsOwnName(t *testing.T) {
	c := small()
	c.Tools[0].Aliases = append(c.Tools[0].Aliases, "navire", "barque")
	c.Past = map[string]catalog.PastTool{"navire": {Name: "Navire", Category: "code"}, "radeau": {Name: "Radeau", Category: "chat"}}
	equal(t, "the feed", titlesOf(t, c,
		catalog.Event{Type: catalog.ToolRemoved, Slug: "inconnu", At: onDay(6)},
		catalog.Event{Type: catalog.ToolRemoved, Slug: "radeau", At: onDay(5)},
		catalog.Event{Type: catalog.ToolRemoved, Slug: "barque", At: onDay(4)}, // its address was given to another tool later
		catalog.Event{Type: catalog.ToolRemoved, Slug: "navire", At: onDay(4)},
		catalog.Event{Type: catalog.ToolUpdated, Slug: "barque", At: onDay(3), Changed: []string{"updated_at"}, Object: named("La Barque")},
		catalog.Event{Type: catalog.ToolCreated, Slug: "barque", At: onDay(2), Object: named("Barque")},
		catalog.Event{Type: catalog.ToolCreated, Slug: "navire", At: onDay(2), Object: named("Navire")},
		catalog.Event{Type: catalog.ToolCreated, Slug: "ancienne-abeille", At: onDay(1), Object: named("Ancienne")},
	), []string{
		"evt_8 inconnu : retiré /outils",
		"evt_7 Radeau : retiré /outils",
		"evt_6 La Barque : retiré, réuni à Abeille /outils/abeille",
		"evt_5 Navire : retiré, réuni à Abeille /outils/abeille",
		"evt_4 Abeille : fiche mise à jour /outils/abeille",
		"nouveau-ancienne-abeille-2026-10-02 Abeille : nouvel outil /outils/abeille",
		"nouveau-navire-2026-10-02 Navire : nouvel outil /outils/abeille",
		"nouveau-ancienne-abeille-2026-10-01 Abeille : nouvel outil /outils/abeille",
	})
}

func TestTheEntriesOfARenamedToolKeepTheirIDs(t *testing.T) {
	var changes *record.Feed
	idsOf := func(slug string, aliases ...string) (ids []string) {
		c := small()
		tool := c.Tools[1]
		tool.Slug, tool.Aliases = slug, aliases
		tool.AddedAt = "2026-09-01"
		tool.Announced = []catalog.Announcement{{From: "2027-01-01", Price: "12 €/mois"}}
		tool.PriceHistory = []catalog.PriceChange{{ChangedAt: "2026-09-02", OldPrice: "8 €/mois", NewPrice: "9 €/mois"}}
		c.Comparisons = nil
		c.Past = map[string]catalog.PastTool{"avale": {Name: "Avalé"}} // absorbed, which is no renaming
		c.Sort()
		v := open(t, small())
		snap := snapshot.Build(c, 2, "2026-11-02")
		if changes != nil {
			changes, _ = changes.After(c, changes.Last, "2026-11-02T10:00:00Z")
			snap.SetFeed(changes)
		}
		for _, told := range [][]catalog.Event{nil, {
			{ID: "evt_2", Type: catalog.PricingUpdated, Slug: "bourdon", At: onDay(2).AddDate(0, -1, 0), Changed: []string{"price"}},
			{ID: "evt_1", Type: catalog.ToolCreated, Slug: "bourdon", At: onDay(1).AddDate(0, -1, 0)},
		}} {
			snap.Events = told
			v.show(snap)
			for _, e := range feedOf(t, v.get("/outils/"+slug+".atom")) {
				ids = append(ids, e.ID)
			}
		}
		return ids
	}
	before := idsOf("bourdon")
	if len(before) < 5 {
		t.Fatalf("entries: %v", before)
	}
	equal(t, "the ids after a renaming", idsOf("bourdons", "bourdon"), before)
	equal(t, "the ids after it absorbed another", idsOf("bourdons", "avale", "bourdon"), before)
	changes = &record.Feed{ID: "flux", Format: record.Format}
	equal(t, "the ids in a catalogue that knows its past", idsOf("bourdon"), before)
	equal(t, "the ids after it got another address", idsOf("bourdon", "alias"), before)
	equal(t, "the ids after a renaming", idsOf("arbre", "bourdon"), before)
	equal(t, "the ids after another renaming", idsOf("mouche", "arbre", "bourdon"), before)
	equal(t, "the ids after a third renaming", idsOf("cire", "alias", "arbre", "avale", "bourdon", "mouche"), before)
}

// What only has another address is no news: its readers are redirected.
func TestANewAddressAloneIsNotTold(t *testing.T) {
	event := func(kind, slug string, previous map[string]any, changed ...string) catalog.Event {
		return catalog.Event{Type: kind, Slug: slug, At: onDay(5), Changed: changed, Previous: previous, Object: named("Abeille")}
	}
	before := func(field, value string) map[string]any { return map[string]any{field: value} }
	c := small()
	c.Tools[0].Aliases = append(c.Tools[0].Aliases, "ruche")
	c.Past = map[string]catalog.PastTool{"ruche": {Name: "Ruche"}} // absorbed, which is no renaming
	c.Articles = []catalog.Article{{Slug: "voix", Title: "La voix", Authors: []string{"Lou"}, Date: "2026-10-01", Body: "Elle porte."}}
	const duel = "abeille-vs-bourdon"
	equal(t, "the feed", titlesOf(t, c,
		event(catalog.ToolUpdated, "abeille", before("slug", "ancienne-abeille"), "slug", "canonical_url", "avis_url", "alternatives_url", "updated_at"),
		event(catalog.ToolUpdated, "bourdon", nil, "canonical_url", "alternatives_url"), // of the whole site
		event(catalog.ToolUpdated, "bourdon", nil, "updated_at"),                        // plans, criteria
		event(catalog.ToolUpdated, "bourdon", map[string]any{"slug": "bzz", "domain": "bzz.example"}, "slug", "domain", "canonical_url"),
		event(catalog.ComparisonUpdated, duel, before("tool_a", "ancienne-abeille"), "updated_at", "tool_a"),
		event(catalog.ComparisonUpdated, duel, nil, "updated_at", "canonical_url"),
		event(catalog.ComparisonUpdated, duel, before("tool_b", "cigale"), "updated_at", "tool_b"),
		event(catalog.ComparisonUpdated, duel, before("tool_a", "ruche"), "updated_at", "tool_a"),
		event(catalog.ComparisonUpdated, duel, before("tool_a", "ancienne-abeille"), "tool_a", "winner_note"),
		event(catalog.ComparisonUpdated, duel, nil, "updated_at"), // its text
		event(catalog.ArticleUpdated, "voix", before("slug", "voie"), "slug", "canonical_url", "aliases"),
	), []string{
		"evt_9 Bourdon : fiche mise à jour /outils/bourdon",
		"evt_8 Bourdon : fiche modifiée /outils/bourdon",
		"evt_5 Abeille ou Bourdon\u202f? /comparatifs/abeille-vs-bourdon",
		"evt_4 Abeille ou Bourdon\u202f? /comparatifs/abeille-vs-bourdon",
		"evt_3 Abeille ou Bourdon\u202f? /comparatifs/abeille-vs-bourdon",
		"evt_2 Abeille ou Bourdon\u202f? /comparatifs/abeille-vs-bourdon",
	})
}

func TestTheFeedTellsThePricesOfADayAsTheHistoryDoes(t *testing.T) {
	changed := func(old, now string) catalog.PriceChange {
		return catalog.PriceChange{OldPricing: "payant", OldPrice: old + " €/mois", NewPricing: "payant", NewPrice: now + " €/mois"}
	}
	event := func(slug string, day int, old, now string) catalog.Event {
		return catalog.Event{
			Type: catalog.PricingUpdated, Slug: slug, At: onDay(day), Changed: []string{"price"},
			Previous: map[string]any{"price": old + " €/mois"}, Object: map[string]any{"name": "Ancien", "price": now + " €/mois", "pricing": "payant"},
		}
	}
	automatic := func(day string, p catalog.PriceChange) catalog.PriceChange {
		p.ChangedAt, p.Automatic = day, true
		return p
	}
	dated := changed("8", "10")
	dated.ChangedAt = "2026-09-15"
	c := small()
	c.Tools[0].PriceHistory = []catalog.PriceChange{automatic("2026-10-05", changed("12", "25"))}
	c.Tools[1].PriceHistory = []catalog.PriceChange{dated}
	c.Past = map[string]catalog.PastTool{"parti": {Name: "Parti", PriceHistory: []catalog.PriceChange{automatic("2026-10-02", changed("1", "3"))}}}
	equal(t, "the feed", titlesOf(t, c,
		event("abeille", 6, "2499", "25"), // withdrawn
		event("abeille", 6, "25", "2499"),
		event("abeille", 5, "2499", "25"),
		event("ancienne-abeille", 5, "12", "2499"),
		event("bourdon", 4, "9", "10"),
		event("bourdon", 4, "8", "9"),
		event("cigale", 3, "5", "6"), // withdrawn
		event("parti", 2, "2", "3"),
		event("parti", 2, "1", "2"),
		event("inconnu", 1, "2", "3"),
		event("inconnu", 1, "1", "2"),
	), []string{
		"prix-ancienne-abeille-2026-10-05 Abeille : prix, 12 €/mois → 25 €/mois /outils/abeille",
		"prix-bourdon-2026-09-15 Bourdon : prix, 8 €/mois → 10 €/mois /outils/bourdon",
		"prix-parti-2026-10-02 Ancien : prix, 1 €/mois → 3 €/mois /outils",
		"evt_2 Ancien : prix, 2 €/mois → 3 €/mois /outils",
		"evt_1 Ancien : prix, 1 €/mois → 2 €/mois /outils",
	})
}

func TestTheFeedTellsTheScoresOfADayAsTheHistoryDoes(t *testing.T) {
	event := func(slug string, day int, old, now float64, more ...string) catalog.Event {
		e := catalog.Event{
			Type: catalog.ToolUpdated, Slug: slug, At: onDay(day), Changed: append([]string{"score"}, append(more, "updated_at")...),
			Previous: map[string]any{"score": old}, Object: map[string]any{"score": now},
		}
		for _, field := range more {
			e.Previous[field], e.Object[field] = "avant", "après"
		}
		return e
	}
	c := small()
	c.Tools[0].ScoreHistory = []catalog.ScoreChange{{ChangedAt: "2026-10-05", OldScore: number(8), NewScore: number(7), Automatic: true}}
	equal(t, "the feed", titlesOf(t, c,
		event("abeille", 6, 0.7, 7), // a typo
		event("abeille", 6, 7, 0.7, "tagline"),
		event("abeille", 5, 0.7, 7),
		event("abeille", 5, 8, 0.7),
		event("bourdon", 4, 5, 6), // from before there was a score history
		event("bourdon", 4, 4, 5),
	), []string{
		"evt_5 Abeille : fiche modifiée /outils/abeille",
		"note-ancienne-abeille-2026-10-05 Abeille : note 8,0 → 7,0 /outils/abeille",
		"evt_2 Bourdon : note 5,0 → 6,0 /outils/bourdon",
		"evt_1 Bourdon : note 4,0 → 5,0 /outils/bourdon",
	})
}

func TestToolsAreFollowedByTheirOwnFeeds(t *testing.T) {
	price := func(day, old, now string) catalog.PriceChange {
		return catalog.PriceChange{ChangedAt: day, OldPricing: "payant", OldPrice: old + " €/mois", NewPricing: "payant", NewPrice: now + " €/mois", Automatic: true}
	}
	event := func(slug string, day int, old, now string) catalog.Event {
		return catalog.Event{
			ID: fmt.Sprintf("evt_%s_%d", slug, day), Type: catalog.PricingUpdated, Slug: slug, At: onDay(day), Categories: []string{"chat"}, Changed: []string{"price"},
			Previous: map[string]any{"price": old + " €/mois"}, Object: map[string]any{"name": "Ancien", "price": now + " €/mois", "pricing": "payant"},
		}
	}
	c := small()
	c.Tools[0].PriceHistory = []catalog.PriceChange{price("2026-10-05", "12", "25"), price("2026-09-01", "10", "12")}
	c.Tools[1].PriceHistory = []catalog.PriceChange{price("2026-10-04", "8", "9")}
	v := open(t, c)
	told := func(path string, events ...catalog.Event) (titles, ids []string) {
		snap := snapshot.Build(c, 2, "2026-11-02")
		snap.Events = events
		v.show(snap)
		r := v.get(path).ok().is("Content-Type", "application/atom+xml; charset=utf-8").says(`rel="self" type="application/atom+xml" href="` + c.URL + path)
		for _, e := range feedOf(t, r) {
			titles, ids = append(titles, strings.ReplaceAll(e.Title, "\u00a0", " ")), append(ids, e.ID)
		}
		return titles, ids
	}
	titles, ids := told("/outils/abeille.atom", event("abeille", 5, "12", "25"), event("bourdon", 4, "8", "9"))
	equal(t, "the feed of a tool", titles, []string{"Abeille : prix, 12 €/mois → 25 €/mois", "Abeille : fiche, 8,5/10", "Abeille : 10 €/mois → 12 €/mois"})
	_, later := told("/outils/abeille.atom", event("bourdon", 30, "8", "9")) // the event has left the feed
	equal(t, "the ids of the same changes", later, ids)
	titles, _ = told("/flux.atom?outils=abeille,bourdon", event("abeille", 5, "12", "25"), event("bourdon", 4, "8", "9"))
	equal(t, "the feed of two tools", titles, []string{
		"Abeille : prix, 12 €/mois → 25 €/mois", "Bourdon : prix, 8 €/mois → 9 €/mois", "Abeille : fiche, 8,5/10",
		"Bourdon : fiche, 6,0/10", "Abeille : 10 €/mois → 12 €/mois",
	})
	for from, to := range map[string]string{
		"/outils/ancienne-abeille.atom":                          "/outils/abeille.atom",
		"/flux.atom?outils=bourdon,ancienne-abeille":             "/flux.atom?outils=abeille,bourdon",
		"/flux.atom?a=b&outils=bourdon&outils=bourdon%2Cabeille": "/flux.atom?outils=abeille,bourdon",
		"/flux.atom?outils=":                                     "/flux.atom",
	} {
		v.get(from).movesTo(to)
	}
	v.get("/outils/personne.atom").answers(404)
	v.get("/flux.atom?outils=abeille,personne").answers(404).says("«\u00a0personne\u00a0»")
	v.get("/flux.atom?outils=" + strings.Repeat("a,", 21)).answers(400).says("vingt outils au plus")
	v.get("/outils/fantome-00.atom").ok().says("quitte le catalogue") // who follows it learns that
	gone := c.Retired[0]
	titles, _ = told("/outils/"+gone.Slug+".atom", catalog.Event{ID: "evt_r", Type: catalog.ToolRetired, Slug: gone.Slug, At: onDay(9), Categories: []string{gone.Category}})
	equal(t, "the feed of a retired tool", titles, []string{gone.Name + " : retiré"})
	for path, feed := range map[string]string{"/outils/abeille": "/outils/abeille.atom", "/cimetiere/fantome-00": "/outils/fantome-00.atom"} {
		v.get(path).ok().says(`<link rel="alternate" type="application/atom+xml" href="` + feed + `"`)
	}
}

func TestABadgeTellsTheScoreAndTheDay(t *testing.T) {
	v := open(t, small())
	r := v.get("/outils/abeille/badge.svg").ok().is("Content-Type", "image/svg+xml; charset=utf-8").
		is("Cross-Origin-Resource-Policy", "cross-origin").is("Cache-Control", "public, max-age=3600").says("/10, ", " 2026")
	if err := xml.Unmarshal([]byte(r.body), new(struct{ XMLName xml.Name })); err != nil || r.header.Get("ETag") == "" {
		t.Errorf("%v, tag %q: %s", err, r.header.Get("ETag"), r.body)
	}
	v.get("/outils/ancienne-abeille/badge.svg").movesTo("/outils/abeille/badge.svg")
	v.get("/outils/fantome-00/badge.svg").ok().says("retiré le ").saysNot("/10") // where vendors show it, it stays
	v.get("/outils/personne/badge.svg").answers(404)
}

func TestTheHomePageTellsHistories(t *testing.T) {
	c := small()
	c.Tools[0].UpdatedAt = "2026-10-05"
	c.Tools[0].ScoreHistory = []catalog.ScoreChange{
		{ChangedAt: "2026-10-05", OldScore: number(7), NewScore: number(8.5)},
		{ChangedAt: "2026-10-04", OldScore: number(7), NewScore: number(7), OldVerifiability: number(8), NewVerifiability: number(9)},
	}
	c.Tools[1].PriceHistory = []catalog.PriceChange{{ChangedAt: "2026-10-06", OldPricing: "freemium", OldPrice: "12 €/mois", NewPricing: "freemium", NewPrice: "14,50 €/mois"}}
	open(t, c).get("/").ok().
		says("Abeille\u00a0: note 7,0 → 8,5", "Bourdon\u00a0: 12\u00a0€/mois → 14,50\u00a0€/mois", "Bourdon\u00a0: fiche").
		saysNot("Abeille\u00a0: fiche", "7,0 → 7,0")
}

type sitemap struct {
	XMLName xml.Name
	URLs    []struct {
		Loc     string `xml:"loc"`
		Lastmod string `xml:"lastmod"`
	} `xml:",any"`
}

func readSitemap(t *testing.T, r *reply) sitemap {
	t.Helper()
	var m sitemap
	if err := xml.Unmarshal([]byte(r.ok().is("Content-Type", "application/xml; charset=utf-8").body), &m); err != nil {
		t.Fatalf("%s: %v", r.what, err)
	}
	return m
}

func TestTheSitemapListsEveryPageAndOnlyThose(t *testing.T) {
	v := openDemo(t)
	m := readSitemap(t, v.get("/sitemap.xml"))
	if m.XMLName.Local != "urlset" {
		t.Errorf("the sitemap is a %s", m.XMLName.Local)
	}
	seen := map[string]bool{}
	for _, u := range m.URLs {
		path, ours := strings.CutPrefix(u.Loc, v.url)
		if !ours || seen[path] {
			t.Errorf("%s is not ours, or occurs twice", u.Loc)
			continue
		}
		seen[path] = true
		v.get(path).ok().says(`<link rel="canonical" href="` + u.Loc + `">`)
	}
	for i := range v.live.Load().Catalog.Tools {
		slug := v.live.Load().Catalog.Tools[i].Slug
		if !seen["/outils/"+slug] || !seen["/alternatives/"+slug] {
			t.Errorf("%s is missing", slug)
		}
	}
	v.get("/robots.txt").ok().is("Content-Type", "text/plain; charset=utf-8").says("User-agent: *\n", "Sitemap: "+v.url+"/sitemap.xml\n")
}

func TestALargeSitemapIsSplit(t *testing.T) {
	c := large()
	v := open(t, c)
	index := readSitemap(t, v.get("/sitemap.xml"))
	if index.XMLName.Local != "sitemapindex" || len(index.URLs) != 2 {
		t.Fatalf("a %s of %d", index.XMLName.Local, len(index.URLs))
	}
	var all []string
	for _, part := range index.URLs {
		m := readSitemap(t, v.get(strings.TrimPrefix(part.Loc, c.URL)))
		if len(m.URLs) > 50_000 {
			t.Errorf("%s holds %d", part.Loc, len(m.URLs))
		}
		for _, u := range m.URLs {
			all = append(all, u.Loc)
		}
	}
	slices.Sort(all)
	if n := len(slices.Compact(all)); n < 52_000 || n != len(all) {
		t.Errorf("%d URLs, %d of them distinct", len(all), n)
	}
}
