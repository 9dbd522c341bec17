package picture

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"os"
	"testing"
)

func mustInspect(tb testing.TB, name string, file []byte) (*Picture, []string) {
	tb.Helper()
	p, warnings, err := Inspect(name, file)
	if err != nil {
		tb.Fatalf("%s: %v", name, err)
	}
	var texts []string
	for _, w := range warnings {
		texts = append(texts, w.English)
	}
	return p, texts
}

func decoded(tb testing.TB, f *format, file []byte) image.Image {
	tb.Helper()
	img, err := f.decode(file)
	if err != nil {
		tb.Fatal(err)
	}
	return img
}

func samePixels(a, b image.Image) bool {
	if a.Bounds() != b.Bounds() {
		return false
	}
	for y := a.Bounds().Min.Y; y < a.Bounds().Max.Y; y++ {
		for x := a.Bounds().Min.X; x < a.Bounds().Max.X; x++ {
			if color.RGBA64Model.Convert(a.At(x, y)) != color.RGBA64Model.Convert(b.At(x, y)) {
				return false
			}
		}
	}
	return true
}

func fixture(tb testing.TB, name string) []byte {
	tb.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// drawing is a small picture in which every pixel is different.
func drawing(width, height int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			img.SetNRGBA(x, y, color.NRGBA{uint8(255 * x / width), uint8(255 * y / height), uint8(40*x + 70*y), 255})
		}
	}
	return img
}

func jpegOf(tb testing.TB, img image.Image, quality int) []byte {
	tb.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, img, &jpeg.Options{Quality: quality}); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// withSegments returns the JPEG with more segments right after its start.
func withSegments(file []byte, segments ...[]byte) []byte {
	return insert(file, 2, segments...)
}

func jpegSegment(marker byte, body string) []byte {
	s := binary.BigEndian.AppendUint16([]byte{0xff, marker}, uint16(len(body)+2))
	return append(s, body...)
}

func insert(file []byte, at int, parts ...[]byte) []byte {
	out := bytes.Clone(file[:at])
	for _, p := range parts {
		out = append(out, p...)
	}
	return append(out, file[at:]...)
}

// exifSegment is what a camera writes: an orientation, and a place in a second directory.
func exifSegment(orientation int) []byte {
	return jpegSegment(app1, exifPrefix+string(exifData(binary.BigEndian, orientation)))
}

const latitude = "48°51'24.11N"

func exifData(order binary.AppendByteOrder, orientation int) []byte {
	t := []byte("MM\x00*")
	if order.String() == "LittleEndian" {
		t = []byte("II*\x00")
	}
	entry := func(tag, kind uint16, count, value uint32) {
		t = order.AppendUint16(t, tag)
		t = order.AppendUint16(t, kind)
		t = order.AppendUint32(t, count)
		if kind == 3 {
			t = order.AppendUint16(t, uint16(value))
			t = append(t, 0, 0)
		} else {
			t = order.AppendUint32(t, value)
		}
	}
	t = order.AppendUint32(t, 8)
	t = order.AppendUint16(t, 2)
	entry(0x0112, 3, 1, uint32(orientation))
	entry(0x8825, 4, 1, 8+2+2*12+4) // the directory of the place
	t = order.AppendUint32(t, 0)
	t = order.AppendUint16(t, 1)
	entry(2, 2, uint32(len(latitude)), 8+2+2*12+4+2+12+4)
	t = order.AppendUint32(t, 0)
	return append(t, latitude...)
}

func pngOf(tb testing.TB, img image.Image) []byte {
	tb.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

func pngChunk(kind, body string) []byte {
	c := binary.BigEndian.AppendUint32(nil, uint32(len(body)))
	c = append(c, kind+body...)
	return binary.BigEndian.AppendUint32(c, crc32.ChecksumIEEE([]byte(kind+body)))
}

// pngHeader is a PNG that ends after its header.
func pngHeader(width, height uint32) []byte {
	body := binary.BigEndian.AppendUint32(nil, width)
	body = binary.BigEndian.AppendUint32(body, height)
	body = append(body, 8, 6, 0, 0, 0)
	return append([]byte(pngSignature), pngChunk("IHDR", string(body))...)
}

// withChunks returns the PNG with more chunks right after its header.
func withChunks(file []byte, chunks ...[]byte) []byte { return insert(file, pngHeaderEnd, chunks...) }

func stillGIF(tb testing.TB, img image.Image) []byte {
	tb.Helper()
	var b bytes.Buffer
	if err := gif.Encode(&b, img, nil); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// animatedGIF repeats one frame.
func animatedGIF(tb testing.TB, frames, size int) []byte {
	tb.Helper()
	still := stillGIF(tb, image.NewPaletted(image.Rect(0, 0, size, size), color.Palette{color.Black, color.White}))
	g, err := splitGIF(still)
	if err != nil {
		tb.Fatal(err)
	}
	return append(insert(g.header, len(g.header), bytes.Repeat(g.frames[0].image, frames)), gifTrailer)
}

func gifExtensionOf(label byte, blocks ...string) []byte {
	e := []byte{gifExtension, label}
	for _, b := range blocks {
		e = append(e, byte(len(b)))
		e = append(e, b...)
	}
	return append(e, 0)
}

func riff(chunks ...[]byte) []byte {
	body := append([]byte("WEBP"), bytes.Join(chunks, nil)...)
	return append(binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(len(body))), body...)
}

func riffChunk(kind, body string) []byte {
	p := &parsed{}
	p.webpChunk(kind, []byte(body))
	return p.bytes
}

// vp8lHeader is the start of lossless WebP data, with the size it claims.
func vp8lHeader(width, height uint32) string {
	return "\x2f" + string(binary.LittleEndian.AppendUint32(nil, width-1|(height-1)<<14))
}

func vp8xHeader(flags byte, width, height uint32) string {
	w, h := binary.LittleEndian.AppendUint32(nil, width-1), binary.LittleEndian.AppendUint32(nil, height-1)
	return string([]byte{flags, 0, 0, 0}) + string(w[:3]) + string(h[:3])
}

// profileFor is the header of an ICC profile for "RGB " or "GRAY".
func profileFor(space string) []byte {
	p := make([]byte, 132)
	p[3] = 132
	copy(p[12:], "mntr"+space+"XYZ ")
	copy(p[36:], "acsp")
	return p
}
