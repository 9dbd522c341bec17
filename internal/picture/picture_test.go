package picture

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"image"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
)

const (
	cutOff     = "the picture ends too early; it was probably not copied or downloaded completely, so copy it again"
	ofPhone    = "this is a HEIC or AVIF picture, which is not accepted; save it as JPEG, PNG or WebP"
	notKnown   = "this is not a picture in a known format; save it as JPEG, PNG or WebP"
	svgRefused = "this is an SVG picture, which is not accepted because SVG can carry script; export it as PNG"
	noPixels   = "the picture has no pixels; save it again in an image editor"
)

func isDamaged(how string) string {
	return "the picture is damaged (" + how + "); open it in an image editor and save it again"
}

func tooLarge(width, height int) string {
	return fmt.Sprintf("the picture is %d × %d pixels, and at most 24 megapixels are allowed; scale it down (a page needs at most 1600 pixels in width)", width, height)
}

func isAnimated(format string) string {
	return "this " + format + " is animated, and only GIF may be animated; save it as an animated GIF, or as a still picture"
}

type badFile struct {
	name     string
	file     []byte
	sentence string
}

func TestFilesThatAreNotAcceptedSayWhy(t *testing.T) {
	for _, c := range slices.Concat(otherFiles(), badPNGs(t), badJPEGs(t), badGIFs(t), badWebPs(t)) {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := Inspect(c.name, c.file)
			if err == nil {
				t.Fatalf("accepted, want: %s", c.sentence)
			}
			if err.Error() != c.sentence {
				t.Errorf("got:  %s\nwant: %s", err, c.sentence)
			}
		})
	}
}

func otherFiles() []badFile {
	svg := `<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`
	var wide []byte
	for _, u := range utf16.Encode([]rune("\ufeff" + svg)) {
		wide = binary.LittleEndian.AppendUint16(wide, u)
	}
	return []badFile{
		{"empty.png", nil, "the file is empty; export or copy the picture again"},
		{"large.png", make([]byte, MaxBytes+300_000), "the picture takes 10.3 MiB, and at most 10 MiB are allowed; scale it down or save it with stronger compression"},
		{"logo.svg", []byte(svg), svgRefused},
		{"named.png", []byte(svg), svgRefused},
		{"commented.png", []byte("\xef\xbb\xbf<?xml version=\"1.0\"?>\n<!-- Inkscape -->\n" + svg), svgRefused},
		{"doctype.png", []byte("<!DOCTYPE svg PUBLIC \"-//W3C//DTD SVG 1.1//EN\">\n"), svgRefused},
		{"utf16.png", wide, svgRefused},
		{"compressed.svgz", []byte("\x1f\x8b\x08\x00"), svgRefused},
		{"page.jpg", []byte("<!DOCTYPE html>\n<title>404</title>"), "this is an HTML page, not a picture; download the picture itself"},
		{"page.png", []byte("<!-- x --><html><body><svg></svg>"), "this is an HTML page, not a picture; download the picture itself"},
		{"pointer.png", []byte("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"), "this is a Git LFS pointer, not the picture; run `git lfs pull` and try again"},
		{"a.avif", []byte("\x00\x00\x00\x20ftypavif\x00\x00\x00\x00avifmif1miaf"), ofPhone},
		{"b.avif", []byte("\x00\x00\x00\x20ftypmif1\x00\x00\x00\x00mif1avifmiaf"), ofPhone},
		{"a.heic", []byte("\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic"), ofPhone},
		{"a.mp4", []byte("\x00\x00\x00\x18ftypisom\x00\x00\x00\x00isommp42"), notKnown},
		{"a.pdf", []byte("%PDF-1.7\n"), notKnown},
		{"notes.txt", []byte("à faire : les images"), notKnown},
		{"short.webp", []byte("RIFF\x00\x00"), notKnown},
		{"sound.webp", []byte("RIFF\x04\x00\x00\x00WAVE"), notKnown},
	}
}

func badPNGs(t *testing.T) []badFile {
	good := pngOf(t, drawing(32, 24))
	badChecksum := bytes.Clone(good)
	badChecksum[len(badChecksum)-20] ^= 1
	return []badFile{
		{"bomb.png", pngHeader(100_000, 100_000), tooLarge(100_000, 100_000)},
		{"overflow.png", pngHeader(1<<31-1, 1<<31-1), tooLarge(1<<31-1, 1<<31-1)},
		{"negative.png", pngHeader(1<<31, 1), isDamaged("wrong PNG header")},
		{"flat.png", pngHeader(10, 0), noPixels},
		{"claims.png", append(pngHeader(4000, 4000), slices.Concat(pngChunk("IDAT", "\x78\x9c"), pngChunk("IEND", ""))...), cutOff},
		{"signature.png", []byte(pngSignature), cutOff},
		{"truncated.png", good[:len(good)*2/3], cutOff},
		{"endless.png", good[:len(good)-12], cutOff},
		{"checksum.png", badChecksum, isDamaged("png: invalid format: zlib: invalid checksum")},
		{"headless.png", append([]byte(pngSignature), pngChunk("IEND", "")...), isDamaged("PNG without a header")},
		{"twoheads.png", withChunks(good, good[8:pngHeaderEnd]), isDamaged("wrong PNG header")},
		{"apple.png", withChunks(good, pngChunk("CgBI", "\x50\x00\x20\x06")), isDamaged("a part that only some programs understand")},
		{"animated.png", withChunks(good, pngChunk("acTL", "\x00\x00\x00\x02\x00\x00\x00\x00")), isAnimated("PNG")},
	}
}

func badJPEGs(t *testing.T) []badFile {
	good := jpegOf(t, drawing(32, 24), 90)
	frame := bytes.Index(good, []byte{0xff, markerSOF0})
	scan := bytes.Index(good, []byte{0xff, markerSOS})
	patched := func(at int, with ...byte) []byte {
		b := bytes.Clone(good)
		copy(b[at:], with)
		return b
	}
	manyScans := good[:len(good)-2]
	for range 4 {
		manyScans = append(manyScans, good[scan:len(good)-2]...)
	}
	manyScans = append(manyScans, 0xff, markerEOI)
	return []badFile{
		{"bomb.jpg", patched(frame+5, 0xff, 0xff, 0xff, 0xff), tooLarge(65535, 65535)},
		{"flat.jpg", patched(frame+5, 0, 0), noPixels},
		{"truncated.jpg", good[:len(good)-30], cutOff},
		{"endless.jpg", good[:len(good)-2], cutOff},
		{"header.jpg", good[:frame+6], cutOff},
		{"short.jpg", append(bytes.Clone(good[:scan+20]), 0xff, markerEOI), isDamaged("invalid JPEG format: missing 0xff00 sequence")},
		{"start.jpg", []byte{0xff, markerSOI}, cutOff},
		{"nothing.jpg", []byte{0xff, markerSOI, 0xff, markerEOI}, isDamaged("no picture in it")},
		{"arithmetic.jpg", patched(frame+1, 0xc9), "this is a kind of JPEG that browsers do not show (lossless or arithmetic coding); save it as an ordinary JPEG"},
		{"deep.jpg", patched(frame+4, 12), "this JPEG has more than 8 bits per colour, which browsers do not show; save it as an ordinary JPEG"},
		{"print.jpg", patched(frame+9, 4), "this JPEG has print colours (CMYK), which browsers show wrongly; convert it to RGB and save it again"},
		{"twice.jpg", withSegments(good, good[frame:frame+19]), isDamaged("unexpected JPEG frame")},
		{"scans.jpg", manyScans, isDamaged("too many JPEG scans")},
		{"strange.jpg", withSegments(good, jpegSegment(0xf0, "")), isDamaged("unknown JPEG segment")},
		{"ratio.jpg", patched(frame+11, 0x31), "the picture cannot be read (unsupported JPEG feature: luma/chroma subsampling ratio); open it in an image editor and save it again"},
		{"tables.jpg", patched(bytes.Index(good, []byte{0xff, markerDQT})+4, 0x0f), isDamaged("invalid JPEG format: bad Tq value")},
	}
}

func badGIFs(t *testing.T) []badFile {
	good := stillGIF(t, drawing(32, 24))
	table := gifHeaderSize + colourTable(good[10])
	screen := func(size byte, b []byte) []byte {
		b = bytes.Clone(b)
		b[7], b[9] = size, size
		return b
	}
	outside := bytes.Clone(good)
	outside[6]--
	return []badFile{
		{"bomb.gif", screen(0xff, good), tooLarge(0xff20, 0xff18)},
		{"header.gif", []byte("GIF89a\x01\x00"), cutOff},
		{"palette.gif", good[:20], cutOff},
		{"truncated.gif", good[:len(good)-20], cutOff},
		{"endless.gif", good[:len(good)-1], cutOff},
		{"nothing.gif", append(bytes.Clone(good[:table]), gifTrailer), isDamaged("no picture in it")},
		{"strange.gif", insert(good, table, []byte{0x99}), isDamaged("unknown GIF block")},
		{"outside.gif", outside, isDamaged("gif: frame bounds larger than image bounds")},
		{"long.gif", animatedGIF(t, 300, 1000), "the animation has 300 frames with 300 megapixels in all, and at most 5000 frames and 240 megapixels are allowed; shorten it or scale it down"},
		{"frames.gif", animatedGIF(t, 5001, 1), "the animation has 5001 frames with 0 megapixels in all, and at most 5000 frames and 240 megapixels are allowed; shorten it or scale it down"},
		{"later.gif", damageLast(animatedGIF(t, 3, 50)), isDamaged("gif: reading image data: lzw: invalid code")},
	}
}

// damageLast damages the data of the last frame of an animation.
func damageLast(file []byte) []byte {
	b := bytes.Clone(file)
	g, _ := splitGIF(b)
	last := g.frames[len(g.frames)-1].image
	last[len(last)-3] = 0xff
	return b
}

func badWebPs(t *testing.T) []badFile {
	lossy, lossless, alpha := fixture(t, "lossy.webp"), fixture(t, "lossless.webp"), fixture(t, "lossy-alpha.webp")
	huge := riffChunk("VP8L", vp8lHeader(16384, 16384))
	interFrame := bytes.Clone(lossy)
	interFrame[20] |= 1
	otherSize := bytes.Clone(alpha)
	otherSize[24]++
	return []badFile{
		{"bomb.webp", riff(huge), tooLarge(16384, 16384)},
		{"lies.webp", riff(riffChunk("VP8X", vp8xHeader(0, 100, 100)), huge), tooLarge(16384, 16384)},
		{"lies2.webp", otherSize, isDamaged("two different sizes in one WebP")},
		{"truncated.webp", lossy[:len(lossy)-40], cutOff},
		{"truncated2.webp", lossless[:len(lossless)-10], cutOff},
		{"inside.webp", riff(riffChunk("VP8 ", string(lossy[20:len(lossy)-60]))), cutOff},
		{"nothing.webp", riff(), isDamaged("wrong WebP header")},
		{"flat.webp", riff(riffChunk("VP8 ", "\x30\x09\x00\x9d\x01\x2a\x00\x00\x5a\x00")), noPixels},
		{"header.webp", riff(riffChunk("VP8X", "\x00")), isDamaged("wrong WebP header")},
		{"inter.webp", interFrame, isDamaged("wrong WebP header")},
		{"animated.webp", fixture(t, "animated.webp"), isAnimated("WebP")},
	}
}

func TestSizesAreCheckedBeforeMemoryIsAllocated(t *testing.T) {
	bombs := slices.DeleteFunc(slices.Concat(badPNGs(t), badJPEGs(t), badGIFs(t), badWebPs(t)), func(c badFile) bool {
		return !strings.Contains(c.sentence, "megapixels") && c.name != "claims.png"
	})
	if len(bombs) != 9 {
		t.Fatalf("%d bombs, want 9", len(bombs))
	}
	for _, c := range bombs {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _, err := Inspect(c.name, c.file)
		runtime.ReadMemStats(&after)
		if got := int(after.TotalAlloc - before.TotalAlloc); err == nil || got > 2<<20 {
			t.Errorf("%s: %d bytes for a file of %d, %v", c.name, got, len(c.file), err)
		}
	}
}

func TestAProfileThatDecompressesEndlesslyIsRemoved(t *testing.T) {
	good := pngOf(t, drawing(32, 24))
	bomb := profileChunk(make([]byte, maxProfile+1))
	p, warnings := mustInspect(t, "a.png", withChunks(good, bomb, bomb, pngChunk("zTXt", "Comment\x00\x00"+string(bomb))))
	want := []string{"the colour profile is damaged or too large and was removed; check the colours, or save the picture with an sRGB profile"}
	if !slices.Equal(warnings, want) || !bytes.Equal(p.Bytes, good) {
		t.Errorf("%d bytes, want %d; %q", len(p.Bytes), len(good), warnings)
	}
}

func TestAFileIsWhatItContains(t *testing.T) {
	img := drawing(32, 24)
	for _, c := range []struct {
		name, ext string
		file      []byte
		warnings  []string
	}{
		{"a.PNG", "png", pngOf(t, img), nil},
		{"a.jpeg", "jpg", jpegOf(t, img, 80), nil},
		{"a.webp", "webp", fixture(t, "lossless.webp"), nil},
		{"a.gif", "gif", stillGIF(t, img), nil},
		{"a.jpg", "png", pngOf(t, img), []string{"this is a PNG picture, but its name ends in .jpg; rename it to end in .png"}},
		{"a.svg", "gif", stillGIF(t, img), []string{"this is a GIF picture, but its name ends in .svg; rename it to end in .gif"}},
		{"images/a", "jpg", jpegOf(t, img, 80), []string{"this is a JPEG picture, but its name has no ending; add .jpg"}},
	} {
		p, warnings := mustInspect(t, c.name, c.file)
		if p.Ext != c.ext || !slices.Equal(warnings, c.warnings) {
			t.Errorf("%s: %s, %q", c.name, p.Ext, warnings)
		}
		sum := sha256.Sum256(p.Bytes)
		if p.Name != hex.EncodeToString(sum[:]) {
			t.Errorf("%s: hash %s", c.name, p.Name)
		}
		if img := decoded(t, p.format, p.Bytes); img.Bounds() != image.Rect(0, 0, p.Width, p.Height) {
			t.Errorf("%s: %d × %d, decoded %v", c.name, p.Width, p.Height, img.Bounds())
		}
	}
}

func TestVariantsFreeThePixels(t *testing.T) {
	p, _ := mustInspect(t, "a.jpg", jpegOf(t, drawing(32, 24), 80))
	if p.pixels == nil {
		t.Error("a new picture was not decoded")
	}
	first, err1 := p.Variants(16)
	if p.pixels != nil {
		t.Error("Variants kept the pixels")
	}
	again, err2 := p.Variants(16)
	if diff := cmp.Diff(first, again); diff != "" || len(first) != 1 || err1 != nil || err2 != nil {
		t.Errorf("variants differ: %s %v %v", diff, err1, err2)
	}
}

func TestAnAnimatedGIFStaysAsItIs(t *testing.T) {
	file := animatedGIF(t, 3, 600)
	g, err := splitGIF(file)
	if err != nil {
		t.Fatal(err)
	}
	file = insert(file, len(g.header), gifExtensionOf(0xfe, "comment"))
	p, _ := mustInspect(t, "a.gif", append(bytes.Clone(file), "more"...))
	if !p.Animated || !bytes.Equal(p.Bytes, file) {
		t.Errorf("animated %t, %d bytes, want %d", p.Animated, len(p.Bytes), len(file))
	}
	if v, err := p.Variants(); v != nil || err != nil {
		t.Errorf("%d variants, %v", len(v), err)
	}
}
