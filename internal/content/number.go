package content

import (
	"slices"
	"strconv"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/problem"
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
	d.report(v.line, "not-number-between", at, limit(lowest), limit(highest), v.bare(), withPoint(v, lowest, highest))
	return 0, false
}

// limit returns an end of a range for a message.
func limit(x float64) string {
	return strings.Replace(strconv.FormatFloat(x, 'f', -1, 64), "1000000000", "1 000 000 000", 1)
}

// withPoint returns a hint for a number that is right apart from its comma or quotes.
func withPoint(v *value, lowest, highest float64) problem.Text {
	point := strings.Replace(v.text, ",", ".", 1)
	x, err := strconv.ParseFloat(point, 64)
	if v.kind == isText && isPlainNumber(point) && err == nil && x >= lowest && x <= highest {
		return problem.New("hint-write", point)
	}
	return problem.Text{}
}

// values returns the values of a mapping, by the slugs of criteria. Whether there are such criteria,
// and what they allow, is checked once the category is known.
func (d *decoder) values(f *catalog.Field) (all catalog.Values) {
	v := d.field(f.Name, f.Use.Has(catalog.Required))
	if v == nil {
		return nil
	}
	if v.kind != isMapping {
		d.report(v.line, "not-values", d.label(f.Name), v.describe())
		return nil
	}
	if len(v.fields) > maxCriteria {
		d.report(v.line, "too-many-criteria", d.label(f.Name), len(v.fields), maxCriteria)
		return nil
	}
	for i := range v.fields {
		given := &v.fields[i]
		at := label{name: given.name, within: problem.New("in", d.label(f.Name))}
		switch {
		case !catalog.IsSlug(given.name):
			d.report(given.line, "not-a-criterion-slug", quoted(given.name), slugs.want)
		case given.value.isEmpty():
		case given.value.kind == isText && f.Form == catalog.Marks && withPoint(&given.value, -maxNumber, maxNumber).Code == "":
			d.report(given.line, "not-number-or-flag", at, given.value.describe())
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
	d.report(v.line, "not-tier", f.Name, v.bare())
	return lowest
}

func (d *decoder) boolean(f *catalog.Field) bool {
	isTrue := f.Form == catalog.Published
	v := d.field(f.Name, false)
	if v == nil {
		return isTrue
	}
	if v.kind != isBool {
		d.report(v.line, "not-flag", d.label(f.Name), v.describe())
		return isTrue
	}
	return v.text == "true"
}
