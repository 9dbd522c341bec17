package newsletter

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"palmares/internal/account"
	"palmares/internal/catalog"
	"palmares/internal/catalogdb"
	"palmares/internal/mail"
	"palmares/internal/readerdb"
	"palmares/internal/snapshot"
	"palmares/internal/sqldb"
	"palmares/internal/testkit"
	"palmares/internal/testkit/testdb"
	"palmares/internal/vault"
)

func TestMain(m *testing.M) { os.Exit(testkit.Run(m)) }

var databases = testkit.Migrated[*testdb.DB]{Open: testdb.Open}

// The paces.
const (
	atOnce = readerdb.FollowAtOnce
	weekly = readerdb.FollowWeekly
)

// A desk publishes, and writes to readers.
type desk struct {
	t       *testing.T
	db      *testdb.DB
	letters *Newsletter
	sealer  vault.Sealer
	snap    *snapshot.Snapshot
	now     time.Time
	retired []catalog.Retired
}

// each runs a test on both databases, with two published tools, on a Tuesday.
func each(t *testing.T, test func(t *testing.T, d *desk)) {
	t.Helper()
	databases.Each(t, func(t *testing.T, db *testdb.DB) { test(t, newDesk(t, db)) })
}

func newDesk(t *testing.T, db *testdb.DB) *desk {
	t.Helper()
	d := &desk{t: t, db: db, now: time.Date(2026, 11, 17, 9, 30, 0, 0, time.UTC)}
	sealer, err := vault.ParseKeys("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")
	if err != nil {
		t.Fatal(err)
	}
	d.sealer = sealer
	d.letters = d.node(db)
	d.publish(plume("12"))
	return d
}

// node returns what a node that has just started writes with.
func (d *desk) node(db *testdb.DB) *Newsletter {
	return &Newsletter{
		Follows: db.Follows.Sealed(d.sealer), Links: db.Links.Sealed(d.sealer),
		Snapshot: func() *snapshot.Snapshot { return d.snap }, Now: func() time.Time { return d.now },
		EndURL: func(token, all string) string { return "/fin?" + token + "&tout=" + all },
	}
}

func tool(slug, name, category, price string) *catalog.Tool {
	return &catalog.Tool{
		Slug: slug, Name: name, Domain: slug + ".example", Category: category, ICP: "mixte", Pricing: "payant",
		Price: price + " €/mois", Tagline: "Écrit", Tier: 3,
	}
}

func plume(price string) *catalog.Tool { return tool("plume", "Plume", "code", price) }

// publish publishes tools, a minute after what was before, besides one whose price never changes.
func (d *desk) publish(tools ...*catalog.Tool) {
	d.t.Helper()
	d.now = d.now.Add(time.Minute)
	c := &catalog.Catalog{
		Name: "Essai", URL: "https://essai.example", Retired: d.retired,
		Tools:      append(tools, tool("encre", "Encre", "texte", "5")),
		Categories: []catalog.Category{{Slug: "code", Label: "Code"}, {Slug: "texte", Label: "Texte"}},
	}
	c.Sort()
	options := catalogdb.PublishOptions{Now: func() time.Time { return d.now }, AllowRemovals: true}
	if _, err := d.db.Catalogue.Publish(d.t.Context(), c, options); err != nil {
		d.t.Fatal(err)
	}
	p, err := d.db.Catalogue.Load(d.t.Context())
	if err != nil {
		d.t.Fatal(err)
	}
	d.snap = snapshot.Build(p.Catalog, p.Version, p.ChangedOn)
	d.snap.Entries = p.Entries
}

// follow has a reader follow a topic.
func (d *desk) follow(reader, topic, pace string) {
	d.t.Helper()
	d.now = d.now.Add(time.Second)
	token, err := d.letters.Links.Create(d.t.Context(), reader+"@example.org", account.LinkFollow, d.now)
	if err == nil {
		err = d.letters.Follows.Confirm(d.t.Context(), token, topic, pace, d.now)
	}
	if err != nil {
		d.t.Fatal(err)
	}
}

// bulletins queues what is due, twice as two nodes would, and returns what is to be sent.
func (d *desk) bulletins() (list []mail.Bulletin) {
	d.t.Helper()
	err := errors.Join(d.letters.Queue(d.t.Context()), d.node(d.db).Queue(d.t.Context()))
	claimed, problem := d.db.Mails.Claim(d.t.Context(), d.now, 1000)
	err = errors.Join(err, problem)
	for _, c := range claimed {
		b, obsolete := d.letters.Bulletin(d.t.Context(), c.Request)
		if obsolete == nil {
			list = append(list, b)
		} else if !errors.Is(obsolete, mail.ErrObsolete) {
			d.t.Error(obsolete)
		}
		err = errors.Join(err, d.db.Mails.Finish(d.t.Context(), c, mail.Verdict{}))
	}
	if err != nil {
		d.t.Fatal(err)
	}
	return list
}

// tells checks what readers are told now: "lea: " and the titles in a mail, with plain spaces.
func (d *desk) tells(want ...string) {
	d.t.Helper()
	got := []string{}
	for _, b := range d.bulletins() {
		var titles []string
		for _, e := range b.Entries {
			titles = append(titles, e.Title)
		}
		line := strings.TrimSuffix(b.To, "@example.org") + ": " + strings.Join(titles, " | ")
		got = append(got, strings.ReplaceAll(line, "\u00a0", " "))
	}
	slices.Sort(got)
	if !slices.Equal(got, append([]string{}, want...)) {
		d.t.Errorf("told %q, want %q", got, want)
	}
	if again := d.bulletins(); len(again) > 0 {
		d.t.Errorf("told again: %+v", again)
	}
}

func TestAWeekEndsOnMondayAtSix(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		d.follow("max", "categories/code", weekly)
		d.follow("zoe", "", atOnce)
		d.tells()
		d.publish(plume("14"))
		d.tells("zoe: Plume : 12 → 14 €/mois")
		d.now = time.Date(2026, 11, 23, 5, 58, 0, 0, time.UTC)
		d.tells()
		d.publish(plume("14"), tool("style", "Style", "code", "3"))
		d.now = d.now.Add(time.Minute)
		d.publish(plume("15"), tool("style", "Style", "code", "3")) // at six: of the next week
		d.tells("max: Style : nouvel outil | Plume : 12 → 14 €/mois", "zoe: Plume : 14 → 15 €/mois")
		d.now = d.now.AddDate(0, 0, 6)
		d.tells()
		d.now = d.now.AddDate(0, 0, 1)
		d.tells("max: Plume : 14 → 15 €/mois")
	})
}

func TestWhatWasToldAndHasChangedIsCorrectedOnce(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		d.follow("lea", "outils/plume", atOnce)
		d.follow("zoe", "outils/encre", atOnce)
		d.follow("ida", "", weekly)
		d.publish(plume("1200"))
		d.tells("lea: Plume : 12 → 1200 €/mois")
		d.follow("lea", "categories/code", atOnce) // by this she was not told
		d.follow("max", "outils/plume", atOnce)
		d.publish(plume("12"))
		d.tells("lea: Correction : « Plume : 12 → 1200 €/mois » n’a pas eu lieu")
		d.publish(plume("14"))
		d.tells("lea: Plume : 12 → 14 €/mois", "max: Plume : 12 → 14 €/mois")
		d.follow("eve", "outils/plume", atOnce)
		// A new day, and a price that nobody was told before it was taken back.
		d.now = d.now.AddDate(0, 0, 1)
		d.publish(plume("1300"))
		d.publish(plume("14"))
		d.tells()
		d.publish(plume("1400"))
		told := "Plume : 14 → 1400 €/mois"
		d.tells("eve: "+told, "lea: "+told, "max: "+told)
		// At the end of a day, the correction leaves on the next, and a mail that has not left is corrected too.
		d.now = time.Date(2026, 11, 18, 23, 57, 0, 0, time.UTC)
		d.publish(plume("15"))
		if err := d.letters.Queue(t.Context()); err != nil {
			t.Fatal(err)
		}
		d.publish(plume("16"))
		d.now = d.now.Add(time.Hour)
		var titles []string
		for len(titles) < 6 {
			for _, b := range d.bulletins() {
				titles = append(titles, strings.ReplaceAll(b.Entries[0].Title, "\u00a0", " "))
			}
		}
		first, second := "Correction : Plume : 14 → 15 €/mois", "Correction : Plume : 14 → 16 €/mois"
		if want := []string{first, first, first, second, second, second}; !slices.Equal(titles, want) {
			t.Errorf("told %q", titles)
		}
		d.publish(plume("17"))
		d.tells("eve: Plume : 16 → 17 €/mois", "lea: Plume : 16 → 17 €/mois", "max: Plume : 16 → 17 €/mois")
	})
}

// Ten mails a day are those of an address, whatever it follows, also something that it follows since then.
func TestAnAddressGetsTenMailsADay(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		d.follow("lea", "outils/plume", atOnce)
		mails := 0
		for i := range 14 {
			if i == 12 {
				d.follow("lea", "categories/code", atOnce)
			}
			d.publish(plume(fmt.Sprint(20 + i)))
			mails += len(d.bulletins())
		}
		if mails != readerdb.MailsADay {
			t.Errorf("%d mails on a day", mails)
		}
		d.now = d.now.AddDate(0, 0, 1)
		d.tells("lea: Correction : Plume : 12 → 33 €/mois")
	})
}

func TestAMailTellsFiftyEntriesOfAllThatIsFollowed(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		tools := func(price string) (list []*catalog.Tool) {
			for i := range 60 {
				list = append(list, tool(fmt.Sprint("t", i), fmt.Sprint("T", i), "code", price))
			}
			return append(list, plume(price))
		}
		d.publish(tools("6")...)
		d.now = d.now.AddDate(0, 0, 1)
		for _, topic := range []string{"categories/code", "outils/plume", "outils/encre"} {
			d.follow("lea", topic, atOnce)
		}
		d.publish(tools("7")...)
		got := d.bulletins()
		if len(got) != 1 {
			t.Fatalf("%d mails", len(got))
		}
		b := got[0]
		if b.To != "lea@example.org" || b.Topics != "Code\u00a0», «\u00a0Plume" {
			t.Errorf("to %s, about %s", b.To, b.Topics)
		}
		if len(b.Entries) != 50 || b.More != 11 || b.Others() != 60 {
			t.Errorf("%d entries, and %d more", len(b.Entries), b.More)
		}
		if !strings.HasPrefix(b.Entries[0].Page, "https://essai.example/outils/") {
			t.Errorf("the first is %+v", b.Entries[0])
		}
		if all := b.End[strings.Index(b.End, "=")+1:]; all == "" {
			t.Error("the mail does not end all that it is about")
		}
		d.publish(append(tools("7"), tool("style", "Style", "code", "3"))...)
		changed := tools("7")
		changed[len(changed)-1] = plume("8")
		d.publish(changed...)
		got = d.bulletins()
		if len(got) != 1 || len(got[0].Entries) != 1 || got[0].More != 0 {
			t.Errorf("%+v", got)
		}
	})
}

func TestAnotherPaceKeepsTheCursorAndTheEndIsTheEnd(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		d.follow("lea", "outils/plume", weekly)
		d.publish(plume("14"))
		d.tells()
		d.follow("lea", "outils/plume", atOnce)
		d.tells("lea: Plume : 12 → 14 €/mois")
		d.follow("lea", "outils/plume", weekly)
		d.now = time.Date(2026, 11, 23, 6, 0, 0, 0, time.UTC)
		d.tells()
		d.publish(plume("15"))
		d.follow("lea", "", atOnce)
		d.publish(plume("15"), tool("style", "Style", "code", "3"))
		d.publish(plume("16"))
		d.now = d.now.AddDate(0, 0, 7)
		err := d.letters.Queue(t.Context())
		ids, problem := sqldb.List(t.Context(), d.db.SQL, `SELECT id FROM follows ORDER BY id`, sqldb.ScanText)
		if err := errors.Join(err, problem); err != nil {
			t.Fatal(err)
		}
		f, err := d.letters.Follows.Find(t.Context(), ids[0])
		if err == nil {
			_, err = d.letters.Follows.End(t.Context(), f.Token, f.All)
		}
		if err != nil {
			t.Fatal(err)
		}
		d.publish(plume("17"))
		d.tells() // also what was queued
	})
}

// Nodes are killed at any moment while they queue: their transactions are cut, and others go on.
func TestEveryReaderIsToldOnceWhoeverIsKilled(t *testing.T) {
	databases.EachDSN(t, func(t *testing.T, dsn string) {
		d := newDesk(t, databases.OpenDSN(t, dsn))
		const readers = 300
		for i := range readers {
			d.follow(fmt.Sprint("r", i), []string{"", "outils/plume", "categories/code"}[i%3], atOnce)
		}
		d.follow("other", "outils/encre", atOnce)
		nodes := []*testdb.DB{d.db, databases.OpenDSN(t, dsn), databases.OpenDSN(t, dsn)}
		for _, price := range []string{"14", "15"} {
			d.publish(plume(price))
			var all sync.WaitGroup
			for i, db := range nodes {
				all.Go(func() {
					for try := range 20 {
						ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i+3*try)*time.Millisecond)
						_ = d.node(db).Queue(ctx) // mostly killed
						cancel()
					}
				})
			}
			all.Wait()
			testkit.Until(t, "a round to its end", func() bool { return d.node(d.db).Queue(t.Context()) == nil })
		}
		told := map[string]int{}
		for range 2 { // whoever gets several gets them one after the other
			for _, b := range d.bulletins() {
				told[b.To+b.Entries[0].Title]++
			}
		}
		if len(told) != 2*readers {
			t.Errorf("%d different mails, want %d", len(told), 2*readers)
		}
		for what, n := range told {
			if n != 1 {
				t.Errorf("%s %d times", what, n)
			}
		}
	})
}

func TestATopicThatIsGoneKeepsItsName(t *testing.T) {
	s := snapshot.Build(&catalog.Catalog{
		Categories: []catalog.Category{{Slug: "code", Label: "Code"}}, Tools: []*catalog.Tool{plume("12")},
	}, 1, "2026-11-17")
	for topic, want := range map[string]string{
		"": "Tout le catalogue", "categories/code": "Code", "outils/plume": "Plume",
		"categories/voix": "voix (n’existe plus)",
	} {
		if got := TopicName(s, topic); got != want {
			t.Errorf("%q is named %q, want %q", topic, got, want)
		}
	}
	if got := Topics(s, "outils/plume"); len(got) != 3 || got[1].Value != "categories/code" {
		t.Errorf("a tool may be followed as %+v", got)
	}
}
