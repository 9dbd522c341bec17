package content

import "strings"

// maxAlike is how many findings of one sentence are listed for people.
const maxAlike = 3

// Group calls show with the first few of n findings that say the same, figures apart, in their order,
// and then more, for each sentence of which there are others, with one of them and their number.
func Group(n int, text func(i int) string, show func(i int), more func(i, others int)) {
	plain := func(r rune) rune {
		if r >= '0' && r <= '9' {
			return '0'
		}
		return r
	}
	counts, last := map[string]int{}, []int{}
	for i := range n {
		sentence := strings.Map(plain, text(i))
		switch counts[sentence]++; {
		case counts[sentence] <= maxAlike:
			show(i)
		case counts[sentence] == maxAlike+1:
			last = append(last, i)
		}
	}
	for _, i := range last {
		more(i, counts[strings.Map(plain, text(i))]-maxAlike)
	}
}
