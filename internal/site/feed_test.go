package site_test

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"palmares/internal/catalog"
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

// tell shows a catalogue with stored entries, which are given latest first and happened a minute apart.
func (v *server) tell(c *catalog.Catalog, entries ...catalog.Entry) {
	v.t.Helper()
	snap := snapshot.Build(c, 2, "2026-11-02")
	for i, e := range entries {
		e.First, e.Position = cmp.Or(e.First, e.Slug), int64(len(entries)-i)
		e.Day = cmp.Or(e.Day, "2026-10-10")
		e.Topics = append(e.Topics, "outils/"+e.First, "categories/chat")
		e.At = fmt.Sprintf("2026-10-10T10:%02d:00Z", e.Position)
		snap.Entries = append(snap.Entries, e)
	}
	snap.Entries = append(snap.Entries, c.PastEntries()...)
	v.show(snap)
}

func TestFeedsTellTheChronicle(t *testing.T) {
	c := magazine()
	c.Articles = written().Articles
	c.Sort()
	v, _ := openMagazine(t, c)
	price := catalog.Entry{
		Kind: "outil", Slug: "ancienne-abeille", Name: "Abeille", What: catalog.WhatPrice,
		Old: "payant\t9 €/mois", New: "payant\t10 €/mois",
	}
	score := catalog.Entry{
		Kind: "outil", Slug: "abeille", First: "ancienne-abeille", Name: "Abeille", What: catalog.WhatScore,
		Old: "7", New: "8.5", Note: "Plus sûre : oui", Day: "2026-09-01",
	}
	article := catalog.Entry{
		Kind: "article", Slug: "voix", First: "vieux", Name: "La voix", What: catalog.WhatText, New: "1", Day: "2026-10-01",
		Topics: []string{"outils/ancienne-abeille"},
	}
	again := article
	again.Old, again.New, again.Day = "1", "2", ""
	taken := catalog.Entry{Kind: "outil", Slug: "drosophile", What: catalog.WhatNew, Withdrawn: true}
	v.tell(c, taken, price, again, article, score)
	said := func(path string) (list []string) {
		r := v.get(path).is("Content-Type", "application/atom+xml; charset=utf-8").
			says(`rel="self" type="application/atom+xml" href="` + c.URL + path)
		for _, e := range feedOf(t, r) {
			summary, _, _ := strings.Cut(e.Summary, " dans")
			list = append(list, strings.Join([]string{
				strings.TrimPrefix(e.ID, c.URL+"/flux.atom#"), e.Updated.Format("02 15:04"), e.Category.Term, e.Title,
				strings.TrimPrefix(e.Link.Href, c.URL), strings.Join(e.Authors, ","), e.Since, summary,
			}, " | "))
		}
		return list
	}
	want := []string{
		"outil/ancienne-abeille/price/2026-10-10 | 10 10:04 | prix | Abeille\u00a0: 9 → 10\u00a0€/mois | " +
			"/outils/abeille | Ada L.,Alan T. |  | ",
		"article/vieux/text/2026-10-10 | 10 10:03 | article | Article réécrit\u00a0: La voix | " +
			"/articles/voix | Ada <b>,Inconnu |  | Un lien",
		"article/vieux/text/2026-10-01 | 10 10:02 | article | Article publié\u00a0: La voix | " +
			"/articles/voix | Ada <b>,Inconnu | 2026-10-01T00:00:00Z | Un lien",
		"outil/ancienne-abeille/score/2026-09-01 | 10 10:01 | note | Abeille\u00a0: note 7,0 → 8,5 | " +
			"/outils/abeille | Ada L.,Alan T. |  | Plus sûre\u00a0: oui",
	}
	for _, path := range []string{
		"/flux.atom", "/categories/chat.atom", "/outils/abeille.atom", "/flux.atom?outils=abeille",
	} {
		equal(t, path, said(path)[:len(want)], want)
	}
	all := said("/flux.atom")
	if len(all) != 50 || !strings.HasPrefix(all[4], "outil/fantome-00/retired/2025-12-28 | 28 00:00 |") {
		t.Errorf("%d entries, then %s", len(all), all[4])
	}
	equal(t, "a category without news", said("/categories/code.atom"), nil)
	v.get("/categories/inconnue.atom").answers(404)
}

func TestToolsAreFollowedByTheirOwnFeeds(t *testing.T) {
	v := open(t, small())
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
	v.get("/outils/fantome-00.atom").ok().says("Fantôme 0\u00a0: retiré, fermé") // who follows it learns that
	for path, feed := range map[string]string{
		"/outils/abeille": "/outils/abeille.atom", "/cimetiere/fantome-00": "/outils/fantome-00.atom",
	} {
		v.get(path).ok().says(`<link rel="alternate" type="application/atom+xml" href="` + feed + `"`)
	}
}

func TestTheHomePageTellsTheLastChangesButNoNewTools(t *testing.T) {
	c := small()
	c.Retired = nil
	for _, tool := range c.Tools {
		tool.AddedAt = "2026-10-01"
	}
	v := open(t, c)
	v.get("/").ok().saysNot(`id="page.changes"`, `class="changes"`, "nouvel outil")
	v.get("/flux.atom").ok().says("nouvel outil")
	c.Tools[0].TestedAt = "2026-08-01" // which the new ones do not hide
	var entries []catalog.Entry
	for i := range 8 {
		entries = append(entries, catalog.Entry{
			Kind: "outil", Slug: "bourdon", Name: fmt.Sprint("Bourdon ", i), What: catalog.WhatRestored,
			Day: fmt.Sprintf("2026-10-0%d", 9-i),
		})
	}
	entries[0].Day = "2026-10-12" // nothing happens after it is published
	v.tell(c, entries...)
	home := v.get("/").ok().says(`<b>De retour</b> <time datetime="2026-10-10">`, `datetime="2026-10-08"`, "Bourdon 7",
		`<a href="/outils/abeille">`+"Abeille\u00a0: test publié</a>").saysNot("nouvel outil", "2026-10-12")
	if n := strings.Count(home.body, `<p class="kicker"><b>`); n != 9 {
		t.Errorf("%d changes", n)
	}
	for _, e := range entries {
		e.First = "autre"
		entries = append(entries, e)
	}
	v.tell(c, entries...)
	v.get("/").ok().says("Bourdon 0").saysNot("test publié")
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
