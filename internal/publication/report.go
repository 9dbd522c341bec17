package publication

import (
	"slices"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/catalogdb"
	"palmares/internal/problem"
)

// maxLines is how many records a report names for each verb: the first publication of a
// hundred thousand tools must not bury the summary.
const maxLines = 50

// report returns what a publication changed, one line per record.
func (j *Job) report(next *catalog.Catalog, p catalogdb.Publication) []problem.Text {
	if p.Diff.Empty() {
		return append([]problem.Text{problem.New("stands", p.Version, Counts(next))}, dueNext(next)...)
	}
	if p.Version == 1 { // nobody asks whether the settings are new
		p.Diff.Metadata, p.Diff.Pictures, p.Diff.Proofs = false, false, false
	}
	r := newChangeReport(&p.Diff)
	code := "published"
	if j.DryRun {
		code = "would-publish"
	}
	totals := r.totals()
	if totals.English == "" {
		totals = problem.New("only-stored-data")
	}
	return append(append(r.lines, problem.New(code, p.Version, totals, Counts(next))), dueNext(next)...)
}

// dueNext says what happens by itself next.
func dueNext(c *catalog.Catalog) []problem.Text {
	for _, p := range c.Planned() {
		if p.Problem != "" {
			continue
		}
		what := problem.Named("due-", p.What)
		if price, isPrice := strings.CutPrefix(p.What, "price "); isPrice {
			what = problem.New("due-price", price)
		}
		return []problem.Text{problem.New("due-next", p.Name, what, p.Due)}
	}
	return nil
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

// line says what became of a record, with its changed fields, old → new.
func (c *RecordChange) line() problem.Text {
	var list []problem.Text
	for _, p := range c.Parts {
		part := problem.Words(p.Field)
		if p.Old != "" || p.New != "" {
			part = problem.Join(" ", part, orNothing(p.Old), problem.Words("→"), orNothing(p.New))
		}
		list = append(list, part)
	}
	var remark problem.Text
	if c.IsDraft {
		remark = problem.New("is-draft-remark")
	}
	if len(list) > 0 {
		remark = problem.Join(": ", remark, problem.Join(", ", list...))
	}
	return problem.New("line-"+c.Change, c.Record, remark)
}

func orNothing(value string) problem.Text {
	if value == "" {
		return problem.New("nothing")
	}
	return problem.Words(value)
}

// A changeReport lists changes and counts them by verb.
type changeReport struct {
	lines  []problem.Text
	counts map[string]int // by verb, also of those that are not listed
}

func newChangeReport(d *catalog.Diff) *changeReport {
	r := &changeReport{counts: map[string]int{}}
	for _, c := range Records(d) {
		r.add(c.Change, c.line())
	}
	return r
}

func (r *changeReport) add(verb string, line problem.Text) {
	if r.counts[verb]++; r.counts[verb] <= maxLines {
		r.lines = append(r.lines, line)
	}
}

// totals returns the number of changes by verb, and lists how many were left out.
func (r *changeReport) totals() problem.Text {
	var list []problem.Text
	for _, verb := range []string{"added", "changed", "restored", "retired", "removed", "scheduled", "cancelled", "left"} {
		n := r.counts[verb]
		if n == 0 {
			continue
		}
		list = append(list, problem.New("total-"+verb, n))
		if n > maxLines {
			r.lines = append(r.lines, problem.New("line-"+verb, problem.New("and-n-more", n-maxLines), ""))
		}
	}
	return problem.Join(", ", list...)
}

// Counts returns how much a catalogue holds, in words.
func Counts(c *catalog.Catalog) problem.Text {
	var all []problem.Text
	for _, kind := range catalog.WrittenKinds {
		if n := kind.Len(c); n > 0 || kind.Fields[0].Use.Has(catalog.InAPI) {
			all = append(all, problem.New("count-"+kind.Folder, n))
		}
		if kind == catalog.RetiredKind {
			all = append(all, problem.New("categories", len(c.Categories)))
		}
	}
	if n := len(c.Pictures); n > 0 {
		all = append(all, problem.New("pictures", n))
	}
	return problem.Join(", ", all...)
}
