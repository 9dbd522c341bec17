package picture

import (
	"image"

	"golang.org/x/image/draw"
	"golang.org/x/image/math/f64"
)

// turn returns the picture that is stored in the given EXIF orientation upright.
func turn(stored image.Image, orientation int) image.Image {
	w, h := stored.Bounds().Dx(), stored.Bounds().Dy()
	right, bottom := float64(w), float64(h)
	// Where the stored place x, y is in the upright picture: the factors of x and y, and what
	// is added, for each direction.
	place, isTurned := map[int]f64.Aff3{
		2: {-1, 0, right, 0, 1, 0},
		3: {-1, 0, right, 0, -1, bottom},
		4: {1, 0, 0, 0, -1, bottom},
		5: {0, 1, 0, 1, 0, 0},
		6: {0, -1, bottom, 1, 0, 0},
		7: {0, -1, bottom, -1, 0, right},
		8: {0, 1, 0, -1, 0, right},
	}[orientation]
	if !isTurned {
		return stored
	}
	if orientation > 4 {
		w, h = h, w
	}
	upright := newImage(stored, w, h)
	draw.NearestNeighbor.Transform(upright, place, stored, stored.Bounds(), draw.Src, nil)
	return upright
}

// newImage returns an empty picture: grey if the given one is, and otherwise of the type
// that package draw is fast with.
func newImage(like image.Image, width, height int) draw.Image {
	size := image.Rect(0, 0, width, height)
	switch like.(type) {
	case *image.Gray, *image.Gray16:
		return image.NewGray(size)
	}
	return image.NewRGBA(size)
}
