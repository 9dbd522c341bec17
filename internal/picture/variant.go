package picture

import (
	"fmt"
	"image"
	"image/color"
	"image/png"
	"slices"

	"golang.org/x/image/draw"
)

const variantQuality = 82

// defaultWidths are for a logo in a list, and for pictures in a text: a phone, a phone
// with a dense screen or a column, a wide screen.
var defaultWidths = []int{96, 480, 960, 1600}

// smallest is the size of the smallest picture that gets variants by default, in bytes: below it,
// they would save a reader nothing.
const smallest = 16 << 10

// Variants returns the picture in the given widths, in increasing order; without widths,
// in 96, 480, 960 and 1600, unless it has less than 16 KiB. A width that is not clearly smaller than the picture's is left
// out, and so is a variant that takes as many bytes as the picture or more. An animation
// has no variants. An opaque picture becomes a JPEG, or a PNG if the picture has no
// compression losses and the PNG is smaller; a transparent one becomes a PNG.
//
// The name of a variant is that of the picture, a hyphen and the width.
//
// Variants frees the pixels that Inspect decoded; calling it again decodes them anew.
func (p *Picture) Variants(widths ...int) ([]File, error) {
	if len(widths) == 0 && len(p.Bytes) >= smallest {
		widths = defaultWidths
	}
	widths = slices.Compact(slices.Sorted(slices.Values(widths)))
	widths = slices.DeleteFunc(widths, func(w int) bool { return w <= 0 || w > p.Width*4/5 })
	if len(widths) == 0 || p.Animated {
		p.Release()
		return nil, nil
	}
	source := p.pixels
	p.Release()
	if source == nil {
		var err error
		source, err = p.format.decode(p.Bytes)
		if err != nil {
			return nil, damaged(err)
		}
	}
	_, isLossy := source.(*image.YCbCr)
	lossless := !isLossy && p.format != jpegFormat
	var variants []File
	for _, width := range slices.Backward(widths) {
		// From the next larger variant, which saves most of the work, unless the two are
		// so close that scaling twice would blur.
		small := scale(source, width, max(1, (p.Height*width+p.Width/2)/p.Width))
		if 2*source.Bounds().Dx() >= 3*width {
			source = small
		}
		file, err := p.encode(small, lossless)
		if err != nil {
			return nil, err
		}
		if len(file.Bytes) < len(p.Bytes) {
			variants = append(variants, file)
		}
	}
	slices.Reverse(variants)
	return variants, nil
}

// scale returns a picture in a smaller size. Every pixel is made from four, so that no
// step may do more than halve the size.
func scale(img image.Image, width, height int) image.Image {
	for {
		size := img.Bounds().Size()
		w, h := max(width, (size.X+1)/2), max(height, (size.Y+1)/2)
		small := newImage(img, w, h)
		draw.ApproxBiLinear.Scale(small, small.Bounds(), img, img.Bounds(), draw.Src, nil)
		if w == width && h == height {
			return small
		}
		img = small
	}
}

// encode encodes a picture that scale returned.
func (p *Picture) encode(img image.Image, lossless bool) (File, error) {
	profile, chunks := p.colour.profile, p.colour.pngChunks
	_, isGrey := img.(*image.Gray)
	// A profile is for grey or for colours; one of the other kind would be ignored at best.
	// The kind of a profile is at this place in its header.
	if len(profile) < 20 || (string(profile[16:20]) == "GRAY") != isGrey {
		if profile != nil {
			chunks = nil
		}
		profile = nil
	}
	if chunks == nil && profile != nil {
		chunks = profileChunk(profile)
	}
	var asJPEG []byte
	colours, hasColours := img.(*image.RGBA)
	isOpaque := !hasColours || colours.Opaque()
	if isOpaque && !p.colour.pngOnly && img.Bounds().Dy() <= maxSideOfJPEG {
		var err error
		asJPEG, err = encodeJPEG(img, variantQuality, profile)
		if err != nil || !lossless {
			return p.variant(jpegFormat, asJPEG, img), err
		}
	}
	if hasColours {
		img = fewColours(colours)
	}
	if asJPEG != nil {
		// Most photographs show at once that a PNG will not be smaller, however long it takes.
		quick, err := encodePNG(img, png.BestSpeed, chunks)
		if err != nil || len(quick) > 2*len(asJPEG) {
			return p.variant(jpegFormat, asJPEG, img), err
		}
	}
	asPNG, err := encodePNG(img, png.DefaultCompression, chunks)
	if err != nil || asJPEG != nil && len(asJPEG) <= len(asPNG) {
		return p.variant(jpegFormat, asJPEG, img), err
	}
	return p.variant(pngFormat, asPNG, img), nil
}

func (p *Picture) variant(f *format, content []byte, img image.Image) File {
	size := img.Bounds().Size()
	return File{content, fmt.Sprintf("%s-%d", p.Name, size.X), f.ext, size.X, size.Y}
}

// fewColours returns a picture that has at most 256 colours with a palette, which takes
// much less space, and others as they are.
func fewColours(img *image.RGBA) image.Image {
	indexed := image.NewPaletted(img.Rect, nil)
	index := map[color.RGBA]byte{}
	for i := range indexed.Pix {
		pixel := img.Pix[4*i : 4*i+4]
		c := color.RGBA{pixel[0], pixel[1], pixel[2], pixel[3]}
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
