package catalogdb

import (
	"context"
	"database/sql"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"palmares/internal/accountdb"
	"palmares/internal/catalog"
	"palmares/internal/sqldb"
	"palmares/internal/testkit"
)

func TestMain(m *testing.M) {
	if run := children[os.Getenv("PALMARES_STORE_CHILD")]; run != nil {
		run() // this process is a child of a test, see childCommand
		return
	}
	sqldb.Patience = 20 // on a machine of any speed
	// Each check of a model publishes or sends several times: a fifth of the usual number is what
	// a run of all tests has time for. make chaos has many more.
	if err := flag.Set("rapid.checks", "20"); err != nil {
		panic(err)
	}
	os.Exit(testkit.Run(m)) // which parses flags
}

// A kit is an open database with accounts, to which events are delivered.
type kit struct {
	SQL *sqldb.DB
	*accounts
	*Store
}

type accounts = accountdb.Store

// databases have the current tables.
var databases = testkit.Migrated[*kit]{Open: openDB}

func openDB(ctx context.Context, dsn string) (*kit, error) { return openWith(ctx, dsn, sqldb.Config{}) }

func openWith(ctx context.Context, dsn string, cfg sqldb.Config) (*kit, error) {
	cfg.Parts, cfg.Counting = []sqldb.Part{Part(), accountdb.Part()}, accountdb.CountStatement
	db, err := sqldb.Open(ctx, dsn, cfg)
	if err != nil {
		return nil, err
	}
	a := accountdb.New(db, accountdb.Rooms{Events: SelectEvents, EventsSince: EventsSince, SiteURL: SiteURL})
	return &kit{db, a, New(db, a.Deliveries.Deliver, a.Mails.QueueStuck)}, nil
}

// Close closes the database.
func (s *kit) Close() error { return s.SQL.Close() }

// version returns the published version.
func version(ctx context.Context, s *kit) (int64, error) {
	numbers, err := s.SQL.Poll(ctx, VersionQuery)
	return numbers[0], err
}

// execute changes the database behind the back of the nouns.
func execute(t failer, s *kit, statement string, args ...any) {
	t.Helper()
	if err := s.SQL.Write(t.Context(), func(tx *sql.Tx) error {
		_, err := tx.ExecContext(t.Context(), statement, args...)
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// each runs a test on a database of both kinds.
func each(t *testing.T, test func(t *testing.T, s *kit)) {
	t.Helper()
	databases.Each(t, test)
}

func open(t testing.TB, dsn string) *kit {
	t.Helper()
	return databases.OpenDSN(t, dsn)
}

// monday is the time of the first publication in every test; day(n) is n days later.
var monday = time.Date(2026, 11, 16, 9, 30, 0, 250_000_000, time.UTC)

func day(n int) time.Time { return monday.AddDate(0, 0, n) }

// at is a clock that stands.
func at(now time.Time) func() time.Time { return func() time.Time { return now } }

// publish publishes and fails the test when that fails.
func publish(t testing.TB, s *kit, c *catalog.Catalog, now time.Time) Publication {
	t.Helper()
	p, err := s.Catalogue.Publish(t.Context(), c, PublishOptions{Now: at(now)})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func loaded(t testing.TB, s *kit) *Published {
	t.Helper()
	p, err := s.Catalogue.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// failer is a test or a run of a property.
type failer interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Context() context.Context
}

// events reads every event and checks on the way that none is missing.
func events(t failer, s *kit) []Event {
	t.Helper()
	var all []Event
	for {
		page, err := s.Events.List(t.Context(), int64(len(all)), "", 1000)
		if err != nil {
			t.Fatal(err)
		}
		if len(page.Events) == 0 {
			return all
		}
		for _, e := range page.Events {
			if all = append(all, e); e.Sequence != int64(len(all)) {
				t.Fatalf("event %d of all has sequence %d", len(all), e.Sequence)
			}
		}
	}
}

// types lists the events of one version as "type slug".
func types(all []Event, version int64) string {
	var list []string
	for _, e := range all {
		if e.Version == version {
			list = append(list, strings.TrimSpace(e.Type+" "+e.Slug))
		}
	}
	return strings.Join(list, "\n")
}

// catalogue returns a small catalogue, a new one on each call.
func catalogue(tools ...*catalog.Tool) *catalog.Catalog {
	c := &catalog.Catalog{
		Name:       "Palmarès",
		URL:        "https://palmares.example",
		Categories: []catalog.Category{{Slug: "code", Label: "Code"}, {Slug: "image", Label: "Image", Position: 1}},
		Tools:      tools,
	}
	c.Sort()
	return c
}

func tool(slug, price string) *catalog.Tool {
	return &catalog.Tool{
		Slug: slug, Name: strings.ToUpper(slug[:1]) + slug[1:], Domain: slug + ".example", Category: "code",
		ICP: "mixte", Pricing: "payant", Price: price, Tagline: "Un outil", Tier: 3,
	}
}

func retired(slug string) catalog.Retired {
	return catalog.Retired{Slug: slug, Name: slug, Category: "code", Reason: "mort", RetiredAt: "2026-11-01", Body: "*Fini.*", Note: "Fini."}
}

func ptr(f float64) *float64 { return &f }

// large returns a catalogue of n tools that use every field. It is the same for the same
// seed, and differs in about one record in seven for another.
func large(n int, seed uint64, body int) *catalog.Catalog {
	c := catalogue()
	prose := strings.Repeat("Un paragraphe d'essai, accentué comme il se doit. ", body/50)
	for i := range n {
		r := rand.New(rand.NewPCG(uint64(i), seed*uint64((i+int(seed))%7/6)))
		slug := fmt.Sprintf("outil-%06d", i)
		t := tool(slug, fmt.Sprintf("%d €/mois", r.IntN(100)))
		t.Score, t.Verifiability, t.Obsolescence = ptr(float64(r.IntN(101))/10), ptr(float64(r.IntN(11))), ptr(float64(r.IntN(11)))
		t.Tier, t.Mainstream = 1+r.IntN(3), r.IntN(2) == 0
		t.TestedAt, t.PriceCheckedAt = "2026-10-01", "2026-10-02"
		t.Sources = []string{"https://" + slug + ".example/prix", "https://" + slug + ".example/doc"}
		t.Aliases = []string{"ancien-" + slug}
		t.PriceHistory = []catalog.PriceChange{
			{ChangedAt: "2026-05-01", OldPricing: "freemium", OldPrice: "5 €/mois", NewPricing: "payant", NewPrice: t.Price},
			{ChangedAt: "2026-01-01", OldPricing: "gratuit", OldPrice: "0 €/mois", NewPricing: "freemium", NewPrice: "5 €/mois"},
		}
		t.Body = fmt.Sprintf("Avis %d.\n\n## Prise en main\n\n%s\n", r.IntN(1000), prose)
		c.Tools = append(c.Tools, t)
	}
	for i := range n / 10 {
		a, b := c.Tools[2*i].Slug, c.Tools[2*i+1].Slug
		c.Comparisons = append(c.Comparisons, catalog.Comparison{
			Slug: a + "-vs-" + b, Title: "Duel", ToolA: a, ToolB: b, Winner: a, WinnerNote: "Net.", Published: i%5 > 0,
		})
		c.Retired = append(c.Retired, retired(fmt.Sprintf("mort-%06d", i)))
	}
	return c
}

// dump returns every row of every table, to check that nothing was written.
func dump(t testing.TB, s *kit) string {
	t.Helper()
	return testkit.Dump(t, s.SQL.Reads())
}
