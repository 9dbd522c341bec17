package picture

import (
	"image"
	"image/color"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"
)

// photograph returns noise that is as rough at every scale as a photograph. A JPEG of
// 1600 × 1200 at quality 87 takes about 200 kB.
func photograph(width, height int) *image.RGBA {
	random := rand.New(rand.NewPCG(1, 2))
	sums := make([][3]int, width*height)
	for cell, contrast := 256, 90; cell >= 4; cell, contrast = cell/2, contrast*6/10 {
		columns := width/cell + 2
		grid := make([][3]int, columns*(height/cell+2))
		for i := range grid {
			grey := random.IntN(2*contrast+1) - contrast
			grid[i] = [3]int{grey + random.IntN(contrast+1) - contrast/2, grey, grey + random.IntN(contrast+1) - contrast/2}
		}
		for i := range sums {
			x, y := i%width, i/width
			at, right, down := y/cell*columns+x/cell, x%cell, y%cell
			for c := range 3 {
				top := grid[at][c]*(cell-right) + grid[at+1][c]*right
				bottom := grid[at+columns][c]*(cell-right) + grid[at+columns+1][c]*right
				sums[i][c] += (top*(cell-down) + bottom*down) / (cell * cell)
			}
		}
	}
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	clamp := func(v int) uint8 { return uint8(min(max(v+128, 0), 255)) }
	for i, s := range sums {
		img.SetRGBA(i%width, i/width, color.RGBA{clamp(s[0]), clamp(s[1]), clamp(s[2]), 255})
	}
	return img
}

// BenchmarkPublication reports processor time per picture, which other work on the machine
// hardly changes, and memory allocated.
func BenchmarkPublication(b *testing.B) {
	for _, c := range []struct {
		name string
		file func() []byte
	}{
		{"jpeg", func() []byte { return jpegOf(b, photograph(1600, 1200), 87) }},
		{"turned", func() []byte { return withSegments(jpegOf(b, photograph(1600, 1200), 87), exifSegment(6)) }},
		{"png", func() []byte { return pngOf(b, photograph(1600, 1200)) }},
		{"large", func() []byte { return jpegOf(b, photograph(6000, 4000), 87) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			file := c.file()
			before := processorTime(b)
			for b.Loop() {
				p, _, err := Inspect("photo", file, nil)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := p.Variants(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64((processorTime(b)-before).Microseconds())/1000/float64(b.N), "cpu-ms/picture")
			b.ReportMetric(float64(len(file))/1000, "kB/picture")
		})
	}
}

func processorTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
