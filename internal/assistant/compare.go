package assistant

import (
	"slices"
	"strings"

	"palmares/internal/catalog"
)

type comparedTool struct {
	ID     string            `json:"id"`
	Name   string            `json:"name"`
	URL    string            `json:"url"`
	*facts                   // nil where a response goes on
	*test                    // of the response that has room for it
	Plans  []catalog.PlanRow `json:"plans,omitempty"`
}

type verdict struct {
	Title  string `json:"title"`
	URL    string `json:"url"`
	Winner string `json:"winner"`
	Note   string `json:"note"`
}

type compareResult struct {
	Tools    []comparedTool `json:"tools"`
	Warning  string         `json:"warning,omitempty"`
	Verdicts []verdict      `json:"verdicts"`
	Unknown  []unknown      `json:"unknown,omitempty"`
	Next     *int           `json:"next"` // how many verdicts, tests and plans were given
	Credit   string         `json:"credit"`
}

// compareTools puts tools side by side: what is known of each, the verdicts, what the tests found,
// then the plans.
func compareTools(c *call) (any, error) {
	var args struct {
		Tools []string `json:"tools"`
		Next  int      `json:"next"`
	}
	if err := c.read(&args); err != nil {
		return nil, err
	}
	result := compareResult{Tools: []comparedTool{}, Verdicts: []verdict{}, Credit: c.credit()}
	compared, missing, err := c.tools(args.Tools)
	switch {
	case len(compared) < 2 && err != nil:
		return nil, err
	case len(compared)+len(missing) < len(args.Tools):
		return nil, refuse("tools a deux fois le même outil\u00a0: donnez des outils différents.")
	}
	result.Unknown = missing
	for _, t := range compared {
		row := comparedTool{ID: t.Slug, Name: nameOf(t), URL: c.snap.Catalog.CanonicalURLOf(t)}
		if args.Next == 0 {
			row.facts = c.facts(t)
			row.Freshness, _, _ = strings.Cut(row.Freshness, " sur ") // there is not room for everything
			row.Announced = row.Announced[:min(1, len(row.Announced))]
		}
		result.Tools = append(result.Tools, row)
		if t.Category != compared[0].Category {
			result.Warning = "Notes de bancs d’essai différents\u00a0: chaque catégorie a le sien, et elles ne se comparent pas."
		}
	}
	result.fill(c.verdicts(compared), compared, args.Next)
	return result, nil
}

// fill adds as many verdicts, tests and plans as there is room for, after those that earlier
// responses gave.
func (r *compareResult) fill(verdicts []verdict, compared []*catalog.Tool, given int) {
	room, n := newRoom(r), 0
	// takes reports whether to go on.
	takes := func(item any, add func()) bool {
		if n >= given {
			if !room.takes(item) {
				r.Next = &n
				return false
			}
			add()
		}
		n++
		return true
	}
	for _, v := range verdicts {
		if !takes(v, func() { r.Verdicts = append(r.Verdicts, v) }) {
			return
		}
	}
	for i, t := range compared {
		found := testOf(t)
		if found != nil && !takes(found, func() { r.Tools[i].test = found }) {
			return
		}
	}
	for i, t := range compared {
		plans := &r.Tools[i].Plans
		for _, p := range t.Plans {
			p.Name, p.Note = clip(p.Name, 120), clip(p.Note, 300)
			if !takes(p, func() { *plans = append(*plans, p) }) {
				return
			}
		}
	}
}

// verdicts returns those of the editors on two of the tools.
func (c *call) verdicts(compared []*catalog.Tool) (found []verdict) {
	has := func(slug string) bool {
		return slices.ContainsFunc(compared, func(t *catalog.Tool) bool { return t.Slug == slug })
	}
	for i := range c.snap.Catalog.Comparisons {
		if x := &c.snap.Catalog.Comparisons[i]; x.Published && has(x.ToolA) && has(x.ToolB) {
			found = append(found, verdict{
				Title: clip(x.Title, 200), URL: c.snap.Catalog.ComparisonURLOf(x.Slug),
				Winner: x.Winner, Note: clip(x.WinnerNote, 600),
			})
		}
	}
	return found
}
