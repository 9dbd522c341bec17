package content

import (
	"fmt"
	goimage "image"
	"image/jpeg"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// BenchmarkPictures reads a folder of 100 new photographs of about 200 kB.
func BenchmarkPictures(b *testing.B) {
	dir := b.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "images"), 0o777); err != nil {
		b.Fatal(err)
	}
	var body strings.Builder
	body.WriteString("---\ntitle: Galerie\n---\n")
	for i := range 100 {
		name := fmt.Sprintf("images/photo-%d.jpg", i)
		fmt.Fprintf(&body, "\n![Vue](../%s)\n", name)
		file, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			b.Fatal(err)
		}
		if err := jpeg.Encode(file, photograph(i), &jpeg.Options{Quality: 85}); err != nil {
			b.Fatal(err)
		}
		if err := file.Close(); err != nil {
			b.Fatal(err)
		}
	}
	fsys := folderOf(map[string]string{"pages/galerie.md": body.String()})
	for name, f := range fsys {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o777); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), f.Data, 0o666); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		r, err := Read(b.Context(), dir, Options{})
		if err != nil || len(r.Problems) > 0 {
			b.Fatal(err, r)
		}
		if err := r.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// photograph returns waves with noise.
func photograph(n int) goimage.Image {
	img := goimage.NewYCbCr(goimage.Rect(0, 0, 1280, 960), goimage.YCbCrSubsampleRatio420)
	noise := uint32(n)
	for i := range img.Y {
		noise = noise*1664525 + 1013904223
		img.Y[i] = byte(128 + 60*math.Sin(float64(i%1280+n)/50) + float64(noise>>28))
	}
	return img
}
