package french

import (
	"cmp"
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// What is wrong with a content folder is said in English where it is found, also by a server elsewhere.
// sentences.txt has each of these sentences, and the phrases in them, as a pattern, and below it what
// it is in French, with plain spaces. In a pattern, %s is any text, %q a quoted one, %d and %g are
// numbers, %w is words with commas between them, and (a|b) is one of two texts. In French they stand for
// what was found, in its order unless numbered as in %[2]s, and (a|b) is chosen by the first number: a
// below two, b from two on.
//
//go:embed sentences.txt
var table string

// maxSentence bounds, in bytes, what is translated.
const maxSentence = 4000

// Sentence returns an English sentence of the table in French, and any other as it is.
func Sentence(english string) string {
	text, _ := translate(english)
	return text
}

// translate also reports whether a sentence is of the table: alone, behind the name of a field and a
// colon, or as a list.
func translate(english string) (string, bool) {
	if len(english) > maxSentence {
		return english, false
	}
	p, found := match(english)
	if field, rest, ok := strings.Cut(english, ": "); ok && fieldName.MatchString(field) {
		if other, inRest := match(rest); other.literal > p.literal {
			return part(field) + Space + ": " + other.fill(inRest), true
		}
	}
	if found != nil {
		return p.fill(found), true
	}
	list := strings.Split(english, ", ")
	for i := range list {
		p, found := match(list[i])
		if found == nil {
			return english, false
		}
		list[i] = p.fill(found)
	}
	return strings.Join(list, ", "), true
}

// match returns the pair whose pattern a sentence has, and what stands for its verbs; nil if there is
// none.
func match(english string) (pair, []string) {
	all := pairs()
	for i := range all {
		p := &all[i]
		if !strings.HasPrefix(english, p.start) || !strings.Contains(english, p.longest) {
			continue
		}
		if found := p.english.FindStringSubmatch(english); found != nil {
			return *p, found[1:]
		}
	}
	return pair{}, nil
}

type pair struct {
	english        *regexp.Regexp
	start, longest string // literal texts that every match has
	literal        int    // bytes of the pattern that are literal
	verbs          string
	french         string
}

var (
	verb      = regexp.MustCompile(`%(?:\[([1-9])\])?([sqdgw])`)
	fieldName = regexp.MustCompile(`^[a-z_]+(?: in item [0-9]+ of [a-z_]+)*(?:, line [0-9]+)?$`)
	choice    = regexp.MustCompile(`\(([^()|]*)\|([^()|]*)\)`)
	groups    = map[string]string{
		"s": `("(?:[^"\\]|\\.)*"|.*?)`, "q": `("(?:[^"\\]|\\.)*")`, "d": `([0-9]+)`, "g": `([0-9.]+)`,
		"w": `([\pL0-9_./-]+(?:, [\pL0-9_./-]+)*)`,
	}
	typography = strings.NewReplacer(" ;", Narrow+";", " ?", Narrow+"?", " :", Space+":", "« ", "«"+Space, " »", Space+"»")
	unescape   = strings.NewReplacer(`\"`, `"`, `\\`, `\`)
)

// pairs returns the table, the patterns that say most first.
var pairs = sync.OnceValue(func() (list []pair) {
	lines := strings.Split(strings.TrimSuffix(table, "\n"), "\n")
	for i := 0; i+1 < len(lines); i += 2 {
		list = append(list, newPair(lines[i], typography.Replace(strings.TrimPrefix(lines[i+1], "\t"))))
	}
	slices.SortStableFunc(list, func(a, b pair) int { return cmp.Compare(b.literal, a.literal) })
	return list
})

func newPair(english, french string) pair {
	p := pair{french: french}
	var expression strings.Builder
	literal := func(text string, isFirst bool) {
		if isFirst {
			p.start = text
		}
		if len(text) > len(p.longest) {
			p.longest = text
		}
		p.literal += len(text)
		expression.WriteString(regexp.QuoteMeta(text))
	}
	end := 0
	for _, at := range regexp.MustCompile(verb.String()+"|"+choice.String()).FindAllStringSubmatchIndex(english, -1) {
		literal(english[end:at[0]], end == 0)
		end = at[1]
		if at[4] < 0 {
			expression.WriteString("(?:" + strings.Trim(english[at[0]:end], "()") + ")")
			continue
		}
		p.verbs += english[at[4]:at[5]]
		expression.WriteString(groups[english[at[4]:at[5]]])
	}
	literal(english[end:], end == 0)
	p.english = regexp.MustCompile(`(?s)^` + expression.String() + `$`)
	return p
}

// fill returns the French of a pair with what was found in a sentence.
func (p *pair) fill(found []string) string {
	text := p.french
	if i := strings.IndexByte(p.verbs, 'd'); i >= 0 {
		form := "$2"
		if found[i] == "0" || found[i] == "1" {
			form = "$1"
		}
		text = choice.ReplaceAllString(text, form)
	}
	next := 0
	return verb.ReplaceAllStringFunc(text, func(written string) string {
		i := next
		if next++; written[1] == '[' {
			i = int(written[2] - '1')
		}
		switch p.verbs[i] {
		case 'd':
			return found[i]
		case 'g':
			return strings.Replace(found[i], ".", ",", 1)
		}
		return part(found[i])
	})
}

// part returns a part of a sentence in French, if it is a phrase, and in French quotes, if it is quoted.
func part(english string) string {
	text, isKnown := translate(english)
	last := len(english) - 1
	if !isKnown && last > 0 && english[0] == '"' && english[last] == '"' {
		return "«" + Space + unescape.Replace(english[1:last]) + Space + "»"
	}
	return text
}
