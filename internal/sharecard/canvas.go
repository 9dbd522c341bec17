package sharecard

import (
	"image"
	"image/color"
	"image/draw"

	"golang.org/x/image/vector"
)

// The colours of the site's light theme, besides its accent.
var (
	paper = color.RGBA{0xfb, 0xfa, 0xf6, 0xff} // below cards and icons
	ink   = color.RGBA{0x1c, 0x1b, 0x18, 0xff}
	soft  = color.RGBA{0x5d, 0x58, 0x4f, 0xff}
	rule  = color.RGBA{0xdc, 0xd7, 0xcb, 0xff}
	white = color.RGBA{0xff, 0xff, 0xff, 0xff} // on a surface of the accent
)

// palette returns the colours of a card, and between a surface and what is drawn on it those of smooth edges.
func palette(accent color.RGBA) (p color.Palette) {
	ramp := func(from, to color.RGBA) {
		const last = 15
		mix := func(a, b uint8, i int) uint8 { return uint8((int(a)*(last-i) + int(b)*i) / last) }
		for i := range last + 1 {
			p = append(p, color.RGBA{mix(from.R, to.R, i), mix(from.G, to.G, i), mix(from.B, to.B, i), 0xff})
		}
	}
	for _, c := range []color.RGBA{ink, soft, accent, rule} {
		ramp(paper, c)
	}
	ramp(accent, white)
	return p
}

// A canvas is a card while it is drawn.
type canvas struct {
	img    *image.Paletted // index 0 is paper
	accent color.RGBA
}

func newCanvas(accent color.RGBA) *canvas {
	accent.A = 0xff
	return &canvas{image.NewPaletted(image.Rect(0, 0, Width, Height), palette(accent)), accent}
}

func (p *canvas) fill(r image.Rectangle, c color.RGBA) {
	draw.Draw(p.img, r, image.NewUniform(c), image.Point{}, draw.Src)
}

// blend draws a colour through a mask whose left upper corner is at x, y.
func (p *canvas) blend(x, y int, mask *image.Alpha, c color.RGBA) {
	box := mask.Rect.Add(image.Pt(x, y))
	draw.DrawMask(p.img, box, image.NewUniform(c), image.Point{}, mask, image.Point{}, draw.Over)
}

// score draws a score in a circle with its centre at x, y, as on the pages: full for a
// winner or a high score, a ring otherwise.
func (p *canvas) score(x, y, diameter int, s Score) {
	value, text := s.Value, ink
	edge, surface := ink, paper
	switch {
	case s.Value == "":
		value, text, edge = "–", soft, rule
	case s.Best:
		text, edge, surface = white, p.accent, p.accent
	}
	inner := diameter - 2*(diameter/30)
	p.blend(x-diameter/2, y-diameter/2, circle(diameter), edge)
	p.blend(x-inner/2, y-inner/2, circle(inner), surface)
	b := p.fit(value, bold(), diameter*72/100, 1, diameter*42/100, diameter*30/100)
	b.draw(x-b.width()/2, y-b.height()/2, text)
}

// circle returns a full circle as a mask.
func circle(diameter int) *image.Alpha {
	r := vector.NewRasterizer(diameter, diameter)
	middle := float32(diameter) / 2
	x, y := middle, float32(0)
	r.MoveTo(middle+x, middle+y)
	for range 4 {
		const bend = 0.5523 // of a curve that is nearest to a quarter of a circle
		toX, toY := -y, x
		r.CubeTo(middle+x+bend*toX, middle+y+bend*toY, middle+toX+bend*x, middle+toY+bend*y, middle+toX, middle+toY)
		x, y = toX, toY
	}
	return maskOf(r)
}

func maskOf(r *vector.Rasterizer) *image.Alpha {
	mask := image.NewAlpha(r.Bounds())
	r.Draw(mask, mask.Rect, image.Opaque, image.Point{})
	return mask
}

// palm returns the mark of the site, as in its pages, as a mask.
func palm(size int) *image.Alpha {
	scale := float32(size) / 32
	r := vector.NewRasterizer(size, size)
	move := func(ax, ay float32) { r.MoveTo(ax*scale, ay*scale) }
	curve := func(bx, by, cx, cy, dx, dy float32) {
		r.CubeTo(bx*scale, by*scale, cx*scale, cy*scale, dx*scale, dy*scale)
	}
	// The stem, then the four leaves.
	move(3.2, 28.7)
	curve(7.2, 17.4, 14.4, 9.3, 26.5, 2.2)
	r.LineTo(27.5*scale, 3.8*scale)
	curve(15.6, 10.7, 8.8, 18.6, 4.8, 29.3)
	r.ClosePath()
	for _, leaf := range [][]float32{
		{8, 21, 4, 18, 3, 13, 4.5, 9, 8.5, 11.5, 10, 16, 8, 21},
		{12.5, 14.5, 9.5, 11, 9.5, 6.5, 12, 3, 15, 6, 15.5, 10.5, 12.5, 14.5},
		{9, 21.5, 13, 25, 18.5, 25.5, 23, 22.5, 19, 18.5, 13.5, 18, 9, 21.5},
		{14.5, 14.5, 18.5, 17.5, 24, 17, 28, 13.5, 23.5, 10.5, 18.5, 10.5, 14.5, 14.5},
	} {
		move(leaf[0], leaf[1])
		for i := 2; i < len(leaf); i += 6 {
			curve(leaf[i], leaf[i+1], leaf[i+2], leaf[i+3], leaf[i+4], leaf[i+5])
		}
		r.ClosePath()
	}
	return maskOf(r)
}
