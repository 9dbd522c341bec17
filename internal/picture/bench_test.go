package picture

import (
	"image"
	"math/rand/v2"
	"runtime"
	"syscall"
	"testing"
)

// photograph returns noise that is as rough at every scale as a photograph. A JPEG of
// 1600 × 1200 at quality 89 takes about 200 kB.
func photograph(width, height int) *image.RGBA {
	random := rand.New(rand.NewPCG(1, 2))
	sums := make([][3]int, width*height)
	contrast := 90
	for shift := 8; shift >= 2; shift-- { // cells of 256 to 4 pixels
		cell, columns := 1<<shift, width>>shift+2
		grid := make([][3]int, columns*(height>>shift+2))
		for i := range grid {
			grey := random.IntN(2*contrast+1) - contrast
			grid[i] = [3]int{grey + random.IntN(contrast+1) - contrast/2, grey, grey + random.IntN(contrast+1) - contrast/2}
		}
		for y := range height {
			for x := range width {
				at, right, down := y>>shift*columns+x>>shift, x&(cell-1), y&(cell-1)
				for c := range 3 {
					top := grid[at][c]*(cell-right) + grid[at+1][c]*right
					bottom := grid[at+columns][c]*(cell-right) + grid[at+columns+1][c]*right
					sums[y*width+x][c] += (top*(cell-down) + bottom*down) >> (2 * shift)
				}
			}
		}
		contrast = contrast * 6 / 10
	}
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	for i, s := range sums {
		for c := range 3 {
			img.Pix[4*i+c] = uint8(min(max(s[c]+128, 0), 255))
		}
		img.Pix[4*i+3] = 255
	}
	return img
}

// BenchmarkPublication reports processor time, because the machine may be busy with other
// work, and memory allocated from first to last.
func BenchmarkPublication(b *testing.B) {
	for _, c := range []struct {
		name string
		file func() []byte
	}{
		{"jpeg", func() []byte { return jpegOf(b, photograph(1600, 1200), 89) }},
		{"turned", func() []byte { return withSegments(jpegOf(b, photograph(1600, 1200), 89), exifSegment(6)) }},
		{"png", func() []byte { return pngOf(b, photograph(1600, 1200)) }},
		{"large", func() []byte { return jpegOf(b, photograph(6000, 4000), 89) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			file := c.file()
			time, memory := used(b)
			for b.Loop() {
				p, _, err := Inspect("photo", file)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := p.Variants(); err != nil {
					b.Fatal(err)
				}
			}
			timeAfter, memoryAfter := used(b)
			b.ReportMetric(float64(timeAfter-time)/1e6/float64(b.N), "cpu-ms/picture")
			b.ReportMetric(float64(memoryAfter-memory)/1e6/float64(b.N), "MB/picture")
			b.ReportMetric(float64(len(file))/1e3, "kB/file")
		})
	}
}

// used returns nanoseconds of processor time and bytes allocated since the start.
func used(b *testing.B) (time int64, memory uint64) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return u.Utime.Nano() + u.Stime.Nano(), m.TotalAlloc
}
