package site_test

import (
	"encoding/xml"
	"strings"
	"testing"
	"time"

	"palmares/internal/catalog"
	"palmares/internal/record"
	"palmares/internal/snapshot"
)

func TestWhatIsAnnouncedIsToldEverywhere(t *testing.T) {
	c := small()
	tool := c.Tools[0]
	tool.Announced = []catalog.Announcement{
		{From: "2027-01-01", Price: "25 €/mois", Source: "https://plume.example/prix"},
		{From: "2027-03-31", Retire: "mort", Successor: c.Tools[1].Slug},
	}
	v := open(t, c)
	page := v.get("/outils/" + tool.Slug).ok().body
	for _, want := range []string{"À partir du 1er\u00a0janvier 2027\u00a0: 25\u00a0€/mois", "https://plume.example/prix", "Fin annoncée pour le 31\u00a0mars 2027\u00a0: mort, remplacé par " + c.Tools[1].Name} {
		if !strings.Contains(page, want) {
			t.Errorf("the page of the tool does not say %q", want)
		}
	}
	for _, path := range []string{"/a-venir", "/a-venir.md", "/outils/" + tool.Slug + ".md", "/flux.atom", "/categories/" + tool.Category + ".atom"} {
		if body := v.get(path).ok().body; !strings.Contains(body, "25\u00a0€/mois") || !strings.Contains(body, "1er\u00a0janvier 2027") {
			t.Errorf("%s does not tell the price: %s", path, body)
		}
	}
	v.get("/flux.atom").ok().says("<title>"+tool.Name+"\u00a0: 10\u00a0€/mois → 25\u00a0€/mois le 1er\u00a0janvier 2027</title>", ": fin annoncée (mort), remplacé par "+c.Tools[1].Name+", dès le 31\u00a0mars 2027</title>")
	if strings.Contains(v.get("/sitemap.xml").ok().body, "/a-venir<") == false {
		t.Error("the sitemap has no /a-venir")
	}
	calendar := v.get("/calendrier.ics").ok().is("Content-Type", "text/calendar; charset=utf-8").body
	for line := range strings.SplitAfterSeq(strings.TrimSuffix(calendar, "\r\n"), "\r\n") {
		if len(strings.TrimSuffix(line, "\r\n")) > 75 || strings.Contains(strings.TrimSuffix(line, "\r\n"), "\n") {
			t.Errorf("a line of the calendar is %q", line)
		}
	}
	unfolded := strings.ReplaceAll(calendar, "\r\n ", "")
	for _, want := range []string{"\r\nUID:ancienne-abeille-2027-01-01@", "\r\nDTSTART;VALUE=DATE:20270101\r\n", "\r\nDTSTART;VALUE=DATE:20270331\r\n", "fin annoncée (mort)\\, remplacé par"} {
		if !strings.Contains(unfolded, want) {
			t.Errorf("the calendar has no %q: %s", want, unfolded)
		}
	}
	if body := open(t, small()).get("/a-venir").ok().body; !strings.Contains(body, "Aucun changement n’est annoncé") {
		t.Errorf("got %s", body)
	}
}

func TestAnAnnouncementIsToldAtTheHourAtWhichItBecameKnown(t *testing.T) {
	c := small()
	tool := c.Tools[0]
	tool.UpdatedAt = "2026-10-05"
	tool.Announced = []catalog.Announcement{{From: "2027-01-01", Price: "25 €/mois"}, {From: "2027-02-01", Price: "30 €/mois"}}
	at := func(hour int) time.Time { return time.Date(2026, 10, 5, hour, 0, 0, 0, time.UTC) }
	equal(t, "the feed", titlesOf(t, c,
		catalog.Event{Type: catalog.ToolUpdated, Slug: "bourdon", At: at(14), Changed: []string{"tagline"}},
		catalog.Event{Type: catalog.ToolUpdated, Slug: tool.Slug, At: at(12), Changed: []string{"updated_at"}},
		catalog.Event{Type: catalog.ToolUpdated, Slug: "bourdon", At: at(10), Changed: []string{"domain"}},
	), []string{
		"evt_3 Bourdon : fiche modifiée /outils/bourdon",
		"evt_2 Abeille : fiche mise à jour /outils/abeille",
		"annonce-ancienne-abeille-2027-01-01 Abeille : 10 €/mois → 25 €/mois le 1er janvier 2027 /outils/abeille",
		"annonce-ancienne-abeille-2027-02-01 Abeille : 25 €/mois → 30 €/mois le 1er février 2027 /outils/abeille",
		"evt_1 Bourdon : fiche modifiée /outils/bourdon",
	})
}

// Editors may date an article of today tomorrow, which is warned about. It happened when it was published.
func TestNothingHappenedTomorrow(t *testing.T) {
	c := small()
	published := onDay(10)
	c.Articles = []catalog.Article{{Slug: "demain", Title: "Demain", Authors: []string{"Ada"}, Date: "2126-10-12", Body: "Un."}}
	c.Tools[1].UpdatedAt = "2026-10-11"
	c.Sort()
	v := open(t, small())
	snap := snapshot.Build(c, 1, "2026-10-10")
	snap.SetFeed(record.First("flux", c, 1, catalog.FormatTime(published)))
	for _, told := range [][]catalog.Event{nil, {{ID: "evt_1", Type: catalog.ArticlePublished, Slug: "demain", At: published}}} {
		snap.Events = told
		v.show(snap)
		if home := v.get("/").ok().body; strings.Contains(home, `<time datetime="2026-10-11"`) || !strings.Contains(home, `<time datetime="2026-10-10"`) {
			t.Error("the home page tells of tomorrow")
		}
		var feed struct {
			Entries []struct {
				Title     string `xml:"title"`
				Published string `xml:"published"`
				Updated   string `xml:"updated"`
			} `xml:"entry"`
		}
		if err := xml.Unmarshal([]byte(v.get("/flux.atom").ok().body), &feed); err != nil || len(feed.Entries) == 0 {
			t.Fatal(err, len(feed.Entries))
		}
		for _, e := range feed.Entries {
			if e.Published > e.Updated || e.Updated[:10] > "2026-10-10" || e.Title == "Demain" && e.Published == "" {
				t.Errorf("%+v", e)
			}
		}
	}
}
