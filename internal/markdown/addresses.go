package markdown

import (
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"golang.org/x/text/unicode/norm"

	"palmares/internal/catalog"
)

// Addresses resolves the links and pictures of the texts of one catalogue. It is
// safe for concurrent use; its fields must not be changed once it is in use.
//
// A link is written as a path to a file of the folder, relative to the file of the
// text, or as an address of the site:
//
//   - outils/plume.md leads to /outils/plume, the page of the tool, and with the
//     anchor of a section of its review to that section, /avis/plume#prix;
//   - comparatifs/a-vs-b.md, articles/voix.md, auteurs/ada.md and pages/methode.md lead to
//     /comparatifs/a-vs-b, /articles/voix, /auteurs/ada and /methode, with an anchor to a section
//     of the text;
//   - cimetiere/jaserin.md, and every address of a retired tool, lead to its page,
//     /cimetiere/jaserin, with an anchor to a section of its obituary;
//   - images/ecran.png leads to the picture itself;
//   - an address of the site or of the API must exist; it may have the host of the
//     catalogue before it.
//
// Former slugs lead to the current one, and .md at the end of an address is dropped.
// Anchors may be written as GitHub derives them from a heading. Everything else is a
// problem: what is not published, what leaves the folder, other files.
type Addresses struct {
	Catalog *catalog.Catalog

	// Drafts holds records that exist, but that visitors do not see, with what they
	// are, and Unread those that could not be read, to which every link is allowed. Both
	// are keyed by file without suffix: outils/plume.
	Drafts map[string]string
	Unread map[string]bool

	once        sync.Once
	tools       map[string]*catalog.Tool // by slug and alias
	comparisons map[string]*catalog.Comparison
	retired     map[string]*catalog.Retired
	texts       map[string]ownText // by file: pages, articles and authors, also by alias
	categories  map[string]string  // slug by slug and alias

	mu       sync.Mutex
	sections map[string]*anchorIndex // by file
}

// In returns the resolver of the texts in a folder, such as outils; "" is the root.
func (a *Addresses) In(folder string) Resolver { return place{a, folder} }

func (a *Addresses) index() {
	c := a.Catalog
	a.tools, a.comparisons = map[string]*catalog.Tool{}, map[string]*catalog.Comparison{}
	a.retired, a.texts, a.categories = map[string]*catalog.Retired{}, map[string]ownText{}, map[string]string{}
	a.sections = map[string]*anchorIndex{}
	for _, t := range c.Tools {
		add(a.tools, t, t.Slug, t.Aliases)
	}
	for i := range c.Comparisons {
		x := &c.Comparisons[i]
		add(a.comparisons, x, x.Slug, x.Aliases)
	}
	for i := range c.Retired {
		a.retired[c.Retired[i].Slug] = &c.Retired[i]
	}
	for i := range c.Pages {
		a.addText("pages", c.Pages[i].Slug, c.Pages[i].Body, c.Pages[i].Aliases)
	}
	for i := range c.Articles {
		a.addText("articles", c.Articles[i].Slug, c.Articles[i].Body, c.Articles[i].Aliases)
	}
	for i := range c.Authors {
		a.addText("auteurs", c.Authors[i].Slug, c.Authors[i].Body, nil)
	}
	for _, k := range c.Categories {
		add(a.categories, k.Slug, k.Slug, k.Aliases)
	}
}

// add adds something by its slug and by its aliases, which must not hide what has one of them as its slug.
func add[T any](to map[string]T, value T, slug string, aliases []string) {
	for _, alias := range aliases {
		if _, taken := to[alias]; !taken {
			to[alias] = value
		}
	}
	to[slug] = value
}

// An ownText is a page, an article or an author.
type ownText struct{ slug, body string }

func (a *Addresses) addText(folder, slug, body string, aliases []string) {
	for _, alias := range aliases { // is no slug of another
		a.texts[folder+"/"+alias] = ownText{slug, body}
	}
	a.texts[folder+"/"+slug] = ownText{slug, body}
}

type place struct {
	*Addresses
	folder string
}

// Picture implements Resolver.
func (p place) Picture(destination string) (catalog.Picture, string) {
	file, reason := PicturePath(p.folder, destination)
	if reason != "" {
		return catalog.Picture{}, reason
	}
	picture, ok := p.pictureAt(file)
	if !ok {
		return catalog.Picture{}, fmt.Sprintf("the picture %q is not in the folder: %s does not exist",
			brief(destination), file)
	}
	return picture, ""
}

// pictureAt returns the picture of a file. Its path is stored in the Unicode form NFC;
// a text may write it in another.
func (a *Addresses) pictureAt(file string) (catalog.Picture, bool) {
	picture, ok := a.Catalog.Pictures[file]
	if !ok {
		picture, ok = a.Catalog.Pictures[norm.NFC.String(file)]
	}
	return picture, ok
}

// Link implements Resolver.
func (p place) Link(destination string) (address, reason string) {
	p.once.Do(p.index)
	fail := func(format string, args ...any) (string, string) {
		return "", fmt.Sprintf("the link to %q leads nowhere: ", brief(destination)) + fmt.Sprintf(format, args...)
	}
	u, err := parseURL(destination)
	if err != nil {
		return fail("it is not an address")
	}
	if u.Host != "" {
		rest, ok := under(p.Catalog.URL, u)
		if !ok {
			return fail("it is on another site")
		}
		u.Path = rest
	}
	if strings.HasPrefix(u.Path, "/") {
		address, reason = p.page(u)
	} else {
		file := path.Join(p.folder, u.Path)
		if file == ".." || strings.HasPrefix(file, "../") {
			return fail("it leaves the folder; link to a file in outils/, comparatifs/, cimetiere/, pages/, articles/ or auteurs/")
		}
		address, reason = p.file(file, u)
	}
	if reason != "" {
		return fail("%s", reason)
	}
	return address, ""
}

// IsOfRecord reports whether an address with the host of the site is where the pages of
// records are. Something else may serve other addresses of the host.
func (a *Addresses) IsOfRecord(destination string) bool {
	u, err := parseURL(destination)
	if err != nil {
		return false
	}
	rest, ok := under(a.Catalog.URL, u)
	first, _, _ := strings.Cut(strings.TrimPrefix(rest, "/"), "/")
	return ok && slices.Contains([]string{
		"outils", "avis", "alternatives", "comparatifs", "cimetiere", "categories", "articles", "auteurs",
	}, first)
}

// file returns the address of a file of the folder.
func (p place) file(file string, u *url.URL) (address, reason string) {
	folder, name, _ := strings.Cut(file, "/")
	slug, isMarkdown := strings.CutSuffix(name, markdownExt)
	switch {
	case folder == imageFolder && name != "":
		if picture, ok := p.pictureAt(file); ok {
			return MediaPath(picture.Hash, picture.Ext), ""
		}
		return "", file + " does not exist"
	case name == "" && folder == "cimetiere" && u.Fragment != "":
		return p.retiredTool(strings.Cut(u.Fragment, "."))
	case name == "" && (folder == "outils" || folder == "comparatifs" || folder == "cimetiere" || folder == "articles"):
		return withQuery("/"+folder, u), ""
	case !isMarkdown && catalog.IsSlug(slug) && p.folder == folder && recordFolders[folder]:
		return "", fmt.Sprintf("write %s%s, or the address from the root of the site", slug, markdownExt)
	case !isMarkdown || !recordFolders[folder]:
		return "", file + " is not a page of the site; link to a file in outils/, comparatifs/, cimetiere/, pages/, articles/ or auteurs/"
	}
	switch folder {
	case "outils":
		return p.tool(slug, "outils", u)
	case "comparatifs":
		return p.comparison(slug, u)
	case "pages", "articles", "auteurs":
		return p.text(folder, slug, u)
	}
	return p.retiredTool(slug, u.Fragment, u.Fragment != "")
}

const markdownExt = ".md"

var recordFolders = map[string]bool{
	"outils": true, "comparatifs": true, "cimetiere": true, "pages": true, "articles": true, "auteurs": true,
}

// productPages are the addresses of the site and of the API that no record makes.
// Those of one person, such as /compte/cles/…, are none that a text can link to.
var productPages = map[string]bool{
	"/": true, "/articles": true, "/carte": true, "/cimetiere": true, "/comparatifs": true,
	"/comparer": true, "/confidentialite": true, "/docs": true, "/docs/assistants": true,
	"/docs/categories": true, "/docs/cimetiere": true, "/docs/comparatifs": true, "/docs/description": true,
	"/docs/donnees": true, "/docs/embeddings": true, "/docs/en-tetes": true, "/docs/erreurs": true,
	"/docs/outils": true, "/docs/prix": true, "/docs/statistiques": true, "/docs/webhooks": true, "/donnees": true,
	"/flux.atom": true, "/licence": true, "/llms.txt": true, "/outils": true, "/prix": true, "/robots.txt": true, "/signaler": true, "/suivre": true,
	"/sitemap.xml": true, "/tarifs": true, "/tendances": true,
	"/.well-known/security.txt": true, "/.well-known/tdmrep.json": true, "/apple-touch-icon.png": true, "/favicon.ico": true, "/opensearch.xml": true,
	"/site.webmanifest": true,

	"/compte": true, "/compte/adieu": true, "/compte/cles": true, "/compte/connexion": true, "/compte/courriel": true,
	"/compte/donnees": true, "/compte/donnees.json": true, "/compte/pro": true, "/compte/sessions": true,
	"/compte/suppression": true, "/compte/usage": true, "/compte/webhooks": true,

	"/data/v1/export": true, "/data/v1/openapi.json": true,

	"/api/v1/categories": true, "/api/v1/cimetiere": true, "/api/v1/comparatifs": true, "/api/v1/openapi.json": true,
	"/api/v1/pricing": true, "/api/v1/stats": true, "/api/v1/tools": true, "/webhooks/v1/openapi.json": true,
}

func (p place) page(u *url.URL) (address, reason string) {
	clean := path.Clean(u.Path)
	first, rest, _ := strings.Cut(clean[1:], "/")
	slug, name := strings.TrimSuffix(rest, markdownExt), strings.TrimSuffix(first, markdownExt)
	switch {
	case rest == "" && (p.texts["pages/"+name].slug != "" || p.Unread["pages/"+name] || !productPages["/"+name]):
		return p.text("pages", name, u)
	case rest == "" && name == "cimetiere" && u.Fragment != "":
		return p.retiredTool(strings.Cut(u.Fragment, "."))
	case rest == "":
		return withQuery("/"+name, u) + fragmentOf(u), ""
	case first == "outils" && toolFile.MatchString(rest):
		return p.toolFile(rest)
	case first == "outils" || first == "avis" || first == "alternatives":
		return p.tool(slug, first, u)
	case first == "comparatifs":
		return p.comparison(slug, u)
	case first == "articles" || first == "auteurs":
		return p.text(first, slug, u)
	case first == "cimetiere":
		return p.retiredTool(slug, u.Fragment, u.Fragment != "")
	case first == "categories":
		slug = strings.TrimSuffix(slug, ".atom")
		current, ok := p.categories[slug]
		if !ok {
			return "", fmt.Sprintf("there is no category %q", brief(slug))
		}
		return withQuery("/categories/"+current+rest[len(slug):], u), ""
	case first == imageFolder:
		return p.file(clean[1:], u)
	case first == "media":
		if !p.isMedia(rest) {
			return "", "the address of a picture changes with its content; link to its file, such as ../images/ecran.png"
		}
	case first == "api" && !productPages[clean]:
		return p.operation(clean, u)
	case !productPages[clean]:
		return "", "the site has no such page"
	}
	return withQuery(clean, u) + fragmentOf(u), ""
}

func (p place) operation(clean string, u *url.URL) (address, reason string) {
	dir, slug := path.Split(clean)
	switch dir {
	case "/api/v1/tools/", "/api/v1/pricing/", "/api/embeddings/":
		if t := p.tools[slug]; t != nil {
			slug = t.Slug
		} else if !p.Unread["outils/"+slug] {
			return "", p.absent("outils", slug, "tool")
		}
	case "/api/v1/comparatifs/":
		if x := p.comparisons[slug]; x != nil && (x.Published || x.Draft) {
			slug = x.Slug
		} else if !p.Unread["comparatifs/"+slug] {
			return "", p.absent("comparatifs", slug, "comparison")
		}
	default:
		return "", "the API has no such address; /docs lists those it has"
	}
	return withQuery(dir+slug, u), ""
}

// isMedia reports whether a file is a picture of the catalogue, or a smaller version.
func (p place) isMedia(file string) bool {
	for _, picture := range p.Catalog.Pictures {
		if file == picture.Hash+"."+picture.Ext {
			return true
		}
		for _, v := range picture.Variants {
			if file == v.Name+"."+v.Ext {
				return true
			}
		}
	}
	return false
}

const retiredPath = "/cimetiere/"

// retiredTool returns the address of a retired tool, or of a section of its obituary.
func (p place) retiredTool(slug, fragment string, hasFragment bool) (address, reason string) {
	t := p.retired[slug]
	switch {
	case p.Unread["cimetiere/"+slug]:
		return retiredPath + slug, ""
	case t == nil:
		return "", p.absent("cimetiere", slug, "retired tool")
	case !hasFragment:
		return retiredPath + slug, ""
	}
	return p.section(retiredPath+slug, "cimetiere/"+slug, t.Body, fmt.Sprintf("the obituary of %q", slug), fragment)
}

// tool returns the address of a page of a tool: outils, avis or alternatives.
func (p place) tool(slug, under string, u *url.URL) (address, reason string) {
	t := p.tools[slug]
	switch {
	case p.Unread["outils/"+slug]:
		return "/" + under + "/" + slug + fragmentOf(u), ""
	case t == nil && p.retired[slug] != nil:
		return retiredPath + slug, ""
	case t == nil:
		return "", p.absent("outils", slug, "tool")
	}
	if u.Fragment == "" {
		if under == "avis" && t.Body == "" {
			return "", fmt.Sprintf("tool %q has no review; link to /outils/%s", t.Slug, t.Slug)
		}
		return withQuery("/"+under+"/"+t.Slug, u), ""
	}
	if under == "alternatives" {
		return "", "the page of alternatives has no sections; remove #" + brief(u.Fragment)
	}
	return p.section("/avis/"+t.Slug, "outils/"+t.Slug, t.Body, fmt.Sprintf("the review of %q", t.Slug), u.Fragment)
}

// toolFile matches what follows the slug in the addresses of the feed and the badge of a tool.
var toolFile = regexp.MustCompile(`\.atom$|/badge\.svg$`)

// toolFile returns the address of the feed of a tool, which a retired one has, too, or of its badge.
func (p place) toolFile(rest string) (address, reason string) {
	slug := toolFile.ReplaceAllString(rest, "")
	current, isFeed := slug, strings.HasSuffix(rest, ".atom")
	if t := p.tools[slug]; t != nil {
		current = t.Slug
	} else if !p.Unread["outils/"+slug] && (p.retired[slug] == nil || !isFeed) {
		return "", p.absent("outils", slug, "tool")
	}
	return "/outils/" + current + rest[len(slug):], ""
}

func (p place) comparison(slug string, u *url.URL) (address, reason string) {
	x := p.comparisons[slug]
	switch {
	case p.Unread["comparatifs/"+slug]:
		return "/comparatifs/" + slug + fragmentOf(u), ""
	case x == nil:
		return "", p.absent("comparatifs", slug, "comparison")
	case !x.Published && !x.Draft:
		return "", fmt.Sprintf("comparison %q is not published", x.Slug)
	}
	return p.inBody("/comparatifs/"+x.Slug, "comparatifs/"+x.Slug, x.Body, u)
}

// text returns the address of a page, an article or an author.
func (p place) text(folder, slug string, u *url.URL) (address, reason string) {
	under, what := "/"+folder+"/", strings.TrimSuffix(folder, "s")
	switch folder {
	case "pages":
		under = "/"
	case "auteurs":
		what = "author"
	}
	x, found := p.texts[folder+"/"+slug]
	switch {
	case p.Unread[folder+"/"+slug]:
		return under + slug + fragmentOf(u), ""
	case !found:
		return "", p.absent(folder, slug, what)
	}
	return p.inBody(under+x.slug, folder+"/"+x.slug, x.body, u)
}

// inBody adds the anchor of a section of a text to the address of its page.
func (p place) inBody(address, file, body string, u *url.URL) (string, string) {
	address = withQuery(address, u)
	if u.Fragment == "" {
		return address, ""
	}
	return p.section(address, file, body, file+markdownExt, u.Fragment)
}

// absent says that there is no such record, and whether it is a draft.
func (p place) absent(folder, slug, what string) string {
	if status := p.Drafts[folder+"/"+slug]; status != "" {
		return fmt.Sprintf("%s %q is %s; publish it first, or remove the link", what, slug, status)
	}
	return fmt.Sprintf("there is no %s %q", what, brief(slug))
}

// section adds the anchor of a section of a text, which is parsed once, to an address.
func (p place) section(address, file, body, where, fragment string) (_, reason string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	x := p.sections[file]
	if x == nil {
		x = &anchorIndex{}
		if doc := parse([]byte(body)); doc != nil {
			x = doc.indexSections(doc.split())
		}
		p.sections[file] = x
	}
	id, found := x.find(fragment)
	if !found {
		return "", x.hint(where, fragment)
	}
	return address + "#" + id, ""
}

func withQuery(address string, u *url.URL) string {
	if u.RawQuery != "" {
		return address + "?" + u.RawQuery
	}
	return address
}

func fragmentOf(u *url.URL) string {
	if u.Fragment == "" {
		return ""
	}
	return "#" + u.EscapedFragment()
}
