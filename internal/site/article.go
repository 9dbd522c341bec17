package site

import (
	"cmp"
	"slices"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/french"
	"palmares/internal/markdown"
)

const articlesPath = "/articles"

// What readers are told of articles that somebody paid for.
const (
	sponsoredName     = "Article sponsorisé"
	sponsoredSentence = sponsoredName + "\u00a0: ni les notes ni les classements n’en dépendent."
)

// An articleRow is an article in a list.
type articleRow struct {
	Record      *catalog.Article
	Title, Text string // Text says what it is about
	Byline      signature
	Draft       string // see view.mark
	Image       *img   // nil for none
	view        *view
}

func (v *view) articleRow(a *catalog.Article) articleRow {
	return articleRow{
		Record: a, Title: markdown.NoBreak(a.Title), Byline: v.Byline(a.Authors), view: v,
		Draft: v.mark(a.Draft, "articles/"+a.Slug), Image: v.Picture(a.Image, "card"), Text: markdown.NoBreak(cmp.Or(a.Description, beginning(markdown.Excerpt(a.Body)))),
	}
}

func (v *view) articleRows(list []*catalog.Article, most int) []articleRow {
	return each(list[:min(len(list), most)], v.articleRow)
}

// mark returns what the preview says of a record that visitors do not see; "" if they do.
func (v *view) mark(isDraft bool, name string) string {
	switch isDue := func(s catalog.Scheduled) bool { return s.Name() == name }; {
	case !isDraft:
		return ""
	case slices.ContainsFunc(v.snap.Catalog.Scheduled, isDue):
		return "Programmé"
	}
	return "Brouillon"
}

// maxArticles is how many articles a page lists.
const maxArticles = 200

type articlesPage struct {
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
	p := s.page(r, "Articles", "Tous les articles, les plus récents d’abord.", articlesPath)
	p.NoIndex = p.NoIndex || asked != ""
	return render(r, "articles", p, data), nil
}

func (s *Site) showArticle(r *request) (*response, error) {
	slug := r.PathValue("slug")
	a := r.snap.Catalog.Article(slug)
	if a == nil {
		if current, ok := r.snap.Aliases[catalog.ArticleKind][slug]; ok {
			return redirect(r.sameForm(articlesPath+"/"+current), r.URL.RawQuery), nil
		}
		if r.ended()["articles/"+slug] {
			return nil, pageGone()
		}
		return nil, notFound("Cet article n’existe pas, ou plus.")
	}
	row := r.articleRow(a)
	title, description := row.Title, cmp.Or(row.Text, row.Title)
	image := cmp.Or(r.shared(a.Image), r.sharedCard("articles", a.Slug))
	if a.Sponsored { // whoever sees only the link must see it, too
		title, description = sponsoredName+"\u00a0: "+title, sponsoredSentence+" "+description
		image.Alt = sponsoredName + "\u00a0: " + cmp.Or(image.Alt, row.Title)
	}
	p := s.page(r, title, description, articlesPath+"/"+a.Slug)
	p.Draft, p.Article = row.Draft, true
	p.share(image)
	p.JSONLD = r.jsonldText(a, p.Canonical)
	return render(r, "article", p, row), nil
}

// Tools returns the tools that the article is about.
func (a articleRow) Tools() (rows []toolRow) {
	for _, slug := range a.Record.Tools {
		if t := a.view.snap.Catalog.Tool(slug); t != nil {
			rows = append(rows, a.view.row(t))
		}
	}
	return rows
}

// Gone returns the retired tools that it is about.
func (a articleRow) Gone() (links []link) {
	for _, slug := range a.Record.Tools {
		if t := a.view.snap.RetiredTool(slug); t != nil && a.view.snap.Catalog.Tool(slug) == nil {
			links = append(links, link{catalog.RetiredKind.Address + slug, t.Name})
		}
	}
	return links
}

// A signature is the authors of a text.
type signature []person

// A person is an author, with what stands before the name.
type person struct{ Before, Name, Href string }

// Byline returns the authors with the addresses of their pages, "" for those who have none.
func (v *view) Byline(names []string) (list signature) {
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
	Author *catalog.Author
	Links  []source
	Works  []group
}

// A work is what a person wrote, of one of the kinds of workTitles.
type work struct {
	kind int
	day  string
	link
}

var workTitles = []string{"Articles", "Avis", "Comparatifs", "Pages"}

// allWorks finds what everybody with a page wrote.
func (v *view) allWorks() map[string][]work {
	c, all := v.snap.Catalog, map[string][]work{}
	add := func(names []string, w work) {
		for _, name := range names {
			if v.people[name] != nil {
				all[name] = append(all[name], w)
			}
		}
	}
	for _, a := range v.articles {
		to := articleLink(a)
		to.Text += ", le " + french.Date(a.Date)
		add(a.Authors, work{0, a.Date, to})
	}
	for _, t := range c.Tools {
		if t.Body != "" {
			to := link{"/avis/" + t.Slug, t.Name}
			if t.Score != nil {
				to.Text += ", " + french.Figure(*t.Score) + "/10"
			}
			to.Text += ", le " + french.Date(cmp.Or(t.TestedAt, t.UpdatedAt))
			add(t.Authors, work{1, t.UpdatedAt, to})
		}
	}
	for _, x := range v.snap.Published {
		add(x.Authors, work{2, x.UpdatedAt, link{"/comparatifs/" + x.Slug, markdown.NoBreak(x.Title)}})
	}
	for i := range c.Pages {
		p := &c.Pages[i]
		add(p.Authors, work{3, p.Date, link{"/" + p.Slug, markdown.NoBreak(p.Title)}})
	}
	return all
}

// workGroups returns the works of a person by kind, newest first, at most maxArticles of each.
func workGroups(all []work) (list []group) {
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b work) int { return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(b.day, a.day)) })
	for _, w := range all {
		title := workTitles[w.kind]
		if n := len(list); n == 0 || list[n-1].Title != title {
			list = append(list, group{Title: title})
		}
		if g := &list[len(list)-1]; len(g.Links) < maxArticles {
			g.Links = append(g.Links, w.link)
		}
	}
	return list
}

// articleLink returns the link to an article, which says if it is sponsored.
func articleLink(a *catalog.Article) link {
	to := link{articlesPath + "/" + a.Slug, markdown.NoBreak(a.Title)}
	if a.Sponsored {
		to.Text += " (article sponsorisé)"
	}
	return to
}

const authorsPath = "/auteurs"

// listAuthors shows everybody with a page, by their slugs.
func (s *Site) listAuthors(r *request) (*response, error) {
	all := r.snap.Catalog.Authors
	if len(all) == 0 {
		return nil, notFound("Personne n’a encore de page ici.")
	}
	people := group{Title: "Qui écrit ici"}
	for _, a := range all[:min(len(all), maxArticles)] {
		people.Links = append(people.Links, link{authorsPath + "/" + a.Slug, strings.TrimSuffix(a.Name+", "+inside(markdown.NoBreak(a.Role)), ", ")})
	}
	data := authorPage{Author: &catalog.Author{Name: "Auteurs"}, Works: []group{people}}
	p := s.page(r, data.Author.Name, "Les personnes qui écrivent ici.", authorsPath)
	return render(r, "author", p, data), nil
}

func (s *Site) showAuthor(r *request) (*response, error) {
	a := r.snap.Catalog.Author(r.PathValue("slug"))
	if a == nil {
		return nil, notFound("Personne de ce nom n’écrit ici, ou plus.")
	}
	data := authorPage{
		Author: a, Links: each(a.Links, newSource), Works: workGroups(r.works()[a.Name]),
	}
	p := s.page(r, a.Name, cmp.Or(markdown.NoBreak(a.Role), beginning(markdown.Excerpt(a.Body)), "Ce que "+a.Name+" a écrit ici."),
		"/auteurs/"+a.Slug)
	p.Draft = r.mark(a.Draft, "auteurs/"+a.Slug)
	p.share(r.shared(a.Image))
	p.JSONLD = append(inContext(r.authors([]string{a.Name})[0]), object{
		"jobTitle", a.Role, "image", r.sharedURL(a.Image), "sameAs", a.Links, "worksFor", r.organization(),
	}...)
	return render(r, "author", p, data), nil
}

// inText shows links to tools and comparisons that are alone in their paragraph as cards with what is true today.
type inText struct {
	markdown.Resolver
	view *view
}

// Card implements markdown.Carder.
func (t inText) Card(address string) (html, name string) {
	folder, slug, _ := strings.Cut(strings.TrimPrefix(address, "/"), "/")
	var card struct {
		Row        *toolRow
		Comparison *comparisonRow
	}
	if tool := t.view.snap.Catalog.Tool(slug); folder == "outils" && tool != nil {
		row := t.view.row(tool)
		card.Row, name = &row, row.Name
	} else if x := t.view.comparison(slug); folder == "comparatifs" && x != nil {
		row := t.view.comparisonRow(x)
		card.Comparison, name = &row, row.Title
	} else {
		return "", ""
	}
	var b strings.Builder
	if err := templates().ExecuteTemplate(&b, "text-card", card); err != nil {
		panic(err) // the template does not fit its data; tests render it
	}
	return b.String(), name
}
