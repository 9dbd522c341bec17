package accountsite

import (
	"errors"
	"slices"

	"palmares/internal/guard"
	"palmares/internal/problem"
	"palmares/internal/webhook"
)

// typeTexts explain each event type to whoever chooses among them.
var typeTexts = map[string]string{
	"tool.created":           "un outil arrive",
	"tool.updated":           "une fiche change",
	"tool.retired":           "un outil part au cimetière",
	"tool.restored":          "il en revient",
	"tool.removed":           "il disparaît du catalogue",
	"pricing.updated":        "un prix change",
	"comparatif.published":   "un comparatif paraît",
	"comparatif.updated":     "il change",
	"comparatif.unpublished": "il est retiré",
	"article.published":      "un article paraît",
	"article.updated":        "il change",
	"article.removed":        "il est retiré",
	"review.updated":         "un avis est réécrit",
	"page.updated":           "une page de l’éditeur paraît ou change",
	"embeddings.updated":     "les extraits d’un avis changent",
	"catalog.updated":        "une publication a eu lieu, avec ses totaux",
}

// endpointForm is the form that creates or changes an endpoint.
type endpointForm struct {
	New          bool
	Action       string
	Newest       string // see keyForm
	URL          string // as typed
	URLProblem   string
	All          bool
	Types        []typeChoice
	TypesProblem string
}

type typeChoice struct {
	Name, Text string
	Chosen     bool
}

func newEndpointForm(action, url string, events []string) *endpointForm {
	f := &endpointForm{Action: action, URL: url, All: events == nil}
	for _, name := range webhook.Types {
		f.Types = append(f.Types, typeChoice{name, typeTexts[name], slices.Contains(events, name)})
	}
	return f
}

// readEndpoint validates the form. It returns the form with its problems, or nil if
// there are none.
func (p *endpoints) readEndpoint(r *request, action string) (url string, events []string, rejected *endpointForm) {
	if r.PostForm.Get("portee") == "choix" {
		events = append([]string{}, r.PostForm["type"]...)
	}
	f := newEndpointForm(action, r.PostForm.Get("url"), events)
	url, err := guard.CheckURL(f.URL, p.Allow)
	var invalid *guard.URLError
	if errors.As(err, &invalid) {
		f.URLProblem = problem.New(invalid.Code).French
	}
	unknown := func(name string) bool { return !slices.Contains(webhook.Types, name) }
	if events != nil && (len(events) == 0 || slices.ContainsFunc(events, unknown)) {
		f.TypesProblem = "Cochez au moins un événement, ou choisissez-les tous. Pour ne rien recevoir, mettez en pause."
	}
	if f.URLProblem == "" && f.TypesProblem == "" {
		return url, events, nil
	}
	return "", nil, f
}
