package picture

import (
	"image"
	"image/color"
)

// raster is a picture as planes of 8-bit samples, which are scaled one by one. One plane
// is grey; three are red, green and blue, or luma and chroma; four are red, green and
// blue multiplied by alpha, and alpha.
type raster struct {
	width, height int
	planes        []plane
	luma          bool // three planes are luma and chroma
	videoRange    bool // luma and chroma as in WebP: 16 to 235 and 16 to 240, not 0 to 255
}

// plane has one sample for every subX × subY pixels.
type plane struct {
	pix           []byte
	stride        int
	width, height int
	subX, subY    int
}

func newPlane(width, height int) plane {
	return plane{pix: make([]byte, width*height), stride: width, width: width, height: height, subX: 1, subY: 1}
}

func (p plane) row(y int) []byte { return p.pix[y*p.stride:][:p.width:p.width] }

// rasterOf returns the samples of a decoded picture. It shares memory with the picture
// where that has planes already. videoRange is how WebP stores luma and chroma, which its
// decoder passes on as they are.
func rasterOf(img image.Image, videoRange bool) *raster {
	b := img.Bounds()
	r := &raster{width: b.Dx(), height: b.Dy()}
	switch m := img.(type) {
	case *image.Gray:
		r.planes = []plane{{m.Pix, m.Stride, r.width, r.height, 1, 1}}
	case *image.Gray16:
		grey := newPlane(r.width, r.height)
		for i := range grey.pix {
			grey.pix[i] = m.Pix[2*i]
		}
		r.planes = []plane{grey}
	case *image.YCbCr:
		subX, subY := subsampling(m.SubsampleRatio)
		w, h := (r.width+subX-1)/subX, (r.height+subY-1)/subY
		r.luma, r.videoRange = true, videoRange
		r.planes = []plane{
			{m.Y, m.YStride, r.width, r.height, 1, 1},
			{m.Cb, m.CStride, w, h, subX, subY},
			{m.Cr, m.CStride, w, h, subX, subY},
		}
	default:
		r.planes = colourPlanes(img, r.width, r.height)
	}
	return r
}

func colourPlanes(img image.Image, width, height int) []plane {
	count := 4
	if o, ok := img.(interface{ Opaque() bool }); ok && o.Opaque() {
		count = 3
	}
	planes := make([]plane, count)
	for i := range planes {
		planes[i] = newPlane(width, height)
	}
	read := rowReader(img)
	pixels := make([]byte, 4*width)
	for y := range height {
		read(pixels, y)
		for i, p := range planes {
			row := p.row(y)
			for x := range row {
				row[x] = pixels[4*x+i]
			}
		}
	}
	return planes
}

// rowReader returns a function that reads a row as red, green and blue multiplied by
// alpha, and alpha.
func rowReader(img image.Image) func(pixels []byte, y int) {
	switch m := img.(type) {
	case *image.RGBA:
		return func(pixels []byte, y int) { copy(pixels, m.Pix[y*m.Stride:]) }
	case *image.NRGBA:
		return func(pixels []byte, y int) {
			copy(pixels, m.Pix[y*m.Stride:])
			for ; len(pixels) > 0; pixels = pixels[4:] {
				if a := int(pixels[3]); a != 255 {
					multiply(pixels, pixels[0], pixels[1], pixels[2], a)
				}
			}
		}
	case *image.Paletted:
		var table [256][4]byte
		for i, c := range m.Palette {
			rgba := color.RGBAModel.Convert(c).(color.RGBA)
			table[i] = [4]byte{rgba.R, rgba.G, rgba.B, rgba.A}
		}
		return func(pixels []byte, y int) {
			for x := range len(pixels) / 4 {
				copy(pixels[4*x:], table[m.Pix[y*m.Stride+x]][:])
			}
		}
	case *image.NYCbCrA: // WebP only
		luma, chroma := stretched(false), stretched(true)
		return func(pixels []byte, y int) {
			for x := range len(pixels) / 4 {
				c := m.COffset(x, y)
				r, g, b := color.YCbCrToRGB(luma[m.Y[y*m.YStride+x]], chroma[m.Cb[c]], chroma[m.Cr[c]])
				multiply(pixels[4*x:], r, g, b, int(m.A[y*m.AStride+x]))
			}
		}
	}
	return func(pixels []byte, y int) { // 16 bits per sample
		for x := range len(pixels) / 4 {
			r, g, b, a := img.At(x, y).RGBA()
			pixels[4*x], pixels[4*x+1], pixels[4*x+2], pixels[4*x+3] = byte(r>>8), byte(g>>8), byte(b>>8), byte(a>>8)
		}
	}
}

func multiply(pixel []byte, r, g, b byte, a int) {
	pixel[0] = byte((int(r)*a + 127) / 255)
	pixel[1] = byte((int(g)*a + 127) / 255)
	pixel[2] = byte((int(b)*a + 127) / 255)
	pixel[3] = byte(a)
}

// divide reverses multiply. The filter may overshoot, so that a colour is more than its
// alpha allows.
func divide(pixel []byte, a int) {
	if a == 0 {
		clear(pixel[:4])
		return
	}
	for i := range 3 {
		pixel[i] = byte(min(255, (int(pixel[i])*255+a/2)/a))
	}
	pixel[3] = byte(a)
}

// stretched is a table from the range of luma or chroma in video to that in JPEG.
func stretched(chroma bool) (table [256]byte) {
	for i := range table {
		v := floorDiv(int64(2*255*(i-16)+219), 2*219)
		if chroma {
			v = 128 + floorDiv(int64(2*255*(i-128)+224), 2*224)
		}
		table[i] = byte(min(max(v, 0), 255))
	}
	return table
}

// image returns the raster, whose planes must be without gaps, for an encoder.
func (r *raster) image() image.Image {
	rect := image.Rect(0, 0, r.width, r.height)
	switch {
	case len(r.planes) == 1:
		return &image.Gray{Pix: r.planes[0].pix, Stride: r.width, Rect: rect}
	case r.luma:
		y, cb, cr := r.planes[0], r.planes[1], r.planes[2]
		return &image.YCbCr{
			Y: y.pix, Cb: cb.pix, Cr: cr.pix, YStride: y.stride, CStride: cb.stride,
			SubsampleRatio: image.YCbCrSubsampleRatio420, Rect: rect,
		}
	}
	pix := make([]byte, 4*r.width*r.height)
	for i, red := range r.planes[0].pix {
		pixel := pix[4*i : 4*i+4]
		pixel[0], pixel[1], pixel[2], pixel[3] = red, r.planes[1].pix[i], r.planes[2].pix[i], 255
		if len(r.planes) == 4 {
			divide(pixel, int(r.planes[3].pix[i]))
		}
	}
	if len(r.planes) == 3 {
		return &image.RGBA{Pix: pix, Stride: 4 * r.width, Rect: rect} // the JPEG encoder is fast with this type
	}
	return &image.NRGBA{Pix: pix, Stride: 4 * r.width, Rect: rect}
}

// fewColours returns a picture that has at most 256 colours with a palette, which takes
// much less space, and others as they are.
func fewColours(img image.Image) image.Image {
	var pix []byte
	switch m := img.(type) {
	case *image.RGBA: // opaque, see image
		pix = m.Pix
	case *image.NRGBA:
		pix = m.Pix
	default:
		return img
	}
	indexed := image.NewPaletted(img.Bounds(), nil)
	index := map[color.NRGBA]byte{}
	for i := range indexed.Pix {
		p := pix[4*i : 4*i+4]
		c := color.NRGBA{p[0], p[1], p[2], p[3]}
		at, found := index[c]
		if !found {
			if len(index) == 256 {
				return img
			}
			at = byte(len(index))
			index[c] = at
			indexed.Palette = append(indexed.Palette, c)
		}
		indexed.Pix[i] = at
	}
	return indexed
}
