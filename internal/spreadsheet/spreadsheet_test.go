package spreadsheet_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"palmares/internal/spreadsheet"
)

const mapping = `
catalogue: {name: Le Banc, url: https://banc.example}
columns:
  Nom: name
  Site: domain
  Catégorie: category
  Formule: pricing
  Prix: price
  Accroche: tagline
  Note: score
  Testé le: tested_at
  Auteurs: author
  Sources: sources
  Avis: body
  Points forts: body/Points forts
ignore: [Interne]
values:
  pricing: {Libre: gratuit}
defaults: {mainstream: true}
price_unit: €/mois
`

const header = "Nom;Site;Catégorie;Formule;Prix;Accroche;Note;Testé le;Auteurs;Sources;Avis;Points forts;Interne"

const good = header + `
Éclaircie;https://www.eclaircie.example/fr;Rédaction & mails;libre;0;Écrit « juste »;8,5/10;31/12/2025;Ada, Bob;https://a.example https://b.example;"Premier ""avis"";
sur deux lignes.";Rapide;non
Lisière;lisiere.example;Rédaction & mails;Payant;19.99€;Range tout;;;;;;;

Œuvre;oeuvre.example/;Images;Payant;1 200 €/an;Dessine;7;2025-06-01;Ada;;;;
`

// convert parses and converts; no error is expected.
func convert(t *testing.T, file []byte, rules string) (*spreadsheet.Table, *spreadsheet.Result) {
	t.Helper()
	table, err := spreadsheet.Parse(file)
	if err != nil {
		t.Fatal(err)
	}
	m, err := spreadsheet.ParseMapping([]byte(rules))
	if err != nil {
		t.Fatal(err)
	}
	result, err := spreadsheet.Convert(t.Context(), table, m)
	if err != nil {
		t.Fatal(err)
	}
	return table, result
}

func TestATableBecomesACatalogueInAnyEncodingAndWithAnySeparator(t *testing.T) {
	_, want := convert(t, []byte(good), mapping)
	if len(want.Problems) > 0 || want.Catalog == nil || len(want.Unmapped) > 0 {
		t.Fatalf("%+v", want)
	}
	c := want.Catalog
	tool := c.Tool("eclaircie")
	if tool == nil || c.Tool("lisiere") == nil || c.Tool("oeuvre") == nil || len(c.Tools) != 3 {
		t.Fatalf("%+v", c.Tools)
	}
	if tool.Domain != "www.eclaircie.example" || tool.Category != "redaction-mails" || tool.Pricing != "gratuit" || tool.Price != "0 €/mois" ||
		tool.Score == nil || fmt.Sprint(*tool.Score) != "8.5" || tool.TestedAt != "2025-12-31" || !tool.Mainstream {
		t.Errorf("%+v", tool)
	}
	if diff := cmp.Diff([]string{"Ada", "Bob"}, tool.Authors); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"https://a.example", "https://b.example"}, tool.Sources); diff != "" {
		t.Error(diff)
	}
	if want := "Premier \"avis\";\nsur deux lignes.\n\n## Points forts\n\nRapide"; tool.Body != want {
		t.Errorf("body: %q", tool.Body)
	}
	if got := c.Tool("lisiere").Price + ", " + c.Tool("oeuvre").Price; got != "19,99 €/mois, 1 200 €/an" {
		t.Error(got)
	}
	if diff := cmp.Diff("Rédaction & mails, Images", c.Categories[1].Label+", "+c.Categories[0].Label); diff != "" {
		t.Error(diff)
	}

	windows, err := charmap.Windows1252.NewEncoder().String(good)
	if err != nil {
		t.Fatal(err)
	}
	utf16, err := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().String(good)
	if err != nil {
		t.Fatal(err)
	}
	for file, encoding := range map[string]string{
		windows: "Windows-1252", utf16: "UTF-16", "\ufeff" + good: "UTF-8", strings.ReplaceAll(good, "\n", "\r\n"): "UTF-8",
	} {
		table, got := convert(t, []byte(file), mapping)
		if table.Encoding != encoding {
			t.Errorf("%s is read as %s", encoding, table.Encoding)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", encoding, diff)
		}
	}
	for _, separator := range []string{",", "\t"} {
		file := "Nom" + separator + "Site\nA" + separator + "\"a.example\"\n"
		_, got := convert(t, []byte(file), "catalogue: {name: B, url: https://b.example, categories: [{slug: c, label: C}]}\ncolumns: {Nom: name, Site: domain}\ndefaults: {draft: true}")
		if len(got.Problems) > 0 || got.Catalog.Tool("a") == nil || got.Catalog.Tool("a").Domain != "a.example" {
			t.Errorf("separated by %q: %+v", separator, got)
		}
	}
}

func TestTheHostOfAnyAddressIsTheDomain(t *testing.T) {
	for cell, want := range map[string]string{
		"claude.com/claude-code": "claude.com", "https://claude.com/claude-code?x=y": "claude.com", "Claude.com/": "claude.com",
		"www.claude.com#x": "www.claude.com", "claude.com:443": "claude.com",
	} {
		_, got := convert(t, []byte("Nom;Site\nA;"+cell+"\n"), "catalogue: {name: B, url: https://b.example, categories: [{slug: c, label: C}]}\ncolumns: {Nom: name, Site: domain}\ndefaults: {draft: true}")
		if len(got.Problems) > 0 || got.Catalog.Tool("a").Domain != want {
			t.Errorf("%s: %+v", cell, got)
		}
	}
	_, got := convert(t, []byte("Nom;Site\nA;N/A\n"), "catalogue: {name: B, url: https://b.example, categories: [{slug: c, label: C}]}\ncolumns: {Nom: name, Site: domain}\ndefaults: {draft: true}")
	if len(got.Problems) != 1 || !strings.Contains(got.Problems[0].Text, `not "n/a"`) {
		t.Errorf("%+v", got.Problems)
	}
}

func TestEveryWrongRowIsNamed(t *testing.T) {
	var file strings.Builder
	file.WriteString(header + "\n")
	wrong := map[int]string{}
	for i := range 150 {
		score, line := "7", i+2
		if i%3 != 0 {
			score = fmt.Sprintf("n°%d", i)
			wrong[line] = fmt.Sprintf(`score must be a number from 0 to 10, not "n°%d" (column "Note")`, i)
		}
		fmt.Fprintf(&file, "Outil %d;o%d.example;Images;Payant;19 €/mois;Dessine;%s;2025-06-01;;;;;\n", i, i, score)
	}
	windows, err := charmap.Windows1252.NewEncoder().String(file.String())
	if err != nil {
		t.Fatal(err)
	}
	_, got := convert(t, []byte(windows), mapping)
	if len(got.Problems) != 100 || len(wrong) != 100 || len(got.Catalog.Tools) != 50 {
		t.Fatalf("%d problems, %d tools", len(got.Problems), len(got.Catalog.Tools))
	}
	for _, p := range got.Problems {
		if p.Text != wrong[p.Line] {
			t.Errorf("line %d: %s, want %s", p.Line, p.Text, wrong[p.Line])
		}
	}
}

func TestWhatIsWrongWithATableIsSaid(t *testing.T) {
	row := "A;a.example;Images;Payant;19 €/mois;Dessine;7;2025-06-01;;;;;"
	for name, c := range map[string]struct{ file, want string }{
		"empty":                {"", "the file is empty"},
		"blank":                {"\n ; \n", "the file is empty"},
		"quote in a cell":      {header + "\nA;a\"b;", "line 2: the cells cannot be told apart"},
		"quote never closed":   {header + "\n" + row + "\n\"A;a\n\n", "line 3: the cells cannot be told apart"},
		"two columns":          {"Nom;Site;Nom\n", `two columns are named "Nom"`},
		"unnamed column":       {"Nom;\nA;b\n", "line 2: column 2 has cells but no name"},
		"missing column":       {strings.Replace(header, "Note;", "", 1), `the table has no column "Note"; it has Nom, Site,`},
		"too many cells":       {header + "\n" + row + "x;y\n", "line 2: the row has 14 cells, but there are 13 columns"},
		"no name":              {header + "\n" + strings.Replace(row, "A;", ";", 1), "line 2: slug is missing"},
		"same name":            {header + "\n" + row + "\n" + row, "is taken: it is an active tool (line 2)"},
		"unknown value":        {header + "\n" + strings.Replace(row, "Payant", "Cher", 1), `pricing must be gratuit, freemium or payant, not "cher"`},
		"impossible date":      {header + "\n" + strings.Replace(row, "2025-06-01", "31/02/2025", 1), `"31/02/2025" (column "Testé le")`},
		"negative score":       {header + "\n" + strings.Replace(row, ";7;", ";-1;", 1), `not "-1" (column`},
		"amount in dollars":    {header + "\n" + strings.Replace(row, "19 €/mois", "19 $", 1), "price must be an amount in euros"},
		"conflict in a review": {header + "\n" + strings.Replace(row, ";;;;;", ";;;<<<<<<< HEAD;;", 1), "conflict"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := failure(t, c.file, mapping); !strings.Contains(got, c.want) {
				t.Errorf("%q does not say %q", got, c.want)
			}
		})
	}
	for name, c := range map[string]struct{ rules, want string }{
		"nothing":            {"", "columns is missing"},
		"not UTF-8":          {"columns: {\xe9: name}", "not valid UTF-8"},
		"too large":          {"columns: {A: name}" + strings.Repeat("\n", 1<<16), "larger than 64 KiB"},
		"not YAML":           {"columns: [", "[1:10] sequence end token"},
		"unknown key":        {"colums: {}", `unknown field "colums"`},
		"unknown field":      {strings.Replace(mapping, "Note: score", "Note: scores", 1), `columns: "Note": a tool has no field "scores"; it has access, added_at,`},
		"field of two":       {strings.Replace(mapping, "Note: score", "Note: name", 1), `"Nom" and "Note" are both the field name`},
		"field with parts":   {strings.Replace(mapping, "Note: score", "Note: plans", 1), "the field plans does not fit into a cell"},
		"section without":    {strings.Replace(mapping, "body/Points forts", "body/", 1), "followed by the title of a section"},
		"unknown default":    {strings.Replace(mapping, "mainstream", "main", 1), `defaults: a tool has no field "main"`},
		"not a number":       {strings.Replace(mapping, "mainstream: true", "score: .nan", 1), "may hold texts, numbers"},
		"no name of its own": {strings.Replace(mapping, "name: Le Banc, ", "", 1), "catalogue: name is missing"},
	} {
		t.Run("mapping/"+name, func(t *testing.T) {
			if got := failure(t, header+"\n"+row, c.rules); !strings.Contains(got, c.want) {
				t.Errorf("%q does not say %q", got, c.want)
			}
		})
	}
}

// failure returns what is said about a table and a mapping of which one is wrong.
func failure(t *testing.T, file, rules string) string {
	t.Helper()
	table, err := spreadsheet.Parse([]byte(file))
	if err != nil {
		return err.Error()
	}
	m, err := spreadsheet.ParseMapping([]byte(rules))
	if err != nil {
		return err.Error()
	}
	result, err := spreadsheet.Convert(t.Context(), table, m)
	if err != nil {
		return err.Error()
	}
	var said []string
	for _, p := range result.Problems {
		said = append(said, fmt.Sprintf("line %d: %s", p.Line, p.Text))
	}
	return strings.Join(said, "\n")
}

func TestTheTemplateNamesEveryColumnAndTheFieldsThatHeadingsTell(t *testing.T) {
	table, err := spreadsheet.Parse([]byte("Nom;\"Prix: \"\"net\"\"\";CATÉGORIE ;Note;Score;tested_at;Prix vérifié le;plans;Autre;Mis à jour;Pour qui ?;Points forts;Points faibles;Verdict\nA;1"))
	if err != nil {
		t.Fatal(err)
	}
	if got := spreadsheet.Template(table); !strings.Contains(got, "  \"Nom\": name\n  \"Prix: \\\"net\\\"\": \n  \"CATÉGORIE\": category\n  \"Note\": score\n  \"Score\": \n"+
		"  \"tested_at\": tested_at\n  \"Prix vérifié le\": price_checked_at\n  \"plans\": \n  \"Autre\": \n"+
		"  \"Mis à jour\": updated_at\n  \"Pour qui ?\": icp\n  \"Points forts\": pros\n  \"Points faibles\": cons\n  \"Verdict\": summary\n") {
		t.Error(got)
	}
}

func FuzzAnyTableIsReadOrExplained(f *testing.F) {
	f.Add([]byte(good), []byte(mapping))
	f.Add([]byte("Nom,Site\nA,a.example\n"), []byte("columns: {Nom: name}\ndefaults: {draft: true}"))
	f.Add([]byte("\xff\xfeN\x00"), []byte("columns: {N: body/x}"))
	f.Fuzz(func(t *testing.T, file, rules []byte) {
		table, err := spreadsheet.Parse(file)
		if err != nil {
			return
		}
		m, err := spreadsheet.ParseMapping(rules)
		if err != nil {
			return
		}
		result, err := spreadsheet.Convert(t.Context(), table, m)
		if err != nil {
			return
		}
		if result.Catalog == nil && len(result.Problems) == 0 && result.Rows > 0 {
			t.Error("nothing came of the table, and nothing was said")
		}
	})
}
