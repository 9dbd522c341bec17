package content

import "regexp"

// maxAlike is how many findings of one sentence are listed for people.
const maxAlike = 3

var particulars = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|«[^»]*»|[0-9]+`)

// Group calls show with the first few of n findings that say the same, figures and quoted names apart, in their order,
// and then more, for each sentence of which there are others, with one of them and their number.
func Group(n int, text func(i int) string, show func(i int), more func(i, others int)) {
	counts, last := map[string]int{}, []int{}
	for i := range n {
		sentence := particulars.ReplaceAllString(text(i), "0")
		switch counts[sentence]++; {
		case counts[sentence] <= maxAlike:
			show(i)
		case counts[sentence] == maxAlike+1:
			last = append(last, i)
		}
	}
	for _, i := range last {
		more(i, counts[particulars.ReplaceAllString(text(i), "0")]-maxAlike)
	}
}
