package content

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"palmares/demo"
	"palmares/internal/catalog"
	canonical "palmares/internal/record"
)

// recordsOf returns the records of a catalogue as the dataset serves them, by kind.
func recordsOf(c *catalog.Catalog) map[*catalog.Kind][]string {
	all := map[*catalog.Kind][]string{}
	for _, kind := range catalog.Kinds {
		for r := range canonical.Each(c, kind) {
			all[kind] = append(all[kind], string(r.Append(nil, r.Images(c))))
		}
	}
	return all
}

// asFolder returns records and pictures as a content folder.
func asFolder(t *testing.T, records map[*catalog.Kind][]string, pictures map[string]catalog.Picture, from interface {
	Read(ctx context.Context, hash string) ([]byte, error)
},
) fstest.MapFS {
	t.Helper()
	files := fstest.MapFS{"catalogue.yaml": {Data: []byte(records[catalog.CatalogueKind][0])}}
	for _, kind := range catalog.WrittenKinds {
		if lines := records[kind]; len(lines) > 0 {
			files[kind.Folder+".jsonl"] = &fstest.MapFile{Data: []byte(strings.Join(lines, "\n"))}
		}
	}
	if lines := records[catalog.ProofKind]; len(lines) > 0 {
		files["preuves.jsonl"] = &fstest.MapFile{Data: []byte(strings.Join(lines, "\n"))}
	}
	for path, picture := range pictures {
		content, err := from.Read(t.Context(), picture.Hash)
		if err != nil {
			t.Fatal(err)
		}
		files[path] = &fstest.MapFile{Data: content}
	}
	return files
}

// readDemo returns the demo, with its dates.
func readDemo(t *testing.T) *Result {
	t.Helper()
	r, err := ReadFS(t.Context(), demo.Folder, Options{InMemory: true})
	if err != nil || len(r.Problems) > 0 {
		t.Fatal(err, r)
	}
	catalog.CarryOver(&catalog.Catalog{}, r.Catalog, "2026-11-15")
	return r
}

func TestRecordsAreReadBackToTheSameCatalogue(t *testing.T) {
	want := complete()
	want.Settings.Dataset = ""
	want.Tools[1].Body = "Un avis, [illustré](../images/a/b/image.png)." // and with default URLs
	read := readAll(t, asFolder(t, recordsOf(want), want.Pictures, drawn{}), Options{InMemory: true})
	if len(read.Problems) > 0 {
		t.Fatal(read.Problems)
	}
	if diff := cmp.Diff(want, read.Catalog, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}

	shipped := readDemo(t)
	records := recordsOf(shipped.Catalog)
	again := readAll(t, asFolder(t, records, shipped.Catalog.Pictures, shipped.Pictures), Options{InMemory: true})
	if len(again.Problems) > 0 {
		t.Fatal(again.Problems)
	}
	if diff := cmp.Diff(records, recordsOf(again.Catalog)); diff != "" {
		t.Error(diff)
	}
}

// proofs returns what was seen of prices: everything, and what there must be.
func proofs() []catalog.Proof {
	return []catalog.Proof{
		{Slug: "calame", Result: "changed", CheckedAt: "2026-11-12T03:00:00Z", ConfirmedAt: "2026-10-12T03:00:00Z", URL: "https://calame.example/tarifs?a=b", Quote: "Pro 19 €", Found: "Pro\n22 €"},
		{Slug: "plume", Result: "gone", CheckedAt: "2026-11-12T03:00:00Z", URL: "https://plume.example/", Quote: "Pro 19 €"},
	}
}

// The demo has every kind of record with pictures, complete every field.
func TestEveryRecordIsWhatItsSchemaSays(t *testing.T) {
	shipped := readDemo(t).Catalog
	heads := complete() // of which the dataset has the heads only
	full := complete()
	full.Settings.Dataset = ""
	full.Proofs = proofs()
	for _, kind := range catalog.Kinds {
		schema, err := RecordSchema(kind)
		if err != nil {
			t.Fatal(err)
		}
		var values []map[string]any
		for _, line := range slices.Concat(recordsOf(shipped)[kind], recordsOf(heads)[kind], recordsOf(full)[kind]) {
			var value map[string]any
			if err := json.Unmarshal([]byte(line), &value); err != nil {
				t.Fatal(err)
			}
			values = append(values, value)
		}
		later := maps.Clone(values[0]) // fields may be added
		later["nouveau"] = true
		values = append(values, later)
		n := len(values)
		for _, f := range append(kind.Fields, catalog.Field{Name: "slug", Use: catalog.Always}) {
			if f.Use&(catalog.Required|catalog.Always) != 0 {
				value := maps.Clone(values[0])
				delete(value, f.Name)
				values = append(values, value)
			}
		}
		for i, isValid := range judgeBy(t, schema, values) {
			if isValid != (i < n) {
				t.Errorf("the schema of %s says %t: %v", kind, isValid, values[i])
			}
		}
	}
}

// Python's re, among others, has no classes of Unicode properties.
func TestTheSchemaOfARecordHasPatternsForEveryProgram(t *testing.T) {
	for _, kind := range catalog.Kinds {
		schema, err := RecordSchema(kind)
		if err != nil {
			t.Fatal(err)
		}
		for _, special := range []string{`\p`, `\u{`} {
			if i := strings.Index(string(schema), special); i >= 0 {
				t.Errorf("%s: %s", kind, schema[i:min(i+60, len(schema))])
			}
		}
	}
	schema, err := RecordSchema(catalog.ToolKind)
	if err != nil {
		t.Fatal(err)
	}
	var tool map[string]any
	if err := json.Unmarshal([]byte(recordsOf(complete())[catalog.ToolKind][0]), &tool); err != nil {
		t.Fatal(err)
	}
	good := [][2]string{{"domain", "é-٣.日本語.example"}, {"domain", "a1.b-2.co"}, {"price", "1 200,50 €/employé/mois"}, {"price", "0 €/µ"}}
	wrong := [][2]string{
		{"domain", "a_b.example"},
		{"domain", "-a.example"},
		{"domain", "a b.example"},
		{"domain", "example"},
		{"price", "5 €/"},
		{"price", "5 €/mois/"},
		{"price", "5 €/3 mois"},
	}
	var values []map[string]any
	for _, field := range slices.Concat(good, wrong) {
		changed := maps.Clone(tool)
		changed[field[0]] = field[1]
		values = append(values, changed)
	}
	for i, isValid := range judgeBy(t, schema, values) {
		if isValid != (i < len(good)) {
			t.Errorf("the schema says %t: %v, %v", isValid, values[i]["domain"], values[i]["price"])
		}
	}
}

func TestTheSchemaOfARecordHasItsFieldsInTheirOrder(t *testing.T) {
	schema, err := RecordSchema(catalog.PageKind)
	if err != nil {
		t.Fatal(err)
	}
	last := 0
	for _, name := range []string{`"slug": {`, `"title": {`, `"menu": {`, `"description": {`, `"image": {`, `"body": {`, `"images": {`} {
		if i := strings.Index(string(schema), name); i <= last {
			t.Errorf("%s is not where the record has it", name)
		} else {
			last = i
		}
	}
}
