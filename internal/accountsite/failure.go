package accountsite

import (
	"context"
	"net/http"

	"palmares/internal/accountdb"
	"palmares/internal/forms"
	"palmares/internal/sqldb"
)

func notFound(text string) *failure {
	return &failure{Status: http.StatusNotFound, Title: "Page introuvable", Text: text}
}

func noPage() *failure { return notFound("Cette adresse ne mène à aucune page du compte.") }

func methodNotAllowed(allow string) *failure {
	return &failure{
		Status: http.StatusMethodNotAllowed, Title: "Méthode refusée",
		Text: "Cette adresse ne s’utilise pas ainsi. Passez par les pages du compte.", Allow: allow,
	}
}

func crossOrigin() *failure {
	return &failure{
		Status: http.StatusForbidden, Title: "Demande refusée",
		Text: "Cette demande vient d’un autre site que le nôtre\u00a0: par prudence, " +
			"rien n’a été fait. Si c’est bien ce que vous vouliez, ouvrez le formulaire sur ce site et envoyez-le de nouveau.",
	}
}

func sessionEnded() *failure {
	return &failure{
		Status: http.StatusForbidden, Title: "Session terminée", SignIn: true,
		Text: "Votre session s’est terminée pendant que cette page était ouverte\u00a0: " +
			"rien n’a été fait. Reconnectez-vous, puis recommencez.",
	}
}

func unreadableForm() *failure {
	return &failure{
		Status: http.StatusBadRequest, Title: "Formulaire illisible",
		Text: "Le formulaire est trop grand ou abîmé\u00a0: rien n’a été fait. Revenez à la page et recommencez.",
	}
}

func gone(text string) *failure {
	return &failure{Status: http.StatusGone, Title: "Ce lien ne sert plus", Text: text, SignIn: true}
}

// failures are the pages of the store's errors, the most specific first.
var failures = []forms.Known{
	forms.On(accountdb.ErrLinkUsed, gone("Il a déjà servi, et un lien ne sert qu’une fois. Si c’était vous à "+
		"l’instant, ouvrez simplement votre compte\u202f; sinon, demandez-en un autre.")),
	forms.On(accountdb.ErrLinkExpired, gone("Il a plus de 15\u00a0minutes. Demandez-en un autre.")),
	forms.On(sqldb.ErrNotFound, notFound("Ce que vous cherchez n’existe pas, ou plus.")),
	forms.On(accountdb.ErrPlan, &failure{
		Status: http.StatusForbidden, Title: "Webhooks",
		Text: "La formule de ce compte ne comprend pas les webhooks\u00a0: rien n’a été fait.",
	}),
	forms.On(accountdb.ErrKeyRate, &failure{
		Status: http.StatusTooManyRequests, Title: "Trop de clés",
		Text: "Ce compte a créé 50\u00a0clés en 24\u00a0heures, le plus qu’il puisse\u00a0: rien n’a été fait. " +
			"Recommencez demain.",
	}),
	forms.On(context.DeadlineExceeded, unavailable),
	forms.On(context.Canceled, unavailable), // the client is gone
	{Is: sqldb.IsPermanent, Page: broken},
	{Is: sqldb.IsOutage, Page: unavailable},
}

var unavailable = &failure{
	Status: http.StatusServiceUnavailable, Title: "Compte indisponible",
	Text: "Le compte est momentanément indisponible, et rien n’a été fait. Réessayez dans une minute. L’API et " +
		"le site, eux, répondent.",
}

// broken is unavailable until somebody acts.
var broken = &failure{
	Status: http.StatusServiceUnavailable, Title: "Compte indisponible",
	Text: "Le compte est indisponible, et rien n’a été fait\u00a0: le service a besoin d’une intervention de son " +
		"exploitant, et l’a consigné. L’API et le site, eux, répondent.",
}

type failurePage struct {
	page
	Text string
	Form *signInForm // nil if signing in would not help
}

func (p *pages) failure(r *request, err error) *response {
	f := p.shell.Failure(r.Request, err)
	data := failurePage{page: r.page(f.Title), Text: f.Text}
	data.Notice = ""
	if f.SignIn && r.owner == nil {
		data.Form = p.form(r, "", "")
	}
	a := render("failure", data)
	a.Status, a.Allow = f.Status, f.Allow
	return a
}

// conflict sets the status of the response to a form that cannot be carried out.
func conflict(a *response, err error) (*response, error) {
	if err == nil {
		a.Status = http.StatusConflict
	}
	return a, err
}
