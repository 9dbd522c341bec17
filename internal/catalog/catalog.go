// Package catalog is the domain: the records of a catalogue of tested tools, and
// the rules over them.
//
// It imports only the standard library, so that every rule (which tools form the
// top set, what a publication changes, what the public sees of a record) can be
// tested without a database, a server or a clock: the day of publication is a
// parameter.
package catalog

import (
	"cmp"
	"slices"
)

// A Catalog is everything that one publication makes public.
//
// content.Read builds one from a folder and store loads one from its rows. It is
// immutable after CarryOver. Records are sorted by slug.
type Catalog struct {
	Name        string // service name, for the credit line
	URL         string // of the catalogue's site, without a trailing slash
	Categories  []Category
	Tools       []Tool
	Comparisons []Comparison
	Retired     []Retired

	// PastPrices holds, by slug, the price histories of tools that are no longer
	// active, in case they return: no entry is ever dropped.
	PastPrices map[string][]PriceChange
}

// A Category is declared in catalogue.yaml; tools refer to it by slug.
type Category struct {
	Slug  string
	Label string
}

// ICP (ideal customer profile) is the kind of reader a tool is made for.
type ICP string

// Pricing is the business model of a tool.
type Pricing string

// Reason says why a tool was retired.
type Reason string

// ICPs, Pricings and Reasons list the enumerated values, in the order used by
// error messages and the API document.
var (
	ICPs     = []ICP{"vibe-coder", "agentic-engineer", "mixte"}
	Pricings = []Pricing{"gratuit", "freemium", "payant"}
	Reasons  = []Reason{"mort", "acquis", "deprecie", "pivot", "absorbe"}
)

// A Tool is one active tool, as its editors wrote it. An empty URL means the
// default (see CanonicalURLOf, ReviewURLOf and AlternativesURLOf); a nil figure
// means that it was not measured.
type Tool struct {
	Slug            string
	Name            string
	Domain          string
	Category        string
	ICP             ICP
	Pricing         Pricing
	Price           string
	Tagline         string
	Score           *float64
	Verifiability   *float64
	Obsolescence    *float64
	Tier            int // 1 is the highest
	Mainstream      bool
	UpdatedAt       string // YYYY-MM-DD; "" until CarryOver sets it
	CanonicalURL    string
	ReviewURL       string
	AlternativesURL string
	TestedAt        string // YYYY-MM-DD or ""
	PriceCheckedAt  string // YYYY-MM-DD or ""
	Sources         []string
	Aliases         []string      // former slugs, sorted
	PriceHistory    []PriceChange // newest first
	Body            string        // the review, Markdown; "" without one
}

// A Section is one part of a review: one anchor on the page, one chunk in the
// embeddings document. Package markdown splits a Body into sections.
type Section struct {
	ID   string
	Text string // plain text: the heading, then the rest, blocks separated by a blank line
}

// A PriceChange is one entry of a tool's price history, in its public form.
type PriceChange struct {
	ChangedAt  string  `json:"changed_at"`
	OldPricing Pricing `json:"old_pricing"`
	OldPrice   string  `json:"old_price"`
	NewPricing Pricing `json:"new_pricing"`
	NewPrice   string  `json:"new_price"`
}

// A Comparison compares two active, tested tools. ToolA, ToolB and Winner are
// slugs.
type Comparison struct {
	Slug       string
	Title      string
	ToolA      string
	ToolB      string
	Winner     string
	WinnerNote string
	Published  bool
	UpdatedAt  string // YYYY-MM-DD; "" until CarryOver sets it
	Body       string
}

// A Retired is a tool that is no longer active, with the note that says why.
type Retired struct {
	Slug      string
	Name      string
	Category  string
	Reason    Reason
	RetiredAt string // YYYY-MM-DD
	Successor string // slug or ""
	Body      string // Markdown, as written
	Note      string // Body as plain text, which is what the public sees
}

// Sort sorts the records of every kind by slug.
func (c *Catalog) Sort() {
	slices.SortFunc(c.Categories, func(a, b Category) int { return cmp.Compare(a.Slug, b.Slug) })
	slices.SortFunc(c.Tools, func(a, b Tool) int { return cmp.Compare(a.Slug, b.Slug) })
	slices.SortFunc(c.Comparisons, func(a, b Comparison) int { return cmp.Compare(a.Slug, b.Slug) })
	slices.SortFunc(c.Retired, func(a, b Retired) int { return cmp.Compare(a.Slug, b.Slug) })
}

// Tool returns the active tool with the given slug, or nil. The catalogue must be
// sorted.
func (c *Catalog) Tool(slug string) *Tool {
	i, found := slices.BinarySearchFunc(c.Tools, slug, func(t Tool, s string) int { return cmp.Compare(t.Slug, s) })
	if !found {
		return nil
	}
	return &c.Tools[i]
}

// CreditLine returns the line that whoever reuses the data must show.
func (c *Catalog) CreditLine() string { return "Source : " + c.Name + " (" + c.URL + ")" }

// CanonicalURLOf returns the URL of a tool's page.
func (c *Catalog) CanonicalURLOf(t *Tool) string {
	return cmp.Or(t.CanonicalURL, c.URL+"/outils/"+t.Slug)
}

// ReviewURLOf returns the URL of a tool's review, or "" if it has none.
func (c *Catalog) ReviewURLOf(t *Tool) string {
	if t.ReviewURL == "" && t.Body == "" {
		return ""
	}
	return cmp.Or(t.ReviewURL, c.URL+"/avis/"+t.Slug)
}

// AlternativesURLOf returns the URL of the list of alternatives to a tool.
func (c *Catalog) AlternativesURLOf(t *Tool) string {
	return cmp.Or(t.AlternativesURL, c.URL+"/alternatives/"+t.Slug)
}

// ComparisonURLOf returns the URL of a comparison.
func (c *Catalog) ComparisonURLOf(slug string) string {
	return c.URL + "/comparatifs/" + slug
}
