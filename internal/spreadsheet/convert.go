package spreadsheet

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/content"
	"palmares/internal/markdown"
)

// A Result is a converted table.
type Result struct {
	Catalog  *catalog.Catalog // of the rows without problems; nil if there are none
	Problems []Problem        // by line
	Unmapped []string         // columns that were left out
	Rows     int              // rows of the table
}

// A Problem is what is wrong with a row; Line is 0 if it is in the mapping.
type Problem struct {
	Line int
	Text string
}

// Convert makes a catalogue from a table. Rows with problems are left out.
func Convert(ctx context.Context, t *Table, m *Mapping) (*Result, error) {
	unmapped, err := m.check(t)
	if err != nil {
		return nil, err
	}
	c := &converter{table: t, mapping: m, labels: map[string]string{}}
	result := &Result{Unmapped: unmapped, Rows: len(t.rows)}
	var lines []line
	for _, r := range t.rows {
		if len(r.cells) > len(t.Columns) &&
			slices.ContainsFunc(r.cells[len(t.Columns):], func(s string) bool { return s != "" }) {
			result.Problems = append(result.Problems, Problem{r.line, fmt.Sprintf("the row has %d cells, "+
				"but there are %d columns; put a cell that contains a separator in quotes", len(r.cells), len(t.Columns))})
			continue
		}
		lines = append(lines, line{r.line, c.record(r)})
	}
	// A row that is left out can be missed by another one, so that it has a problem too.
	for len(lines) > 0 {
		read, problems, err := c.read(ctx, lines)
		if err != nil {
			return nil, err
		}
		if len(problems) == 0 {
			result.Catalog = read
			break
		}
		result.Problems = append(result.Problems, problems...)
		wrong := map[int]bool{}
		for _, p := range problems {
			wrong[p.Line] = true
		}
		if wrong[0] {
			break
		}
		lines = slices.DeleteFunc(lines, func(l line) bool { return wrong[l.number] })
	}
	slices.SortStableFunc(result.Problems, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
	return result, nil
}

// A line is a record as JSON, with the line of its row.
type line struct {
	number int
	json   []byte
}

type converter struct {
	table   *Table
	mapping *Mapping
	slugs   []string          // of the categories, in the order of the table
	labels  map[string]string // of the categories
}

// recordsFile is the file of the folder as which records are judged.
const recordsFile = "outils.jsonl"

// otherRecord is how a problem names another record.
var otherRecord = regexp.MustCompile(recordsFile + `:[0-9]+`)

// read judges the records as a content folder.
func (c *converter) read(ctx context.Context, lines []line) (_ *catalog.Catalog, problems []Problem, err error) {
	dir, err := os.MkdirTemp("", "palmares-import-")
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	settings, err := json.Marshal(c.catalogue()) // which is YAML too
	if err != nil {
		return nil, nil, fmt.Errorf("catalogue: %w", err)
	}
	var records bytes.Buffer
	for _, l := range lines {
		records.Write(l.json)
		records.WriteByte('\n')
	}
	for name, text := range map[string][]byte{catalog.SettingsFile: settings, recordsFile: records.Bytes()} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			return nil, nil, err
		}
	}
	read, err := content.Read(ctx, dir, content.Options{Drafts: true})
	if err != nil {
		return nil, nil, err
	}
	for _, p := range read.Problems {
		if p.File == catalog.SettingsFile {
			problems = append(problems, Problem{0, "catalogue: " + p.Text.English})
			continue
		}
		text := otherRecord.ReplaceAllStringFunc(p.Text.English, func(place string) string {
			n, _ := strconv.Atoi(place[len(recordsFile)+1:]) // the pattern has digits there
			return fmt.Sprintf("line %d", lines[n-1].number)
		})
		problems = append(problems, Problem{lines[p.Line-1].number, text + c.origin(p.Text.English)})
	}
	return read.Catalog, problems, read.Close()
}

// origin names the column of the field with which a problem begins.
func (c *converter) origin(problem string) string {
	field, _, _ := strings.Cut(problem, " ")
	for _, column := range c.table.Columns {
		if c.mapping.Columns[column] == field {
			return fmt.Sprintf(" (column %q)", column)
		}
	}
	return ""
}

// catalogue returns the contents of catalogue.yaml.
func (c *converter) catalogue() map[string]any {
	settings := maps.Clone(c.mapping.Catalogue)
	if settings == nil {
		settings = map[string]any{}
	}
	if settings["categories"] == nil {
		var categories []map[string]string
		for _, slug := range c.slugs {
			categories = append(categories, map[string]string{"slug": slug, "label": c.labels[slug]})
		}
		settings["categories"] = categories
	}
	return settings
}

func (c *converter) record(r row) []byte {
	fields := map[string]any{}
	criteria := map[string]any{}
	var body strings.Builder
	for i, cell := range r.cells {
		if i >= len(c.table.Columns) || cell == "" {
			continue
		}
		field := c.mapping.Columns[c.table.Columns[i]]
		title, isSection := strings.CutPrefix(field, bodySection)
		criterion, isCriterion := strings.CutPrefix(field, criteriaPart)
		switch {
		case field == "":
		case isCriterion:
			criteria[criterion] = c.value(field, cell)
		case isSection:
			fmt.Fprintf(&body, "## %s\n\n%s\n\n", strings.TrimSpace(title), cell)
		default:
			fields[field] = c.value(field, cell)
		}
	}
	if len(criteria) > 0 {
		fields[criteriaField] = criteria
	}
	for field, value := range c.mapping.Defaults {
		if fields[field] == nil {
			fields[field] = value
		}
	}
	if sections := strings.TrimSpace(body.String()); sections != "" {
		if text, ok := fields[bodyField].(string); ok {
			sections = text + "\n\n" + sections
		}
		fields[bodyField] = sections
	}
	if name, ok := fields["name"].(string); ok && fields["slug"] == nil {
		fields["slug"] = markdown.Slug(name)
	}
	if label, ok := fields["category"].(string); ok {
		fields["category"] = c.category(label)
	}
	encoded, err := json.Marshal(fields)
	if err != nil {
		panic(err) // ParseMapping has checked the values, and cells are texts
	}
	return encoded
}

// category returns the slug of a category given by slug or label, and remembers the label.
func (c *converter) category(label string) string {
	slug := markdown.Slug(label)
	if _, known := c.labels[slug]; !known && slug != "" {
		c.slugs, c.labels[slug] = append(c.slugs, slug), label
	}
	return slug
}

// value returns what a cell gives a field. A cell that cannot be understood stays as it
// is, for the rules of content to report.
func (c *converter) value(field, cell string) any {
	values := c.mapping.Values[field]
	for _, said := range slices.Sorted(maps.Keys(values)) {
		if strings.EqualFold(strings.TrimSpace(said), cell) {
			return values[said]
		}
	}
	if strings.HasPrefix(field, criteriaPart) {
		if flag, ok := boolean(cell).(bool); ok && cell != "0" && cell != "1" {
			return flag
		}
		return number(cell)
	}
	switch toolFields[field] {
	case catalog.Body:
		return cell
	case catalog.Lines:
		return list(cell, "\n;", "-+•– ")
	case catalog.Draft, catalog.Flag:
		return boolean(cell)
	case catalog.Figure:
		return number(cell)
	case catalog.Price:
		return price(cell, c.mapping.PriceUnit)
	case catalog.Domain:
		return domain(cell)
	case catalog.Slugs, catalog.Links, catalog.UsageSlugs:
		return strings.FieldsFunc(cell, func(r rune) bool { return strings.ContainsRune(" \n\t;,", r) })
	case catalog.Names:
		return list(cell, "\n;,", "")
	case catalog.Enum:
		return strings.ToLower(oneLine(cell))
	case catalog.Date:
		return date(cell)
	default:
		return oneLine(cell)
	}
}

func oneLine(cell string) string { return strings.Join(strings.Fields(cell), " ") }

// list returns the texts of a cell between separators, without the marks before them.
func list(cell, separators, marks string) (all []string) {
	for text := range strings.FieldsFuncSeq(cell, func(r rune) bool { return strings.ContainsRune(separators, r) }) {
		text = oneLine(strings.TrimLeft(text, marks))
		if text != "" {
			all = append(all, text)
		}
	}
	return all
}

func boolean(cell string) any {
	switch strings.ToLower(cell) {
	case "oui", "vrai", "true", "yes", "x", "1":
		return true
	case "non", "faux", "false", "no", "0":
		return false
	}
	return cell
}

var plainNumber = regexp.MustCompile(`^(0|[1-9][0-9]*)(?:[.,]([0-9]+))?(?: ?/ ?10)?$`)

func number(cell string) any {
	found := plainNumber.FindStringSubmatch(cell)
	if found == nil {
		return cell
	}
	if found[2] != "" {
		return json.Number(found[1] + "." + found[2])
	}
	return json.Number(found[1])
}

var (
	europeanDate = regexp.MustCompile(`^(\d{1,2})[/.-](\d{1,2})[/.-](\d{4})$`)
	bareAmount   = regexp.MustCompile(`^[\d ]+(,\d+)?( €)?$`)
	pointAmount  = regexp.MustCompile(`^(\d+)\.(\d{1,2})( |$)`) // not 1.200, which is written for 1 200 too
	slash        = regexp.MustCompile(` ?/ ?`)
)

// date returns a date written day first as the format wants it, if it exists.
func date(cell string) string {
	if d := europeanDate.FindStringSubmatch(cell); d != nil {
		if found := fmt.Sprintf("%s-%02s-%02s", d[3], d[2], d[1]); catalog.IsDate(found) {
			return found
		}
	}
	return cell
}

// price returns a price with plain spaces, and with the unit if it has none.
func price(cell, unit string) string {
	cell = slash.ReplaceAllString(oneLine(strings.ReplaceAll(cell, "€", " €")), "/")
	cell = pointAmount.ReplaceAllString(cell, "$1,$2$3")
	if unit != "" && bareAmount.MatchString(cell) {
		return strings.TrimSuffix(cell, " €") + " " + unit
	}
	if lower := strings.ToLower(cell); lower == "sur devis" {
		return lower
	}
	return cell
}

func domain(cell string) string {
	address := cell
	if !strings.Contains(cell, "://") {
		address = "https://" + cell
	}
	if u, err := url.Parse(address); err == nil && strings.Contains(u.Hostname(), ".") {
		return strings.ToLower(u.Hostname())
	}
	return strings.ToLower(cell)
}
