package picture

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/draw"
	"testing"
)

// sides is the definition of EXIF orientations: where the first row and the first column
// of the stored picture are when it is looked at.
var sides = map[int][2]string{
	1: {"top", "left"}, 2: {"top", "right"}, 3: {"bottom", "right"}, 4: {"bottom", "left"},
	5: {"left", "top"}, 6: {"right", "top"}, 7: {"right", "bottom"}, 8: {"left", "bottom"},
}

// uprightPlace returns where a stored pixel is when the picture is looked at.
func uprightPlace(x, y, width, height, orientation int) (int, int) {
	var at image.Point
	place := func(side string, i, n int) {
		switch side {
		case "top":
			at.Y = i
		case "bottom":
			at.Y = n - 1 - i
		case "left":
			at.X = i
		case "right":
			at.X = n - 1 - i
		}
	}
	place(sides[orientation][0], y, height)
	place(sides[orientation][1], x, width)
	return at.X, at.Y
}

func TestEveryPixelIsTurnedToItsPlace(t *testing.T) {
	for _, size := range []image.Point{{8, 12}, {7, 5}, {1, 3}, {16, 16}} {
		stored := drawing(size.X, size.Y)
		grey := image.NewGray(stored.Rect)
		draw.Draw(grey, grey.Rect, stored, image.Point{}, draw.Src)
		rgba := image.NewRGBA(stored.Rect)
		draw.Draw(rgba, rgba.Rect, stored, image.Point{}, draw.Src)
		pictures := map[string]image.Image{"grey": grey, "rgba": rgba}
		for ratio := image.YCbCrSubsampleRatio444; ratio <= image.YCbCrSubsampleRatio410; ratio++ {
			pictures[ratio.String()] = ycbcrOf(stored, ratio)
		}
		for name, picture := range pictures {
			for orientation := 1; orientation <= 8; orientation++ {
				checkTurned(t, name, picture, orientation)
			}
		}
	}
}

func checkTurned(t *testing.T, name string, stored image.Image, orientation int) {
	t.Helper()
	width, height := stored.Bounds().Dx(), stored.Bounds().Dy()
	got := turn(stored, orientation)
	want := image.Rect(0, 0, width, height)
	if orientation >= 5 {
		want = image.Rect(0, 0, height, width)
	}
	if got.Bounds() != want {
		t.Fatalf("%s %d: %v, want %v", name, orientation, got.Bounds(), want)
	}
	for y := range height {
		for x := range width {
			gx, gy := uprightPlace(x, y, width, height, orientation)
			a, b := color.RGBAModel.Convert(stored.At(x, y)), color.RGBAModel.Convert(got.At(gx, gy))
			if a != b {
				t.Fatalf("%s, orientation %d: pixel %d,%d is %v, want %v", name, orientation, x, y, b, a)
			}
		}
	}
}

// ycbcrOf fills planes of different sizes with different values.
func ycbcrOf(from *image.NRGBA, ratio image.YCbCrSubsampleRatio) *image.YCbCr {
	img := image.NewYCbCr(from.Rect, ratio)
	for y := range from.Rect.Dy() {
		for x := range from.Rect.Dx() {
			img.Y[img.YOffset(x, y)] = uint8(11*x + 17*y)
			img.Cb[img.COffset(x, y)] = uint8(23*x + 5*y)
			img.Cr[img.COffset(x, y)] = uint8(3*x + 31*y)
		}
	}
	return img
}

func TestJPEGIsStoredUpright(t *testing.T) {
	// Four colours, so that every orientation looks different.
	stored := image.NewRGBA(image.Rect(0, 0, 64, 32))
	colours := []color.RGBA{{220, 20, 20, 255}, {20, 200, 20, 255}, {20, 20, 220, 255}, {230, 230, 230, 255}}
	for i, c := range colours {
		corner := image.Pt(i%2*32, i/2*16)
		draw.Draw(stored, image.Rect(0, 0, 32, 16).Add(corner), image.NewUniform(c), image.Point{}, draw.Src)
	}
	plain := jpegOf(t, stored, 95)
	profile := jpegSegment(app2, profilePrefix+"\x01\x01"+string(profileFor("RGB ")))
	for orientation := 1; orientation <= 8; orientation++ {
		p, warnings := mustInspect(t, "a.jpg", withSegments(plain, exifSegment(orientation), profile))
		checkRemoved(t, p)
		if len(warnings) > 0 || !bytes.Contains(p.Bytes, profile) {
			t.Errorf("orientation %d: %q, profile kept: %t", orientation, warnings, bytes.Contains(p.Bytes, profile))
		}
		if orientation == 1 && !bytes.Equal(p.Bytes, withSegments(plain, profile)) {
			t.Error("an upright picture was encoded again")
		}
		img := decoded(t, jpegFormat, p.Bytes)
		if img.Bounds() != image.Rect(0, 0, p.Width, p.Height) || (p.Width == 64) != (orientation < 5) {
			t.Errorf("orientation %d: %d × %d, decoded %v", orientation, p.Width, p.Height, img.Bounds())
		}
		for i, c := range colours {
			x, y := uprightPlace(i%2*32+16, i/2*16+8, 64, 32, orientation)
			got := color.RGBAModel.Convert(img.At(x, y)).(color.RGBA)
			if difference(got, c) > 6 {
				t.Errorf("orientation %d: colour %d is %v, want %v", orientation, i, got, c)
			}
		}
		if again, _ := mustInspect(t, "a.jpg", p.Bytes); again.Name != p.Name {
			t.Errorf("orientation %d: inspecting the result changes it", orientation)
		}
	}
}

func difference(a, b color.RGBA) int {
	d := func(x, y uint8) int { return max(int(x)-int(y), int(y)-int(x)) }
	return max(d(a.R, b.R), d(a.G, b.G), d(a.B, b.B), d(a.A, b.A))
}

func TestATurnedPictureMustStayWithinTheLimit(t *testing.T) {
	file := withSegments(jpegOf(t, photograph(200, 100), 20), exifSegment(6))
	_, _, err := inspect(limits{bytes: len(file), pixels: MaxPixels}, "a.jpg", file)
	if err == nil {
		t.Error("accepted although the turned picture is larger than the limit")
	}
}

func TestOrientationIsReadAsBrowsersReadIt(t *testing.T) {
	big, little := exifData(binary.BigEndian, 6), exifData(binary.LittleEndian, 6)
	change := func(at int, with byte) []byte {
		b := bytes.Clone(big)
		b[at] = with
		return b
	}
	for _, c := range []struct {
		what string
		tiff []byte
		want int
	}{
		{"big-endian", big, 6},
		{"little-endian", little, 6},
		{"value 0", exifData(binary.BigEndian, 0), 1},
		{"value 9", exifData(binary.BigEndian, 9), 1},
		{"another type", change(13, 4), 1},
		{"two values", change(17, 2), 1},
		{"another tag", change(11, 0x13), 1},
		{"a directory outside", change(4, 0xff), 1},
		{"no directory", big[:8], 1},
		{"half an entry", big[:18], 1},
		{"no mark", change(0, 'X'), 1},
		{"nothing", nil, 1},
	} {
		if got := orientationOf(c.tiff); got != c.want {
			t.Errorf("%s: orientation %d, want %d", c.what, got, c.want)
		}
	}
}
