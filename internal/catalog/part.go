package catalog

import (
	"fmt"
	"strconv"
	"strings"
)

// A Part is a changed field of a record, or of catalogue.yaml. Old
// and New are shortened, and "" if the field is a list or a long text.
type Part struct {
	Field string `json:"field"` // as in a content folder
	Old   string `json:"old,omitempty"`
	New   string `json:"new,omitempty"`
}

// MaxParts is for how many records of a kind parts are compared.
const MaxParts = 1000

// compareParts adds the parts of a record that differ. name is its file without suffix, and
// count the number of such records up to it.
func (d *Diff) compareParts(name string, count int, fields []Field, before, after any) {
	if count > MaxParts {
		return
	}
	for i := range fields {
		f := &fields[i]
		isSame := f.isSame(before, after) && f.IsHidden(before) == f.IsHidden(after)
		if f.Form == Draft || f.Form == PublishAt || isSame {
			continue
		}
		if d.Parts == nil {
			d.Parts = map[string][]Part{}
		}
		d.Parts[name] = append(d.Parts[name], shortPart(f.Name, f.lineText(before), f.lineText(after)))
	}
}

// shortPart returns the part of two texts of a field, cut where they differ if they are long.
func shortPart(name, was, is string) Part {
	const most, around = 80, 20 // characters
	from, to := []rune(was), []rune(is)
	same := 0
	for same < min(len(from), len(to)) && from[same] == to[same] {
		same++
	}
	short := func(text []rune) string {
		start := 0
		if same > most/2 && max(len(from), len(to)) > most {
			start = min(len(text), same-around)
		}
		end := min(len(text), start+most)
		return strings.Repeat("…", min(start, 1)) + string(text[start:end]) + strings.Repeat("…", min(len(text)-end, 1))
	}
	return Part{name, short(from), short(to)}
}

// lineText returns the value of a field on one line, or "" if it has no such form.
func (f *Field) lineText(record any) string {
	switch {
	case f.Form == Body || f.IsEmpty(record) && f.Form != Flag && f.Form != Published:
		return ""
	case f.IsHidden(record):
		return OnRequest
	}
	text := ""
	switch p := f.In(record).(type) {
	case *string:
		text = *p
	case *bool:
		text = strconv.FormatBool(*p)
	case *HistoryMode:
		text = p.String()
	case *int:
		text = strconv.Itoa(*p)
	case **float64:
		text = fmt.Sprint(**p)
	case *[]string:
		text = strings.Join(*p, " ")
		if f.Form == Names {
			text = strings.Join(*p, ", ")
		}
	}
	return strings.Join(strings.Fields(text), " ")
}

// SettingsFile is the record of the parts of a Catalog.
const SettingsFile = "catalogue.yaml"
