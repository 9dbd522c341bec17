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
	"strings"
)

// A Catalog is everything that one publication makes public.
//
// content.Read builds one from a folder and store loads one from its rows. It is
// immutable after CarryOver. Records are sorted by slug.
type Catalog struct {
	Name        string // service name, for the credit line
	URL         string // of the catalogue's site, without a trailing slash
	Categories  []Category
	Tools       []*Tool
	Comparisons []Comparison
	Retired     []Retired
	Settings    Settings
	Pages       []Page
	Articles    []Article
	Authors     []Author
	Proofs      []Proof            // of prices, one per tool at most
	Pictures    map[string]Picture // by path (images/logo.png); only those in use

	// Scheduled has the records that are not public yet, and Held, by path, the pictures that only
	// they use. What is served has neither.
	Scheduled []Scheduled
	Held      map[string]Picture

	// Ended has the names of pages and articles (pages/offre) of a folder whose unpublish_at had passed
	// when it was read.
	Ended []string

	// Past holds, by slug, the fields that are Kept of tools that are no longer active, in case
	// they return: their histories, of which no entry is ever dropped, and their last name, price and figures.
	Past map[string]*Tool

	// Gone holds the oldest slugs of the records of a kind that were removed, by their last slugs. Only a publication
	// knows it.
	Gone map[*Kind]map[string]string `json:"-"`
}

// A Theme is the face of the site: colours as #7a1f3d, "" for the default.
type Theme struct {
	Accent     string
	AccentDark string // "" means a shade of Accent
	Font       string // of titles: FontSans, or "" for serif
}

// FontSans as Theme.Font sets titles in the typeface of the text.
const FontSans = "sans"

// Labels are what the site calls what it measures and who tools are for; "" for the default.
type Labels struct {
	Verifiability   string
	Obsolescence    string
	VibeCoder       string
	AgenticEngineer string
	Mixed           string
	ICP             string // ICPHide, or "" if pages say who a tool is for
}

// ICPHide as Labels.ICP means that no page says who a tool is for.
const ICPHide = "hide"

// TransparencyPage is the slug of the page that explains affiliate links.
const TransparencyPage = "transparence"

// ProHide as Settings.Pro means that the site mentions neither the Pro plan nor its
// price.
const ProHide = "hide"

// The values of Settings.Dataset: records are given away in bulk without their bodies, or
// not at all.
const (
	DatasetHead = "head"
	DatasetOff  = "off"
)

// A Category is declared in catalogue.yaml; tools refer to it by slug.
type Category struct {
	Slug        string
	Label       string
	Description string   // Markdown
	Aliases     []string // former slugs, sorted
	Usages      []Usage
	Protocol    []Protocol // one, or none
	Criteria    []Criterion
	Profiles    []Profile
	Position    int // in catalogue.yaml, from 0
}

// A Page is a page that the publisher wrote, served at /<slug>.
type Page struct {
	Slug        string
	Title       string
	Menu        Menu
	Description string
	Authors     []string
	Date        string   // YYYY-MM-DD or ""
	Aliases     []string // former slugs, sorted
	FirstSlug   string   // see Tool
	Image       string   // path of a picture
	Body        string   // Markdown
	Draft       bool
	PublishAt   string // see Tool
	UnpublishAt string // when it ends, as FormatTime returns it; "" for never
}

// Menu says where the site links to a page.
type Menu string

// The values of Menu.
const (
	MenuHeader Menu = "header"
	MenuFooter Menu = "footer"
	MenuNone   Menu = "none"
)

// Menus lists them, in the order used by error messages.
var Menus = []Menu{MenuHeader, MenuFooter, MenuNone}

// reservedPages are the first parts of the site's own addresses, now or soon, beside the lists of Kinds. Pages
// may replace licence, confidentialite and tarifs.
var reservedPages = []string{
	"a-venir", "alternatives", "apercu", "api", "apple-touch-icon", "avis", "calendrier", "carte", "categories", "comparer",
	"compte", "data", "docs", "donnees", "favicon", "flux", "healthz", "hooks", "llms", "mcp", "media", "opensearch",
	"prix", "publish", "readyz", "redaction", "robots", "signaler", "site", "sitemap", "static", "suivre", "tendances",
	"webhooks",
}

// IsReservedPage reports whether a page cannot have the given slug.
func IsReservedPage(slug string) bool {
	return slices.Contains(reservedPages, slug) || kindWith(Kinds, func(k *Kind) bool { return k.List == "/"+slug }) != nil
}

// A Picture is a file of images/ as the site serves it, without its bytes.
type Picture struct {
	Path     string    `json:"path"`   // from the root of the folder: images/logo.png
	Source   string    `json:"source"` // SHA-256 of the file in the folder, in hexadecimal
	Hash     string    `json:"hash"`   // SHA-256 of the served bytes, in hexadecimal; the name of the file
	Ext      string    `json:"ext"`    // png, jpg, webp or gif
	Width    int       `json:"width"`
	Height   int       `json:"height"`
	Variants []Variant `json:"variants,omitempty"` // smaller ones, narrowest first
}

// Names returns the names of the files of the picture and its variants.
func (p *Picture) Names() []string {
	names := []string{p.Hash}
	for i := range p.Variants {
		names = append(names, p.Variants[i].Name)
	}
	return names
}

// A Variant is a smaller version of a picture.
type Variant struct {
	Name   string `json:"name"` // the hash of the picture, a hyphen and the width
	Ext    string `json:"ext"`
	Width  int    `json:"width"`
	Height int    `json:"height"`
}

// ICP (ideal customer profile) is the kind of reader a tool is made for.
type ICP string

// EveryICP is the kind of a tool for all readers, which the API also says of one without a kind.
const EveryICP ICP = "mixte"

// Pricing is the business model of a tool.
type Pricing string

// Paid is the model of a tool without anything that is free.
const Paid Pricing = "payant"

// Reason says why a tool was retired.
type Reason string

// ICPs, Pricings and Reasons list the enumerated values, in the order used by
// error messages and the API document.
var (
	ICPs     = []ICP{"vibe-coder", "agentic-engineer", EveryICP}
	Pricings = []Pricing{"gratuit", "freemium", Paid}
	Reasons  = []Reason{"mort", "acquis", "deprecie", "pivot", "absorbe"}
)

// A Tool is one active tool, as its editors wrote it. An empty URL means the
// default (see CanonicalURLOf, ReviewURLOf and AlternativesURLOf); a nil figure
// means that it was not measured.
type Tool struct {
	Slug             string
	Name             string
	Domain           string
	Category         string
	ICP              ICP // "" if nobody said who it is for
	Pricing          Pricing
	Price            string
	PriceDisplay     string // shown on the site instead of Price; "" means Price
	DisplayBefore    string // what it was when Price was last converted; "" means the same. Not public
	Plans            []PlanRow
	Tagline          string
	TitleTag         string // of its page, for search engines; "" means one made from its name
	Description      string // of its page, for search engines; "" means one made from its tagline
	AffiliateURL     string // where the link to its site leads, if the publisher earns from it
	Authors          []string
	Logo             string // path of a picture
	Image            string // path of a picture
	Score            *float64
	Verifiability    *float64
	Obsolescence     *float64
	Tier             int // 1 is the highest
	Mainstream       bool
	Draft            bool // only in a catalogue read with its drafts
	PriceHistoryMode HistoryMode
	ScoreHistoryMode HistoryMode
	AddedAt          string // YYYY-MM-DD, if it was added to a published catalogue
	UpdatedAt        string // YYYY-MM-DD; "" until CarryOver sets it
	CanonicalURL     string
	ReviewURL        string
	AlternativesURL  string
	TestedAt         string // YYYY-MM-DD or ""
	Summary          string // the verdict in a sentence
	Pros             []string
	Cons             []string
	Usages           []string // slugs of the category's
	Criteria         Values   // by slug of the category's
	CriteriaHistory  []CriteriaChange
	Protocol         string // the version that it was tested under; "" means see TestedUnder
	TestedVersion    string
	TestedPlan       string
	Access           Access
	Interests        string
	PriceCheckedAt   string // YYYY-MM-DD or ""
	PriceSource      string // the page that has the price
	PriceQuote       string // the words of that page that say the price
	Sources          []string
	Aliases          []string      // former slugs, sorted
	FirstSlug        string        // the oldest one, if that is not the first of Aliases
	PriceHistory     []PriceChange // newest first
	ScoreNote        string        // why the score changed
	ScoreHistory     []ScoreChange // newest first
	Body             string        // the review, Markdown; "" without one
	Announced        []Announcement
	PublishAt        string // as FormatTime returns it; "" in a catalogue, whose Scheduled has the hours
}

// HasPlanNotes reports whether one of the plans has a note.
func (t *Tool) HasPlanNotes() bool {
	return slices.ContainsFunc(t.Plans, func(p PlanRow) bool { return p.Note != "" })
}

// A PlanRow is one line of the table of plans of a tool. Price is free text.
type PlanRow struct {
	Name  string `json:"name"`
	Price string `json:"price"`
	Note  string `json:"note"`
}

// HistoryMode says what the history of prices or scores in a file means.
type HistoryMode bool

// HistoryAdd, the default, adds the entries of the file to the stored ones;
// HistoryReplace makes them the whole history.
const (
	HistoryAdd     HistoryMode = false
	HistoryReplace HistoryMode = true
)

// historyModes are their names in a file, the default first.
var historyModes = []string{"add", "replace"}

// String returns the name of a mode that is not the default, and "" for that one.
func (m HistoryMode) String() string {
	if m == HistoryAdd {
		return ""
	}
	return historyModes[1]
}

// A Section is one part of a review: one anchor on the page, one chunk in the
// embeddings document. Package markdown splits a Body into sections.
type Section struct {
	ID   string
	Text string // plain text: the heading, then the rest, blocks separated by a blank line
}

// A PriceChange is one entry of a tool's price history.
type PriceChange struct {
	ChangedAt  string  `json:"changed_at"`
	OldPricing Pricing `json:"old_pricing"`
	OldPrice   string  `json:"old_price"`
	NewPricing Pricing `json:"new_pricing"`
	NewPrice   string  `json:"new_price"`

	Automatic bool `json:"-"` // made by a publication, not by an editor

	// What pages showed before and since, if one is in another currency and that is known; "" means the price itself.
	OldDisplay string `json:"old_display,omitempty"`
	NewDisplay string `json:"new_display,omitempty"`
}

// A ScoreChange is one entry of a tool's score history. A nil figure means that it
// was not measured.
type ScoreChange struct {
	ChangedAt        string   `json:"changed_at"`
	OldScore         *float64 `json:"old_score"`
	NewScore         *float64 `json:"new_score"`
	OldVerifiability *float64 `json:"old_verifiability"`
	NewVerifiability *float64 `json:"new_verifiability"`
	OldObsolescence  *float64 `json:"old_obsolescence"`
	NewObsolescence  *float64 `json:"new_obsolescence"`
	Note             string   `json:"note"`

	Automatic bool `json:"-"` // made by a publication, not by an editor
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
	Authors    []string
	Aliases    []string // former slugs, sorted
	FirstSlug  string   // see Tool
	Image      string   // path of a picture
	Body       string
	Draft      bool   // only in a catalogue read with its drafts
	PublishAt  string // see Tool
}

// A Retired is a tool that is no longer active, with the note that says why.
type Retired struct {
	Slug      string
	Name      string
	Category  string
	Reason    Reason
	RetiredAt string // YYYY-MM-DD
	Successor string // slug or ""
	Leaving   string // how its users get their data and go elsewhere, or ""
	Sources   []string
	LastScore *float64
	LastPrice string
	FirstSlug string // of the tool; "" means Slug

	// What the tool had when it was retired.
	Usages       []string // slugs of the category's
	PriceHistory []PriceChange
	ScoreHistory []ScoreChange

	Body      string // Markdown, as written
	Note      string // Body as plain text, which is what the API shows
	Draft     bool   // only in a catalogue read with its drafts
	PublishAt string // see Tool
}

// Sort sorts the records of every kind by slug.
func (c *Catalog) Sort() {
	slices.SortFunc(c.Categories, func(a, b Category) int { return cmp.Compare(a.Slug, b.Slug) })
	for _, k := range Kinds {
		k.sort(c)
	}
}

// Tool returns the active tool with the given slug, or nil. The catalogue must be
// sorted.
func (c *Catalog) Tool(slug string) *Tool {
	i, found := c.IndexOf(slug)
	if !found {
		return nil
	}
	return c.Tools[i]
}

// IndexOf returns the index of the tool that Tool returns.
func (c *Catalog) IndexOf(slug string) (i int, found bool) {
	return slices.BinarySearchFunc(c.Tools, slug, func(t *Tool, s string) int { return strings.Compare(t.Slug, s) })
}

// Category returns the category with the given slug, or nil. The catalogue must be sorted.
func (c *Catalog) Category(slug string) *Category {
	return find(c.Categories, slug, func(own *Category) string { return own.Slug })
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

// DropDefaultURLs empties the URLs of a tool that only repeat the default, as records in
// their canonical form do, so that a tool is the same with and without them.
func (c *Catalog) DropDefaultURLs(t *Tool) {
	if t.CanonicalURL == "" && t.ReviewURL == "" && t.AlternativesURL == "" {
		return
	}
	if t.CanonicalURL == c.URL+"/outils/"+t.Slug {
		t.CanonicalURL = ""
	}
	if t.ReviewURL == c.URL+"/avis/"+t.Slug && t.Body != "" { // without a review, there is none by default
		t.ReviewURL = ""
	}
	if t.AlternativesURL == c.URL+"/alternatives/"+t.Slug {
		t.AlternativesURL = ""
	}
}

// ComparisonURLOf returns the URL of a comparison.
func (c *Catalog) ComparisonURLOf(slug string) string {
	return c.URL + "/comparatifs/" + slug
}

// RetiredURLOf returns the URL of the page of a retired tool.
func (c *Catalog) RetiredURLOf(slug string) string { return c.URL + "/cimetiere/" + slug }

// CountsReaders reports whether the views of pages are counted.
func (c *Catalog) CountsReaders() bool { return c.Settings.Readership == "" }

// ShowsPro reports whether the site may mention the Pro plan, and the webhooks that come with it.
func (c *Catalog) ShowsPro() bool { return c.Settings.Pro != ProHide }

// HasDataset reports whether the publisher gives the catalogue away in bulk.
func (c *Catalog) HasDataset() bool { return c.Settings.Dataset != DatasetOff }
