package desk

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/content/document"
	"palmares/internal/french"
)

// A difference is a field in which two versions of a record differ.
type difference struct {
	Name, Label string
	Old, New    string // as people read them; "" for nothing
	By          string // who changed it, if both sides are newer than something else; "" otherwise
}

// differences returns the fields in which two documents of one kind differ, without their texts. The
// catalogue has the names of what they refer to; it may be nil.
func differences(c *catalog.Catalog, old, changed *document.Document) []difference {
	var list []difference
	form := document.Form(changed.Kind())
	if c != nil {
		document.Complete(form, c, changed.Value("category").Text)
	}
	for _, g := range form {
		for _, f := range g.Fields {
			was, is := readable(c, old.Value(f.Name), f), readable(c, changed.Value(f.Name), f)
			if f.Name != "body" && f.Name != "slug" && was != is {
				if len(f.Columns) > 0 {
					was, is = apart(was, is)
				}
				list = append(list, difference{Name: f.Name, Label: f.Label, Old: was, New: is})
			}
		}
	}
	return list
}

// apart returns the lines of two texts that only one of them has: of a list of categories, those that changed. Two
// that differ only in their order are returned whole.
func apart(a, b string) (onlyA, onlyB string) {
	without := func(some, others string) string {
		known := strings.Split(others, "\n")
		kept := slices.DeleteFunc(strings.Split(some, "\n"), func(line string) bool { return slices.Contains(known, line) })
		return strings.Join(kept, "\n")
	}
	onlyA, onlyB = without(a, b), without(b, a)
	if onlyA == onlyB {
		return a, b
	}
	return onlyA, onlyB
}

// readable returns a value as people read it.
func readable(c *catalog.Catalog, v document.Value, f document.Field) string {
	var lines []string
	for _, item := range v.Items {
		lines = append(lines, inFrench(c, item, f))
	}
	for _, row := range v.Rows {
		var cells []string
		for _, column := range f.Columns {
			if cell := readable(c, row[column.Name], column); cell != "" {
				cells = append(cells, strings.ReplaceAll(cell, "\n", ", "))
			}
		}
		lines = append(lines, strings.Join(cells, " · "))
	}
	return inFrench(c, v.Text, f) + strings.Join(lines, "\n")
}

// inFrench returns a single value: the label of a choice, the name of a tool, a number with a comma.
func inFrench(c *catalog.Catalog, text string, f document.Field) string {
	for _, known := range f.Choices {
		if known.Value == text && text != "" {
			return known.Label
		}
	}
	if f.Of == catalog.ToolKind && c != nil && c.Tool(text) != nil {
		return c.Tool(text).Name
	}
	if x, err := strconv.ParseFloat(text, 64); err == nil && f.Input == document.InputNumber {
		return french.Number(x)
	}
	return text
}

// A passage is a part of a text, in paragraphs. Old and New are the same where two versions agree.
type passage struct {
	Old, New string
	IsSame   bool
	Number   int // of those that differ, from 1
}

// blankLine separates paragraphs.
const blankLine = "\n\n"

// maxComparisons bounds the work of comparing two texts; longer ones are one passage.
const maxComparisons = 4_000_000

// passages compares two texts paragraph by paragraph. Joined by blankLine, the old sides of all passages that
// are not empty are the old text, and the new ones the new.
func passages(old, changed string) []passage {
	a, b := paragraphs(old), paragraphs(changed)
	head := 0
	for head < min(len(a), len(b)) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < min(len(a), len(b))-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	var list []passage
	add := func(old, changed []string) {
		if len(old)+len(changed) == 0 {
			return
		}
		p := passage{Old: strings.Join(old, blankLine), New: strings.Join(changed, blankLine), IsSame: slices.Equal(old, changed)}
		list = append(list, p)
	}
	add(a[:head], b[:head])
	for _, p := range align(a[head:len(a)-tail], b[head:len(b)-tail]) {
		add(p[0], p[1])
	}
	add(a[len(a)-tail:], b[len(b)-tail:])
	n := 0
	for i := range list {
		if !list[i].IsSame {
			n++
			list[i].Number = n
		}
	}
	return list
}

func paragraphs(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, blankLine)
}

// align pairs the paragraphs of two texts by their longest common subsequence: runs that are equal, and
// what is between them.
func align(a, b []string) [][2][]string {
	if len(a)*len(b) > maxComparisons {
		return [][2][]string{{a, b}}
	}
	width := len(b) + 1
	length := make([]int32, (len(a)+1)*width)
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				length[i*width+j] = length[(i+1)*width+j+1] + 1
			} else {
				length[i*width+j] = max(length[(i+1)*width+j], length[i*width+j+1])
			}
		}
	}
	var pairs [][2][]string
	for i, j := 0, 0; i < len(a) || j < len(b); {
		k := 0
		for i+k < len(a) && j+k < len(b) && a[i+k] == b[j+k] {
			k++
		}
		if k > 0 {
			pairs = append(pairs, [2][]string{a[i : i+k], b[j : j+k]})
			i, j = i+k, j+k
		}
		fromA, fromB := i, j
		for (i < len(a) || j < len(b)) && (i == len(a) || j == len(b) || a[i] != b[j]) {
			if j == len(b) || i < len(a) && length[(i+1)*width+j] >= length[i*width+j+1] {
				i++
			} else {
				j++
			}
		}
		if i > fromA || j > fromB {
			pairs = append(pairs, [2][]string{a[fromA:i], b[fromB:j]})
		}
	}
	return pairs
}

// A word is a part of a passage, and whether the other version lacks it.
type word struct {
	Text  string
	IsNew bool
}

// Words returns the two sides of a passage, with what only one of them says.
func (p passage) Words() (sides struct{ Old, New []word }) {
	add := func(to *[]word, words []string, isNew bool) {
		if len(words) > 0 {
			*to = append(*to, word{strings.Join(words, ""), isNew})
		}
	}
	pairs := align(splitWords(p.Old), splitWords(p.New))
	kept := 0
	for _, pair := range pairs {
		if slices.Equal(pair[0], pair[1]) {
			kept += len(pair[0])
		}
	}
	if kept*4 < len(splitWords(p.New)) || kept*4 < len(splitWords(p.Old)) { // another text: marks would be everywhere
		pairs = [][2][]string{{{p.Old}, {p.New}}}
	}
	for _, pair := range pairs {
		isNew := len(pairs) > 1 && strings.Join(pair[0], "") != strings.Join(pair[1], "")
		add(&sides.Old, pair[0], isNew)
		add(&sides.New, pair[1], isNew)
	}
	return sides
}

// splitWords splits a text into numbers and words, each with the space after it, so that the parts joined are the text.
func splitWords(text string) []string { return isPart.FindAllString(text, -1) }

var isPart = regexp.MustCompile(`\pN+(?:[., \x{a0}\x{202f}]\pN+)*\s*|[^\s\pN]+\s*|\s+`)
