package assistant

import (
	"palmares/internal/catalog"
	"palmares/internal/snapshot"
)

// A describedCategory is a category with what its tests look at.
type describedCategory struct {
	ID       string      `json:"id"`
	Label    string      `json:"label"`
	URL      string      `json:"url"`
	Tools    int         `json:"tools"`
	Usages   []named     `json:"usages,omitempty"`
	Criteria []criterion `json:"criteria,omitempty"`
}

// A named is something with an id and a label.
type named struct {
	ID    string `json:"id"`
	Label string `json:"label"`
}

// A criterion says what its values mean: marks from 0 to 10, measures in a unit, or yes and no.
type criterion struct {
	named
	Kind   catalog.CriterionKind `json:"kind"`
	Unit   string                `json:"unit,omitempty"`
	Better catalog.Better        `json:"better,omitempty"`
	About  string                `json:"description,omitempty"`
}

type categoriesResult struct {
	Categories []describedCategory `json:"categories"`
	Next       *int                `json:"next"` // how many were given
	Credit     string              `json:"credit"`
}

// listCategories returns the categories by slug, or one of them.
func listCategories(c *call) (any, error) {
	var args struct {
		Category string `json:"category"`
		Next     int    `json:"next"`
	}
	if err := c.read(&args); err != nil {
		return nil, err
	}
	only, err := c.category(args.Category)
	if err != nil {
		return nil, err
	}
	result := categoriesResult{Categories: []describedCategory{}, Credit: c.credit()}
	room, all := newRoom(result), c.snap.Catalog.Categories
	for n := args.Next; n < len(all); n++ {
		if only != "" && all[n].Slug != only {
			continue
		}
		one := c.describeCategory(&all[n])
		if !room.takes(one) {
			result.Next = &n
			break
		}
		result.Categories = append(result.Categories, one)
	}
	return result, nil
}

func (c *call) describeCategory(from *catalog.Category) describedCategory {
	one := describedCategory{
		ID: from.Slug, Label: clip(from.Label, 120), URL: c.snap.Catalog.URL + "/categories/" + from.Slug,
		Tools: c.snap.Tools(snapshot.ToolQuery{Category: from.Slug}, snapshot.Paging{Number: 1, Limit: 1}).Total,
	}
	for _, u := range from.Usages {
		one.Usages = append(one.Usages, named{u.Slug, clip(u.Label, 120)})
	}
	for i := range from.Criteria {
		x := &from.Criteria[i]
		better := x.Better
		if x.Is() == catalog.KindMeasure && better == "" {
			better = catalog.BetterHigher
			if *x.Best < *x.Worst {
				better = catalog.BetterLower
			}
		}
		one.Criteria = append(one.Criteria, criterion{
			named{x.Slug, clip(x.Label, 120)}, x.Is(), clip(x.Unit, 60), better, clip(x.Description, 160),
		})
	}
	return one
}
