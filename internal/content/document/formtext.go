package document

import (
	_ "embed"
	"strings"

	"palmares/internal/catalog"
)

// forms.txt has the words of the forms, in French, with a tab between the parts of a line: the name of a field,
// its label, and a rule if there is one. Fields are below the group (##) and the kind of record (#) that they are of; a
// name alone is a field that several kinds share. Last come the columns of rows, and the values of enumerated fields.
//
//go:embed forms.txt
var forms string

// A groupText is a group of fields, in their order.
type groupText struct {
	label  string
	fields []fieldText
}

// A fieldText is what a form says about a field.
type fieldText struct{ name, label, rule string }

const valueRule = "Un nombre, ou true ou false pour un critère auquel on répond par oui ou non."

// formTexts are the groups of each kind of record, columnTexts what a form says about the columns of rows, and
// choiceTexts the words for the values of enumerated fields.
var formTexts, columnTexts, choiceTexts = readForms()

func readForms() (groups map[*catalog.Kind][]groupText, columns, choices map[string]fieldText) {
	groups = map[*catalog.Kind][]groupText{}
	parts := map[string]map[string]fieldText{}
	part := ""
	for line := range strings.Lines(forms) {
		line = strings.TrimSpace(line)
		mark, words, _ := strings.Cut(line, " ")
		kind := catalog.KindNamed(part)
		switch {
		case line == "":
		case mark == "#":
			part, parts[words] = words, map[string]fieldText{}
		case mark == "##":
			groups[kind] = append(groups[kind], groupText{label: words})
		default:
			name, words, isOwn := strings.Cut(line, "\t")
			label, rule, _ := strings.Cut(words, "\t")
			text := fieldText{name, label, rule}
			if !isOwn {
				text = parts["shared"][name]
			}
			parts[part][name] = text
			if n := len(groups[kind]); n > 0 {
				group := &groups[kind][n-1]
				group.fields = append(group.fields, text)
			}
		}
	}
	return groups, parts["columns"], parts["choices"]
}
