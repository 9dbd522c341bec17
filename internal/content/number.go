package content

import (
	"slices"
	"strconv"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/content/tree"
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
func (d *decoder) plainNumber(at label, v *tree.Value, lowest, highest float64) (float64, bool) {
	if v.Kind == tree.Number && tree.IsNumber(v.Text) {
		x, err := strconv.ParseFloat(v.Text, 64)
		if err == nil && x >= lowest && x <= highest {
			return x + 0, true // -0 is 0
		}
	}
	d.report(v.Line, "not-number-between", at, limit(lowest), limit(highest), v.Bare(), withPoint(v, lowest, highest))
	return 0, false
}

// limit returns an end of a range for a message.
func limit(x float64) string {
	return strings.Replace(strconv.FormatFloat(x, 'f', -1, 64), "1000000000", "1 000 000 000", 1)
}

// withPoint returns a hint for a number that is right apart from its comma or quotes.
func withPoint(v *tree.Value, lowest, highest float64) problem.Text {
	point := strings.Replace(v.Text, ",", ".", 1)
	x, err := strconv.ParseFloat(point, 64)
	if v.Kind == tree.Text && tree.IsNumber(point) && err == nil && x >= lowest && x <= highest {
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
	if v.Kind != tree.Mapping {
		d.report(v.Line, "not-values", d.label(f.Name), v.Describe())
		return nil
	}
	if len(v.Fields) > maxCriteria {
		d.report(v.Line, "too-many-criteria", d.label(f.Name), len(v.Fields), maxCriteria)
		return nil
	}
	for i := range v.Fields {
		given := &v.Fields[i]
		at := label{name: given.Name, within: problem.New("in", d.label(f.Name))}
		switch {
		case !catalog.IsSlug(given.Name):
			d.report(given.Line, "not-a-criterion-slug", tree.Quoted(given.Name), slugs.want)
		case given.Value.IsEmpty():
		case given.Value.Kind == tree.Text && f.Form == catalog.Marks && withPoint(&given.Value, -maxNumber, maxNumber).Code == "":
			d.report(given.Line, "not-number-or-flag", at, given.Value.Describe())
		case given.Value.Kind == tree.Bool && f.Form == catalog.Marks:
			flag := catalog.Value{Name: given.Name, IsFlag: true}
			if given.Value.Text == "true" {
				flag.Number = 1
			}
			all = append(all, flag)
		default:
			lowest, highest := float64(-maxNumber), float64(maxNumber)
			if f.Form == catalog.Weights {
				lowest, highest = 0, catalog.MaxWeight
			}
			if x, ok := d.plainNumber(at, &given.Value, lowest, highest); ok {
				all = append(all, catalog.Value{Name: given.Name, Number: x})
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
	if v.Kind == tree.Number && (v.Text == "1" || v.Text == "2" || v.Text == "3") {
		return int(v.Text[0] - '0')
	}
	d.report(v.Line, "not-tier", f.Name, v.Bare())
	return lowest
}

func (d *decoder) boolean(f *catalog.Field) bool {
	isTrue := f.Form == catalog.Published
	v := d.field(f.Name, false)
	if v == nil {
		return isTrue
	}
	if v.Kind != tree.Bool {
		d.report(v.Line, "not-flag", d.label(f.Name), v.Describe())
		return isTrue
	}
	return v.Text == "true"
}
