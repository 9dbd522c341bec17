package content

import (
	"slices"
	"strings"

	"palmares/internal/catalog"
)

// isMisplaced reports whether a record has the fields of another kind, as one that was moved from
// its folder has. One problem then says what to keep, to delete and to add, instead of one for
// each field.
func (d *decoder) isMisplaced(k *catalog.Kind) bool {
	has := func(fields []catalog.Field, name string) bool {
		return slices.ContainsFunc(fields, func(f catalog.Field) bool { return f.Name == name })
	}
	own := lineFields(k)
	var keep, remove, add []string
	for _, f := range d.fields {
		if has(own, f.name) {
			keep = append(keep, f.name)
		} else {
			remove = append(remove, f.name)
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
			what := f.Name
			if f.Form == catalog.Date {
				what += " (YYYY-MM-DD)"
			} else if len(f.Values) > 0 {
				what += " (" + strings.Join(f.Values, ", ") + ")"
			}
			add = append(add, what)
		}
	}
	advice := "delete " + strings.Join(remove, ", ")
	if len(keep) > 0 {
		advice = "keep " + strings.Join(keep, ", ") + ", " + advice
	}
	if len(add) > 0 {
		advice += ", add " + strings.Join(add, ", ")
	}
	if k.Folder == "cimetiere" {
		advice += ", and say below them why the tool was retired, instead of the review"
	}
	d.report(d.line, "this has the fields of a record of %s/, and is in %s: %s", catalog.WrittenKinds[other].Folder, d.file, advice)
	return true
}
