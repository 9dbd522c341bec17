package content

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/problem"
)

// A Problem is something in a folder that its editors must fix.
type Problem struct {
	File string // relative to the folder, with forward slashes
	Line int    // from 1
	Text problem.Text
}

func (p Problem) String() string { return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Text) }

// A Warning is something in a folder that its editors should look at. It stops
// nothing.
type Warning Problem

func (w Warning) String() string { return fmt.Sprintf("%s:%d: warning: %s", w.File, w.Line, w.Text) }

// maxFindings is how many problems, and how many warnings, are kept: nobody reads more, and
// a folder of empty files has one for each.
const maxFindings = 10_000

const moreWarnings = "full-of-warnings"

// findings are the problems and the warnings of a folder or of a part of it, as far as they are listed.
type findings struct {
	problems []Problem
	warnings []Warning
	silenced []string // kinds of warnings that catalogue.yaml silences
}

func (f *findings) problem(file string, line int, code string, args ...any) {
	f.tell(file, line, problem.New(code, args...))
}

func (f *findings) tell(file string, line int, e error) {
	keep(&f.problems, Problem{file, line, problem.Of(e)})
}

func (f *findings) warn(file string, line int, code string, args ...any) {
	f.warnOf(file, line, problem.New(code, args...))
}

func (f *findings) warnOf(file string, line int, e error) {
	f.add(findings{warnings: []Warning{{file, line, problem.Of(e)}}})
}

// add adds the findings of a part, without the warnings that are silenced.
func (f *findings) add(of findings) {
	keep(&f.problems, of.problems...)
	for _, w := range of.warnings {
		if len(f.silenced) == 0 || !slices.Contains(f.silenced, w.kind()) {
			keep(&f.warnings, w)
		}
	}
}

// keep adds problems or warnings to a list, as far as they are listed.
func keep[T Problem | Warning](list *[]T, more ...T) {
	*list = append(*list, more[:min(len(more), maxFindings-len(*list))]...)
}

// finish sorts a list, and says at its end by a code that it is full.
func finish[T Problem | Warning](list []T, of string) []T {
	sortByPlace(list)
	if len(list) < maxFindings {
		return list
	}
	last := Problem(list[maxFindings-1])
	return append(list, T{last.File, last.Line, problem.New(of, maxFindings)})
}

// sortByPlace sorts problems or warnings by file and line. Those of one line stay in
// the order in which they were found.
func sortByPlace[T Problem | Warning](found []T) {
	slices.SortStableFunc(found, func(x, y T) int {
		a, b := Problem(x), Problem(y)
		return cmp.Or(cmp.Compare(rank(a.File), rank(b.File)), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
}

// rank returns the position of a file in the order of the format: top-level files
// first, then, for each kind, the folder and the JSON lines.
func rank(file string) int {
	for i, k := range catalog.WrittenKinds {
		switch {
		case strings.HasPrefix(file, k.Folder+"/"):
			return 2*i + 1
		case file == k.Folder+".jsonl":
			return 2*i + 2
		}
	}
	if strings.HasPrefix(file, imageFolder+"/") {
		return 2*len(catalog.WrittenKinds) + 1
	}
	return 0
}

// WarningKinds are the kinds of warnings that catalogue.yaml can silence. What has no other kind is
// other.
var WarningKinds = append(slices.Sorted(maps.Keys(kindCodes)), "other")

// kindCodes are the codes of the warnings of a kind.
var kindCodes = map[string][]string{
	"amount": {"price-large"},
	"calendar": {
		"has-ended", "next-has-passed", "draft-with-hours", "retired-since", "retirement-not-scheduled", "obituary-too-early",
		"announced-price-passed",
	},
	"duplicate":  {"domain-twice", "pair-twice"},
	"future":     {"in-future", "text-in-future"},
	"incomplete": {"score-without-summary", "score-without-access", "score-without-day"},
	"jump":       {"price-jump", "score-jump", "many-changes"},
	"link":       {"link-leads-nowhere"},
	"old":        {"test-too-old", "price-too-old"},
	"picture":    {"picture-without-alt", "caption-hidden"},
	"price": {
		"free-but-priced", "announced-free-priced", "display-contradicts", "display-changed-alone", "history-ends-elsewhere",
		"checked-before-price", "quote-without-amount", "plan-with-old-price",
	},
	"protocol": {"other-protocol"},
	"undated":  {"undated"},
	"winner":   {"winner-scores-less"},
}

func (w Warning) kind() string {
	if strings.HasPrefix(w.File, imageFolder+"/") {
		return "picture"
	}
	for kind, codes := range kindCodes {
		if slices.Contains(codes, w.Text.Code) {
			return kind
		}
	}
	return "other"
}

// silencedBy returns the kinds of warnings that a catalogue silences.
func silencedBy(c *catalog.Catalog) []string {
	if len(c.Settings.Warnings) == 0 {
		return nil
	}
	return c.Settings.Warnings[0].Ignore
}

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
