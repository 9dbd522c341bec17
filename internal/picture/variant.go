package picture

import (
	"image"
	"image/png"
	"slices"
)

const variantQuality = 82

// defaultWidths are for a logo in a list, and for pictures in a text: a phone, a phone
// with a dense screen or a column, a wide screen.
var defaultWidths = []int{96, 480, 960, 1600}

// Variants returns the picture in the given widths, in increasing order; without widths,
// in 96, 480, 960 and 1600. A width that is not clearly smaller than the picture's is left
// out, and so is a variant that takes as many bytes as the picture or more. An animation
// has no variants. An opaque picture becomes a JPEG, or a PNG if the picture has no
// compression losses and the PNG is smaller; a transparent one becomes a PNG.
//
// Variants frees the pixels that Inspect decoded; calling it again decodes them anew.
func (p *Picture) Variants(widths ...int) ([]File, error) {
	if len(widths) == 0 {
		widths = defaultWidths
	}
	widths = slices.Compact(slices.Sorted(slices.Values(widths)))
	widths = slices.DeleteFunc(widths, func(w int) bool { return w <= 0 || w > p.Width*4/5 })
	if len(widths) == 0 || p.Animated {
		p.Release()
		return nil, nil
	}
	pixels := p.pixels
	p.Release()
	if pixels == nil {
		var err error
		if pixels, err = p.format.decode(p.Bytes); err != nil {
			return nil, damaged(err)
		}
	}
	lossless := p.format != jpegFormat
	if _, isLossy := pixels.(*image.YCbCr); isLossy {
		lossless = false
	}
	source := rasterOf(pixels, p.format == webpFormat)
	var variants []File
	for _, width := range slices.Backward(widths) {
		// From the next larger variant, which saves most of the work, unless the two are
		// so close that scaling twice would blur.
		small := source.scale(width, max(1, (p.Height*width+p.Width/2)/p.Width))
		if 2*source.width >= 3*width {
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

func (p *Picture) encode(r *raster, lossless bool) (File, error) {
	img := r.image()
	profile, chunks := p.colour.profile, p.colour.pngChunks
	// A profile is for grey or for colours; one of the other kind would be ignored at best.
	// The kind of a profile is at this place in its header.
	if len(profile) < 20 || (string(profile[16:20]) == "GRAY") != (len(r.planes) == 1) {
		if profile != nil {
			chunks = nil
		}
		profile = nil
	}
	if chunks == nil && profile != nil {
		chunks = profileChunk(profile)
	}
	var file File
	if len(r.planes) < 4 && !p.colour.pngOnly && r.height <= maxSideOfJPEG {
		content, err := encodeJPEG(img, variantQuality, profile)
		if err != nil {
			return File{}, err
		}
		file = newFile(jpegFormat, content, r.width, r.height)
	}
	if !lossless {
		return file, nil
	}
	img = fewColours(img)
	if file.Bytes != nil {
		// Most photographs show at once that a PNG will not be smaller, however long it takes.
		quick, err := encodePNG(img, png.BestSpeed, chunks)
		if err != nil || len(quick) > 2*len(file.Bytes) {
			return file, err
		}
	}
	content, err := encodePNG(img, png.DefaultCompression, chunks)
	if err != nil {
		return File{}, err
	}
	if file.Bytes == nil || len(content) < len(file.Bytes) {
		file = newFile(pngFormat, content, r.width, r.height)
	}
	return file, nil
}
