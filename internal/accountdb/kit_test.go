package accountdb

import (
	"context"
	"database/sql"
	"flag"
	"os"
	"strings"
	"testing"
	"time"

	"palmares/internal/catalog"
	"palmares/internal/catalogdb"
	"palmares/internal/sqldb"
	"palmares/internal/testkit"
)

func TestMain(m *testing.M) {
	sqldb.CountTimeout, sqldb.Patience = 3*time.Minute, 20 // on a machine of any speed
	// Each check of a model publishes or sends several times: a fifth of the usual number is what
	// a run of all tests has time for. make chaos has many more.
	if err := flag.Set("rapid.checks", "20"); err != nil {
		panic(err)
	}
	os.Exit(testkit.Run(m)) // which parses flags
}

// A kit is an open database with the catalogue, whose events are delivered.
type kit struct {
	SQL *sqldb.DB
	*Store
	*catalogue
}

type catalogue = catalogdb.Store

// databases have the current tables.
var databases = testkit.Migrated[*kit]{Open: openDB}

func openDB(ctx context.Context, dsn string) (*kit, error) { return openWith(ctx, dsn, sqldb.Config{}) }

func openWith(ctx context.Context, dsn string, cfg sqldb.Config) (*kit, error) {
	cfg.Parts, cfg.Counting = []sqldb.Part{catalogdb.Part(), Part()}, CountStatement
	db, err := sqldb.Open(ctx, dsn, cfg)
	if err != nil {
		return nil, err
	}
	s := New(db, Rooms{
		Events: catalogdb.SelectEvents, EventsSince: catalogdb.EventsSince, SiteURL: catalogdb.SiteURL,
		IsEditor: func(_ context.Context, _ sqldb.Queryer, email string) (bool, error) { return email == editor, nil },
	})
	return &kit{db, s, catalogdb.New(db, s.Deliveries.Deliver, s.Mails.QueueStuck)}, nil
}

// editor is the address of the only person at the desk.
const editor = "eve@example.org"

// Close closes the database.
func (s *kit) Close() error { return s.SQL.Close() }

// State returns the version of the catalogue and the revision of accounts and keys.
func (s *kit) State(ctx context.Context) (version, keys int64, err error) {
	numbers, err := s.SQL.Poll(ctx, catalogdb.VersionQuery, RevisionQuery)
	return numbers[0], numbers[1], err
}

// exec changes the database behind the back of the nouns.
func exec(t testing.TB, s *kit, statement string, args ...any) {
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
func publish(t testing.TB, s *kit, c *catalog.Catalog, now time.Time) catalogdb.Publication {
	t.Helper()
	p, err := s.Catalogue.Publish(t.Context(), c, catalogdb.PublishOptions{Now: at(now)})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// small returns a small catalogue, a new one on each call.
func small(all ...*catalog.Tool) *catalog.Catalog {
	c := &catalog.Catalog{
		Name:       "Palmarès",
		URL:        "https://palmares.example",
		Categories: []catalog.Category{{Slug: "code", Label: "Code"}, {Slug: "image", Label: "Image"}},
		Tools:      all,
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

// dump returns every row of every table, to check that nothing was written.
func dump(t testing.TB, s *kit) string {
	t.Helper()
	return testkit.Dump(t, s.SQL.Reads())
}

// events reads every event.
func events(t testing.TB, s *kit) []catalogdb.Event {
	t.Helper()
	page, err := s.Events.List(t.Context(), 0, "", 1_000_000)
	if err != nil {
		t.Fatal(err)
	}
	return page.Events
}

// loaded returns the published catalogue.
func loaded(t testing.TB, s *kit) *catalogdb.Published {
	t.Helper()
	p, err := s.Catalogue.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return p
}
