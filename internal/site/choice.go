package site

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"palmares/internal/catalog"
	"palmares/internal/french"
	"palmares/internal/search"
)

// A choice is what the parameters of a request ask for.
type choice struct {
	tools    []*catalog.Tool // known, each once, at most maxCompared; with guesses if there are problems
	given    []string        // what the parameters name, at most maxCompared; names of tools where they are known
	same     []*catalog.Tool // that share a name that was given
	retired  []retiredTool
	problems []string
	status   int  // if there are problems
	isNormal bool // the parameters are those of compareHref
	asks     bool // there are parameters

	differences bool // lines that say the same of all are left out
}

func (c *choice) isValid() bool { return c.asks && len(c.problems) == 0 }

// refuse adds a problem. Not to be found weighs more than not to be well put.
func (c *choice) refuse(status int, sentence string) {
	c.problems, c.status = append(c.problems, sentence), max(c.status, status)
}

// readChoice reads the tools of a request: slugs, separated by commas or in a parameter each,
// as forms send them. Former slugs and names lead to slugs.
func readChoice(r *request) *choice {
	c := &choice{}
	if len(r.query) > maxChoice {
		c.asks = true
		c.refuse(http.StatusBadRequest, "Cette adresse est trop longue. Choisissez de deux à quatre outils.")
		return c
	}
	parameters, err := url.ParseQuery(r.query)
	if err != nil {
		c.asks = true
		c.refuse(http.StatusBadRequest,
			"Cette adresse est mal écrite. Séparez les outils par des virgules\u00a0: "+comparePath+"?outils=a,b.")
		return c
	}
	values := parameters["outils"]
	c.asks, c.differences = len(values) > 0, parameters.Get("differences") == "1"
	count := 0
	for _, value := range values {
		for name := range strings.SplitSeq(value, ",") {
			name = strings.TrimSpace(strings.ToValidUTF8(name, ""))
			if name == "" {
				continue
			}
			if count++; count <= maxCompared {
				if t := c.add(r, name); t != nil {
					name = r.fieldOf(t)
				}
				c.given = append(c.given, name)
			}
		}
	}
	switch {
	case !c.asks || len(c.problems) > 0 && count > 1 && count <= maxCompared:
	case count == 0:
		c.refuse(http.StatusBadRequest, "Choisissez au moins deux outils.")
	case count == 1:
		c.refuse(http.StatusBadRequest, "Il faut deux outils au moins, et vous n’en avez choisi qu’un.")
	case count > maxCompared:
		c.refuse(http.StatusBadRequest,
			"Quatre outils au plus tiennent côte à côte, et vous en avez choisi "+french.Count(count)+".")
	}
	if c.isValid() {
		c.isNormal = len(values) == 1 && comparePath+"?outils="+values[0] == compareHref(c.tools)
	}
	return c
}

// add adds the tool that has a slug, had it, or has a name, and returns it; nil if there is
// none, or several.
func (c *choice) add(r *request, given string) *catalog.Tool {
	slug := normalize(given)
	t := r.snap.Catalog.Tool(slug)
	if current, ok := r.snap.Aliases[catalog.ToolKind][slug]; ok && t == nil {
		t = r.snap.Catalog.Tool(current)
	}
	if retired := r.snap.RetiredNamed(given); t == nil && len(retired) > 0 {
		c.retired = append(c.retired, r.retiredTool(retired[0]))
		c.refuse(http.StatusNotFound, retired[0].Name+" a quitté le catalogue\u00a0: sa notice est ci-dessous.")
		return nil
	}
	if t == nil {
		exact, near := r.named(given)
		switch {
		case len(exact) == 1:
			t = exact[0]
		case len(exact) > 1:
			c.same = append(c.same, exact...)
			c.refuse(http.StatusBadRequest, "Plusieurs outils s’appellent «\u00a0"+exact[0].Name+"\u00a0»\u00a0: "+
				"choisissez par leur adresse.")
			return nil
		default:
			sentence := "Aucun outil n’est connu sous le nom «\u00a0" + clip(given, maxChoiceName) + "\u00a0»."
			if near != nil {
				sentence += " Vouliez-vous dire " + near.Name + "\u202f?"
				if !slices.Contains(c.tools, near) {
					c.tools = append(c.tools, near)
				}
			}
			c.refuse(http.StatusNotFound, sentence)
			return nil
		}
	}
	if slices.Contains(c.tools, t) {
		c.refuse(http.StatusBadRequest, t.Name+" est nommé deux fois.")
		return t
	}
	c.tools = append(c.tools, t)
	return t
}

// named returns the tools with a name, or else the one that a search finds first; nil for
// none.
func (v *view) named(name string) (exact []*catalog.Tool, near *catalog.Tool) {
	if utf8.RuneCountInString(name) > maxChoiceName {
		return nil, nil
	}
	hits := v.snap.Index.Search(search.Query{Text: name, Limit: 10}).Hits
	for _, hit := range hits {
		if t := v.snap.Catalog.Tools[hit.Tool]; normalize(t.Name) == normalize(name) {
			exact = append(exact, t)
		}
	}
	if len(exact) > 0 || len(hits) == 0 {
		return exact, nil
	}
	return nil, v.snap.Catalog.Tools[hits[0].Tool]
}

// fields returns the values of the form: what was chosen, then empty ones.
func (c *choice) fields(v *view) []compareField {
	fields := make([]compareField, maxCompared)
	for i := range fields {
		fields[i] = compareField{Number: i + 1, Optional: i >= minCompared}
		switch {
		case c.isValid() && i < len(c.tools):
			fields[i].Value = v.fieldOf(c.tools[i])
		case i < len(c.given):
			fields[i].Value = clip(c.given[i], maxChoiceName)
		}
	}
	return fields
}

// fieldOf returns what the form shows for a tool: its name, or its slug if the name leads to another
// tool or to none.
func (v *view) fieldOf(t *catalog.Tool) string {
	slug := normalize(t.Name)
	if slug == t.Slug {
		return t.Name
	}
	_, isAlias := v.snap.Aliases[catalog.ToolKind][slug]
	i, isOne := v.snap.Index.Named(t.Name)
	if isAlias || !isOne || v.snap.Catalog.Tools[i] != t || v.snap.Catalog.Tool(slug) != nil ||
		len(v.snap.RetiredNamed(t.Name)) > 0 || strings.Contains(t.Name, ",") {
		return t.Slug
	}
	return t.Name
}

// clip returns the first characters of a text.
func clip(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most]) + "…"
}

// A compareField is a control of the form.
type compareField struct {
	Number   int
	Value    string
	Optional bool
}

// onlyDifferences ends the address of a comparison without the lines that say the same of all.
const onlyDifferences = "&differences=1"

// How many tools a visitor may compare, and what is read of a choice.
const (
	minCompared   = 2
	maxCompared   = 4
	maxChoice     = 2000 // bytes of the parameters
	maxChoiceName = 100  // characters of a name
	maxNames      = 200  // tools whose names the form proposes
)

func compareHref(tools []*catalog.Tool) string {
	slugs := each(tools, func(t *catalog.Tool) string { return t.Slug })
	return comparePath + "?outils=" + strings.Join(slugs, ",")
}

const comparePath = "/comparer"
