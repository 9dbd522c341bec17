package site

import (
	"strconv"

	"palmares/internal/catalog"
	"palmares/internal/markdown"
)

// An img is a picture on a page. Browsers choose among the versions in Srcset; they
// know the size before the file has arrived, so that nothing moves.
type img struct {
	Src, Srcset   string
	Sizes         string // the width on the page, in CSS
	Width, Height int
	IsLazy        bool // it is loaded once it is near
}

// widths are those of pictures on a page: that of the window less its margins on small screens.
var widths = map[string]string{
	"whole":   "(min-width: 79rem) 74rem, 94vw", // across the page
	"page":    "(min-width: 46rem) 42rem, 94vw", // as wide as the text
	"column":  "(min-width: 79rem) 46rem, (min-width: 60rem) 58vw, 94vw",
	"feature": "(min-width: 79rem) 28rem, (min-width: 60rem) 36vw, 94vw",
	"card":    "(min-width: 79rem) 28rem, (min-width: 60rem) 36vw, 94vw", // of a list
}

// logoWidth is the width of a logo in a list, in CSS pixels.
const logoWidth = 48

// Picture returns the picture of a page or a record, which has no description of its own, in one of widths,
// or nil if there is none.
func (v *view) Picture(path, width string) *img {
	p, ok := v.snap.Catalog.Pictures[path]
	if !ok {
		return nil
	}
	i := &img{Src: markdown.MediaPath(p.Hash, p.Ext), Width: p.Width, Height: p.Height, IsLazy: width == "card"}
	if len(p.Variants) > 0 {
		i.Sizes = widths[width]
		for _, small := range p.Variants {
			i.Srcset += markdown.MediaPath(small.Name, small.Ext) + " " + strconv.Itoa(small.Width) + "w, "
		}
		i.Srcset += i.Src + " " + strconv.Itoa(p.Width) + "w"
	}
	return i
}

// logo returns a logo in the size of a list, with a sharper version for dense
// screens, or nil if there is none. The name of its tool is next to it, so it has no
// description.
func (v *view) logo(path string) *img {
	return v.logoAt(path, func(catalog.Picture) int { return logoWidth })
}

// brand returns the logo of the catalogue at the top of pages, as high as the style
// sheet shows it.
func (v *view) brand(path string) *img {
	const height, widest = 36, 144
	return v.logoAt(path, func(p catalog.Picture) int { return min(height*p.Width/max(p.Height, 1)+1, widest) })
}

// logoAt returns a picture that is shown in a width of CSS pixels.
func (v *view) logoAt(path string, width func(catalog.Picture) int) *img {
	p, ok := v.snap.Catalog.Pictures[path]
	if !ok {
		return nil
	}
	small, dense := atLeast(p, width(p)), atLeast(p, 2*width(p))
	i := &img{Src: markdown.MediaPath(small.Name, small.Ext), Width: small.Width, Height: small.Height}
	if dense.Name != small.Name {
		i.Srcset = i.Src + " 1x, " + markdown.MediaPath(dense.Name, dense.Ext) + " 2x"
	}
	return i
}

// atLeast returns the narrowest version of a picture that has a width, or the
// picture itself.
func atLeast(p catalog.Picture, width int) catalog.Variant {
	for _, small := range p.Variants {
		if small.Width >= width {
			return small
		}
	}
	return catalog.Variant{Name: p.Hash, Ext: p.Ext, Width: p.Width, Height: p.Height}
}

// sharedWidth is the width of the pictures that social networks show.
const sharedWidth = 1200

// A sharedImage is the picture of a page in previews on other sites.
type sharedImage struct {
	URL           string
	Width, Height int
	Alt           string // "" if nothing is known of what it shows
}

// shared returns the picture of a page for previews, or nil if there is none.
func (v *view) shared(path string) *sharedImage {
	p, ok := v.snap.Catalog.Pictures[path]
	if !ok {
		return nil
	}
	one := atLeast(p, sharedWidth)
	return &sharedImage{v.snap.Catalog.URL + markdown.MediaPath(one.Name, one.Ext), one.Width, one.Height, ""}
}

// sharedURL returns the address of a picture for previews; "" if there is none.
func (v *view) sharedURL(path string) string {
	if image := v.shared(path); image != nil {
		return image.URL
	}
	return ""
}
