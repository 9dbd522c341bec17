package site

import (
	"cmp"
	"math"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/wire"
)

// Structured data for search engines (JSON-LD, schema.org). Templates put it in a
// script element of type application/ld+json, where html/template encodes it so
// that no text can close the element.

// An object is a JSON object: names and values in turn. Texts and lists that are empty are left out.
type object []any

// MarshalJSON implements json.Marshaler.
func (o object) MarshalJSON() ([]byte, error) { return appendValue(nil, o), nil }

// appendValue appends a value, and nothing of one that is empty.
func appendValue(b []byte, value any) []byte {
	start := len(b)
	switch value := value.(type) {
	case string:
		if value != "" {
			b = wire.AppendJSON(b, value)
		}
	case object:
		for i := 0; i < len(value); i += 2 {
			named := append(append(append(b, `,"`...), value[i].(string)...), `":`...)
			if with := appendValue(named, value[i+1]); len(with) > len(named) {
				b = with
			}
		}
		b = closed(b, start, '{', '}')
	case []object:
		for _, one := range value {
			b = appendValue(append(b, ','), one)
		}
		b = closed(b, start, '[', ']')
	case []string:
		for _, one := range value {
			b = wire.AppendJSON(append(b, ','), one)
		}
		b = closed(b, start, '[', ']')
	default:
		b = wire.AppendJSON(b, value)
	}
	return b
}

// closed puts what was appended after start, each part behind a comma, between brackets.
func closed(b []byte, start int, opening, closing byte) []byte {
	if len(b) == start {
		return b
	}
	b[start] = opening
	return append(b, closing)
}

const schemaOrg = "https://schema.org"

// inContext begins the outermost object of a page.
func inContext(o object) object {
	if len(o) == 0 {
		return nil
	}
	return append(object{"@context", schemaOrg}, o...)
}

// itemList returns a list of things with the properties of each, of which the first has a position.
func itemList(kind string, first int, items []object) object {
	for i, item := range items {
		items[i] = append(object{"@type", "ListItem", "position", first + i}, item...)
	}
	if len(items) == 0 {
		return nil
	}
	return object{"@type", kind, "itemListElement", items}
}

func jsonldNotes(lines []string) object {
	return itemList("ItemList", 1, each(lines, func(line string) object { return object{"name", line} }))
}

// rating returns the score of a tool, with what its criteria say, if it has any: marks as they are,
// measures where they stand on their scale, with the value in words.
func (v *view) rating(t *catalog.Tool) any {
	list := []object{{"@type", "Rating", "ratingValue", *t.Score, "bestRating", 10, "worstRating", 0}}
	c := v.category(t.Category)
	for _, value := range t.Criteria {
		x := (*catalog.Criterion)(nil)
		if c != nil {
			x = c.Criterion(value.Name)
		}
		if x == nil || x.Is() == catalog.KindYesNo {
			continue
		}
		mark, text := value.Number, ""
		if x.Is() == catalog.KindMeasure {
			mark, text = math.Round(x.Place(value)*100)/10, criterionValue(x, value)
		}
		list = append(list, object{
			"@type", "Rating", "reviewAspect", x.Label, "ratingValue", mark, "bestRating", 10, "worstRating", 0,
			"ratingExplanation", text,
		})
	}
	if len(list) == 1 {
		return list[0]
	}
	return list
}

// crumbs returns the way to the page of a tool, active or retired: from a list, by its category.
func (v *view) crumbs(list link, category, name, url string) object {
	base := v.snap.Catalog.URL
	return inContext(itemList("BreadcrumbList", 1, []object{
		{"name", list.Text, "item", base + list.Href},
		{"name", v.Label(category), "item", base + "/categories/" + category},
		{"name", name, "item", url},
	}))
}

// jsonldTools describes a list of tools whose first has the given rank.
func (v *view) jsonldTools(rows []toolRow, first int) object {
	return inContext(itemList("ItemList", first, each(rows, func(row toolRow) object {
		return object{"name", row.Name, "url", v.snap.Catalog.CanonicalURLOf(row.Tool)}
	})))
}

func (v *view) jsonldTool(t *catalog.Tool) object {
	return object{
		"@type", "SoftwareApplication", "name", t.Name, "url", v.snap.Catalog.CanonicalURLOf(t),
		"description", t.Tagline, "applicationCategory", v.Label(t.Category),
		"image", v.sharedURL(cmp.Or(t.Image, t.Logo)), "offers", jsonldOffer(t),
	}
}

var unitCodes = map[string]string{
	"an": "ANN", "semestre": "SAN", "trimestre": "QAN", "mois": "MON", "semaine": "WEE", "heure": "HUR", "minute": "MIN",
}

// jsonldOffer returns the price of a tool; nil if none is public, or it cannot be read. Only that of a free tool
// stands alone: without its unit the price of a minute would read as that of the tool.
func jsonldOffer(t *catalog.Tool) object {
	amount, unit, code, ok := t.Asked()
	switch {
	case !ok || !catalog.IsPublic(t.Pricing, t.Price):
		return nil
	case amount == 0:
		return object{"@type", "Offer", "price", amount, "priceCurrency", code}
	}
	ofUnit := unitCodes[strings.ToLower(unit)] // of UN/CEFACT
	u := object{
		"@type", "UnitPriceSpecification", "price", amount, "priceCurrency", code, "unitText", unit, "unitCode", ofUnit,
	}
	if _, isMonthly := catalog.Monthly(t.Pricing, t.Price); isMonthly && ofUnit != "" {
		u = append(u, "billingDuration", 1) // of a subscription
	}
	return object{"@type", "Offer", "priceSpecification", u}
}

// jsonldReview describes the review of a tool, whose description is given if the page has it nowhere else. It returns
// nil without a score: search engines ignore a review without a rating.
func (v *view) jsonldReview(t *catalog.Tool, item object) object {
	if t.Score == nil || t.Body == "" {
		return nil
	}
	return object{
		"@type", "Review", "name", "Avis sur " + t.Name, "url", v.snap.Catalog.ReviewURLOf(t), "itemReviewed", item,
		"abstract", t.Summary, "reviewRating", v.rating(t), "positiveNotes", jsonldNotes(t.Pros),
		"negativeNotes", jsonldNotes(t.Cons), "author", v.authors(t.Authors), "publisher", v.organization(),
		"datePublished", t.TestedAt, "dateModified", t.UpdatedAt, "inLanguage", "fr",
	}
}

func (v *view) jsonldText(x *catalog.Article, url string) object {
	genre, about := "", []object{}
	if x.Sponsored {
		genre = sponsoredName
	}
	for _, slug := range x.Tools {
		if t := v.snap.Catalog.Tool(slug); t != nil {
			about = append(about, v.jsonldTool(t))
		}
	}
	return v.jsonldArticle(x.Title, url, x.Image, x.Authors, object{
		"datePublished", x.Date, "genre", genre, "inLanguage", "fr", "about", about,
	})
}

func (v *view) jsonldObituary(t *catalog.Retired) object {
	url := v.snap.Catalog.RetiredURLOf(t.Slug)
	return v.jsonldArticle(t.Name+"\u00a0: outil disparu", url, "", nil, object{"inLanguage", "fr", "about", []object{{
		"@type", "SoftwareApplication", "name", t.Name, "url", url, "applicationCategory", v.Label(t.Category),
		"offers",
		object{"@type", "Offer", "availability", schemaOrg + "/Discontinued"},
	}}})
}

// jsonldArticle describes a text with a headline.
func (v *view) jsonldArticle(headline, url, image string, authors []string, more object) object {
	return append(inContext(object{
		"@type", "Article", "headline", headline, "url", url, "image", v.sharedURL(image),
		"author", v.authors(authors), "publisher", v.organization(),
	}), more...)
}

// authors returns who wrote a text: persons, or else the publisher.
func (v *view) authors(names []string) []object {
	if len(names) == 0 {
		return []object{v.organization()}
	}
	return each(names, func(name string) object {
		url := ""
		if a := v.people[name]; a != nil {
			url = v.snap.Catalog.URL + "/auteurs/" + a.Slug
		}
		return object{"@type", "Person", "name", name, "url", url}
	})
}

// organization returns who publishes the catalogue.
func (v *view) organization() object {
	c := v.snap.Catalog
	return object{
		"@type", "Organization", "name", cmp.Or(c.Settings.Publisher, c.Name), "url", c.URL,
		"logo", v.sharedURL(c.Settings.Logo),
	}
}
