package catalogdb

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"palmares/internal/catalog"
	"palmares/internal/record"
	"palmares/internal/sqldb"
)

// allKinds has a record of every kind, also of those that the public does not see.
func allKinds(headline string) *catalog.Catalog {
	c := withPictures(picture("images/a.png", "one"))
	c.Settings.Headline = headline
	c.Tools = append(c.Tools, tool("b", "2 €/mois"))
	c.Comparisons = []catalog.Comparison{duel("a-vs-b", true), duel("b-vs-a", false)}
	c.Retired = []catalog.Retired{retired("c")}
	c.Pages = []catalog.Page{{Slug: "methode", Title: "Méthode", Menu: catalog.MenuFooter, Body: "Nous essayons."}}
	return c
}

func publishAll(t *testing.T, s *kit, c *catalog.Catalog, on int) {
	t.Helper()
	opts := PublishOptions{Now: at(day(on)), AllowRemovals: true, Pictures: files{"one": "1"}}
	if _, err := s.Catalogue.Publish(t.Context(), c, opts); err != nil {
		t.Fatal(err)
	}
}

// A storedDocument is a row of records, or of former_records.
type storedDocument struct {
	kind, slug, hash, document string
	public                     bool
}

func (d storedDocument) String() string {
	if d.public {
		return d.kind + " " + d.slug
	}
	return d.kind + " " + d.slug + " not public"
}

func documents(t *testing.T, s *kit, table, where string) []storedDocument {
	t.Helper()
	all, err := sqldb.Rows(t.Context(), s.SQL.Reads(), `SELECT kind, slug, hash, document, public
		FROM `+table+` WHERE `+where+` ORDER BY kind, slug, public`,
		func(scan sqldb.Scanner, d *storedDocument) error {
			return scan(&d.kind, &d.slug, &d.hash, &d.document, &d.public)
		})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func namesOf(all []storedDocument) (names []string) {
	for _, d := range all {
		names = append(names, d.String())
	}
	slices.Sort(names)
	return names
}

func TestEveryDocumentHasTheHashThatIsStoredBesideIt(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		publishAll(t, s, allKinds("Un"), 0)
		heads := allKinds("Deux")
		heads.Tools = heads.Tools[:1] // the other one is past
		heads.Comparisons = nil
		heads.Settings.Dataset = catalog.DatasetHead
		publishAll(t, s, heads, 1)
		for _, d := range append(documents(t, s, "records", "NOT deleted"), documents(t, s, "former_records", "document <> ''")...) {
			if got := record.Hash([]byte(d.document)); got != d.hash {
				t.Errorf("%s has the hash %s, and its document %s", d, d.hash, got)
			}
		}
		if got := loaded(t, s).Catalog.Pages[0].Body; got != "Nous essayons." {
			t.Errorf("the page that is given away without its body has %q", got)
		}
	})
}

func TestWhatTheLastFiftyVersionsReplacedIsKept(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		publishAll(t, s, allKinds("Un"), 0)
		first := documents(t, s, "records", "TRUE")
		next := allKinds("Un")
		next.Tools[0].Tagline = "Un autre"
		next.Tools = next.Tools[:1]
		next.Comparisons, next.Retired, next.Pages, next.Pictures = nil, nil, nil, nil
		publishAll(t, s, next, 1)
		former := documents(t, s, "former_records", "until = 2 AND document <> ''")
		want := slices.DeleteFunc(slices.Clone(first), func(d storedDocument) bool { return d.kind == "catalogue" })
		if !slices.Equal(former, want) {
			t.Errorf("version 2 replaced %v; want %v", namesOf(former), namesOf(want))
		}
		gone := documents(t, s, "records", "deleted")
		if got := strings.Join(namesOf(gone), ", "); got !=
			"cimetiere c, comparatif a-vs-b, comparatif b-vs-a not public, outil b, page methode, picture images/a.png not public" {
			t.Errorf("deleted: %s", got)
		}
		for v := 3; v <= 51; v++ {
			c := catalogue(next.Tools...)
			c.Settings.Headline = fmt.Sprint(v)
			publishAll(t, s, c, v)
		}
		if got := documents(t, s, "former_records", "until = 2 AND document <> ''"); !slices.Equal(got, want) {
			t.Errorf("49 versions later: %v", namesOf(got))
		}
		if _, err := s.Pictures.Read(t.Context(), "one"); err != nil {
			t.Error(err)
		}
		publishAll(t, s, catalogue(next.Tools...), 52)
		if got := documents(t, s, "former_records", "until <= 2"); len(got) > 0 {
			t.Errorf("50 versions later: %v", namesOf(got))
		}
		left := documents(t, s, "records", "NOT public AND deleted") // the feed keeps the others for ever
		if len(left) > 0 || len(documents(t, s, "records", "public AND deleted")) != 4 {
			t.Errorf("%v is left", namesOf(left))
		}
	})
}

func TestAServerThatIsFarBehindReadsEverything(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		publishAll(t, s, allKinds("0"), 0)
		first := loaded(t, s)
		publishAll(t, s, catalogue(tool("a", "1 €/mois"), tool("b", "2 €/mois")), 1)
		second := loaded(t, s)
		for v := 3; v <= 52; v++ {
			c := catalogue(tool("a", "1 €/mois"), tool("b", "2 €/mois"))
			c.Settings.Headline = fmt.Sprint(v)
			publishAll(t, s, c, v)
		}
		now := loaded(t, s)
		for _, check := range []struct {
			before *Published
			whole  bool
		}{{first, true}, {second, false}} {
			got, step, err := s.Catalogue.LoadAfter(t.Context(), check.before)
			if err != nil {
				t.Fatal(err)
			}
			if isWhole := step == nil; isWhole != check.whole {
				t.Errorf("after version %d of %d, everything was read: %v", check.before.Version, now.Version, isWhole)
			}
			same(t, now.Catalog, got.Catalog)
		}
	})
}

func TestStoredDocumentsMayHaveFieldsOfALaterRelease(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		c := allKinds("Un")
		publishAll(t, s, c, 0)
		execute(t, s, `UPDATE records SET document = '{"later":{"a":[1]},' || substr(document, 2)`)
		same(t, c, loaded(t, s).Catalog)
	})
}

func TestADocumentThatCannotBeReadIsNamed(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		publishAll(t, s, allKinds("Un"), 0)
		execute(t, s, `UPDATE records SET document = substr(document, 1, 20) WHERE slug = 'methode'`)
		_, err := s.Catalogue.Load(t.Context())
		if err == nil || !strings.Contains(err.Error(), "the record of methode is damaged: restore the database from a backup") {
			t.Errorf("Load = %v", err)
		}
	})
}

func TestToolsCanBeQueriedThroughAView(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		c := catalogue(tool("a", "1 €/mois"), tool("b", "2 €/mois"), tool("z", "3 €/mois"))
		c.Tools[0].Score, c.Tools[0].Mainstream, c.Tools[0].Sources = ptr(7.5), true, []string{"https://a.example/x"}
		publish(t, s, c, monday)
		gone := catalogue(c.Tools[:2]...)
		gone.Retired = []catalog.Retired{retired("z")}
		publish(t, s, gone, day(1))
		type shown struct {
			slug, price, sources string
			score                float64
			tier                 int
			mainstream           bool
		}
		query := func() []shown {
			all, err := sqldb.Rows(t.Context(), s.SQL.Reads(), `
				SELECT slug, price, coalesce(sources, ''), coalesce(score, -1), tier, mainstream FROM tools_view WHERE tier > 0 ORDER BY price`,
				func(scan sqldb.Scanner, t *shown) error {
					return scan(&t.slug, &t.price, &t.sources, &t.score, &t.tier, &t.mainstream)
				})
			if err != nil {
				t.Fatal(err)
			}
			return all
		}
		want := []shown{
			{"a", "1 €/mois", `["https://a.example/x"]`, 7.5, c.Tools[0].Tier, true},
			{"b", "2 €/mois", "", -1, c.Tools[1].Tier, false},
		}
		if b := c.Tools[1].Score; b != nil {
			want[1].score = *b
		}
		if got := query(); !slices.Equal(got, want) {
			t.Errorf("%+v\nwant %+v", got, want)
		}

		// A program with other fields makes another view when it opens the database.
		for _, statement := range []string{`DROP VIEW tools_view`, `CREATE VIEW tools_view AS SELECT slug FROM records`, `UPDATE catalogue SET tools_view = 'x'`} {
			execute(t, s, statement)
		}
		if err := renewView(t.Context(), s.SQL); err != nil {
			t.Fatal(err)
		}
		if got := query(); !slices.Equal(got, want) {
			t.Errorf("once renewed: %+v", got)
		}
	})
}
