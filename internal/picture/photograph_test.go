package picture

import (
	"image"
	"math/rand/v2"
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
