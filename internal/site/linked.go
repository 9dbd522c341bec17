package site

import (
	"palmares/internal/catalog"
)

// What search engines read of a page (JSON-LD, schema.org). Templates put these
// into a script element of type application/ld+json, where html/template encodes
// them so that no text can end the element.

type linkedList struct {
	Context string       `json:"@context"`
	Type    string       `json:"@type"`
	Items   []linkedItem `json:"itemListElement"`
}

type linkedItem struct {
	Type     string `json:"@type"`
	Position int    `json:"position"`
	Name     string `json:"name"`
	URL      string `json:"url"`
}

type linkedTool struct {
	Context     string        `json:"@context,omitempty"`
	Type        string        `json:"@type"`
	Name        string        `json:"name"`
	URL         string        `json:"url"`
	Description string        `json:"description,omitempty"`
	Category    string        `json:"applicationCategory"`
	System      string        `json:"operatingSystem"`
	Offers      *linkedOffer  `json:"offers,omitempty"`
	Review      *linkedReview `json:"review,omitempty"`
}

type linkedOffer struct {
	Type     string  `json:"@type"`
	Price    float64 `json:"price"`
	Currency string  `json:"priceCurrency"`
}

type linkedReview struct {
	Context   string        `json:"@context,omitempty"`
	Type      string        `json:"@type"`
	Name      string        `json:"name"`
	URL       string        `json:"url"`
	Item      *linkedTool   `json:"itemReviewed,omitempty"`
	Rating    *linkedRating `json:"reviewRating,omitempty"`
	Author    linkedAuthor  `json:"author"`
	Published string        `json:"datePublished,omitempty"`
	Modified  string        `json:"dateModified"`
	Language  string        `json:"inLanguage"`
}

type linkedRating struct {
	Type  string  `json:"@type"`
	Value float64 `json:"ratingValue"`
	Best  int     `json:"bestRating"`
	Worst int     `json:"worstRating"`
}

type linkedAuthor struct {
	Type string `json:"@type"`
	Name string `json:"name"`
	URL  string `json:"url"`
}

const schema = "https://schema.org"

// linkedTools describes a list that begins at a rank.
func (e *edition) linkedTools(rows []toolRow, first int) *linkedList {
	if len(rows) == 0 {
		return nil
	}
	list := &linkedList{Context: schema, Type: "ItemList"}
	for i, row := range rows {
		list.Items = append(list.Items, linkedItem{"ListItem", first + i, row.Name, e.snap.Catalog.CanonicalURLOf(row.tool)})
	}
	return list
}

func (e *edition) linkedTool(t *catalog.Tool) *linkedTool {
	l := &linkedTool{
		Type: "SoftwareApplication", Name: t.Name, URL: e.snap.Catalog.CanonicalURLOf(t), Description: t.Tagline,
		Category: e.label(t.Category), System: "Web",
	}
	if a, ok := parsePrice(t.Price); ok {
		l.Offers = &linkedOffer{"Offer", a.euros, "EUR"}
	}
	return l
}

// linkedReview describes the review of a tool; nil without a score, since a
// review without a rating is of no use to whom this is for.
func (e *edition) linkedReview(t *catalog.Tool) *linkedReview {
	c := e.snap.Catalog
	if t.Score == nil || t.Body == "" {
		return nil
	}
	return &linkedReview{
		Type: "Review", Name: "Avis sur " + t.Name, URL: c.ReviewURLOf(t),
		Rating: &linkedRating{"Rating", *t.Score, 10, 0},
		Author: linkedAuthor{"Organization", c.Name, c.URL}, Published: t.TestedAt, Modified: t.UpdatedAt, Language: "fr",
	}
}
