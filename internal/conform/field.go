package conform

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
)

// A field is a field of a resource, and what it must be.
type field struct {
	name string
	is   func(any) bool
	what string // for the sentence
}

func isString(v any) bool { _, ok := v.(string); return ok }
func isNumber(v any) bool { _, ok := v.(float64); return ok }
func isInteger(v any) bool {
	n, ok := v.(float64)
	return ok && n == float64(int64(n))
}
func isList(v any) bool   { _, ok := v.([]any); return ok }
func isObject(v any) bool { _, ok := v.(map[string]any); return ok }

func isDate(v any) bool {
	s, ok := v.(string)
	_, err := time.Parse(time.DateOnly, s)
	return ok && err == nil
}

func isURI(v any) bool {
	s, ok := v.(string)
	u, err := url.Parse(s)
	return ok && err == nil && u.IsAbs() && u.Host != ""
}

var priceForm = regexp.MustCompile(`^\d[\d .,\x{a0}\x{202f}]* ?€/.+$`)

func isPrice(v any) bool { s, ok := v.(string); return ok && priceForm.MatchString(s) }

func isOneOf(values ...string) func(any) bool {
	return func(v any) bool { s, ok := v.(string); return ok && slices.Contains(values, s) }
}

func orNull(is func(any) bool) func(any) bool { return func(v any) bool { return v == nil || is(v) } }

var (
	pricings = isOneOf("gratuit", "freemium", "payant")
	reasons  = []string{"mort", "acquis", "deprecie", "pivot", "absorbe"}
)

func str(name string) field     { return field{name, isString, "a string"} }
func num(name string) field     { return field{name, isNumber, "a number"} }
func integer(name string) field { return field{name, isInteger, "an integer"} }
func date(name string) field    { return field{name, isDate, "a date YYYY-MM-DD"} }
func uri(name string) field     { return field{name, isURI, "a URI"} }
func price(name string) field   { return field{name, isPrice, "a price <amount> €/<period>"} }
func model(name string) field {
	return field{name, pricings, "gratuit, freemium or payant"}
}

// The resources of the interface.
var (
	toolFields = []field{
		str("slug"), str("name"), str("domain"), str("category"),
		{"icp", isOneOf("vibe-coder", "agentic-engineer", "mixte"), "vibe-coder, agentic-engineer or mixte"},
		model("pricing"), price("price"),
		{"score", orNull(isNumber), "a number or null"},
		{"verifiability", orNull(isNumber), "a number or null"},
		str("tagline"), uri("canonical_url"),
		{"avis_url", orNull(isURI), "a URI or null"},
		uri("alternatives_url"), date("updated_at"),
	}
	comparisonFields = []field{str("slug"), str("title"), str("winner"), date("updated_at"), uri("canonical_url")}
	versusFields     = []field{
		str("slug"), {"tool_a", isObject, "an object"}, {"tool_b", isObject, "an object"}, str("winner"), str("winner_note"),
	}
	sideFields    = []field{str("name"), num("score")}
	priceFields   = []field{str("slug"), str("name"), model("pricing"), price("price")}
	historyFields = []field{
		str("slug"), model("current_pricing"), price("current_price"),
		{"price_history", isList, "a list"},
	}
	retiredFields = []field{
		str("slug"), str("name"),
		{"reason", isOneOf(reasons...), strings.Join(reasons, ", ")},
		date("retired_at"), str("note"),
	}
	categoryFields = []field{str("slug"), str("label"), integer("tool_count"), num("avg_score")}
	statFields     = []field{
		integer("tools_total"), integer("tools_tested"), num("tools_avg_score"), integer("tools_retired"),
		integer("comparatifs_total"),
	}
	documentFields = []field{
		str("slug"), str("name"), uri("canonical_url"),
		{
			"hash", func(v any) bool { s, ok := v.(string); return ok && len(s) > 7 && strings.HasPrefix(s, "sha256-") },
			"sha256-<digest>",
		},
		date("updated_at"), integer("chunk_count"),
		{"chunks", isList, "a list"},
	}
	chunkFields    = []field{str("id"), str("text"), {"metadata", isObject, "an object"}}
	metadataFields = []field{
		str("slug"), str("section"), integer("position"), uri("canonical_url"), str("tool"), str("category"),
		num("score"), num("verifiability"), date("updated_at"),
	}
)

// has checks that an object has the fields of a resource. It may have more.
func has(where string, o map[string]any, fields []field) {
	for _, f := range fields {
		v, ok := o[f.name]
		switch {
		case !ok:
			fail("%s has no field %s", where, f.name)
		case !f.is(v):
			fail("%s: %s is %v instead of %s", where, f.name, v, f.what)
		}
	}
}

// all checks every element of a list.
func (s *service) all(path string, fields []field) {
	for _, o := range s.some(path) {
		has(path, o, fields)
	}
}
