package markdown

import (
	"net/url"
	"path"
	"slices"
	"strings"
	"unicode"

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
		return 0, "", problem.New("link-odd", written)
	}
	switch scheme := strings.ToLower(u.Scheme); {
	case (scheme == "http" || scheme == "https") && u.Host != "", scheme == "mailto" && u.Opaque != "":
		return elsewhere, "", nil
	case scheme != "":
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
}

func (d *document) indexSections(sections []section) *anchorIndex {
	x := &anchorIndex{known: map[string]bool{}, github: map[string]string{}}
	for _, s := range sections {
		x.ids = append(x.ids, s.id)
		x.known[s.id] = true
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

// hint says which sections a text has.
func (x *anchorIndex) hint(where problem.Text) problem.Text {
	const limit = 8
	ids := strings.Join(x.ids[:min(len(x.ids), limit)], ", #")
	if len(x.ids) > limit {
		ids += ", …"
	}
	if ids == "" {
		return problem.New("no-sections", where)
	}
	return problem.New("sections", where, ids)
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
	case written == "":
		return "", problem.New("picture-empty")
	case err != nil || u.Scheme == "" && u.Host == "" && strings.ContainsRune(u.Path, '\\'):
		return "", problem.New("picture-odd", written)
	case u.Host != "" || u.Scheme != "":
		return "", problem.New("picture-elsewhere", written)
	}
	file = path.Join(folder, u.Path)
	if strings.HasPrefix(u.Path, "/") {
		file = strings.TrimPrefix(path.Clean(u.Path), "/")
	}
	if rest, ok := strings.CutPrefix(file, imageFolder+"/"); !ok || rest == "" {
		return "", problem.New("picture-not-in-images", written)
	}
	return file, nil
}

// MediaPath returns the address of a stored picture or a smaller version of it.
func MediaPath(name, ext string) string { return "/media/" + name + "." + ext }
