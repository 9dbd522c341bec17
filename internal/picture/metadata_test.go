package picture

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"slices"
	"strings"
	"testing"

	"palmares/internal/problem"
)

// private is in every part that must not be published.
const private = "Jeanne Martin, 12 rue des Lilas"

func checkRemoved(t *testing.T, p *Picture) {
	t.Helper()
	for _, secret := range []string{private, latitude, "Exif", "eXIf", "EXIF", "http://ns.adobe.com", "XMP", "Photoshop", "48 51 24.11N", "tEXt", "tIME", "MPF\x00"} {
		if bytes.Contains(p.Bytes, []byte(secret)) {
			t.Errorf("the %s still contains %q", p.Ext, secret)
		}
	}
}

func TestJPEGKeepsItsDataAndLosesTheRest(t *testing.T) {
	plain := jpegOf(t, drawing(48, 32), 85)
	profile := jpegSegment(app2, profilePrefix+"\x01\x01"+string(profileFor("RGB ")))
	jfif := jpegSegment(markerAPP0, "JFIF\x00\x01\x02\x01\x00\x48\x00\x48\x00\x00")
	adobe := jpegSegment(app14, "Adobe\x00\x64\x00\x00\x00\x00\x01")
	file := withSegments(plain,
		jpegSegment(markerAPP0, "JFIF\x00\x01\x02\x01\x00\x48\x00\x48\x01\x01RGB"),
		jpegSegment(markerAPP0, "JFXX\x00\x10"+private),
		exifSegment(1),
		jpegSegment(app1, "http://ns.adobe.com/xap/1.0/\x00<x:xmpmeta>"+private),
		profile,
		jpegSegment(app2, "MPF\x00"+private),
		jpegSegment(markerAPP0+13, "Photoshop 3.0\x008BIM\x04\x04"+private),
		jpegSegment(app14, "Adobe\x00\x64\x00\x00\x00\x00\x01"+private),
		[]byte(private), // between segments
		[]byte{0xff, 0xff, 0xff},
		jpegSegment(markerCOM, private),
	)
	file = append(file, private...)
	p, _ := mustInspect(t, "a.jpg", file)
	checkRemoved(t, p)
	if want := withSegments(plain, jfif, profile, adobe); !bytes.Equal(p.Bytes, want) {
		t.Errorf("got  %q\nwant %q", p.Bytes[:200], want[:200])
	}
	if !samePixels(decoded(t, jpegFormat, p.Bytes), decoded(t, jpegFormat, file)) {
		t.Error("the pixels changed")
	}
}

func TestProgressiveJPEGWithRestartsStaysAsItIs(t *testing.T) {
	file := fixture(t, "progressive.jpg")
	scans := bytes.Count(file, []byte{0xff, markerSOS})
	if scans < 5 || !bytes.Contains(file, []byte{0xff, markerRST0 + 1}) {
		t.Fatal("the fixture is not what it should be")
	}
	p, _ := mustInspect(t, "a.jpg", withSegments(file, exifSegment(1)))
	if !bytes.Equal(p.Bytes, file) {
		t.Errorf("%d bytes, want %d", len(p.Bytes), len(file))
	}
}

func TestPNGKeepsItsDataAndLosesTheRest(t *testing.T) {
	img := drawing(48, 32)
	img.SetNRGBA(3, 3, color.NRGBA{1, 2, 3, 4})
	plain := pngOf(t, img)
	kept := [][]byte{pngChunk("gAMA", "\x00\x00\xb1\x8f"), profileChunk(profileFor("RGB "))}
	file := withChunks(plain, slices.Concat(kept, [][]byte{
		pngChunk("tEXt", "Author\x00"+private),
		pngChunk("zTXt", "Comment\x00\x00"+private),
		pngChunk("iTXt", "XML:com.adobe.xmp\x00\x00\x00\x00\x00"+private),
		pngChunk("tIME", "\x07\xe9\x01\x01\x00\x00\x00"),
		pngChunk("eXIf", string(exifData(binary.BigEndian, 1))),
		pngChunk("pHYs", "\x00\x00\x0b\x13\x00\x00\x0b\x13\x01"),
		pngChunk("caBX", private),
	})...)
	file = append(file, private...)
	p, warnings := mustInspect(t, "a.png", file)
	checkRemoved(t, p)
	if want := withChunks(plain, kept...); !bytes.Equal(p.Bytes, want) || len(warnings) > 0 {
		t.Errorf("%d bytes, want %d; %q", len(p.Bytes), len(want), warnings)
	}
	if !samePixels(decoded(t, pngFormat, p.Bytes), img) {
		t.Error("the pixels changed")
	}
}

func TestWebPKeepsItsDataAndLosesTheRest(t *testing.T) {
	file := fixture(t, "metadata.webp")
	for _, secret := range []string{"EXIF", "XMP ", "48 51 24.11N"} {
		if !bytes.Contains(file, []byte(secret)) {
			t.Fatalf("the fixture has no %q", secret)
		}
	}
	p, warnings := mustInspect(t, "a.webp", append(bytes.Clone(file), private...))
	checkRemoved(t, p)
	if !slices.Equal(warnings, []string{problem.New(turned).English}) {
		t.Errorf("warnings %q", warnings)
	}
	lossy := fixture(t, "lossy.webp")
	want := riff(riffChunk("VP8X", vp8xHeader(webpProfile, 120, 90)), riffChunk("ICCP", string(p.colour.profile)), lossy[12:])
	if !bytes.Equal(p.Bytes, want) || len(p.colour.profile) != 132 {
		t.Errorf("got  %q\nwant %q", p.Bytes, want)
	}
	if !samePixels(decoded(t, webpFormat, p.Bytes), decoded(t, webpFormat, lossy)) {
		t.Error("the pixels changed")
	}
}

func TestWebPOfEveryKindIsKept(t *testing.T) {
	for _, name := range []string{"lossy.webp", "lossy-alpha.webp", "lossless.webp", "lossless-alpha.webp"} {
		file := fixture(t, name)
		if p, _ := mustInspect(t, name, file); !bytes.Equal(p.Bytes, file) || p.Width != 120 || p.Height != 90 {
			t.Errorf("%s changed: %q", name, p.Bytes)
		}
	}
	// Flags that announce what is not there, and none for the transparency that is.
	alpha, lossy := fixture(t, "lossy-alpha.webp"), fixture(t, "lossy.webp")
	wrong := bytes.Clone(alpha)
	wrong[20] = 1<<2 | 1<<3 | webpProfile
	if p, _ := mustInspect(t, "flags.webp", wrong); !bytes.Equal(p.Bytes, alpha) {
		t.Errorf("flags %08b", p.Bytes[20])
	}
	opaque := riff(riffChunk("VP8X", vp8xHeader(webpAlpha, 120, 90)), lossy[12:], riffChunk("ALPH", "late"))
	if p, _ := mustInspect(t, "opaque.webp", opaque); !bytes.Equal(p.Bytes, riff(riffChunk("VP8X", vp8xHeader(0, 120, 90)), lossy[12:])) {
		t.Errorf("got %q", p.Bytes)
	}
}

func TestGIFKeepsItsDataAndLosesTheRest(t *testing.T) {
	img := image.NewPaletted(image.Rect(0, 0, 20, 10), color.Palette{color.Transparent, color.Black, color.White})
	img.SetColorIndex(3, 3, 1)
	plain := stillGIF(t, img)
	profile := gifExtensionOf(0xff, gifProfile[1:], string(profileFor("RGB ")))
	table := gifHeaderSize + colourTable(plain[10])
	file := insert(plain, table,
		gifExtensionOf(0xfe, private),
		gifExtensionOf(0xff, "XMP DataXMP", private),
		gifExtensionOf(0xff, "NETSCAPE2.0", "\x01\x00\x00"),
		gifExtensionOf(gifControl, "\x00\x00\x00\x00"),
		gifExtensionOf(gifPlainText, strings.Repeat("\x00", 12), private),
		profile,
	)
	file = append(file, private...)
	p, _ := mustInspect(t, "a.gif", file)
	checkRemoved(t, p)
	if want := insert(plain, table, profile); !bytes.Equal(p.Bytes, want) || p.Animated {
		t.Errorf("got  %q\nwant %q", p.Bytes, want)
	}
	if !samePixels(decoded(t, gifFormat, p.Bytes), img) {
		t.Error("the pixels changed")
	}
}

func TestAGIFIsAsLargeAsItsScreen(t *testing.T) {
	file := stillGIF(t, image.NewPaletted(image.Rect(0, 0, 20, 10), color.Palette{color.Black, color.White}))
	file[6], file[8] = 40, 30
	p, _ := mustInspect(t, "a.gif", file)
	img := decoded(t, gifFormat, p.Bytes)
	if p.Width != 40 || p.Height != 30 || img.Bounds() != image.Rect(0, 0, 40, 30) {
		t.Errorf("%d × %d, decoded %v", p.Width, p.Height, img.Bounds())
	}
	if _, _, _, a := img.At(30, 20).RGBA(); a != 0 {
		t.Error("outside the frame is not transparent")
	}
}

func TestPNGTurnedByEXIFIsAWarning(t *testing.T) {
	plain := pngOf(t, drawing(48, 32))
	file := withChunks(plain, pngChunk("eXIf", string(exifData(binary.LittleEndian, 8))))
	if p, warnings := mustInspect(t, "a.png", file); !slices.Equal(warnings, []string{problem.New(turned).English}) || !bytes.Equal(p.Bytes, plain) {
		t.Errorf("warnings %q", warnings)
	}
}
