package desk

import (
	"context"
	"crypto/subtle"
	"errors"
	"net/http"
	"path"
	"strings"
	"time"

	"palmares/internal/account"
	"palmares/internal/accountsite"
	"palmares/internal/deskdb"
	"palmares/internal/edition"
	"palmares/internal/forms"
	"palmares/internal/picture"
	"palmares/internal/sqldb"
)

// ErrStranger is the error of Config.Visitor if nobody is signed in.
var ErrStranger = errors.New("nobody is signed in")

// Guests returns Config.Visitor for people with an account and a role.
func Guests(accounts *accountsite.Handler, editors *deskdb.Editors) func(http.ResponseWriter, *http.Request) (Visitor, error) {
	return func(w http.ResponseWriter, r *http.Request) (Visitor, error) {
		guest, err := accounts.Guest(w, r)
		if err != nil {
			return Visitor{}, errors.Join(context.DeadlineExceeded, err) // it cannot be known at the moment
		}
		if guest == nil {
			return Visitor{}, ErrStranger
		}
		e, err := editors.Find(r.Context(), guest.Account.Email)
		if errors.Is(err, sqldb.ErrNotFound) {
			return Visitor{Token: guest.FormToken}, nil
		}
		return Visitor{Email: e.Email, Name: e.Name, Role: e.Role, Token: guest.FormToken}, err
	}
}

// The limits of one request. A record has at most a mebibyte, and each byte of its text takes up to
// three in a form.
const (
	maxForm        = 4 << 20
	maxUpload      = picture.MaxBytes + 64<<10
	requestTimeout = 50 * time.Second // the git server of a publication may be slow
)

// A request is one HTTP request and who sent it.
type request struct {
	*forms.Request
	Visitor
	isLocal bool
	folder  *edition.Edition // as it is now
}

// isScript reports whether our script sent the request, which reads JSON.
func (r *request) isScript() bool { return r.Header.Get("Accept") == jsonType }

type (
	response = forms.Response
	failure  = forms.Failure
	pageFunc func(*request) (*response, error)
)

var seeOther = forms.SeeOther

func (d *desk) handle(role account.Role, page pageFunc) func(http.ResponseWriter, *forms.Request) *response {
	return func(w http.ResponseWriter, fr *forms.Request) *response {
		r := &request{Request: fr, isLocal: d.isLocal()}
		a, err := d.run(w, r, role, page)
		if err != nil {
			a = d.failure(r, err)
		}
		return a
	}
}

// run identifies the visitor, checks what she may do and where a form came from, and calls the page.
func (d *desk) run(w http.ResponseWriter, r *request, role account.Role, page pageFunc) (_ *response, err error) {
	if d.Folder == nil {
		return nil, errClosed
	}
	if role == "" {
		return page(r)
	}
	r.Visitor, err = d.Config.Visitor(w, r.Request.Request)
	switch isForm := r.Method == http.MethodPost; {
	case errors.Is(err, ErrStranger) && isForm:
		return nil, errSessionEnded
	case errors.Is(err, ErrStranger):
		return &response{Status: http.StatusSeeOther, Location: accountsite.SignInPath(r.URL.Path)}, nil
	case err != nil:
		return nil, err
	case !r.Role.Includes(role):
		return nil, errNoPage // also for authors where only editors may go
	case isForm:
		err = r.ReadForm(w, maxForm, maxUpload, requestTimeout)
		if err != nil {
			return nil, errUnreadableForm
		}
		if subtle.ConstantTimeCompare([]byte(r.PostFormValue("jeton")), []byte(r.Token)) != 1 { // from a page of another session
			return nil, errSessionEnded
		}
	}
	if r.isLocal && r.Method == http.MethodGet && !strings.HasPrefix(r.URL.Path, copiesPath) { // she may have saved
		d.Editions.Forget("")
	}
	if err == nil {
		r.folder, err = d.Editions.Now(r.Context())
	}
	if err != nil {
		return nil, err
	}
	return page(r)
}

// notFound is for unknown paths, and methods that a path does not have.
func (d *desk) notFound(r *request) (*response, error) {
	if a := r.Cleaned(); a != nil {
		return a, nil
	}
	return nil, errNoPage
}

// failures are the pages of the errors of packages below, the most specific first.
var failures = []forms.Known{
	forms.On(sqldb.ErrNotFound, errNoPage),
	forms.On(context.DeadlineExceeded, errUnavailable),
	forms.On(context.Canceled, errUnavailable), // the client is gone
	{Is: sqldb.IsOutage, Page: errUnavailable},
}

// The pages of failures that are always the same.
var (
	errUnavailable = &failure{
		Status: http.StatusServiceUnavailable, Title: "Rédaction indisponible",
		Text: "La rédaction est momentanément indisponible, et rien n’a été fait. Gardez cette page ouverte et réessayez " +
			"dans une minute.",
	}
	errClosed = &failure{
		Status: http.StatusServiceUnavailable, Title: "Rédaction fermée",
		Text: "La rédaction est fermée\u00a0: le service a besoin d’une intervention de son exploitant, et l’a consigné. L’API " +
			"et le site, eux, répondent.",
	}
	errNoPage = &failure{
		Status: http.StatusNotFound, Title: "Page introuvable",
		Text: "Cette adresse ne mène à aucune page de la rédaction, ou ce qu’elle montrait n’existe plus.",
	}
	errCrossOrigin = &failure{
		Status: http.StatusForbidden, Title: "Demande refusée", Text: "Cette demande vient d’un autre site que le nôtre\u00a0: par prudence, rien n’a été fait. Si c’est bien ce " +
			"que vous vouliez, ouvrez la rédaction ici et recommencez.",
	}
	errSessionEnded = &failure{
		Status: http.StatusForbidden, Title: "Session terminée", Text: "Votre session s’est terminée pendant que cette page était ouverte\u00a0: rien n’a été fait. Copiez " +
			"d’abord ce que vous avez écrit, au besoin en revenant à la page précédente. Reconnectez-vous ensuite dans un autre " +
			"onglet, puis rechargez celui-ci.",
	}
	errUnreadableForm = &failure{
		Status: http.StatusBadRequest, Title: "Formulaire illisible", Text: "Le formulaire est trop grand ou abîmé\u00a0: rien n’a été fait. Un texte a au plus un mégaoctet, une image " +
			"dix. Revenez à la page et recommencez.",
	}
)

// refused is the failure of a form that asks for something impossible.
func refused(text string) *failure {
	return &failure{Status: http.StatusUnprocessableEntity, Title: "À corriger", Text: text}
}

type failurePage struct {
	page
	Text string
	Back string // the page of the form; "" for none
}

// formPage returns the page whose form a request sent: the one at its address, or the nearest above it.
func (d *desk) formPage(r *request) string {
	at := r.URL.Path
	if last := path.Base(at); last == "accord" || last == "retour" {
		at = path.Dir(at) + "/relecture"
	}
	for ; len(at) > len(homePath); at = path.Dir(at) {
		if strings.HasPrefix(d.shell.Pattern(http.MethodGet, at), "GET ") {
			return at
		}
	}
	return ""
}

// failure returns the page of an error, or its sentence for our script.
func (d *desk) failure(r *request, err error) *response {
	f := d.shell.Failure(r.Request, err)
	if r.isScript() {
		return writeJSON(f.Status, map[string]string{"error": f.Text})
	}
	data := failurePage{page: r.page(f.Title), Text: f.Text}
	data.Notice = "" // whatever was done before, this was not
	if f.Status == http.StatusUnprocessableEntity && r.Method == http.MethodPost {
		data.Back = d.formPage(r)
	}
	a := render("failure", data)
	a.Status = f.Status
	return a
}
