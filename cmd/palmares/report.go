package main

import (
	"bufio"
	"fmt"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/store"
)

// report says what a publication changed, a line a record. Of very many it
// names the first and counts the rest: a first publication of a hundred
// thousand tools must not drown its own last line.
func (c *publishCommand) report(inv *invocation, next *catalog.Catalog, p store.Publication) error {
	out := bufio.NewWriter(inv.stdout)
	d := &p.Diff
	if d.Empty() {
		fmt.Fprintf(out, "nothing changed: version %d stands, %s\n", p.Version, counts(next))
		return out.Flush()
	}

	const most = 50
	shown := map[string]int{}
	told := map[string]bool{}
	line := func(verb, what, remark string) {
		told[what] = true
		if shown[verb]++; shown[verb] <= most {
			fmt.Fprintf(out, "%-9s %s%s\n", verb, what, remark)
		}
	}
	for _, change := range d.Changes {
		fields := ""
		if len(change.Changed) > 0 {
			fields = ": " + strings.Join(change.Changed, ", ")
		}
		switch change.Type {
		case catalog.ToolCreated:
			line("added", "outils/"+change.Slug, "")
		case catalog.ToolRestored:
			line("restored", "outils/"+change.Slug, "")
		case catalog.ToolRetired:
			line("retired", "cimetiere/"+change.Slug, fields)
		case catalog.ToolRemoved:
			line("removed", change.Slug, "")
		case catalog.ComparisonPublished:
			line("added", "comparatifs/"+change.Slug, "")
		case catalog.ComparisonUnpublished:
			line("removed", "comparatifs/"+change.Slug, "")
		case catalog.ToolUpdated:
			line("changed", "outils/"+change.Slug, fields)
		case catalog.ComparisonUpdated:
			line("changed", "comparatifs/"+change.Slug, fields)
		}
	}
	// What the public does not see in the lists has no Change of its own.
	silent := func(verb, kind, remark string, slugs []string) {
		for _, slug := range slugs {
			if !told[kind+slug] {
				line(verb, kind+slug, remark)
			}
		}
	}
	silent("changed", "outils/", ": review or provenance", d.Tools.Changed)
	silent("added", "comparatifs/", " (draft)", d.Comparisons.Added)
	silent("changed", "comparatifs/", " (draft)", d.Comparisons.Changed)
	silent("removed", "comparatifs/", " (draft)", d.Comparisons.Removed)
	silent("changed", "cimetiere/", "", d.Retired.Changed)
	if d.Metadata && p.Version > 1 {
		line("changed", "catalogue.yaml", "")
	}
	var total []string
	for _, verb := range []string{"added", "changed", "restored", "retired", "removed"} {
		if n := shown[verb]; n > 0 {
			total = append(total, fmt.Sprintf("%d %s", n, verb))
			if n > most {
				fmt.Fprintf(out, "%-9s … and %d more\n", verb, n-most)
			}
		}
	}
	verb := "published"
	if c.DryRun {
		verb = "would publish"
	}
	fmt.Fprintf(out, "%s version %d: %s; now %s\n", verb, p.Version, strings.Join(total, ", "), counts(next))
	return out.Flush()
}
