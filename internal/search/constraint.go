package search

import (
	"math"
	"slices"
	"strings"

	"palmares/internal/catalog"
)

// A Constraint is a condition on tools, or an order of them. One or two of its fields are set, apart
// from the place; none of them means that the price is at most PriceMax, which is 0.
type Constraint struct {
	Pricing    catalog.Pricing // "gratuit" also allows tools with a free plan
	PriceMax   float64         // euros a month
	PriceMin   float64
	ScoreMin   float64
	TestedFrom string // YYYY-MM-DD
	TestedTo   string
	Without    string // words that are not in the name, nor, with About, in what the tool is about
	About      bool
	Instead    string // name of a tool whose alternatives are meant, which Without excludes
	Sort       Sort

	group      uint16 // of the category of Instead
	start, end int    // in the query
}

// A Sort is an order that a query asks for.
type Sort uint8

// The orders, the default first.
const (
	ByRelevance Sort = iota
	ByPrice          // cheapest first
	ByScore          // best first
	ByTest           // latest first
)

// limitsPrice reports whether PriceMax counts.
func (c *Constraint) limitsPrice() bool {
	return c.PriceMax > 0 || c.Pricing == "" && c.PriceMin == 0 && c.ScoreMin == 0 &&
		c.TestedFrom == "" && c.TestedTo == "" && c.Without == "" && c.Sort == ByRelevance
}

// Numbers of models, for Index.pricing; 0 is none.
var free, freemium = pricingNumber("gratuit"), pricingNumber("freemium")

func pricingNumber(p catalog.Pricing) uint8 { return uint8(slices.Index(catalog.Pricings, p) + 1) }

// Pricing returns the model of a tool, by its index in the catalogue, or "".
func (x *Index) Pricing(tool int) catalog.Pricing {
	if n := x.pricing[tool]; n > 0 {
		return catalog.Pricings[n-1]
	}
	return ""
}

// Meets reports whether a tool, by its index in the catalogue, meets a constraint, apart from what it
// is without; see bar.
func (x *Index) Meets(tool int, c *Constraint) bool {
	t, euros := x.tools[tool], float64(x.monthly[tool])
	switch {
	case c.limitsPrice() && x.monthly[tool] > float32(c.PriceMax),
		c.PriceMin > 0 && (x.monthly[tool] < float32(c.PriceMin) || math.IsInf(euros, 1)),
		c.ScoreMin > 0 && (t.Score == nil || *t.Score < c.ScoreMin),
		c.TestedFrom != "" && t.TestedAt < c.TestedFrom, c.TestedTo != "" && (t.TestedAt == "" || t.TestedAt > c.TestedTo),
		c.Instead != "" && x.group[tool] != c.group:
		return false
	}
	switch c.Pricing {
	case "":
		return true
	case "gratuit":
		return x.pricing[tool] == free || x.pricing[tool] == freemium
	}
	return x.pricing[tool] == pricingNumber(c.Pricing)
}

func (x *Index) meetsAll(tool int, all []Constraint) bool {
	for i := range all {
		if !x.Meets(tool, &all[i]) {
			return false
		}
	}
	return true
}

// A Request is a query as a person types it, with the constraints that it states. Text is
// the rest.
type Request struct {
	Text        string
	Constraints []Constraint
	Versus      []int // two tools that the query compares; nil for none
	whole       string
}

// Without returns the query without its i-th constraint.
func (r *Request) Without(i int) string {
	c := r.Constraints[i]
	return tidy(r.whole[:c.start] + " " + r.whole[c.end:])
}

// Words returns the part of the query that states its i-th constraint.
func (r *Request) Words(i int) string { return r.whole[r.Constraints[i].start:r.Constraints[i].end] }

// Stated returns the parts of the query that state constraints.
func (r *Request) Stated() string {
	parts := make([]string, len(r.Constraints))
	for i := range parts {
		parts[i] = r.Words(i)
	}
	return strings.Join(parts, " ")
}

// Sort returns the order that the query asks for.
func (r *Request) Sort() Sort {
	sort := ByRelevance
	for i := range r.Constraints {
		sort = max(sort, r.Constraints[i].Sort)
	}
	return sort
}

// Limits are what the constraints of a request allow, for programs; nil or empty for anything.
type Limits struct {
	Pricing    *catalog.Pricing `json:"pricing"`
	PriceMax   *float64         `json:"price_max"` // euros a month
	PriceMin   float64          `json:"price_min,omitempty"`
	ScoreMin   float64          `json:"score_min,omitempty"`
	TestedFrom string           `json:"tested_from,omitempty"`
	TestedTo   string           `json:"tested_to,omitempty"`
	Without    []string         `json:"without,omitempty"` // words
	Instead    string           `json:"alternatives_to,omitempty"`
	Sort       string           `json:"sort,omitempty"`
}

// Limits returns what the request allows. Of most kinds, it states one constraint at most.
func (r *Request) Limits() (l Limits) {
	for i := range r.Constraints {
		c := &r.Constraints[i]
		if c.Pricing != "" {
			l.Pricing = &c.Pricing
		}
		if c.limitsPrice() {
			l.PriceMax = &c.PriceMax
		}
		l.PriceMin, l.ScoreMin = max(l.PriceMin, c.PriceMin), max(l.ScoreMin, c.ScoreMin)
		l.TestedFrom, l.TestedTo = l.TestedFrom+c.TestedFrom, l.TestedTo+c.TestedTo
		l.Sort += [...]string{ByRelevance: "", ByPrice: "price", ByScore: "score", ByTest: "tested"}[c.Sort]
		if l.Instead += c.Instead; c.Without != "" && c.Instead == "" {
			l.Without = append(l.Without, c.Without)
		}
	}
	return l
}

func tidy(text string) string { return strings.Join(strings.Fields(text), " ") }
