package publication

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/catalogdb"
)

// maxLines is how many records a report names for each verb: the first publication of a
// hundred thousand tools must not bury the summary.
const maxLines = 50

// report returns what a publication changed, one line per record.
func (j *Job) report(next *catalog.Catalog, p catalogdb.Publication) string {
	if p.Diff.Empty() {
		return fmt.Sprintf("nothing changed: version %d stands, %s\n%s", p.Version, Counts(next), dueNext(next))
	}
	if p.Version == 1 { // nobody asks whether the settings are new
		p.Diff.Metadata, p.Diff.Pictures, p.Diff.Proofs = false, false, false
	}
	r := newChangeReport(&p.Diff)
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

// A RecordChange is what a publication did to a record.
type RecordChange struct {
	Record  string         `json:"record"` // its file without suffix
	Change  string         `json:"change"` // added, changed, restored, retired, removed, scheduled or cancelled
	IsDraft bool           `json:"draft,omitempty"`
	Parts   []catalog.Part `json:"parts,omitempty"`
}

// Records lists what a publication did to records, by kind, and to other files.
func Records(d *catalog.Diff) (list []RecordChange) {
	add := func(change, folder string, slugs ...string) {
		for _, slug := range slugs {
			isDraft := folder == catalog.ComparisonKind.Folder+"/" && slices.Contains(d.Drafts, slug)
			list = append(list, RecordChange{folder + slug, change, isDraft, withoutGrown(d.Parts[folder+slug])})
		}
	}
	tools, retired := d.Of(catalog.ToolKind), d.Of(catalog.RetiredKind)
	isTold := map[string]bool{} // the slugs that tools had, if another line tells what became of them
	for _, slug := range retired.Added {
		isTold[slug] = true
	}
	for _, slug := range tools.Added {
		change, parts := "added", d.Parts["outils/"+slug]
		switch {
		case len(parts) > 0:
			change = "changed"
			isTold[parts[0].Old] = true
		case slices.Contains(retired.Removed, slug):
			change = "restored"
			isTold[slug] = true
		}
		add(change, "outils/", slug)
	}
	untold := func(slugs []string) []string {
		return slices.DeleteFunc(slices.Clone(slugs), func(slug string) bool { return isTold[slug] })
	}
	add("changed", "outils/", tools.Changed...)
	add("removed", "outils/", untold(tools.Removed)...)
	add("retired", "cimetiere/", retired.Added...)
	add("changed", "cimetiere/", retired.Changed...)
	add("removed", "cimetiere/", untold(retired.Removed)...)
	for _, kind := range catalog.WrittenKinds {
		if kind != catalog.ToolKind && kind != catalog.RetiredKind {
			r := d.Of(kind)
			add("added", kind.Folder+"/", r.Added...)
			add("changed", kind.Folder+"/", r.Changed...)
			add("removed", kind.Folder+"/", r.Removed...)
		}
	}
	add("scheduled", "", slices.Concat(d.Scheduled.Added, d.Scheduled.Changed)...)
	add("cancelled", "", d.Scheduled.Removed...)
	if d.Metadata {
		add("changed", "", catalog.SettingsFile)
	}
	if d.Pictures {
		add("changed", "", "images/")
	}
	if d.Proofs {
		add("changed", "", catalog.ProofFile)
	}
	return list
}

// withoutGrown returns the parts of a record without the histories that only grew with what they are about.
func withoutGrown(parts []catalog.Part) []catalog.Part {
	return slices.DeleteFunc(slices.Clone(parts), func(p catalog.Part) bool {
		of, isHistory := strings.CutSuffix(p.Field, "_history")
		return isHistory && slices.ContainsFunc(parts, func(other catalog.Part) bool { return other.Field == of })
	})
}

// remark lists the changed fields of a record, old → new.
func (c *RecordChange) remark() string {
	var list []string
	for _, p := range c.Parts {
		if p.Old != "" || p.New != "" {
			p.Field += " " + cmp.Or(p.Old, "nothing") + " → " + cmp.Or(p.New, "nothing")
		}
		list = append(list, p.Field)
	}
	text := strings.Join(list, ", ")
	if text != "" {
		text = ": " + text
	}
	if c.IsDraft {
		text = " (draft)" + text
	}
	return text
}

// A changeReport lists changes and counts them by verb.
type changeReport struct {
	out   strings.Builder
	lines map[string]int // by verb, also those that are not listed
}

func newChangeReport(d *catalog.Diff) *changeReport {
	r := &changeReport{lines: map[string]int{}}
	for _, c := range Records(d) {
		r.line(c.Change, c.Record, c.remark())
	}
	return r
}

func (r *changeReport) line(verb, record, remark string) {
	if r.lines[verb]++; r.lines[verb] <= maxLines {
		fmt.Fprint(&r.out, recordLine(verb, record, remark))
	}
}

func recordLine(verb, record, remark string) string {
	return fmt.Sprintf("%-9s %s%s\n", verb, record, remark)
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
		if n > maxLines {
			fmt.Fprintf(&r.out, "%-9s … and %d more\n", verb, n-maxLines)
		}
	}
	return list
}

// Counts returns how much a catalogue holds, in words.
func Counts(c *catalog.Catalog) string {
	var all []string
	for _, kind := range catalog.WrittenKinds {
		if n := kind.Len(c); n > 0 || kind.Fields[0].Use.Has(catalog.InAPI) {
			all = append(all, Plural(n, kind.Noun))
		}
		if kind == catalog.RetiredKind {
			all = append(all, pluralAs(len(c.Categories), "category", "categories"))
		}
	}
	if n := len(c.Pictures); n > 0 {
		all = append(all, Plural(n, "picture"))
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
