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

// A sample is one record, and how to encode and decode its kind.
type sample struct {
	want   any // a pointer
	empty  func() any
	encode func(c *catalog.Catalog, value any) record.Record
	decode func(d *record.Decoder, document []byte, to any) ([]record.Image, error)
	fields []catalog.Field
}

var (
	tools = sample{
		empty:  func() any { return &catalog.Tool{} },
		encode: func(c *catalog.Catalog, v any) record.Record { return record.OfTool(c, v.(*catalog.Tool)) },
		decode: func(d *record.Decoder, document []byte, to any) ([]record.Image, error) {
			return d.Tool(document, to.(*catalog.Tool))
		},
		fields: catalog.ToolFields,
	}
	comparisons = sample{
		empty:  func() any { return &catalog.Comparison{Published: true} },
		encode: func(_ *catalog.Catalog, v any) record.Record { return record.OfComparison(v.(*catalog.Comparison)) },
		decode: func(d *record.Decoder, document []byte, to any) ([]record.Image, error) {
			return d.Comparison(document, to.(*catalog.Comparison))
		},
		fields: catalog.ComparisonFields,
	}
	retired = sample{
		empty:  func() any { return &catalog.Retired{} },
		encode: func(_ *catalog.Catalog, v any) record.Record { return record.OfRetired(v.(*catalog.Retired)) },
		decode: func(d *record.Decoder, document []byte, to any) ([]record.Image, error) {
			return d.Retired(document, to.(*catalog.Retired))
		},
		fields: catalog.RetiredFields,
	}
	pages = sample{
		empty:  func() any { return &catalog.Page{} },
		encode: func(_ *catalog.Catalog, v any) record.Record { return record.OfPage(v.(*catalog.Page)) },
		decode: func(d *record.Decoder, document []byte, to any) ([]record.Image, error) {
			return d.Page(document, to.(*catalog.Page))
		},
		fields: catalog.PageFields,
	}
	catalogues = sample{
		empty:  func() any { return &catalog.Catalog{} },
		encode: func(_ *catalog.Catalog, v any) record.Record { return record.OfCatalogue(v.(*catalog.Catalog)) },
		decode: func(d *record.Decoder, document []byte, to any) ([]record.Image, error) {
			return d.Catalogue(document, to.(*catalog.Catalog))
		},
		fields: catalog.CatalogueFields,
	}
)

// all returns every record of a catalogue.
func all(c *catalog.Catalog) (list []sample) {
	add := func(s sample, want any) {
		s.want = want
		list = append(list, s)
	}
	for i := range c.Tools {
		add(tools, c.Tools[i])
	}
	for i := range c.Comparisons {
		add(comparisons, &c.Comparisons[i])
	}
	for i := range c.Retired {
		add(retired, &c.Retired[i])
	}
	for i := range c.Pages {
		add(pages, &c.Pages[i])
	}
	add(catalogues, &catalog.Catalog{Name: c.Name, URL: c.URL, Settings: c.Settings, Categories: c.Categories})
	return list
}

// check encodes and decodes a record.
func (s sample) check(t *testing.T, d *record.Decoder, c *catalog.Catalog) {
	t.Helper()
	r := s.encode(c, s.want)
	images := r.Images(c)
	document := r.Append(nil, images)
	got := s.empty()
	decoded, err := s.decode(d, document, got)
	if err != nil {
		t.Fatalf("%v: %s", err, document)
	}
	if tool, ok := got.(*catalog.Tool); ok {
		c.DropDefaultURLs(tool)
	}
	if diff := cmp.Diff(images, decoded); diff != "" {
		t.Errorf("the pictures of %s: %s", document, diff)
	}
	notPublic := cmpopts.IgnoreFields(catalog.PriceChange{}, "Automatic")
	if diff := cmp.Diff(s.want, got, notPublic, cmpopts.IgnoreFields(catalog.ScoreChange{}, "Automatic")); diff != "" {
		t.Errorf("%s: %s", document, diff)
	}
}

func TestWhatWasEncodedIsDecodedTheSame(t *testing.T) {
	for _, c := range []*catalog.Catalog{small(), demoCatalogue(t), synthetic.Catalog(1000, 1)} {
		c.Sort()
		var d record.Decoder
		for _, s := range all(c) {
			s.check(t, &d, c)
		}
	}
}

// give gives a field a value.
func give(f *catalog.Field, to any) {
	switch p := f.In(to).(type) {
	case *string:
		*p = `x "é"` + "\n"
	case *bool:
		*p = !*p
	case *int:
		*p = 7
	case **float64:
		x := 7.25
		*p = &x
	case *[]string:
		*p = []string{"x", "", "y"}
	default:
		for range 2 {
			object := f.List.Add(p)
			for i := range f.List.Fields {
				give(&f.List.Fields[i], object)
			}
		}
	}
}

func TestEveryFieldIsEncodedAndDecoded(t *testing.T) {
	for _, s := range []sample{tools, comparisons, retired, pages, catalogues} {
		full := s.empty()
		for i := range s.fields {
			f := &s.fields[i]
			one := s.empty()
			give(f, full)
			give(f, one)
			for _, value := range []any{full, one} {
				document := s.encode(&catalog.Catalog{}, value).Append(nil, nil)
				if !bytes.Contains(document, []byte(`"`+f.Name+`":`)) {
					t.Errorf("%s is not in %s", f.Name, document)
				}
				got := s.empty()
				if _, err := s.decode(new(record.Decoder), document, got); err != nil {
					t.Fatalf("%v: %s", err, document)
				}
				if again := s.encode(&catalog.Catalog{}, got).Append(nil, nil); !bytes.Equal(document, again) {
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
	images, err := new(record.Decoder).Tool([]byte(document), &got)
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
		if _, err := new(record.Decoder).Tool(good[:i], new(catalog.Tool)); err == nil {
			t.Fatalf("the first %d bytes are decoded", i)
		}
	}
	for _, document := range []string{
		"[]", `""`, `{"slug":1}`, `{"score":"7"}`, `{"tier":1.5}`, `{"sources":"x"}`, `{"plans":[1]}`, `{} {}`,
		`{"name":"` + "\xff" + `"}`, `{"images":{}}`,
	} {
		_, err := new(record.Decoder).Tool([]byte(document), new(catalog.Tool))
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
		for _, s := range []sample{tools, comparisons, retired, pages, catalogues} {
			got := s.empty()
			images, err := s.decode(&d, document, got)
			if err != nil {
				continue
			}
			first := s.encode(&catalog.Catalog{}, got).Append(nil, images)
			again := s.empty()
			images, err = s.decode(&d, first, again)
			if err != nil {
				t.Fatalf("%v: %s", err, first)
			}
			if second := s.encode(&catalog.Catalog{}, again).Append(nil, images); !bytes.Equal(first, second) {
				t.Errorf("%s\nbecame %s", first, second)
			}
		}
	})
}

func BenchmarkDecodeTools(b *testing.B) {
	c := synthetic.Catalog(2000, 1)
	var documents [][]byte
	size := 0
	for _, t := range c.Tools {
		documents = append(documents, record.OfTool(c, t).Append(nil, nil))
		size += len(documents[len(documents)-1])
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		var d record.Decoder
		for _, document := range documents {
			if _, err := d.Tool(document, new(catalog.Tool)); err != nil {
				b.Fatal(err)
			}
		}
	}
}
