package site

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/snapshot"
	"palmares/internal/web"
)

const maxSearch = 200 // characters

// filters are the parameters of a list: the form that the page shows, and what its
// links keep. An empty parameter counts as not given. An invalid one is reported in
// Problems and ignored.
type filters struct {
	Action   string
	Search   *field // nil for a list without search
	Fields   []field
	More     []field // that most visitors do without
	Problems []string
	given    url.Values // valid and not empty
	values   url.Values // as received
}

// A field is one control of a filter form.
type field struct {
	Name, Label, Value string
	Options            []option // of a choice; empty for a number
}

type option struct {
	Value, Label string
	Selected     bool
}

func readFilters(r *request) *filters {
	return &filters{Action: r.URL.Path, given: url.Values{}, values: r.URL.Query()}
}

// value returns the first value of a parameter, trimmed.
func (f *filters) value(name string) string {
	v := strings.TrimSpace(strings.ToValidUTF8(f.values.Get(name), ""))
	if v != "" {
		f.given.Set(name, v)
	}
	return v
}

func (f *filters) refuse(name, sentence string) {
	f.given.Del(name)
	f.Problems = append(f.Problems, sentence)
}

func (f *filters) search() string {
	q := f.value("q")
	if r := []rune(q); len(r) > maxSearch {
		q = string(r[:maxSearch])
		f.given.Set("q", q)
	}
	f.Search = &field{Name: "q", Label: "Rechercher", Value: q}
	return q
}

// choice reads one of the options. The first is the default.
func (f *filters) choice(name, label string, options ...option) string {
	v := f.value(name)
	known := v == ""
	for i := range options {
		options[i].Selected = options[i].Value == v
		known = known || options[i].Selected
	}
	if !known {
		f.refuse(name, "«\u00a0"+label+"\u00a0»\u00a0: cette valeur n’existe pas.")
		v = ""
	}
	f.Fields = append(f.Fields, field{Name: name, Label: label, Value: v, Options: options})
	return v
}

// category reads a category. An unknown one is valid: its list is empty.
func (f *filters) category(v *view) string {
	slug := f.value("category")
	options := []option{{Label: "Toutes"}}
	for _, c := range v.categories {
		options = append(options, option{c.Slug, c.Label, c.Slug == slug})
	}
	if _, ok := v.labels[slug]; slug != "" && !ok {
		options = append(options, option{slug, slug, true})
	}
	f.Fields = append(f.Fields, field{Name: "category", Label: "Catégorie", Value: slug, Options: options})
	return slug
}

// number reads a decimal number, with a point or a comma.
func (f *filters) number(name, label string) *float64 {
	v := f.value(name)
	f.Fields = append(f.Fields, field{Name: name, Label: label, Value: v})
	if v == "" {
		return nil
	}
	x, ok := web.ParseNumber(strings.Replace(v, ",", ".", 1))
	if !ok {
		f.refuse(name, "«\u00a0"+label+"\u00a0» attend un nombre, par exemple 7,5.")
		f.Fields[len(f.Fields)-1].Value = ""
		return nil
	}
	f.Fields[len(f.Fields)-1].Value = strconv.FormatFloat(x, 'f', -1, 64)
	f.given.Set(name, f.Fields[len(f.Fields)-1].Value)
	return &x
}

func (f *filters) integer(name, label string, unset, most int64) int64 {
	v := f.value(name)
	if v == "" {
		return unset
	}
	n, ok := web.ParseInteger(v, 1, most)
	if !ok {
		allowed := " doit être un entier de 1 à " + strconv.FormatInt(most, 10) + "."
		if most == web.MaxInteger {
			allowed = " doit être un entier, 1 ou plus."
		}
		f.refuse(name, label+allowed)
		return unset
	}
	return n
}

func (f *filters) paging() snapshot.Paging {
	const digits = 15 // a longer number is past the end of every list, too
	if page := f.value("page"); len(page) > digits && strings.Trim(page, "0123456789") == "" {
		f.values.Set("page", strings.Repeat("9", digits))
	}
	return snapshot.Paging{
		Number: f.integer("page", "Le numéro de page", 1, web.MaxInteger),
		Limit:  int(f.integer("limit", "Le nombre par page", web.DefaultLimit, web.MaxLimit)),
	}
}

// Limit returns the number per page if it was given, for the form to keep.
func (f *filters) Limit() string { return f.given.Get("limit") }

// Active reports whether anything but the page was chosen.
func (f *filters) Active() bool { return f.Chosen() > 0 || f.given.Get("q") != "" }

// Chosen returns how many filters are, apart from the search.
func (f *filters) Chosen() (n int) {
	for name := range f.given {
		if name != "page" && name != "limit" && name != "q" && name != "exact" {
			n++
		}
	}
	return n
}

// Detailed reports whether one of the fields in More is chosen.
func (f *filters) Detailed() bool {
	return slices.ContainsFunc(f.More, func(one field) bool { return one.Value != "" })
}

// href returns the address of another page of the list, with the same filters.
func (f *filters) href(page int64) string {
	number := ""
	if page > 1 {
		number = strconv.FormatInt(page, 10)
	}
	return f.with("page", number)
}

// with returns the address of the list with another value of one parameter, from its
// first page on unless that is the parameter. "" omits it.
func (f *filters) with(name, value string) string {
	v := maps.Clone(f.given)
	v.Del("page")
	if v.Del(name); value != "" {
		v.Set(name, value)
	}
	if len(v) == 0 {
		return f.Action
	}
	return f.Action + "?" + v.Encode()
}

type pager struct {
	Number, Pages  int64
	Previous, Next string // "" at the ends
	Links          []pageLink
}

// Past reports whether the page is beyond the last one.
func (p pager) Past() bool { return p.Number > max(p.Pages, 1) }

// A pageLink is a link to a page; number 0 stands for omitted pages.
type pageLink struct {
	Number  int64
	Href    string
	Current bool
}

func (f *filters) pager(at snapshot.Paging, total int) pager {
	pages := (int64(total) + int64(at.Limit) - 1) / int64(at.Limit)
	p := pager{Number: at.Number, Pages: pages}
	if at.Number > 1 {
		p.Previous = f.href(min(at.Number-1, max(pages, 1)))
	}
	if at.Number < pages {
		p.Next = f.href(at.Number + 1)
	}
	var numbers []int64
	for _, n := range []int64{1, at.Number - 1, at.Number, at.Number + 1, pages} {
		if n >= 1 && n <= pages && !slices.Contains(numbers, n) {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	for i, n := range numbers {
		if i > 0 && n > numbers[i-1]+1 {
			p.Links = append(p.Links, pageLink{})
		}
		p.Links = append(p.Links, pageLink{n, f.href(n), n == at.Number})
	}
	return p
}

// response renders a list, with status 400 if a filter is invalid.
func (f *filters) response(r *request, name string, p page, data any) *response {
	a := render(r, name, p, data)
	if len(f.Problems) > 0 {
		a.status, a.cache = http.StatusBadRequest, noStore
	}
	return a
}

// describe sets what search engines may index: the list without filters and its
// pages, but not every combination of filters.
func (f *filters) describe(p *page, at pager, c *catalog.Catalog) {
	p.NoIndex = p.NoIndex || f.Active() || f.Limit() != "" || len(f.Problems) > 0 || at.Past()
	if !p.NoIndex && at.Number > 1 {
		p.Canonical = c.URL + f.href(at.Number)
	}
}
