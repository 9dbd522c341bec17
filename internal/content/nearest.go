package content

import "palmares/internal/catalog"

// nearest returns the name that was probably meant, or "" if none is close.
func nearest(name string, names []string) string {
	best, distance := "", 3
	for _, n := range names {
		if x := catalog.EditDistance(name, n, distance); x < min(distance, len(n)/2) {
			best, distance = n, x
		}
	}
	return best
}
