package catalog

// EditDistance returns how many letters have to be changed, added or left out to turn a
// into b, or a number above most.
func EditDistance(a, b string, most int) int {
	if max(len(a), len(b))-min(len(a), len(b)) > most {
		return most + 1
	}
	var short [MaxSlug + 1]int // spares an allocation for every slug
	row := short[:]
	if len(b) > MaxSlug {
		row = make([]int, len(b)+1)
	}
	row = row[:len(b)+1]
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		least := row[0]
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
			least = min(least, row[j+1])
		}
		if least > most {
			return least // it never falls again
		}
	}
	return row[len(b)]
}
