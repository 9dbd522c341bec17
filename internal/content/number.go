package content

import (
	"slices"
	"strconv"
	"strings"

	"palmares/internal/catalog"
)

// maxNumber bounds numbers, which pages show and charts draw.
const maxNumber = 1_000_000_000

// maxDays bounds numbers of days.
const maxDays = 3650

// number returns the value of a field that is a number, or nil.
func (d *decoder) number(f *catalog.Field) *float64 {
	v := d.field(f.Name, false)
	if v == nil {
		return nil
	}
	lowest, highest := -float64(maxNumber), float64(maxNumber)
	if f.Form == catalog.Figure {
		lowest, highest = 0, 10
	} else if f.Form == catalog.Days {
		lowest, highest = 1, maxDays
	}
	x, ok := d.plainNumber(d.label(f.Name), v, lowest, highest)
	if !ok {
		return nil
	}
	return catalog.SharedFigure(x)
}

// plainNumber returns a number in a range, or reports what is wrong with it.
func (d *decoder) plainNumber(at label, v *value, lowest, highest float64) (float64, bool) {
	if v.kind == isNumber && isPlainNumber(v.text) {
		x, err := strconv.ParseFloat(v.text, 64)
		if err == nil && x >= lowest && x <= highest {
			return x + 0, true // -0 is 0
		}
	}
	d.report(v.line, "%s must be a number from %s to %s, not %s%s", at, limit(lowest), limit(highest),
		strings.TrimPrefix(v.describe(), "the number "), withPoint(v, lowest, highest))
	return 0, false
}

// limit returns an end of a range for a message.
func limit(x float64) string {
	return strings.Replace(strconv.FormatFloat(x, 'f', -1, 64), "1000000000", "1 000 000 000", 1)
}

// withPoint returns a hint for a number that is right apart from its comma or quotes.
func withPoint(v *value, lowest, highest float64) string {
	point := strings.Replace(v.text, ",", ".", 1)
	x, err := strconv.ParseFloat(point, 64)
	if v.kind == isText && isPlainNumber(point) && err == nil && x >= lowest && x <= highest {
		return "; write " + point
	}
	return ""
}

// values returns the values of a mapping, by the slugs of criteria. Whether there are such criteria,
// and what they allow, is checked once the category is known.
func (d *decoder) values(f *catalog.Field) (all catalog.Values) {
	v := d.field(f.Name, f.Use.Has(catalog.Required))
	if v == nil {
		return nil
	}
	if v.kind != isMapping {
		d.report(v.line, "%s must be a mapping of criteria to values, such as latence: 1.9, not %s",
			d.label(f.Name), v.describe())
		return nil
	}
	if len(v.fields) > maxCriteria {
		d.report(v.line, "%s has %d criteria; a category has at most %d", d.label(f.Name), len(v.fields), maxCriteria)
		return nil
	}
	for i := range v.fields {
		given := &v.fields[i]
		at := label{name: given.name, within: " in " + d.label(f.Name).String()}
		switch {
		case !catalog.IsSlug(given.name):
			d.report(given.line, "%s is not the slug of a criterion; it must be %s", quoted(given.name), slugs.want)
		case given.value.isEmpty():
		case given.value.kind == isText && f.Form == catalog.Marks && withPoint(&given.value, -maxNumber, maxNumber) == "":
			d.report(given.line, "%s must be a number, or true or false, not %s", at, given.value.describe())
		case given.value.kind == isBool && f.Form == catalog.Marks:
			flag := catalog.Value{Name: given.name, IsFlag: true}
			if given.value.text == "true" {
				flag.Number = 1
			}
			all = append(all, flag)
		default:
			lowest, highest := float64(-maxNumber), float64(maxNumber)
			if f.Form == catalog.Weights {
				lowest, highest = 0, catalog.MaxWeight
			}
			if x, ok := d.plainNumber(at, &given.value, lowest, highest); ok {
				all = append(all, catalog.Value{Name: given.name, Number: x})
			}
		}
	}
	slices.SortFunc(all, catalog.Value.Compare)
	return all
}

func (d *decoder) tier(f *catalog.Field) int {
	const lowest = 3
	v := d.field(f.Name, false)
	if v == nil {
		return lowest
	}
	if v.kind == isNumber && (v.text == "1" || v.text == "2" || v.text == "3") {
		return int(v.text[0] - '0')
	}
	d.report(v.line, "%s must be 1, 2 or 3, not %s", f.Name, strings.TrimPrefix(v.describe(), "the number "))
	return lowest
}

func (d *decoder) boolean(f *catalog.Field) bool {
	isTrue := f.Form == catalog.Published
	v := d.field(f.Name, false)
	if v == nil {
		return isTrue
	}
	if v.kind != isBool {
		d.report(v.line, "%s must be true or false, not %s", d.label(f.Name), v.describe())
		return isTrue
	}
	return v.text == "true"
}
