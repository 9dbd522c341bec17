package markdown

import (
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"golang.org/x/text/unicode/norm"

	"palmares/internal/catalog"
	"palmares/internal/problem"
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
	Drafts map[string]problem.Text
	Unread map[string]bool

	once    sync.Once
	records map[string]*target // by folder and slug or alias, as outils/plume; categories, too

	mu       sync.Mutex
	sections map[string]*anchorIndex // by file
}

// In returns the resolver of the texts in a folder, such as outils; "" is the root.
func (a *Addresses) In(folder string) Resolver { return place{a, folder} }

func (a *Addresses) index() {
	c := a.Catalog
	a.records, a.sections = map[string]*target{}, map[string]*anchorIndex{}
	for _, k := range catalog.WrittenKinds {
		isDraft := func(record any) bool { return *catalog.ValueOf[bool](k.Fields, catalog.Draft, record) }
		for i := range k.Len(c) {
			record := k.At(c, i)
			x := a.add(k.Folder, k.Slug(record), k.Body(record), k.Aliases(record))
			x.isHidden = k.IsUnpublished(record) && !isDraft(record)
		}
	}
	for _, k := range c.Categories {
		a.add("categories", k.Slug, "", k.Aliases)
	}
}

// A target is a record that a link may lead to.
type target struct {
	slug, body string
	isHidden   bool // it is not published
}

// add adds a record by its slug and by its aliases, which must not hide what has one of them as its slug.
func (a *Addresses) add(folder, slug, body string, aliases []string) *target {
	x := &target{slug: slug, body: body}
	for _, alias := range aliases {
		if a.records[folder+"/"+alias] == nil {
			a.records[folder+"/"+alias] = x
		}
	}
	a.records[folder+"/"+slug] = x
	return x
}

type place struct {
	*Addresses
	folder string
}

// Picture implements Resolver.
func (p place) Picture(destination string) (catalog.Picture, error) {
	file, reason := PicturePath(p.folder, destination)
	if reason != nil {
		return catalog.Picture{}, reason
	}
	picture, ok := p.pictureAt(file)
	if !ok {
		return catalog.Picture{}, problem.New("picture-absent", brief(destination), file, "")
	}
	return picture, nil
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
func (p place) Link(destination string) (address string, reason error) {
	p.once.Do(p.index)
	fail := func(reason error) (string, error) {
		return "", problem.New("link-leads-nowhere", brief(destination), reason)
	}
	u, err := parseURL(destination)
	if err != nil {
		return fail(problem.New("no-address"))
	}
	if u.Host != "" {
		rest, ok := under(p.Catalog.URL, u)
		if !ok {
			return fail(problem.New("on-another-site"))
		}
		u.Path = rest
	}
	if strings.HasPrefix(u.Path, "/") {
		address, reason = p.page(u)
	} else {
		file := path.Join(p.folder, u.Path)
		if file == ".." || strings.HasPrefix(file, "../") {
			return fail(problem.New("leaves-folder"))
		}
		address, reason = p.file(file, u)
	}
	if reason != nil {
		return fail(reason)
	}
	return address, nil
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
	k := catalog.KindIn(first)
	return ok && (k != nil && k.List != "" || slices.Contains([]string{"avis", "alternatives", "categories"}, first))
}

// file returns the address of a file of the folder.
func (p place) file(file string, u *url.URL) (address string, reason error) {
	folder, name, _ := strings.Cut(file, "/")
	slug, isMarkdown := strings.CutSuffix(name, markdownExt)
	kind := catalog.KindIn(folder)
	switch {
	case folder == imageFolder && name != "":
		if picture, ok := p.pictureAt(file); ok {
			return MediaPath(picture.Hash, picture.Ext), nil
		}
		return "", problem.New("does-not-exist", file)
	case name == "" && folder == "cimetiere" && u.Fragment != "":
		return p.retiredTool(u.Fragment)
	case name == "" && kind != nil && kind.List != "":
		return withQuery("/"+folder, u), nil
	case !isMarkdown || kind == nil:
		return "", problem.New("not-a-page", file)
	}
	if folder == "outils" {
		return p.tool(slug, folder, u)
	}
	return p.record(folder, slug, u)
}

const markdownExt = ".md"

// productPages are the addresses of the site and of the API that no record makes, beside the lists of kinds.
// Those of one person, such as /compte/cles/…, are none that a text can link to.
var productPages = map[string]bool{
	"/": true, "/carte": true, "/comparer": true, "/confidentialite": true, "/docs": true, "/docs/assistants": true,
	"/docs/categories": true, "/docs/cimetiere": true, "/docs/comparatifs": true, "/docs/description": true,
	"/docs/donnees": true, "/docs/embeddings": true, "/docs/en-tetes": true, "/docs/erreurs": true,
	"/docs/outils": true, "/docs/prix": true, "/docs/statistiques": true, "/docs/webhooks": true, "/donnees": true,
	"/calendrier.ics": true, "/flux.atom": true, "/licence": true, "/llms.txt": true, "/prix": true, "/robots.txt": true,
	"/signaler": true, "/suivre": true,
	"/sitemap.xml": true, "/tarifs": true,
	"/.well-known/security.txt": true, "/.well-known/tdmrep.json": true, "/apple-touch-icon.png": true, "/favicon.ico": true,

	"/compte": true, "/compte/adieu": true, "/compte/cles": true, "/compte/connexion": true, "/compte/courriel": true,
	"/compte/donnees": true, "/compte/donnees.json": true, "/compte/pro": true, "/compte/sessions": true,
	"/compte/suppression": true, "/compte/usage": true, "/compte/webhooks": true,

	"/data/v1/export": true, "/data/v1/openapi.json": true,

	"/api/v1/categories": true, "/api/v1/cimetiere": true, "/api/v1/comparatifs": true, "/api/v1/openapi.json": true,
	"/api/v1/pricing": true, "/api/v1/stats": true, "/api/v1/tools": true, "/webhooks/v1/openapi.json": true,
}

func (p place) page(u *url.URL) (address string, reason error) {
	clean := path.Clean(u.Path)
	first, rest, _ := strings.Cut(clean[1:], "/")
	slug, name := strings.TrimSuffix(rest, markdownExt), strings.TrimSuffix(first, markdownExt)
	kind := catalog.KindIn(first)
	isList := catalog.KindIn(name) != nil && catalog.KindIn(name).List == "/"+name
	switch {
	case rest == "" && (p.records["pages/"+name] != nil || p.Unread["pages/"+name] || !productPages["/"+name] && !isList):
		return p.record("pages", name, u)
	case rest == "" && name == "cimetiere" && u.Fragment != "":
		return p.retiredTool(u.Fragment)
	case rest == "":
		return withQuery("/"+name, u) + fragmentOf(u), nil
	case first == "outils" && toolFile.MatchString(rest):
		return p.toolFile(rest)
	case first == "outils" || first == "avis" || first == "alternatives":
		return p.tool(slug, first, u)
	case kind != nil && kind.List != "":
		return p.record(first, slug, u)
	case first == "categories":
		slug = strings.TrimSuffix(slug, ".atom")
		current := p.records["categories/"+slug]
		if current == nil {
			return "", problem.New("no-such-category", brief(slug))
		}
		return withQuery("/categories/"+current.slug+rest[len(slug):], u), nil
	case first == imageFolder:
		return p.file(clean[1:], u)
	case first == "media":
		if !p.isMedia(rest) {
			return "", problem.New("media-address")
		}
	case first == "api" && !productPages[clean]:
		return p.operation(clean, u)
	case !productPages[clean]:
		return "", problem.New("no-such-page")
	}
	return withQuery(clean, u) + fragmentOf(u), nil
}

// operationFolders are the folders of the records that operations of the API return.
var operationFolders = map[string]string{
	"/api/v1/tools/": "outils", "/api/v1/pricing/": "outils", "/api/embeddings/": "outils",
	"/api/v1/comparatifs/": "comparatifs",
}

func (p place) operation(clean string, u *url.URL) (address string, reason error) {
	dir, slug := path.Split(clean)
	folder := operationFolders[dir]
	if folder == "" {
		return "", problem.New("no-such-operation")
	}
	if x := p.records[folder+"/"+slug]; x != nil && !x.isHidden {
		slug = x.slug
	} else if !p.Unread[folder+"/"+slug] {
		return "", p.absent(folder, slug)
	}
	return withQuery(dir+slug, u), nil
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

// retiredTool returns the address of a retired tool from its anchor in the list, or of a section of its obituary.
func (p place) retiredTool(anchor string) (address string, reason error) {
	slug, section, _ := strings.Cut(anchor, ".")
	return p.record("cimetiere", slug, &url.URL{Fragment: section})
}

// tool returns the address of a page of a tool: outils, avis or alternatives.
func (p place) tool(slug, under string, u *url.URL) (address string, reason error) {
	t := p.records["outils/"+slug]
	switch {
	case p.Unread["outils/"+slug]:
		return "/" + under + "/" + slug + fragmentOf(u), nil
	case t == nil && p.records["cimetiere/"+slug] != nil:
		return "/cimetiere/" + slug, nil
	case t == nil:
		return "", p.absent("outils", slug)
	}
	if u.Fragment == "" {
		if under == "avis" && t.body == "" {
			return "", problem.New("no-review", t.slug, t.slug)
		}
		return withQuery("/"+under+"/"+t.slug, u), nil
	}
	if under == "alternatives" {
		return "", problem.New("alternatives-without-sections", brief(u.Fragment))
	}
	return p.section("/avis/"+t.slug, "outils/"+t.slug, t.body, problem.New("review-of", t.slug), u.Fragment)
}

// toolFile matches what follows the slug in the addresses of the feed and the badge of a tool.
var toolFile = regexp.MustCompile(`\.atom$|/badge\.svg$`)

// toolFile returns the address of the feed of a tool, which a retired one has, too, or of its badge.
func (p place) toolFile(rest string) (address string, reason error) {
	slug := toolFile.ReplaceAllString(rest, "")
	current, isFeed := slug, strings.HasSuffix(rest, ".atom")
	if t := p.records["outils/"+slug]; t != nil {
		current = t.slug
	} else if !p.Unread["outils/"+slug] && (p.records["cimetiere/"+slug] == nil || !isFeed) {
		return "", p.absent("outils", slug)
	}
	return "/outils/" + current + rest[len(slug):], nil
}

// record returns the address of a record that is not a tool, or of a section of its text.
func (p place) record(folder, slug string, u *url.URL) (address string, reason error) {
	under := catalog.KindIn(folder).Address
	x := p.records[folder+"/"+slug]
	switch {
	case p.Unread[folder+"/"+slug]:
		return under + slug + fragmentOf(u), nil
	case x == nil:
		return "", p.absent(folder, slug)
	case x.isHidden:
		return "", problem.New("comparison-hidden", x.slug)
	}
	address = withQuery(under+x.slug, u)
	if u.Fragment == "" {
		return address, nil
	}
	file := folder + "/" + x.slug
	where := problem.Words(file + markdownExt)
	if folder == "cimetiere" {
		where = problem.New("obituary-of", x.slug)
	}
	return p.section(address, file, x.body, where, u.Fragment)
}

// absent says that there is no such record, and whether it is a draft.
func (p place) absent(folder, slug string) error {
	if status, ok := p.Drafts[folder+"/"+slug]; ok {
		return problem.New("hidden-"+folder, slug, status)
	}
	return problem.New("no-"+folder, brief(slug))
}

// section adds the anchor of a section of a text, which is parsed once, to an address.
func (p place) section(address, file, body string, where problem.Text, fragment string) (_ string, reason error) {
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
		return "", x.hint(where)
	}
	return address + "#" + id, nil
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
