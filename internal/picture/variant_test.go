package picture

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"image"
	"image/color"
	stddraw "image/draw"
	"io"
	"slices"
	"testing"

	"golang.org/x/image/draw"
)

func variantsOf(t *testing.T, p *Picture, widths ...int) []File {
	t.Helper()
	variants, err := p.Variants(widths...)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range variants {
		again, warnings := mustInspect(t, "variant."+v.Ext, v.Bytes)
		if v.Name != fmt.Sprintf("%s-%d", p.Name, v.Width) {
			t.Errorf("the variant of %d pixels is called %s", v.Width, v.Name)
		}
		if !bytes.Equal(again.Bytes, v.Bytes) || again.Width != v.Width || again.Height != v.Height || len(warnings) > 0 {
			t.Errorf("the variant of %d pixels is not as it would be accepted", v.Width)
		}
	}
	return variants
}

func sizes(files []File) (list []string) {
	for _, f := range files {
		list = append(list, fmt.Sprintf("%d × %d %s", f.Width, f.Height, f.Ext))
	}
	return list
}

func TestVariantsAreClearlySmaller(t *testing.T) {
	for _, c := range []struct {
		width, height int
		widths        []int
		want          []string
	}{
		{1600, 300, nil, []string{"96 × 18 jpg", "480 × 90 jpg", "960 × 180 jpg"}},
		{2000, 100, nil, []string{"96 × 5 jpg", "480 × 24 jpg", "960 × 48 jpg", "1600 × 80 jpg"}},
		{600, 400, nil, []string{"96 × 64 jpg", "480 × 320 jpg"}},
		{599, 400, nil, []string{"96 × 64 jpg"}},
		{119, 80, nil, nil},
		{600, 400, []int{192, 96, 96, 0, -5}, []string{"96 × 64 jpg", "192 × 128 jpg"}},
		{1000, 3, []int{100}, []string{"100 × 1 jpg"}},
		{101, 1001, []int{50}, []string{"50 × 496 jpg"}},
	} {
		p, _ := mustInspect(t, "a.jpg", jpegOf(t, photograph(c.width, c.height), 90))
		variants := variantsOf(t, p, c.widths...)
		if got := sizes(variants); !slices.Equal(got, c.want) {
			t.Errorf("%d × %d in %v: %q, want %q", c.width, c.height, c.widths, got, c.want)
		}
		for _, v := range variants {
			if len(v.Bytes) >= len(p.Bytes) {
				t.Errorf("%d × %d takes %d bytes, the picture %d", v.Width, v.Height, len(v.Bytes), len(p.Bytes))
			}
		}
	}
}

func TestAVariantTooHighForJPEGIsAPNG(t *testing.T) {
	p, _ := mustInspect(t, "a.png", pngOf(t, drawing(5, 82_000)))
	if got := sizes(variantsOf(t, p, 4)); !slices.Equal(got, []string{"4 × 65600 png"}) {
		t.Errorf("variants %q", got)
	}
}

func TestAVariantThatSavesNothingIsLeftOut(t *testing.T) {
	p, _ := mustInspect(t, "a.webp", fixture(t, "lossless.webp"))
	if v := variantsOf(t, p, 60); len(v) != 0 {
		t.Errorf("%q for a picture of %d bytes", sizes(v), len(p.Bytes))
	}
}

func TestVariantsHaveTheFormatThatSuitsThePicture(t *testing.T) {
	photo := photograph(240, 180)
	transparent := image.NewNRGBA(photo.Rect)
	stddraw.Draw(transparent, photo.Rect, photo, image.Point{}, stddraw.Src)
	for i := range 100 {
		transparent.SetNRGBA(i, i, color.NRGBA{})
	}
	logo := image.NewNRGBA(photo.Rect)
	stddraw.Draw(logo, logo.Rect, image.NewUniform(color.NRGBA{0, 80, 160, 255}), image.Point{}, stddraw.Src)
	for i := range 180 {
		stddraw.Draw(logo, image.Rect(i, i, i+30, i+3), image.White, image.Point{}, stddraw.Src)
	}
	grey := image.NewGray(photo.Rect)
	stddraw.Draw(grey, grey.Rect, photo, image.Point{}, stddraw.Src)
	for _, c := range []struct {
		name string
		file []byte
		want string
		kind any
	}{
		{"photo.jpg", jpegOf(t, photo, 90), "jpg", &image.YCbCr{}},
		{"grey.jpg", jpegOf(t, grey, 90), "jpg", &image.Gray{}},
		{"photo.png", pngOf(t, photo), "jpg", &image.YCbCr{}},
		{"grey.png", pngOf(t, grey), "jpg", &image.Gray{}},
		{"transparent.png", pngOf(t, transparent), "png", &image.NRGBA{}},
		{"logo.png", pngOf(t, logo), "png", &image.Paletted{}},
	} {
		p, _ := mustInspect(t, c.name, c.file)
		v := variantsOf(t, p, 120)
		if len(v) != 1 || v[0].Ext != c.want {
			t.Errorf("%s: %q, want %s", c.name, sizes(v), c.want)
			continue
		}
		f := pngFormat
		if v[0].Ext == "jpg" {
			f = jpegFormat
		}
		if got := decoded(t, f, v[0].Bytes); fmt.Sprintf("%T", got) != fmt.Sprintf("%T", c.kind) {
			t.Errorf("%s: variant is %T, want %T", c.name, got, c.kind)
		}
	}
}

// The reference is slower and sharper, so that it agrees only roughly.
func TestScalingAgreesWithASharperScaler(t *testing.T) {
	photo := photograph(310, 205)
	deep := image.NewNRGBA64(photo.Rect)
	stddraw.Draw(deep, photo.Rect, photo, image.Point{}, stddraw.Src)
	deepGrey := image.NewGray16(photo.Rect)
	stddraw.Draw(deepGrey, photo.Rect, photo, image.Point{}, stddraw.Src)
	glass := image.NewNRGBA(photo.Rect)
	for i := range photo.Pix {
		glass.Pix[i] = photo.Pix[i]
		if i%4 == 3 {
			glass.Pix[i] = photo.Pix[i-1]
		}
	}
	few := image.NewPaletted(photo.Rect, color.Palette{color.NRGBA{}, color.NRGBA{20, 40, 200, 128}, color.White})
	stddraw.Draw(few, photo.Rect, photo, image.Point{}, stddraw.Src)
	pictures := map[string]image.Image{"rgba": photo, "deep": deep, "deep grey": deepGrey, "glass": glass, "few": few}
	for ratio := image.YCbCrSubsampleRatio444; ratio <= image.YCbCrSubsampleRatio410; ratio++ {
		pictures[ratio.String()] = smoothYCbCr(photo.Rect, ratio)
	}
	for name, picture := range pictures {
		for _, width := range []int{248, 155, 103, 31} {
			if _, shared := picture.(*image.YCbCr); shared && width < 100 {
				continue // chroma is too coarse to compare
			}
			height := max(1, (205*width+155)/310)
			got := scale(picture, width, height)
			want := image.NewRGBA(image.Rect(0, 0, width, height))
			draw.CatmullRom.Scale(want, want.Rect, picture, picture.Bounds(), draw.Src, nil)
			sum, bright := 0, 0
			for y := range height {
				for x := range width {
					g, w := color.RGBAModel.Convert(got.At(x, y)).(color.RGBA), want.RGBAAt(x, y)
					sum += difference(g, w)
					bright += int(g.G) - int(w.G)
				}
			}
			n := width * height
			if float64(sum)/float64(n) > 5 || max(bright, -bright) > 3*n/2 {
				t.Errorf("%s to %d × %d: differs by %.2f of 255 on average, brightness by %.2f", name, width, height, float64(sum)/float64(n), float64(bright)/float64(n))
			}
		}
	}
}

func smoothYCbCr(r image.Rectangle, ratio image.YCbCrSubsampleRatio) *image.YCbCr {
	img := image.NewYCbCr(r, ratio)
	for y := range r.Dy() {
		for x := range r.Dx() {
			img.Y[img.YOffset(x, y)] = uint8(60 + x/3 + y/4)
			img.Cb[img.COffset(x, y)] = uint8(40 + x/2)
			img.Cr[img.COffset(x, y)] = uint8(200 - y/2)
		}
	}
	return img
}

func TestPlainSurfacesKeepTheirColour(t *testing.T) {
	for _, c := range []color.NRGBA{{0, 0, 0, 255}, {255, 255, 255, 255}, {1, 254, 127, 255}, {200, 30, 60, 128}} {
		img := image.NewNRGBA(image.Rect(0, 0, 333, 77))
		stddraw.Draw(img, img.Rect, image.NewUniform(c), image.Point{}, stddraw.Src)
		for _, width := range []int{266, 166, 100, 50, 3} {
			got := scale(img, width, 40)
			if first := color.NRGBAModel.Convert(got.At(0, 0)); c.A == 255 && first != c {
				t.Errorf("%v became %v", c, first)
			}
			for y := range 40 {
				for x := range width {
					if got.At(x, y) != got.At(0, 0) {
						t.Fatalf("%v became uneven in %d × 40", c, width)
					}
				}
			}
		}
	}
}

// WebP stores colours in the range of video.
func TestLossyWebPKeepsItsColours(t *testing.T) {
	want := map[image.Point]color.RGBA{{15, 10}: {200, 30, 60, 255}, {15, 35}: {5, 5, 5, 255}, {45, 20}: {250, 250, 250, 255}}
	for _, name := range []string{"lossy.webp", "lossless.webp"} {
		img := scale(decoded(t, webpFormat, fixture(t, name)), 60, 45)
		for at, c := range want {
			if got := color.RGBAModel.Convert(img.At(at.X, at.Y)).(color.RGBA); difference(got, c) > 4 {
				t.Errorf("%s at %v: %v, want %v", name, at, got, c)
			}
		}
	}
	img := scale(decoded(t, webpFormat, fixture(t, "lossy-alpha.webp")), 60, 45)
	if got := color.NRGBAModel.Convert(img.At(45, 20)).(color.NRGBA); got.R < 244 || got.G < 244 || got.B < 244 || got.A < 185 || got.A > 200 {
		t.Errorf("transparent white is %v", got)
	}
}

func TestVariantsKeepTheColourProfile(t *testing.T) {
	photo := photograph(240, 180)
	profile := bytes.Repeat(profileFor("RGB "), 600) // more than one segment
	transparent := image.NewNRGBA(photo.Rect)
	copy(transparent.Pix, photo.Pix)
	transparent.SetNRGBA(0, 0, color.NRGBA{})
	jpegFile, err := encodeJPEG(photo, 90, profile)
	if err != nil {
		t.Fatal(err)
	}
	for name, file := range map[string][]byte{
		"a.jpg": jpegFile,
		"a.png": withChunks(pngOf(t, photo), profileChunk(profile)),
		"b.png": withChunks(pngOf(t, transparent), profileChunk(profile)),
	} {
		p, _ := mustInspect(t, name, file)
		if !bytes.Equal(p.colour.profile, profile) {
			t.Errorf("%s: the picture lost its profile", name)
		}
		// Larger than the savings, so look at the encoder's output itself.
		v, err := p.encode(scale(decoded(t, p.format, p.Bytes), 120, 90), p.format != jpegFormat)
		if err != nil {
			t.Fatal(err)
		}
		again, _ := mustInspect(t, "v."+v.Ext, v.Bytes)
		if !bytes.Equal(again.colour.profile, profile) {
			t.Errorf("%s: the %s variant lost the profile", name, v.Ext)
		}
	}
}

func TestAProfileForGreyIsNotUsedForColours(t *testing.T) {
	grey := image.NewGray(image.Rect(0, 0, 240, 180))
	stddraw.Draw(grey, grey.Rect, photograph(240, 180), image.Point{}, stddraw.Src)
	glass := image.NewNRGBA(grey.Rect)
	stddraw.Draw(glass, grey.Rect, grey, image.Point{}, stddraw.Src)
	glass.SetNRGBA(0, 0, color.NRGBA{})
	for _, c := range []struct {
		img  image.Image
		want bool
	}{{grey, true}, {glass, false}} {
		p, _ := mustInspect(t, "a.png", withChunks(pngOf(t, c.img), profileChunk(profileFor("GRAY"))))
		for _, v := range variantsOf(t, p, 120) {
			again, _ := mustInspect(t, "v."+v.Ext, v.Bytes)
			if got := again.colour.profile != nil; got != c.want {
				t.Errorf("%T: the variant has a profile for grey: %t", c.img, got)
			}
		}
	}
}

func TestAPNGWithItsOwnGammaStaysAPNG(t *testing.T) {
	photo := pngOf(t, photograph(240, 180))
	srgb := [][]byte{pngChunk("gAMA", gammaOfSRGB), pngChunk("cHRM", primariesOfSRGB)}
	linear := pngChunk("gAMA", "\x00\x01\x86\xa0")
	for _, c := range []struct {
		chunks [][]byte
		want   string
	}{
		{srgb, "jpg"},
		{[][]byte{linear}, "png"},
		{[][]byte{linear, pngChunk("sRGB", "\x00")}, "jpg"},
		{[][]byte{pngChunk("cICP", "\x09\x10\x00\x01")}, "png"},
	} {
		p, _ := mustInspect(t, "a.png", withChunks(photo, c.chunks...))
		v := variantsOf(t, p, 120)
		if len(v) != 1 || v[0].Ext != c.want {
			t.Errorf("%q: variants %q, want %s", c.chunks, sizes(v), c.want)
		} else if v[0].Ext == "png" && !bytes.Contains(v[0].Bytes, c.chunks[0]) {
			t.Errorf("%q: the variant lost them", c.chunks)
		}
	}
}

func TestProfileChunkHoldsTheProfile(t *testing.T) {
	chunk := profileChunk([]byte("profile"))
	z, err := zlib.NewReader(bytes.NewReader(chunk[8+len("icc")+2:]))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(z); string(got) != "profile" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}
