package site_test

import (
	"strings"
	"testing"
	"time"

	"palmares/internal/catalog"
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
	for _, want := range []string{"À partir du 1er\u00a0janvier 2027\u00a0: 25\u00a0€/mois", "https://plume.example/prix", "Le 31\u00a0mars 2027\u00a0: fin, fermé, remplacé par " + c.Tools[1].Name} {
		if !strings.Contains(page, want) {
			t.Errorf("the page of the tool does not say %q", want)
		}
	}
	for _, path := range []string{"/a-venir", "/a-venir.md", "/outils/" + tool.Slug + ".md"} {
		if body := v.get(path).ok().body; !strings.Contains(body, "25\u00a0€/mois") || !strings.Contains(body, "1er\u00a0janvier 2027") {
			t.Errorf("%s does not tell the price: %s", path, body)
		}
	}
	v.get("/a-venir.md").ok().says("10 → 25\u00a0€/mois", "fin, fermé, remplacé par "+c.Tools[1].Name)
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
	for _, want := range []string{"\r\nUID:ancienne-abeille-2027-01-01@", "\r\nDTSTART;VALUE=DATE:20270101\r\n", "\r\nDTSTART;VALUE=DATE:20270331\r\n", "fin\\, fermé\\, remplacé par"} {
		if !strings.Contains(unfolded, want) {
			t.Errorf("the calendar has no %q: %s", want, unfolded)
		}
	}
	if body := open(t, small()).get("/a-venir").ok().body; !strings.Contains(body, "Aucun changement n’est annoncé") {
		t.Errorf("got %s", body)
	}
}

// Editors may date an article of today tomorrow, which is warned about. It happened when it was published.
func TestNothingHappenedTomorrow(t *testing.T) {
	c := small()
	c.Articles = []catalog.Article{{Slug: "demain", Title: "Demain", Date: "2126-10-12", Body: "Un."}}
	v := open(t, c)
	v.get("/flux.atom").ok().saysNot("Demain")
	v.tell(c, catalog.Entry{Kind: "article", Slug: "demain", Name: "Demain", What: catalog.WhatText, New: "1", Day: "2126-10-12"})
	e := feedOf(t, v.get("/flux.atom"))[0]
	const told = "2026-10-10T10:01:00Z"
	if e.Title != "Article publié\u00a0: Demain" || e.Updated.Format(time.RFC3339) != told || e.Since != told {
		t.Errorf("%+v", e)
	}
}
