// Package sharecard draws the pictures that other sites show beside a link to a page
// which has no picture of its own: a name, a sentence, scores and the site's name; and the icons
// of the site.
//
// A card is drawn with the fonts in the binary and in a fixed set of colours, so that every
// node draws the same picture. Characters that the fonts lack are replaced or left out: a
// preview must not show empty boxes.
package sharecard

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"image"
	"image/color"
	"image/png"
)

// The size that social networks ask for.
const (
	Width  = 1200
	Height = 630
)

// version is part of every digest. Raise it when the drawing changes: caches keep cards
// for a year.
const version = 3

// A Card is what a picture shows. Only Title and Site are required. Text may be of any
// length; what does not fit ends in an ellipsis.
type Card struct {
	Site   string // name of the catalogue
	Host   string // where it is
	Palm   bool   // the mark of the site is drawn before its name
	Kicker string // a few words above the title
	Title  string
	Slug   string     // drawn instead of a title of which no character can be drawn
	Text   string     // not drawn with two scores, only part of the words beside the picture
	Scores []Score    // one is drawn large, beside the title; two have their names
	Accent color.RGBA // of the site
}

// A Score is that of one tool.
type Score struct {
	Name  string // drawn if there are two
	Value string // such as "8,5"; "" draws a dash
	Best  bool   // drawn in full colour
}

// maxScores is how many are drawn.
const maxScores = 2

// Digest identifies the picture: two cards with the same digest have the same bytes.
func (c Card) Digest() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %#v", version, c))
	return hex.EncodeToString(sum[:8])
}

// Where things are, in pixels.
const (
	margin    = 84
	right     = Width - margin
	headline  = 86 // top of the site's name
	ruleAt    = 542
	footline  = 568 // top of the line below the rule
	bodyTop   = 160
	bodyEnd   = ruleAt - 24
	large     = 210 // diameter of a single score
	small     = 104 // diameter of one of two
	betweenBy = 56  // between the title and the large score
)

// PNG draws the card.
func (c Card) PNG() []byte {
	if drawable(c.Title, bold()) == "" {
		c.Title = c.Slug
	}
	p := newCanvas(c.Accent)
	p.fill(image.Rect(0, 0, Width, 14), p.accent)
	p.fill(image.Rect(margin, ruleAt, right, ruleAt+2), rule)

	// The head: the palm, the name of the site, and what the page is.
	x := margin
	if c.Palm {
		p.blend(x-4, headline-18, palm(54), p.accent)
		x += 64
	}
	site := p.fit(c.Site, bold(), 620, 1, 36)
	site.draw(x, headline, ink)
	kicker := p.fit(c.Kicker, regular(), right-(x+site.width())-40, 1, 30)
	kicker.draw(right-kicker.width(), headline+site.height()-kicker.height(), soft)
	p.fit(c.Host, regular(), right-margin, 1, 28).draw(margin, footline, soft)

	if len(c.Scores) >= maxScores {
		c.drawPair(p)
	} else {
		c.drawOne(p)
	}
	return encode(p.img)
}

func encode(img image.Image) []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		panic(err) // only for an image without pixels
	}
	return b.Bytes()
}

// gap is the distance of the parts of a card, whose letters may descend.
const gap = 42

// drawOne draws the title and the text on the left, and the score, if any, on the right.
func (c Card) drawOne(p *canvas) {
	width := right - margin
	if len(c.Scores) > 0 {
		width -= large + betweenBy
		middle := (bodyTop + bodyEnd) / 2
		p.score(right-large/2, middle-16, large, c.Scores[0])
		below := p.fit("sur 10", regular(), large, 1, 28)
		below.draw(right-large/2-below.width()/2, middle+large/2+12, soft)
	}
	title := p.title(c.Title, width)
	text := p.fit(c.Text, regular(), width, 5-len(title.lines), 36)
	y := title.draw(margin, bodyTop+max(0, (bodyEnd-bodyTop-title.height()-gap-text.height())/2), ink)
	text.draw(margin, y+gap, soft)
}

// drawPair draws the title above two scores with the names of their tools.
func (c Card) drawPair(p *canvas) {
	title := p.title(c.Title, right-margin)
	y := title.draw(margin, bodyTop+max(0, (bodyEnd-bodyTop-title.height()-gap-small)/2), ink) + gap
	column := (right - margin) / maxScores
	for i, s := range c.Scores[:maxScores] {
		x := margin + i*column
		p.score(x+small/2, y+small/2, small, s)
		name := p.fit(s.Name, bold(), column-small-24-32, 2, 36)
		name.draw(x+small+24, y+(small-name.height())/2, ink)
	}
}

// title fits a title into two lines, or a long one into three small ones.
func (p *canvas) title(text string, width int) block {
	title := p.fit(text, bold(), width, 2, 92, 76)
	if !title.isWhole {
		title = p.fit(text, bold(), width, 3, 56)
	}
	return title
}
