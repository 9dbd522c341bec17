package site_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

// schemaTypes are the types of schema.org that pages use, with the properties that they use and
// what schema.org expects of each. A property that schema.org does not have for a type fails, and
// so does one that nobody has looked up yet.
var schemaTypes = map[string]string{
	"Article": "headline:Text url:URL image:URL author:Person|Organization publisher:Organization|Person dateModified:Date " +
		"inLanguage:Text about:SoftwareApplication",
	"BreadcrumbList": "itemListElement:ListItem",
	"DataDownload":   "name:Text contentUrl:URL encodingFormat:Text contentSize:Text sha256:Text",
	"Dataset": "name:Text description:Text url:URL license:URL creator:Organization|Person creditText:Text version:Text " +
		"dateModified:Date inLanguage:Text isAccessibleForFree:Boolean distribution:DataDownload",
	"ItemList":     "itemListElement:ListItem",
	"ListItem":     "position:Integer name:Text url:URL item:URL",
	"Offer":        "price:Number priceCurrency:Text priceSpecification:UnitPriceSpecification availability:ItemAvailability",
	"Organization": "name:Text url:URL logo:URL",
	"Person":       "name:Text url:URL",
	"Rating":       "ratingValue:Number bestRating:Number worstRating:Number reviewAspect:Text ratingExplanation:Text",
	"Review": "name:Text url:URL itemReviewed:SoftwareApplication abstract:Text reviewRating:Rating positiveNotes:ItemList " +
		"negativeNotes:ItemList author:Person|Organization publisher:Organization|Person datePublished:Date dateModified:Date inLanguage:Text",
	"SoftwareApplication":    "name:Text url:URL description:Text applicationCategory:Text image:URL offers:Offer review:Review",
	"UnitPriceSpecification": "price:Number priceCurrency:Text unitText:Text unitCode:Text billingDuration:Number",
	"WebPage":                "name:Text url:URL publisher:Organization|Person inLanguage:Text",
}

// schemaValues are the types of schema.org that are not objects.
var schemaValues = map[string]func(any) bool{
	"Text":    func(v any) bool { s, ok := v.(string); return ok && s != "" },
	"Number":  func(v any) bool { _, ok := v.(float64); return ok },
	"Boolean": func(v any) bool { _, ok := v.(bool); return ok },
	"Integer": func(v any) bool { x, ok := v.(float64); return ok && x == float64(int(x)) },
	"URL": func(v any) bool {
		s, _ := v.(string)
		u, err := url.Parse(s)
		return err == nil && u.IsAbs() && u.Host != ""
	},
	"Date": func(v any) bool {
		s, _ := v.(string)
		_, day := time.Parse(time.DateOnly, s)
		_, second := time.Parse(time.RFC3339, s)
		return day == nil || second == nil
	},
	"ItemAvailability": func(v any) bool { return v == "https://schema.org/Discontinued" },
}

// schemaProblems says what is wrong with a value where one of some types is expected.
func schemaProblems(at string, v any, expected []string) (problems []string) {
	if list, ok := v.([]any); ok {
		for i, item := range list {
			problems = append(problems, schemaProblems(fmt.Sprintf("%s[%d]", at, i), item, expected)...)
		}
		return problems
	}
	object, ok := v.(map[string]any)
	if !ok {
		if slices.ContainsFunc(expected, func(name string) bool { return schemaValues[name] != nil && schemaValues[name](v) }) {
			return nil
		}
		return []string{fmt.Sprintf("%s is %v, not of the type %s", at, v, strings.Join(expected, " or "))}
	}
	kind, _ := object["@type"].(string)
	properties, known := schemaTypes[kind]
	if !known || expected != nil && !slices.Contains(expected, kind) {
		return []string{fmt.Sprintf("%s has the type %q, not %s", at, kind, strings.Join(expected, " or "))}
	}
	allowed := map[string]string{}
	for _, property := range strings.Fields(properties) {
		name, types, _ := strings.Cut(property, ":")
		allowed[name] = types
	}
	for name, value := range object {
		switch types := allowed[name]; {
		case name == "@type" || name == "@context" && value == "https://schema.org":
		case types == "":
			problems = append(problems, fmt.Sprintf("%s: %s has no property %s", at, kind, name))
		default:
			problems = append(problems, schemaProblems(at+"."+name, value, strings.Split(types, "|"))...)
		}
	}
	return problems
}

func TestStructuredDataFollowsTheTypesOfSchemaOrg(t *testing.T) {
	v := openDemo(t)
	used := map[string]bool{}
	for _, path := range append([]string{"/methode"}, kinds...) {
		for _, script := range linkedPattern.FindAllStringSubmatch(v.get(path).ok().body, -1) {
			var data any
			if err := json.Unmarshal([]byte(script[1]), &data); err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			for _, problem := range schemaProblems(path, data, nil) {
				t.Error(problem)
			}
			for kind := range schemaTypes {
				used[kind] = used[kind] || strings.Contains(script[1], `"@type":"`+kind+`"`)
			}
		}
	}
	for kind := range schemaTypes {
		if !used[kind] {
			t.Errorf("no page has a %s", kind)
		}
	}
}
