package catalog

import (
	"bytes"
	"encoding/json"
	"reflect"
)

// The types of a Change, which are also the types of webhook events.
const (
	ToolCreated           = "tool.created"
	ToolUpdated           = "tool.updated"
	ToolRetired           = "tool.retired"
	ToolRestored          = "tool.restored"
	ToolRemoved           = "tool.removed"
	PricingUpdated        = "pricing.updated"
	ComparisonPublished   = "comparatif.published"
	ComparisonUpdated     = "comparatif.updated"
	ComparisonUnpublished = "comparatif.unpublished"
	ArticlePublished      = "article.published"
	ArticleUpdated        = "article.updated"
	ArticleRemoved        = "article.removed"
	ReviewUpdated         = "review.updated"
	PageUpdated           = "page.updated"
	EmbeddingsUpdated     = "embeddings.updated"
	CatalogUpdated        = "catalog.updated"
)

// ChangeTypes lists them all, in the order of the documents.
var ChangeTypes = []string{
	ToolCreated, ToolUpdated, ToolRetired, ToolRestored, ToolRemoved,
	PricingUpdated,
	ComparisonPublished, ComparisonUpdated, ComparisonUnpublished,
	ArticlePublished, ArticleUpdated, ArticleRemoved, ReviewUpdated, PageUpdated,
	EmbeddingsUpdated, CatalogUpdated,
}

// A Change is one thing that a publication changed for the public.
type Change struct {
	Type     string
	Slug     string         // "" for catalog.updated
	Changed  []string       // names of the changed fields of Object, in its order
	Previous map[string]any // their old values
	Object   Object         // nil if there is none
	URL      string         // of the page about it; empty for a new tool, whose page Page returns
	Reason   string         // of EmbeddingsUpdated: one of the following; otherwise ""
}

// An Object is what became of the subject of a change: the item as the API shows it, the
// Counts of CatalogUpdated, or a StoredObject.
type Object interface {
	// Values returns the fields of the object by their names on the wire. The caller must not
	// change them.
	Values() map[string]any
}

func (i ToolItem) Values() map[string]any       { return valuesOf(i) }
func (i PriceItem) Values() map[string]any      { return valuesOf(i) }
func (i RetiredItem) Values() map[string]any    { return valuesOf(i) }
func (i ComparisonItem) Values() map[string]any { return valuesOf(i) }
func (h EmbeddingsHead) Values() map[string]any { return valuesOf(h) }

// Counts are the numbers of changes of a publication, by type.
type Counts map[string]int

func (c Counts) Values() map[string]any {
	values := make(map[string]any, len(c))
	for kind, n := range c {
		values[kind] = n
	}
	return values
}

// Published returns the object of CatalogUpdated: the counts, the version that was published,
// and the last position and the state of the feed of records by then.
func (c Counts) Published(version, position int64, state string) Object {
	values := StoredObject(c.Values())
	values["version"], values["position"], values["state"] = version, position, state
	return values
}

// A StoredObject is an object by the names of its fields, such as one decoded from JSON.
type StoredObject map[string]any

func (o StoredObject) Values() map[string]any { return o }

// Page returns the URL of the page about what changed.
func (c *Change) Page() string {
	if t, ok := c.Object.(newTool); ok {
		return t.in.CanonicalURLOf(t.tool)
	}
	return c.URL
}

// Why the embeddings of a tool are said to have changed.
const (
	EmbeddingsEntered = "entered" // the tool is new in the top set
	EmbeddingsChanged = "changed" // its text changed
	EmbeddingsLeft    = "left"    // it is no longer in the top set
)

// A newTool is the item of a tool that was created, made when it is encoded: there may be
// a million of them.
type newTool struct {
	in   *Catalog
	tool *Tool
}

// MarshalJSON implements json.Marshaler.
func (n newTool) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // that is for whoever encodes the whole
	err := e.Encode(n.in.ToolItem(n.tool))
	return b.Bytes(), err
}

func (n newTool) Values() map[string]any { return valuesOf(n.in.ToolItem(n.tool)) }

type itemField struct {
	name  string // on the wire
	value any
}

// fieldsOf returns the fields of an item, which is a struct.
func fieldsOf(item any) (fields []itemField) {
	for f, value := range reflect.ValueOf(item).Fields() {
		field := itemField{name: f.Tag.Get("json")}
		if value.Kind() == reflect.Pointer {
			value = value.Elem()
		}
		if value.IsValid() { // no null
			field.value = value.Interface()
		}
		fields = append(fields, field)
	}
	return fields
}

func valuesOf(item any) map[string]any {
	values := map[string]any{}
	for _, f := range fieldsOf(item) {
		values[f.name] = f.value
	}
	return values
}

// fieldsChanged returns the names of the fields whose values differ and their
// previous values. before and after must be the fields of the same type.
func fieldsChanged(before, after []itemField) (changed []string, previous map[string]any) {
	previous = map[string]any{}
	for i, f := range after {
		if !reflect.DeepEqual(before[i].value, f.value) {
			changed = append(changed, f.name)
			previous[f.name] = before[i].value
		}
	}
	return changed, previous
}

// comparisonFields returns the fields of the list element, then those that only
// the detail shows.
func (c *Catalog) comparisonFields(x *Comparison) []itemField {
	return append(fieldsOf(c.ComparisonItem(x)),
		itemField{"tool_a", x.ToolA}, itemField{"tool_b", x.ToolB}, itemField{"winner_note", x.WinnerNote})
}
