package assistant

import (
	"slices"

	"palmares/internal/catalog"
)

type comparedTool struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	URL  string `json:"url"`
	facts
	Plans []catalog.PlanRow `json:"plans,omitempty"`
}

type verdict struct {
	Title  string `json:"title"`
	URL    string `json:"url"`
	Winner string `json:"winner"`
	Note   string `json:"note"`
}

type compareResult struct {
	Tools    []comparedTool `json:"tools"`
	Verdicts []verdict      `json:"verdicts"`
	Credit   string         `json:"credit"`
}

// compareTools puts tools side by side.
func compareTools(c *call) (any, error) {
	var args struct {
		Tools []string `json:"tools"`
	}
	if err := c.read(&args); err != nil {
		return nil, err
	}
	if len(args.Tools) < 2 || len(args.Tools) > 5 {
		return nil, refuse("tools doit avoir de deux à cinq id.")
	}
	result := compareResult{Tools: []comparedTool{}, Verdicts: []verdict{}, Credit: c.credit()}
	var slugs []string
	for _, id := range args.Tools {
		t, err := c.tool(id)
		if err != nil {
			return nil, err
		}
		if slices.Contains(slugs, t.Slug) {
			return nil, refuse("tools a deux fois «\u00a0" + t.Slug + "\u00a0»\u00a0: donnez des outils différents.")
		}
		slugs = append(slugs, t.Slug)
		result.Tools = append(result.Tools, comparedTool{ID: t.Slug, Name: t.Name, URL: c.snap.Catalog.CanonicalURLOf(t), facts: c.facts(t), Plans: t.Plans})
	}
	room := newRoom(result)
	for i := range c.snap.Catalog.Comparisons {
		x := &c.snap.Catalog.Comparisons[i]
		if !x.Published || !slices.Contains(slugs, x.ToolA) || !slices.Contains(slugs, x.ToolB) {
			continue
		}
		v := verdict{Title: x.Title, URL: c.snap.Catalog.ComparisonURLOf(x.Slug), Winner: x.Winner, Note: x.WinnerNote}
		if room.takes(v) {
			result.Verdicts = append(result.Verdicts, v)
		}
	}
	return result, nil
}
