package search

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"palmares/internal/catalog"
)

// maxConstraints is how many conditions of a query are read.
const maxConstraints = 8

// ReadRequest finds the constraints that a query states: « gratuit », « moins de 20 € », « pas X ».
// A query that is the name of a tool states none, nor does a question about tools that do
// not meet them: « X est-il gratuit ? ». Retired tools have names, too: retired, which may be nil,
// returns the one with a key.
func (x *Index) ReadRequest(text string, retired func(key string) *catalog.Retired) Request {
	text = truncate(text, maxQuery)
	r := Request{Text: text, whole: text}
	key, _ := nameKey(text)
	if _, isName := x.names.find(key); isName && key != "" || retired != nil && retired(key) != nil {
		return r
	}
	words := readTokens(text)
	r.readPrices()
	r.readScore()
	r.readTest()
	r.readOrder()
	n := namer{x, words, retired}
	n.readInstead(&r)
	r.readPricing()
	n.readWithout(&r)
	r.Versus = n.versus(&r)
	if len(r.Constraints) == 0 {
		return r
	}
	slices.SortFunc(r.Constraints, func(a, b Constraint) int { return a.start - b.start })
	for i := len(r.Constraints) - 1; i >= 0; i-- {
		r.Text = r.Text[:r.Constraints[i].start] + " " + r.Text[r.Constraints[i].end:]
	}
	r.Text = tidy(r.Text)
	if slices.ContainsFunc(r.Constraints, func(c Constraint) bool { return c.Instead != "" }) {
		for word := range insteadOf {
			r.Text = tidy(replaceWord(r.Text, word, ""))
		}
	}
	isExcluded := func(tool int) bool { return !x.meetsAll(tool, r.Constraints) }
	var named []int
	others := x.namesWithin(r.Text, func(tool uint32) { named = append(named, int(tool)) })
	isAskedAbout := func(tool int) bool { // a tool called « Montage » is not, by « montage gratuit »
		words := Words(x.tools[tool].Name)
		return isExcluded(tool) && (len(words) != 1 || !isOrdinary(newStemmer(), words[0]))
	}
	if !others && slices.ContainsFunc(named, isAskedAbout) || slices.ContainsFunc(r.Versus, isExcluded) {
		return Request{Text: text, Versus: r.Versus, whole: text}
	}
	return r
}

// add adds a constraint, unless another one is read from the same words.
func (r *Request) add(c Constraint) {
	if len(r.Constraints) < maxConstraints && !r.overlaps(c.start, c.end) {
		r.Constraints = append(r.Constraints, c)
	}
}

func (r *Request) overlaps(start, end int) bool {
	return slices.ContainsFunc(r.Constraints, func(c Constraint) bool { return start < c.end && c.start < end })
}

const grade = `(\d{1,2}(?:[.,]\d{1,2})?)`

var (
	scoreWords = pattern(`(?i)(?:(?:avec|ayant|dont|with)\s+)?(?:une?\s+|la\s+|a\s+)?(?:notes?|not[ée]e?s?|scores?|rated|ratings?)\s*(?:est\s+|is\s+|of\s+|de\s+|d['’]\s*|[àa]\s+)?` +
		`(?:minimale?\s+(?:de\s+)?|min(?:imum)?\s+(?:de\s+|of\s+)?|sup[ée]rieure?s?\s+(?:ou\s+[ée]gale?s?\s+)?[àa]\s+|au(?:\s|-)*dessus\s+de\s+|(?:plus|mieux)\s+(?:de|que)\s+|au\s+moins\s+|over\s+|above\s+|at\s+least\s+|(?:higher|better|more|greater)\s+than\s+|>=?\s*|≥\s*)` +
		grade + `(?:\s*(?:/|sur|out\s+of)\s*10\b)?`)
	outOfTen = pattern(`(?i)(?:(?:avec|with)\s+)?(?:(?:d['’]\s*)?au\s+moins|plus\s+de|minimum|min|sup[ée]rieure?s?\s+[àa]|over|above|at\s+least|>=?|≥)\s*` + grade + `\s*(?:/|sur|out\s+of)\s*10\b`)
	tenOrUp  = pattern(`(?i)` + grade + `\s*(?:/|sur|out\s+of)\s*10\s*(?:(?:et|ou)\s+plus|(?:au\s+)?minimum|au\s+moins|(?:or|and)\s+(?:more|up|above)|\+)`)
)

// readScore finds the lowest score that a query allows.
func (r *Request) readScore() {
	for _, words := range []interface {
		FindStringSubmatchIndex(string) []int
	}{scoreWords, outOfTen, tenOrUp} {
		m := words.FindStringSubmatchIndex(r.whole)
		if m == nil || !isWord(r.whole, m[0], m[1]) {
			continue
		}
		if least := parseAmount(r.whole[m[2]:m[3]]); least > 0 && least <= 10 {
			r.add(Constraint{ScoreMin: least, start: m[0], end: m[1]})
			return
		}
	}
}

// monthNames are those of the months, in French and then in English, without accents.
var monthNames = strings.Fields(`janvier fevrier mars avril mai juin juillet aout septembre octobre novembre decembre
	january february march april may june july august september october november december`)

var testWords = pattern(`(?i)(?:test[ée]e?s?|essay[ée]e?s?|tested|reviewed)\s+(en|in|depuis|since|apr[èe]s|after|avant|before|à\s+partir\s+de)\s+(?:(\pL+)\s+)?(20\d\d)`)

// readTest finds when a tool has to have been tested.
func (r *Request) readTest() {
	m := testWords.FindStringSubmatchIndex(r.whole)
	if m == nil || !isWord(r.whole, m[0], m[1]) {
		return
	}
	year, _ := strconv.Atoi(r.whole[m[6]:m[7]]) // digits only
	from := time.Date(year, time.January, 1, 0, 0, 0, 0, time.UTC)
	to := from.AddDate(1, 0, 0)
	if m[4] >= 0 {
		name, _ := nameKey(r.whole[m[4]:m[5]])
		month := slices.Index(monthNames, name)
		if month < 0 {
			return
		}
		from = from.AddDate(0, month%12, 0)
		to = from.AddDate(0, 1, 0)
	}
	c := Constraint{start: m[0], end: m[1]}
	switch word, _ := nameKey(r.whole[m[2]:m[3]]); word {
	case "en", "in":
		c.TestedFrom, c.TestedTo = from.Format(time.DateOnly), to.AddDate(0, 0, -1).Format(time.DateOnly)
	case "avant", "before":
		c.TestedTo = from.AddDate(0, 0, -1).Format(time.DateOnly)
	case "apres", "after":
		c.TestedFrom = to.Format(time.DateOnly)
	default:
		c.TestedFrom = from.Format(time.DateOnly)
	}
	r.add(c)
}

var orders = []struct {
	words interface{ FindStringIndex(string) []int }
	sort  Sort
}{
	{pattern(`(?i)(?:(?:^|\s)(?:(?:est|sont)\s+)?(?:(?:le|la|les|au)\s+)?)?(?:moins\s+ch(?:ers?|[èe]res?)|plus\s+(?:abordable|[ée]conomique)s?|prix\s+le\s+plus\s+bas|meilleur\s+prix)|(?:the\s+)?(?:cheapest|least\s+expensive|lowest\s+price|most\s+affordable)`), ByPrice},
	{pattern(`(?i)(?:(?:^|\s)(?:le|la|les)\s+)?(?:mieux\s+not[ée]e?s?|meilleures?\s+notes?)|(?:the\s+)?(?:best|highest|top)(?:\s|-)rated`), ByScore},
	{pattern(`(?i)test[ée]e?s?\s+r[ée]cemment|r[ée]cemment\s+test[ée]e?s?|derniers?\s+test[ée]?s|recently\s+(?:tested|reviewed)`), ByTest},
}

var thanAfter = pattern(`(?i)^\s+(?:que|qu['’]|than)`)

// readOrder finds the order that a query asks for.
func (r *Request) readOrder() {
	for _, o := range orders {
		m := o.words.FindStringIndex(r.whole)
		if m == nil {
			continue
		}
		m[0] = m[1] - len(strings.TrimLeftFunc(r.whole[m[0]:m[1]], unicode.IsSpace))
		if isWord(r.whole, m[0], m[1]) && !thanAfter.MatchString(r.whole[m[1]:]) {
			r.add(Constraint{Sort: o.sort, start: m[0], end: m[1]})
			return
		}
	}
}

// wishWords are words of conditions that people misspell.
var wishWords = newLexicon(strings.Fields("alternative alternatives euros freemium gratuit gratuite gratuitement gratuites gratuits inferieur maximum minimum payant payante superieur superieure"))

// CorrectWishes returns a text with the words of conditions that are misspelt in it, such as
// « gratiut », as they are meant.
func (x *Index) CorrectWishes(text string) string {
	for _, word := range readTokens(text) {
		if maxTypos(len(word.key)) > 0 && len(word.key) <= maxWord && !x.Knows(word.key) {
			if near := wishWords.near(word.key, 1, false, nil); len(near) > 0 {
				text = replaceWord(text, word.key, wishWords.at(near[0].word))
			}
		}
	}
	return text
}

// circumstances are what people say about themselves before they ask.
var circumstances = pattern(`(?i)(?:^|[.,;!?]\s*|\s(?:et|and)\s+)(?:(?:je|nous|on|i|we)\s+(?:suis|sommes|est|travaille|travaillons|g[èe]re|am|are|run|work)|i['’]m|we['’]re)\s[^,.;!?]*?(?:[,.;!?]|\s(?:et|qui|mais|and|but|who)\s)`)

// question returns what a long text asks for, without what it says about who asks.
func question(text string) string {
	const long = 10 // words
	if len(Words(text)) < long {
		return text
	}
	asked := circumstances.ReplaceAllString(text, " ")
	for _, word := range Words(asked) {
		if !isStop(word) && !fillers[word] && !englishWords[word] {
			return asked
		}
	}
	return text
}

// A token is a word of a query, with its place.
type token struct {
	key        string
	start, end int
	stop       bool // a mark that ends a part of a sentence follows
}

const maxTokens = 64

func readTokens(text string) (all []token) {
	for start, end := range wordsOf(text) {
		if len(all) == maxTokens {
			break
		}
		key, _ := nameKey(text[start:end])
		if n := len(all); n > 0 {
			all[n-1].stop = strings.ContainsAny(text[all[n-1].end:start], ",;:.!?()")
		}
		all = append(all, token{key: key, start: start, end: end})
	}
	return all
}
