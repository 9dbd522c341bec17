package catalog

import (
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// untabled are the Go fields of records that are in no table.
var untabled = []string{
	"Retired.Note",                                                         // made from Body
	"Category.Position",                                                    // its place in the list
	"PriceChange.Automatic", "Tool.DisplayBefore", "ScoreChange.Automatic", // not public
	"CriteriaChange.Automatic",
}

// A field that is in a table is compared, written, read and documented.
func TestEveryFieldOfARecordIsInItsTableOnce(t *testing.T) {
	c := &Catalog{}
	for _, check := range []struct {
		fields []Field
		record any
		parts  []any // the structs that hold the fields; nil for the record itself
	}{
		{ToolFields, &Tool{}, nil},
		{planFields, &PlanRow{}, nil},
		{priceChangeFields, &PriceChange{}, nil},
		{scoreChangeFields, &ScoreChange{}, nil},
		{criteriaChangeFields, &CriteriaChange{}, nil},
		{usageFields, &Usage{}, nil},
		{protocolFields, &Protocol{}, nil},
		{criterionFields, &Criterion{}, nil},
		{profileFields, &Profile{}, nil},
		{ComparisonFields, &Comparison{}, nil},
		{RetiredFields, &Retired{}, nil},
		{PageFields, &Page{}, nil},
		{CatalogueFields, c, []any{&c.Settings}},
		{categoryFields, &Category{}, nil},
		{themeFields, &Theme{}, nil},
		{labelFields, &Labels{}, nil},
	} {
		found := map[uintptr]string{}
		for i := range check.fields {
			f := &check.fields[i]
			address := reflect.ValueOf(f.In(check.record)).Pointer()
			if other := found[address]; other != "" {
				t.Errorf("%s and %s are the same field of %T", other, f.Name, check.record)
			}
			found[address] = f.Name
		}
		if check.parts == nil {
			check.parts = []any{check.record}
		}
		for _, part := range check.parts {
			v := reflect.ValueOf(part).Elem()
			for f, value := range v.Fields() {
				name := v.Type().Name() + "." + f.Name
				if isListed := found[value.Addr().Pointer()] != ""; isListed == slices.Contains(untabled, name) {
					t.Errorf("%s: in the table: %v", name, isListed)
				}
			}
		}
	}
}

// setExample gives a field another value.
func setExample(f *Field, record any) {
	switch p := f.In(record).(type) {
	case *string:
		*p = "x"
	case *HistoryMode:
		*p = !*p
	case *bool:
		*p = !*p
	case *int:
		*p++
	case **float64:
		*p = fig(1)
	case *[]string:
		*p = []string{"x"}
	case *Values:
		*p = Values{{Name: "x"}}
	default:
		f.List.Add(p)
	}
}

func TestRecordsAreTheSameIfAllTheirFieldsAre(t *testing.T) {
	for i := range ToolFields {
		f := &ToolFields[i]
		changed := tool("a")
		setExample(f, changed)
		if same, want := tool("a").equalExceptDate(changed), f.Name == "updated_at"; same != want {
			t.Errorf("a tool with another %s: same = %v", f.Name, same)
		}
		again := tool("a")
		setExample(f, again)
		if !changed.equalExceptDate(again) {
			t.Errorf("two tools with the same %s differ", f.Name)
		}
	}
}

func TestTheFieldsInTheAPIAreThoseOfTheItems(t *testing.T) {
	x := &Comparison{}
	for name, check := range map[string]struct {
		fields []Field
		item   []itemField
		others []string // of the item
	}{
		"tool":       {ToolFields, fieldsOf(ToolItem{}), nil},
		"comparison": {ComparisonFields, (&Catalog{}).comparisonFields(x), []string{"canonical_url"}},
		"retired":    {RetiredFields, fieldsOf(RetiredItem{}), []string{"note"}},
	} {
		want := slices.Clone(check.others)
		for _, f := range check.fields {
			if f.Use.Has(InAPI) {
				want = append(want, f.Name)
			}
		}
		var got []string
		for _, f := range check.item {
			got = append(got, f.name)
		}
		slices.Sort(want)
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}
