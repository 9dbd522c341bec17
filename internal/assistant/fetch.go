package assistant

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"palmares/internal/catalog"
	"palmares/internal/markdown"
)

// maxText is how many bytes of a review one answer has, so that with all else it stays
// below maxAnswer: text is in it twice as long if it is full of quotation marks.
const maxText = 3500

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
	facts
	Sections []string `json:"sections,omitempty"` // their ids
	Credit   string   `json:"credit"`
}

// facts are what the record of a tool says in a few words.
type facts struct {
	Category      string          `json:"category"`
	Tagline       string          `json:"tagline"`
	Pricing       catalog.Pricing `json:"pricing"`
	Price         string          `json:"price"`
	Score         *float64        `json:"score"`
	Verifiability *float64        `json:"verifiability"`
	Obsolescence  *float64        `json:"obsolescence"`
	UpdatedAt     string          `json:"updated_at"`
	TestedAt      string          `json:"tested_at,omitempty"`
	PriceChecked  string          `json:"price_checked_at,omitempty"`
}

func (c *call) facts(t *catalog.Tool) facts {
	return facts{
		Category: t.Category, Tagline: t.Tagline, Pricing: t.Pricing, Price: t.Price, Score: t.Score, Verifiability: t.Verifiability,
		Obsolescence: t.Obsolescence, UpdatedAt: t.UpdatedAt, TestedAt: t.TestedAt, PriceChecked: t.PriceCheckedAt,
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
	slug, place, _ := strings.Cut(args.ID, "#")
	t, err := c.tool(slug)
	if err != nil {
		return nil, err
	}
	result := fetchResult{ID: args.ID, Title: t.Name, Text: t.Tagline, URL: c.snap.Catalog.CanonicalURLOf(t), Metadata: metadata{facts: c.facts(t), Credit: c.credit()}}
	sections := markdown.Sections(t.Body)
	for _, s := range sections {
		result.Metadata.Sections = append(result.Metadata.Sections, s.ID)
	}
	if len(sections) == 0 {
		return result, nil
	}
	id, from, _ := strings.Cut(place, "@")
	at := 0
	for id != "" && at < len(sections) && sections[at].ID != id {
		at++
	}
	if at == len(sections) {
		return nil, refuse("L’avis sur " + t.Name + " n’a pas de section «\u00a0" + shorten(id) + "\u00a0». Ses sections\u00a0: " + strings.Join(result.Metadata.Sections, ", ") + ".")
	}
	result.URL = c.snap.Catalog.ReviewURLOf(t)
	if id != "" {
		result.URL += "#" + id
	}
	offset, err := strconv.Atoi(from)
	if from != "" && (err != nil || offset < 0 || offset >= len(sections[at].Text) || !utf8.RuneStart(sections[at].Text[offset])) {
		return nil, refuse("Cet id ne continue aucun avis\u00a0: envoyez le next d’une réponse tel quel.")
	}
	text, next := part(sections, at, offset, id != "")
	result.Text = text
	if next != "" {
		next = t.Slug + "#" + next
		result.Next = &next
	}
	return result, nil
}

// part returns the text from a place in a review, and the place that follows: of one
// section, or of as many as fit.
func part(sections []catalog.Section, at, offset int, one bool) (text, next string) {
	text = sections[at].Text[offset:]
	if len(text) > maxText {
		end := strings.LastIndexByte(text[:maxText], ' ')
		if end <= 0 {
			for end = maxText; !utf8.RuneStart(text[end]); {
				end--
			}
		}
		return text[:end], sections[at].ID + "@" + strconv.Itoa(offset+end)
	}
	for at++; at < len(sections); at++ {
		if one || len(text)+len(sections[at].Text)+2 > maxText {
			return text, sections[at].ID
		}
		text += "\n\n" + sections[at].Text
	}
	return text, ""
}
