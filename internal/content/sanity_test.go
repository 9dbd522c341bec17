package content

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"palmares/internal/catalog"
)

const saneTool = "name: %[1]s\ndomain: %[1]s.example\ncategory: code\npricing: payant\nprice: %[2]s\ntagline: x\nscore: %[3]s\ntested_at: 2026-01-01\nsummary: x\naccess: paid\n"

// readSane reads a catalogue of tools that all have a price and a score.
func readSane(t *testing.T, settings, price, score string) *Result {
	t.Helper()
	files := fstest.MapFS{"catalogue.yaml": {Data: []byte(settingsFile + settings)}}
	for i := range 12 {
		name := fmt.Sprintf("t%d", i)
		files["outils/"+name+".md"] = &fstest.MapFile{Data: fmt.Appendf(nil, "---\n"+saneTool+"---\n", name, price, score)}
	}
	r := readAll(t, files, Options{Today: "2026-02-01"})
	if len(r.Problems) > 0 {
		t.Fatal(r.Problems)
	}
	return r
}

func TestChangesThatAreRarelyMeantGiveWarnings(t *testing.T) {
	none := func(string) []catalog.Section { return nil }
	old := readSane(t, "", "10 €/mois", "8").Catalog
	for _, test := range []struct {
		price, score string
		jumps        int
	}{
		{"10 €/mois", "8", 0},
		{"30 €/mois", "8", 1}, // all change at once
		{"31 €/mois", "8", 13},
		{"3 €/mois", "8", 13},
		{"0 €/mois", "8", 1},
		{"sur devis", "5", 1},
		{"10 €/mois", "4.9", 13},
		{"480 €/an", "4", 25},
		{"60 €/minute", "8", 1},
		{"10 €/mois\nprice_display: 12 $/mois", "8", 1}, // it was shown in euros
	} {
		next := readSane(t, "", test.price, test.score)
		d := catalog.Compare(old, next.Catalog, none)
		found := next.WarnJumps(old, &d)
		if len(found) != test.jumps {
			t.Errorf("%+v: %v", test, found)
		}
		for _, w := range found {
			want := map[bool]int{strings.Contains(w.Text.English, "the price"): 6, strings.Contains(w.Text.English, "the score"): 8}[true]
			if w.Line != max(want, 1) {
				t.Errorf("%+v: line %d of %s: %s", test, w.Line, w.File, w.Text)
			}
		}
		silent := readSane(t, "warnings: {ignore: [jump]}\n", test.price, test.score)
		if found := silent.WarnJumps(old, &d); len(found) > 0 {
			t.Errorf("%+v, silenced: %v", test, found)
		}
	}
}

func TestAPriceThatIsShownAnewIsConvertedAnew(t *testing.T) {
	old := readSane(t, "", "10 €/mois\nprice_display: 11 £/mois", "8").Catalog
	for price, want := range map[string]int{
		"10 €/mois\nprice_display: 12 £/mois":           13,
		"10 €/mois\nprice_display: 11 £/mois, avec TVA": 1,
		"12 €/mois\nprice_display: 12 £/mois":           1,
		"12 €/mois\nprice_display: 11 £/mois":           1,
	} {
		next := readSane(t, "", price, "8")
		d := catalog.Compare(old, next.Catalog, func(string) []catalog.Section { return nil })
		if found := next.WarnJumps(old, &d); len(found) != want {
			t.Errorf("%s: %d warnings: %v", price, len(found), found)
		}
	}
}

func TestAKindOfWarningIsSilenced(t *testing.T) {
	if r := readSane(t, "", "100 001 €/an", "8"); len(r.Warnings) != 12 {
		t.Error(r.Warnings)
	}
	if r := readSane(t, "warnings: {ignore: [amount]}\n", "100 001 €/an", "8"); len(r.Warnings) > 0 {
		t.Error(r.Warnings)
	}
	r := readSane(t, "warnings: {ignore: [montant]}\n", "1 €/an", "8")
	if len(r.Warnings) != 1 || r.Warnings[0].Line != 6 {
		t.Error(r.Warnings)
	}
}

func TestWarningsThatDifferInNamesOnlyAreGrouped(t *testing.T) {
	texts := []string{`"a" changed 1`, `"b" changed 22`, `"c" changed 3`, `"d\"" changed 4`, `"e" changed 5`, "other"}
	var listed []int
	more := ""
	Group(len(texts), func(i int) string { return texts[i] }, func(i int) { listed = append(listed, i) }, func(i, others int) { more += fmt.Sprint(i, others) })
	if !slices.Equal(listed, []int{0, 1, 2, 5}) || more != "3 2" {
		t.Error(listed, more)
	}
}
