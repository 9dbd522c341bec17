package web

import (
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"palmares/internal/account"
	"palmares/internal/problem"
)

// The limits of parameters, for APIs and pages alike.
const (
	DefaultLimit = 50
	MaxLimit     = 200
	MaxInteger   = 1<<53 - 1 // the largest integer that every JSON client can represent
	maxURL       = 8 << 10
)

// Params reads the query parameters of one request strictly: a parameter that is empty,
// repeated or out of range is an error. The first error is remembered and returned by Err;
// whatever is read after it must not be used.
type Params struct {
	pairs []param
	err   *Error
}

type param struct{ name, value, raw string }

// ParseParams parses a query. If known is not nil, parameters that it does not know are
// dropped, even malformed ones, and links to other pages do not repeat them.
func ParseParams(query string, known func(name string) bool) *Params {
	p := &Params{}
	if query == "" {
		return p
	}
	for part := range strings.SplitSeq(query, "&") {
		rawName, raw, _ := strings.Cut(part, "=")
		name, err := url.QueryUnescape(rawName)
		if err != nil && known == nil {
			name, err = rawName, nil
		}
		if err != nil || part == "" || known != nil && !known(name) {
			continue
		}
		value, err := url.QueryUnescape(raw)
		switch {
		case err == nil:
		case known == nil:
			value = raw // it contains a %, so no reader accepts it
		default:
			value = "\xff" // not UTF-8, so no reader accepts it
		}
		p.pairs = append(p.pairs, param{name, value, raw})
	}
	return p
}

// Err returns the first error of a reader, nil for none.
func (p *Params) Err() error {
	if p.err == nil {
		return nil
	}
	return p.err
}

// get returns the one value of a parameter; allowed is words, or a sentence, that say what it may be.
func (p *Params) get(name string, allowed any) (value string, given bool) {
	for _, kv := range p.pairs {
		if kv.name != name {
			continue
		}
		if given {
			p.fail(name, problem.New("parameter-twice", Shorten(name), allowed))
			return "", false
		}
		value, given = kv.value, true
	}
	if given && value == "" {
		p.fail(name, problem.New("parameter-empty", Shorten(name), allowed))
		return "", false
	}
	return value, given
}

func (p *Params) fail(name string, text problem.Text) {
	if p.err == nil {
		p.err = Invalid(name, text)
	}
}

// Refuse makes a value an error, after it was read; allowed says what it may be.
func (p *Params) Refuse(name, value string, allowed any) {
	p.fail(name, problem.New("parameter-value", Shorten(name), Shorten(value), allowed))
}

// Text reads any text; "" if it is not given.
func (p *Params) Text(name string, allowed any) string {
	value, given := p.get(name, allowed)
	if given && strings.ToValidUTF8(value, "") != value {
		p.fail(name, problem.New("parameter-not-utf8", Shorten(name), allowed))
	}
	return value
}

// Required reads any text that must be given.
func (p *Params) Required(name string, allowed any) string {
	value := p.Text(name, allowed)
	if value == "" {
		p.fail(name, problem.New("parameter-missing", Shorten(name), allowed))
	}
	return value
}

// Matching reads a text that valid accepts; "" if it is not given.
func (p *Params) Matching(name string, allowed any, valid func(string) bool) string {
	value, given := p.get(name, allowed)
	if given && !valid(value) {
		p.Refuse(name, value, allowed)
	}
	return value
}

// Number reads a finite number; nil if it is not given.
func (p *Params) Number(name string) *float64 {
	allowed := problem.New("allow-number")
	value, given := p.get(name, allowed)
	if !given {
		return nil
	}
	x, ok := ParseNumber(value)
	if !ok {
		p.Refuse(name, value, allowed)
		return nil
	}
	return &x
}

// ParseNumber parses a finite decimal number. ParseFloat also accepts hexadecimal digits
// and underscores.
func ParseNumber(s string) (x float64, ok bool) {
	x, err := strconv.ParseFloat(s, 64)
	return x, err == nil && !math.IsInf(x, 0) && !math.IsNaN(x) && !strings.ContainsAny(s, "xXpP_")
}

// Choice reads one of the values; "" if it is not given.
func Choice[T ~string](p *Params, name string, values []T) T {
	var names []string
	for _, v := range values {
		names = append(names, string(v))
	}
	isOne := func(s string) bool { return slices.Contains(names, s) }
	return T(p.Matching(name, strings.Join(names, ", "), isOne))
}

// A span is the integers that a parameter may be. Its sentence is made only if it is said.
type span struct{ least, most int64 }

// In returns the sentence in a language.
func (s span) In(l problem.Language) string {
	return problem.New("allow-integer", s.least, s.most).In(l)
}

// Integer reads an integer from least to most; unset if it is not given.
func (p *Params) Integer(name string, unset, least, most int64) int64 {
	allowed := span{least, most}
	value, given := p.get(name, allowed)
	if !given {
		return unset
	}
	n, ok := ParseInteger(value, least, most)
	if !ok {
		p.Refuse(name, value, allowed)
		return unset
	}
	return n
}

// ParseInteger parses an integer from least to most, without a sign.
func ParseInteger(s string, least, most int64) (n int64, ok bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil && n >= least && n <= most && s[0] != '+' && s[0] != '-'
}

// Page reads the number of a page.
func (p *Params) Page() int64 { return p.Integer("page", 1, 1, MaxInteger) }

// Limit reads how many records a page may have.
func (p *Params) Limit() int { return int(p.Integer("limit", DefaultLimit, 1, MaxLimit)) }

// PageLinks returns the values of Link for a page: relative references that keep the
// other parameters as they were given.
func (p *Params) PageLinks(path string, number, pages int64) string {
	var b strings.Builder
	b.Grow(512) // four links with a filter or two
	link := func(number int64, rel string) {
		if b.Len() > 0 {
			b.WriteString(", ")
		}
		b.WriteString("<" + path + "?")
		for _, kv := range p.pairs {
			if kv.name != "page" {
				// A client that does not encode its query may send what would end the reference.
				b.WriteString(kv.name + "=" + escape(kv.raw, `<>"`) + "&")
			}
		}
		b.WriteString("page=" + strconv.FormatInt(number, 10) + `>; rel="` + rel + `"`)
	}
	link(1, "first")
	if number > 1 && pages > 0 {
		link(min(number-1, pages), "prev")
	}
	if number < pages {
		link(number+1, "next")
	}
	if pages > 0 {
		link(pages, "last")
	}
	return b.String()
}

// NextLink returns the value of Link for the page after a cursor. It repeats only the
// parameters to keep, whose values have been checked.
func (p *Params) NextLink(path, name, cursor string, keep ...string) string {
	next := url.Values{name: {cursor}}
	for _, kv := range p.pairs {
		if slices.Contains(keep, kv.name) {
			next.Set(kv.name, kv.value)
		}
	}
	return "<" + path + "?" + next.Encode() + `>; rel="next"`
}

// findKey reports whether a query contains an API key, and in which parameter. The name
// is empty if the key is in the name itself, which the response must not repeat.
func findKey(query string) (name string, found bool) {
	if query == "" {
		return "", false
	}
	for pair := range strings.SplitSeq(query, "&") {
		key, value, ok := strings.Cut(pair, "=")
		if !ok {
			key, value = "", pair
		}
		name, value = unescaped(key), unescaped(value)
		switch {
		case account.HoldsKey(name):
			return "", true
		case account.HoldsKey(value):
			return name, true
		}
	}
	return "", false
}

// unescaped decodes a part of a query if it can be decoded.
func unescaped(s string) string {
	if u, err := url.QueryUnescape(s); err == nil {
		return u
	}
	return s
}
