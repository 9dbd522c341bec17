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
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

var update = flag.Bool("update", false, "take the pictures of the README again")

// pictures are those of the README: the top of a page.
var pictures = []struct {
	file, path, scheme string
	screen             screen
	scale              int64 // pixels per point
}{
	{"../../docs/images/home.png", "/", "light", screen{"desktop", 1280, 1120, false}, 1},
	{"../../docs/images/review-phone.png", "/avis/babilune", "dark", phone, 2},
}

// maxPicture is the largest size of a picture in bytes: the README should load quickly.
const maxPicture = 250_000

// With -update, the test takes the pictures first, in the fonts of the machine.
func TestPicturesOfTheReadmeAreThereAndSmall(t *testing.T) {
	t.Parallel()
	for _, p := range pictures {
		if *update {
			b := openTab(t, machineBrowser, p.screen, kit.url)
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
			t.Fatalf("%v: take it with `go test ./internal/browser -run Pictures -update`", err)
		}
		picture, err := png.Decode(bytes.NewReader(raw))
		if err != nil {
			t.Fatalf("%s: %v", p.file, err)
		}
		if size := picture.Bounds().Size(); size != image.Pt(int(p.screen.width*p.scale), int(p.screen.height*p.scale)) {
			t.Errorf("%s is %v", p.file, size)
		}
		if len(raw) > maxPicture {
			t.Errorf("%s has %d bytes, more than %d", p.file, len(raw), maxPicture)
		}
	}
}

// helpPictures are those of the help of the desk: the top of a page of a working copy.
var helpPictures = []struct{ file, path string }{
	{"../desk/help/copie.png", ""},
	{"../desk/help/relecture.png", "/relecture"},
}

// helpScreen is as wide and high as the template of the help says.
var helpScreen = screen{"desktop", 1400, 880, false}

func TestPicturesOfTheHelpAreThereAndSmall(t *testing.T) {
	t.Parallel()
	if *update {
		takeHelpPictures(t)
	}
	for _, p := range helpPictures {
		raw, err := os.ReadFile(p.file)
		if err != nil {
			t.Fatalf("%v: take it with `go test ./internal/browser -run Pictures -update`", err)
		}
		picture, err := png.DecodeConfig(bytes.NewReader(raw))
		if err != nil || picture.Width != int(helpScreen.width) || picture.Height != int(helpScreen.height) || len(raw) > maxPicture/3 {
			t.Errorf("%s is %dx%d in %d bytes, %v", p.file, picture.Width, picture.Height, len(raw), err)
		}
	}
}

func takeHelpPictures(t *testing.T) {
	t.Helper()
	s := startService(t)
	b := openTab(t, machineBrowser, helpScreen, s.url)
	s.signsIn(b)
	b.goTo("/redaction/fiches/outils/plume")
	b.follow("form[action$=copie] button")
	copied := strings.TrimSuffix(strings.TrimPrefix(b.lastURL(), s.url), "?fait=ouverte")
	b.retype("f.tagline", "Écrit vite, et bien")
	b.retype("f.price", "21 €/mois")
	b.retype("f.body", "## Verdict\n\nBien, et mieux depuis la dernière version.")
	b.leave(click(".desk-bar button"))
	call(b, emulation.SetScrollbarsHidden, emulation.SetScrollbarsHiddenParams{Hidden: true})
	for _, p := range helpPictures {
		b.goTo(copied + p.path)
		eval[chromedp.Void](b, `document.querySelector(".masthead").remove(); scrollTo(0, 0)`)
		if p.path == "" {
			b.await(`document.querySelector("[data-page]").contentDocument.readyState === "complete"`)
		}
		if err := os.WriteFile(p.file, slim(t, get(b, chromedp.CaptureScreenshot())), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// slim encodes a picture with a palette of 256 colours, one byte per pixel instead of
// four. Pages have few colours besides those of smoothed letters.
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

// palette returns the 256 most frequent colours.
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
