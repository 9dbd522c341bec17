package newsletter

import (
	"bufio"
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"maps"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"palmares/internal/api"
	"palmares/internal/catalog"
	"palmares/internal/catalogdb"
	"palmares/internal/chronicle"
	"palmares/internal/problem"
	"palmares/internal/publication"
	"palmares/internal/site"
	"palmares/internal/snapshot"
	"palmares/internal/testkit/testdb"
)

// A month is thirty days of an editorial team. What editors wrote is copied for each publication.
type month struct {
	*desk
	c       catalog.Catalog
	tools   map[string]*catalog.Tool
	version int64
	beliefs map[string]map[string]string // by reader, what she was told and not told otherwise since, by id
}

func (m *month) publish() {
	m.t.Helper()
	next := m.c
	next.Tools, next.Retired, next.Articles = nil, slices.Clone(m.c.Retired), slices.Clone(m.c.Articles)
	next.Comparisons, next.Pages = slices.Clone(m.c.Comparisons), slices.Clone(m.c.Pages)
	for _, t := range m.tools {
		copied := *t
		copied.Announced = slices.Clone(t.Announced)
		next.Tools = append(next.Tools, &copied)
	}
	next.Sort()
	m.commit(&next, catalogdb.PublishOptions{AllowRemovals: true})
}

func (m *month) commit(next *catalog.Catalog, options catalogdb.PublishOptions) {
	m.t.Helper()
	options.Now = func() time.Time { return m.now }
	done, err := m.db.Catalogue.Publish(m.t.Context(), next, options)
	if err != nil {
		m.t.Fatal(err)
	}
	m.version = done.Version
	m.load()
}

func (m *month) load() {
	m.t.Helper()
	p, err := m.db.Catalogue.Load(m.t.Context())
	if err != nil {
		m.t.Fatal(err)
	}
	m.snap = snapshot.Build(p.Catalog, p.Version, p.ChangedOn)
	m.snap.Entries = p.Entries
}

// undo takes a version back.
func (m *month) undo(version int64) {
	m.t.Helper()
	u, err := m.db.Catalogue.Undo(m.t.Context(), version, true)
	if err != nil {
		m.t.Fatal(err)
	}
	m.commit(u.Next, catalogdb.PublishOptions{AllowRemovals: true, Undo: u})
}

// write has three nodes that have just started write to readers, who believe what they read.
func (m *month) write() {
	m.t.Helper()
	err := errors.Join(m.node(m.db).Queue(m.t.Context()), m.node(m.db).Queue(m.t.Context()))
	if err != nil {
		m.t.Fatal(err)
	}
	for _, b := range m.bulletins() {
		if m.beliefs[b.To] == nil {
			m.beliefs[b.To] = map[string]string{}
		}
		rest, isLast := slices.Clone(m.snap.Entries), map[string]bool{} // in the order of mails, the last state of each
		rest = slices.DeleteFunc(rest, func(e catalog.Entry) bool {
			defer func() { isLast[e.ID()] = true }()
			return isLast[e.ID()]
		})
		for _, line := range b.Entries {
			i := slices.IndexFunc(rest, func(e catalog.Entry) bool {
				isTitle := !e.Withdrawn && line.Title == chronicle.Title(&e, problem.French)
				return isTitle || line.Title == chronicle.Correction(&e, problem.French)
			})
			if i < 0 {
				m.t.Errorf("%s was told %q, which no entry says", b.To, line.Title)
				continue
			}
			e := rest[i]
			rest = rest[i+1:]
			if _, isKnown := m.beliefs[b.To][e.ID()]; isKnown != (line.Title == chronicle.Correction(&e, problem.French)) {
				m.t.Errorf("%s was told %q; told before: %t", b.To, line.Title, isKnown)
			}
			m.beliefs[b.To][e.ID()] = chronicle.Title(&e, problem.French)
			if e.Withdrawn {
				delete(m.beliefs[b.To], e.ID())
			}
		}
	}
}

// rename gives a tool another address and name.
func (m *month) rename(from, to, name string) {
	t := m.tools[from]
	delete(m.tools, from)
	t.Aliases = slices.DeleteFunc(slices.Sorted(slices.Values(append(t.Aliases, from))), func(s string) bool { return s == to })
	t.Slug, t.Name = to, name
	m.tools[to] = t
}

// days are what happens on each day of the month that has something, step by step, a minute apart.
func (m *month) days() map[int][]func() {
	price := func(slug, amount string) func() { return func() { m.tools[slug].Price = amount + " €/mois" } }
	figure := 7.9
	obituary := catalog.Retired{Slug: "encre", Name: "Encre", Category: "code", Reason: "acquis", RetiredAt: "2026-12-01", Body: "Fin.", Note: "Fin."}
	encre := m.tools["encre"]
	return map[int][]func(){
		1:  {func() { m.tools["neuf"] = tool("neuf", "Neuf", "code", "3") }},
		2:  {price("plume", "29")},
		3:  {price("plume", "99"), price("plume", "29")}, // a typo, corrected on its day
		5:  {func() { m.tools["plume"].Score, m.tools["plume"].ScoreNote = &figure, "Moteur plus rapide." }},
		7:  {func() { m.rename("plume", "calame", "Calame") }, price("calame", "31")},
		9:  {func() { m.rename("calame", "plume", "Plume") }},
		11: {func() { delete(m.tools, "encre"); m.c.Retired = []catalog.Retired{obituary} }},
		13: {func() { m.tools["encre"], m.c.Retired = encre, nil }},
		15: {func() {
			m.tools["plume"].Announced = []catalog.Announcement{{From: "2027-03-01", Price: "35 €/mois"}}
		}},
		17: {func() {
			m.c.Articles = []catalog.Article{{Slug: "essai", Title: "Essai", Authors: []string{"Ada"}, Date: "2026-12-04", Body: "Un."}}
		}},
		19: {func() { m.c.Articles[0].Body = "Un, puis deux." }},
		21: {price("plume", "40"), nil},                    // undone on its day
		23: {price("neuf", "4"), price("encre", "6"), nil}, // two versions in one minute, the second undone
		25: {price("neuf", "5")},
		26: {nil}, // undone a day later
		28: {func() { delete(m.tools, "neuf") }},
	}
}

func TestAMonthIsToldOnceAndAlikeEverywhere(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *testdb.DB) {
		m, began := newMonth(t, db)
		days := m.days()
		start := m.now
		for day := range 31 {
			m.now = start.AddDate(0, 0, day)
			for _, step := range days[day] {
				m.now = m.now.Add(30 * time.Second)
				if step == nil {
					m.undo(m.version)
				} else {
					step()
					m.publish()
				}
				m.write()
			}
			if day == 23 || day == 26 { // editors take back what was undone
				m.tools["encre"].Price, m.tools["neuf"].Price = "5 €/mois", "4 €/mois"
			} else if day == 21 {
				m.tools["plume"].Price = "31 €/mois"
			}
			m.write()
		}
		m.now = start.AddDate(0, 0, 40)
		m.write()

		if ids := m.check(began); len(ids) != 15 {
			t.Errorf("%d entries: %q", len(ids), ids)
		}
		m.again()
	})
}

// facts returns the titles of what happened after a position, by id, as the topic and the pace of a reader tell it.
func (m *month) facts(began int64, topic, pace string) map[string]string {
	told := map[string]string{}
	for _, e := range chronicle.On(m.snap, chronicle.Names(m.snap, topic)...) {
		if e.Position > began && e.At != "" && (pace == weekly || e.IsUrgent()) {
			told[e.ID()] = chronicle.Title(&e, problem.French)
		}
	}
	return told
}

// check compares what is told everywhere of what happened after a position, and returns its ids, oldest first.
func (m *month) check(began int64) (ids []string) {
	m.t.Helper()
	var titles []string
	entries := chronicle.Latest(m.snap)
	for i := range slices.Backward(entries) {
		if e := &entries[i]; e.Position > began && e.At != "" {
			ids, titles = append(ids, e.ID()), append(titles, chronicle.Title(e, problem.French))
		}
	}
	if len(slices.Compact(slices.Sorted(slices.Values(ids)))) != len(ids) {
		m.t.Errorf("ids twice: %q", ids)
	}
	if diff := cmp.Diff(ids, m.feed(ids)); diff != "" {
		m.t.Errorf("the feed (-entries +feed):\n%s", diff)
	}
	if diff := cmp.Diff(titles, m.log()); diff != "" {
		m.t.Errorf("the log (-entries +log):\n%s", diff)
	}
	for reader, of := range readers {
		if diff := cmp.Diff(m.facts(began, of[0], of[1]), m.beliefs[reader+"@example.org"], cmpopts.EquateEmpty()); diff != "" {
			m.t.Errorf("%s believes (-entries +mails):\n%s", reader, diff)
		}
	}
	return ids
}

// readers are who follows what at which pace.
var readers = map[string][2]string{
	"tout": {"", atOnce}, "semaine": {"", weekly}, "plume": {"outils/plume", atOnce}, "code": {"categories/code", weekly},
}

// newMonth publishes two tools, after which readers follow, and returns the last position that they are not told.
func newMonth(t *testing.T, db *testdb.DB) (m *month, began int64) {
	m = &month{desk: newDesk(t, db), tools: map[string]*catalog.Tool{}, beliefs: map[string]map[string]string{}}
	m.c = catalog.Catalog{Name: "Essai", URL: "https://essai.example", Categories: []catalog.Category{{Slug: "code", Label: "Code"}, {Slug: "texte", Label: "Texte"}}}
	m.tools["plume"], m.tools["encre"] = plume("26"), tool("encre", "Encre", "code", "5")
	m.now = m.now.Add(time.Minute)
	m.publish()
	for _, reader := range slices.Sorted(maps.Keys(readers)) {
		m.follow(reader, readers[reader][0], readers[reader][1])
	}
	return m, m.snap.Entries[0].Position
}

// feed returns the ids of as many of the newest entries of the feed as are wanted, oldest first.
func (m *month) feed(wanted []string) (ids []string) {
	m.t.Helper()
	pages := site.New(site.Config{Demo: func(*snapshot.Snapshot) bool { return false }, BaseURL: m.c.URL, Document: api.Document()})
	pages.Show(m.snap)
	w := httptest.NewRecorder()
	pages.ServeHTTP(w, httptest.NewRequest("GET", "/flux.atom", nil))
	var feed struct {
		Entries []struct {
			ID string `xml:"id"`
		} `xml:"entry"`
	}
	if err := xml.Unmarshal(w.Body.Bytes(), &feed); err != nil {
		m.t.Fatal(err)
	}
	for _, e := range slices.Backward(feed.Entries[:min(len(wanted), len(feed.Entries))]) {
		ids = append(ids, e.ID[len(m.c.URL+"/flux.atom#"):])
	}
	return ids
}

// log returns what the log of all versions tells.
func (m *month) log() (titles []string) {
	m.t.Helper()
	for version := int64(3); version <= m.version; version++ {
		var out bytes.Buffer
		if err := (publication.Log{Version: version, JSON: true, Language: problem.French}).Write(m.t.Context(), m.db.Catalogue, &out); err != nil {
			m.t.Fatal(err)
		}
		for lines := bufio.NewScanner(&out); lines.Scan(); {
			var line struct{ Title string }
			if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
				m.t.Fatal(err)
			}
			if line.Title != "" {
				titles = append(titles, line.Title)
			}
		}
	}
	return titles
}

// again publishes the catalogue to an empty database, whose records tell what they hold with the same ids.
func (m *month) again() {
	m.t.Helper()
	told := m.facts(0, "", weekly)
	p, err := m.db.Catalogue.Load(m.t.Context())
	if err != nil {
		m.t.Fatal(err)
	}
	var ids []string
	for _, e := range p.Catalog.Tool("plume").Entries() {
		if e.Day > "2026-11-17" { // before which nobody followed
			ids = append(ids, e.ID())
		}
	}
	m.db = databases.OpenDSN(m.t, databases.SQLite(m.t))
	m.commit(p.Catalog, catalogdb.PublishOptions{})
	for _, e := range chronicle.Latest(m.snap) {
		told[e.ID()] += " again"
	}
	for _, id := range ids {
		if title := told[id]; len(ids) != 3 || title == " again" || !strings.HasSuffix(title, " again") {
			m.t.Errorf("%d ids; %s is told as %q", len(ids), id, title)
		}
	}
}
