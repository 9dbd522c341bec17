package content

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"palmares/internal/catalog"
	"palmares/internal/markdown"
	"palmares/internal/testkit/awkward"
)

// The generators draw anything that the format allows.
var (
	urls    = rapid.SampledFrom([]string{"https://a.example", "http://a.example:8080/b?c=d&e=%20f", "https://a.example/~b/(c);d,e"})
	figures = rapid.OneOf(rapid.Just[*float64](nil), rapid.Map(rapid.OneOf(rapid.Float64Range(0, 10), rapid.SampledFrom([]float64{0, 10, 8.5, 1e-300})), func(x float64) *float64 { return &x }))
	marks   = rapid.Custom(func(t *rapid.T) (all catalog.Values) {
		if rapid.Bool().Draw(t, "12") {
			all = append(all, catalog.Value{Name: "12", Number: rapid.Float64Range(0, 10).Draw(t, "mark")})
		}
		if rapid.Bool().Draw(t, "no") {
			all = append(all, catalog.Value{Name: "no", Number: float64(rapid.IntRange(0, 1).Draw(t, "flag")), IsFlag: true})
		}
		if rapid.Bool().Draw(t, "x") {
			all = append(all, catalog.Value{Name: "x", Number: rapid.Float64Range(-1e9, 1e9).Draw(t, "measure")})
		}
		return all
	})
)

func maybe[T any](t *rapid.T, g *rapid.Generator[T], label string) T {
	var zero T
	return rapid.OneOf(rapid.Just(zero), g).Draw(t, label)
}

var catalogues = rapid.Custom(func(t *rapid.T) *catalog.Catalog {
	c := &catalog.Catalog{
		Name: awkward.OneLine.Draw(t, "name"), URL: "https://essai.example/base",
		Categories: []catalog.Category{{
			Slug: "code", Label: awkward.OneLine.Draw(t, "label"), Usages: []catalog.Usage{{Slug: "12", Label: awkward.OneLine.Draw(t, "label")}},
			Criteria: []catalog.Criterion{
				{Slug: "12", Label: awkward.OneLine.Draw(t, "label")},
				{Slug: "no", Label: "n", Kind: catalog.KindYesNo},
				{Slug: "x", Label: "x", Unit: maybe(t, awkward.OneLine.Filter(isShort), "unit"), Worst: new(-1e-3), Best: new(1e9)},
			},
			Protocol: []catalog.Protocol{{Version: awkward.OneLine.Filter(isShort).Draw(t, "version"), Since: maybe(t, awkward.Days, "since")}},
		}, {Slug: "null", Label: "y", Position: 1}, {Slug: "12", Label: "n", Position: 2}},
	}
	category := rapid.SampledFrom([]string{"code", "null", "12"})
	pricing := rapid.SampledFrom(catalog.Pricings)
	entry := rapid.Custom(func(t *rapid.T) catalog.PriceChange {
		return catalog.PriceChange{
			ChangedAt: awkward.Days.Draw(t, "changed"), OldPricing: pricing.Draw(t, "old"), OldPrice: awkward.Prices.Draw(t, "old"),
			NewPricing: pricing.Draw(t, "new"), NewPrice: awkward.Prices.Draw(t, "new"),
		}
	})
	slugs := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z0-9]{1,3}(-[a-z0-9]{1,3})?`), 0, 9, rapid.ID[string]).Draw(t, "slugs")
	var tested []string
	for len(slugs) > 0 {
		slug := slugs[0]
		slugs = slugs[1:]
		if rapid.IntRange(0, 3).Draw(t, "retired") == 0 {
			o := catalog.Retired{
				Slug: slug, Name: awkward.OneLine.Draw(t, "name"), Category: category.Draw(t, "category"),
				Reason: rapid.SampledFrom(catalog.Reasons).Draw(t, "reason"), RetiredAt: awkward.Days.Draw(t, "retired"), Body: awkward.Notes.Draw(t, "note"),
			}
			if len(c.Tools) > 0 {
				o.Successor = c.Tools[0].Slug
			}
			o.Note = markdown.Plain(o.Body)
			c.Retired = append(c.Retired, o)
			continue
		}
		tool := &catalog.Tool{
			Slug: slug, Name: awkward.OneLine.Draw(t, "name"), Domain: awkward.Domains.Draw(t, "domain"), Category: category.Draw(t, "category"),
			ICP: rapid.SampledFrom(catalog.ICPs).Draw(t, "icp"), Pricing: pricing.Draw(t, "pricing"), Price: awkward.Prices.Draw(t, "price"), Tagline: awkward.OneLine.Draw(t, "tagline"),
			Score: figures.Draw(t, "score"), Verifiability: figures.Draw(t, "verifiability"), Obsolescence: figures.Draw(t, "obsolescence"),
			Tier: rapid.IntRange(1, 3).Draw(t, "tier"), Mainstream: rapid.Bool().Draw(t, "mainstream"), UpdatedAt: maybe(t, awkward.Days, "updated"),
			CanonicalURL: maybe(t, urls, "canonical"), ReviewURL: maybe(t, urls, "avis"), AlternativesURL: maybe(t, urls, "alternatives"),
			TestedAt: maybe(t, awkward.Days, "tested"), PriceCheckedAt: maybe(t, awkward.Days, "checked"), Body: maybe(t, awkward.Bodies, "body"),
			Sources: rapid.SliceOfN(urls, 0, 3).Draw(t, "sources"), PriceHistory: rapid.SliceOfN(entry, 0, 3).Draw(t, "history"),
			PriceDisplay: maybe(t, awkward.OneLine.Filter(isShort), "display"), Authors: rapid.SliceOfN(awkward.OneLine, 0, 2).Draw(t, "authors"), ScoreNote: maybe(t, awkward.Prose, "score note"),
		}
		if tool.Category == "code" {
			tool.Criteria = marks.Draw(t, "criteria")
			tool.CriteriaHistory = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) catalog.CriteriaChange {
				return catalog.CriteriaChange{ChangedAt: awkward.Days.Draw(t, "changed"), Old: marks.Draw(t, "old"), New: marks.Draw(t, "new")}
			}), 0, 2).Draw(t, "criteria history")
			tool.Usages, tool.Summary = rapid.SampledFrom([][]string{nil, {"12"}}).Draw(t, "usages"), maybe(t, awkward.OneLine, "summary")
			tool.Pros, tool.Cons = rapid.SliceOfN(awkward.OneLine, 0, 3).Draw(t, "pros"), rapid.SliceOfN(awkward.OneLine, 0, 3).Draw(t, "cons")
		}
		for len(slugs) > 0 && rapid.Bool().Draw(t, "alias") {
			tool.Aliases = append(tool.Aliases, slugs[0])
			slugs = slugs[1:]
		}
		slices.Sort(tool.Aliases)
		c.Tools = append(c.Tools, tool)
		if tool.Score != nil {
			tested = append(tested, slug)
		}
	}
	if len(tested) > 1 {
		c.Comparisons = []catalog.Comparison{{
			Slug: "x", Title: awkward.OneLine.Draw(t, "title"), ToolA: tested[0], ToolB: tested[1], Winner: tested[1],
			WinnerNote: awkward.Prose.Draw(t, "note"), Published: rapid.Bool().Draw(t, "published"), UpdatedAt: maybe(t, awkward.Days, "updated"), Body: maybe(t, awkward.Bodies, "body"),
		}}
	}
	c.Settings = catalog.Settings{Headline: maybe(t, awkward.OneLine, "headline"), Introduction: maybe(t, awkward.Bodies, "introduction")}
	if rapid.Bool().Draw(t, "page") {
		c.Pages = []catalog.Page{{Slug: "p", Title: awkward.OneLine.Draw(t, "title"), Menu: rapid.SampledFrom(catalog.Menus).Draw(t, "menu"), Body: maybe(t, awkward.Bodies, "body")}}
	}
	c.Sort()
	return c
})

func isShort(s string) bool { return utf8.RuneCountInString(s) <= longest[catalog.Short] }

var formats = map[string]Format{"markdown": Markdown, "jsonl": JSONL}

func TestWhatIsWrittenIsReadBackTheSame(t *testing.T) {
	for name, format := range formats {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			n := 0
			rapid.Check(t, func(rt *rapid.T) {
				want := catalogues.Draw(rt, "catalogue")
				n++
				target := filepath.Join(dir, fmt.Sprint(n))
				if err := Write(t.Context(), target, want, WriteOptions{Format: format}); err != nil {
					rt.Fatal(err)
				}
				got, problems, err := readDir(t, target)
				if err != nil || len(problems) > 0 {
					rt.Fatal(err, problems)
				}
				if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
					rt.Fatal(diff)
				}
				if err := os.RemoveAll(target); err != nil {
					rt.Fatal(err)
				}
			})
		})
	}
}

// sample is a catalogue with a record of each kind.
func sample() *catalog.Catalog {
	score := 8.5
	tool := func(slug, body string) *catalog.Tool {
		return &catalog.Tool{
			Slug: slug, Name: "L’outil : " + slug, Domain: slug + ".example", Category: "code", ICP: "mixte", Pricing: "freemium",
			Price: "19,99 €/mois", Tagline: "Il relit", Score: &score, Tier: 3, UpdatedAt: "2026-01-02", Body: body,
			PriceHistory: []catalog.PriceChange{{ChangedAt: "2025-10-01", OldPricing: "payant", OldPrice: "29 €/mois", NewPricing: "freemium", NewPrice: "19,99 €/mois"}},
		}
	}
	return &catalog.Catalog{
		Name: "Essai", URL: "https://essai.example",
		Categories:  []catalog.Category{{Slug: "code", Label: "Développement"}},
		Tools:       []*catalog.Tool{tool("boreal", "## Avis\n\n---\n\nfin"), tool("calame", "")},
		Comparisons: []catalog.Comparison{{Slug: "x", Title: "X", ToolA: "boreal", ToolB: "calame", Winner: "boreal", WinnerNote: "Net.\nBien.", Published: true, UpdatedAt: "2026-01-03"}},
		Retired:     []catalog.Retired{{Slug: "zephyr", Name: "Zéphyr", Category: "code", Reason: "mort", RetiredAt: "2025-01-01", Successor: "boreal", Body: "*Fin.*", Note: "Fin."}},
	}
}

// examples are values of the forms.
var examples = map[catalog.Form]string{
	catalog.InCategory: "code", catalog.Line: "L’outil : « oui »", catalog.Name: "L’outil", catalog.Short: "Sur devis, dès 400 €/mois", catalog.Quote: "Pro : 19,99 € par mois", catalog.Prose: "Plus lent.\nEt plus cher.",
	catalog.Markdown: "De *quoi*\n\nécouter.", catalog.Body: "Nous *essayons*.", catalog.Price: "19,99 €/mois",
	catalog.Summary: "Le plus sûr : payez-le.", catalog.Date: "2026-01-02", catalog.Time: "2026-12-01T08:00:00Z", catalog.Zone: "America/New_York", catalog.Link: "https://a.example/1", catalog.Contact: "redaction@essai.example",
}

// fill gives every field that is empty a value.
func fill(fields []catalog.Field, record any) {
	for i := range fields {
		f := &fields[i]
		if !f.IsEmpty(record) || f.Form.IsStatus() {
			continue
		}
		switch p := f.In(record).(type) {
		case *string:
			*p = examples[f.Form]
			if n := len(f.Values); n > 0 && f.Form != catalog.Name {
				*p = f.Values[n-1]
			}
		case *[]string:
			*p = map[catalog.Form][]string{
				catalog.Names: {"Ada", "Bo : Li"}, catalog.Links: {"https://a.example/4"}, catalog.Slugs: {"ancien"},
				catalog.ToolSlugs: {"boreal", "calame"}, catalog.Lines: {"Rapide : oui", "- net"}, catalog.UsageSlugs: {"seul"},
			}[f.Form]
		case *catalog.Values:
			*p = catalog.Values{{Name: "exactitude", Number: 8.5}, {Name: "hors-ligne", Number: 1, IsFlag: true}, {Name: "latence", Number: -1.9}}
		case **float64:
			x := 7.5
			*p = &x
		case *catalog.HistoryMode:
			*p = catalog.HistoryReplace
		case *bool:
			*p = true
		default:
			fill(f.List.Fields, f.List.Add(p))
		}
		if f.IsEmpty(record) {
			panic("there is no example of the form of " + f.Name)
		}
	}
}

// complete returns a catalogue whose records have every field.
func complete() *catalog.Catalog {
	c := sample()
	c.Settings.Dataset = catalog.DatasetHead
	worst, best := 10.0, -0.5
	c.Categories[0].Usages = []catalog.Usage{{Slug: "seul", Label: "Seul : chez soi"}, {Slug: "null", Label: "12"}}
	c.Categories[0].Protocol = []catalog.Protocol{{Version: "2", Page: "methode", Since: "2026-01-01"}}
	c.Categories[0].Criteria = []catalog.Criterion{
		{Slug: "exactitude", Label: "Exactitude", Description: "Mots justes sur cent"},
		{Slug: "latence", Label: "Latence", Kind: catalog.KindMeasure, Unit: "s", Better: catalog.BetterLower, Worst: &worst, Best: &best},
		{Slug: "hors-ligne", Label: "Hors ligne", Kind: catalog.KindYesNo},
	}
	c.Categories[0].Profiles = []catalog.Profile{{Label: "Pressé", Weights: catalog.Values{{Name: "exactitude"}, {Name: "latence", Number: 2.5}}}}
	c.Categories = append(c.Categories, catalog.Category{
		Slug: "audio", Label: "Audio", Description: "De *quoi*\n\nécouter.", Aliases: []string{"son", "voix"}, Position: 1,
	})
	c.Pages = []catalog.Page{{Slug: "methode"}, {Slug: "salon", Aliases: []string{"foire"}}, {Slug: "transparence", Aliases: []string{"clarte"}}}
	c.Articles, c.Authors = []catalog.Article{{Slug: "voix"}}, []catalog.Author{{Slug: "ada", Name: "Ada"}}
	c.Settings.Theme = []catalog.Theme{{Accent: "#7a1f3d", AccentDark: "#e08aa5"}}
	c.Tools[0].Announced = []catalog.Announcement{
		{From: "2027-01-01", Pricing: "payant", Price: "25 €/mois", PriceDisplay: "Dès 25 €/mois", PriceSource: "https://a.example/prix", PriceQuote: "25 € par mois", PriceCheckedAt: "2026-11-01"},
		{From: "2027-03-31", Retire: "absorbe", Successor: "calame", Source: "https://a.example/fin"},
	}
	addPictures(c)
	fill(catalog.ToolFields, c.Tools[0])
	fill(catalog.ComparisonFields, &c.Comparisons[0])
	fill(catalog.RetiredFields, &c.Retired[0])
	fill(catalog.PageFields, &c.Pages[0])
	c.Pages[1].Image, c.Pages[2].Image = c.Pages[0].Image, c.Pages[0].Image
	fill(catalog.PageFields, &c.Pages[1])
	fill(catalog.PageFields, &c.Pages[2])
	c.Articles[0].Image, c.Authors[0].Image = c.Pages[0].Image, c.Pages[0].Image
	fill(catalog.ArticleFields, &c.Articles[0])
	fill(catalog.AuthorFields, &c.Authors[0])
	c.Pages[0].UnpublishAt, c.Pages[2].UnpublishAt = "", "" // as others need them
	fill(catalog.CatalogueFields, c)
	c.Settings.Theme[0].Font = catalog.FontSans
	c.Sort()
	return c
}

func TestEveryFieldIsWrittenAndReadBack(t *testing.T) {
	want := complete()
	for name, format := range formats {
		dir := filepath.Join(t.TempDir(), "export")
		if err := Write(t.Context(), dir, want, WriteOptions{Format: format, Pictures: drawn{}}); err != nil {
			t.Fatal(err)
		}
		got, problems, err := readDir(t, dir)
		if err != nil || len(problems) > 0 {
			t.Fatal(err, problems)
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

func TestDraftsAreWrittenAsDrafts(t *testing.T) {
	want := complete()
	want.Tools[1].Draft, want.Comparisons[0].Draft, want.Retired[0].Draft, want.Pages[0].Draft = true, true, true, true
	want.Articles[0].Draft, want.Authors[0].Draft = true, true
	want.Tools[0].Announced = nil // which names the draft
	for name, format := range formats {
		dir := filepath.Join(t.TempDir(), "export")
		if err := Write(t.Context(), dir, want, WriteOptions{Format: format, Pictures: drawn{}}); err != nil {
			t.Fatal(err)
		}
		got, err := Read(t.Context(), dir, Options{Drafts: true})
		if err != nil || len(got.Problems) > 0 {
			t.Fatal(err, got)
		}
		c := got.Catalog
		if !c.Tools[1].Draft || c.Tools[0].Draft || !c.Comparisons[0].Draft || !c.Retired[0].Draft || !c.Pages[0].Draft || !c.Articles[0].Draft || !c.Authors[0].Draft {
			t.Errorf("%s: a draft was written as something else", name)
		}
		if err := got.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestAnExportIsReadable(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "export")
	if err := Write(t.Context(), dir, sample(), WriteOptions{Format: Markdown}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"outils/boreal.md": `---
name: "L’outil : boreal"
domain: boreal.example
category: code
icp: mixte
pricing: freemium
price: 19,99 €/mois
tagline: Il relit
score: 8.5
tier: 3
updated_at: 2026-01-02
price_history:
  - changed_at: 2025-10-01
    old_pricing: payant
    old_price: 29 €/mois
    new_pricing: freemium
    new_price: 19,99 €/mois
---

## Avis

---

fin
`,
		"catalogue.yaml": "name: Essai\nurl: https://essai.example\ncategories:\n  - slug: code\n    label: Développement\n",
	} {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Error(diff)
		}
	}
}

func TestARecordTooLargeForOneFormatIsWrittenInTheOther(t *testing.T) {
	long := sample()
	long.Tools[0].Body = strings.Repeat("\\\"\n", 240_000) + "." // under 1 MiB as Markdown, over it as JSON
	for range 700 {
		long.Tools[1].PriceHistory = append(long.Tools[1].PriceHistory, long.Tools[1].PriceHistory[0])
	}
	for name, format := range formats {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "export")
			if err := Write(t.Context(), dir, long, WriteOptions{Format: format}); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"outils/boreal.md", "outils.jsonl"} {
				if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
					t.Error(err)
				}
			}
			got, problems, err := readDir(t, dir)
			if err != nil || len(problems) > 0 {
				t.Fatal(err, problems)
			}
			if diff := cmp.Diff(long, got); diff != "" {
				t.Error("the catalogue came back changed")
			}
		})
	}
}

func TestNothingIsOverwritten(t *testing.T) {
	dir := t.TempDir()
	if err := Write(t.Context(), dir, sample(), WriteOptions{Format: JSONL}); err != nil {
		t.Fatalf("an empty folder is rejected: %v", err)
	}
	before := filesIn(t, dir)
	err := Write(t.Context(), dir, sample(), WriteOptions{Format: Markdown})
	if err == nil || !strings.Contains(err.Error(), "is not empty") {
		t.Errorf("got %v", err)
	}
	if diff := cmp.Diff(before, filesIn(t, dir)); diff != "" {
		t.Error(diff)
	}
	if err := Write(t.Context(), filepath.Join(dir, catalog.SettingsFile), sample(), WriteOptions{Format: JSONL}); err == nil {
		t.Error("a file was accepted as a folder")
	}
}

func TestTheSameCatalogueIsWrittenAsTheSameBytes(t *testing.T) {
	for _, format := range formats {
		a, b := filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")
		for _, dir := range []string{a, b} {
			if err := Write(t.Context(), dir, sample(), WriteOptions{Format: format}); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(filesIn(t, a), filesIn(t, b)); diff != "" {
			t.Error(diff)
		}
	}
}

func TestAFailedExportLeavesNothingBehind(t *testing.T) {
	parent := t.TempDir()
	huge := sample()
	huge.Retired[0].Body = strings.Repeat("x", 2<<20)
	absent := filepath.Join(parent, "absent")
	if err := Write(t.Context(), absent, huge, WriteOptions{Format: Markdown}); err == nil || !strings.Contains(err.Error(), "zephyr") {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	err := Write(ctx, absent, sample(), WriteOptions{Format: JSONL, Progress: func(int) { cancel() }})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if got := filesIn(t, parent); len(got) > 0 {
		t.Errorf("left behind: %v", got)
	}
	empty := filepath.Join(parent, "empty")
	if err := os.Mkdir(empty, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := Write(t.Context(), empty, huge, WriteOptions{Format: JSONL}); err == nil {
		t.Error("a record of 2 MiB was written")
	}
	if got := filesIn(t, parent); len(got) > 0 {
		t.Errorf("left behind: %v", got)
	}
	if _, err := os.Stat(empty); err != nil {
		t.Errorf("the existing folder was removed: %v", err)
	}
}

// tree returns the contents of the files of a folder, by path.
func filesIn(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		files[strings.TrimPrefix(path, dir)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
