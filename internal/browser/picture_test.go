package browser_test

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"slices"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

var update = flag.Bool("update", false, "make the pictures of the README anew")

// pictures are those of the README: what a reader sees first on each screen.
var pictures = []struct {
	file, path, scheme string
	screen             screen
	scale              int64 // pixels per point
}{
	{"../../docs/images/home.png", "/", "light", screen{"desktop", 1280, 800, false}, 1},
	{"../../docs/images/review-phone.png", "/avis/babilune", "dark", phone, 2},
}

// most is what one picture may weigh: the README must open quickly too.
const most = 250_000

// Run with -update, this makes the pictures first.
func TestPicturesOfTheReadmeAreThereAndSmall(t *testing.T) {
	t.Parallel()
	for _, p := range pictures {
		if *update {
			b := newTab(t, p.screen)
			b.prefer(p.scheme)
			b.show(p.screen, chromedp.EmulateScale(float64(p.scale)))
			call(b, emulation.SetScrollbarsHidden, emulation.SetScrollbarsHiddenParams{Hidden: true})
			b.goTo(p.path)
			if err := os.WriteFile(p.file, slim(t, get(b, chromedp.CaptureScreenshot())), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		raw, err := os.ReadFile(p.file)
		if err != nil {
			t.Fatalf("%v: make it with `go test ./internal/browser -run Pictures -update`", err)
		}
		picture, err := png.Decode(bytes.NewReader(raw))
		if err != nil {
			t.Fatalf("%s: %v", p.file, err)
		}
		if size := picture.Bounds().Size(); size != image.Pt(int(p.screen.width*p.scale), int(p.screen.height*p.scale)) {
			t.Errorf("%s is %v", p.file, size)
		}
		if len(raw) > most {
			t.Errorf("%s weighs %d bytes, more than %d", p.file, len(raw), most)
		}
	}
}

// slim packs a picture as tightly as PNG can. Pages have few colours: when those
// of the smoothed letters' edges are rounded a little, 256 are enough, and a byte
// per pixel instead of four.
func slim(t *testing.T, raw []byte) []byte {
	t.Helper()
	picture, err := png.Decode(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	packed := image.NewPaletted(picture.Bounds(), palette(picture))
	for y := picture.Bounds().Min.Y; y < picture.Bounds().Max.Y; y++ {
		for x := picture.Bounds().Min.X; x < picture.Bounds().Max.X; x++ {
			packed.Set(x, y, picture.At(x, y))
		}
	}
	var out bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, packed); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// palette gives the 256 colours that most pixels have.
func palette(picture image.Image) color.Palette {
	counts := map[color.Color]int{}
	for y := picture.Bounds().Min.Y; y < picture.Bounds().Max.Y; y++ {
		for x := picture.Bounds().Min.X; x < picture.Bounds().Max.X; x++ {
			counts[picture.At(x, y)]++
		}
	}
	colours := make(color.Palette, 0, len(counts))
	for c := range counts {
		colours = append(colours, c)
	}
	slices.SortFunc(colours, func(a, b color.Color) int {
		return cmp.Or(counts[b]-counts[a], cmp.Compare(fmt.Sprint(a), fmt.Sprint(b))) // the same page, the same bytes
	})
	return colours[:min(len(colours), 256)]
}
