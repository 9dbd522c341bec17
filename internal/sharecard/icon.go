package sharecard

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	_ "image/gif" // formats of logos
	_ "image/jpeg"

	"golang.org/x/image/draw"
	_ "golang.org/x/image/webp"
)

// maxLogoPixels is how large a logo may be to be scaled: 16 bytes a pixel in memory.
const maxLogoPixels = 1600 * 1600

// Icon draws the mark of a site on paper, opaque, as telephones show it: a PNG of size × size pixels. The
// mark is a logo, given as a picture file. The palm is drawn instead of one that is nil, too large
// or an animation that cannot be read, in the accent of the site.
func Icon(logo []byte, size int, accent color.RGBA) []byte {
	img := image.NewRGBA(image.Rect(0, 0, size, size))
	draw.Draw(img, img.Rect, image.NewUniform(paper), image.Point{}, draw.Src)
	mark, margin := decode(logo), size/9
	solid, ok := mark.(interface{ Opaque() bool })
	if ok && mark.Bounds().Dx() == mark.Bounds().Dy() && solid.Opaque() { // a whole square needs no paper
		margin = 0
	}
	drawMark(img, margin, mark, accent)
	return encode(img)
}

// faviconSizes are those of tabs and bookmarks, also on dense screens.
var faviconSizes = []int{16, 32, 48}

// Favicon draws the mark of a site, as Icon, on a transparent ground: an icon file (ICO) of a PNG
// per size.
func Favicon(logo []byte, accent color.RGBA) []byte {
	mark := decode(logo)
	const header, entry = 6, 16
	file := []byte{0, 0, 1, 0, byte(len(faviconSizes)), 0}
	var pictures []byte
	for _, size := range faviconSizes {
		img := image.NewRGBA(image.Rect(0, 0, size, size))
		drawMark(img, 0, mark, accent)
		picture := encode(img)
		file = append(file, byte(size), byte(size), 0, 0, 1, 0, 32, 0) // one plane of 32 bits
		file = binary.LittleEndian.AppendUint32(file, uint32(len(picture)))
		file = binary.LittleEndian.AppendUint32(file, uint32(header+entry*len(faviconSizes)+len(pictures)))
		pictures = append(pictures, picture...)
	}
	return append(file, pictures...)
}

// decode returns a logo, or nil if the palm takes its place.
func decode(logo []byte) image.Image {
	c, _, err := image.DecodeConfig(bytes.NewReader(logo))
	if err != nil || c.Width > maxLogoPixels/max(c.Height, 1) {
		return nil
	}
	img, _, err := image.Decode(bytes.NewReader(logo))
	if err != nil {
		return nil
	}
	return img
}

// drawMark draws a logo, in its proportions, or the palm in the middle of a square with a margin.
func drawMark(img *image.RGBA, margin int, logo image.Image, accent color.RGBA) {
	box := img.Rect.Inset(margin)
	if logo == nil {
		draw.DrawMask(img, box, image.NewUniform(accent), image.Point{}, palm(box.Dx()), image.Point{}, draw.Over)
		return
	}
	width, height := logo.Bounds().Dx(), logo.Bounds().Dy()
	longer := max(width, height)
	width, height = max(1, box.Dx()*width/longer), max(1, box.Dy()*height/longer)
	at := box.Min.Add(image.Pt((box.Dx()-width)/2, (box.Dy()-height)/2))
	to := image.Rectangle{at, at.Add(image.Pt(width, height))}
	draw.CatmullRom.Scale(img, to, logo, logo.Bounds(), draw.Over, nil)
}
