package document

import (
	"strings"
	"testing"

	"palmares/internal/catalog"
	"palmares/internal/content"

	"palmares/demo"
)

// wantWords checks that a field of a form says in French what it is for.
func wantWords(t *testing.T, f Field, needsRule bool) {
	t.Helper()
	if f.Label == "" || needsRule && !strings.HasSuffix(f.Rule, ".") && !strings.HasSuffix(f.Rule, "?") {
		t.Errorf("%s has the label %q and the rule %q", f.Name, f.Label, f.Rule)
	}
	for _, bad := range []string{" :", " ;", " ?", "« ", " »", "'"} {
		if strings.Contains(f.Label+f.Rule, bad) {
			t.Errorf("%s: %q has bad typography: %q", f.Name, f.Rule, bad)
		}
	}
	for _, c := range f.Choices {
		if c.Label == "" && c.Value != "" {
			t.Errorf("%s: the choice %q has no label", f.Name, c.Value)
		}
	}
	if f.Input == InputRows && len(f.Columns) == 0 ||
		f.Input == InputSelect && f.From == "" && len(f.Choices) < 2 && f.Name != nameColumn {
		t.Errorf("%s cannot be filled in: %+v", f.Name, f)
	}
	for _, c := range f.Columns {
		wantWords(t, c, false)
	}
}

func TestEveryFieldOfARecordIsInItsFormOnce(t *testing.T) {
	for _, kind := range catalog.Kinds {
		if kind == catalog.ProofKind {
			continue // nobody writes one
		}
		found := map[string]int{}
		for _, g := range Form(kind) {
			for _, f := range g.Fields {
				found[f.Name]++
				wantWords(t, f, true)
			}
		}
		for _, texts := range formTexts[kind] {
			for _, text := range texts.fields {
				if found[text.name] == 0 {
					t.Errorf("%s has no field %q", kind, text.name)
				}
			}
		}
		for _, f := range kind.Fields {
			if found[f.Name] != 1 {
				t.Errorf("%s: %s is %d times in the form", kind, f.Name, found[f.Name])
			}
		}
	}
}

func TestAFormKnowsItsInputsAndTheChoicesOfTheCatalogue(t *testing.T) {
	fields := map[string]Field{}
	read, err := content.ReadFS(t.Context(), demo.Folder, content.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = read.Close() })
	c := read.Catalog
	form := Form(catalog.ToolKind)
	Complete(form, c, "voix")
	for _, g := range form {
		for _, f := range g.Fields {
			fields[f.Name] = f
		}
	}
	for name, ok := range map[string]bool{
		"name":             fields["name"].Required && fields["name"].Input == InputText,
		"author":           fields["author"].Input == InputLines,
		"pros":             fields["pros"].Input == InputLines,
		"score":            fields["score"].Input == InputNumber,
		"announced":        len(fields["announced"].Columns) == 10,
		"pricing":          fields["pricing"].Choices[0] == Choice{"gratuit", "Gratuit"},
		"access":           fields["access"].Choices[0] == Choice{},
		"category":         fields["category"].Choices[0] == Choice{"agents", "Agents autonomes"},
		"usages":           fields["usages"].Choices[0] == Choice{"lire", "Faire parler un texte"},
		"criteria":         fields["criteria"].Columns[0].Choices[0] == Choice{"diction", "Phrases lues sans faute"},
		"criteria_history": len(fields["criteria_history"].Columns) == 3 && fields["criteria_history"].Columns[1].Input == InputRows,
	} {
		if !ok {
			t.Errorf("%s is %+v", name, fields[name])
		}
	}
}
