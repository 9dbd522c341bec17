package site

import (
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strings"

	"palmares/internal/catalog"
)

// A failure is an error page: what is wrong and what to do about it.
type failure struct {
	Status int
	title  string
	text   string
	cache  string
	Link   *link // to a related page; may be nil
}

func (f *failure) Error() string { return f.text }

func notFound(text string) *failure {
	return &failure{Status: http.StatusNotFound, title: "Page introuvable", text: text, cache: cacheNotFound}
}

// notFound responds to an address without a page, and names the place of data to whoever asks for a file.
func (r *request) notFound(text string) *failure {
	if strings.HasSuffix(r.URL.Path, ".csv") || strings.HasSuffix(r.URL.Path, ".json") {
		text = "Cette adresse n’a pas de fichier. Toutes les données du catalogue se téléchargent sur la page «\u00a0Données\u00a0» (/donnees)."
	}
	return notFound(text)
}

// suggest names the page that was probably meant.
func (f *failure) suggest(to link) {
	f.Link, f.text = &to, f.text+" Vouliez-vous dire «\u00a0"+to.Text+"\u00a0»\u202f?"
}

// suggestNear suggests the page whose slug is nearest to a given one, if one is near.
func (f *failure) suggestNear(given string, pages iter.Seq2[string, link]) {
	most := min(maxTypos, len(given)/3+1)
	best := most + 1
	var found link
	for slug, to := range pages {
		if d := catalog.EditDistance(given, slug, best-1); d < best && d < len(slug) {
			best, found = d, to
		}
	}
	if best <= most {
		f.suggest(found)
	}
}

// maxTypos is how many letters of an address may be wrong for a page to be suggested.
const maxTypos = 3

func methodNotAllowed() *failure {
	return &failure{
		Status: http.StatusMethodNotAllowed, title: "Méthode refusée", cache: noStore,
		text: "Cette page se lit seulement\u00a0: demandez-la avec GET ou HEAD.",
	}
}

func unavailable(title, text string) *failure {
	return &failure{Status: http.StatusServiceUnavailable, title: title, cache: noStore, text: text}
}

// failure returns an error page. Any other error panics, for the server to log and
// send 500. The page does not depend on the address, which anybody can invent, so
// that it is rendered once.
func (s *Site) failure(r *request, err error) *response {
	var f *failure
	if !errors.As(err, &f) {
		panic(err)
	}
	p := s.page(r, f.title, f.text, r.URL.Path)
	p.Canonical, p.Path, p.NoIndex = "", "", true
	if !slices.ContainsFunc(p.Menus.Header, func(l link) bool { return l.Href == p.Section }) {
		p.Section = ""
	}
	key := fmt.Sprint(f.Status, r.markdown, p.Section, f.text, f.Link) // not a path, which begins with a slash
	a, _ := r.cachedPage(key, func() (*response, error) {              // which does not fail
		a := render(r, "failure", p, f)
		a.status, a.cache = f.Status, f.cache
		return a, nil
	})
	return a
}
