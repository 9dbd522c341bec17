package assistant

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"palmares/internal/catalog"
	"palmares/internal/french"
	"palmares/internal/search"
	"palmares/internal/snapshot"
	"palmares/internal/wire"
)

// maxResponse is how many bytes the JSON of an ordinary response has at most: models pay for
// every one.
const maxResponse = 6000

// A call is one call of a tool, on one version of the catalogue.
type call struct {
	snap      *snapshot.Snapshot
	baseURL   string // of the server; "" for the URL of the catalogue
	name      string
	schema    *jsonschema.Resolved // of its arguments
	arguments json.RawMessage
}

// A refusal says in a sentence what is wrong with a call, for the model to correct.
type refusal struct {
	text string
	path string // of a page that helps; "" for the documentation
}

func (r *refusal) Error() string { return r.text }

func refuse(text string) error { return &refusal{text: text} }

// read decodes the arguments, if the schema of the tool allows them. One that is null counts as not given.
func (c *call) read(into any) error {
	var given any = map[string]any{}
	if len(c.arguments) > 0 && string(c.arguments) != "null" {
		if err := json.Unmarshal(c.arguments, &given); err != nil {
			return err
		}
	}
	if object, ok := given.(map[string]any); ok {
		maps.DeleteFunc(object, func(_ string, value any) bool { return value == nil })
	}
	if err := cmp.Or(c.schema.ApplyDefaults(&given), c.schema.Validate(given)); err != nil {
		return refuse("Le schéma de " + c.name + ", que donne tools/list, refuse ces arguments\u00a0: " + reason(err) + ".")
	}
	allowed, err := json.Marshal(given)
	if err == nil {
		err = json.Unmarshal(allowed, into)
	}
	return err
}

var wholeNumber = regexp.MustCompile(`(\d)(/1|\.000000)\b`)

// reason returns the words of the validator: an argument instead of its place in the schema, numbers as people
// write them, and of a long value only the beginning and the end.
func reason(err error) string {
	text := strings.NewReplacer("validating root: ", "", "validating /properties/", "", "<invalid reflect.Value>", "null").Replace(err.Error())
	text = wholeNumber.ReplaceAllString(text, "$1")
	if len(text) > 300 {
		text = text[:200] + "…" + text[len(text)-80:]
	}
	return clip(text, 600)
}

func (c *call) credit() string { return c.snap.Catalog.CreditLine() }

// cutID splits an id into the slug of a tool, possibly a former one, and the place in its review.
// The name of a tool and its addresses stand for its slug.
func (c *call) cutID(id string) (slug, place string) {
	slug, place, _ = strings.Cut(strings.TrimSpace(id), "#")
	if _, address, isURL := strings.Cut(slug, "://"); isURL {
		return c.slugAt(address), place
	}
	if strings.HasPrefix(slug, "/") {
		return c.slugAt(slug), place
	}
	if _, renamed := c.snap.Aliases[catalog.ToolKind][slug]; renamed || c.snap.Catalog.Tool(slug) != nil {
		return slug, place
	}
	if i, ok := c.snap.Index.Named(id); ok { // which may have a # itself
		return c.snap.Catalog.Tools[i].Slug, ""
	}
	if i, ok := c.snap.Index.Named(slug); ok {
		slug = c.snap.Catalog.Tools[i].Slug
	} else if retired := c.snap.RetiredNamed(slug); len(retired) > 0 {
		slug = retired[0].Slug
	}
	return slug, place
}

// slugAt returns the slug of the tool that has a page at an address, without its scheme or also
// without its host.
func (c *call) slugAt(address string) string {
	address, _, _ = strings.Cut(address, "?")
	address = strings.TrimSuffix(strings.TrimSuffix(address, "/"), ".md")
	dir, slug := path.Split(address)
	for _, base := range [...]string{"", c.snap.Catalog.URL, strings.TrimSuffix(c.baseURL, "/")} {
		_, host, _ := strings.Cut(base, "://")
		switch dir {
		case host + toolPath, host + "/avis/", host + "/alternatives/", host + retiredPath:
			return slug
		}
	}
	for _, t := range c.snap.Catalog.Tools {
		for _, own := range [...]string{t.CanonicalURL, t.ReviewURL, t.AlternativesURL} {
			if _, rest, _ := strings.Cut(own, "://"); rest == address && address != "" {
				return t.Slug
			}
		}
	}
	return address
}

// tool returns the tool that an id names, or says which ones have similar names.
func (c *call) tool(id string) (*catalog.Tool, error) {
	slug, _ := c.cutID(id)
	if slug == "" {
		return nil, refuse("L’id est vide\u00a0: donnez celui d’un outil, tel que search le renvoie.")
	}
	if current, ok := c.snap.Aliases[catalog.ToolKind][slug]; ok {
		slug = current
	}
	if t := c.snap.Catalog.Tool(slug); t != nil {
		return t, nil
	}
	if r := c.snap.RetiredTool(slug); r != nil {
		text := fmt.Sprintf(endings[r.Reason], clip(r.Name, 120), french.Date(r.RetiredAt)) + " Le catalogue ne le suit plus."
		if r.Note != "" {
			text += " " + clip(r.Note, 400)
		}
		if r.Successor != "" {
			text += " Son successeur a l’id «\u00a0" + r.Successor + "\u00a0»."
		}
		if others := c.replacements(r); others != "" {
			text += " Pour le remplacer\u00a0: " + others + "."
		}
		return nil, &refusal{text, retiredPath + slug}
	}
	text := "Aucun outil n’a l’id «\u00a0" + shorten(id) + "\u00a0»."
	if near := c.nearest(slug); len(near) > 0 {
		return nil, &refusal{text + " Les plus proches\u00a0: " + strings.Join(near, ", ") + ".", toolPath + near[0]}
	}
	return nil, &refusal{text + " Cherchez-le avec search.", "/outils"}
}

// An unknown is an id that names no tool of the catalogue.
type unknown struct {
	ID    string `json:"id"`
	Error string `json:"error"` // a sentence
}

// tools returns the tools that ids name, each once, and the ids that name none, with the error of
// the first of these.
func (c *call) tools(ids []string) (known []*catalog.Tool, missing []unknown, first error) {
	for _, id := range ids {
		t, err := c.tool(id)
		if err != nil {
			missing = append(missing, unknown{shorten(id), clip(err.Error(), 300)})
			first = cmp.Or(first, err)
		} else if !slices.Contains(known, t) {
			known = append(known, t)
		}
	}
	return known, missing, first
}

// What the addresses of tools begin with, and those of retired ones.
const (
	toolPath    = "/outils/"
	retiredPath = "/cimetiere/"
)

// replacements lists the ids of tools that can take the place of a retired one.
func (c *call) replacements(r *catalog.Retired) string {
	const most = 3
	var ids []string
	for _, t := range c.snap.Replacements(r, most) {
		ids = append(ids, t.Slug)
	}
	return strings.Join(ids, ", ")
}

// endings say what became of a retired tool, and when.
var endings = map[catalog.Reason]string{
	"mort":     "%s a fermé le %s.",
	"acquis":   "%s a été racheté le %s.",
	"deprecie": "%s a été déclaré périmé par son éditeur le %s.",
	"pivot":    "%s a changé de métier le %s.",
	"absorbe":  "%s est devenu une partie d’un autre produit le %s.",
}

// nearest returns the ids that a wrong one may stand for: those of the tools that a search
// finds or, if it finds none, those that are written nearly like it.
func (c *call) nearest(slug string) (near []string) {
	const most = 3
	found := c.snap.Index.Search(search.Query{Text: strings.ReplaceAll(slug, "-", " "), Limit: most})
	for _, hit := range found.Hits {
		near = append(near, c.snap.Catalog.Tools[hit.Tool].Slug)
	}
	if len(near) > 0 || len(slug) > catalog.MaxSlug {
		return near
	}
	least := len(slug)/3 + 1
	for i := range c.snap.Catalog.Tools {
		other := c.snap.Catalog.Tools[i].Slug
		most := least
		if len(near) == 0 {
			most-- // the first one has to be nearer
		}
		switch distance := catalog.EditDistance(slug, other, most); {
		case distance < least:
			near, least = []string{other}, distance
		case distance == least && len(near) > 0 && len(near) < most:
			near = append(near, other)
		}
	}
	return near
}

// anyTool returns the slug of the tool, active or retired, that an id names; "" for "".
func (c *call) anyTool(id string) (string, error) {
	if id == "" {
		return "", nil
	}
	slug, _ := c.cutID(id)
	if c.snap.RetiredTool(slug) != nil {
		return slug, nil
	}
	t, err := c.tool(id)
	if err != nil {
		return "", err
	}
	return t.Slug, nil
}

// category returns the slug of the category that has a slug or had it, a label or an address; "" for
// "".
func (c *call) category(given string) (string, error) {
	if given == "" {
		return "", nil
	}
	slug := given
	if _, rest, isAddress := strings.Cut(slug, "/categories/"); isAddress {
		slug = strings.TrimSuffix(rest, ".md")
	}
	for i := range c.snap.Catalog.Categories {
		one := &c.snap.Catalog.Categories[i]
		if one.Slug == slug || slices.Contains(one.Aliases, slug) || search.Key(one.Label) == search.Key(slug) {
			return one.Slug, nil
		}
	}
	text := "Aucune catégorie n’a l’identifiant «\u00a0" + shorten(given) + "\u00a0»."
	if all := c.categories(); all != "" {
		text += " Les catégories\u00a0: " + all + "."
	}
	return "", refuse(text)
}

// usage returns the slug of the usage that has a slug or a label; "" for "".
func (c *call) usage(given string) (string, error) {
	if given == "" {
		return "", nil
	}
	for i := range c.snap.Catalog.Categories {
		for _, u := range c.snap.Catalog.Categories[i].Usages {
			if u.Slug == given || search.Key(u.Label) == search.Key(given) {
				return u.Slug, nil
			}
		}
	}
	return "", refuse("Aucun usage n’a l’identifiant «\u00a0" + shorten(given) + "\u00a0»\u00a0: " +
		"l’outil categories donne ceux de chaque catégorie.")
}

// categories lists the slugs of the categories, as many as a sentence can have.
func (c *call) categories() string {
	var slugs []string
	for i := range c.snap.Catalog.Categories {
		slugs = append(slugs, c.snap.Catalog.Categories[i].Slug)
	}
	return clip(strings.Join(slugs, ", "), 1500)
}

// A room is what is left of a response.
type room struct {
	left int
	used bool
}

// newRoom returns the room that a response without its items leaves.
func newRoom(empty any) *room {
	const more = 100 // for next, and for what the first item of a list adds
	return &room{left: maxResponse - more - len(wire.AppendJSON(nil, empty))}
}

// takes reports whether an item fits, and takes its room if it does. The first one always
// does, so that whoever follows next comes to an end.
func (r *room) takes(item any) bool {
	size := len(wire.AppendJSON(nil, item)) + 1
	if size > r.left && r.used {
		return false
	}
	r.left -= size
	r.used = true
	return true
}

// shorten limits words of the caller that a response repeats.
func shorten(s string) string { return clip(s, 120) }

func nameOf(t *catalog.Tool) string { return clip(t.Name, 120) }

// clip shortens a text of which responses have room for a number of bytes.
func clip(s string, most int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if end := fitting(s, most); end < len(s) {
		return s[:fitting(s, most-len("…"))] + "…"
	}
	return s
}

// fitting returns how much of a text takes at most so many bytes in JSON.
func fitting(s string, most int) int {
	for i, r := range s {
		switch {
		case r == '"' || r == '\\' || r == '\n' || r == '\t':
			most -= 2
		case r < ' ' || r == '\u2028' || r == '\u2029' || r == utf8.RuneError:
			most -= 6
		default:
			most -= utf8.RuneLen(r)
		}
		if most < 0 {
			return i
		}
	}
	return len(s)
}
