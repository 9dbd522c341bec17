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

// fonts are parsed once; they are safe for concurrent use, faces are not.
var regular, bold = parsed(goregular.TTF), parsed(gobold.TTF)

func parsed(file []byte) func() *opentype.Font {
	return sync.OnceValue(func() *opentype.Font {
		f, err := opentype.Parse(file)
		if err != nil {
			panic(err) // the file is part of the binary
		}
		return f
	})
}

// maxText is how many bytes of a text are looked at: more than fit at the smallest size.
const maxText = 1000

const noBreak, ellipsis = '\u00a0', "…"

// drawable returns a text with only characters that a font has, and single spaces. Others become what they are composed of,
// such as a letter without its accent, or are dropped. A no-break space stays one.
func drawable(text string, f *opentype.Font) string {
	var buffer sfnt.Buffer
	var b strings.Builder
	add := func(r rune) bool {
		i, err := f.GlyphIndex(&buffer, r)
		isDrawn := err == nil && i != 0 && unicode.IsGraphic(r) && !unicode.Is(unicode.Mn, r) && r != utf8.RuneError
		if isDrawn {
			b.WriteRune(r)
		}
		return isDrawn
	}
	for _, r := range norm.NFC.String(text[:min(len(text), maxText)]) {
		switch {
		case r == noBreak || r == '\u202f':
			b.WriteRune(noBreak)
		case unicode.IsSpace(r):
			b.WriteByte(' ')
		case !add(r):
			for _, part := range norm.NFKD.String(string(r)) {
				add(part)
			}
		}
	}
	return strings.Join(strings.FieldsFunc(b.String(), isSpace), " ")
}

func isSpace(r rune) bool { return r == ' ' }

// A block is a text in one size, on one or several lines.
type block struct {
	canvas  *canvas
	face    font.Face
	size    int
	lines   []string
	isWhole bool // nothing is left out
}

// fit breaks a text into at most most lines that are at most width wide, in the first of the sizes in which
// all of it fits; in the last one the rest is left out.
func (p *canvas) fit(text string, f *opentype.Font, width, most int, sizes ...int) (b block) {
	text = drawable(text, f)
	if text == "" {
		return block{isWhole: true}
	}
	for _, size := range sizes {
		face, err := opentype.NewFace(f, &opentype.FaceOptions{Size: float64(size), DPI: 72})
		if err != nil {
			panic(err) // only for invalid options
		}
		b = block{canvas: p, face: face, size: size}
		b.lines, b.isWhole = wrap(text, face, width, most)
		if b.isWhole {
			break
		}
	}
	return b
}

// wrap breaks a text at spaces and reports whether all of it fits.
func wrap(text string, face font.Face, width, most int) (lines []string, isWhole bool) {
	isWhole = true
	for _, word := range strings.Split(text, " ") {
		word = strings.ReplaceAll(word, string(noBreak), " ") // which the fonts lack
		last := len(lines) - 1
		if last >= 0 && measure(face, lines[last]+" "+word) <= width {
			lines[last] += " " + word
			continue
		}
		if len(lines) == most {
			lines[last] = shorten(lines[last], face, width)
			return lines, false
		}
		if measure(face, word) > width {
			word, isWhole = shorten(word, face, width), false
		}
		lines = append(lines, word)
	}
	return lines, isWhole
}

// shorten returns as much of a text as is at most width wide with an ellipsis, whole words if it has some.
func shorten(text string, face font.Face, width int) string {
	for text != "" && measure(face, text+ellipsis) > width {
		end := strings.LastIndexByte(text, ' ')
		if end < 0 {
			_, last := utf8.DecodeLastRuneInString(text)
			end = len(text) - last
		}
		text = text[:end]
	}
	return strings.TrimRight(text, " ,;:.…") + ellipsis
}

// measure returns the width of a text in pixels, rounded up.
func measure(face font.Face, text string) int { return font.MeasureString(face, text).Ceil() }

func (b block) empty() bool { return len(b.lines) == 0 }

// width is the width of the longest line.
func (b block) width() (width int) {
	for _, line := range b.lines {
		width = max(width, measure(b.face, line))
	}
	return width
}

// leading is the distance of two baselines.
func (b block) leading() int { return b.size * 120 / 100 }

// capitals is the height of capital letters in the Go fonts.
func (b block) capitals() int { return b.size * 72 / 100 }

// height is the height of the letters, from the capitals of the first line to the baseline of the last.
func (b block) height() int {
	if b.empty() {
		return 0
	}
	return b.capitals() + (len(b.lines)-1)*b.leading()
}

// draw writes the block with its top at y and returns where it ends.
func (b block) draw(x, y int, c color.RGBA) int {
	for i, line := range b.lines {
		at := fixed.P(x, y+b.capitals()+i*b.leading())
		pen := font.Drawer{Dst: b.canvas.img, Src: image.NewUniform(c), Face: b.face, Dot: at}
		pen.DrawString(line)
	}
	return y + b.height()
}
