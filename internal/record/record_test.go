package record_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"palmares/demo"
	"palmares/internal/catalog"
	"palmares/internal/content"
	"palmares/internal/record"
	"palmares/internal/synthetic"
	"palmares/internal/testkit"
)

func TestMain(m *testing.M) { os.Exit(testkit.Run(m)) }

// demoCatalogue returns the demo as it is served.
func demoCatalogue(t *testing.T) *catalog.Catalog {
	t.Helper()
	r, err := content.ReadFS(t.Context(), demo.Folder, content.Options{InMemory: true})
	if err != nil || len(r.Problems) > 0 {
		t.Fatal(err, r)
	}
	catalog.CarryOver(&catalog.Catalog{}, r.Catalog, "2026-11-15")
	return r.Catalog
}

// lines returns every record of a catalogue in its canonical form.
func lines(c *catalog.Catalog) (all [][]byte) {
	for _, kind := range catalog.Kinds {
		for i := range kind.Len(c) {
			r := record.Of(c, kind.At(c, i))
			all = append(all, r.Append(nil, r.Images(c)))
		}
	}
	return all
}

// oddities returns objects with strings and numbers that encoders disagree about.
func oddities() (all [][]byte) {
	r := rand.New(rand.NewPCG(1, 2))
	runes := []rune("aé\"\\/<>&'\u007f\u0080\u00a0\u2028\u2029\ufeff\ufffd\uffff\U0001F600\U0010FFFF\U00010000€")
	for i := range rune(0x20) {
		runes = append(runes, i)
	}
	text := func() string {
		var b strings.Builder
		for range r.IntN(20) {
			if r.IntN(4) == 0 {
				b.WriteRune(rune(r.IntN(0xd800)))
			} else {
				b.WriteRune(runes[r.IntN(len(runes))])
			}
		}
		return b.String()
	}
	add := func(t *catalog.Tool) { all = append(all, record.Of(&catalog.Catalog{}, t).Append(nil, nil)) }
	for _, x := range []float64{
		0, math.Copysign(0, -1), 1, 10, 0.1, 0.30000000000000004, 1e-6, 9.999e-7, 1e-7, 1.5e-9, 1e-10, 1.25e-100, 5e-324,
		1e20, 1e21, 1.7976931348623157e308, -7.5,
	} {
		add(&catalog.Tool{Score: &x})
	}
	for i := range 3000 {
		x := math.Float64frombits(r.Uint64())
		if math.IsNaN(x) || math.IsInf(x, 0) || i%2 == 0 {
			x = r.Float64() * 10
		}
		add(&catalog.Tool{
			Name: text(), Score: &x, Tier: i, Mainstream: true, Authors: []string{text(), ""},
			Plans: []catalog.PlanRow{{Name: text(), Price: text()}, {}},
		})
	}
	return all
}

// parseAndWrite exits with 1 and names the first line that is not what ECMAScript, whose
// strings and numbers are those of RFC 8785, writes after parsing it.
const parseAndWrite = `
process.stdin.setEncoding("utf8");
let text = "";
for await (const chunk of process.stdin) text += chunk;
const lines = text.split("\n").slice(0, -1);
for (const line of lines) {
	const again = JSON.stringify(JSON.parse(line));
	if (again !== line) { console.log("wrote " + line + "\nwant  " + again); process.exit(1); }
}
console.log(lines.length);`

func TestWhoeverParsesARecordAndWritesItAgainGetsTheSameBytes(t *testing.T) {
	all := slices.Concat(lines(demoCatalogue(t)), lines(synthetic.Catalog(500, 3)), oddities())
	c := exec.CommandContext(t.Context(), "node", "--input-type=module", "-e", parseAndWrite)
	c.Stdin = bytes.NewReader(append(bytes.Join(all, []byte("\n")), '\n'))
	out, err := c.CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != fmt.Sprint(len(all)) {
		t.Errorf("%v: %s; want %d lines", err, out, len(all))
	}
}

func ptr(x float64) *float64 { return &x }

// small is a catalogue with a record of each kind.
func small() *catalog.Catalog {
	c := &catalog.Catalog{
		Name: "Essai", URL: "https://essai.example",
		Categories: []catalog.Category{{Slug: "code", Label: "Code", Position: 1}, {Slug: "audio", Label: "Audio", Description: "![](images/a.png)"}},
		Settings:   catalog.Settings{Introduction: "Bonjour.", Logo: "images/l.png"},
		Tools: []*catalog.Tool{{
			Slug: "plume", Name: "Plume & Cie", Domain: "plume.example", Category: "code", ICP: "mixte", Pricing: "payant", Price: "5 €/mois", Tagline: "Elle dit « oui »",
			Authors: []string{"Ada"}, Logo: "images/l.png", Score: ptr(7.5), Verifiability: ptr(8), Tier: 2, UpdatedAt: "2026-11-01", Sources: []string{"https://a.example/?b&c"},
			PriceHistory: []catalog.PriceChange{{ChangedAt: "2026-10-01", OldPricing: "payant", OldPrice: "0 €/mois", NewPricing: "payant", NewPrice: "5 €/mois", Automatic: true}},
			ScoreHistory: []catalog.ScoreChange{{ChangedAt: "2026-10-02", NewScore: ptr(7.5)}},
			Body:         "Un avis.\n\n![Écran](../images/%61.png)\n\nVoir [ceci](../images/z.png) et [cela](/prix).",
		}, {
			Slug: "stylo", Name: "Stylo", Domain: "stylo.example", Category: "code", ICP: "mixte", Pricing: "gratuit", Price: "0 €/mois", Tagline: "Écrit", Score: ptr(6), Tier: 3,
			UpdatedAt: "2026-11-02", CanonicalURL: "https://stylo.example/", Mainstream: true,
		}},
		Comparisons: []catalog.Comparison{
			{Slug: "plume-ou-stylo", Title: "Plume ou stylo ?", ToolA: "plume", ToolB: "stylo", Winner: "plume", WinnerNote: "Net.", Published: true, UpdatedAt: "2026-11-03", Aliases: []string{"ancien"}},
			{Slug: "secret", Title: "Secret", ToolA: "plume", ToolB: "stylo", Winner: "plume", WinnerNote: "Net.", UpdatedAt: "2026-11-03"},
		},
		Retired:  []catalog.Retired{{Slug: "gomme", Name: "Gomme", Category: "code", Reason: "mort", RetiredAt: "2026-01-01", Successor: "plume", Body: "*Fin.*", Note: "Fin."}},
		Pages:    []catalog.Page{{Slug: "methode", Title: "Méthode", Menu: catalog.MenuFooter, Body: "Nous\tessayons."}},
		Pictures: map[string]catalog.Picture{},
	}
	for i, name := range []string{"images/a.png", "images/l.png", "images/z.png"} {
		c.Pictures[name] = catalog.Picture{Path: name, Hash: strings.Repeat(fmt.Sprint(i), 64), Source: "x", Ext: "png"}
	}
	return c
}

// The bytes of a record never change while Format stays the same: whoever has a copy
// compares hashes.
func TestTheCanonicalFormIsFrozen(t *testing.T) {
	const zeros, ones, twos = "0000000000000000000000000000000000000000000000000000000000000000", "1111111111111111111111111111111111111111111111111111111111111111", "2222222222222222222222222222222222222222222222222222222222222222"
	want := []string{
		`{"slug":"plume","name":"Plume & Cie","domain":"plume.example","category":"code","icp":"mixte","pricing":"payant","price":"5 €/mois","tagline":"Elle dit « oui »","author":["Ada"],"logo":"images/l.png","score":7.5,"verifiability":8,"tier":2,"updated_at":"2026-11-01","canonical_url":"https://essai.example/outils/plume","avis_url":"https://essai.example/avis/plume","alternatives_url":"https://essai.example/alternatives/plume","sources":["https://a.example/?b&c"],"price_history":[{"changed_at":"2026-10-01","old_pricing":"payant","old_price":null,"new_pricing":"payant","new_price":"5 €/mois"}],"score_history":[{"changed_at":"2026-10-02","new_score":7.5}],"body":"Un avis.\n\n![Écran](../images/%61.png)\n\nVoir [ceci](../images/z.png) et [cela](/prix).","images":[{"path":"images/a.png","sha256":"` + zeros + `"},{"path":"images/l.png","sha256":"` + ones + `"},{"path":"images/z.png","sha256":"` + twos + `"}]}`,
		`{"slug":"stylo","name":"Stylo","domain":"stylo.example","category":"code","icp":"mixte","pricing":"gratuit","price":"0 €/mois","tagline":"Écrit","score":6,"tier":3,"mainstream":true,"updated_at":"2026-11-02","canonical_url":"https://stylo.example/","alternatives_url":"https://essai.example/alternatives/stylo"}`,
		`{"slug":"plume-ou-stylo","title":"Plume ou stylo ?","tool_a":"plume","tool_b":"stylo","winner":"plume","winner_note":"Net.","updated_at":"2026-11-03","aliases":["ancien"]}`,
		`{"slug":"secret","title":"Secret","tool_a":"plume","tool_b":"stylo","winner":"plume","winner_note":"Net.","updated_at":"2026-11-03","published":false}`,
		`{"slug":"gomme","name":"Gomme","category":"code","reason":"mort","retired_at":"2026-01-01","successor":"plume","body":"*Fin.*"}`,
		`{"slug":"methode","title":"Méthode","menu":"footer","body":"Nous\tessayons."}`,
		`{"slug":"catalogue","name":"Essai","url":"https://essai.example","introduction":"Bonjour.","logo":"images/l.png","categories":[{"slug":"audio","label":"Audio","description":"![](images/a.png)"},{"slug":"code","label":"Code"}],"images":[{"path":"images/a.png","sha256":"` + zeros + `"},{"path":"images/l.png","sha256":"` + ones + `"}]}`,
	}
	for i, got := range lines(small()) {
		if string(got) != want[i] {
			t.Errorf("got  %s\nwant %s", got, want[i])
		}
	}
	if got := record.Hash([]byte(want[5])); got != "sha256-c1b17efc5bf0be9f0633c2727ce5976ec94f57f31810586eaa84dcb30ea3ccba" {
		t.Errorf("the hash is %s", got)
	}
	if record.Format != 2 {
		t.Error("another form: write its bytes here")
	}
}

func TestOnlyWhatThePublicSeesIsFound(t *testing.T) {
	c := small()
	c.Tools[1].Draft = true
	for _, one := range []struct {
		kind  *catalog.Kind
		slug  string
		found bool
	}{
		{catalog.ToolKind, "plume", true},
		{catalog.ToolKind, "stylo", false},
		{catalog.ToolKind, "a", false},
		{catalog.ToolKind, "zz", false},
		{catalog.ComparisonKind, "plume-ou-stylo", true},
		{catalog.ComparisonKind, "secret", false},
		{catalog.RetiredKind, "gomme", true},
		{catalog.RetiredKind, "plume", false},
		{catalog.PageKind, "methode", true},
		{catalog.CatalogueKind, "catalogue", true},
		{catalog.CatalogueKind, "x", false},
		{catalog.LaterKind("avis"), "plume", false},
	} {
		if r, found := record.Find(c, one.kind, one.slug); found != one.found || found && (r.Kind != one.kind || r.Slug != one.slug) {
			t.Errorf("%s %s: %t, %s %s", one.kind, one.slug, found, r.Kind, r.Slug)
		}
	}
}

func TestADatasetOfHeadsHasNeitherBodiesNorTheirPictures(t *testing.T) {
	c := small()
	c.Settings.Dataset = catalog.DatasetHead
	r, _ := record.Find(c, catalog.ToolKind, "plume")
	got := string(r.Append(nil, r.Images(c)))
	if strings.Contains(got, "Un avis") || strings.Contains(got, "images/a.png") || !strings.Contains(got, `"images":[{"path":"images/l.png"`) || !strings.Contains(got, `"avis_url":"https://essai.example/avis/plume"`) {
		t.Error(got)
	}
	r, _ = record.Find(c, catalog.CatalogueKind, "catalogue")
	if got := string(r.Append(nil, r.Images(c))); !strings.Contains(got, `"dataset":"head"`) || !strings.Contains(got, `Bonjour`) || !strings.Contains(got, "images/a.png") {
		t.Error(got)
	}
}
