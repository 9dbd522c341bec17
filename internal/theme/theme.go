// Package theme has the colours of the pages that a publisher chooses, and tells whether text can be
// read in them.
package theme

import (
	"encoding/hex"
	"fmt"
	"math"
	"strings"

	"palmares/internal/catalog"
)

// A Colour is red, green and blue, as screens have them (sRGB).
type Colour [3]uint8

// Parse returns a colour that is written as #7a1f3d.
func Parse(s string) (c Colour, ok bool) {
	digits, isColour := strings.CutPrefix(s, "#")
	if !isColour || len(digits) != 2*len(c) {
		return c, false
	}
	_, err := hex.Decode(c[:], []byte(digits))
	return c, err == nil
}

// Hex returns the six digits of the colour.
func (c Colour) Hex() string { return hex.EncodeToString(c[:]) }

func (c Colour) String() string { return "#" + c.Hex() }

// mix returns the colour with a part of another.
func (c Colour) mix(other Colour, part float64) Colour {
	for i := range c {
		c[i] = uint8(math.Round(float64(c[i])*(1-part) + float64(other[i])*part))
	}
	return c
}

// luminance is that of WCAG 2.
func (c Colour) luminance() (sum float64) {
	for i, weight := range [...]float64{0.2126, 0.7152, 0.0722} {
		x := float64(c[i]) / 255
		if x <= 0.04045 {
			x /= 12.92
		} else {
			x = math.Pow((x+0.055)/1.055, 2.4)
		}
		sum += weight * x
	}
	return sum
}

// Contrast returns the contrast of two colours, from 1 to 21.
func Contrast(a, b Colour) float64 {
	x, y := a.luminance(), b.luminance()
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// MinContrast is what text needs (WCAG 2, level AA).
const MinContrast = 4.5

// A Mode is what an accent is seen with on pages, by day or by night.
type Mode struct {
	paper, raised Colour // below text, as the style sheet has them
	on            Colour // text on the accent
	end           Colour // what a shade that is hard to read comes closer to
}

// The modes.
var (
	Light = Mode{Colour{0xfb, 0xfa, 0xf6}, Colour{0xff, 0xff, 0xff}, Colour{0xff, 0xff, 0xff}, Colour{}}
	Dark  = Mode{Colour{0x15, 0x14, 0x12}, Colour{0x1e, 0x1c, 0x19}, Colour{0x15, 0x14, 0x12}, Colour{0xff, 0xff, 0xff}}
)

// tint returns the colour of areas with a breath of the accent.
func (m *Mode) tint(accent Colour) Colour { return m.paper.mix(accent, 0.1) }

// Contrast returns the lowest contrast of an accent, as text and below text.
func (m *Mode) Contrast(accent Colour) float64 {
	return min(Contrast(accent, m.paper), Contrast(accent, m.raised), Contrast(accent, m.tint(accent)), Contrast(m.on, accent))
}

// Nearest returns the shade nearest to an accent that can be read: itself, or one of the same hue.
func (m *Mode) Nearest(accent Colour) Colour {
	const steps = 256
	shade := accent
	for i := 1; i <= steps && m.Contrast(shade) < MinContrast; i++ {
		shade = accent.mix(m.end, float64(i)/steps)
	}
	return shade
}

// variables declares what depends on the accent.
func (m *Mode) variables(accent Colour) string {
	return fmt.Sprintf("--accent:%s;--on-accent:%s;--tint:%s", accent, m.on, m.tint(accent))
}

// A Theme is the face of a site. The zero value is no valid one.
type Theme struct {
	Accent, Dark Colour
	Font         string // see catalog.Theme
}

// Of returns the theme that a publisher chose, complete; nil for none.
func Of(s *catalog.Settings) *Theme {
	if len(s.Theme) == 0 {
		return nil
	}
	chosen := s.Theme[0]
	t := &Theme{Accent: Default.Accent, Dark: Default.Dark, Font: chosen.Font}
	if accent, ok := Parse(chosen.Accent); ok {
		t.Accent, t.Dark = accent, Dark.Nearest(accent)
	}
	if dark, ok := Parse(chosen.AccentDark); ok {
		t.Dark = dark
	}
	return t
}

// Default has the colours of a site without a theme.
var Default = Theme{Accent: Colour{0x0b, 0x5d, 0x45}, Dark: Colour{0x7f, 0xca, 0xa6}}

// CSS returns the style sheet of the theme, which follows that of the pages and that for printing.
func (t *Theme) CSS() string {
	light := Light.variables(t.Accent)
	sheet := ":root{" + light + "}@media(prefers-color-scheme:dark){:root{" + Dark.variables(t.Dark) + "}}@media print{:root{" + light + "}}"
	if t.Font == catalog.FontSans {
		sheet += ":root{--serif:var(--sans)}"
	}
	return sheet
}
