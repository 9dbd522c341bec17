package main

import (
	"encoding/json"
	"io"
	"strings"
	"text/tabwriter"
	"time"
)

// A table prints records as aligned columns below their names, or as JSON lines for
// programs. Without records it prints nothing.
type table struct {
	columns []string
	headed  bool // the names are printed
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
	return t
}

// row prints a record; "" is null in JSON and a hyphen otherwise.
func (t *table) row(values ...string) {
	if t.err != nil {
		return
	}
	if t.json != nil {
		record := make(map[string]*string, len(values))
		for i, v := range values {
			record[t.columns[i]] = &v
			if v == "" {
				record[t.columns[i]] = nil
			}
		}
		t.err = t.json.Encode(record)
		return
	}
	if !t.headed {
		t.headed = true
		t.line(strings.ToUpper(strings.Join(t.columns, "\t")))
	}
	for i, v := range values {
		if v == "" {
			values[i] = "-"
		}
	}
	t.line(strings.Join(values, "\t"))
}

func (t *table) line(cells string) {
	if _, err := io.WriteString(t.text, cells+"\n"); err != nil {
		t.err = err
	}
}

func (t *table) flush() error {
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
