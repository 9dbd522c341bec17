package accountsite

import (
	"context"
	"errors"
	"net/http"

	"palmares/internal/accountdb"
	"palmares/internal/sqldb"
)

// A failure is an error page: what is wrong and what to do about it.
type failure struct {
	status int
	title  string
	text   string
	form   bool   // show the sign-in form
	allow  string // value of Allow
}

func (f *failure) Error() string { return f.text }

func notFound(text string) *failure {
	return &failure{status: http.StatusNotFound, title: "Page introuvable", text: text}
}

func noPage() *failure { return notFound("Cette adresse ne mène à aucune page du compte.") }

func methodNotAllowed(allow string) *failure {
	return &failure{
		status: http.StatusMethodNotAllowed, title: "Méthode refusée",
		text: "Cette adresse ne s’utilise pas ainsi. Passez par les pages du compte.", allow: allow,
	}
}

func crossOrigin() *failure {
	return &failure{
		status: http.StatusForbidden, title: "Demande refusée",
		text: "Cette demande vient d’un autre site que le nôtre\u00a0: par prudence, " +
			"rien n’a été fait. Si c’est bien ce que vous vouliez, ouvrez le formulaire sur ce site et envoyez-le de nouveau.",
	}
}

func sessionEnded() *failure {
	return &failure{
		status: http.StatusForbidden, title: "Session terminée", form: true,
		text: "Votre session s’est terminée pendant que cette page était ouverte\u00a0: " +
			"rien n’a été fait. Reconnectez-vous, puis recommencez.",
	}
}

func unreadableForm() *failure {
	return &failure{
		status: http.StatusBadRequest, title: "Formulaire illisible",
		text: "Le formulaire est trop grand ou abîmé\u00a0: rien n’a été fait. Revenez à la page et recommencez.",
	}
}

func gone(text string) *failure {
	return &failure{status: http.StatusGone, title: "Ce lien ne sert plus", text: text, form: true}
}

// failures are the pages of the store's errors, the most specific first. Any other
// error is a bug: it is logged, and visitors see nothing of it.
var failures = []struct {
	err  error
	page *failure
}{
	{accountdb.ErrLinkUsed, gone("Il a déjà servi, et un lien ne sert qu’une fois. Si c’était vous à " +
		"l’instant, ouvrez simplement votre compte\u202f; sinon, demandez-en un autre.")},
	{accountdb.ErrLinkExpired, gone("Il a plus de 15\u00a0minutes. Demandez-en un autre.")},
	{sqldb.ErrNotFound, notFound("Ce que vous cherchez n’existe pas, ou plus.")},
	{accountdb.ErrPlan, &failure{
		status: http.StatusForbidden, title: "Webhooks",
		text: "La formule de ce compte ne comprend pas les webhooks\u00a0: rien n’a été fait.",
	}},
	{accountdb.ErrKeyRate, &failure{
		status: http.StatusTooManyRequests, title: "Trop de clés",
		text: "Ce compte a créé 50\u00a0clés en 24\u00a0heures, le plus qu’il puisse\u00a0: rien n’a été fait. " +
			"Recommencez demain.",
	}},
	{context.DeadlineExceeded, unavailable},
	{context.Canceled, unavailable}, // the client is gone
}

var unavailable = &failure{
	status: http.StatusServiceUnavailable, title: "Compte indisponible",
	text: "Le compte est momentanément indisponible, et rien n’a été fait. Réessayez dans une minute. L’API et " +
		"le site, eux, répondent.",
}

// broken is unavailable until somebody acts.
var broken = &failure{
	status: http.StatusServiceUnavailable, title: "Compte indisponible",
	text: "Le compte est indisponible, et rien n’a été fait\u00a0: le service a besoin d’une intervention de son " +
		"exploitant, et l’a consigné. L’API et le site, eux, répondent.",
}

// outage returns the page for a store that cannot be used.
func outage(err error) *failure {
	if sqldb.IsPermanent(err) {
		return broken
	}
	return unavailable
}

type failurePage struct {
	page
	Text string
	Form *signInForm // nil if signing in would not help
}

func (p *pages) failure(r *request, err error) *response {
	var f *failure
	if !errors.As(err, &f) {
		f = p.explain(r, err)
	}
	data := failurePage{page: r.page(f.title), Text: f.text}
	data.Notice = ""
	if f.form && r.owner == nil {
		data.Form = p.form(r, "", "")
	}
	a := render("failure", data)
	a.status, a.allow = f.status, f.allow
	return a
}

// explain returns the failure for an error, and logs it if it is ours.
func (p *pages) explain(r *request, err error) *failure {
	found := &failure{
		status: http.StatusInternalServerError, title: "Erreur interne",
		text: "Une erreur interne s’est produite\u202f; elle est consignée. Réessayez plus tard.",
	}
	if sqldb.IsOutage(err) {
		found = outage(err)
	}
	for _, known := range failures {
		if errors.Is(err, known.err) {
			found = known.page
			break
		}
	}
	if found.status >= http.StatusInternalServerError && !errors.Is(err, context.Canceled) {
		p.Log.Error("an account page failed", "method", r.Method, "path", r.URL.Path, "error", err)
	}
	return found
}
