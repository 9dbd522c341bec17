package spreadsheet

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"

	"palmares/internal/catalog"
	"palmares/internal/markdown"
)

// A Mapping says what the columns of a table mean. It is written in YAML.
type Mapping struct {
	// Catalogue is what catalogue.yaml needs beside categories, which are those of the
	// cells unless it has some.
	Catalogue map[string]any `yaml:"catalogue"`
	// Columns has the field of each column. Columns whose field is "body/Title" become
	// sections of the review, in the order of the table.
	Columns map[string]string `yaml:"columns"`
	// Ignore has the columns that are left out.
	Ignore []string `yaml:"ignore"`
	// Values has, by field, what cells mean that do not say it as the field must.
	Values map[string]map[string]any `yaml:"values"`
	// Defaults has, by field, the value of records without a cell.
	Defaults map[string]any `yaml:"defaults"`
	// PriceUnit follows amounts that have none, such as "€/mois".
	PriceUnit string `yaml:"price_unit"`
}

const maxMapping = 64 << 10

const (
	bodyField   = "body"
	bodySection = bodyField + "/" // followed by the title of a section

	criteriaField = "criteria"
	criteriaPart  = criteriaField + "/" // followed by the slug of a criterion
)

// toolFields are the forms of the fields of a tool, by name.
var toolFields = func() map[string]catalog.Form {
	forms := map[string]catalog.Form{"images": catalog.Objects} // which records in canonical form have
	for _, f := range catalog.ToolFields {
		forms[f.Name] = f.Form
	}
	return forms
}()

// ParseMapping parses a mapping and checks that its fields exist.
func ParseMapping(text []byte) (*Mapping, error) {
	// The parser does not end on text that is not UTF-8, and takes long on large files.
	switch {
	case !utf8.Valid(text):
		return nil, errors.New("the text is not valid UTF-8; save the file as UTF-8")
	case len(text) > maxMapping:
		return nil, fmt.Errorf("the mapping is larger than %d KiB", maxMapping>>10)
	}
	var m Mapping
	if err := yaml.UnmarshalWithOptions(text, &m, yaml.Strict()); err != nil {
		return nil, errors.New(yaml.FormatError(err, false, false))
	}
	// Everything in it becomes JSON; YAML also has infinity, for instance.
	if _, err := json.Marshal([]any{m.Catalogue, m.Values, m.Defaults}); err != nil {
		return nil, fmt.Errorf("catalogue, values and defaults may hold texts, numbers, true, false, lists and mappings: %w",
			err)
	}
	taken := map[string]string{}
	for _, column := range slices.Sorted(maps.Keys(m.Columns)) {
		field := m.Columns[column]
		if title, isSection := strings.CutPrefix(field, bodySection); isSection {
			if strings.TrimSpace(title) == "" || strings.Contains(title, "\n") {
				return nil, fmt.Errorf("columns: %q must be %s followed by the title of a section", column, bodySection)
			}
			continue
		}
		if slug, isCriterion := strings.CutPrefix(field, criteriaPart); isCriterion && !catalog.IsSlug(slug) {
			return nil, fmt.Errorf("columns: %q must be %s followed by the slug of a criterion", column, criteriaPart)
		}
		if other := taken[field]; other != "" {
			return nil, fmt.Errorf("columns: %q and %q are both the field %s; keep one", other, column, field)
		}
		taken[field] = column
		if err := checkField(field); err != nil {
			return nil, fmt.Errorf("columns: %q: %w", column, err)
		}
	}
	for name, part := range map[string][]string{
		"values": slices.Sorted(maps.Keys(m.Values)), "defaults": slices.Sorted(maps.Keys(m.Defaults)),
	} {
		for _, field := range part {
			if err := checkField(field); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	if len(m.Columns) == 0 {
		return nil, errors.New("columns is missing: give the field of each column, such as Nom: name")
	}
	if _, given := m.Columns[""]; given {
		return nil, errors.New("columns: a column has no name")
	}
	return &m, nil
}

func checkField(field string) error {
	if strings.HasPrefix(field, criteriaPart) {
		return nil
	}
	form, isField := toolFields[field]
	switch {
	case form == catalog.Objects || form == catalog.Marks:
		return fmt.Errorf("the field %s does not fit into a cell; add it to the files afterwards", field)
	case !isField:
		all := strings.Join(slices.Sorted(maps.Keys(toolFields)), ", ")
		return fmt.Errorf("a tool has no field %q; it has %s", field, all)
	}
	return nil
}

// headings are what tables call fields, beside their names, as markdown.Slug writes it.
var headings = map[string]string{
	"nom": "name", "outil": "name", "site": "domain", "domaine": "domain", "categorie": "category", "profil": "icp",
	"formule": "pricing", "modele": "pricing", "prix": "price", "tarif": "price", "accroche": "tagline",
	"auteur": "author", "auteurs": "author", "note": "score", "verifiabilite": "verifiability",
	"teste-le": "tested_at", "prix-verifie-le": "price_checked_at", "mis-a-jour-le": "updated_at", "avis": "body",
	"brouillon": "draft", "teste": "tested_at", "prix-verifie": "price_checked_at", "mis-a-jour": "updated_at",
	"page-du-prix": "price_source", "citation": "price_quote",
	"pour-qui": "icp", "points-forts": "pros", "points-faibles": "cons", "verdict": "summary",
}

// guess returns the field that the heading of a column names; "" for none.
func guess(heading string) string {
	slug := markdown.Slug(heading)
	field := strings.ReplaceAll(slug, "-", "_")
	if checkField(field) != nil {
		field = headings[slug]
	}
	return field
}

// Template returns the beginning of a mapping for a table, with the fields that its headings name.
func Template(t *Table) string {
	var b strings.Builder
	b.WriteString("catalogue:\n  name: Mon magazine\n  url: https://magazine.example\ncolumns: " +
		"# the field of each column\n")
	taken := map[string]bool{"": true}
	for _, name := range t.Columns {
		if name == "" {
			continue
		}
		field := guess(name)
		if taken[field] {
			field = ""
		}
		taken[field] = true
		fmt.Fprintf(&b, "  %q: %s\n", name, field) // quotes as in YAML
	}
	b.WriteString("ignore: [] # columns to leave out\n")
	return b.String()
}

// check compares the mapping with the columns of a table, and returns those that are
// neither mapped nor ignored.
func (m *Mapping) check(t *Table) (unmapped []string, err error) {
	for _, name := range append(slices.Sorted(maps.Keys(m.Columns)), m.Ignore...) {
		if !slices.Contains(t.Columns, name) {
			return nil, fmt.Errorf("the table has no column %q; it has %s", name, strings.Join(t.Columns, ", "))
		}
	}
	for _, name := range t.Columns {
		if _, mapped := m.Columns[name]; name != "" && !mapped && !slices.Contains(m.Ignore, name) {
			unmapped = append(unmapped, name)
		}
	}
	return unmapped, nil
}
