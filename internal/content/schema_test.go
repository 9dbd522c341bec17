package content

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"palmares/internal/catalog"
)

// foreignValidator is a program around ajv, an independent validator of JSON Schema.
const foreignValidator = "../../tools/schema/judge.mjs"

// validRecord returns a record of a kind with every field.
func validRecord(t *testing.T, kind string) map[string]any {
	t.Helper()
	var record map[string]any
	if err := json.Unmarshal([]byte(recordsOf(complete())[catalog.KindNamed(kind)][0]), &record); err != nil {
		t.Fatal(err)
	}
	for _, f := range catalog.KindNamed(kind).Fields {
		switch {
		case f.Form == catalog.PublishAt:
			record[f.Name] = "2026-12-01T09:00"
		case f.Form.IsStatus():
			record[f.Name] = f.Form == catalog.Published
		}
	}
	for _, name := range []string{"slug", "body", "images"} {
		delete(record, name)
	}
	return record
}

// strange are values that suit some fields and not others.
var strange = []any{
	nil, "", " \t", "texte", "deux\nlignes", "un\u0007son", "a\u2028b", "a\u202eb", "a\u200bb", "\u2066a\u2069", "a\u2065b", "\u3164", "a\u034fb", "a\U000e0041b", "a\u00adb", "⚠\ufe0f", "a\ufe0f", "\ufe0f", "1\ufe0f\u20e3", "\u2800", "a\U0001d173", strings.Repeat("x", 90), strings.Repeat("é", 121), strings.Repeat("é", 501),
	[]any{strings.Repeat("é", 121)},
	[]any{"a\ufeffb"},
	"sur devis", "Sur devis", "10000000 €/mois", "10 000 000,00 €/mois", "10 000 000,01 €/mois", "010 000 001 €/mois", "9999999,9 €/an", "009 999 999 €/an", "123456789 €/mois", "1 000 000 000 €/an", "images/a\u202eb.png", "a\u202eb@c.example", true, false, 0, 3, 7.25, 10.5, -1, "7.5",
	[]any{},
	[]any{"x"},
	[]any{nil},
	[]any{1, "a b"},
	[]any{"x", "x"},
	[]any{"https://é.example/"},
	[]any{"https://x.example/%zz"},
	[]any{"https://x.example/?%2"},
	"\ufeff",
	map[string]any{},
	map[string]any{"x": 1},
	"2026-12-01T09:00:00+01:00", "2026-12-01t09:00z", "2026-12-01T9:00", "2026-12-01T24:00", "2026-12-01T09:60", "2026-12-01 09:00", "2026-12-01T09:00:00.5Z", "2026-12-01T09:00+1:00", "2026-02-29T09:00", "2028-02-29T09:00",
	"2026-02-29", "2026-13-01", "2026-1-1", "1900-02-29", "2000-02-29", "19 €/mois", "19€/mois", "19,5 €/an/", "1 20 €/mois", "1 234 567 €/mois", "0 €/mois",
	"https://x.example/a b", "https://x.example/#y", "https://x.example/?y", "ftp://x.example", "//x.example", "https://", "HTTPS://X.EXAMPLE", "x.example", "x", "x.1a", "-x.example", "é.example",
	"images/x.png", "images/../x.png", "images/", "autre/x.png", "images//x.png", "images/.x", "Code", "code", "a", "b", "a--b", "-a", "payant", "gratuit", "Payant", "mort", "header", "show", "hide", "add", "mixte",
	"a@b.example", "a@", "Ada <a@b.example>", "full", "off", strings.Repeat("0f", 32), strings.Repeat("0F", 32),
}

// broken returns a complete record of a kind with something changed, which may or may not be
// wrong.
func broken(r *rand.Rand, complete map[string]any, kind string) map[string]any {
	record := maps.Clone(complete)
	for range r.IntN(3) {
		change(r, record)
	}
	if r.IntN(4) == 0 {
		record["draft"] = r.IntN(2) == 0
	}
	if kind == "catalogue" {
		delete(record, "draft")
	}
	return record
}

func change(r *rand.Rand, record map[string]any) {
	names := slices.Sorted(maps.Keys(record))
	name := names[r.IntN(len(names))]
	switch list, _ := record[name].([]any); {
	case len(list) > 0 && r.IntN(2) == 0:
		entry, isMapping := list[0].(map[string]any)
		if isMapping {
			entry = maps.Clone(entry)
			change(r, entry)
			record[name] = []any{entry}
		} else {
			record[name] = []any{strange[r.IntN(len(strange))]}
		}
	case r.IntN(4) == 0:
		delete(record, name)
	case r.IntN(12) == 0:
		record["inconnu"] = 1
	default:
		record[name] = strange[r.IntN(len(strange))]
	}
}

// elsewhere are problems that only other fields, records and files decide.
var elsewhere = []string{
	"quotes a page that is not given", "is price_source where a price", "goes with a price",
	"two different tools", "winner must be tool_a or tool_b", "is not declared in", "is not a tool in this folder", "is taken", "former slug", "has no score",
	"is not in the folder", "is not a picture", "must be a tool other than", "is a draft", "declared twice", "the note is empty", "nothing at", "is given twice", "level-1",
	"is not in pages/", "affiliate_url needs a page", "its contrast is below", "is not a criterion", "is not declared for the category", "in criteria must be", "which needs worst and best", "the same worst and best",
	"but its best is", "which has no unit", "is in no list of time zones", "are two announcements", "say what changes", "needs retire", "items of announced", "after the retirement", "is sur devis, which goes with", "which has no url", "but price is sur devis",
}

const settingsFile = "name: Essais\nurl: https://essais.example\ncategories:\n  - slug: code\n    label: Code\n"

// twoTools are for comparisons.
const twoTools = `{"slug":"a","name":"x","domain":"a.example","category":"code","pricing":"payant","price":"1 €/mois","tagline":"x","score":5}
{"slug":"b","name":"x","domain":"b.example","category":"code","pricing":"payant","price":"1 €/mois","tagline":"x","score":5}
`

// frontMatter returns a record as the fields of a Markdown file.
func frontMatter(t *testing.T, record map[string]any) string {
	t.Helper()
	var front strings.Builder
	for _, name := range slices.Sorted(maps.Keys(record)) {
		value, err := json.Marshal(record[name])
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&front, "%s: %s\n", name, value)
	}
	return front.String()
}

// ownProblems returns what Read finds in each record that is the record's own fault.
func ownProblems(t *testing.T, kind string, records []map[string]any, isJSONLines bool) [][]string {
	t.Helper()
	own := make([][]string, len(records))
	if kind == "catalogue" {
		for i, record := range records {
			text := []byte(frontMatter(t, record))
			if isJSONLines {
				var err error
				if text, err = json.Marshal(record); err != nil {
					t.Fatal(err)
				}
			}
			files := fstest.MapFS{"catalogue.yaml": {Data: text}}
			readOwn(t, files, func(p Problem) { own[i] = append(own[i], p.Text.English) })
		}
		return own
	}
	if most := 500; len(records) > most { // a folder with too many problems is not read to its end
		return append(ownProblems(t, kind, records[:most], isJSONLines), ownProblems(t, kind, records[most:], isJSONLines)...)
	}
	files := fstest.MapFS{"catalogue.yaml": {Data: []byte(settingsFile)}, "outils.jsonl": {Data: []byte(twoTools)}}
	place := map[string]int{} // of a record, by file or line
	lines := catalog.KindNamed(kind).Folder + ".jsonl"
	for i, record := range records {
		if !isJSONLines {
			name := fmt.Sprintf("%s/essai-%d.md", catalog.KindNamed(kind).Folder, i)
			files[name] = &fstest.MapFile{Data: []byte("---\n" + frontMatter(t, record) + "---\nUn texte.\n")}
			place[name] = i
			continue
		}
		line, err := json.Marshal(record)
		if err != nil {
			t.Fatal(err)
		}
		if files[lines] == nil {
			files[lines] = &fstest.MapFile{}
		}
		files[lines].Data = append(append(files[lines].Data, line...), '\n')
		place[fmt.Sprintf("%s:%d", lines, bytes.Count(files[lines].Data, []byte("\n")))] = i
	}
	readOwn(t, files, func(p Problem) {
		at := p.File
		if isJSONLines {
			at = fmt.Sprintf("%s:%d", p.File, p.Line)
		}
		if i, ok := place[at]; ok {
			own[i] = append(own[i], p.Text.English)
		}
	})
	return own
}

// readOwn calls found with the problems of a folder that are the fault of one record.
func readOwn(t *testing.T, files fstest.MapFS, found func(Problem)) {
	t.Helper()
	r, err := ReadFS(t.Context(), files, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, p := range r.Problems {
		if !slices.ContainsFunc(elsewhere, func(part string) bool { return strings.Contains(p.Text.English, part) }) {
			found(p)
		}
	}
}

// variations returns a valid record, one for each field and each strange value, and
// some with several changes.
func variations(t *testing.T, kind string, isJSONLines bool) []map[string]any {
	t.Helper()
	complete := validRecord(t, kind)
	if isJSONLines {
		complete["images"] = []any{map[string]any{"path": "images/x.png", "sha256": strings.Repeat("0f", 32)}}
	}
	records := []map[string]any{complete}
	for name := range complete {
		for _, value := range strange {
			record := maps.Clone(complete)
			record[name] = value
			records = append(records, record)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 150 {
		records = append(records, broken(r, complete, kind))
	}
	return records
}

func TestTheSchemasAndTheRulesAgree(t *testing.T) {
	for _, kind := range []string{"outil", "comparatif", "cimetiere", "page", "catalogue"} {
		for _, isJSONLines := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/%t", kind, isJSONLines), func(t *testing.T) {
				t.Parallel()
				records := variations(t, kind, isJSONLines)
				if isJSONLines {
					for i := range records {
						records[i] = maps.Clone(records[i])
						if kind == "catalogue" {
							records[i]["slug"] = "catalogue"
							continue
						}
						records[i]["slug"], records[i]["body"] = fmt.Sprintf("essai-%d", i), "Un texte."
					}
				}
				own, accepted := ownProblems(t, kind, records, isJSONLines), 0
				for i, isValid := range judge(t, kind, isJSONLines, records) {
					if isValid != (len(own[i]) == 0) {
						text, _ := json.Marshal(records[i])
						t.Errorf("the schema says %t, the rules say %q: %s", isValid, own[i], text)
					}
					if isValid {
						accepted++
					}
				}
				if n := len(records); accepted < n/20 || accepted > n*19/20 {
					t.Errorf("%d of %d are valid: too few or too many to tell", accepted, n)
				}
			})
		}
	}
}

// judge returns what the independent validator says of records.
func judge(t *testing.T, kind string, isJSONLines bool, records []map[string]any) (verdicts []bool) {
	t.Helper()
	schema, err := Schema(kind, isJSONLines)
	if err != nil {
		t.Fatal(err)
	}
	return judgeBy(t, schema, records)
}

// judgeBy returns whether records have a schema.
func judgeBy(t *testing.T, schema []byte, records []map[string]any) (verdicts []bool) {
	t.Helper()
	input, err := json.Marshal(map[string]any{"schema": json.RawMessage(schema), "values": records})
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), "node", foreignValidator)
	c.Stdin = bytes.NewReader(input)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%v: %s (is ajv installed? run `npm ci --prefix tools/schema`)", err, stderr.String())
	}
	if err := json.Unmarshal(out, &verdicts); err != nil || len(verdicts) != len(records) {
		t.Fatalf("%d verdicts on %d records: %v", len(verdicts), len(records), err)
	}
	return verdicts
}

func TestASchemaOfAnUnknownKindIsRefused(t *testing.T) {
	if _, err := Schema("avis", false); err == nil || !strings.Contains(err.Error(), "expected outil, comparatif, cimetiere, page, article, auteur, preuve, catalogue") {
		t.Errorf("got %v", err)
	}
}
