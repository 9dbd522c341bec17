package document

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"palmares/internal/catalog"
)

// A document that can be opened keeps its bytes until a field is set, and then what the other fields
// and the body say.
func FuzzDocument(f *testing.F) {
	for _, s := range []string{
		"", "score: 8 # a\n\n# b\n", "plans:\n- {name: a, price: b} # c\n-\n  name: d\n  price: |\n    # e\n", "author: [a,\n  b] # c\n",
		"criteria:\n  'a': 1\n  # b\n  c: true\n", "score_note: >+\n  a\n\n   b\n\n", "x: \"a\n  # b\"\n", "pros:\n  - a\n   # b\n  # c\n\n", "\"pros\" : \n- a\r\n- b\n",
	} {
		f.Add(someFields+s, "\nUn avis.\n", "pros", "a: b\nc")
		f.Add(someFields+s, "", "score_note", "# a\n  b")
		f.Add(s, "---\n", "plans", "- name: a\n  price: b")
	}
	f.Fuzz(func(t *testing.T, yaml, body, name, text string) {
		file := "---\n" + yaml + "\n---\n" + body
		d, err := Open("outils/boreal.md", []byte(file))
		if err != nil {
			return
		}
		values := map[string]Value{}
		for i := range catalog.ToolFields {
			name := catalog.ToolFields[i].Name
			values[name] = d.Value(name)
			if err := d.Set(name, values[name]); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if diff := cmp.Diff(file, string(d.Bytes())); diff != "" {
			t.Error(diff)
		}
		v := Value{Text: text}
		if own := d.field(name); own != nil && own.Form.IsList() && own.List == nil {
			v = Value{Items: strings.Split(text, "\n")}
		}
		if d.Set(name, v) != nil {
			v = values[name]
		}
		for other, want := range values {
			if got := d.Value(other); other != name && !got.same(want) {
				t.Errorf("%s is set to %q, and %s becomes %+v: %q", name, text, other, got, d.Bytes())
			}
		}
		if again := d.Bytes(); d.Set(name, v) == nil && string(d.Bytes()) != string(again) {
			t.Error(cmp.Diff(string(again), string(d.Bytes())))
		}
	})
}
