package publication

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/catalogdb"
)

// maxLines is how many records a report names for each verb: the first publication of a
// hundred thousand tools must not bury the summary.
const maxLines = 50

// report returns what a publication changed, one line per record.
func (j *Job) report(next *catalog.Catalog, p catalogdb.Publication) string {
	r := newChangeReport()
	if p.Diff.Empty() {
		return fmt.Sprintf("nothing changed: version %d stands, %s\n%s", p.Version, Counts(next), dueNext(next))
	}
	r.published(&p.Diff, next.Comparisons)
	r.unpublished(&p.Diff, next)
	r.scheduled(&p.Diff)
	if p.Version > 1 {
		r.settings(&p.Diff)
	}
	verb := "published"
	if j.DryRun {
		verb = "would publish"
	}
	totals := strings.Join(r.totals(), ", ")
	if totals == "" {
		totals = "only the stored data of former tools changed"
	}
	fmt.Fprintf(&r.out, "%s version %d: %s; now %s\n%s", verb, p.Version, totals, Counts(next), dueNext(next))
	return r.out.String()
}

// dueNext says what happens by itself next.
func dueNext(c *catalog.Catalog) string {
	for _, p := range c.Planned() {
		if p.Problem == "" {
			return fmt.Sprintf("due next: %s (%s), on %s\n", p.Name, p.What, p.Due)
		}
	}
	return ""
}

// scheduled lists what was scheduled and what was cancelled.
func (r *changeReport) scheduled(d *catalog.Diff) {
	for _, name := range slices.Concat(d.Scheduled.Added, d.Scheduled.Changed) {
		r.line("scheduled", name, "")
	}
	for _, name := range d.Scheduled.Removed {
		r.line("cancelled", name, "")
	}
}

// WriteChanges writes what a version changed, as far as it is known, one line per record.
func WriteChanges(w io.Writer, d *catalog.Diff) error {
	r := newChangeReport()
	r.most = math.MaxInt
	r.published(d, nil)
	r.unpublished(d, nil)
	r.scheduled(d)
	r.settings(d)
	r.totals()
	_, err := io.WriteString(w, r.out.String())
	return err
}

// A changeReport lists changes and counts them by verb.
type changeReport struct {
	out      strings.Builder
	most     int             // lines per verb
	lines    map[string]int  // by verb, also those that are not listed
	reported map[string]bool // records
}

func newChangeReport() *changeReport {
	return &changeReport{most: maxLines, lines: map[string]int{}, reported: map[string]bool{}}
}

func (r *changeReport) line(verb, record, remark string) {
	r.reported[record] = true
	if r.lines[verb]++; r.lines[verb] <= r.most {
		fmt.Fprintf(&r.out, "%-9s %s%s\n", verb, record, remark)
	}
}

// published lists the changes that are events. comparisons are those of the new catalogue,
// if they are known.
func (r *changeReport) published(d *catalog.Diff, comparisons []catalog.Comparison) {
	for i := range d.Changes {
		change := &d.Changes[i]
		of, isListed := listed[change.Type]
		switch {
		case !isListed:
		case change.Type == catalog.ComparisonUpdated:
			var detail map[string]any
			isChanged := func(x catalog.Comparison) bool { return x.Slug == change.Slug }
			if i := slices.IndexFunc(comparisons, isChanged); i >= 0 {
				x := &comparisons[i]
				detail = map[string]any{"tool_a": x.ToolA, "tool_b": x.ToolB, "winner_note": x.WinnerNote}
			}
			r.changed(d, of.folder, change, detail)
		case len(change.Changed) > 0: // of an obituary as well
			r.changed(d, of.folder, change, nil)
		default:
			r.line(of.verb, of.folder+change.Slug, "")
		}
	}
}

// listed are the changes that a report lists as events.
var listed = map[string]struct{ verb, folder string }{
	catalog.ToolCreated:           {"added", "outils/"},
	catalog.ToolUpdated:           {"changed", "outils/"},
	catalog.ToolRestored:          {"restored", "outils/"},
	catalog.ToolRetired:           {"retired", "cimetiere/"},
	catalog.ToolRemoved:           {"removed", ""},
	catalog.ComparisonPublished:   {"added", "comparatifs/"},
	catalog.ComparisonUpdated:     {"changed", "comparatifs/"},
	catalog.ComparisonUnpublished: {"removed", "comparatifs/"},
}

// changed lists the changed fields of a record, old → new, without the histories, which
// grow with the fields that they are about. detail has fields that the object of the change
// lacks; of those that neither has, only the old value is known.
func (r *changeReport) changed(d *catalog.Diff, folder string, change *catalog.Change, detail map[string]any) {
	now := map[string]any{}
	if change.Object != nil {
		maps.Copy(now, change.Object.Values())
	}
	maps.Copy(now, detail)
	old := maps.Clone(now)
	maps.Copy(old, change.Previous)
	fields := change.Changed
	if writtenPrice(old) != writtenPrice(now) && !slices.Contains(fields, "price") { // gratuit, and now sur devis
		fields = append(slices.Clone(fields), "price")
	}
	var list []string
	for _, field := range fields {
		if _, known := now[field]; !known {
			list = append(list, field+" (was "+excerpt(fieldValue(change.Previous[field]), 0)+")")
			continue
		}
		was, is := old[field], now[field]
		if field == "price" {
			was, is = writtenPrice(old), writtenPrice(now)
		}
		list = append(list, field+" "+changeText(was, is))
	}
	record := folder + change.Slug
	for _, p := range d.Parts[record] {
		if p.Field != "price_history" && p.Field != "score_history" {
			list = append(list, partText(p))
		}
	}
	r.line("changed", record, remark(list))
}

func writtenPrice(of map[string]any) string {
	return catalog.WrittenPrice(catalog.Pricing(fmt.Sprint(of["pricing"])), fmt.Sprint(of["price"]))
}

func remark(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return ": " + strings.Join(list, ", ")
}

// partsRemark lists the parts of a record that no event reports.
func partsRemark(d *catalog.Diff, record string) string {
	var list []string
	for _, p := range d.Parts[record] {
		list = append(list, partText(p))
	}
	return remark(list)
}

func partText(p catalog.Part) string {
	if p.Old == "" && p.New == "" {
		return p.Field
	}
	return p.Field + " " + changeText(p.Old, p.New)
}

// changeText returns two values of a field in a few words each, among them those that differ.
func changeText(from, to any) string {
	was, is := fieldValue(from), fieldValue(to)
	same := 0
	for i, r := range was {
		if !strings.HasPrefix(is[min(i, len(is)):], string(r)) {
			break
		}
		same++
	}
	return excerpt(was, same) + " → " + excerpt(is, same)
}

// excerpt returns about forty characters of a text, the one at a place among them.
func excerpt(text string, place int) string {
	const most, before = 40, 15
	all := []rune(text)
	start := 0
	if place >= most {
		start = max(0, min(place-before, len(all)-most))
	}
	text = string(all[start:min(len(all), start+most)])
	if start > 0 {
		text = "…" + text
	}
	if start+most < len(all) {
		text += "…"
	}
	return text
}

// fieldValue returns a value of a field on one line.
func fieldValue(v any) string {
	switch v := v.(type) {
	case nil:
		return "nothing"
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case *float64:
		if v == nil {
			return "nothing"
		}
		return fieldValue(*v)
	}
	return cmp.Or(strings.Join(strings.Fields(fmt.Sprint(v)), " "), "nothing")
}

// settings lists the changes outside records.
func (r *changeReport) settings(d *catalog.Diff) {
	if d.Metadata {
		r.line("changed", catalog.SettingsFile, partsRemark(d, catalog.SettingsFile))
	}
	if d.Pictures {
		r.line("changed", "images/", "")
	}
	if d.Proofs {
		r.line("changed", catalog.ProofFile, "")
	}
}

// unpublished lists the changes that are no event because lists do not show them. next
// is nil if it is not known.
func (r *changeReport) unpublished(d *catalog.Diff, next *catalog.Catalog) {
	drafts := map[string]bool{}
	if next != nil {
		for i := range next.Comparisons {
			if x := &next.Comparisons[i]; !x.Published {
				drafts[x.Slug] = true
			}
		}
	}
	isPublic := func(slug string) bool { return !drafts[slug] }
	for _, c := range []struct {
		verb, folder, remark string
		slugs                []string
	}{
		{"changed", "outils/", "", d.Tools.Changed},
		{"added", "comparatifs/", " (draft)", d.Comparisons.Added},
		{"changed", "comparatifs/", " (draft)", slices.DeleteFunc(slices.Clone(d.Comparisons.Changed), isPublic)},
		{"changed", "comparatifs/", "", d.Comparisons.Changed},
		{"removed", "comparatifs/", " (draft)", d.Comparisons.Removed},
		{"changed", "cimetiere/", "", d.Retired.Changed},
		{"added", "pages/", "", d.Pages.Added},
		{"changed", "pages/", "", d.Pages.Changed},
		{"removed", "pages/", "", d.Pages.Removed},
		{"added", "articles/", "", d.Articles.Added},
		{"changed", "articles/", "", d.Articles.Changed},
		{"removed", "articles/", "", d.Articles.Removed},
		{"added", "auteurs/", "", d.Authors.Added},
		{"changed", "auteurs/", "", d.Authors.Changed},
		{"removed", "auteurs/", "", d.Authors.Removed},
	} {
		for _, slug := range c.slugs {
			if record := c.folder + slug; !r.reported[record] {
				r.line(c.verb, record, c.remark+partsRemark(d, record))
			}
		}
	}
}

// totals returns the number of changes by verb, and lists how many were left out.
func (r *changeReport) totals() []string {
	var list []string
	for _, verb := range []string{"added", "changed", "restored", "retired", "removed", "scheduled", "cancelled", "left"} {
		n := r.lines[verb]
		if n == 0 {
			continue
		}
		list = append(list, fmt.Sprintf("%d %s", n, verb))
		if n > r.most {
			fmt.Fprintf(&r.out, "%-9s … and %d more\n", verb, n-r.most)
		}
	}
	return list
}

// Counts returns how much a catalogue holds, in words.
func Counts(c *catalog.Catalog) string {
	all := []string{
		Plural(len(c.Tools), "tool"), Plural(len(c.Comparisons), "comparison"),
		Plural(len(c.Retired), "retired tool"), pluralAs(len(c.Categories), "category", "categories"),
	}
	for _, some := range []struct {
		n    int
		noun string
	}{{len(c.Pages), "page"}, {len(c.Articles), "article"}, {len(c.Authors), "author"}, {len(c.Pictures), "picture"}} {
		if some.n > 0 {
			all = append(all, Plural(some.n, some.noun))
		}
	}
	return strings.Join(all, ", ")
}

// Plural returns a number of things, in words.
func Plural(n int, noun string) string { return pluralAs(n, noun, noun+"s") }

func pluralAs(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
