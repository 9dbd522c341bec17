package site

import (
	"palmares/internal/catalog"
)

// Structured data for search engines (JSON-LD, schema.org). Templates put it in a
// script element of type application/ld+json, where html/template encodes it so
// that no text can close the element.

type jsonldList struct {
	Context string       `json:"@context"`
	Type    string       `json:"@type"`
	Items   []jsonldItem `json:"itemListElement"`
}

type jsonldItem struct {
	Type     string `json:"@type"`
	Position int    `json:"position"`
	Name     string `json:"name"`
	URL      string `json:"url"`
}

type jsonldTool struct {
	Context     string        `json:"@context,omitempty"`
	Type        string        `json:"@type"`
	Name        string        `json:"name"`
	URL         string        `json:"url"`
	Description string        `json:"description,omitempty"`
	Category    string        `json:"applicationCategory"`
	System      string        `json:"operatingSystem"`
	Offers      *jsonldOffer  `json:"offers,omitempty"`
	Review      *jsonldReview `json:"review,omitempty"`
}

type jsonldOffer struct {
	Type     string  `json:"@type"`
	Price    float64 `json:"price"`
	Currency string  `json:"priceCurrency"`
}

type jsonldReview struct {
	Context   string        `json:"@context,omitempty"`
	Type      string        `json:"@type"`
	Name      string        `json:"name"`
	URL       string        `json:"url"`
	Item      *jsonldTool   `json:"itemReviewed,omitempty"`
	Rating    *jsonldRating `json:"reviewRating,omitempty"`
	Author    jsonldAuthor  `json:"author"`
	Published string        `json:"datePublished,omitempty"`
	Modified  string        `json:"dateModified"`
	Language  string        `json:"inLanguage"`
}

type jsonldRating struct {
	Type  string  `json:"@type"`
	Value float64 `json:"ratingValue"`
	Best  int     `json:"bestRating"`
	Worst int     `json:"worstRating"`
}

type jsonldAuthor struct {
	Type string `json:"@type"`
	Name string `json:"name"`
	URL  string `json:"url"`
}

const schemaOrg = "https://schema.org"

// jsonldTools describes a list of tools whose first has the given rank.
func (v *view) jsonldTools(rows []toolRow, first int) *jsonldList {
	if len(rows) == 0 {
		return nil
	}
	list := &jsonldList{Context: schemaOrg, Type: "ItemList"}
	for i, row := range rows {
		list.Items = append(list.Items, jsonldItem{"ListItem", first + i, row.Name, v.snap.Catalog.CanonicalURLOf(row.tool)})
	}
	return list
}

func (v *view) jsonldTool(t *catalog.Tool) *jsonldTool {
	l := &jsonldTool{
		Type: "SoftwareApplication", Name: t.Name, URL: v.snap.Catalog.CanonicalURLOf(t), Description: t.Tagline,
		Category: v.label(t.Category), System: "Web",
	}
	if a, ok := parsePrice(t.Price); ok {
		l.Offers = &jsonldOffer{"Offer", a.euros, "EUR"}
	}
	return l
}

// jsonldReview describes the review of a tool. It returns nil without a score:
// search engines ignore a review without a rating.
func (v *view) jsonldReview(t *catalog.Tool) *jsonldReview {
	c := v.snap.Catalog
	if t.Score == nil || t.Body == "" {
		return nil
	}
	return &jsonldReview{
		Type: "Review", Name: "Avis sur " + t.Name, URL: c.ReviewURLOf(t),
		Rating: &jsonldRating{"Rating", *t.Score, 10, 0},
		Author: jsonldAuthor{"Organization", c.Name, c.URL}, Published: t.TestedAt, Modified: t.UpdatedAt, Language: "fr",
	}
}
