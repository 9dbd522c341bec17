package picture

import (
	"bytes"
	"image"
	"runtime"
	"slices"
	"testing"
)

// FuzzPicture checks what holds for every file: no panic, memory in proportion to the
// limits, a result that inspects to itself and has the same variants, and the pixels of
// the file.
func FuzzPicture(f *testing.F) {
	img := drawing(40, 30)
	for _, file := range [][]byte{
		pngOf(f, img), pngOf(f, img.SubImage(image.Rect(0, 0, 1, 1))),
		withChunks(pngOf(f, img), profileChunk(profileFor("RGB ")), pngChunk("tEXt", "a\x00b")),
		jpegOf(f, img, 80),
		withSegments(jpegOf(f, img, 80), exifSegment(6), jpegSegment(app2, profilePrefix+"\x01\x01"+string(profileFor("RGB ")))),
		withSegments(jpegOf(f, ycbcrOf(img, image.YCbCrSubsampleRatio422), 50), exifSegment(3)),
		stillGIF(f, img), animatedGIF(f, 3, 20),
		fixture(f, "progressive.jpg"), fixture(f, "metadata.webp"), fixture(f, "animated.webp"),
		fixture(f, "lossy.webp"), fixture(f, "lossy-alpha.webp"), fixture(f, "lossless.webp"), fixture(f, "lossless-alpha.webp"),
	} {
		f.Add(file)
	}
	lim := limits{bytes: 64 << 10, pixels: 1 << 14, framePixels: 1 << 17}
	f.Fuzz(func(t *testing.T, file []byte) {
		p, err := boundedInspect(t, lim, file)
		if err != nil {
			return
		}
		checkSamePixels(t, p, file)
		again, err := boundedInspect(t, lim, p.Bytes)
		if err != nil || !bytes.Equal(again.Bytes, p.Bytes) || again.Name != p.Name || again.Width != p.Width || again.Height != p.Height {
			t.Fatalf("inspecting the result changes it: %v", err)
		}
		variants, err := p.Variants(30, 12, 5)
		if err != nil {
			t.Fatal(err)
		}
		same, err := again.Variants(30, 12, 5)
		if err != nil || !slices.EqualFunc(variants, same, func(a, b File) bool { return bytes.Equal(a.Bytes, b.Bytes) }) {
			t.Fatalf("the result has other variants: %v", err)
		}
		for _, v := range variants {
			vp, warnings, err := inspect(lim, "v."+v.Ext, v.Bytes)
			isAsSaid := err == nil && bytes.Equal(vp.Bytes, v.Bytes) && vp.Width == v.Width && vp.Height == v.Height
			if !isAsSaid || len(warnings) > 0 || len(v.Bytes) >= len(p.Bytes) {
				t.Fatalf("variant %d × %d %s: %v", v.Width, v.Height, v.Ext, err)
			}
		}
	})
}

// boundedInspect fails when more memory is allocated, over time, than a few copies of
// the file and of the pixels. A lossless WebP may hold thousands of code tables, each of
// which takes a few thousand times its bytes in the file while it is read.
func boundedInspect(t *testing.T, lim limits, file []byte) (*Picture, error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	p, _, err := inspect(lim, "a.png", file)
	runtime.ReadMemStats(&after)
	bound := uint64(1<<20 + 64*lim.pixels + 32*len(file))
	if bytes.HasPrefix(file, []byte("RIFF")) || bytes.HasPrefix(file, []byte("GIF")) {
		bound += 4 << 10 * uint64(len(file))
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > bound {
		t.Fatalf("%d bytes for a file of %d, %v", got, len(file), err)
	}
	return p, err
}

// checkSamePixels compares with the file as it was, where a decoder accepts that too.
func checkSamePixels(t *testing.T, p *Picture, file []byte) {
	in, err := p.format.parse(file, published)
	if err != nil {
		t.Fatal(err)
	}
	if p.format == jpegFormat && in.orientation > 1 || p.Animated {
		return
	}
	// Go takes a JFXX header for the absence of a JFIF header.
	if p.format == jpegFormat && bytes.Count(file, []byte{0xff, markerAPP0}) > 0 {
		return
	}
	was, err := p.format.decode(file)
	if err != nil {
		return
	}
	is, err := p.format.decode(p.Bytes)
	if err != nil || !samePixels(was, is) {
		t.Fatalf("the pixels changed: %v", err)
	}
}
