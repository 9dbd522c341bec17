package openapi

import "palmares/internal/snapshot"

// first is the page of a list that holds its first item only.
var first = snapshot.Paging{Number: 1, Limit: 1}

// Examples returns values of parameters that find something in a catalogue, by the names
// of the parameters in the components of the documents. The value of a parameter for which
// there is no record is "".
func Examples(snap *snapshot.Snapshot) map[string]string {
	c := snap.Catalog
	values := map[string]string{
		"CategoryParam": "", "ToolSlugParam": "", "SlugsParam": "", "AlternativesToParam": "", "UsageParam": "", "EmbeddingsSlugParam": snap.EmbeddingsSlug,
		"CategoryOfEitherParam": "", "ComparatifSlugParam": "", "ReasonParam": "", "CategoryOfRetiredParam": "",
	}
	for _, i := range snap.Tools(snapshot.ToolQuery{}, first).IDs() {
		t := c.Tools[i]
		values["CategoryParam"], values["ToolSlugParam"], values["SlugsParam"] = t.Category, t.Slug, t.Slug
		values["AlternativesToParam"] = t.Slug
	}
	for _, i := range snap.Comparisons("", first).IDs() {
		x := snap.Published[i]
		values["CategoryOfEitherParam"], values["ComparatifSlugParam"] = c.Tool(x.ToolA).Category, x.Slug
	}
	for _, i := range snap.Retired("", "", first).IDs() {
		values["ReasonParam"], values["CategoryOfRetiredParam"] = string(c.Retired[i].Reason), c.Retired[i].Category
	}
	return values
}
