package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
)

// A table prints records as aligned columns below their names, or as JSON lines for
// programs.
type table struct {
	columns []string
	of      string // what its records are, in JSON, beside those of other tables; "" if there are none
	text    *tabwriter.Writer
	json    *json.Encoder
	err     error
}

func newTable(out io.Writer, asJSON bool, columns ...string) *table {
	t := &table{columns: columns}
	if asJSON {
		t.json = json.NewEncoder(out)
		t.json.SetEscapeHTML(false)
		return t
	}
	t.text = tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	t.line(strings.ToUpper(strings.Join(columns, "\t")))
	return t
}

// row prints a record of strings and numbers; "" and nil are null in JSON and a hyphen
// otherwise.
func (t *table) row(values ...any) {
	if t.err != nil {
		return
	}
	record, cells := map[string]any{}, make([]string, len(values))
	for i, v := range values {
		cells[i] = fmt.Sprint(v)
		if v == "" || v == nil {
			v, cells[i] = nil, "-"
		}
		record[t.columns[i]] = v
	}
	if t.of != "" {
		record["record"] = t.of
	}
	if t.json != nil {
		t.err = t.json.Encode(record)
		return
	}
	t.line(strings.Join(cells, "\t"))
}

// next begins another table below this one, whose records are of another kind.
func (t *table) next(of string, columns ...string) {
	t.of, t.columns = of, columns
	if t.json != nil || t.err != nil {
		return
	}
	t.err = t.text.Flush() // the columns of one are not those of the other
	t.line("\n" + strings.ToUpper(strings.Join(columns, "\t")))
}

func (t *table) line(cells string) {
	if _, err := io.WriteString(t.text, cells+"\n"); err != nil {
		t.err = err
	}
}

// flush prints what is not printed yet, unless the records could not all be read.
func (t *table) flush(err error) error {
	if err != nil {
		return err
	}
	if t.err == nil && t.text != nil {
		t.err = t.text.Flush()
	}
	return t.err
}

// timestamp formats a time for a table, "" for the zero time.
func timestamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
