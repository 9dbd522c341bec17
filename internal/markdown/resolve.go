package markdown

import (
	"net/url"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/util"

	"palmares/internal/catalog"
	"palmares/internal/problem"
)

// A Resolver knows the catalogue around a text and the folder in which the text is.
// The reader of a folder uses it to check a text, the site to render it, so that
// they agree. Its methods are given what the author wrote.
type Resolver interface {
	// Link returns the address of a destination, or the sentence that says why it
	// has none.
	Link(destination string) (address string, reason error)
	// Picture returns the picture at a path, or the sentence that says why there
	// is none.
	Picture(path string) (picture catalog.Picture, reason error)
}

// linkKind says who knows whether a link leads anywhere.
type linkKind int

const (
	elsewhere   linkKind = iota // another site or a mail address: nobody
	inText                      // a section of the same text
	inCatalogue                 // a Resolver
)

// classify returns the kind of a destination, or the reason why it is none that can
// be rendered, and the fragment of one in the same text.
func classify(destination []byte) (kind linkKind, fragment string, reason error) {
	written := brief(string(destination))
	u, err := parseURL(string(destination))
	switch {
	case err != nil:
		return 0, "", problem.New("link-odd", written)
	case written == "":
		return 0, "", problem.New("link-empty")
	case strings.ContainsRune(u.Path+u.Opaque, '\\') && (u.Scheme == "" || len(u.Scheme) == 1):
		return 0, "", problem.New("link-backslashes", written)
	}
	switch strings.ToLower(u.Scheme) {
	case "http", "https":
		if u.Host == "" {
			return 0, "", problem.New("link-no-host", written)
		}
		return elsewhere, "", nil
	case "mailto":
		if u.Opaque == "" {
			return 0, "", problem.New("link-no-mail", written)
		}
		return elsewhere, "", nil
	case "":
	default:
		return 0, "", problem.New("link-scheme", written)
	}
	switch {
	case u.Host != "":
		return elsewhere, "", nil
	case u.Path == "" && u.RawQuery == "":
		return inText, u.Fragment, nil
	}
	return inCatalogue, "", nil
}

// parseURL parses a destination as a page gets it: escapes and entities are resolved
// first, so that java&#115;cript: is recognised.
func parseURL(destination string) (*url.URL, error) {
	return url.Parse(string(util.URLEscape([]byte(destination), true)))
}

// under returns the path of a URL below the address of a site.
func under(site string, u *url.URL) (string, bool) {
	base, err := url.Parse(site)
	if err != nil || base.Host == "" || hostOf(base) != hostOf(u) {
		return "", false
	}
	rest, ok := strings.CutPrefix(u.Path, strings.TrimSuffix(base.Path, "/"))
	if rest == "" {
		rest = "/"
	}
	return rest, ok && rest[0] == '/'
}

// hostOf returns the host and the port of a URL, the port only if it is not that of the
// scheme.
func hostOf(u *url.URL) string {
	host := strings.ToLower(u.Host)
	switch strings.ToLower(u.Scheme) {
	case "http":
		return strings.TrimSuffix(host, ":80")
	case "https":
		return strings.TrimSuffix(host, ":443")
	}
	return host
}

// LinksTo returns the links of a text to a site, which are written with its host.
func (r Report) LinksTo(site string) []Link {
	return slices.DeleteFunc(slices.Clone(r.written), func(l Link) bool {
		u, err := parseURL(l.Destination)
		if err != nil {
			return true
		}
		_, isUnder := under(site, u)
		return !isUnder
	})
}

// anchorIndex finds the sections of a text.
type anchorIndex struct {
	ids    []string
	known  map[string]bool
	github map[string]string // id by GitHub's anchor
	minor  map[string]bool   // what the ids of headings below level 2 would be
}

func (d *document) indexSections(sections []section) *anchorIndex {
	x := &anchorIndex{known: map[string]bool{}, github: map[string]string{}, minor: map[string]bool{}}
	for _, s := range sections {
		x.ids = append(x.ids, s.id)
		x.known[s.id] = true
		for _, n := range s.blocks {
			if h, ok := n.(*ast.Heading); ok && h.Level > 2 {
				x.minor[headingID(h, d.source)] = true
			}
		}
		if s.heading == "" {
			continue
		}
		for _, name := range []string{githubID(s.heading), githubID(s.heading + " " + s.id)} { // GitHub takes {#id} for text
			if x.github[name] == "" {
				x.github[name] = s.id
			}
		}
	}
	return x
}

// find returns the id of the section that a fragment names: by its id, or as an
// editor or GitHub derive it from the heading.
func (x *anchorIndex) find(fragment string) (id string, found bool) {
	if x.known[fragment] {
		return fragment, true
	}
	if id := x.github[strings.ToLower(fragment)]; id != "" {
		return id, true
	}
	id = fold(fragment)
	return id, x.known[id] && id != "section"
}

// hint says which sections a text has, where it has none for a fragment.
func (x *anchorIndex) hint(where problem.Text, fragment string) problem.Text {
	const limit = 8
	ids := strings.Join(x.ids[:min(len(x.ids), limit)], ", #")
	if len(x.ids) > limit {
		ids += ", …"
	}
	hint := problem.New("sections", where, ids)
	if ids == "" {
		hint = problem.New("no-sections", where)
	}
	if x.minor[fragment] || x.minor[fold(fragment)] {
		return problem.New("only-level-2", hint)
	}
	return hint
}

// githubID returns the anchor that GitHub gives to a heading.
func githubID(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
}

// imageFolder holds the pictures of a catalogue.
const imageFolder = "images"

// PicturePath returns the path, from the root of the folder, of a picture that a
// text in folder shows, or the sentence that says why it cannot be in the folder.
func PicturePath(folder, destination string) (file string, reason error) {
	written := brief(destination)
	u, err := parseURL(destination)
	switch {
	case err != nil:
		return "", problem.New("picture-odd", written)
	case written == "":
		return "", problem.New("picture-empty")
	case strings.EqualFold(u.Scheme, "data"):
		return "", problem.New("picture-data")
	case u.Host != "" || u.Scheme != "":
		return "", problem.New("picture-elsewhere", written)
	case strings.ContainsRune(u.Path, '\\'):
		return "", problem.New("picture-backslashes", written)
	}
	file = path.Join(folder, u.Path)
	if strings.HasPrefix(u.Path, "/") {
		file = strings.TrimPrefix(path.Clean(u.Path), "/")
	}
	if rest, ok := strings.CutPrefix(file, imageFolder+"/"); !ok || rest == "" {
		return "", problem.New("picture-not-in-images", written, example(folder, path.Base(file)))
	}
	return file, nil
}

// example returns how a text in folder names a picture.
func example(folder, name string) string {
	if name == "." || name == ".." || name == "/" || name == imageFolder {
		name = "ecran.png"
	}
	if folder == "" {
		return imageFolder + "/" + name
	}
	return "../" + imageFolder + "/" + name
}

// MediaPath returns the address of a stored picture or a smaller version of it.
func MediaPath(name, ext string) string { return "/media/" + name + "." + ext }
