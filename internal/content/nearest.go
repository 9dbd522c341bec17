package content

// nearest returns the name that was probably meant, or "" if none is close.
func nearest(name string, names []string) string {
	best, distance := "", 3
	for _, n := range names {
		if x := editDistance(name, n); x < min(distance, len(n)/2) {
			best, distance = n, x
		}
	}
	return best
}

// editDistance returns the Levenshtein distance between a and b.
func editDistance(a, b string) int {
	if len(a) > 2*len(b)+4 {
		return len(a)
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
