package content

import "palmares/internal/catalog"

// The limits of what fields hold.

// listedTwice has the code of what is wrong with an item of a list that has it already.
var listedTwice = map[catalog.Form]string{
	catalog.UsageSlugs: "usage-twice",
	catalog.ToolSlugs:  "tool-twice",
	catalog.Slugs:      "alias-twice",
}

// mostItems are how many items a list may have. maxUsages and maxCriteria are those of a category.
var mostItems = map[catalog.Form]int{catalog.Lines: maxLines, catalog.UsageSlugs: maxUsages, catalog.ToolSlugs: maxTools}

const (
	maxLines    = 8
	maxUsages   = 6
	maxTools    = 100
	maxCriteria = 12
	maxProfiles = 3
)

// longest are the lengths of the texts of a form, in characters.
var longest = map[catalog.Form]int{
	catalog.OwnSlug: catalog.MaxSlug, catalog.ToolSlug: catalog.MaxSlug, catalog.InCategory: catalog.MaxSlug,
	catalog.PageSlug: catalog.MaxSlug, catalog.UsageSlugs: catalog.MaxSlug, catalog.Marks: catalog.MaxSlug,
	catalog.Weights: catalog.MaxSlug, catalog.Slugs: catalog.MaxSlug, catalog.ToolSlugs: catalog.MaxSlug, catalog.Domain: 253, catalog.Image: maxImagePath,
	catalog.Line: 500, catalog.Name: 120, catalog.Names: 120, catalog.Short: 80, catalog.Quote: catalog.MaxQuote,
	catalog.Summary: 300, catalog.Lines: 300,
}
