package record_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"palmares/internal/catalog"
	"palmares/internal/record"
	"palmares/internal/synthetic"
)

// empty returns an empty record of a kind.
func empty(kind *catalog.Kind) any {
	if kind == catalog.ComparisonKind {
		return &catalog.Comparison{Published: true}
	}
	return kind.New()
}

// encode returns a record in its canonical form.
func encode(value any, images []record.Image) []byte {
	c, ok := value.(*catalog.Catalog)
	if !ok {
		c = &catalog.Catalog{}
	}
	return record.Of(c, value).Append(nil, images)
}

// decode decodes a record into what empty returned.
func decode(d *record.Decoder, document []byte, to any) ([]record.Image, error) {
	return d.Decode(record.Of(&catalog.Catalog{}, to).Kind, document, to)
}

func TestWhatWasEncodedIsDecodedTheSame(t *testing.T) {
	for _, c := range []*catalog.Catalog{small(), demoCatalogue(t), synthetic.Catalog(1000, 1)} {
		c.Sort()
		var d record.Decoder
		for _, kind := range catalog.Kinds {
			for i := range kind.Len(c) {
				checkDecoding(t, &d, c, kind, kind.At(c, i))
			}
		}
	}
}

// checkDecoding encodes and decodes a record.
func checkDecoding(t *testing.T, d *record.Decoder, c *catalog.Catalog, kind *catalog.Kind, want any) {
	t.Helper()
	r := record.Of(c, want)
	images := r.Images(c)
	document := r.Append(nil, images)
	got := empty(kind)
	decoded, err := decode(d, document, got)
	if err != nil {
		t.Fatalf("%v: %s", err, document)
	}
	switch got := got.(type) {
	case *catalog.Tool:
		c.DropDefaultURLs(got)
	case *catalog.Catalog: // without its records
		want = &catalog.Catalog{Name: c.Name, URL: c.URL, Settings: c.Settings, Categories: c.Categories}
	}
	if diff := cmp.Diff(images, decoded); diff != "" {
		t.Errorf("the pictures of %s: %s", document, diff)
	}
	notPublic := cmpopts.IgnoreFields(catalog.PriceChange{}, "Automatic")
	if diff := cmp.Diff(want, got, notPublic, cmpopts.IgnoreFields(catalog.ScoreChange{}, "Automatic"),
		cmpopts.IgnoreFields(catalog.CriteriaChange{}, "Automatic")); diff != "" {
		t.Errorf("%s: %s", document, diff)
	}
}

// give gives a field a value.
func give(f *catalog.Field, to any) {
	switch p := f.In(to).(type) {
	case *string:
		*p = `x "é"` + "\n"
	case *catalog.HistoryMode:
		*p = catalog.HistoryReplace
	case *bool:
		*p = !*p
	case *int:
		*p = 7
	case **float64:
		x := 7.25
		*p = &x
	case *[]string:
		*p = []string{"x", "", "y"}
	case *catalog.Values:
		*p = catalog.Values{{Name: "exactitude", Number: 8.5}, {Name: "non", IsFlag: true}, {Name: "oui", Number: 1, IsFlag: true}}
	default:
		n := 2
		if f.Form == catalog.Single {
			n = 1
		}
		for range n {
			object := f.List.Add(p)
			for i := range f.List.Fields {
				give(&f.List.Fields[i], object)
			}
		}
	}
}

func TestEveryFieldIsEncodedAndDecoded(t *testing.T) {
	for _, kind := range catalog.Kinds {
		full := empty(kind)
		for i := range kind.Fields {
			f := &kind.Fields[i]
			one := empty(kind)
			give(f, full)
			give(f, one)
			for _, value := range []any{full, one} {
				document := encode(value, nil)
				if !bytes.Contains(document, []byte(`"`+f.Name+`":`)) {
					t.Errorf("%s is not in %s", f.Name, document)
				}
				got := empty(kind)
				if _, err := decode(new(record.Decoder), document, got); err != nil {
					t.Fatalf("%v: %s", err, document)
				}
				if again := encode(got, nil); !bytes.Equal(document, again) {
					t.Errorf("%s\nbecame %s", document, again)
				}
			}
		}
	}
}

func TestFieldsOfALaterReleaseAreIgnored(t *testing.T) {
	const document = `{"slug":"a","later":{"name":["b"]},"name":"A","plans":[{"later":1,"name":"Solo"}],` +
		`"images":[{"path":"images/a.png","later":[]}]}`
	var got catalog.Tool
	images, err := new(record.Decoder).Decode(catalog.ToolKind, []byte(document), &got)
	if err != nil {
		t.Fatal(err)
	}
	want := catalog.Tool{Slug: "a", Name: "A", Plans: []catalog.PlanRow{{Name: "Solo"}}}
	if diff := cmp.Diff(want, got); diff != "" || len(images) != 1 || images[0].Path != "images/a.png" {
		t.Error(diff, images)
	}
}

func TestADamagedDocumentIsRefused(t *testing.T) {
	good := lines(small())[0]
	for i := range good {
		if _, err := new(record.Decoder).Decode(catalog.ToolKind, good[:i], new(catalog.Tool)); err == nil {
			t.Fatalf("the first %d bytes are decoded", i)
		}
	}
	for _, document := range []string{
		"[]", `""`, `{"slug":1}`, `{"score":"7"}`, `{"tier":1.5}`, `{"sources":"x"}`, `{"plans":[1]}`, `{} {}`,
		`{"name":"` + "\xff" + `"}`, `{"images":{}}`,
	} {
		_, err := new(record.Decoder).Decode(catalog.ToolKind, []byte(document), new(catalog.Tool))
		if err == nil || !strings.HasPrefix(err.Error(), "the stored outil cannot be decoded: ") {
			t.Errorf("%s: %v", document, err)
		}
	}
}

func FuzzADocumentThatIsDecodedIsEncodedTheSameEachTime(f *testing.F) {
	for _, line := range lines(small()) {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, document []byte) {
		var d record.Decoder
		for _, kind := range catalog.Kinds {
			got := empty(kind)
			images, err := decode(&d, document, got)
			if err != nil {
				continue
			}
			first := encode(got, images)
			again := empty(kind)
			images, err = decode(&d, first, again)
			if err != nil {
				t.Fatalf("%v: %s", err, first)
			}
			if second := encode(again, images); !bytes.Equal(first, second) {
				t.Errorf("%s\nbecame %s", first, second)
			}
		}
	})
}
