package tree

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"palmares/internal/problem"
)

// A JSONParser agrees with encoding/json, except on duplicate keys.
func FuzzParseJSONAgreesWithTheStandardLibrary(f *testing.F) {
	for _, s := range []string{`{"a":[1,{"b":"c\u00e9"}],"d":null}`, `{"a":true,"a":false}`, `{"a":"\ud83d\ude00"}`, `{"":{"":[]}}`, ` {"a" : -0.5e3 } `} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		twice := false
		tree, ok := new(JSONParser).Parse([]byte(line), 1, func(int, problem.Text) { twice = true })
		if ok && !utf8.ValidString(line) {
			t.Fatalf("%q is accepted", line)
		}
		var want any
		d := json.NewDecoder(strings.NewReader(line))
		d.UseNumber()
		if err := d.Decode(&want); ok && err != nil {
			t.Fatalf("%q is accepted, but %v", line, err)
		}
		if ok && !twice {
			if diff := cmp.Diff(want, plain(&tree)); diff != "" {
				t.Error(diff)
			}
		}
	})
}

func plain(v *Value) any {
	switch v.Kind {
	case Null:
		return nil
	case Bool:
		return v.Text == "true"
	case Number:
		return json.Number(v.Text)
	case Text:
		return v.Text
	case List:
		list := []any{}
		for i := range v.Items {
			list = append(list, plain(&v.Items[i]))
		}
		return list
	default:
		mapping := map[string]any{}
		for i := range v.Fields {
			mapping[v.Fields[i].Name] = plain(&v.Fields[i].Value)
		}
		return mapping
	}
}
