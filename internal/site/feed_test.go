package site_test

import (
	"encoding/xml"
	"slices"
	"strings"
	"testing"
	"time"

	"palmares/internal/catalog"
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
								"Abeille ou Bourdon\u00a0?", "Bourdon\u00a0: fiche mise à jour, 6,0/10", "Fantôme 0 quitte le catalogue\u00a0: mort").
		saysNot("Abeille\u00a0: fiche mise à jour") // the price change says so
}

func TestWithoutEventsTwoChangesOfADayHaveTwoIDs(t *testing.T) {
	c := small()
	v := open(t, c)
	seen := map[string]string{}
	for _, tagline := range []string{"Une", "Deux", "Trois"} {
		c = small()
		c.Tools[1].Tagline = tagline
		v.publish(c, 1)
		for _, e := range feedOf(t, v.get("/flux.atom")) {
			if e.Title == "Bourdon\u00a0: fiche mise à jour, 6,0/10" {
				if other, ok := seen[e.ID]; ok {
					t.Errorf("%s and %s have the id %s", other, tagline, e.ID)
				}
				seen[e.ID] = tagline
			}
		}
	}
	if len(seen) != 3 {
		t.Errorf("%d entries for three changes", len(seen))
	}
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
		says("Abeille\u00a0: note 7,0 → 8,5", "Bourdon\u00a0: 12\u00a0€/mois → 14,50\u00a0€/mois", "Bourdon\u00a0: fiche mise à jour").
		saysNot("Abeille\u00a0: fiche mise à jour", "7,0 → 7,0")
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
