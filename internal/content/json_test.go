package content

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"palmares/internal/problem"
)

// A jsonParser agrees with encoding/json, except on duplicate keys.
func FuzzParseJSONAgreesWithTheStandardLibrary(f *testing.F) {
	for _, s := range []string{`{"a":[1,{"b":"c\u00e9"}],"d":null}`, `{"a":true,"a":false}`, `{"a":"\ud83d\ude00"}`, `{"":{"":[]}}`, ` {"a" : -0.5e3 } `} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		twice := false
		tree, ok := new(jsonParser).parse([]byte(line), 1, func(int, problem.Text) { twice = true })
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

func plain(v *value) any {
	switch v.kind {
	case isNull:
		return nil
	case isBool:
		return v.text == "true"
	case isNumber:
		return json.Number(v.text)
	case isText:
		return v.text
	case isList:
		list := []any{}
		for i := range v.items {
			list = append(list, plain(&v.items[i]))
		}
		return list
	default:
		mapping := map[string]any{}
		for i := range v.fields {
			mapping[v.fields[i].name] = plain(&v.fields[i].value)
		}
		return mapping
	}
}
