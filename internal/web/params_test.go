package web_test

import (
	"errors"
	"strings"
	"testing"

	"palmares/internal/web"
)

func known(name string) bool {
	return name == "page" || name == "limit" || name == "sort" || name == "min" || name == "text"
}

func TestParametersAreReadStrictly(t *testing.T) {
	read := map[string]func(*web.Params){
		"page":  func(p *web.Params) { p.Page() },
		"limit": func(p *web.Params) { p.Limit() },
		"min":   func(p *web.Params) { p.Number("min") },
		"sort":  func(p *web.Params) { web.Choice(p, "sort", []string{"asc", "desc"}) },
		"text":  func(p *web.Params) { p.Text("text", "un texte") },
	}
	for query, good := range map[string]bool{
		"": true, "page=1": true, "page=9007199254740991": true, "page=9007199254740992": false, "page=0": false, "page=+1": false, "page=-1": false, "page=": false,
		"page": false, "page=1&page=1": false, "page=%zz": false, "page=1.0": false, "limit=200": true, "limit=201": false, "min=7.5": true, "min=1e3": true, "min=NaN": false,
		"min=inf": false, "min=0x1p3": false, "min=1_0": false, "min=7,5": false, "sort=asc": true, "sort=ASC": false, "text=é": true, "text=%FF": false, "text=%zz": false,
	} {
		name, _, _ := strings.Cut(query, "=")
		for param, f := range read {
			p := web.ParseParams(query, known)
			f(p)
			err := p.Err()
			var e *web.Error
			switch {
			case param != name || good:
				if err != nil {
					t.Errorf("%q read as %s: %v", query, param, err)
				}
			case !errors.As(err, &e) || e.Code != web.CodeInvalidParameter || e.Param != name:
				t.Errorf("%q read as %s: %v", query, param, err)
			}
		}
	}
}

func TestAParameterThatIsNotGivenHasItsDefault(t *testing.T) {
	p := web.ParseParams("x=1", known)
	if p.Page() != 1 || p.Limit() != web.DefaultLimit || p.Number("min") != nil || p.Text("text", "") != "" {
		t.Error("a parameter that is not given has a value")
	}
	if s := web.Choice(p, "sort", []string{"asc"}); s != "" || p.Err() != nil {
		t.Error(s, p.Err())
	}
}

func TestTheFirstErrorIsReported(t *testing.T) {
	p := web.ParseParams("limit=0&page=0", known)
	p.Page()
	p.Limit()
	p.Refuse("min", "x", "y")
	var e *web.Error
	if !errors.As(p.Err(), &e) || e.Param != "page" {
		t.Errorf("%+v", p.Err())
	}
}

func TestLinksKeepTheOtherParameters(t *testing.T) {
	p := web.ParseParams(`sort=asc&page=2&x=1&text=%3Cé">`, known)
	const filters = `sort=asc&text=%3C%C3%A9%22%3E&`
	want := `</l?` + filters + `page=1>; rel="first", </l?` + filters + `page=1>; rel="prev", </l?` + filters + `page=3>; rel="next", </l?` + filters + `page=3>; rel="last"`
	if got := p.PageLinks("/l", 2, 3); got != want {
		t.Errorf("%s\nnot\n%s", got, want)
	}
	if got := p.PageLinks("/l", 1, 0); got != `</l?`+filters+`page=1>; rel="first"` {
		t.Error(got)
	}
	p = web.ParseParams("limit=2&x=1&type=a%20b", nil)
	if got := p.NextLink("/l", "after", "7", "limit", "type"); got != `</l?after=7&limit=2&type=a+b>; rel="next"` {
		t.Error(got)
	}
}

func TestWordsOfTheCallerAreShortened(t *testing.T) {
	if got := web.Shorten(strings.Repeat("é", 101)); got != strings.Repeat("é", 100)+"…" {
		t.Error(got)
	}
	if got := web.Shorten("\xff"); got != "\uFFFD" {
		t.Errorf("%q", got)
	}
}
