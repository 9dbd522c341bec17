package catalog

import (
	"encoding/json"
	"fmt"
	"strings"
)

// A Part is a changed field of a record, or of catalogue.yaml, that no event reports. Old
// and New are shortened, and "" if the field is a list or a long text.
type Part struct {
	Field string `json:"field"` // as in a content folder
	Old   string `json:"old,omitempty"`
	New   string `json:"new,omitempty"`
}

// MaxParts is for how many records of a kind parts are compared.
const MaxParts = 1000

// long is the value of a field that has no short form.
type long string

// longOf returns the value of a list or a mapping.
func longOf(v any) long {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // the domain has neither channels nor functions
	}
	return long(raw)
}

// compareParts adds the parts of a record that differ. record is its file without
// suffix, and count the number of such records up to it.
func (d *Diff) compareParts(record string, count int, before, after []field) {
	if count > MaxParts {
		return
	}
	for i, f := range after {
		if before[i].value == f.value {
			continue
		}
		p := Part{Field: f.name}
		if _, isLong := f.value.(long); !isLong {
			p.Old, p.New = shortText(before[i].value), shortText(f.value)
		}
		if d.Parts == nil {
			d.Parts = map[string][]Part{}
		}
		d.Parts[record] = append(d.Parts[record], p)
	}
}

func shortText(value any) string {
	const most = 80 // characters
	if value == nil {
		return ""
	}
	text := []rune(strings.Join(strings.Fields(fmt.Sprint(value)), " "))
	if len(text) > most {
		return string(text[:most]) + "…"
	}
	return string(text)
}

func (t *Tool) parts() []field {
	return []field{
		{"price_display", t.PriceDisplay},
		{"plans", longOf(t.Plans)},
		{"author", strings.Join(t.Authors, ", ")},
		{"logo", t.Logo},
		{"image", t.Image},
		{"obsolescence", valueOf(t.Obsolescence)},
		{"tier", t.Tier},
		{"mainstream", t.Mainstream},
		{"tested_at", t.TestedAt},
		{"price_checked_at", t.PriceCheckedAt},
		{"sources", strings.Join(t.Sources, " ")},
		{"aliases", strings.Join(t.Aliases, " ")},
		{"price_history", longOf(t.PriceHistory)},
		{"price_history_mode", t.PriceHistoryMode},
		{"score_note", t.ScoreNote},
		{"score_history", longOf(t.ScoreHistory)},
		{"body", long(t.Body)},
	}
}

func (x *Comparison) parts() []field {
	return []field{
		{"author", strings.Join(x.Authors, ", ")},
		{"aliases", strings.Join(x.Aliases, " ")},
		{"image", x.Image},
		{"body", long(x.Body)},
	}
}

func (r *Retired) parts() []field {
	return []field{{"category", r.Category}, {"successor", r.Successor}, {"body", long(r.Body)}}
}

func (p *Page) parts() []field {
	return []field{
		{"title", p.Title},
		{"menu", p.Menu},
		{"description", p.Description},
		{"image", p.Image},
		{"body", long(p.Body)},
	}
}

// parts returns the fields of catalogue.yaml.
func (c *Catalog) parts() []field {
	s := &c.Settings
	return []field{
		{"name", c.Name},
		{"url", c.URL},
		{"headline", s.Headline},
		{"introduction", s.Introduction},
		{"description", s.Description},
		{"contact", s.Contact},
		{"publisher", s.Publisher},
		{"logo", s.Logo},
		{"pro", s.Pro},
		{"dataset", s.Dataset},
		{"categories", longOf(c.Categories)},
	}
}

// SettingsFile is the record of the parts of a Catalog.
const SettingsFile = "catalogue.yaml"
