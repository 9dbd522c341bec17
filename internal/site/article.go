package site

import (
	"cmp"
	"html/template"
	"slices"
	"strconv"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/french"
	"palmares/internal/markdown"
)

const articlesPath = "/articles"

// An articleRow is an article in a list.
type articleRow struct {
	Slug, Title, Date string
	Text              string // what it is about
	Byline            signature
	Sponsored, Draft  bool
}

func (v *view) articleRow(a *catalog.Article) articleRow {
	return articleRow{
		Slug: a.Slug, Title: markdown.NoBreak(a.Title), Date: a.Date, Byline: v.signature(a.Authors), Sponsored: a.Sponsored,
		Draft: a.Draft, Text: markdown.NoBreak(cmp.Or(a.Description, beginning(markdown.Excerpt(a.Body)))),
	}
}

func (v *view) articleRows(list []*catalog.Article, most int) (rows []articleRow) {
	for _, a := range list[:min(len(list), most)] {
		rows = append(rows, v.articleRow(a))
	}
	return rows
}

// indexTexts finds articles by tool, and authors by name.
func (v *view) indexTexts() {
	v.articles = v.snap.Catalog.Newest()
	for _, a := range v.articles {
		for _, slug := range a.Tools {
			v.articlesOf[slug] = append(v.articlesOf[slug], a)
		}
	}
	for i := range v.snap.Catalog.Authors {
		a := &v.snap.Catalog.Authors[i]
		v.people[a.Name] = a
	}
}

// maxArticles is how many articles a page lists.
const maxArticles = 200

type articlesPage struct {
	Page  page
	Years []articleYear
	Other []link // pages of single years, if not all articles are here
}

// An articleYear has the articles of a year, newest first.
type articleYear struct {
	Year     string
	Articles []articleRow
}

// listArticles shows the newest articles by year, or those of one year.
func (s *Site) listArticles(r *request) (*response, error) {
	var data articlesPage
	asked, shown, last := r.URL.Query().Get("annee"), 0, ""
	for _, a := range r.articles {
		year := a.Date[:min(4, len(a.Date))]
		if year != last {
			data.Other = append(data.Other, link{articlesPath + "?annee=" + year, year})
			last = year
		}
		if asked != "" && asked != year || shown == maxArticles {
			continue
		}
		if n := len(data.Years); n == 0 || data.Years[n-1].Year != year {
			data.Years = append(data.Years, articleYear{Year: year})
		}
		of := &data.Years[len(data.Years)-1]
		of.Articles = append(of.Articles, r.articleRow(a))
		shown++
	}
	if asked != "" && shown == 0 {
		return nil, notFound("Aucun article n’est de cette année.")
	}
	if shown == len(r.articles) {
		data.Other = nil
	}
	data.Page = s.page(r, "Articles", "Tous les articles, les plus récents d’abord.", articlesPath)
	data.Page.NoIndex = data.Page.NoIndex || asked != ""
	return render(r, "articles", data.Page, data), nil
}

type articlePage struct {
	Page    page
	Article articleRow
	Image   *img // nil for none
	HTML    template.HTML
	Body    string // the same in Markdown
	Minutes int
	Tools   []toolRow
	Gone    []link // retired tools that it is about
}

func (s *Site) showArticle(r *request) (*response, error) {
	slug := r.PathValue("slug")
	a := r.snap.Catalog.Article(slug)
	if a == nil {
		return s.otherText(r, "articles", slug, "Cet article n’existe pas, ou plus.")
	}
	data := articlePage{
		Article: r.articleRow(a), Image: r.hero(a.Image, pageSizes), HTML: r.html("articles", a.Body, ""),
		Body: r.bodyOf("articles", a.Body), Minutes: minutes(a.Body),
	}
	for _, slug := range a.Tools {
		if t := r.snap.Catalog.Tool(slug); t != nil {
			data.Tools = append(data.Tools, r.row(t))
		} else if gone := r.snap.RetiredTool(slug); gone != nil {
			data.Gone = append(data.Gone, link{retiredPath + slug, gone.Name})
		}
	}
	data.Page = s.page(r, data.Article.Title, cmp.Or(data.Article.Text, data.Article.Title), articlesPath+"/"+a.Slug)
	data.Page.Draft, data.Page.Article = a.Draft, true
	data.Page.share(cmp.Or(r.shared(a.Image), r.sharedCard("articles", a.Slug)))
	data.Page.JSONLD = r.jsonldText(a, data.Page.Canonical)
	return render(r, "article", data.Page, data), nil
}

// otherText responds to a slug that no text of a folder has now: by where it went, or that it ended.
func (s *Site) otherText(r *request, folder, slug, missing string) (*response, error) {
	current, ok := r.snap.TextAliases[folder+"/"+slug]
	if other := slugOf(slug); !ok && other != slug && r.snap.Catalog.Article(other) != nil {
		current, ok = other, true
	}
	switch {
	case ok:
		return redirect(r.sameForm("/"+folder+"/"+current), r.URL.RawQuery), nil
	case r.ended()[folder+"/"+slug]:
		return nil, pageGone()
	}
	return nil, notFound(missing)
}

// A signature is the authors of a text.
type signature []person

// A person is an author, with what stands before the name.
type person struct{ Before, Name, Href string }

// signature returns the authors with the addresses of their pages, "" for those who have none.
func (v *view) signature(names []string) (list signature) {
	for i, name := range names {
		p := person{Name: name}
		switch {
		case i == 0:
		case i == len(names)-1:
			p.Before = " et "
		default:
			p.Before = ", "
		}
		if a := v.people[name]; a != nil {
			p.Href = "/auteurs/" + a.Slug
		}
		list = append(list, p)
	}
	return list
}

// String returns the names: "A, B et C".
func (s signature) String() string {
	var text strings.Builder
	for _, p := range s {
		text.WriteString(p.Before + p.Name)
	}
	return text.String()
}

type authorPage struct {
	Page   page
	Author *catalog.Author
	Role   string
	Image  *img
	Links  []source
	HTML   template.HTML
	Body   string // the same in Markdown
	Works  []group
}

// works are what a person wrote, newest first.
type works struct {
	articles    []*catalog.Article
	reviews     []*catalog.Tool
	comparisons []*catalog.Comparison
	pages       []*catalog.Page
}

// allWorks finds what everybody with a page wrote.
func (v *view) allWorks() map[string]*works {
	c, all := v.snap.Catalog, map[string]*works{}
	for name := range v.people {
		all[name] = &works{}
	}
	each := func(names []string, add func(*works)) {
		for _, name := range names {
			if w := all[name]; w != nil {
				add(w)
			}
		}
	}
	for _, a := range v.articles {
		each(a.Authors, func(w *works) { w.articles = append(w.articles, a) })
	}
	for _, t := range c.Tools {
		if t.Body != "" {
			each(t.Authors, func(w *works) { w.reviews = append(w.reviews, t) })
		}
	}
	for _, x := range v.snap.Published {
		each(x.Authors, func(w *works) { w.comparisons = append(w.comparisons, x) })
	}
	for i := range c.Pages {
		each(c.Pages[i].Authors, func(w *works) { w.pages = append(w.pages, &c.Pages[i]) })
	}
	for _, w := range all {
		slices.SortStableFunc(w.reviews, func(a, b *catalog.Tool) int { return cmp.Compare(b.UpdatedAt, a.UpdatedAt) })
		slices.SortStableFunc(w.comparisons, func(a, b *catalog.Comparison) int { return cmp.Compare(b.UpdatedAt, a.UpdatedAt) })
	}
	return all
}

// groups returns the works as links, at most maxArticles of each kind.
func (w *works) groups() (list []group) {
	add := func(title string, n int, at func(i int) link) {
		g := group{Title: title}
		for i := range min(n, maxArticles) {
			g.Links = append(g.Links, at(i))
		}
		if n > maxArticles {
			g.Title += " (les " + strconv.Itoa(maxArticles) + " derniers)"
		}
		if n > 0 {
			list = append(list, g)
		}
	}
	add("Articles", len(w.articles), func(i int) link {
		a := w.articles[i]
		text := a.Title + ", le " + french.Date(a.Date)
		if a.Sponsored {
			text += " (article sponsorisé)"
		}
		return link{articlesPath + "/" + a.Slug, markdown.NoBreak(text)}
	})
	add("Avis", len(w.reviews), func(i int) link { return link{"/avis/" + w.reviews[i].Slug, w.reviews[i].Name} })
	add("Comparatifs", len(w.comparisons), func(i int) link {
		return link{"/comparatifs/" + w.comparisons[i].Slug, markdown.NoBreak(w.comparisons[i].Title)}
	})
	add("Pages", len(w.pages), func(i int) link { return link{"/" + w.pages[i].Slug, markdown.NoBreak(w.pages[i].Title)} })
	return list
}

func (s *Site) showAuthor(r *request) (*response, error) {
	slug := r.PathValue("slug")
	a := r.snap.Catalog.Author(slug)
	if a == nil {
		return s.otherText(r, "auteurs", slug, "Personne de ce nom n’écrit ici, ou plus.")
	}
	data := authorPage{
		Author: a, Role: markdown.NoBreak(a.Role), Image: r.hero(a.Image, pageSizes), Links: sources(a.Links),
		HTML: r.html("auteurs", a.Body, ""), Body: r.bodyOf("auteurs", a.Body), Works: r.works()[a.Name].groups(),
	}
	data.Page = s.page(r, a.Name, cmp.Or(data.Role, beginning(markdown.Excerpt(a.Body)), "Ce que "+a.Name+" a écrit ici."),
		"/auteurs/"+a.Slug)
	data.Page.Draft = a.Draft
	data.Page.share(r.shared(a.Image))
	person := r.authors([]string{a.Name})[0]
	person.Context, person.Role, person.SameAs, person.Employer = schemaOrg, a.Role, a.Links, r.organization()
	if image := r.shared(a.Image); image != nil {
		person.Image = image.URL
	}
	data.Page.JSONLD = person
	return render(r, "author", data.Page, data), nil
}

// inText shows links to tools and comparisons that are alone in their paragraph as cards with what is true today.
type inText struct {
	markdown.Resolver
	view *view
}

// Card implements markdown.Carder.
func (t inText) Card(address string) string {
	folder, slug, _ := strings.Cut(strings.TrimPrefix(address, "/"), "/")
	var card struct {
		Row        *toolRow
		Comparison *comparisonRow
	}
	if tool := t.view.snap.Catalog.Tool(slug); folder == "outils" && tool != nil {
		row := t.view.row(tool)
		card.Row = &row
	} else if x := t.view.comparison(slug); folder == "comparatifs" && x != nil {
		row := t.view.comparisonRow(x)
		card.Comparison = &row
	} else {
		return ""
	}
	var b strings.Builder
	if err := templates["article"].ExecuteTemplate(&b, "text-card", card); err != nil {
		panic(err) // the template does not fit its data; tests render it
	}
	return b.String()
}
