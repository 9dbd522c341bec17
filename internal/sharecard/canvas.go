package sharecard

import (
	"image"
	"image/color"

	"golang.org/x/image/font"
	"golang.org/x/image/vector"
)

// A colour is the first index of a ramp in the palette: from what is below it to the colour
// itself. Antialiased edges are somewhere on the ramp.
type colour uint8

// levels is how many steps a ramp has.
const levels = 16

const (
	ink colour = levels * iota
	soft
	accent
	rule
	onAccent // on a surface of accent, all others on paper
)

// paper is below cards and icons, as in the site's light theme.
var paper = color.RGBA{0xfb, 0xfa, 0xf6, 0xff}

// palette returns the colours of the site's light theme.
func palette(accent color.RGBA) (p color.Palette) {
	ramp := func(from, to color.RGBA) {
		mix := func(a, b uint8, i int) uint8 { return uint8((int(a)*(levels-1-i) + int(b)*i) / (levels - 1)) }
		for i := range levels {
			p = append(p, color.RGBA{mix(from.R, to.R, i), mix(from.G, to.G, i), mix(from.B, to.B, i), 0xff})
		}
	}
	ramp(paper, color.RGBA{0x1c, 0x1b, 0x18, 0xff})
	ramp(paper, color.RGBA{0x5d, 0x58, 0x4f, 0xff})
	ramp(paper, accent)
	ramp(paper, color.RGBA{0xdc, 0xd7, 0xcb, 0xff})
	ramp(accent, color.RGBA{0xff, 0xff, 0xff, 0xff})
	return p
}

// A canvas is a card while it is drawn.
type canvas struct {
	img   *image.Paletted // index 0 is paper
	faces map[faceKey]font.Face
}

func newCanvas(accent color.RGBA) *canvas {
	return &canvas{image.NewPaletted(image.Rect(0, 0, Width, Height), palette(accent)), map[faceKey]font.Face{}}
}

func (p *canvas) fill(r image.Rectangle, c colour) {
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			p.img.SetColorIndex(x, y, uint8(c)+levels-1)
		}
	}
}

// blend draws a colour through a mask. Where two glyphs touch, the darker wins.
func (p *canvas) blend(box image.Rectangle, mask *image.Alpha, at image.Point, c colour) {
	shown := box.Intersect(p.img.Rect)
	for y := shown.Min.Y; y < shown.Max.Y; y++ {
		for x := shown.Min.X; x < shown.Max.X; x++ {
			p.mark(x, y, int(mask.AlphaAt(at.X+x-box.Min.X, at.Y+y-box.Min.Y).A), c)
		}
	}
}

// mark draws one pixel that is covered to alpha parts of 255.
func (p *canvas) mark(x, y, alpha int, c colour) {
	level := uint8((alpha*(levels-1) + 127) / 255)
	if level == 0 {
		return
	}
	i := p.img.PixOffset(x, y)
	if old := p.img.Pix[i]; old/levels == uint8(c)/levels && old%levels > level {
		return
	}
	p.img.Pix[i] = uint8(c) + level
}

// score draws a score in a circle with its centre at x, y, as on the pages: full for a
// winner or a high score, a ring otherwise.
func (p *canvas) score(x, y, diameter int, s Score) {
	value, text := s.Value, ink
	switch {
	case s.Value == "":
		p.ring(x, y, diameter, diameter/30, rule)
		value, text = "–", soft
	case s.Best:
		p.ring(x, y, diameter, diameter/2, accent)
		text = onAccent
	default:
		p.ring(x, y, diameter, diameter/30, ink)
	}
	const most = 42 // percent of the diameter
	b := p.fit(value, bold, diameter*72/100, 1, diameter*most/100, diameter*20/100)
	if !b.empty() {
		b.draw(x-b.lines[0].width/2, y-b.height()/2, text)
	}
}

// ring draws a circle of a thickness, in whole numbers: a pixel has 64 points, each of which
// is inside or not.
func (p *canvas) ring(x, y, diameter, thickness int, c colour) {
	const side = 8 // points per pixel in each direction
	outer := diameter * side / 2
	inner := max(0, outer-thickness*side)
	for py := y - diameter/2 - 1; py <= y+diameter/2; py++ {
		for px := x - diameter/2 - 1; px <= x+diameter/2; px++ {
			inside := 0
			for i := range side * side {
				// Twice the distance, since points are in the middle of their cells.
				dx := 2*((px-x)*side+i%side) + 1
				dy := 2*((py-y)*side+i/side) + 1
				if d := dx*dx + dy*dy; d <= 4*outer*outer && (inner == 0 || d >= 4*inner*inner) {
					inside++
				}
			}
			p.mark(px, py, inside*255/(side*side), c)
		}
	}
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
	mask := image.NewAlpha(image.Rect(0, 0, size, size))
	r.Draw(mask, mask.Rect, image.Opaque, image.Point{})
	return mask
}
