package site

import (
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/snapshot"
)

// The limits of a list, those of the API.
const (
	defaultLimit = 50
	maxLimit     = 200
	maxPage      = 1<<53 - 1
	maxSearch    = 200 // characters of a search; nobody types more
)

// filters are the parameters of a list as its reader chose them, in the form that
// the page shows and that the links of the page keep. What a form sends empty
// counts as not given. A value that makes no sense is named in Problems and left out.
type filters struct {
	Action   string
	Search   *field // nil for a list that cannot be searched
	Fields   []field
	Problems []string
	given    url.Values // only what is good
	values   url.Values
}

// A field is one control of a filter form.
type field struct {
	Name, Label, Value string
	Options            []option // of a choice; empty for a number
}

// An option is one choice.
type option struct {
	Value, Label string
	Selected     bool
}

func readFilters(r *request) *filters {
	return &filters{Action: r.URL.Path, given: url.Values{}, values: r.URL.Query()}
}

// value is the first that was given for a parameter, without space around it.
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

// choice reads one of the options; the first is the one that is taken when
// nothing is given.
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

// category reads a category. One that does not exist is no mistake: its list is empty.
func (f *filters) category(e *edition) string {
	v := f.value("category")
	options := []option{{Label: "Toutes"}}
	for _, c := range e.categories {
		options = append(options, option{c.Slug, c.Label, c.Slug == v})
	}
	if _, ok := e.labels[v]; v != "" && !ok {
		options = append(options, option{v, v, true})
	}
	f.Fields = append(f.Fields, field{Name: "category", Label: "Catégorie", Value: v, Options: options})
	return v
}

// number reads a figure, with a point or a comma.
func (f *filters) number(name, label string) *float64 {
	v := f.value(name)
	f.Fields = append(f.Fields, field{Name: name, Label: label, Value: v})
	if v == "" {
		return nil
	}
	x, err := strconv.ParseFloat(strings.Replace(v, ",", ".", 1), 64)
	if err != nil || math.IsInf(x, 0) || math.IsNaN(x) {
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
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil || n < 1 || n > most {
		f.refuse(name, label+" doit être un entier de 1 à "+strconv.FormatInt(most, 10)+".")
		return unset
	}
	return n
}

func (f *filters) paging() snapshot.Paging {
	return snapshot.Paging{
		Number: f.integer("page", "Le numéro de page", 1, maxPage),
		Limit:  int(f.integer("limit", "Le nombre par page", defaultLimit, maxLimit)),
	}
}

// Limit is the number per page when the reader chose one, for the form to keep.
func (f *filters) Limit() string { return f.given.Get("limit") }

// Active tells whether anything but the page was chosen.
func (f *filters) Active() bool {
	for name := range f.given {
		if name != "page" && name != "limit" {
			return true
		}
	}
	return false
}

// href is the list with the same filters at another page.
func (f *filters) href(page int64) string {
	v := url.Values{}
	for name, values := range f.given {
		if name != "page" {
			v[name] = values
		}
	}
	if page > 1 {
		v.Set("page", strconv.FormatInt(page, 10))
	}
	if len(v) == 0 {
		return f.Action
	}
	return f.Action + "?" + v.Encode()
}

// A pager leads through the pages of a list.
type pager struct {
	Number, Pages  int64
	Previous, Next string // "" at the ends
	Links          []pageLink
}

// Past tells that there is no such page.
func (p pager) Past() bool { return p.Number > max(p.Pages, 1) }

// A pageLink is a page by its number; a zero number stands for pages left out.
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

// answer is a page of a list: 400 when a filter made no sense.
func (f *filters) answer(r *request, name string, p page, data any) *answer {
	a := render(r, name, p, data)
	if len(f.Problems) > 0 {
		a.status, a.cache = 400, noStore
	}
	return a
}

// describe sets what search engines are told about a list: the bare list and its
// pages are worth keeping, every choice of filters is not.
func (f *filters) describe(p *page, at pager, c *catalog.Catalog) {
	p.NoIndex = p.NoIndex || f.Active() || f.Limit() != "" || len(f.Problems) > 0 || at.Past()
	if !p.NoIndex && at.Number > 1 {
		p.Canonical = c.URL + f.href(at.Number)
	}
}
