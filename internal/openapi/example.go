package openapi

import (
	"palmares/internal/snapshot"
	"palmares/internal/web"
)

// first is the page of a list that holds its first item only.
var first = snapshot.Paging{Number: 1, Limit: 1}

// Examples returns values of parameters that find something in a catalogue, by the names
// of the parameters in the components of the documents. A parameter for which there is no
// record is missing.
func Examples(snap *snapshot.Snapshot) map[string]string {
	c := snap.Catalog
	values := map[string]string{}
	for _, i := range snap.Tools(snapshot.ToolQuery{}, first).IDs() {
		t := &c.Tools[i]
		values["CategoryParam"], values["ToolSlugParam"], values["SlugsParam"] = t.Category, t.Slug, t.Slug
	}
	// The best tools nearly all have embeddings.
	for _, i := range snap.Tools(snapshot.ToolQuery{}, snapshot.Paging{Number: 1, Limit: web.MaxLimit}).IDs() {
		if _, ok := snap.Embeddings(c.Tools[i].Slug); ok {
			values["EmbeddingsSlugParam"] = c.Tools[i].Slug
			break
		}
	}
	for _, i := range snap.Comparisons("", first).IDs() {
		x := snap.Published()[i]
		values["CategoryOfEitherParam"], values["ComparatifSlugParam"] = c.Tool(x.ToolA).Category, x.Slug
	}
	for _, i := range snap.Retired("", "", first).IDs() {
		values["ReasonParam"] = string(c.Retired[i].Reason)
		if category := c.Retired[i].Category; category != "" {
			values["CategoryOfRetiredParam"] = category
		}
	}
	return values
}
