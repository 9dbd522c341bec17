package picture

import (
	"image"
	"math/rand/v2"
	"testing"
)

func TestPlanesAreEncodedAsTheStandardLibraryWould(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	fill := func(pix []byte, value func() byte) {
		for i := range pix {
			pix[i] = value()
		}
	}
	contents := map[string]func() byte{
		"noise":    func() byte { return byte(random.UintN(256)) },
		"extremes": func() byte { return byte(random.UintN(2) * 255) },
		"black":    func() byte { return 0 },
		"white":    func() byte { return 255 },
	}
	photo := rasterOf(decoded(t, jpegFormat, jpegOf(t, photograph(150, 110), 95)), false)
	for _, size := range []image.Point{{1, 1}, {7, 9}, {8, 8}, {16, 16}, {17, 15}, {33, 40}, {100, 73}} {
		for name, value := range contents {
			img := image.NewYCbCr(image.Rect(0, 0, size.X, size.Y), image.YCbCrSubsampleRatio420)
			fill(img.Y, value)
			fill(img.Cb, value)
			fill(img.Cr, value)
			checkEncoded(t, name, img)
		}
		checkEncoded(t, "photograph", photo.scale(size.X, size.Y).image().(*image.YCbCr))
	}
}

// checkEncoded compares the errors of both encoders. They differ in small pictures, because
// each rounds in its own way.
func checkEncoded(t *testing.T, name string, img *image.YCbCr) {
	t.Helper()
	for _, quality := range []int{1, 50, 82, 90, 100} {
		ours, err := encodePlanes(rasterOf(img, false), quality)
		if err != nil {
			t.Fatal(err)
		}
		theirs := jpegOf(t, img, quality)
		got, want := squaredError(img, decoded(t, jpegFormat, ours)), squaredError(img, decoded(t, jpegFormat, theirs))
		if got > want*1.2+1 {
			t.Errorf("%s, %v, quality %d: squared error %.2f, image/jpeg %.2f", name, img.Rect.Max, quality, got, want)
		}
		if len(ours) > len(theirs)+len(theirs)/50+8 {
			t.Errorf("%s, %v, quality %d: %d bytes, image/jpeg %d", name, img.Rect.Max, quality, len(ours), len(theirs))
		}
	}
}

func squaredError(a *image.YCbCr, other image.Image) float64 {
	b := other.(*image.YCbCr)
	sum, n := 0, 0
	add := func(x, y byte) {
		d := int(x) - int(y)
		sum += d * d
		n++
	}
	for y := range a.Rect.Dy() {
		for x := range a.Rect.Dx() {
			add(a.Y[a.YOffset(x, y)], b.Y[b.YOffset(x, y)])
			add(a.Cb[a.COffset(x, y)], b.Cb[b.COffset(x, y)])
			add(a.Cr[a.COffset(x, y)], b.Cr[b.COffset(x, y)])
		}
	}
	return float64(sum) / float64(n)
}
