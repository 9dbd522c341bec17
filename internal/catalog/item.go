package catalog

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
)

// Items are what the public sees of each record, with the fields in wire order.
// The API puts them into responses, webhooks send them as objects and Compare
// compares them, so that the three cannot disagree.

// ToolItem is a tool in the list of tools and in the single-tool response.
type ToolItem struct {
	Slug            string   `json:"slug"`
	Name            string   `json:"name"`
	Domain          string   `json:"domain"`
	Category        string   `json:"category"`
	ICP             ICP      `json:"icp"`
	Pricing         Pricing  `json:"pricing"`
	Price           string   `json:"price"`
	Score           *float64 `json:"score"`
	Verifiability   *float64 `json:"verifiability"`
	Tagline         string   `json:"tagline"`
	CanonicalURL    string   `json:"canonical_url"`
	ReviewURL       *string  `json:"avis_url"`
	AlternativesURL string   `json:"alternatives_url"`
	UpdatedAt       string   `json:"updated_at"`
}

// PriceItem is an element of the pricing list.
type PriceItem struct {
	Slug    string  `json:"slug"`
	Name    string  `json:"name"`
	Pricing Pricing `json:"pricing"`
	Price   string  `json:"price"`
}

// PriceDetail is the price of one tool with its history.
type PriceDetail struct {
	Slug           string            `json:"slug"`
	CurrentPricing Pricing           `json:"current_pricing"`
	CurrentPrice   string            `json:"current_price"`
	PriceHistory   []PriceChangeItem `json:"price_history"`
}

// A PriceChangeItem is one change of a price.
type PriceChangeItem struct {
	ChangedAt  string  `json:"changed_at"`
	OldPricing Pricing `json:"old_pricing"`
	OldPrice   string  `json:"old_price"`
	NewPricing Pricing `json:"new_pricing"`
	NewPrice   string  `json:"new_price"`
}

// ComparisonItem is an element of the list of comparisons. Winner is a name.
type ComparisonItem struct {
	Slug         string `json:"slug"`
	Title        string `json:"title"`
	Winner       string `json:"winner"`
	UpdatedAt    string `json:"updated_at"`
	CanonicalURL string `json:"canonical_url"`
}

// ComparisonDetail is one comparison with the scores of both tools.
type ComparisonDetail struct {
	Slug       string     `json:"slug"`
	ToolA      Contestant `json:"tool_a"`
	ToolB      Contestant `json:"tool_b"`
	Winner     string     `json:"winner"`
	WinnerNote string     `json:"winner_note"`
}

// A Contestant is one side of a comparison.
type Contestant struct {
	Name  string  `json:"name"`
	Score float64 `json:"score"`
}

// RetiredItem is an element of the list of retired tools.
type RetiredItem struct {
	Slug      string `json:"slug"`
	Name      string `json:"name"`
	Reason    Reason `json:"reason"`
	RetiredAt string `json:"retired_at"`
	Note      string `json:"note"`
}

// CategoryItem is an element of the list of categories.
type CategoryItem struct {
	Slug      string  `json:"slug"`
	Label     string  `json:"label"`
	ToolCount int     `json:"tool_count"`
	AvgScore  float64 `json:"avg_score"`
}

// Stats are the figures of the catalogue as a whole.
type Stats struct {
	ToolsTotal       int     `json:"tools_total"`
	ToolsTested      int     `json:"tools_tested"`
	ToolsAvgScore    float64 `json:"tools_avg_score"`
	ToolsRetired     int     `json:"tools_retired"`
	ComparisonsTotal int     `json:"comparatifs_total"`
}

// EmbeddingsHead is the embeddings document of a tool without its chunks.
type EmbeddingsHead struct {
	Slug         string `json:"slug"`
	Name         string `json:"name"`
	CanonicalURL string `json:"canonical_url"` // of the review
	Hash         string `json:"hash"`
	UpdatedAt    string `json:"updated_at"`
	ChunkCount   int    `json:"chunk_count"`
}

// EmbeddingsDoc is the complete embeddings document of a tool.
type EmbeddingsDoc struct {
	EmbeddingsHead
	Chunks []Chunk `json:"chunks"`
}

// A Chunk is one section of a review, ready to be vectorised.
type Chunk struct {
	ID       string        `json:"id"`
	Text     string        `json:"text"`
	Metadata ChunkMetadata `json:"metadata"`
}

// ChunkMetadata lets a retrieval pipeline cite a chunk without another call.
type ChunkMetadata struct {
	Slug          string  `json:"slug"`
	Section       string  `json:"section"`
	Position      int     `json:"position"`
	CanonicalURL  string  `json:"canonical_url"`
	Tool          string  `json:"tool"`
	Category      string  `json:"category"`
	Score         float64 `json:"score"`
	Verifiability float64 `json:"verifiability"`
	UpdatedAt     string  `json:"updated_at"`
}

// ToolItem returns the public view of a tool.
func (c *Catalog) ToolItem(t *Tool) ToolItem {
	item := ToolItem{
		Slug: t.Slug, Name: t.Name, Domain: t.Domain, Category: t.Category,
		ICP: cmp.Or(t.ICP, EveryICP), Pricing: t.Pricing, Price: t.Price,
		Score: t.Score, Verifiability: t.Verifiability, Tagline: t.Tagline,
		CanonicalURL: c.CanonicalURLOf(t), AlternativesURL: c.AlternativesURLOf(t),
		UpdatedAt: t.UpdatedAt,
	}
	if url := c.ReviewURLOf(t); url != "" {
		item.ReviewURL = &url
	}
	return item
}

// PriceItem returns the public view of a tool's price.
func (t *Tool) PriceItem() PriceItem {
	return PriceItem{Slug: t.Slug, Name: t.Name, Pricing: t.Pricing, Price: t.Price}
}

// PriceDetail returns the public view of a tool's price and its history.
func (t *Tool) PriceDetail() PriceDetail {
	history := make([]PriceChangeItem, len(t.PriceHistory))
	for i, e := range t.PriceHistory {
		history[i] = PriceChangeItem{e.ChangedAt, e.OldPricing, e.OldPrice, e.NewPricing, e.NewPrice}
	}
	return PriceDetail{Slug: t.Slug, CurrentPricing: t.Pricing, CurrentPrice: t.Price, PriceHistory: history}
}

// ComparisonItem returns the public view of a comparison. Its tools must be in c; a
// draft may have no winner yet.
func (c *Catalog) ComparisonItem(x *Comparison) ComparisonItem {
	return ComparisonItem{
		Slug: x.Slug, Title: x.Title, Winner: c.contestant(x.Winner).Name,
		UpdatedAt: x.UpdatedAt, CanonicalURL: c.ComparisonURLOf(x.Slug),
	}
}

// ComparisonDetail returns the detailed view of a comparison. Its tools must be in
// c and, unless it is a draft, have a score.
func (c *Catalog) ComparisonDetail(x *Comparison) ComparisonDetail {
	return ComparisonDetail{
		Slug: x.Slug, ToolA: c.contestant(x.ToolA), ToolB: c.contestant(x.ToolB),
		Winner: c.contestant(x.Winner).Name, WinnerNote: x.WinnerNote,
	}
}

// contestant returns a side of a comparison. What a draft lacks is zero.
func (c *Catalog) contestant(slug string) (side Contestant) {
	if t := c.Tool(slug); t != nil {
		side.Name = t.Name
		if t.Score != nil {
			side.Score = *t.Score
		}
	}
	return side
}

// Item returns the public view of a retired tool.
func (r *Retired) Item() RetiredItem {
	return RetiredItem{Slug: r.Slug, Name: r.Name, Reason: r.Reason, RetiredAt: r.RetiredAt, Note: r.Note}
}

// EmbeddingsDoc returns the embeddings document of a tool of the top set, given
// the sections of its review.
func (c *Catalog) EmbeddingsDoc(t *Tool, sections []Section) EmbeddingsDoc {
	review := c.ReviewURLOf(t)
	doc := EmbeddingsDoc{
		EmbeddingsHead: EmbeddingsHead{
			Slug: t.Slug, Name: t.Name, CanonicalURL: review, Hash: hashSections(sections),
			UpdatedAt: t.UpdatedAt, ChunkCount: len(sections),
		},
		Chunks: make([]Chunk, len(sections)),
	}
	for i, s := range sections {
		doc.Chunks[i] = Chunk{ID: s.ID, Text: s.Text, Metadata: ChunkMetadata{
			Slug: t.Slug, Section: s.ID, Position: i, CanonicalURL: review + "#" + s.ID,
			Tool: t.Name, Category: t.Category, Score: *t.Score, Verifiability: *t.Verifiability,
			UpdatedAt: t.UpdatedAt,
		}}
	}
	return doc
}

// hashSections returns the hash of an embeddings document: that of the chunk texts
// joined by two newlines, as documented, so that consumers can recompute it.
func hashSections(sections []Section) string {
	h := sha256.New()
	for i, s := range sections {
		if i > 0 {
			h.Write([]byte("\n\n"))
		}
		h.Write([]byte(s.Text))
	}
	return "sha256-" + hex.EncodeToString(h.Sum(nil))
}
