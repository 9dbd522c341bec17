package document

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"palmares/demo"
	"palmares/internal/catalog"
	"palmares/internal/content"
	"palmares/internal/content/tree"
	"palmares/internal/synthetic"
	"palmares/internal/testkit/awkward"
	"palmares/starter"
)

const (
	someFields = "name: Boréal\ndomain: boreal.example\ncategory: code\nicp: mixte\npricing: freemium\nprice: 19,99 €/mois\ntagline: Il relit\n"
	someTool   = "---\n" + someFields + "---\n"
)

// editable returns the files of records, and catalogue.yaml, of a folder.
func editable(t *testing.T, fsys fs.FS) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := fs.WalkDir(fsys, ".", func(name string, e fs.DirEntry, err error) error {
		if _, _, kindErr := kindOf(name); err != nil || e.IsDir() || kindErr != nil {
			return err
		}
		text, err := fs.ReadFile(fsys, name)
		files[name] = string(text)
		return err
	})
	if err != nil || len(files) == 0 {
		t.Fatal(len(files), err)
	}
	return files
}

func opened(t interface {
	Helper()
	Fatalf(format string, args ...any)
}, name, text string,
) *Document {
	t.Helper()
	d, err := Open(name, []byte(text))
	if err != nil {
		t.Fatalf("%s: %v in\n%s", name, err, text)
	}
	return d
}

// pick returns one of some texts.
func pick(r *rand.Rand, texts ...string) string { return texts[r.IntN(len(texts))] }

// oddScalar writes a text without special characters as the value of a field, after its colon, in any
// style.
func oddScalar(r *rand.Rand, text string) string {
	first, rest, _ := strings.Cut(text, " ")
	styles := []string{
		" " + text, "   " + text + "  ", " '" + text + "'", ` "` + text + `" # a "comment"`, " " + text + " # comment: [a, b]",
		"\n  " + text, "\n    # inside\n    '" + text + "'",
	}
	if rest != "" {
		styles = append(styles, " >-\n  "+first+"\n  "+rest, " |\n   "+text, " > # folded\n  "+text+"\n\n", "\n  "+first+"\n  "+rest,
			` "`+first+"\n  "+rest+`"`, " '"+first+"\n  "+rest+"'")
	}
	return pick(r, styles...) + "\n"
}

// oddItems writes a list of texts in any style.
func oddItems(r *rand.Rand, items ...string) string {
	var b strings.Builder
	switch r.IntN(4) {
	case 0:
		return pick(r, " [", "  [ ") + strings.Join(items, ", ") + pick(r, "]", " , ] # flow") + "\n"
	case 1:
		b.WriteString(" [ # over lines\n")
		for _, item := range items {
			b.WriteString("  " + item + ", " + pick(r, "# about "+item+"\n", "\n", "\n\n"))
		}
		return b.String() + "  ]\n"
	}
	b.WriteString(pick(r, "\n", " # a list\n", "\n\n  # its first\n"))
	indent := pick(r, "", "  ", "      ")
	for _, item := range items {
		b.WriteString(indent + pick(r, "- ", "-   ") + pick(r, item, "'"+item+"'", `"`+item+`"`) + pick(r, "\n", " # about "+item+"\n", "\n\n", "\n"+indent+"# below\n", "\n"+indent+"   # inside\n"))
	}
	return b.String()
}

// oddRows writes a list of objects, or a mapping, in any style.
func oddRows(r *rand.Rand, isList bool, rows ...string) string {
	if !isList {
		if r.IntN(3) == 0 {
			return " {" + strings.Join(strings.Split(rows[0], "; "), ", ") + "} # flow\n"
		}
		return pick(r, "\n", " # a mapping\n  # first\n") + "  " + strings.ReplaceAll(rows[0], "; ", pick(r, "\n  ", " # said\n  # next\n  ", "\n\n  ")) + "\n"
	}
	text := pick(r, "\n", " # rows\n")
	indent := pick(r, "", "  ")
	for i, row := range rows {
		if i > 0 && r.IntN(3) == 0 {
			text += indent + "# above\n"
		}
		switch r.IntN(4) {
		case 0:
			text += indent + "- {" + strings.ReplaceAll(row, "; ", ", ") + "}" + pick(r, "\n", " # flow\n")
		case 1:
			text += indent + "-\n" + indent + "  " + strings.ReplaceAll(row, "; ", "\n"+indent+"  ") + "\n"
		default:
			text += indent + "-   " + strings.ReplaceAll(row, "; ", pick(r, "\n"+indent+"    ", " # cell\n"+indent+"    # more\n"+indent+"    ")) + "\n"
		}
	}
	return text
}

// oddTool writes a valid tool as hardly anybody would.
func oddTool(r *rand.Rand) string {
	fields := map[string]string{
		"name": oddScalar(r, "Boréal Deux"), "domain": oddScalar(r, "boreal.example"), "category": oddScalar(r, "code"),
		"pricing": oddScalar(r, "payant"), "price": oddScalar(r, "19,99 €/mois"), "tagline": oddScalar(r, "Il relit tout"),
		"icp": pick(r, oddScalar(r, "vibe-coder"), "\n", " ''\n"), "author": pick(r, oddScalar(r, "Camille Roux"), oddItems(r, "Camille Roux", "Jo Lin")),
		"plans": oddRows(r, true, "name: Un; price: 3 euros", "name: Deux; price: rien; note:", "name: Trois; note: \"a: b\"; price: 'sur devis'"),
		"score": pick(r, " 8.50 # prudent\n", " 7\n", "\n  9.0\n"), "tier": pick(r, " 1\n", "\n", " 3\n"), "mainstream": pick(r, " true\n", " false # no\n", " ~\n"),
		"tested_at": oddScalar(r, "2026-01-02"), "summary": oddScalar(r, "Un verdict bref"), "score_note": oddScalar(r, "Il se trompe moins"),
		"pros": oddItems(r, "vite", "bien fait", "simple"), "cons": pick(r, " []\n", " # none\n", oddItems(r, "cher")),
		"usages": oddItems(r, "relire"), "criteria": oddRows(r, false, "latence: 1.9; exactitude: 8; hors-ligne: true"),
		"sources": oddItems(r, "https://a.example/1", "https://a.example/2", "https://a.example/3"), "aliases": oddItems(r, "vieux", "ancien"),
		"price_history": oddRows(r, true, "changed_at: 2025-01-01; old_pricing: gratuit; old_price: 0 €/an; new_pricing: payant; new_price: 2 €/an"),
		"score_history": oddRows(r, true, "changed_at: 2025-01-01; old_score: 5.0; note: mieux", "changed_at: 2024-01-01; new_score: 6"),
		"announced":     oddRows(r, true, "from: 2030-01-01; price: 3 €/mois", "from: 2031-01-01; retire: mort; successor: autre"),
		"draft":         pick(r, " false\n", "\n"),
	}
	if r.IntN(8) == 0 {
		fields["sources"] = oddItems(r, slices.Repeat([]string{"https://a.example/long"}, 300)...)
	}
	names := slices.Sorted(maps.Keys(fields))
	r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	required := []string{"name", "domain", "category", "pricing", "price", "tagline"}
	var b strings.Builder
	b.WriteString(pick(r, "---\n", "--- \n", "---\n# top\n", "---\n\n"))
	for _, name := range names {
		if r.IntN(3) > 0 || slices.Contains(required, name) {
			b.WriteString(pick(r, "", "", "\n", "# before "+name+"\n", "\n# before\n\n") + pick(r, name, name, name+" ", `"`+name+`"`) + ":" + fields[name])
		}
	}
	b.WriteString(pick(r, "", "# at the end\n", "\n") + pick(r, "---\n", "---\t\n"))
	b.WriteString(pick(r, "", "\n", "\n \n\n") + pick(r, "", "Un **avis**.\n\n## Prix\n\n- a  \n- b\n", "Une ligne") + pick(r, "", "\n", "\n\n\n"))
	text := b.String()
	if r.IntN(8) == 0 {
		text = indented(text)
	}
	if r.IntN(3) == 0 {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	if r.IntN(4) == 0 {
		text = tree.ByteOrderMark + text
	}
	if r.IntN(4) == 0 {
		text = strings.TrimRight(text, "\r\n")
	}
	return text
}

// indented returns a file whose fields are.
func indented(text string) string {
	lines := strings.SplitAfter(text, "\n")
	for i := 1; !strings.HasPrefix(lines[i], "---"); i++ {
		if lines[i] != "\n" {
			lines[i] = " " + lines[i]
		}
	}
	return strings.Join(lines, "")
}

const oddFiles = 200

func oddFolder(t *testing.T) map[string]string {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	files := map[string]string{}
	for i := range oddFiles {
		name := fmt.Sprintf("outils/odd-%d.md", i)
		files[name] = oddTool(r)
		_, problems := content.Decode(name, files[name])
		for _, p := range problems {
			t.Fatalf("%s in\n%s", p, files[name])
		}
	}
	return files
}

// sent returns a value as a form sends it: with empty cells, the first choice where there is none, and an empty row
// for another one.
func sent(f Field, v Value) Value {
	if f.Input != InputRows && f.Input != InputObject || v.Text != "" {
		if f.Input == InputSelect && v.Text == "" && !f.Required && len(f.Choices) > 0 {
			v.Text = f.Choices[0].Value
		}
		return v
	}
	if f.Input == InputRows || len(v.Rows) == 0 {
		v.Rows = append(v.Rows, Row{})
	}
	rows := make([]Row, len(v.Rows))
	for i := range v.Rows {
		rows[i] = Row{}
		for _, c := range f.Columns {
			rows[i][c.Name] = sent(c, v.Rows[i][c.Name])
		}
	}
	v.Rows = rows
	return v
}

// saved returns a document after a form has shown all of its fields and was sent as it was.
func saved(t *testing.T, name, text string) string {
	t.Helper()
	d := opened(t, name, text)
	for _, g := range Form(d.Kind()) {
		for _, f := range g.Fields {
			v := d.Value(f.Name)
			v.Text = strings.ReplaceAll(v.Text, "\n", "\r\n")
			if err := d.Set(f.Name, sent(f, v)); err != nil {
				t.Errorf("%s: %s: %v", name, f.Name, err)
			}
		}
	}
	return string(d.Bytes())
}

// editableFolders returns the files of the demo, of the starter, of a synthetic catalogue, and odd ones.
func editableFolders(t *testing.T, tools int) map[string]map[string]string {
	t.Helper()
	dir := t.TempDir() + "/synthetic"
	if err := content.Write(t.Context(), dir, synthetic.Catalog(tools, 1), content.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	return map[string]map[string]string{
		"demo": editable(t, demo.Folder), "starter": editable(t, starter.Folder()), "odd": oddFolder(t), "synthetic": editable(t, os.DirFS(dir)),
	}
}

func TestAFileThatIsOpenedAndSavedUnchangedKeepsItsBytes(t *testing.T) {
	for from, files := range editableFolders(t, 2000) {
		t.Logf("%s: %d files", from, len(files))
		for name, text := range files {
			if diff := cmp.Diff(text, saved(t, name, text)); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		}
	}
}

// valueFor draws a valid value of a field, or none.
func valueFor(t *rapid.T, f *catalog.Field) Value {
	text := func(form catalog.Form, f *catalog.Field) string {
		var g *rapid.Generator[string]
		switch form {
		case catalog.Name, catalog.Line, catalog.Names, catalog.Lines, catalog.Summary, catalog.Short:
			g = rapid.Map(awkward.OneLine.Filter(func(s string) bool { return utf8.RuneCountInString(s) <= 80 }), strings.TrimSpace)
		case catalog.Quote:
			g = rapid.Just("Pro 19 € par mois")
		case catalog.Prose:
			g = rapid.Map(awkward.Prose, strings.TrimSpace)
		case catalog.Markdown:
			g = rapid.Map(awkward.Notes, strings.TrimSpace)
		case catalog.Body:
			g = awkward.Bodies
		case catalog.Domain:
			g = awkward.Domains
		case catalog.Price:
			g = awkward.Prices
		case catalog.Date:
			g = awkward.Days
		case catalog.Time, catalog.PublishAt:
			g = rapid.Map(awkward.Days, func(day string) string {
				if f.Name == "unpublish_at" { // it is after publish_at
					day = "3" + day[1:]
				}
				return day + "T09:30"
			})
		case catalog.Zone:
			g = rapid.SampledFrom([]string{"Europe/Paris", "Asia/Tokyo"})
		case catalog.Link, catalog.Site, catalog.Links:
			g = rapid.SampledFrom([]string{"https://a.example", "http://a.example:8080/b", "https://a.example/~b/(c);d,e"})
		case catalog.Contact:
			g = rapid.SampledFrom([]string{"a@b.example", "https://a.example/?b#c"})
		case catalog.Image:
			g = rapid.SampledFrom([]string{"images/a.png", "images/é/b c.png"})
		case catalog.Enum, catalog.Option:
			g = rapid.SampledFrom(f.Values)
		case catalog.Colour:
			g = rapid.SampledFrom([]string{"#7a1f3d", "#005500"})
		case catalog.Figure, catalog.Number, catalog.Days, catalog.Tier, catalog.Marks, catalog.Weights:
			g = rapid.SampledFrom([]string{"1", "2", "3"})
			if form != catalog.Tier && form != catalog.Days {
				g = rapid.SampledFrom([]string{"0", "8.50", "7,5", "10"})
			}
		case catalog.Flag, catalog.Draft, catalog.Published:
			g = rapid.SampledFrom([]string{"true", "false"})
		default: // slugs
			g = rapid.SampledFrom([]string{"a", "no", "12", "true", "mon-outil-2", "null"})
		}
		return g.Draw(t, f.Name)
	}
	if !f.Use.Has(catalog.Required) && rapid.IntRange(0, 4).Draw(t, "none") == 0 {
		return Value{}
	}
	var v Value
	n := rapid.IntRange(1, 4).Draw(t, "n")
	switch {
	case isNamed(f):
		for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"latence", "12", "no", "exactitude"}), 1, 4, rapid.ID[string]).Draw(t, "names") {
			v.Rows = append(v.Rows, Row{"name": {Text: name}, "value": {Text: text(f.Form, f)}})
		}
	case f.List != nil:
		if f.Form == catalog.Single {
			n = 1
		}
		for range n {
			row := Row{}
			for i := range f.List.Fields {
				if g := &f.List.Fields[i]; g.Use.Has(catalog.Required) || rapid.Bool().Draw(t, "cell") {
					row[g.Name] = valueFor(t, g)
				}
			}
			v.Rows = append(v.Rows, row)
		}
	case f.Form.IsList():
		for range n {
			if item := text(f.Form, f); !slices.Contains(v.Items, item) {
				v.Items = append(v.Items, item)
			}
		}
	default:
		v.Text = text(f.Form, f)
	}
	return v
}

// changed returns a value that a person would make of another one: an item more or less, one moved, one
// cell different.
func changed(t *rapid.T, old, drawn Value) Value {
	if len(old.Items) == 0 && len(old.Rows) == 0 {
		return drawn
	}
	i := rapid.IntRange(0, max(len(old.Items), len(old.Rows))-1).Draw(t, "i")
	next := Value{Items: slices.Clone(old.Items)}
	for _, row := range old.Rows {
		next.Rows = append(next.Rows, maps.Clone(row))
	}
	how := rapid.SampledFrom([]string{"anew", "remove", "swap", "change", "add"}).Draw(t, "how")
	switch {
	case how == "anew":
		return drawn
	case how == "remove" && len(old.Items) > 1:
		next.Items = slices.Delete(next.Items, i, i+1)
	case how == "remove" && len(old.Rows) > 1:
		next.Rows = slices.Delete(next.Rows, i, i+1)
	case how == "swap" && len(old.Items) > 0:
		next.Items[i], next.Items[0] = next.Items[0], next.Items[i]
	case how == "swap":
		next.Rows[i], next.Rows[0] = next.Rows[0], next.Rows[i]
	case how == "change" && len(drawn.Items) > 0 && len(old.Items) > 0 && !slices.Contains(next.Items, drawn.Items[0]):
		next.Items[i] = drawn.Items[0]
	case how == "change" && len(drawn.Rows) > 0 && drawn.Rows[0]["value"].Text == "":
		maps.Copy(next.Rows[i], drawn.Rows[0])
	case how == "change" && len(drawn.Rows) > 0:
		next.Rows[i]["value"] = drawn.Rows[0]["value"]
	case how == "add" && len(drawn.Items) > 0 && !slices.Contains(next.Items, drawn.Items[0]):
		next.Items = append(next.Items, drawn.Items[0])
	case how == "add" && len(drawn.Rows) > 0 && drawn.Rows[0]["value"].Text == "":
		next.Rows = append(next.Rows, drawn.Rows[0])
	}
	return next
}

// wantRead checks that a value that was read is the one that a form gave.
func wantRead(f *catalog.Field, given Value, read any) error {
	var want any
	text := given.Text
	if text == "" {
		text = defaultText(f)
	}
	number := func(s string) *float64 {
		x, err := strconv.ParseFloat(strings.Replace(s, ",", ".", 1), 64)
		if err != nil {
			return nil
		}
		return &x
	}
	switch read := read.(type) {
	case *string:
		if f.Form == catalog.Option && text == f.Values[0] {
			text = ""
		}
		if (f.Form == catalog.Time || f.Form == catalog.PublishAt) && text != "" {
			text += ":00Z"
		}
		want = &text
	case *[]string:
		items := slices.Clone(given.Items)
		if f.Form == catalog.Slugs {
			slices.Sort(items)
		}
		want = &items
	case **float64:
		want = new(number(text))
	case *int:
		n, _ := strconv.Atoi(text)
		want = &n
	case *bool:
		want = new(text == "true")
	case *catalog.HistoryMode:
		want = new(catalog.HistoryMode(text == "replace"))
	case *catalog.Values:
		values := catalog.Values{}
		for _, row := range given.Rows {
			x := catalog.Value{Name: row["name"].Text, IsFlag: row["value"].Text == "true" || row["value"].Text == "false"}
			if row["value"].Text == "true" {
				x.Number = 1
			} else if !x.IsFlag {
				x.Number = *number(row["value"].Text)
			}
			values = append(values, x)
		}
		slices.SortFunc(values, catalog.Value.Compare)
		want = &values
	default:
		if n := f.List.Len(read); n != len(given.Rows) {
			return fmt.Errorf("%s has %d rows, want %d", f.Name, n, len(given.Rows))
		}
		rows := given.Rows
		if f.Name == "announced" {
			rows = slices.Clone(rows)
			slices.SortStableFunc(rows, func(a, b Row) int { return strings.Compare(a["from"].Text, b["from"].Text) })
		}
		for i, row := range rows {
			for j := range f.List.Fields {
				g := &f.List.Fields[j]
				if g.Name == "pricing" && row["pricing"].Text == "" && f.Name == "announced" && catalog.IsFree(row["price"].Text) {
					continue // beside payant it says that no price is public
				}
				if err := wantRead(g, row[g.Name], g.In(f.List.At(read, i))); err != nil {
					return fmt.Errorf("%s: row %d: %w", f.Name, i, err)
				}
			}
		}
		return nil
	}
	if diff := cmp.Diff(want, read, cmpopts.EquateEmpty()); diff != "" {
		return fmt.Errorf("%s: %s", f.Name, diff)
	}
	return nil
}

// wantOneChange checks that only the lines of a field differ.
func wantOneChange(before, after *Document, name string) error {
	at := span{-1, -1}
	if i := before.index(name); i >= 0 {
		at = before.spans[i]
	} else if i := after.index(name); i >= 0 {
		at = span{after.spans[i].from, after.spans[i].from}
	}
	if name == "body" {
		at = span{before.text, len(before.lines)}
	}
	if at.from < 0 {
		if string(before.Bytes()) != string(after.Bytes()) {
			return fmt.Errorf("%s is absent before and after, and the file differs", name)
		}
		return nil
	}
	plain := func(lines []string) string { return strings.TrimRight(strings.Join(lines, ""), "\r\n") }
	tail := len(before.lines) - at.to
	if len(after.lines) < at.from+tail || plain(before.lines[:at.from]) != plain(after.lines[:at.from]) ||
		plain(before.lines[at.to:]) != plain(after.lines[len(after.lines)-tail:]) || before.mark != after.mark {
		return fmt.Errorf("lines outside of %s, lines %d to %d, differ: %s", name, at.from+1, at.to, cmp.Diff(before.lines, after.lines))
	}
	isCRLF := before.newline == "\r\n"
	for i, line := range after.lines {
		if i < len(after.lines)-1 && strings.HasSuffix(line, "\r\n") != isCRLF {
			return fmt.Errorf("line %d has another end than the others: %q", i+1, line)
		}
	}
	return nil
}

func TestAChangedFieldChangesItsOwnLinesOnly(t *testing.T) {
	folders := editableFolders(t, 100)
	rapid.Check(t, func(t *rapid.T) {
		files := folders[rapid.SampledFrom([]string{"odd", "odd", "odd", "demo", "starter", "synthetic"}).Draw(t, "folder")]
		name := rapid.SampledFrom(slices.Sorted(maps.Keys(files))).Draw(t, "file")
		d := opened(t, name, files[name])
		for range 4 {
			table := d.Kind().Fields
			f := &table[rapid.IntRange(0, len(table)-1).Draw(t, "field")]
			if f.Form == catalog.OwnSlug || f.Name == "price_source" || f.Name == "price_quote" { // those need each other
				continue
			}
			isSetting := d.Kind() == catalog.CatalogueKind && f.List != nil
			before := opened(t, name, string(d.Bytes()))
			given := changed(t, before.Value(f.Name), valueFor(t, f))
			text := before.Bytes()
			if err := d.Set(f.Name, given); err != nil {
				t.Fatalf("%s: %s is set to %q: %v in\n%s", name, f.Name, given, err, text)
			}
			fail := func(err error) {
				if err != nil {
					t.Fatalf("%s: %s is set to %q: %v in\n%s\nbecomes\n%s", name, f.Name, given, err, text, d.Bytes())
				}
			}
			now, then := d.Value(f.Name).tidy(f).wanted(f, &tree.Value{}), given.tidy(f).wanted(f, &tree.Value{})
			if !sameValue(&now, &then) {
				fail(fmt.Errorf("the form shows %q", d.Value(f.Name)))
			}
			fail(wantOneChange(before, opened(t, name, string(d.Bytes())), f.Name))
			old, was := content.Decode(name, string(text))
			read, problems := content.Decode(name, string(d.Bytes()))
			for i := range table {
				switch g := &table[i]; {
				case g.Name == f.Name && isSetting: // its parts need each other
				case g.Name == f.Name:
					fail(wantRead(g, given, g.In(read)))
				case g.Form == catalog.Draft && path.Dir(name) == "comparatifs": // depends on what is missing
				case !cmp.Equal(g.In(old), g.In(read)):
					fail(fmt.Errorf("%s: %s", g.Name, cmp.Diff(g.In(old), g.In(read))))
				}
			}
			if !isSetting && f.Name != "announced" && f.Name != "body" && d.Kind() != catalog.ComparisonKind && f.Name != "draft" && len(was) == 0 && len(problems) > 0 {
				fail(fmt.Errorf("problems: %v", problems))
			}
			again := string(d.Bytes())
			if err := d.Set(f.Name, given); err != nil || string(d.Bytes()) != again {
				t.Fatalf("%s is set to %q twice: %v\n%s", f.Name, given, err, cmp.Diff(again, string(d.Bytes())))
			}
		}
	})
}

// rowsOf returns rows whose cells are texts.
func rowsOf(texts []map[string]string) (rows []Row) {
	for _, cells := range texts {
		row := Row{}
		for name, text := range cells {
			row[name] = Value{Text: text}
		}
		rows = append(rows, row)
	}
	return rows
}

func set(t *testing.T, d *Document, name string, v Value) {
	t.Helper()
	if err := d.Set(name, v); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

func TestAChangedFieldIsWrittenAnewBelowItsComments(t *testing.T) {
	const before = `---
# Relu par Jo.
tagline: 'Il relit' # à revoir
name: Boréal

domain: boreal.example
category: code
pricing: payant
price: 19 €/mois   # avec la TVA
aliases: [vieux, ancien] # du temps de Nord
# Les sources, dans l’ordre.
sources: # lues en mai
  # le site
  - https://a.example/1 # bon
  - https://a.example/2

  # un journal
  - https://b.example
plans:
  - {name: Un, price: 3 €} # vérifié
  # celle de Jo
  - name: Deux # sic
    price: 5 €
criteria:
  latence: 1.9 # s
  # jugé à deux
  exactitude: 8
score_note: >-
  Il se trompe
  moins.
inconnu: [reste]
---

Un avis.

`
	d := opened(t, "outils/boreal.md", before)
	set(t, d, "tagline", Value{Text: "Il relit, et il écrit"})
	set(t, d, "price", Value{Text: "20 €/mois"})
	set(t, d, "aliases", Value{Items: []string{"vieux", "nord"}})
	set(t, d, "sources", Value{Items: []string{"https://b.example", "https://c.example", "https://a.example/1"}})
	set(t, d, "plans", Value{Rows: rowsOf([]map[string]string{{"name": "Un", "price": "4 €"}, {"name": "Deux", "price": "5 €", "note": "par an"}, {"name": "Trois", "price": "sur devis"}})})
	set(t, d, "criteria", Value{Rows: rowsOf([]map[string]string{{"name": "latence", "value": "2,5"}, {"name": "exactitude", "value": "8"}, {"name": "hors-ligne", "value": "true"}})})
	set(t, d, "score_note", Value{Text: "Il se trompe.\r\n\r\nEncore : # non"})
	set(t, d, "score", Value{Text: "8,5"})
	set(t, d, "draft", Value{Text: "true"})
	set(t, d, "domain", Value{})
	set(t, d, "body", Value{Text: "Un avis.\r\n\r\n## Prix\r\n"})
	const after = `---
# Relu par Jo.
tagline: Il relit, et il écrit # à revoir
name: Boréal

domain:
category: code
pricing: payant
price: 20 €/mois   # avec la TVA
# du temps de Nord
aliases:
  - vieux
  - nord
# Les sources, dans l’ordre.
# lues en mai
# le site
# bon
# un journal
sources:
  - https://b.example
  - https://c.example
  - https://a.example/1
# vérifié
# celle de Jo
# sic
plans:
  - name: Un
    price: "4 €"
  - name: Deux
    price: "5 €"
    note: par an
  - name: Trois
    price: sur devis
# s
# jugé à deux
criteria:
  latence: 2.5
  exactitude: 8
  hors-ligne: true
score_note: |-
  Il se trompe.

  Encore : # non
draft: true
inconnu: [reste]
---

Un avis.

## Prix

`
	// The score belongs before what the table has after it, behind the nearest field before it.
	if diff := cmp.Diff(strings.Replace(after, "tagline: Il relit, et il écrit # à revoir\n", "tagline: Il relit, et il écrit # à revoir\nscore: 8.5\n", 1), string(d.Bytes())); diff != "" {
		t.Error(diff)
	}
	lines := strings.Split(string(d.Bytes()), "\n")
	for text, want := range map[string]string{"---": "", "# Relu": "", "price: 20": "price", "  - https://c": "sources", "    note": "plans", "  Encore": "score_note", "## Prix": "body"} {
		i := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, text) })
		if got := d.FieldOf(content.Problem{Line: i + 1}); got != want {
			t.Errorf("line %d, %q, is of %q, not of %q", i+1, lines[i], got, want)
		}
	}
	if got := d.FieldOf(content.Problem{Line: len(lines) + 1}); got != "body" {
		t.Errorf("the end is of %q", got)
	}
	d = opened(t, "outils/boreal.md", "---\nname: a\nscore: b\nplans:\n  - name: c\n---\n")
	about := map[string]int{}
	_, problems := content.Decode(d.path, string(d.Bytes()))
	for _, p := range problems {
		about[d.FieldOf(p)]++
	}
	if want := map[string]int{"domain": 1, "category": 1, "pricing": 1, "price": 1, "tagline": 1, "score": 1, "plans": 1}; !maps.Equal(about, want) {
		t.Errorf("the problems are about %v", about)
	}
}

func TestSettingsAreEditedFieldByField(t *testing.T) {
	const text = `name: Essai
theme: {font: serif, accent: "#7a1f3d"} # à nous
licence: open # pour tous
categories:
  # la première
  - label: Code
    slug: code
    protocol:
      version: "1"
`
	change := func(name string, edit func(Value) Value, was, is string) {
		t.Helper()
		d := opened(t, catalog.SettingsFile, text)
		set(t, d, name, edit(d.Value(name)))
		if want := strings.Replace(text, was, is, 1); string(d.Bytes()) != want {
			t.Error(cmp.Diff(want, string(d.Bytes())))
		}
	}
	cell := func(name, text string) func(Value) Value {
		return func(v Value) Value { v.Rows[0][name] = Value{Text: text}; return v }
	}
	theme := "theme: {font: serif, accent: \"#7a1f3d\"} # à nous\n"
	change("theme", cell("accent", "#005500"), theme, "# à nous\ntheme:\n  accent: \"#005500\"\n  font: serif\n")
	change("theme", func(Value) Value { return Value{Rows: []Row{{"font": {Text: "serif"}}}} }, theme, "")
	change("licence", cell("name", "reserved"), "open", "reserved")
	change("licence", func(Value) Value {
		return Value{Rows: []Row{{"name": {Text: "CC BY"}, "url": {Text: "https://a.example"}}}}
	}, "licence: open # pour tous\n", "# pour tous\nlicence:\n  name: CC BY\n  url: https://a.example\n")
	change("categories", func(v Value) Value { v.Rows[0]["protocol"].Rows[0]["version"] = Value{Text: "2"}; return v },
		text[strings.Index(text, "categories"):], "# la première\ncategories:\n  - slug: code\n    label: Code\n    protocol:\n      version: \"2\"\n")
}

func TestWhatNoFormShowsIsEditedAsYAML(t *testing.T) {
	const text = "name: Essai\ncategories:\n  - slug: agents\n    label: Agents autonomes\n    couleur: vert\n"
	d := opened(t, catalog.SettingsFile, text)
	yaml := d.Value("categories").Text
	if !strings.HasPrefix(yaml, "- slug: agents\n  label: Agents autonomes\n") {
		t.Fatalf("categories are %.80q", yaml)
	}
	set(t, d, "categories", Value{Text: strings.ReplaceAll(strings.Replace(yaml, "label: Agents autonomes", "label: Agents # seuls", 1), "\n", "\r\n")})
	if want := strings.Replace(text, "label: Agents autonomes", "label: Agents # seuls", 1); string(d.Bytes()) != want {
		t.Error(cmp.Diff(want, string(d.Bytes())))
	}
	before := string(d.Bytes())
	for yaml, line := range map[string]int{"- slug: a\n  label: b: c": 2, "- {a": 1, "[{a: b}]\nname: Autre": 2, "[{a: b},\n  {a b: [}]": 2, "- &a b": 1, "- a\n- \"b": 2} {
		err := d.Set("categories", Value{Text: yaml})
		if e, ok := errors.AsType[*Error](err); !ok || e.Line != line || string(d.Bytes()) != before {
			t.Errorf("%q: %v on line %v", yaml, err, e)
		}
	}
	set(t, d, "categories", Value{Text: "[{slug: a, couleur: b}]"})
	set(t, d, "categories", Value{Text: d.Value("categories").Text + " # une\r\n"})
	set(t, d, "categories", Value{Text: "[ # deux\n{slug: a, couleur: b},\n]"})
	set(t, d, "categories", Value{Text: strings.Replace(d.Value("categories").Text, "couleur: b", "couleur: c", 1)})
	if !strings.HasSuffix(string(d.Bytes()), "\ncategories: [ # deux\n  {slug: a, couleur: c},\n  ]\n") {
		t.Errorf("the file is %s", d.Bytes())
	}
}

func TestFilesThatFormsCannotEditSayWhy(t *testing.T) {
	for _, test := range []struct{ path, text, english string }{
		{"outils.jsonl", "{}", "records in a .jsonl file cannot be edited by form"},
		{"README.md", "# a", "this is not the file of a record"},
		{"outils/Boréal.md", someTool, "this is not the file of a record"},
		{"outils/a.md", "name: b\n", "the file must begin with a line ---, followed by the fields of the record"},
		{"outils/a.md", "---\nname: b: c\n---\n", "the YAML is not valid: mapping value is not allowed in this context; put a value that contains a colon and a space in quotes"},
		{"outils/a.md", "---\nname: b\nname: c\n---\n", `field "name" is given twice, first on line 2; keep one`},
		{"outils/a.md", "---\n{name: b, domain: c}\n---\n", "the fields of the file are not written one per line; edit it as text"},
		{"outils/a.md", "---\nname: \xff\n---\n", "the text is not valid UTF-8; save the file as UTF-8"},
		{"outils/a.md", "---\nname: b\n---\n" + strings.Repeat("a", tree.MaxFile), "the file is larger than 1 MiB; shorten it"},
		{catalog.SettingsFile, `{"slug":"catalogue","name":"a","url":"https://a.example","categories":[{"slug":"a","label":"b"}]}`, "the fields of the file are not written one per line; edit it as text"},
	} {
		d, err := Open(test.path, []byte(test.text))
		if e, ok := errors.AsType[*Error](err); d != nil || !ok || e.English != test.english || e.French == e.English {
			t.Errorf("%s: %v", test.path, err)
		}
	}
}

func TestRowsOfAMappingNeedDifferentNames(t *testing.T) {
	d := opened(t, "outils/boreal.md", someTool)
	for want, rows := range map[string][]map[string]string{
		`"a" is twice in criteria; keep one`:                {{"name": "a", "value": "1"}, {"name": "a", "value": "2"}},
		`the value "1" of criteria has no name; choose one`: {{"value": "1"}},
	} {
		if err := d.Set("criteria", Value{Rows: rowsOf(rows)}); err == nil || err.Error() != want || string(d.Bytes()) != someTool {
			t.Error(err)
		}
	}
}

func TestANewRecordIsFilledInByItsForm(t *testing.T) {
	for _, kind := range catalog.Kinds {
		d := New(kind)
		for _, f := range kind.Fields {
			if isThere := strings.Contains("\n"+string(d.Bytes()), "\n"+f.Name+":\n"); isThere != (f.Use.Has(catalog.Required) && f.Form != catalog.OwnSlug) {
				t.Errorf("%s: %s has a line: %v", kind, f.Name, isThere)
			}
		}
	}
	d, err := New(catalog.ToolKind).Rename("boreal")
	if err != nil || d.path != "outils/boreal.md" {
		t.Fatal(d.path, err)
	}
	for name, text := range map[string]string{"tagline": "Il relit", "name": "Boréal", "price": "19,99 €/mois", "icp": "mixte", "domain": "boreal.example", "category": "code", "pricing": "freemium"} {
		set(t, d, name, Value{Text: text})
	}
	set(t, d, "body", Value{Text: "Un avis.\xff"})
	want := "---\nname: Boréal\ndomain: boreal.example\ncategory: code\nicp: mixte\npricing: freemium\nprice: 19,99 €/mois\ntagline: Il relit\n---\nUn avis.\ufffd\n"
	if diff := cmp.Diff(want, string(d.Bytes())); diff != "" {
		t.Error(diff)
	}
}

func TestARecordIsRenamedDuplicatedAndRetired(t *testing.T) {
	const fields = "aliases: [vieux] # bon\nscore: 8.5\nusages: [relire]\ndraft: true\nupdated_at: 2026-01-01\nprice_history:\n  # vu en mai\n  - changed_at: 2025-01-01\n    old_pricing: gratuit\n    old_price: 0 €/an\n    new_pricing: payant\n    new_price: 2 €/an\n"
	tool := opened(t, "outils/boreal.md", "---\n"+someFields+fields+"---\nUn avis.\n")
	file := func(d *Document, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return d.path + "\n" + string(d.Bytes())
	}
	for want, got := range map[string]string{
		"outils/nord.md\n---\n" + someFields + strings.Replace(fields, "aliases: [vieux] # bon\n", "# bon\naliases:\n  - vieux\n  - boreal\n", 1) + "---\nUn avis.\n": file(tool.Rename("nord")),
		"outils/vieux.md\n---\n" + someFields + strings.Replace(fields, "aliases: [vieux] # bon\n", "# bon\naliases:\n  - boreal\n", 1) + "---\nUn avis.\n":           file(tool.Rename("vieux")),
		"outils/nord.md\n---\n" + someFields + "score: 8.5\nusages: [relire]\ndraft: true\n---\nUn avis.\n":                                                           file(tool.Duplicate("nord")),
		"cimetiere/boreal.md\n---\nname: Boréal\ncategory: code\nreason: mort\nretired_at: 2026-11-01\nsuccessor: scie\nlast_score: 8.5\nlast_price: 19,99 €/mois\nusages:\n  - relire\n" +
			strings.Replace(fields[strings.Index(fields, "price_history"):], "  # vu en mai\n", "", 1) + "---\nIl n’est plus.\n": file(Retire(tool, "mort", "2026-11-01", "scie", "Il n’est plus.\n")),
	} {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	next := opened(t, "outils/boreal.next.md", "---\n"+someFields+"---\n")
	if d, err := next.Rename("nord"); err != nil || d.path != "outils/nord.next.md" || d.path != content.NextPath(content.PathOf(catalog.ToolKind, "nord")) {
		t.Error(d.path, err)
	}
	other := opened(t, "outils/scie.md", "---\n"+someFields+"announced:\n  - {from: 2030-01-01, retire: mort, successor: boreal} # sûr\n---\n")
	if is, err := other.ReplaceTool("boreal", "nord"); !is || err != nil || !strings.Contains(string(other.Bytes()), "# sûr\nannounced:\n  - from: 2030-01-01\n    retire: mort\n    successor: nord\n") {
		t.Errorf("%v %v %s", is, err, other.Bytes())
	}
	article := opened(t, "articles/cinq.md", "---\ntitle: Cinq\ntools: [scie, boreal] # dans l’ordre\n---\n")
	if is, err := article.ReplaceTool("boreal", "nord"); !is || err != nil || !strings.Contains(string(article.Bytes()), "# dans l’ordre\ntools:\n  - scie\n  - nord\n") {
		t.Errorf("%v %v %s", is, err, article.Bytes())
	}
	if is, err := other.ReplaceTool("boreal", "nord"); is || err != nil {
		t.Error(is, err)
	}
}
