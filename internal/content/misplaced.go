package content

import (
	"slices"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/problem"
)

// isMisplaced reports whether a record has the fields of another kind, as one that was moved from
// its folder has. One problem then says what to keep, to delete and to add, instead of one for
// each field.
func (d *decoder) isMisplaced(k *catalog.Kind) bool {
	has := func(fields []catalog.Field, name string) bool {
		return slices.ContainsFunc(fields, func(f catalog.Field) bool { return f.Name == name })
	}
	own := lineFields(k)
	var keep, remove []string
	var add []problem.Text
	for _, f := range d.Fields {
		if has(own, f.Name) {
			keep = append(keep, f.Name)
		} else {
			remove = append(remove, f.Name)
		}
	}
	isOther := func(k *catalog.Kind) bool {
		n := 0
		for _, name := range remove {
			if has(lineFields(k), name) {
				n++
			}
		}
		return n > 1 // one may be a mistake
	}
	other := slices.IndexFunc(catalog.WrittenKinds, isOther)
	if other < 0 {
		return false
	}
	for _, f := range own {
		if f.Use.Has(catalog.Required) && f.Form != catalog.OwnSlug && !d.isGiven(f.Name) {
			what := problem.Words(f.Name)
			if f.Form == catalog.Date {
				what = problem.New("day-field", f.Name)
			} else if len(f.Values) > 0 {
				what = problem.Words(f.Name + " (" + strings.Join(f.Values, ", ") + ")")
			}
			add = append(add, what)
		}
	}
	var advice []problem.Text
	if len(keep) > 0 {
		advice = append(advice, problem.New("keep-fields", strings.Join(keep, ", ")))
	}
	advice = append(advice, problem.New("delete-fields", strings.Join(remove, ", ")))
	if len(add) > 0 {
		advice = append(advice, problem.New("add-fields", problem.Join(", ", add...)))
	}
	if k.Folder == "cimetiere" {
		advice = append(advice, problem.New("add-why"))
	}
	d.report(d.line, "misplaced", catalog.WrittenKinds[other].Folder, d.file, problem.Join("", advice...))
	return true
}
