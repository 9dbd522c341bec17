package site

import (
	"cmp"
	"math"
	"strings"

	"palmares/internal/catalog"
)

// Structured data for search engines (JSON-LD, schema.org). Templates put it in a
// script element of type application/ld+json, where html/template encodes it so
// that no text can close the element.

// A jsonldList is a list of tools, of points of a test, or of the pages on the way to this one.
type jsonldList struct {
	Context string       `json:"@context,omitempty"`
	Type    string       `json:"@type"`
	Items   []jsonldItem `json:"itemListElement"`
}

type jsonldItem struct {
	Type     string `json:"@type"`
	Position int    `json:"position"`
	Name     string `json:"name"`
	URL      string `json:"url,omitempty"`
	Item     string `json:"item,omitempty"` // address of a page on the way
}

type jsonldTool struct {
	Context     string       `json:"@context,omitempty"`
	Type        string       `json:"@type"`
	Name        string       `json:"name"`
	URL         string       `json:"url"`
	Description string       `json:"description,omitempty"`
	Category    string       `json:"applicationCategory"`
	Image       string       `json:"image,omitempty"`
	Offers      *jsonldOffer `json:"offers,omitempty"`
	Review      *jsonldText  `json:"review,omitempty"`
}

// A jsonldOffer has the price of a free tool itself, any other in Unit: without its unit the
// price of a minute would read as that of the tool.
type jsonldOffer struct {
	Type         string      `json:"@type"`
	Price        *float64    `json:"price,omitempty"`
	Currency     string      `json:"priceCurrency,omitempty"`
	Unit         *jsonldUnit `json:"priceSpecification,omitempty"`
	Availability string      `json:"availability,omitempty"`
}

type jsonldUnit struct {
	Type     string  `json:"@type"`
	Price    float64 `json:"price"`
	Currency string  `json:"priceCurrency"`
	Text     string  `json:"unitText"`
	Code     string  `json:"unitCode,omitempty"`        // of UN/CEFACT
	Duration int     `json:"billingDuration,omitempty"` // in units, of a subscription
}

type jsonldRating struct {
	Type   string  `json:"@type"`
	Aspect string  `json:"reviewAspect,omitempty"`
	Value  float64 `json:"ratingValue"`
	Best   float64 `json:"bestRating"`
	Worst  float64 `json:"worstRating"`
	Text   string  `json:"ratingExplanation,omitempty"`
}

func newJSONLDNotes(lines []string) *jsonldList {
	if len(lines) == 0 {
		return nil
	}
	notes := &jsonldList{Type: "ItemList"}
	for i, line := range lines {
		notes.Items = append(notes.Items, jsonldItem{Type: "ListItem", Position: i + 1, Name: line})
	}
	return notes
}

// rating returns the score of a tool, with what its criteria say, if it has any: marks as they are,
// measures where they stand on their scale, with the value in words.
func (v *view) rating(t *catalog.Tool) any {
	list := []jsonldRating{{Type: "Rating", Value: *t.Score, Best: 10}}
	c := v.category(t.Category)
	for _, value := range t.Criteria {
		x := (*catalog.Criterion)(nil)
		if c != nil {
			x = c.Criterion(value.Name)
		}
		if x == nil || x.Is() == catalog.KindYesNo {
			continue
		}
		rating := jsonldRating{Type: "Rating", Aspect: x.Label, Value: value.Number, Best: 10}
		if x.Is() == catalog.KindMeasure {
			rating.Value, rating.Text = math.Round(x.Place(value)*100)/10, criterionValue(x, value)
		}
		list = append(list, rating)
	}
	if len(list) == 1 {
		return list[0]
	}
	return list
}

// crumbs returns the way to the page of a tool, active or retired: from a list, by its category.
func (v *view) crumbs(list link, category, name, url string) *jsonldList {
	base := v.snap.Catalog.URL
	return &jsonldList{Context: schemaOrg, Type: "BreadcrumbList", Items: []jsonldItem{
		{Type: "ListItem", Position: 1, Name: list.Text, Item: base + list.Href},
		{Type: "ListItem", Position: 2, Name: v.label(category), Item: base + "/categories/" + category},
		{Type: "ListItem", Position: 3, Name: name, Item: url},
	}}
}

// A jsonldAgent is a person or an organization.
type jsonldAgent struct {
	Context  string       `json:"@context,omitempty"`
	Type     string       `json:"@type"`
	Name     string       `json:"name"`
	URL      string       `json:"url,omitempty"`
	Logo     string       `json:"logo,omitempty"`
	Role     string       `json:"jobTitle,omitempty"`
	Image    string       `json:"image,omitempty"`
	SameAs   []string     `json:"sameAs,omitempty"`
	Employer *jsonldAgent `json:"worksFor,omitempty"`
}

// A jsonldText is a review, an article, a comparison, an obituary, or a page that the publisher wrote.
type jsonldText struct {
	Context   string        `json:"@context,omitempty"`
	Type      string        `json:"@type"`
	Headline  string        `json:"headline,omitempty"`
	Name      string        `json:"name,omitempty"`
	URL       string        `json:"url"`
	Image     string        `json:"image,omitempty"`
	Item      *jsonldTool   `json:"itemReviewed,omitempty"`
	Body      string        `json:"abstract,omitempty"`
	Rating    any           `json:"reviewRating,omitempty"` // or several
	Pros      *jsonldList   `json:"positiveNotes,omitempty"`
	Cons      *jsonldList   `json:"negativeNotes,omitempty"`
	Author    []jsonldAgent `json:"author,omitempty"`
	Publisher *jsonldAgent  `json:"publisher,omitempty"`
	Published string        `json:"datePublished,omitempty"`
	Modified  string        `json:"dateModified,omitempty"`
	Genre     string        `json:"genre,omitempty"`
	Language  string        `json:"inLanguage"`
	About     []*jsonldTool `json:"about,omitempty"`
}

const schemaOrg = "https://schema.org"

// jsonldTools describes a list of tools whose first has the given rank.
func (v *view) jsonldTools(rows []toolRow, first int) *jsonldList {
	if len(rows) == 0 {
		return nil
	}
	list := &jsonldList{Context: schemaOrg, Type: "ItemList"}
	for i, row := range rows {
		list.Items = append(list.Items,
			jsonldItem{Type: "ListItem", Position: first + i, Name: row.Name, URL: v.snap.Catalog.CanonicalURLOf(row.tool)})
	}
	return list
}

func (v *view) jsonldTool(t *catalog.Tool) *jsonldTool {
	l := &jsonldTool{
		Type: "SoftwareApplication", Name: t.Name, URL: v.snap.Catalog.CanonicalURLOf(t), Description: t.Tagline,
		Category: v.label(t.Category),
	}
	if image := v.shared(cmp.Or(t.Image, t.Logo)); image != nil {
		l.Image = image.URL
	}
	l.Offers = newJSONLDOffer(t)
	return l
}

var unitCodes = map[string]string{
	"an": "ANN", "semestre": "SAN", "trimestre": "QAN", "mois": "MON", "semaine": "WEE", "heure": "HUR", "minute": "MIN",
}

// newJSONLDOffer returns the price of a tool; nil if none is public, or it cannot be read.
func newJSONLDOffer(t *catalog.Tool) *jsonldOffer {
	amount, unit, code, ok := t.Asked()
	switch {
	case !ok || !catalog.IsPublic(t.Pricing, t.Price):
		return nil
	case amount == 0:
		return &jsonldOffer{Type: "Offer", Price: &amount, Currency: code}
	}
	u := &jsonldUnit{
		Type: "UnitPriceSpecification", Price: amount, Currency: code, Text: unit, Code: unitCodes[strings.ToLower(unit)],
	}
	if _, isMonthly := catalog.Monthly(t.Pricing, t.Price); isMonthly && u.Code != "" {
		u.Duration = 1
	}
	return &jsonldOffer{Type: "Offer", Unit: u}
}

// jsonldReview describes the review of a tool. It returns nil without a score:
// search engines ignore a review without a rating.
func (v *view) jsonldReview(t *catalog.Tool) *jsonldText {
	c := v.snap.Catalog
	if t.Score == nil || t.Body == "" {
		return nil
	}
	return &jsonldText{
		Type: "Review", Name: "Avis sur " + t.Name, URL: c.ReviewURLOf(t),
		Body: t.Summary, Rating: v.rating(t), Pros: newJSONLDNotes(t.Pros), Cons: newJSONLDNotes(t.Cons),
		Author: v.authors(t.Authors), Publisher: v.organization(), Published: t.TestedAt, Modified: t.UpdatedAt,
		Language: "fr",
	}
}

func (v *view) jsonldComparison(x *catalog.Comparison, sides []toolRow) *jsonldText {
	a := v.jsonldArticle(x.Title, v.snap.Catalog.ComparisonURLOf(x.Slug), x.Image, x.Authors)
	a.Modified = x.UpdatedAt
	for _, side := range sides {
		a.About = append(a.About, v.jsonldTool(side.tool))
	}
	return a
}

func (v *view) jsonldText(x *catalog.Article, url string) *jsonldText {
	a := v.jsonldArticle(x.Title, url, x.Image, x.Authors)
	a.Published = x.Date
	if x.Sponsored {
		a.Genre = "Article sponsorisé"
	}
	for _, slug := range x.Tools {
		if t := v.snap.Catalog.Tool(slug); t != nil {
			a.About = append(a.About, v.jsonldTool(t))
		}
	}
	return a
}

func (v *view) jsonldObituary(t *catalog.Retired) *jsonldText {
	url := v.snap.Catalog.RetiredURLOf(t.Slug)
	a := v.jsonldArticle(t.Name+"\u00a0: outil disparu", url, "", nil)
	a.About = []*jsonldTool{{
		Type: "SoftwareApplication", Name: t.Name, URL: url, Category: v.label(t.Category),
		Offers: &jsonldOffer{Type: "Offer", Availability: schemaOrg + "/Discontinued"},
	}}
	return a
}

// jsonldArticle describes a text with a headline.
func (v *view) jsonldArticle(headline, url, image string, authors []string) *jsonldText {
	a := &jsonldText{
		Context: schemaOrg, Type: "Article", Headline: headline, URL: url, Author: v.authors(authors),
		Publisher: v.organization(), Language: "fr",
	}
	if shared := v.shared(image); shared != nil {
		a.Image = shared.URL
	}
	return a
}

// authors returns who wrote a text: persons, or else the publisher.
func (v *view) authors(names []string) []jsonldAgent {
	if len(names) == 0 {
		return []jsonldAgent{*v.organization()}
	}
	return each(names, func(name string) jsonldAgent {
		one := jsonldAgent{Type: "Person", Name: name}
		if a := v.people[name]; a != nil {
			one.URL = v.snap.Catalog.URL + "/auteurs/" + a.Slug
		}
		return one
	})
}

// organization returns who publishes the catalogue.
func (v *view) organization() *jsonldAgent {
	c := v.snap.Catalog
	o := &jsonldAgent{Type: "Organization", Name: cmp.Or(c.Settings.Publisher, c.Name), URL: c.URL}
	if logo := v.shared(c.Settings.Logo); logo != nil {
		o.Logo = logo.URL
	}
	return o
}
