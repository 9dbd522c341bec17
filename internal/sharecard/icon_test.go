package sharecard

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"testing"
)

var red = color.RGBA{0xcc, 0, 0, 0xff}

// plain returns the file of a picture of one colour.
func plain(width, height int, c color.Color) []byte {
	img := image.NewPaletted(image.Rect(0, 0, width, height), color.Palette{c})
	return encode(img)
}

func TestAnIconShowsTheLogoOnPaper(t *testing.T) {
	img, err := png.Decode(bytes.NewReader(Icon(plain(400, 40, red), 180, green)))
	if err != nil || img.Bounds() != image.Rect(0, 0, 180, 180) {
		t.Fatal(err, img.Bounds())
	}
	for at, want := range map[image.Point]color.RGBA{{90, 90}: red, {22, 90}: red, {157, 90}: red, {90, 60}: paper, {10, 90}: paper, {0, 0}: paper, {179, 179}: paper} {
		if got := color.RGBAModel.Convert(img.At(at.X, at.Y)); got != want {
			t.Errorf("at %v: %v, not %v", at, got, want)
		}
	}
}

func TestASquareLogoFillsItsIcon(t *testing.T) {
	for c, want := range map[color.RGBA]color.RGBA{red: red, {}: paper} {
		img, err := png.Decode(bytes.NewReader(Icon(plain(64, 64, c), 180, green)))
		if err != nil || color.RGBAModel.Convert(img.At(1, 178)) != want {
			t.Errorf("%v: %v at the edge, %v", c, img.At(1, 178), err)
		}
	}
}

func TestThePalmTakesThePlaceOfALogoThatCannotBeDrawn(t *testing.T) {
	palm := Icon(nil, 180, green)
	img, err := png.Decode(bytes.NewReader(palm))
	if err != nil {
		t.Fatal(err)
	}
	area := 0
	for i := range 180 * 180 {
		if color.RGBAModel.Convert(img.At(i%180, i/180)) == green {
			area++
		}
	}
	if area < 1000 || area > 10_000 {
		t.Errorf("%d pixels are those of the palm", area)
	}
	for name, logo := range map[string][]byte{
		"not a picture": []byte("<svg/>"), "a picture that ends": plain(40, 40, red)[:60],
		"a large picture": plain(1601, 1600, red),
	} {
		if !bytes.Equal(Icon(logo, 180, green), palm) {
			t.Errorf("%s is drawn", name)
		}
	}
	if bytes.Equal(Icon(plain(1600, 1600, red), 180, green), palm) {
		t.Error("a picture of 1600 × 1600 pixels is not drawn")
	}
}

func TestAFaviconHasThreeSizes(t *testing.T) {
	for name, logo := range map[string][]byte{"palm": nil, "logo": plain(200, 400, red)} {
		file := Favicon(logo, green)
		if want := []byte{0, 0, 1, 0, 3, 0}; !bytes.Equal(file[:6], want) {
			t.Fatalf("%s: begins with %v, not %v", name, file[:6], want)
		}
		end := 6 + 3*16
		for i, size := range []int{16, 32, 48} {
			entry := file[6+16*i:][:16]
			length, at := int(binary.LittleEndian.Uint32(entry[8:])), int(binary.LittleEndian.Uint32(entry[12:]))
			if int(entry[0]) != size || int(entry[1]) != size || at != end {
				t.Errorf("%s: entry %d is %v", name, i, entry)
			}
			end = at + length
			img, err := png.Decode(bytes.NewReader(file[at:end]))
			if err != nil || img.Bounds() != image.Rect(0, 0, size, size) {
				t.Fatalf("%s: size %d: %v", name, size, err)
			}
			shown := image.NewRGBA(img.Bounds())
			draw.Draw(shown, shown.Rect, img, image.Point{}, draw.Src)
			corner, middle := shown.RGBAAt(size-1, size-1), shown.RGBAAt(size/2, size/2)
			if corner.A != 0 || logo != nil && middle != red {
				t.Errorf("%s: size %d has %v in a corner and %v in the middle", name, size, corner, middle)
			}
		}
		if end != len(file) {
			t.Errorf("%s: %d bytes, not %d", name, len(file), end)
		}
	}
}
