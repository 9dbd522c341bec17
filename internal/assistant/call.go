package assistant

import (
	"bytes"
	"encoding/json"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/search"
	"palmares/internal/snapshot"
	"palmares/internal/wire"
)

// maxAnswer is how many bytes the JSON of an ordinary answer has at most: models pay for
// every one.
const maxAnswer = 6000

// A call is one call of a tool, on one version of the catalogue.
type call struct {
	snap      *snapshot.Snapshot
	name      string
	arguments json.RawMessage
}

// A refusal says in a sentence what is wrong with a call, for the model to correct.
type refusal struct{ text string }

func (r *refusal) Error() string { return r.text }

func refuse(text string) error { return &refusal{text} }

// read decodes the arguments. An argument that is null counts as not given.
func (c *call) read(into any) error {
	if len(c.arguments) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(c.arguments))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return refuse("Les arguments de " + c.name + " ne sont pas recevables\u00a0: relisez son schéma, donné par tools/list, et n’envoyez que ce qu’il nomme.")
	}
	return nil
}

func (c *call) credit() string { return c.snap.Catalog.CreditLine() }

// tool returns the tool that an id names, by a former slug as well, or says which ones
// have similar names.
func (c *call) tool(id string) (*catalog.Tool, error) {
	slug, _, _ := strings.Cut(id, "#")
	if current, ok := c.snap.Alias(slug); ok {
		slug = current
	}
	if t := c.snap.Catalog.Tool(slug); t != nil {
		return t, nil
	}
	if r := c.snap.RetiredTool(slug); r != nil {
		text := r.Name + " est retiré du catalogue depuis le " + r.RetiredAt + " (" + string(r.Reason) + ")."
		if r.Note != "" {
			text += " " + shortenTo(r.Note, 300)
		}
		if r.Successor != "" {
			text += " Son successeur a l’id «\u00a0" + r.Successor + "\u00a0»."
		}
		return nil, refuse(text)
	}
	text := "Aucun outil n’a l’id «\u00a0" + shorten(id) + "\u00a0»."
	if near := c.nearest(slug); len(near) > 0 {
		return nil, refuse(text + " Les plus proches\u00a0: " + strings.Join(near, ", ") + ".")
	}
	return nil, refuse(text + " Cherchez-le avec search.")
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
		switch distance := editDistance(slug, other, least); {
		case distance < least:
			near, least = []string{other}, distance
		case distance == least && len(near) > 0 && len(near) < most:
			near = append(near, other)
		}
	}
	return near
}

// editDistance returns how many letters have to be changed, added or left out to turn a
// into b, or a number above most.
func editDistance(a, b string, most int) int {
	if max(len(a), len(b))-min(len(a), len(b)) > most {
		return most + 1
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

func (c *call) hasCategory(slug string) bool {
	for i := range c.snap.Catalog.Categories {
		if c.snap.Catalog.Categories[i].Slug == slug {
			return true
		}
	}
	return false
}

// categories lists the slugs of the categories, as many as a sentence can have.
func (c *call) categories() string {
	var slugs []string
	for i := range c.snap.Catalog.Categories {
		slugs = append(slugs, c.snap.Catalog.Categories[i].Slug)
	}
	return shortenTo(strings.Join(slugs, ", "), 1500)
}

// A room is what is left of an answer.
type room int

// newRoom returns the room that an answer without its items leaves.
func newRoom(empty any) *room {
	const more = 100 // for next
	left := room(maxAnswer - more - len(wire.AppendJSON(nil, empty)))
	return &left
}

// takes reports whether an item fits, and takes its room if it does.
func (r *room) takes(item any) bool {
	size := room(len(wire.AppendJSON(nil, item)) + 1)
	if size > *r {
		return false
	}
	*r -= size
	return true
}

// shorten limits words of the caller that an answer repeats.
func shorten(s string) string { return shortenTo(s, 60) }

func shortenTo(s string, most int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

func ptr[T any](x T) *T { return &x }
