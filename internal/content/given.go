package content

import (
	"errors"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"palmares/internal/catalog"
	"palmares/internal/content/tree"
	"palmares/internal/problem"
)

// A given is the value of a field of an object, or an item of its list. Its methods return what it says, or
// report a problem and return the zero value.
type given struct {
	*tree.Value
	at label
	of *object
}

// report reports a problem of the value, whose label is the first argument.
func (g given) report(code string, args ...any) {
	g.of.report(g.Line, code, append([]any{g.at}, args...)...)
}

// item returns an item of a list.
func (g given) item(i int) given {
	return given{&g.Items[i], label{name: g.at.name, item: i + 1}, g.of}
}

// list returns the items of a list, or nothing if it is none.
func (g given) list() []tree.Value {
	if !g.IsEmpty() && g.Kind != tree.List {
		g.report("not-list", g.Describe())
	}
	return g.Items
}

var someText = problem.New("some-text")

// plain returns the text of a value that must be a non-blank string. want
// completes the message "must be …".
func (g given) plain(want problem.Text) (string, bool) {
	switch {
	case g.IsEmpty():
		g.report("empty", want)
	case (g.Kind == tree.Number || g.Kind == tree.Bool) && want == someText:
		g.report("unquoted", g.Describe())
	case g.Kind != tree.Text:
		g.report("must-be-not", want, g.Describe())
	default:
		return g.Text, true
	}
	return "", false
}

// valid returns a text that follows a rule.
func (g given) valid(rule rule) string {
	s, ok := g.plain(rule.want)
	if ok && !rule.isValid(s) {
		g.report("must-be-not", rule.want, tree.Quoted(s))
		return ""
	}
	return s
}

// text returns a text that must follow the rule of a form, or be one line of text.
func (g given) text(form catalog.Form) string {
	if rules[form].isValid != nil {
		return g.valid(rules[form])
	}
	s, ok := g.plain(someText)
	if !ok {
		return ""
	}
	if r, bad := controlCharacter(s, ""); bad {
		g.report("control-in-line", r)
		return ""
	}
	n := utf8.RuneCountInString(s)
	switch {
	case !g.isVisible(s):
	case n > longest[form]:
		g.report("too-long", longest[form], n)
	case form == catalog.Quote && n < catalog.MinQuote:
		g.report("too-short", catalog.MinQuote, n)
	case form == catalog.Quote && !quoteForm.MatchString(s):
		g.report("wordless")
	default:
		return s
	}
	return ""
}

// isVisible reports whether a text has no hidden characters, or reports the first one.
func (g given) isVisible(s string) bool {
	r, bad := hiddenCharacter(s)
	if bad {
		g.report("hidden-character", r)
	}
	return !bad
}

// prose returns a text that may have several lines.
func (g given) prose() string {
	s, _ := g.plain(someText)
	s = tree.NormalizeNewlines(s)
	if r, bad := controlCharacter(s, "\n\t"); bad {
		g.report("control-in-text", r)
		return ""
	}
	return s
}

// oneOf returns the value of an enumerated field.
func (g given) oneOf(values []string) string {
	if g.Kind == tree.Text && slices.Contains(values, g.Text) {
		return g.Text
	}
	last := len(values) - 1
	want := problem.Words(values[last])
	if last > 0 {
		want = problem.New("or", strings.Join(values[:last], ", "), want)
	}
	return g.valid(rule{func(string) bool { return false }, want})
}

// zone returns the name of a time zone.
func (g given) zone() string {
	zone := g.text(catalog.Zone)
	if zone != "" && !catalog.IsZone(zone) {
		g.report("unknown-zone", zone)
		return ""
	}
	return zone
}

// time returns an instant.
func (g given) time() string {
	s, ok := g.plain(problem.New("a-time"))
	if !ok {
		return ""
	}
	t, err := catalog.ParseTime(s, g.of.zone)
	if clock, ok := errors.AsType[*catalog.ClockError](err); ok {
		code := map[bool]string{false: "time-skipped", true: "time-twice"}[clock.IsTwice]
		g.report(code, g.of.zone, clock.Either[0], clock.Either[1], tree.Quoted(s))
		return ""
	}
	if err != nil {
		g.report("not-time", tree.Quoted(s))
		return ""
	}
	return catalog.FormatTime(t)
}

// category returns the slug of a category that is declared.
func (g given) category() string {
	s, declared := g.valid(slugs), g.of.declared
	if s == "" || declared == nil || declared[s] != nil {
		return s
	}
	known := strings.Join(slices.Sorted(maps.Keys(declared)), ", ")
	g.of.report(g.Line, "undeclared-category", s, catalog.SettingsFile, known)
	return ""
}

// price returns a price as catalog.IsPrice has it.
func (g given) price() string {
	rule := rule{catalog.IsPrice, problem.New("want-price")}
	if plain := plainEuro.Replace(g.Text); plain != g.Text && catalog.IsPrice(plain) {
		rule.want = problem.New("want-plain-space")
	} else if !catalog.IsPrice(g.Text) {
		given := strings.Replace(g.Text, ".", ",", 1)
		meant := nearPrice.ReplaceAllString(given, "$1$2 €/$3")
		if nearPrice.MatchString(given) && catalog.IsPrice(meant) {
			rule.want = problem.New("want-written", meant)
		}
	}
	s := g.valid(rule)
	if euros, _, _ := catalog.Amount(s); euros > maxPrice {
		g.report("price-too-large", tree.Quoted(s))
		return ""
	}
	return s
}

// maxPrice is the highest amount that is not taken for a mistake, in euros.
const maxPrice = 10_000_000

// nearPrice is a price but for its spaces. 1,200 may be meant as either number.
var nearPrice = regexp.MustCompile(
	`^\s*([0-9][0-9 \x{a0}\x{202f}]*?)(,[0-9]{1,2})?[\s\x{a0}\x{202f}]*€\s*(?:/|par )\s*(\pL+)\s*$`,
)

// plainEuro replaces the other spaces before €.
var plainEuro = strings.NewReplacer("\u00a0€", " €", "\u202f€", " €")

// maxNumber bounds numbers, which pages show and charts draw.
const maxNumber = 1_000_000_000

// maxDays bounds numbers of days.
const maxDays = 3650

// rangeOf returns the lowest and the highest number of a form.
func rangeOf(form catalog.Form) (lowest, highest float64) {
	switch form {
	case catalog.Figure:
		return 0, 10
	case catalog.Days:
		return 1, maxDays
	case catalog.Weights:
		return 0, catalog.MaxWeight
	default:
		return -maxNumber, maxNumber
	}
}

// number returns a number in the range of a form.
func (g given) number(form catalog.Form) (float64, bool) {
	lowest, highest := rangeOf(form)
	if g.Kind == tree.Number && tree.IsNumber(g.Text) {
		x, err := strconv.ParseFloat(g.Text, 64)
		if err == nil && x >= lowest && x <= highest {
			return x + 0, true // -0 is 0
		}
	}
	g.report("not-number-between", limit(lowest), limit(highest), g.Bare(), g.withPoint(form))
	return 0, false
}

// limit returns an end of a range for a message.
func limit(x float64) string {
	return strings.Replace(figure(x), "1000000000", "1 000 000 000", 1)
}

// figure returns a number for a message.
func figure(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// withPoint returns a hint for a number that is right apart from its comma or quotes.
func (g given) withPoint(form catalog.Form) problem.Text {
	lowest, highest := rangeOf(form)
	point := strings.Replace(g.Text, ",", ".", 1)
	x, err := strconv.ParseFloat(point, 64)
	if g.Kind == tree.Text && tree.IsNumber(point) && err == nil && x >= lowest && x <= highest {
		return problem.New("hint-write", point)
	}
	return problem.Text{}
}

// values returns the values of a mapping, by the slugs of criteria. Whether there are such criteria,
// and what they allow, is checked once the category is known.
func (g given) values(form catalog.Form) (all catalog.Values) {
	switch {
	case g.Kind != tree.Mapping:
		g.report("not-values", g.Describe())
		return nil
	case len(g.Fields) > maxCriteria:
		g.report("too-many-criteria", len(g.Fields), maxCriteria)
		return nil
	}
	for i := range g.Fields {
		f := &g.Fields[i]
		own := given{&f.Value, label{name: f.Name, within: problem.New("in", g.at)}, g.of}
		switch {
		case !catalog.IsSlug(f.Name):
			g.of.report(f.Line, "not-a-criterion-slug", tree.Quoted(f.Name), slugs.want)
		case own.IsEmpty():
		case own.Kind == tree.Text && form == catalog.Marks && own.withPoint(form).Code == "":
			own.report("not-number-or-flag", own.Describe())
		case own.Kind == tree.Bool && form == catalog.Marks:
			flag := catalog.Value{Name: f.Name, IsFlag: true}
			if own.Text == "true" {
				flag.Number = 1
			}
			all = append(all, flag)
		default:
			if x, ok := own.number(form); ok {
				all = append(all, catalog.Value{Name: f.Name, Number: x})
			}
		}
	}
	slices.SortFunc(all, catalog.Value.Compare)
	return all
}

const lowestTier = 3

func (g given) tier() int {
	if g.Kind == tree.Number && (g.Text == "1" || g.Text == "2" || g.Text == "3") {
		return int(g.Text[0] - '0')
	}
	g.of.report(g.Line, "not-tier", g.at.name, g.Bare())
	return lowestTier
}

// flag returns a flag, which is usually another one if it has no sound value.
func (g given) flag(usual bool) bool {
	if g.Kind != tree.Bool {
		g.report("not-flag", g.Describe())
		return usual
	}
	return g.Text == "true"
}
