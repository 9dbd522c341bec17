package site

import (
	"errors"
	"net/http"

	"palmares/internal/markdown"
)

// A failure is an error page: what is wrong and what to do about it.
type failure struct {
	status int
	title  string
	text   string
	cache  string
	link   *link // to a related page; may be nil
}

func (f *failure) Error() string { return f.text }

func notFound(text string) *failure {
	return &failure{status: http.StatusNotFound, title: "Page introuvable", text: text, cache: cacheNotFound}
}

func methodNotAllowed() *failure {
	return &failure{
		status: http.StatusMethodNotAllowed, title: "Méthode refusée", cache: noStore,
		text: "Cette page se lit seulement\u00a0: demandez-la avec GET ou HEAD.",
	}
}

type failurePage struct {
	Page   page
	Status int
	Text   string
	Link   *link
}

// failure renders an error page. Any other error panics, for the server to log and
// answer 500.
func (s *Site) failure(r *request, err error) *answer {
	var f *failure
	if !errors.As(err, &f) {
		panic(err)
	}
	var a *answer
	if r.markdown {
		a = f.markdown()
	} else {
		p := s.page(r, f.title, f.text, r.URL.Path)
		p.Canonical, p.NoIndex = "", true
		a = render(r, "failure", p, failurePage{Page: p, Status: f.status, Text: f.text, Link: f.link})
	}
	a.status, a.cache = f.status, f.cache
	return a
}

func (f *failure) markdown() *answer {
	text := "# " + markdown.Escape(f.title) + "\n\n" + markdown.Escape(f.text) + "\n"
	if f.link != nil {
		text += "\n- [" + markdown.Escape(f.link.Text) + "](" + markdownPath(f.link.Href) + ")\n"
	}
	return newAnswer(markdownType, []byte(text))
}
