package assistant

import (
	"cmp"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"palmares/internal/catalog"
	"palmares/internal/markdown"
)

// maxSections is how many bytes the list of the sections of a review has. Readers come to
// the others by next.
const maxSections = 1200

type fetchResult struct {
	ID       string   `json:"id"`
	Title    string   `json:"title"`
	Text     string   `json:"text"`
	URL      string   `json:"url"`
	Metadata metadata `json:"metadata"`
	Next     *string  `json:"next"`
}

// metadata says what is known of a tool besides its review.
type metadata struct {
	*facts
	*test
	Sections []string          `json:"sections,omitempty"` // the ids of the first ones
	Renamed  map[string]string `json:"renamed,omitempty"`  // the former id that was asked for, and the present one
	Credit   string            `json:"credit"`
}

// facts are what the record of a tool says in a few words.
type facts struct {
	Category      string          `json:"category"`
	Tagline       string          `json:"tagline"`
	Pricing       catalog.Pricing `json:"pricing"`
	Price         *string         `json:"price"` // null if it is not public
	Display       string          `json:"price_display,omitempty"`
	Monthly       *float64        `json:"euros_per_month"`
	Score         *float64        `json:"score"`
	Verifiability *float64        `json:"verifiability"`
	Obsolescence  *float64        `json:"obsolescence"`
	UpdatedAt     string          `json:"updated_at"`
	TestedAt      string          `json:"tested_at,omitempty"`
	PriceChecked  string          `json:"price_checked_at,omitempty"`
	Freshness     string          `json:"price_freshness,omitempty"`

	Announced []catalog.Announcement `json:"announced,omitempty"`
}

// A test is what the test of a tool found. Criteria are by slug; the tool categories explains them.
type test struct {
	Summary   string         `json:"summary,omitempty"`
	Pros      []string       `json:"pros,omitempty"`
	Cons      []string       `json:"cons,omitempty"`
	Usages    []string       `json:"usages,omitempty"`
	Criteria  catalog.Values `json:"criteria,omitempty"`
	Protocol  string         `json:"protocol,omitempty"`
	Version   string         `json:"tested_version,omitempty"`
	Plan      string         `json:"tested_plan,omitempty"`
	Access    catalog.Access `json:"access,omitempty"`
	Interests string         `json:"interests,omitempty"`
}

// testOf returns what the test of a tool found, or nil if nothing is said about it.
func testOf(t *catalog.Tool) *test {
	found := &test{
		Summary: clip(t.Summary, 300), Pros: clipAll(t.Pros), Cons: clipAll(t.Cons), Usages: t.Usages, Criteria: t.Criteria,
		Protocol: clip(t.Protocol, 60), Version: clip(t.TestedVersion, 60), Plan: clip(t.TestedPlan, 60), Access: t.Access,
		Interests: clip(t.Interests, 200),
	}
	if reflect.ValueOf(*found).IsZero() {
		return nil
	}
	return found
}

func clipAll(lines []string) (list []string) {
	for _, line := range lines {
		list = append(list, clip(line, 90))
	}
	return list
}

func (c *call) facts(t *catalog.Tool) *facts {
	how, _ := c.freshness(t)
	return &facts{
		Category: t.Category, Tagline: clip(t.Tagline, 240), Pricing: t.Pricing, Price: catalog.PublicPrice(t.Pricing, t.Price),
		Display: t.PriceDisplay, Monthly: t.EurosPerMonth(), Score: t.Score, Verifiability: t.Verifiability,
		Obsolescence: t.Obsolescence, UpdatedAt: t.UpdatedAt, TestedAt: t.TestedAt, PriceChecked: t.CheckedAt(),
		Freshness: how, Announced: announced(t, false),
	}
}

// fetchText returns a review, or the section that an id names. A long one is continued
// under the id that next has.
func fetchText(c *call) (any, error) {
	var args struct {
		ID string `json:"id"`
	}
	if err := c.read(&args); err != nil {
		return nil, err
	}
	slug, place := c.cutID(args.ID)
	t, err := c.tool(args.ID)
	if err != nil {
		return nil, err
	}
	id := t.Slug
	if place != "" {
		id += "#" + place
	}
	result := fetchResult{
		ID: id, Title: nameOf(t), Text: clip(t.Tagline, 240), URL: c.snap.Catalog.CanonicalURLOf(t),
		Metadata: metadata{facts: c.facts(t), Credit: c.credit()},
	}
	if place == "" {
		result.Metadata.test = testOf(t)
	}
	if slug != t.Slug {
		result.Metadata.Renamed = map[string]string{slug: t.Slug}
	}
	id, from, _ := strings.Cut(place, "@")
	sections := markdown.Sections(t.Body)
	at := result.list(sections, id)
	switch {
	case len(sections) == 0 && place == "":
		return result, nil
	case len(sections) == 0:
		return nil, &refusal{
			nameOf(t) + " n’a pas encore d’avis, donc pas de section\u00a0: demandez l’id «\u00a0" + t.Slug + "\u00a0».",
			toolPath + t.Slug,
		}
	case at == len(sections):
		return nil, refuse("L’avis sur " + nameOf(t) + " n’a pas de section «\u00a0" + shorten(id) +
			"\u00a0». Ses sections\u00a0: " + strings.Join(result.Metadata.Sections, ", ") + ".")
	}
	result.URL = c.snap.Catalog.ReviewURLOf(t)
	if id != "" {
		result.URL += "#" + id
	}
	offset, ok := readOffset(from, sections[at].Text)
	if !ok {
		return nil, refuse("Cet id ne continue aucun avis\u00a0: envoyez le next d’une réponse tel quel.")
	}
	result.Text = ""
	byLength := func(a, b catalog.Section) int { return cmp.Compare(len(a.ID), len(b.ID)) }
	longest := len(slices.MaxFunc(sections, byLength).ID)
	left := newRoom(result).left - len(t.Slug) - longest
	text, next := part(sections, at, offset, id != "", max(left, 1000))
	result.Text = text
	if next != "" {
		result.Next = new(t.Slug + "#" + next)
	}
	return result, nil
}

// list names the first sections, and returns the position of the one with the id, or their
// number.
func (r *fetchResult) list(sections []catalog.Section, id string) int {
	left := maxSections
	for i := range sections {
		left -= len(sections[i].ID) + len(`"",`)
		if left >= 0 {
			r.Metadata.Sections = append(r.Metadata.Sections, sections[i].ID)
		}
	}
	if id == "" {
		return 0
	}
	at := slices.IndexFunc(sections, func(s catalog.Section) bool { return s.ID == id })
	if at < 0 {
		return len(sections)
	}
	return at
}

// readOffset returns the place in a text that an id ends with.
func readOffset(from, text string) (offset int, ok bool) {
	if from == "" {
		return 0, true
	}
	offset, err := strconv.Atoi(from)
	isNumber := err == nil && from == strconv.Itoa(offset)
	return offset, isNumber && offset >= 0 && offset < len(text) && utf8.RuneStart(text[offset])
}

// part returns the text from a place in a review, of at most so many bytes in JSON, and the
// place that follows: of one section, or of as many as fit.
func part(sections []catalog.Section, at, offset int, one bool, most int) (text, next string) {
	text = sections[at].Text[offset:]
	if end := fitting(text, most); end < len(text) {
		if space := strings.LastIndexByte(text[:end], ' '); space > 0 {
			end = space
		}
		return text[:end], sections[at].ID + "@" + strconv.Itoa(offset+end)
	}
	for at++; at < len(sections); at++ {
		longer := text + "\n\n" + sections[at].Text
		if one || fitting(longer, most) < len(longer) {
			return text, sections[at].ID
		}
		text = longer
	}
	return text, ""
}
