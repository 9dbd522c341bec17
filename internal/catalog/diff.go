package catalog

import (
	"maps"
	"slices"
)

// The types of Change, which are the types of the webhook events.
const (
	ToolCreated           = "tool.created"
	ToolUpdated           = "tool.updated"
	ToolRetired           = "tool.retired"
	ToolRestored          = "tool.restored"
	ToolRemoved           = "tool.removed"
	PricingUpdated        = "pricing.updated"
	ComparatifPublished   = "comparatif.published"
	ComparatifUpdated     = "comparatif.updated"
	ComparatifUnpublished = "comparatif.unpublished"
	EmbeddingsUpdated     = "embeddings.updated"
	CatalogUpdated        = "catalog.updated"
)

// ChangeTypes are all of them, in the order of the documents.
var ChangeTypes = []string{
	ToolCreated, ToolUpdated, ToolRetired, ToolRestored, ToolRemoved,
	PricingUpdated,
	ComparatifPublished, ComparatifUpdated, ComparatifUnpublished,
	EmbeddingsUpdated, CatalogUpdated,
}

// A Change is one thing that a publication changed for the public.
type Change struct {
	Type     string
	Slug     string         // "" for catalog.updated
	Changed  []string       // names of the changed fields of Object, in its order
	Previous map[string]any // their old values
	Object   any            // the item as the API shows it now; nil when it is gone
	URL      string         // where people read about it
}

// A Diff is what a publication does: to the public (Changes) and to the stored
// records. The two differ, since a draft or a review may change unseen by the lists.
type Diff struct {
	Changes []Change // ends with catalog.updated unless empty

	Catalogue   bool // the name, the URL or a category changed
	PastPrices  bool // a history was kept for a tool that left, or taken up again
	Tools       Records
	Comparisons Records
	Retired     Records
}

// Records tells which records of one kind must be written and which are gone.
type Records struct {
	Added   []string // slugs
	Changed []string
	Gone    []string
}

// Empty tells whether publishing would change nothing at all.
func (d *Diff) Empty() bool {
	return !d.Catalogue && !d.PastPrices && d.Tools.empty() && d.Comparisons.empty() && d.Retired.empty()
}

func (r *Records) empty() bool { return len(r.Added)+len(r.Changed)+len(r.Gone) == 0 }

// Removals lists the active tools of old that next neither has, nor retired, nor
// knows as a former slug: what a publication must not lose by accident.
func Removals(old, next *Catalog) []string {
	known := next.retiredBySlug()
	aliases := next.aliases()
	var gone []string
	for i := range old.Tools {
		slug := old.Tools[i].Slug
		if next.Tool(slug) == nil && known[slug] == nil && aliases[slug] == "" {
			gone = append(gone, slug)
		}
	}
	return gone
}

// Compare finds what next, settled after old, changes. sections cuts a review
// into its sections (package markdown does); it is asked only for reviews that differ.
func Compare(old, next *Catalog, sections func(body string) []Section) Diff {
	var d Diff
	d.Catalogue = old.Name != next.Name || old.URL != next.URL ||
		!slices.Equal(old.Categories, next.Categories)
	d.PastPrices = !maps.EqualFunc(old.PastPrices, next.PastPrices, slices.Equal[[]PriceChange])
	d.compareTools(old, next)
	d.compareRetired(old, next)
	d.compareComparisons(old, next)
	d.compareEmbeddings(old, next, sections)
	if d.Empty() {
		return Diff{}
	}
	counts := map[string]int{}
	for _, c := range d.Changes {
		counts[c.Type]++
	}
	d.Changes = append(d.Changes, Change{Type: CatalogUpdated, Object: counts, URL: next.URL})
	return d
}

func (d *Diff) compareTools(old, next *Catalog) {
	retired := old.retiredBySlug()
	for i := range next.Tools {
		t := &next.Tools[i]
		prior := old.prior(next, t)
		url := next.CanonicalURLOf(t)
		switch {
		case old.Tool(t.Slug) == nil:
			d.Tools.Added = append(d.Tools.Added, t.Slug)
		case !t.sameRecord(prior) || t.UpdatedAt != prior.UpdatedAt:
			d.Tools.Changed = append(d.Tools.Changed, t.Slug)
		}
		if prior == nil {
			kind := ToolCreated
			if retired[t.Slug] != nil {
				kind = ToolRestored
			}
			d.add(Change{Type: kind, Slug: t.Slug, Object: next.ToolItem(t), URL: url})
			continue
		}
		if same := old.URL == next.URL && t.sameRecord(prior) && t.UpdatedAt == prior.UpdatedAt; same {
			continue
		}
		item := next.ToolItem(t)
		if changed, previous := fieldsChanged(old.ToolItem(prior).fields(), item.fields()); len(changed) > 0 {
			d.add(Change{Type: ToolUpdated, Slug: t.Slug, Changed: changed, Previous: previous, Object: item, URL: url})
		}
		if prior.Pricing != t.Pricing || prior.Price != t.Price {
			changed, previous := fieldsChanged(prior.PriceItem().fields(), t.PriceItem().fields())
			d.add(Change{Type: PricingUpdated, Slug: t.Slug, Changed: changed, Previous: previous, Object: t.PriceItem(), URL: url})
		}
	}

	for i := range old.Tools {
		if slug := old.Tools[i].Slug; next.Tool(slug) == nil {
			d.Tools.Gone = append(d.Tools.Gone, slug)
		}
	}
	for _, slug := range Removals(old, next) {
		d.add(Change{Type: ToolRemoved, Slug: slug, URL: old.CanonicalURLOf(old.Tool(slug))})
	}
}

func (d *Diff) compareRetired(old, next *Catalog) {
	before, after := old.retiredBySlug(), next.retiredBySlug()
	url := next.URL + "/cimetiere"
	for i := range next.Retired {
		r := &next.Retired[i]
		prior := before[r.Slug]
		if prior == nil {
			d.Retired.Added = append(d.Retired.Added, r.Slug)
			d.add(Change{Type: ToolRetired, Slug: r.Slug, Object: r.Item(), URL: url})
			continue
		}
		if *prior == *r {
			continue
		}
		d.Retired.Changed = append(d.Retired.Changed, r.Slug)
		// An obituary that is rewritten has no type of its own: receivers keep what
		// they know of the tool by its slug, and this is it.
		if changed, previous := fieldsChanged(prior.Item().fields(), r.Item().fields()); len(changed) > 0 {
			d.add(Change{Type: ToolRetired, Slug: r.Slug, Changed: changed, Previous: previous, Object: r.Item(), URL: url})
		}
	}
	aliases := next.aliases()
	for i := range old.Retired {
		slug := old.Retired[i].Slug
		if after[slug] != nil {
			continue
		}
		d.Retired.Gone = append(d.Retired.Gone, slug)
		if next.Tool(slug) == nil && aliases[slug] == "" {
			d.add(Change{Type: ToolRemoved, Slug: slug, URL: url})
		}
	}
}

func (d *Diff) compareComparisons(old, next *Catalog) {
	for i := range next.Comparisons {
		x := &next.Comparisons[i]
		prior := old.comparison(x.Slug)
		if prior == nil {
			d.Comparisons.Added = append(d.Comparisons.Added, x.Slug)
		} else if *prior != *x {
			d.Comparisons.Changed = append(d.Comparisons.Changed, x.Slug)
		}
		wasPublic := prior != nil && prior.Published
		switch url := next.ComparisonURLOf(x.Slug); {
		case x.Published && !wasPublic:
			d.add(Change{Type: ComparatifPublished, Slug: x.Slug, Object: next.ComparisonItem(x), URL: url})
		case x.Published:
			changed, previous := fieldsChanged(old.comparisonFields(prior), next.comparisonFields(x))
			if len(changed) > 0 {
				d.add(Change{Type: ComparatifUpdated, Slug: x.Slug, Changed: changed, Previous: previous, Object: next.ComparisonItem(x), URL: url})
			}
		case wasPublic:
			d.add(Change{Type: ComparatifUnpublished, Slug: x.Slug, URL: url})
		}
	}
	for i := range old.Comparisons {
		x := &old.Comparisons[i]
		if next.comparison(x.Slug) != nil {
			continue
		}
		d.Comparisons.Gone = append(d.Comparisons.Gone, x.Slug)
		if x.Published {
			d.add(Change{Type: ComparatifUnpublished, Slug: x.Slug, URL: next.ComparisonURLOf(x.Slug)})
		}
	}
}

func (d *Diff) compareEmbeddings(old, next *Catalog, sections func(string) []Section) {
	before := map[string]*Tool{}
	for _, i := range old.TopSet() {
		before[old.Tools[i].Slug] = &old.Tools[i]
	}
	head := func(c *Catalog, t *Tool) EmbeddingsHead { return c.EmbeddingsDoc(t, sections(t.Body)).EmbeddingsHead }
	for _, i := range next.TopSet() {
		t := &next.Tools[i]
		prior, was := before[t.Slug]
		delete(before, t.Slug)
		if was && prior.Body == t.Body {
			continue
		}
		now := head(next, t)
		change := Change{Type: EmbeddingsUpdated, Slug: t.Slug, Object: now, URL: now.CanonicalURL}
		if was {
			then := head(old, prior)
			if then.Hash == now.Hash {
				continue
			}
			change.Changed, change.Previous = fieldsChanged(then.fields(), now.fields())
		}
		d.add(change)
	}
	for _, slug := range slices.Sorted(maps.Keys(before)) {
		d.add(Change{Type: EmbeddingsUpdated, Slug: slug, URL: old.AvisURLOf(before[slug])})
	}
}

// add keeps a change; the lists it carries are never null on the wire.
func (d *Diff) add(c Change) {
	if c.Changed == nil {
		c.Changed, c.Previous = []string{}, map[string]any{}
	}
	d.Changes = append(d.Changes, c)
}

// A field is one public field of an item, by the name it has on the wire. Its
// value is comparable.
type field struct {
	name  string
	value any
}

func fieldsChanged(before, after []field) (changed []string, previous map[string]any) {
	previous = map[string]any{}
	for i, f := range after {
		if before[i].value != f.value {
			changed = append(changed, f.name)
			previous[f.name] = before[i].value
		}
	}
	return changed, previous
}

func (i ToolItem) fields() []field {
	return []field{
		{"slug", i.Slug},
		{"name", i.Name},
		{"domain", i.Domain},
		{"category", i.Category},
		{"icp", i.ICP},
		{"pricing", i.Pricing},
		{"price", i.Price},
		{"score", valueOf(i.Score)},
		{"verifiability", valueOf(i.Verifiability)},
		{"tagline", i.Tagline},
		{"canonical_url", i.CanonicalURL},
		{"avis_url", valueOf(i.AvisURL)},
		{"alternatives_url", i.AlternativesURL},
		{"updated_at", i.UpdatedAt},
	}
}

func (i PriceItem) fields() []field {
	return []field{{"slug", i.Slug}, {"name", i.Name}, {"pricing", i.Pricing}, {"price", i.Price}}
}

func (i RetiredItem) fields() []field {
	return []field{{"slug", i.Slug}, {"name", i.Name}, {"reason", i.Reason}, {"retired_at", i.RetiredAt}, {"note", i.Note}}
}

func (i EmbeddingsHead) fields() []field {
	return []field{
		{"slug", i.Slug},
		{"name", i.Name},
		{"canonical_url", i.CanonicalURL},
		{"hash", i.Hash},
		{"updated_at", i.UpdatedAt},
		{"chunk_count", i.ChunkCount},
	}
}

// comparisonFields are those of the list and those that only the detail shows.
func (c *Catalog) comparisonFields(x *Comparison) []field {
	i := c.ComparisonItem(x)
	return []field{
		{"slug", i.Slug},
		{"title", i.Title},
		{"winner", i.Winner},
		{"updated_at", i.UpdatedAt},
		{"canonical_url", i.CanonicalURL},
		{"tool_a", x.ToolA},
		{"tool_b", x.ToolB},
		{"winner_note", x.WinnerNote},
	}
}

func valueOf[T any](p *T) any {
	if p == nil {
		return nil
	}
	return *p
}

func (c *Catalog) retiredBySlug() map[string]*Retired {
	m := make(map[string]*Retired, len(c.Retired))
	for i := range c.Retired {
		m[c.Retired[i].Slug] = &c.Retired[i]
	}
	return m
}

// aliases gives the active slug of each former one.
func (c *Catalog) aliases() map[string]string {
	m := map[string]string{}
	for i := range c.Tools {
		for _, a := range c.Tools[i].Aliases {
			m[a] = c.Tools[i].Slug
		}
	}
	return m
}
