package content

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"palmares/internal/catalog"
)

// calendarDay is the day on which the tests below read a folder.
var calendarDay = time.Date(2026, 11, 17, 12, 0, 0, 0, time.UTC)

// planned is a folder in which much is to come.
func planned() map[string]string {
	tool := func(name, more string) string {
		fields := strings.NewReplacer("Boréal", name, "boreal", strings.ToLower(name[:3])).Replace(someFields)
		return "---\n" + fields + "summary: Oui.\naccess: paid\ntested_at: 2026-10-01\n" + more + "---\n"
	}
	return map[string]string{
		"outils/plume.md":       tool("Plume", "score: 8\nannounced:\n  - from: 2027-03-31\n    retire: mort\n    successor: calame\n  - from: 2027-01-01\n    price: 25 €/mois\n"),
		"outils/calame.md":      tool("Calame", "score: 7\n"),
		"outils/calame.next.md": tool("Stylo", "score: 9\npublish_at: 2026-12-01T09:00\nlogo: images/neuf.png\n"),
		"outils/stylet.md":      tool("Stylet", "score: 6\npublish_at: 2026-12-01T09:00\n"),
		"cimetiere/plume.md":    "---\nname: Plume\ncategory: code\nreason: mort\nretired_at: 2027-03-31\npublish_at: 2027-03-31\n---\nFermé.\n",
		"comparatifs/duo.md":    "---\ntitle: Duo\ntool_a: calame\ntool_b: stylet\nwinner: calame\nwinner_note: Net.\npublish_at: 2026-12-01T08:00Z\n---\n",
		"pages/salon.md":        "---\ntitle: Salon\npublish_at: \"2026-11-01\"\nunpublish_at: 2026-12-20T18:00:00+01:00\n---\nVoir [Calame](../outils/calame.md).\n",
		"images/neuf.png":       string(drawing(8, 0)),
	}
}

func readPlanned(t *testing.T, files map[string]string) *Result {
	t.Helper()
	return readAll(t, folderOf(files), Options{InMemory: true, Now: calendarDay, Today: catalog.Day(calendarDay)})
}

func TestWhatIsToComeIsReadAndWrittenBack(t *testing.T) {
	read := readPlanned(t, planned())
	if len(read.Problems)+len(read.Warnings) > 0 {
		t.Fatal(read.Problems, read.Warnings)
	}
	c := read.Catalog
	var got []string
	for _, p := range c.Planned() {
		got = append(got, fmt.Sprint(p.Due, " ", p.Name, " ", p.What))
	}
	want := []string{
		"2026-12-01T08:00:00Z comparatifs/duo published", "2026-12-01T08:00:00Z outils/calame published", "2026-12-01T08:00:00Z outils/stylet published",
		"2026-12-20T17:00:00Z pages/salon unpublished", "2026-12-31T23:00:00Z outils/plume price 25 €/mois", "2027-03-30T22:00:00Z cimetiere/plume published",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(c.Tools) != 2 || c.Tools[0].Name != "Calame" || len(c.Pages) != 1 || len(c.Comparisons)+len(c.Retired)+len(c.Pictures) > 0 || len(c.Held) != 1 {
		t.Errorf("public are %+v", c)
	}
	shown := readAll(t, folderOf(planned()), Options{InMemory: true, Now: calendarDay, Drafts: true}).Catalog
	if next := shown.Tool("calame"); next.Name != "Stylo" || !next.Draft || shown.Tool("plume").Draft || !shown.Tool("stylet").Draft {
		t.Errorf("authors see %+v", next)
	}
	for name, format := range formats {
		dir := filepath.Join(t.TempDir(), "export")
		if err := Write(t.Context(), dir, c, WriteOptions{Format: format, Pictures: read.Pictures}); err != nil {
			t.Fatal(err)
		}
		again, problems, err := readDir(t, dir)
		if err != nil || len(problems) > 0 {
			t.Fatal(name, err, problems)
		}
		if diff := cmp.Diff(c, again, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(catalog.Picture{}, "Source")); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

func TestHoursThatHavePassed(t *testing.T) {
	files := planned()
	files["outils/calame.next.md"] = strings.Replace(files["outils/calame.next.md"], "2026-12-01", "2026-11-02", 1)
	files["cimetiere/plume.md"] = strings.Replace(files["cimetiere/plume.md"], "publish_at: 2027-03-31", "publish_at: 2026-11-03", 1)
	files["pages/salon.md"] = strings.Replace(files["pages/salon.md"], "unpublish_at: 2026-12-20", "unpublish_at: 2026-11-10", 1)
	read := readPlanned(t, files)
	var got []string
	for _, w := range read.Warnings {
		got = append(got, w.String())
	}
	want := []string{
		"outils/calame.next.md:1: warning: this text has replaced outils/calame.md since 2026-11-02T08:00:00Z; move it there, without publish_at, and delete this file",
		"outils/plume.md:1: warning: the tool is retired since 2026-11-02T23:00:00Z (cimetiere/plume.md); delete this file",
		"cimetiere/plume.md:5: warning: retired_at is 2027-03-31, which is in the future; correct the date",
		"pages/salon.md:1: warning: unpublish_at is 2026-11-10T17:00:00Z, which has passed: nobody sees this any more; give it another time, or delete the file",
	}
	if diff := cmp.Diff(want, got); diff != "" || len(read.Problems) > 0 {
		t.Error(diff, read.Problems)
	}
	c := read.Catalog
	if len(c.Tools) != 1 || c.Tools[0].Name != "Stylo" || len(c.Retired) != 1 || len(c.Pages) != 0 || len(c.Ended) != 1 || len(c.Pictures) != 1 {
		t.Errorf("public are %+v", c)
	}
}

func TestTheHourOfADraftDoesNothing(t *testing.T) {
	files := planned()
	for _, file := range []string{"outils/calame.next.md", "cimetiere/plume.md"} {
		files[file] = strings.Replace(files[file], "publish_at: 202", "draft: true\npublish_at: 201", 1)
	}
	read := readPlanned(t, files)
	if c := read.Catalog; len(read.Problems) > 0 || len(c.Tools) != 2 || c.Tool("calame").Name != "Calame" || len(c.Retired) > 0 {
		t.Errorf("public are %+v (%v)", c, read.Problems)
	}
}

func TestAMistakeIsSaidOnce(t *testing.T) {
	for file, change := range map[string][2]string{
		"outils/plume.md":       {"25 €/mois", "cher"},
		"outils/calame.next.md": {"publish_at: 2026-12-01T09:00\n", ""},
	} {
		files := planned()
		files[file] = strings.Replace(files[file], change[0], change[1], 1)
		if read := readPlanned(t, files); len(read.Problems) != 1 {
			t.Errorf("%s: %v", file, read.Problems)
		}
	}
}

func TestAnnouncedPricesThatNeedAHand(t *testing.T) {
	for change, want := range map[string]string{
		"from: 2026-11-02\n    price: 25 €/mois": "the price that was announced for 2026-11-02 is in effect; see that price is the current one, and delete the item",
		"from: 2027-01-01\n    pricing: gratuit": `from 2027-01-01 on pricing is gratuit, but price is "19,99 €/mois"; announce 0 €/mois as well`,
	} {
		files := planned()
		files["outils/plume.md"] = strings.Replace(files["outils/plume.md"], "from: 2027-01-01\n    price: 25 €/mois", change, 1)
		read := readPlanned(t, files)
		if len(read.Problems) > 0 || len(read.Warnings) != 1 || read.Warnings[0].Text.English != want {
			t.Errorf("%s: %v %v", change, read.Problems, read.Warnings)
		}
	}
}

func TestMistakesAboutTheFuture(t *testing.T) {
	for name, test := range map[string]struct{ file, old, text, want string }{
		"a skipped time":                              {"outils/stylet.md", "2026-12-01T09:00", "2027-03-28T02:30", `outils/stylet.md:13: publish_at is a time that is skipped in Europe/Paris, where the clocks change: write 2027-03-28T02:30:00+02:00 or 2027-03-28T02:30:00+01:00, not "2027-03-28T02:30"`},
		"no time":                                     {"pages/salon.md", "2026-12-20T18:00:00+01:00", "Noël", `pages/salon.md:4: unpublish_at must be a time such as 2026-12-01T09:00, 2026-12-01T09:00+01:00 or 2026-12-01, not "Noël"`},
		"no record to replace":                        {"outils/calame.md", "", "", `outils/calame.next.md:1: there is no record "calame" that this file could replace; rename it to outils/calame.md`},
		"a text without an hour":                      {"outils/calame.next.md", "publish_at: 2026-12-01T09:00\n", "", `outils/calame.next.md:1: publish_at is missing; say when this text replaces outils/calame.md`},
		"an incomplete record":                        {"outils/stylet.md", "domain: sty.example\n", "", `outils/stylet.md:1: domain is missing`},
		"a tool that comes later":                     {"comparatifs/duo.md", "2026-12-01T08:00Z", "2026-11-30", `comparatifs/duo.md:4: tool_b "stylet" is not public before 2026-12-01T08:00:00Z (outils/stylet.md:1); publish it first, or make the comparison a draft (from 2026-11-29T23:00:00Z on)`},
		"a comparison of a tool that will be retired": {"comparatifs/duo.md", "tool_b: stylet", "tool_b: plume", `comparatifs/duo.md:4: tool_b "plume" is a retired tool (cimetiere/plume.md:1); only active tools are compared (from 2027-03-30T22:00:00Z on)`},
		"a link to a page that ends":                  {"outils/plume.md", "25 €/mois\n---\n", "25 €/mois\n---\nVoir [le salon](../pages/salon.md).\n", `outils/plume.md:20: the link to "../pages/salon.md" leads nowhere`},
		"two announcements in one":                    {"outils/plume.md", "    retire: mort\n", "    retire: mort\n    price: 1 €/mois\n", `outils/plume.md:14: a change of the price and a retirement are two announcements in item 1 of announced; make two items of them`},
		"an announcement of nothing":                  {"outils/plume.md", "    price: 25 €/mois\n", "", `outils/plume.md:17: price, pricing, price_display or retire is missing in item 2 of announced; say what changes`},
		"a year that does not sort":                   {"outils/stylet.md", "2026-12-01T09:00", "9999-12-31T23:00-12:00", `outils/stylet.md:13: publish_at must be a time such as`},
		"a page that ends before it begins":           {"pages/salon.md", "2026-11-01", "2026-12-21", `pages/salon.md:4: unpublish_at must be after publish_at`},
		"a text that comes before what it replaces":   {"outils/calame.md", "score: 7\n", "score: 7\npublish_at: 2026-12-01T09:00\n", `outils/calame.next.md:1: publish_at must be after that of outils/calame.md, which this text replaces`},
		"a successor that nobody may know yet":        {"outils/plume.md", "successor: calame", "successor: stylet", `outils/plume.md:1: successor "stylet" is not public before 2026-12-01T08:00:00Z; publish it first, or remove the successor`},
		"a successor of itself":                       {"outils/plume.md", "successor: calame", "successor: plume", `outils/plume.md:1: successor must be a tool other than "plume" itself`},
		"two announcements of a day":                  {"outils/plume.md", "2027-01-01", "2027-03-31", `outils/plume.md:14: two items of announced are from 2027-03-31; make one of them, or correct a day`},
	} {
		t.Run(name, func(t *testing.T) {
			files := planned()
			if test.old == "" {
				delete(files, test.file)
			} else {
				files[test.file] = strings.Replace(files[test.file], test.old, test.text, 1)
			}
			read := readPlanned(t, files)
			var got []string
			for _, p := range read.Problems {
				got = append(got, p.String())
			}
			if !strings.Contains(strings.Join(got, "\n"), test.want) {
				t.Errorf("got %s\nwant %s", strings.Join(got, "\n"), test.want)
			}
		})
	}
}
