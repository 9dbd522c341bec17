package store

import (
	"reflect"
	"testing"

	"palmares/internal/catalog"
)

// A field that is added to a record and forgotten in its list of columns fails here.
func TestEveryFieldOfARecordHasAColumn(t *testing.T) {
	checkColumns(t, toolColumns, "PriceHistory", "ScoreHistory", "Draft") // have tables of their own; drafts are not stored
	checkColumns(t, comparisonColumns, "Draft")
	checkColumns(t, retiredColumns, "Draft")
	checkColumns(t, categoryColumns)
	checkColumns(t, pageColumns, "Draft")
	checkColumns(t, settingColumns)
	checkColumns(t, pictureColumns)
	checkFields(t, priceColumns, func(e *entry[catalog.PriceChange]) reflect.Value { return reflect.ValueOf(&e.change).Elem() })
	checkFields(t, scoreColumns, func(e *entry[catalog.ScoreChange]) reflect.Value { return reflect.ValueOf(&e.change).Elem() })
	checkFields(t, pastColumns, func(p *pastTool) reflect.Value { return reflect.ValueOf(&p.PastTool).Elem() }, "PriceHistory", "ScoreHistory")
}

func checkColumns[T any](t *testing.T, columns []column[T], except ...string) {
	t.Helper()
	checkFields(t, columns, func(x *T) reflect.Value { return reflect.ValueOf(x).Elem() }, except...)
}

func checkFields[T any](t *testing.T, columns []column[T], structOf func(*T) reflect.Value, except ...string) {
	t.Helper()
	record := new(T)
	column := map[uintptr]string{}
	for _, c := range columns {
		p := reflect.ValueOf(c.field(record)).Pointer()
		if other, twice := column[p]; twice {
			t.Errorf("%T: columns %s and %s are the same field", record, other, c.name)
		}
		column[p] = c.name
	}
	for field, value := range structOf(record).Fields() {
		skipped := false
		for _, name := range except {
			skipped = skipped || name == field.Name
		}
		if !skipped && column[value.Addr().Pointer()] == "" {
			t.Errorf("%T.%s has no column", record, field.Name)
		}
	}
}
