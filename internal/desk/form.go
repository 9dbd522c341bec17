package desk

import (
	"cmp"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/content"
	"palmares/internal/content/document"
	"palmares/internal/french"
	"palmares/internal/problem"
)

type choice struct {
	Value, Text string
	Chosen      bool
}

type group struct {
	Title  string
	ID     string
	Fields []field
	IsRare bool // few records need it
	IsOpen bool // something in it is to be corrected
}

type field struct {
	document.Field
	Type     string // what the template makes of Input
	ID       string
	Key      string   // its name in the form
	Text     string   // of a single value; of a list, an item per line
	Items    []string // of a list with proposals
	Choices  []choice
	Rows     []rowOf
	List     string // id of the list of proposals; "" for none
	IsPart   bool   // of another one, which has its problems
	Problems []string
}

// A rowOf is an entry of a list of objects: its columns, each a field.
type rowOf struct {
	Key     string // what the names of its fields begin with
	Name    string // "" for none
	Number  int
	IsDeep  bool // there are lists in it
	Columns []field
}

// Lines returns how high a text area is.
func (f field) Lines() int { return min(max(strings.Count(f.Text, "\n")+len(f.Text)/70+1, 2), 12) }

// In a form, the names of the fields of a record begin with fieldKey. A list that is shown as YAML ends
// with yamlKey.
const (
	fieldKey = "f."
	yamlKey  = ".yaml"
)

// newForm returns the form of a document. The catalogue has what fields refer to; it may be nil.
func newForm(doc *document.Document, c *catalog.Catalog, problems map[string][]string) []group {
	all := document.Form(doc.Kind())
	if c != nil {
		document.Complete(all, c, doc.Value("category").Text)
	}
	var groups []group
	for _, g := range all {
		shown := group{Title: g.Label, ID: "groupe-" + slugOf(g.Label), IsRare: g.Label == "Autres"}
		for _, f := range g.Fields {
			if f.Name == "slug" { // an address is changed elsewhere
				continue
			}
			own := newField(f, fieldKey+f.Name, doc.Value(f.Name))
			if f.Name == "body" {
				own.Text = doc.Body()
			}
			own.Problems = problems[f.Name]
			shown.IsOpen = shown.IsOpen || len(own.Problems) > 0
			shown.Fields = append(shown.Fields, own)
		}
		if len(shown.Fields) > 0 {
			groups = append(groups, shown)
		}
	}
	return groups
}

// newField returns a field whose name in the form is a key, or a part of one.
func newField(f document.Field, key string, v document.Value) field {
	shown := field{
		Field: f, Type: cmp.Or(types[f.InputFor(v)], "line"), ID: "page." + strings.ReplaceAll(key, ".", "-"), Key: key, Text: v.Text,
		IsPart: key != fieldKey+f.Name,
	}
	for _, c := range f.Choices {
		shown.Choices = append(shown.Choices, choice{c.Value, c.Label, c.Value == v.Text})
		if shown.Type == "line" {
			shown.List = shown.ID + "-choix"
			if c.Value == v.Text {
				shown.Text = c.Label
			}
		}
	}
	switch {
	case f.Of == catalog.ToolKind:
		shown.List = "page.outils"
	case f.From == document.FromAuthors:
		shown.List = "page.auteurs"
	}
	switch {
	case shown.Type == "yaml":
		shown.Key += yamlKey
	case f.From == document.FromUsages:
		shown.Type = "checks"
		for i := range shown.Choices {
			shown.Choices[i].Chosen = slices.Contains(v.Items, shown.Choices[i].Value)
		}
		for _, slug := range v.Items { // so that saving keeps it
			if !slices.ContainsFunc(f.Choices, func(c document.Choice) bool { return c.Value == slug }) {
				shown.Choices = append(shown.Choices, choice{slug, slug + " (inconnu)", true})
			}
		}
	case shown.Type == "lines" && shown.List != "":
		shown.Type, shown.Items = "items", append(slices.Clip(v.Items), "") // the last one is for another
	case shown.Type == "lines":
		shown.Text = strings.Join(v.Items, "\n")
	case shown.Type == "rows":
		v.Rows = append(slices.Clip(v.Rows), nil) // the last one is empty, for another entry
		fallthrough
	case shown.Type == "object":
		for i := range max(len(v.Rows), 1) {
			row := rowOf{Number: i + 1, Key: key + "." + strconv.Itoa(i)}
			for _, column := range f.Columns {
				cell := document.Value{}
				if i < len(v.Rows) {
					cell = v.Rows[i][column.Name]
				}
				row.Columns = append(row.Columns, newField(column, row.Key+"."+column.Name, cell))
				row.IsDeep = row.IsDeep || len(column.Columns) > 0
				if column.Name == "label" {
					row.Name = cell.Text
				}
			}
			shown.Rows = append(shown.Rows, row)
		}
	}
	return shown
}

// types are what the template shows for each input; others are a line.
var types = map[document.Input]string{
	document.InputArea: "text", document.InputNumber: "number", document.InputDate: "date", document.InputTime: "datetime-local",
	document.InputSelect: "choice", document.InputCheckbox: "flag", document.InputLines: "lines", document.InputRows: "rows",
	document.InputObject: "object", document.InputYAML: "yaml",
}

// maxProposals is how many tools a page proposes: it is sent with all of them.
const maxProposals = 5000

// proposals returns the tools that a page proposes by name. The catalogue may be nil.
func proposals(c *catalog.Catalog) []*catalog.Tool {
	if c == nil {
		return nil
	}
	return c.Tools[:min(len(c.Tools), maxProposals)]
}

// parse reads the fields of a form into a document. Fields that the form does not have are left alone,
// and so is what did not change. The catalogue has the tools that may be named; it may be nil.
func parse(form url.Values, doc *document.Document, known *catalog.Catalog) error {
	values := map[string]document.Value{}
	for _, g := range document.Form(doc.Kind()) {
		for _, f := range g.Fields {
			key := fieldKey + f.Name
			v := parseField(form, key, f, known)
			switch {
			case form.Has(key + yamlKey):
				v = document.Value{Text: unixLines(form.Get(key + yamlKey))}
			case !form.Has(key):
				continue
			case f.From == document.FromUsages: // boxes have another order than the file
				v.Items = inOrderOf(doc.Value(f.Name).Items, v.Items)
			}
			values[f.Name] = v
		}
	}
	return doc.SetAll(values)
}

// inOrderOf returns items, those that there were before first and in their order.
func inOrderOf(before, items []string) []string {
	is := func(list []string) func(string) bool { return func(s string) bool { return slices.Contains(list, s) } }
	kept := slices.DeleteFunc(slices.Clone(before), func(s string) bool { return !is(items)(s) })
	return append(kept, slices.DeleteFunc(items, is(before))...)
}

// parseField returns the value of a field, whose name in a form is a key.
func parseField(form url.Values, key string, f document.Field, known *catalog.Catalog) (v document.Value) {
	given := form[key]
	switch {
	case len(given) == 0:
	case f.Input == document.InputRows || f.Input == document.InputObject:
		for i := 0; form.Has(key + "." + strconv.Itoa(i) + "." + f.Columns[0].Name); i++ {
			row := document.Row{}
			for _, column := range f.Columns {
				row[column.Name] = parseField(form, key+"."+strconv.Itoa(i)+"."+column.Name, column, known)
			}
			v.Rows = append(v.Rows, row)
		}
	case f.Input == document.InputLines:
		v.Items = strings.Split(unixLines(strings.Join(given, "\n")), "\n")
	default:
		v.Text = unixLines(given[len(given)-1]) // a box that is not ticked leaves what is before it
		for _, c := range f.Choices {
			if c.Label == v.Text {
				v.Text = c.Value
			}
		}
	}
	if f.Of == catalog.ToolKind {
		v.Text = toolNamed(known, v.Text)
		for i := range v.Items {
			v.Items[i] = toolNamed(known, v.Items[i])
		}
	}
	return v
}

// toolNamed returns the slug of the tool that somebody names, or else what she typed.
func toolNamed(c *catalog.Catalog, typed string) string {
	name := strings.TrimSpace(typed)
	if c == nil || c.Tool(name) != nil {
		return typed
	}
	for _, t := range c.Tools {
		if strings.EqualFold(t.Name, name) {
			return t.Slug
		}
	}
	return typed
}

// unixLines returns a text of a form, whose lines browsers end with CRLF.
func unixLines(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

var toolFields = []string{"tool_a", "tool_b", "winner", "successor"}

// notTools are the codes of problems of fields that do not name a tool as they should.
var notTools = []string{"empty", "must-be-not", "side-former", "not-a-tool"}

// problemsOf returns the problems of a file by the names of its fields, "" for none in particular, and those of
// other files.
func problemsOf(found []content.Problem, file string, doc *document.Document) (own map[string][]string, others []content.Problem) {
	own = map[string][]string{}
	for _, p := range found {
		if p.File != file {
			others = append(others, p)
			continue
		}
		name := ""
		if doc != nil && doc.FieldOf(p) != "slug" { // which is not in the form
			name = doc.FieldOf(p)
		}
		text := inWords(file, p.Text.French)
		if slices.Contains(toolFields, name) && slices.Contains(notTools, p.Text.Code) {
			text += "\u202f; choisissez-le dans la liste"
		}
		own[name] = append(own[name], text)
	}
	return own, others
}

// namesInSentences finds what may be the name of a field or one of its values.
var namesInSentences = regexp.MustCompile(`[\pL\d_./-]+`)

// inWords returns a sentence about a file with the words of its form in the place of the names that fields and
// their values have in it.
func inWords(file, sentence string) string {
	kind := catalog.CatalogueKind
	if k := catalog.KindIn(path.Dir(file)); k != nil {
		kind = k
	}
	sentence = strings.Replace(sentence, ", entre guillemets", "", 1) // which a form writes itself
	words, found := map[string]string{}, namesInSentences.FindAllString(sentence, -1)
	var add func(fields []document.Field)
	add = func(fields []document.Field) {
		for _, f := range fields {
			label := "«\u00a0" + f.Label + "\u00a0»"
			switch {
			case !slices.Contains(found, f.Name):
				continue
			case strings.ToLower(f.Label) != f.Name:
				words[f.Name] = label
			case strings.HasPrefix(sentence, f.Name+" "): // a word of the language, too: « Date » doit être une date
				sentence = label + sentence[len(f.Name):]
			}
			for _, c := range f.Choices {
				words[c.Value] = c.Label
			}
			add(f.Columns)
		}
	}
	for _, g := range document.Form(kind) {
		add(g.Fields)
	}
	return namesInSentences.ReplaceAllStringFunc(sentence, func(name string) string { return cmp.Or(words[name], name) })
}

func sentence(err error) string { return french.Capital(problem.Of(err).French) }

// maxFindings is how many problems a page lists: whoever corrects these sees the next.
const maxFindings = 20

// A finding is what people read of a problem.
type finding struct {
	Href  string // where it is corrected; "" for nowhere at the desk
	Where string
	Text  string // with the colon before it
}

// findings returns what people read of problems in the folder and in working copies.
func findings(found []content.Problem, copies ...*draft) (list []finding) {
	for _, p := range found[:min(len(found), maxFindings)] {
		f := finding{Where: recordName(p.File), Text: "\u00a0: " + inWords(p.File, p.Text.French)}
		if stem, ok := strings.CutSuffix(p.File, ".md"); ok {
			f.Href = recordsPath + "/" + stem
		} else if f.Where == p.File { // no form corrects it
			f.Where = fmt.Sprintf("%s, ligne %d", p.File, p.Line)
		}
		for _, c := range copies {
			if c.Path == p.File {
				f.Href = c.Href()
			}
		}
		list = append(list, f)
	}
	return list
}
