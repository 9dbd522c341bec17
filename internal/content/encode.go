package content

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"palmares/internal/catalog"
	"palmares/internal/wire"
)

// A pair is a field to write: a string, number, boolean, list of strings or list
// of mappings. Both formats are written from the same pairs.
type pair struct {
	name  string
	value any
}

func catalogueFields(c *catalog.Catalog) []pair {
	ordered := slices.Clone(c.Categories)
	slices.SortStableFunc(ordered, func(a, b catalog.Category) int { return cmp.Compare(a.Position, b.Position) })
	categories := make([][]pair, len(ordered))
	for i, category := range ordered {
		categories[i] = nonEmpty(
			pair{"slug", category.Slug},
			pair{"label", category.Label},
			pair{"description", category.Description},
			pair{"aliases", category.Aliases},
		)
	}
	return append(nonEmpty(
		pair{"name", c.Name},
		pair{"url", c.URL},
		pair{"headline", c.Settings.Headline},
		pair{"introduction", c.Settings.Introduction},
		pair{"description", c.Settings.Description},
		pair{"contact", c.Settings.Contact},
		pair{"publisher", c.Settings.Publisher},
		pair{"logo", c.Settings.Logo},
		pair{"pro", c.Settings.Pro},
	), pair{"categories", categories})
}

func toolFields(t *catalog.Tool) []pair {
	history := make([][]pair, len(t.PriceHistory))
	for i, e := range t.PriceHistory {
		history[i] = []pair{
			{"changed_at", e.ChangedAt},
			{"old_pricing", string(e.OldPricing)},
			{"old_price", e.OldPrice},
			{"new_pricing", string(e.NewPricing)},
			{"new_price", e.NewPrice},
		}
	}
	scores := make([][]pair, len(t.ScoreHistory))
	for i, e := range t.ScoreHistory {
		scores[i] = nonEmpty(
			pair{"changed_at", e.ChangedAt},
			pair{"old_score", e.OldScore},
			pair{"new_score", e.NewScore},
			pair{"old_verifiability", e.OldVerifiability},
			pair{"new_verifiability", e.NewVerifiability},
			pair{"old_obsolescence", e.OldObsolescence},
			pair{"new_obsolescence", e.NewObsolescence},
			pair{"note", e.Note},
		)
	}
	plans := make([][]pair, len(t.Plans))
	for i, p := range t.Plans {
		plans[i] = nonEmpty(pair{"name", p.Name}, pair{"price", p.Price}, pair{"note", p.Note})
	}
	return nonEmpty(
		pair{"name", t.Name},
		pair{"domain", t.Domain},
		pair{"category", t.Category},
		pair{"icp", string(t.ICP)},
		pair{"pricing", string(t.Pricing)},
		pair{"price", t.Price},
		pair{"price_display", t.PriceDisplay},
		pair{"plans", plans},
		pair{"tagline", t.Tagline},
		authors(t.Authors),
		pair{"logo", t.Logo},
		pair{"image", t.Image},
		pair{"score", t.Score},
		pair{"verifiability", t.Verifiability},
		pair{"obsolescence", t.Obsolescence},
		pair{"tier", t.Tier},
		pair{"mainstream", t.Mainstream},
		pair{"updated_at", t.UpdatedAt},
		pair{"canonical_url", t.CanonicalURL},
		pair{"avis_url", t.ReviewURL},
		pair{"alternatives_url", t.AlternativesURL},
		pair{"tested_at", t.TestedAt},
		pair{"price_checked_at", t.PriceCheckedAt},
		pair{"sources", t.Sources},
		pair{"aliases", t.Aliases},
		pair{"price_history_mode", string(t.PriceHistoryMode)},
		pair{"price_history", history},
		pair{"score_note", t.ScoreNote},
		pair{"score_history", scores},
		pair{"draft", t.Draft},
	)
}

// authors returns the field of one name or several.
func authors(names []string) pair {
	if len(names) == 1 {
		return pair{"author", names[0]}
	}
	return pair{"author", names}
}

func comparisonFields(x *catalog.Comparison) []pair {
	fields := nonEmpty(
		pair{"title", x.Title},
		pair{"tool_a", x.ToolA},
		pair{"tool_b", x.ToolB},
		pair{"winner", x.Winner},
		pair{"winner_note", x.WinnerNote},
		pair{"updated_at", x.UpdatedAt},
		authors(x.Authors),
		pair{"aliases", x.Aliases},
		pair{"image", x.Image},
		pair{"draft", x.Draft},
	)
	if !x.Published {
		fields = append(fields, pair{"published", false})
	}
	return fields
}

func retiredFields(o *catalog.Retired) []pair {
	return nonEmpty(
		pair{"name", o.Name},
		pair{"category", o.Category},
		pair{"reason", string(o.Reason)},
		pair{"retired_at", o.RetiredAt},
		pair{"successor", o.Successor},
		pair{"draft", o.Draft},
	)
}

func pageFields(p *catalog.Page) []pair {
	return nonEmpty(
		pair{"title", p.Title},
		pair{"menu", string(p.Menu)},
		pair{"description", p.Description},
		pair{"image", p.Image},
		pair{"draft", p.Draft},
	)
}

// nonEmpty drops the fields that a record does not have.
func nonEmpty(pairs ...pair) []pair {
	kept := pairs[:0]
	for _, p := range pairs {
		switch v := p.value.(type) {
		case string:
			if v == "" {
				continue
			}
		case bool:
			if !v {
				continue
			}
		case *float64:
			if v == nil {
				continue
			}
			p.value = *v
		case []string:
			if len(v) == 0 {
				continue
			}
		case [][]pair:
			if len(v) == 0 {
				continue
			}
		}
		kept = append(kept, p)
	}
	return kept
}

// appendMarkdown appends a record as a Markdown file and returns the length of its
// front matter.
func appendMarkdown(b []byte, fields []pair, body string) (file []byte, yaml int) {
	b = append(b, "---\n"...)
	start := len(b)
	b = appendYAML(b, fields, "")
	yaml = len(b) - start
	b = append(b, "---\n"...)
	if body != "" {
		b = append(b, '\n')
		b = append(b, body...)
		b = append(b, '\n')
	}
	return b, yaml
}

// appendYAML appends fields, with every line after the first indented.
func appendYAML(b []byte, fields []pair, indent string) []byte {
	for i, f := range fields {
		if i > 0 {
			b = append(b, indent...)
		}
		b = append(b, f.name...)
		b = append(b, ':')
		switch v := f.value.(type) {
		case []string:
			b = append(b, '\n')
			for _, s := range v {
				b = append(append(b, indent...), "  - "...)
				b = appendYAMLText(b, s)
				b = append(b, '\n')
			}
			continue
		case [][]pair:
			b = append(b, '\n')
			for _, item := range v {
				b = append(b, "  - "...)
				b = appendYAML(b, item, "    ")
			}
			continue
		case string:
			b = append(b, ' ')
			b = appendYAMLText(b, v)
		case float64:
			b = append(b, ' ')
			b = appendFloat(b, v)
		case int:
			b = append(b, ' ')
			b = strconv.AppendInt(b, int64(v), 10)
		case bool:
			b = append(b, ' ')
			b = strconv.AppendBool(b, v)
		}
		b = append(b, '\n')
	}
	return b
}

// appendFloat appends a figure without an exponent, a form that YAML and JSON
// share.
func appendFloat(b []byte, x float64) []byte { return strconv.AppendFloat(b, x, 'f', -1, 64) }

// appendYAMLText appends a text, in double quotes if anything in it could have a
// meaning in YAML.
func appendYAMLText(b []byte, s string) []byte {
	if isBareText(s) {
		return append(b, s...)
	}
	b = append(b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, `\n`...)
		case r == '\t':
			b = append(b, `\t`...)
		case r == '\ufeff' || r == '\u2028' || r == '\u2029' || unicode.IsControl(r):
			b = append(b, `\u`...)
			hex := strconv.FormatInt(int64(r), 16)
			b = append(b, strings.Repeat("0", 4-len(hex))...)
			b = append(b, hex...)
		default:
			b = append(b, string(r)...)
		}
	}
	return append(b, '"')
}

// isBareText reports whether a text needs no quotes. It is narrow on purpose: only
// dates, prices, and what begins with a letter and is not a YAML keyword.
func isBareText(s string) bool {
	if catalog.IsDate(s) {
		return true
	}
	switch strings.ToLower(s) {
	case "true", "false", "null", "yes", "no", "on", "off", "y", "n":
		return false
	}
	first, _ := utf8.DecodeRuneInString(s)
	if !unicode.IsLetter(first) && !catalog.IsPrice(s) {
		return false
	}
	for _, r := range s {
		if !unicode.IsLetter(r) && !strings.ContainsRune(" 0123456789-./:,;+_()?=%&#€’", r) {
			return false
		}
	}
	return !strings.Contains(s, ": ") && !strings.Contains(s, " #") && !strings.HasSuffix(s, ":") && !strings.HasSuffix(s, " ")
}

// appendJSONLine appends a record as a line of JSON, newline included.
func appendJSONLine(b []byte, slug string, fields []pair, body string) []byte {
	all := append([]pair{{"slug", slug}}, fields...)
	if body != "" {
		all = append(all, pair{"body", body})
	}
	return append(appendJSONObject(b, all), '\n')
}

func appendJSONObject(b []byte, fields []pair) []byte {
	b = append(b, '{')
	for i, f := range fields {
		if i > 0 {
			b = append(b, ',')
		}
		b = wire.AppendJSON(b, f.name)
		b = append(b, ':')
		switch v := f.value.(type) {
		case [][]pair:
			b = append(b, '[')
			for j, item := range v {
				if j > 0 {
					b = append(b, ',')
				}
				b = appendJSONObject(b, item)
			}
			b = append(b, ']')
		case float64:
			b = appendFloat(b, v)
		default:
			b = wire.AppendJSON(b, v)
		}
	}
	return append(b, '}')
}
