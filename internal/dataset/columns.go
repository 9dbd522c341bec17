package dataset

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/wire"
)

// isColumn reports whether tables have a column for a field beside slug: it says something about
// the record, and is neither a list of addresses nor one of objects.
func isColumn(f *catalog.Field) bool {
	switch f.Form {
	case catalog.OwnSlug, catalog.Body, catalog.Option:
		return false
	case catalog.Lines, catalog.Names, catalog.UsageSlugs, catalog.Marks:
		return true
	}
	return !f.Form.IsList() && !f.Form.IsStatus()
}

// criteriaPrefix begins the names of the columns of the CSV table that have the values of a criterion.
const criteriaPrefix = "criteria/"

// monthlyColumn is what a tool costs per month, which no field of its record says.
const monthlyColumn = "euros_per_month"

// csvColumns returns the columns of the table of tools: neither pictures nor long texts, a column
// for each criterion of the catalogue, addresses, and what is computed last.
func csvColumns(c *catalog.Catalog) []string {
	names, addresses := []string{"slug"}, []string(nil)
	for i := range catalog.ToolFields {
		f := &catalog.ToolFields[i]
		switch {
		case !isColumn(f) || f.Form == catalog.Image || f.Form == catalog.Prose:
		case f.Form == catalog.Marks:
			criteria := map[string]bool{}
			for i := range c.Categories {
				for _, x := range c.Categories[i].Criteria {
					criteria[criteriaPrefix+x.Slug] = true
				}
			}
			names = append(names, slices.Sorted(maps.Keys(criteria))...)
		case f.Form == catalog.Link:
			addresses = append(addresses, f.Name)
		default:
			names = append(names, f.Name)
		}
	}
	return append(append(names, addresses...), monthlyColumn)
}

// histories are the lists of tools that have tables of their own.
var histories = slices.DeleteFunc(slices.Clone(catalog.ToolFields), func(f catalog.Field) bool {
	return f.Form != catalog.Objects || !strings.HasSuffix(f.Name, "_history")
})

func createTables() (statements []string) {
	var documents []string // what the index of words has of records
	for _, kind := range catalog.Kinds {
		if kind == catalog.CatalogueKind {
			continue // has a row of meta
		}
		last := []string{"hash TEXT NOT NULL", "record TEXT NOT NULL"}
		if kind == catalog.ToolKind {
			last = append(last, monthlyColumn+" REAL")
		}
		statements = append(statements, createTable(kind.Folder, []string{"id INTEGER PRIMARY KEY", "slug TEXT NOT NULL UNIQUE"},
			kind.Fields, last...))
		if kind != catalog.ProofKind {
			documents = append(documents, "SELECT id, '"+kind.Name+"' AS kind, slug, "+kind.Title()+" AS name, "+
				cmp.Or(kind.Summary, "NULL")+" AS tagline, json_extract(record, '$.body') AS body FROM "+kind.Folder)
		}
	}
	for _, f := range histories {
		statements = append(statements, createTable(f.Name, []string{"tool TEXT NOT NULL"}, f.List.Fields))
	}
	return append(statements, "CREATE VIEW documents AS\n\t"+strings.Join(documents, "\n\tUNION ALL "))
}

func createTable(name string, definitions []string, fields []catalog.Field, last ...string) string {
	for i := range fields {
		f := &fields[i]
		if !isColumn(f) {
			continue
		}
		definition := f.Name + " TEXT"
		switch f.Form {
		case catalog.Figure:
			definition = f.Name + " REAL"
		case catalog.Tier, catalog.Flag:
			definition = f.Name + " INTEGER"
		}
		isAlwaysThere := f.Use&(catalog.Required|catalog.Always) != 0 && f.Form != catalog.Prose && f.Model == nil
		if isAlwaysThere || f.Form == catalog.Flag {
			definition += " NOT NULL"
		}
		definitions = append(definitions, definition)
	}
	return "CREATE TABLE " + name + " (\n\t" + strings.Join(append(definitions, last...), ",\n\t") + "\n)"
}

// sqlValue returns the value that p points to, for SQLite; nil for none.
func sqlValue(p any) any {
	switch p := p.(type) {
	case *string:
		if *p != "" {
			return *p
		}
	case **float64:
		if *p != nil {
			return **p
		}
	case *catalog.HistoryMode:
		if *p != catalog.HistoryAdd {
			return p.String()
		}
	case *int:
		return *p
	case *bool:
		return *p
	case *[]string:
		if len(*p) > 0 {
			return string(wire.AppendJSON(nil, *p))
		}
	case *catalog.Values:
		if len(*p) > 0 {
			return string(wire.AppendJSON(nil, *p))
		}
	}
	return nil
}

// csvValue returns the value that p points to, for a table.
func csvValue(p any) string {
	if list, ok := p.(*[]string); ok {
		return Cell(strings.Join(*list, " ; "))
	}
	switch v := sqlValue(p).(type) {
	case string:
		return Cell(v)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case int:
		return strconv.Itoa(v)
	case bool:
		return strconv.FormatBool(v)
	}
	return ""
}
