package evidence

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"
)

// An offer is a price in the structured data of a page.
type offer struct {
	of, plan, price, currency, unit string
	until                           string // the last day, "" if it does not say
}

// readData reads a block of JSON-LD.
func (b *builder) readData(text string) {
	var data any
	if len(text) <= maxText && json.Unmarshal([]byte(text), &data) == nil {
		b.readNode(data, "", 0)
	}
}

// readNode reads a value; of is the name of what it belongs to.
func (b *builder) readNode(data any, of string, depth int) {
	if depth > 20 || len(b.page.offers) > 100 {
		return
	}
	switch data := data.(type) {
	case []any:
		for _, item := range data {
			b.readNode(item, of, depth+1)
		}
	case map[string]any:
		kind := words(data["@type"])
		if strings.Contains(kind, "Article") || strings.Contains(kind, "BlogPosting") {
			b.page.isDated = true
		}
		if strings.Contains(kind, "Offer") && !strings.Contains(kind, "AggregateOffer") {
			b.addOffer(data, of)
		}
		if strings.Contains(kind, "Product") || strings.Contains(kind, "Application") || strings.Contains(kind, "Service") {
			of = words(data["name"])
		}
		for _, name := range []string{"@graph", "offers", "mainEntity", "itemListElement", "item", "hasVariant", "itemOffered"} {
			b.readNode(data[name], of, depth+1)
		}
	}
}

func (b *builder) addOffer(data map[string]any, of string) {
	o := offer{of: of, until: words(data["priceValidUntil"]), plan: words(data["name"]), price: words(data["price"]), currency: words(data["priceCurrency"])}
	specifications, _ := data["priceSpecification"].([]any)
	if one, ok := data["priceSpecification"].(map[string]any); ok {
		specifications = []any{one}
	}
	if len(specifications) != 1 {
		if o.price != "" {
			b.page.offers = append(b.page.offers, o)
		}
		return
	}
	if s, ok := specifications[0].(map[string]any); ok {
		if p := words(s["price"]); p != "" {
			o.price = p
		}
		if c := words(s["priceCurrency"]); c != "" {
			o.currency = c
		}
		o.unit = cmp.Or(words(s["unitText"])+words(s["unitCode"]), words(s["billingDuration"]))
		if q, ok := s["referenceQuantity"].(map[string]any); ok {
			o.unit = words(q["unitText"]) + words(q["unitCode"])
			if value := words(q["value"]); value != "" && value != "1" {
				o.unit = "?"
			}
		}
	}
	b.page.offers = append(b.page.offers, o)
}

// words returns a JSON value that is text or a number as text.
func words(data any) string {
	switch data := data.(type) {
	case string:
		return strings.TrimSpace(data)
	case float64:
		text, _ := json.Marshal(data)
		return string(text)
	case []any:
		if len(data) > 0 {
			return words(data[0])
		}
	}
	return ""
}

// judgeOffers decides by the structured data of a page without an amount in its text.
func (p *page) judgeOffers(c *Claim, want price) Result {
	seen, changed := false, false
	for _, o := range p.offers {
		value, ok := parseNumber(o.price)
		if !ok || c.Hint != "" && planName(o.plan) != planName(c.Hint) {
			continue
		}
		unit := offerUnits[strings.ToUpper(o.unit)]
		isLapsed := o.until != "" && o.until < time.Now().Format(time.DateOnly)
		isOthers := c.Hint == "" && !strings.Contains(planName(o.of+" "+o.plan), planName(c.Name)) && o.of != ""
		if unit == "" || p.isOther(nil) || isLapsed || isOthers {
			seen = true
			continue
		}
		if (price{value, strings.ToUpper(o.currency), unit}) == want {
			return Confirmed
		}
		changed = changed || strings.EqualFold(o.currency, want.currency) && value != want.value
	}
	if changed && !seen {
		return Changed
	}
	return Unreadable
}

var offerUnits = map[string]string{
	"MON": "mois", "MONTH": "mois", "MOIS": "mois", "P1M": "mois", "MONTHLY": "mois", "ANN": "an", "YEAR": "an", "AN": "an", "P1Y": "an", "YEARLY": "an",
	"WEE": "semaine", "WEEK": "semaine", "DAY": "jour", "MONTHMON": "mois", "YEARANN": "an",
}
