package catalog

import (
	"maps"
	"slices"
	"strings"
)

// A Diff is what a publication changes: for the public (Changes) and in the stored
// records. The two differ, because a draft or a review may change without any
// public list showing it.
type Diff struct {
	Changes []Change `json:"-"` // ends with catalog.updated unless empty
	Entries []Entry  `json:"-"` // of the chronicle, of a stored version

	Metadata  bool                     `json:"metadata,omitempty"` // the name, the URL, a setting or a category changed
	Past      bool                     `json:"-"`                  // what is kept of inactive tools changed
	Pictures  bool                     `json:"pictures,omitempty"` // a picture was added, replaced or removed
	Proofs    bool                     `json:"proofs,omitempty"`   // something was seen of a price
	Records   map[string]RecordChanges `json:"records,omitempty"`  // by the name of their kind: see Of
	Scheduled RecordChanges            `json:"scheduled,omitzero"` // see CompareScheduled

	// Parts holds, by file without suffix (outils/plume), what changed in records and in SettingsFile. Of the records
	// that were added only renamed tools have parts, the slug first.
	Parts map[string][]Part `json:"parts,omitempty"`

	Drafts []string `json:"drafts,omitempty"` // the comparisons among these that the public neither saw nor sees, by slug

	// Listed lists the tools whose histories are the same, but whose file now lists
	// an entry that was automatic. That is stored without a new version.
	Listed []string `json:"-"`
}

// RecordChanges lists, by slug, the records of one kind to be written or removed.
type RecordChanges struct {
	Added   []string `json:"added,omitempty"`
	Changed []string `json:"changed,omitempty"`
	Removed []string `json:"removed,omitempty"`
}

// Of returns the records of a kind to be written or removed.
func (d *Diff) Of(k *Kind) RecordChanges { return d.Records[k.Name] }

// Empty reports whether publishing would change nothing at all.
func (d *Diff) Empty() bool {
	return !d.Metadata && !d.Past && !d.Pictures && !d.Proofs && len(d.Records) == 0 && d.Scheduled.Len() == 0
}

// Len returns how many records are to be written or removed.
func (r RecordChanges) Len() int { return len(r.Added) + len(r.Changed) + len(r.Removed) }

// Removals returns the slugs of the active tools of old that are neither active
// nor retired nor an alias in next: the tools that a publication must not lose by
// accident.
func Removals(old, next *Catalog) []string {
	aliases := next.aliases()
	var removed []string
	for i := range old.Tools {
		slug := old.Tools[i].Slug
		if next.Tool(slug) == nil && next.retired(slug) == nil && aliases[slug] == "" {
			removed = append(removed, slug)
		}
	}
	return removed
}

// Compare returns what next changes, compared with old. CarryOver(old, next) must
// have been called. sections splits a review into its sections
// (markdown.Sections); it is called only for reviews that differ.
func Compare(old, next *Catalog, sections func(body string) []Section) Diff {
	var d Diff
	before, after := old.InOrder(), next.InOrder()
	d.Metadata = !isSame(CatalogueFields, before, after)
	if d.Metadata {
		d.compareParts(SettingsFile, 1, CatalogueFields, before, after)
	}
	d.Past = !maps.EqualFunc(old.Past, next.Past, func(a, b *Tool) bool { return isSame(ToolFields, a, b) })
	d.Pictures = !maps.EqualFunc(old.Pictures, next.Pictures, Picture.same)
	d.compareTools(old, next)
	for _, k := range WrittenKinds {
		if k != ToolKind {
			d.compareRecords(k, old, next)
		}
	}
	d.compareRetired(old, next)
	d.compareComparisons(old, next)
	d.comparePages(old, next)
	d.compareArticles(old, next)
	d.Proofs = !slices.Equal(old.Proofs, next.Proofs)
	d.compareEmbeddings(old, next, sections)
	if d.Empty() {
		return Diff{Listed: d.Listed}
	}
	d.Report(next)
	return d
}

// Report adds the change that says that there is a new version, unless it is there.
func (d *Diff) Report(next *Catalog) {
	if n := len(d.Changes); n > 0 && d.Changes[n-1].Type == CatalogUpdated {
		return
	}
	counts := Counts{}
	for _, c := range d.Changes {
		counts[c.Type]++
	}
	d.Changes = append(d.Changes, Change{Type: CatalogUpdated, Object: counts, URL: next.URL})
}

func (d *Diff) compareTools(old, next *Catalog) {
	var r RecordChanges
	if len(old.Tools) == 0 { // all are new
		d.Changes = make([]Change, 0, len(next.Tools)+len(next.Retired)+len(next.Comparisons)+TopSetSize+1)
		r.Added = make([]string, 0, len(next.Tools))
	}
	for i := range next.Tools {
		t := next.Tools[i]
		prior := old.prior(next, t)
		if prior == t && old.URL == next.URL { // see Settle
			continue
		}
		same := prior != nil && t.equalExceptDate(prior) && t.UpdatedAt == prior.UpdatedAt
		switch {
		case old.Tool(t.Slug) == nil:
			r.Added = append(r.Added, t.Slug)
			if prior != nil {
				d.compareParts(ToolKind.Folder+"/"+t.Slug, len(r.Added), ToolFields, prior, t)
			}
		case !same:
			r.Changed = append(r.Changed, t.Slug)
			d.compareParts(ToolKind.Folder+"/"+t.Slug, len(r.Changed), ToolFields, prior, t)
		case !t.hasMarksOf(prior):
			d.Listed = append(d.Listed, t.Slug)
		}
		if prior == nil {
			kind := ToolCreated
			if old.retired(t.Slug) != nil {
				kind = ToolRestored
			}
			d.add(Change{Type: kind, Slug: t.Slug, Object: newTool{next, t}})
			continue
		}
		if !same || old.URL != next.URL {
			d.addToolUpdate(old, next, prior, t)
		}
	}

	for i := range old.Tools {
		if slug := old.Tools[i].Slug; next.Tool(slug) == nil {
			r.Removed = append(r.Removed, slug)
		}
	}
	d.set(ToolKind, r)
	isRenamed := map[string]bool{}
	for _, slug := range r.Added {
		isRenamed[ToolKind.First(next.Tool(slug))] = true
	}
	for _, slug := range r.Removed { // also if another one absorbed it
		if t := old.Tool(slug); next.retired(slug) == nil && !isRenamed[ToolKind.First(t)] {
			d.add(Change{Type: ToolRemoved, Slug: slug, URL: old.CanonicalURLOf(t)})
		}
	}
}

// addToolUpdate adds the public changes between prior, a tool of old, and t, the
// same tool in next.
func (d *Diff) addToolUpdate(old, next *Catalog, prior, t *Tool) {
	url := next.CanonicalURLOf(t)
	item := next.ToolItem(t)
	if changed, previous := fieldsChanged(fieldsOf(old.ToolItem(prior)), fieldsOf(item)); len(changed) > 0 {
		d.add(Change{Type: ToolUpdated, Slug: t.Slug, Changed: changed, Previous: previous, Object: item, URL: url})
	}
	if prior.Pricing != t.Pricing || prior.Price != t.Price {
		changed, previous := fieldsChanged(fieldsOf(prior.PriceItem()), fieldsOf(t.PriceItem()))
		d.add(Change{
			Type: PricingUpdated, Slug: t.Slug, Changed: changed, Previous: previous, Object: t.PriceItem(), URL: url,
		})
	}
	if prior.Body != t.Body && t.Body != "" {
		item := newTextItem(t.Slug, t.Name, t.Authors, t.UpdatedAt, next.ReviewURLOf(t), t.Body)
		before := item
		before.Words = len(strings.Fields(prior.Body))
		changed, previous := fieldsChanged(fieldsOf(before), fieldsOf(item))
		d.add(Change{
			Type: ReviewUpdated, Slug: t.Slug, Changed: append(changed, "body"), Previous: previous, Object: item, URL: item.CanonicalURL,
		})
	}
}

func (d *Diff) compareRetired(old, next *Catalog) {
	for i := range next.Retired {
		r := &next.Retired[i]
		prior, url := old.retired(r.Slug), next.RetiredURLOf(r.Slug)
		if prior == nil {
			d.add(Change{Type: ToolRetired, Slug: r.Slug, Object: r.Item(), URL: url})
			continue
		}
		// There is no type for an edited entry: receivers store what they know of
		// a tool by its slug, so they overwrite it with this one.
		if changed, previous := fieldsChanged(fieldsOf(prior.Item()), fieldsOf(r.Item())); len(changed) > 0 {
			d.add(Change{Type: ToolRetired, Slug: r.Slug, Changed: changed, Previous: previous, Object: r.Item(), URL: url})
		}
	}
	for _, slug := range d.Of(RetiredKind).Removed {
		if next.Tool(slug) == nil {
			d.add(Change{Type: ToolRemoved, Slug: slug, URL: next.URL + "/cimetiere"})
		}
	}
}

func (d *Diff) compareComparisons(old, next *Catalog) {
	for i := range next.Comparisons {
		x := &next.Comparisons[i]
		prior := old.Comparison(x.Slug)
		wasPublic := prior != nil && prior.Published
		switch url := next.ComparisonURLOf(x.Slug); {
		case x.Published && !wasPublic:
			d.add(Change{Type: ComparisonPublished, Slug: x.Slug, Object: next.ComparisonItem(x), URL: url})
		case x.Published:
			changed, previous := fieldsChanged(old.comparisonFields(prior), next.comparisonFields(x))
			if len(changed) > 0 {
				d.add(Change{
					Type: ComparisonUpdated, Slug: x.Slug, Changed: changed, Previous: previous, Object: next.ComparisonItem(x),
					URL: url,
				})
			}
		case wasPublic:
			d.add(Change{Type: ComparisonUnpublished, Slug: x.Slug, URL: url})
		case prior == nil || !isSame(ComparisonFields, prior, x):
			d.Drafts = append(d.Drafts, x.Slug)
		}
	}
	for _, slug := range d.Of(ComparisonKind).Removed {
		if !old.Comparison(slug).Published {
			d.Drafts = append(d.Drafts, slug)
			continue
		}
		d.add(Change{Type: ComparisonUnpublished, Slug: slug, URL: next.ComparisonURLOf(slug)})
	}
}

func (d *Diff) compareEmbeddings(old, next *Catalog, sections func(string) []Section) {
	before := map[string]*Tool{}
	for _, i := range old.TopSet() {
		before[old.Tools[i].Slug] = old.Tools[i]
	}
	head := func(c *Catalog, t *Tool) EmbeddingsHead { return c.EmbeddingsDoc(t, sections(t.Body)).EmbeddingsHead }
	for _, i := range next.TopSet() {
		t := next.Tools[i]
		prior, was := before[t.Slug]
		delete(before, t.Slug)
		if was && prior.Body == t.Body {
			continue
		}
		now := head(next, t)
		change := Change{Type: EmbeddingsUpdated, Slug: t.Slug, Reason: EmbeddingsEntered, Object: now, URL: now.CanonicalURL}
		if was {
			then := head(old, prior)
			if then.Hash == now.Hash {
				continue
			}
			change.Reason = EmbeddingsChanged
			change.Changed, change.Previous = fieldsChanged(fieldsOf(then), fieldsOf(now))
		}
		d.add(change)
	}
	for _, slug := range slices.Sorted(maps.Keys(before)) {
		d.add(Change{Type: EmbeddingsUpdated, Slug: slug, Reason: EmbeddingsLeft, URL: old.ReviewURLOf(before[slug])})
	}
}

// add appends a change. Changed and Previous are never null on the wire.
func (d *Diff) add(c Change) {
	if c.Changed == nil {
		c.Changed, c.Previous = []string{}, nothing
	}
	d.Changes = append(d.Changes, c)
}

// nothing is what Previous is if nothing changed. It must not be changed.
var nothing = map[string]any{}

func valueOf[T any](p *T) any {
	if p == nil {
		return nil
	}
	return *p
}

func (c *Catalog) retired(slug string) *Retired {
	return find(c.Retired, slug, func(r *Retired) string { return r.Slug })
}

// aliases maps each former slug to the active one.
func (c *Catalog) aliases() map[string]string {
	m := map[string]string{}
	for i := range c.Tools {
		for _, a := range c.Tools[i].Aliases {
			m[a] = c.Tools[i].Slug
		}
	}
	return m
}
