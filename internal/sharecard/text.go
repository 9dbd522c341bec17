package sharecard

import (
	"image"
	"image/color"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"golang.org/x/text/unicode/norm"
)

// A weight is one of the fonts.
type weight int

const (
	regular weight = iota
	bold
)

// fonts are parsed once; they are safe for concurrent use, faces are not.
var fonts = sync.OnceValue(func() [2]*opentype.Font {
	var parsed [2]*opentype.Font
	for w, file := range [2][]byte{regular: goregular.TTF, bold: gobold.TTF} {
		f, err := opentype.Parse(file)
		if err != nil {
			panic(err) // the file is part of the binary
		}
		parsed[w] = f
	}
	return parsed
})

func (p *canvas) face(w weight, size int) font.Face {
	key := faceKey{w, size}
	if f := p.faces[key]; f != nil {
		return f
	}
	f, err := opentype.NewFace(fonts()[w], &opentype.FaceOptions{Size: float64(size), DPI: 72, Hinting: font.HintingNone})
	if err != nil {
		panic(err) // only for invalid options
	}
	p.faces[key] = f
	return f
}

type faceKey struct {
	weight weight
	size   int
}

// maxRunes is how much of a text is looked at: more than fits at the smallest size.
const maxRunes = 400

const ellipsis = "…"

// drawable returns a text with only characters that a font has, and single spaces. Others
// become what they are composed of, such as a letter without its accent, or are dropped. A
// no-break space stays one.
func drawable(text string, w weight) string {
	f := fonts()[w]
	var buffer sfnt.Buffer
	has := func(r rune) bool {
		i, err := f.GlyphIndex(&buffer, r)
		return err == nil && i != 0
	}
	var b strings.Builder
	for _, r := range norm.NFC.String(cut(text)) {
		switch {
		case r == '\u00a0' || r == '\u202f':
			b.WriteRune('\u00a0')
		case unicode.IsSpace(r):
			b.WriteByte(' ')
		case !unicode.IsGraphic(r) || r == utf8.RuneError: // controls, directions, joiners, invalid bytes
		case has(r):
			b.WriteRune(r)
		default:
			for _, part := range norm.NFKD.String(string(r)) {
				if unicode.IsGraphic(part) && !unicode.Is(unicode.Mn, part) && has(part) {
					b.WriteRune(part)
				}
			}
		}
	}
	words := strings.Join(strings.FieldsFunc(b.String(), func(r rune) bool { return r == ' ' }), " ")
	if words == ellipsis {
		return "" // nothing of what was looked at can be drawn
	}
	return words
}

// cut returns the first maxRunes characters of a text.
func cut(text string) string {
	if utf8.RuneCountInString(text) <= maxRunes {
		return text
	}
	return string([]rune(text)[:maxRunes]) + ellipsis
}

// A line is a text in one size.
type line struct {
	canvas *canvas
	face   font.Face
	text   string
	width  int
}

// line returns a text on one line that is at most width wide.
func (p *canvas) line(text string, w weight, size, width int) line {
	face := p.face(w, size)
	text = shorten(drawable(text, w), face, width)
	return line{p, face, text, measure(face, text)}
}

// draw writes the line with its baseline at y.
func (l line) draw(x, y int, c color.RGBA) {
	pen := font.Drawer{Dst: l.canvas.img, Src: image.NewUniform(c), Face: l.face, Dot: fixed.P(x, y)}
	pen.DrawString(plainSpaces(l.text))
}

// plainSpaces replaces no-break spaces, which the fonts lack.
func plainSpaces(text string) string { return strings.ReplaceAll(text, "\u00a0", " ") }

// measure returns the width of a text in pixels, rounded up.
func measure(face font.Face, text string) int {
	return font.MeasureString(face, plainSpaces(text)).Ceil()
}

// shorten returns as much of a text as is at most width wide, with an ellipsis if that is
// not all of it.
func shorten(text string, face font.Face, width int) string {
	if measure(face, text) <= width {
		return text
	}
	runes := []rune(text)
	for n := len(runes) - 1; n > 0; n-- {
		short := trim(string(runes[:n]))
		if measure(face, short+ellipsis) > width {
			continue
		}
		if word := strings.LastIndexByte(short, ' '); word > len(short)/2 && runes[n] != ' ' {
			short = trim(short[:word]) // rather than a part of a word
		}
		return short + ellipsis
	}
	return ""
}

// trim removes what does not stand before an ellipsis.
func trim(text string) string { return strings.TrimRight(text, " \u00a0,;:.…") }

// A block is a text of several lines.
type block struct {
	lines   []line
	size    int
	isWhole bool // nothing is left out, and no word is broken
}

// fit breaks a text into at most most lines that are at most width wide, in the largest
// size that fits; at the smallest the rest is left out.
func (p *canvas) fit(text string, w weight, width, most, largest, smallest int) block {
	text = drawable(text, w)
	if text == "" {
		return block{isWhole: true}
	}
	const step = 4
	for size := largest; ; size -= step {
		size = max(size, smallest)
		face := p.face(w, size)
		lines, isWhole := wrap(text, face, width, most)
		if !isWhole && size > smallest {
			continue
		}
		if isWhole {
			lines = balance(text, face, width, lines)
		}
		b := block{size: size, isWhole: isWhole}
		for _, l := range lines {
			b.lines = append(b.lines, line{p, face, l, measure(face, l)})
		}
		return b
	}
}

// balance breaks a text into as many lines as before, of about the same width, so that no
// word stands alone on the last.
func balance(text string, face font.Face, width int, lines []string) []string {
	const step = 24
	for narrower := width - step; narrower > width/2; narrower -= step {
		next, isWhole := wrap(text, face, narrower, len(lines))
		if !isWhole {
			break
		}
		lines = next
	}
	return lines
}

// title fits a title into two lines, or a long one into three small ones.
func (p *canvas) title(text string, width, largest int) block {
	b := p.fit(text, bold, width, 2, largest, 60)
	if !b.isWhole {
		b = p.fit(text, bold, width, 3, 60, 48)
	}
	return b
}

// wrap breaks a text at spaces and reports whether all of it fits without breaking a word.
func wrap(text string, face font.Face, width, most int) (lines []string, isWhole bool) {
	words := strings.Split(text, " ")
	isWhole = true
	current := ""
	for i, word := range words {
		longer := word
		if current != "" {
			longer = current + " " + word
		}
		if measure(face, longer) <= width {
			current = longer
			continue
		}
		if len(lines) == most-1 { // the last line takes what it can of the rest
			rest := strings.TrimSpace(current + " " + strings.Join(words[i:], " "))
			return append(lines, shorten(rest, face, width)), false
		}
		if current != "" {
			lines = append(lines, current)
		}
		current = word
		for measure(face, current) > width { // a word that is wider than a line
			isWhole = false
			if len(lines) == most-1 {
				rest := strings.Join(append([]string{current}, words[i+1:]...), " ")
				return append(lines, shorten(rest, face, width)), false
			}
			head := firstPart(current, face, width)
			lines = append(lines, head)
			current = current[len(head):]
		}
	}
	return append(lines, current), isWhole
}

// firstPart returns as much of a word as is at most width wide, at least one character.
func firstPart(word string, face font.Face, width int) string {
	end := 0
	for i, r := range word {
		next := i + len(string(r))
		if end > 0 && measure(face, word[:next]) > width {
			break
		}
		end = next
	}
	return word[:end]
}

func (b block) empty() bool { return len(b.lines) == 0 }

// leading is the distance of two baselines.
func (b block) leading() int { return b.size * 120 / 100 }

// height is that of the letters, from the capitals of the first line to the baseline of the
// last.
func (b block) height() int {
	if b.empty() {
		return 0
	}
	return b.capitals() + (len(b.lines)-1)*b.leading()
}

// capitals is the height of capital letters in the Go fonts.
func (b block) capitals() int { return b.size * 72 / 100 }

// draw writes the block with its top at y and returns where it ends.
func (b block) draw(x, y int, c color.RGBA) int {
	baseline := y + b.capitals()
	for _, l := range b.lines {
		l.draw(x, baseline, c)
		baseline += b.leading()
	}
	return y + b.height()
}
