// Package catalog is the domain: what a catalogue of tested tools holds and the
// rules that hold over it, whoever stores, serves or prints it.
//
// It imports nothing but the standard library, so that every rule here (which
// tools form the top set, what a publication changes, what the public sees of a
// record) can be tested without a database, a server or a clock: the one day a
// rule depends on is handed in.
package catalog

import (
	"cmp"
	"slices"
)

// A Catalog is everything one publication makes public.
//
// content.Read makes one from a folder, store loads one from its rows; after
// Settle nobody changes it. Records are sorted by slug.
type Catalog struct {
	Name        string // service name, for the credit line
	URL         string // where the catalogue's site lives, without a trailing slash
	Categories  []Category
	Tools       []Tool
	Comparisons []Comparison
	Retired     []Retired

	// PastPrices keeps, by slug, the price histories of tools that are no longer
	// active, for the day they return: no entry is ever dropped.
	PastPrices map[string][]PriceChange
}

// A Category is declared by the catalogue; tools refer to it by slug.
type Category struct {
	Slug  string
	Label string
}

// ICP is the reader a tool is made for.
type ICP string

// Pricing is the business model of a tool.
type Pricing string

// Reason says why a tool was retired.
type Reason string

// ICPs, Pricings and Reasons list the enumerated values in the order in which
// error sentences and the API document give them.
var (
	ICPs     = []ICP{"vibe-coder", "agentic-engineer", "mixte"}
	Pricings = []Pricing{"gratuit", "freemium", "payant"}
	Reasons  = []Reason{"mort", "acquis", "deprecie", "pivot", "absorbe"}
)

// A Tool is one active tool, as its editors wrote it. An empty URL means the
// default one (see CanonicalURLOf and its neighbours); a nil figure means that
// nobody measured it.
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
	UpdatedAt       string // YYYY-MM-DD; "" until Settle gives it a day
	CanonicalURL    string
	AvisURL         string
	AlternativesURL string
	TestedAt        string // YYYY-MM-DD or ""
	PriceCheckedAt  string // YYYY-MM-DD or ""
	Sources         []string
	Aliases         []string      // former slugs, sorted
	PriceHistory    []PriceChange // newest first
	Body            string        // the review, Markdown; "" without one
}

// A Section is one part of a review: one anchor on the page, one chunk in the
// embeddings document. Package markdown makes them from a Body.
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

// A Comparison sets two active, tested tools against each other. ToolA, ToolB
// and Winner are slugs.
type Comparison struct {
	Slug       string
	Title      string
	ToolA      string
	ToolB      string
	Winner     string
	WinnerNote string
	Published  bool
	UpdatedAt  string // YYYY-MM-DD; "" until Settle gives it a day
	Body       string
}

// A Retired is the obituary of a tool.
type Retired struct {
	Slug      string
	Name      string
	Category  string
	Reason    Reason
	RetiredAt string // YYYY-MM-DD
	Successor string // slug or ""
	Body      string // Markdown, as written
	Note      string // Body as plain text, what the public sees
}

// Sort puts every kind of record in the order of its slugs.
func (c *Catalog) Sort() {
	slices.SortFunc(c.Categories, func(a, b Category) int { return cmp.Compare(a.Slug, b.Slug) })
	slices.SortFunc(c.Tools, func(a, b Tool) int { return cmp.Compare(a.Slug, b.Slug) })
	slices.SortFunc(c.Comparisons, func(a, b Comparison) int { return cmp.Compare(a.Slug, b.Slug) })
	slices.SortFunc(c.Retired, func(a, b Retired) int { return cmp.Compare(a.Slug, b.Slug) })
}

// Tool finds an active tool by its slug in a sorted catalogue; nil when there is none.
func (c *Catalog) Tool(slug string) *Tool {
	i, found := slices.BinarySearchFunc(c.Tools, slug, func(t Tool, s string) int { return cmp.Compare(t.Slug, s) })
	if !found {
		return nil
	}
	return &c.Tools[i]
}

// CanonicalURLOf is where the page of a tool lives.
func (c *Catalog) CanonicalURLOf(t *Tool) string {
	return cmp.Or(t.CanonicalURL, c.URL+"/outils/"+t.Slug)
}

// AvisURLOf is where the review of a tool lives, "" when it has none.
func (c *Catalog) AvisURLOf(t *Tool) string {
	if t.AvisURL == "" && t.Body == "" {
		return ""
	}
	return cmp.Or(t.AvisURL, c.URL+"/avis/"+t.Slug)
}

// AlternativesURLOf is where the alternatives to a tool are listed.
func (c *Catalog) AlternativesURLOf(t *Tool) string {
	return cmp.Or(t.AlternativesURL, c.URL+"/alternatives/"+t.Slug)
}

// ComparisonURLOf is where a comparison lives.
func (c *Catalog) ComparisonURLOf(slug string) string {
	return c.URL + "/comparatifs/" + slug
}
