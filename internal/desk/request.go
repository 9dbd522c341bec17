package desk

import (
	"context"
	"crypto/subtle"
	"errors"
	"html/template"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"palmares/internal/account"
	"palmares/internal/accountsite"
	"palmares/internal/deskdb"
	"palmares/internal/picture"
	"palmares/internal/preview"
	"palmares/internal/site"
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
	*http.Request
	Visitor
	now     time.Time
	isLocal bool
	notice  string           // what the page says was done; "" for what its address says
	folder  *preview.Edition // as it is now
}

// isScript reports whether our script sent the request, which reads JSON.
func (r *request) isScript() bool { return r.Header.Get("Accept") == jsonType }

// A pageFunc returns a response or an error; it writes nothing itself.
type pageFunc func(*request) (*response, error)

// A response is a page, a redirect, or what a handler writes.
type response struct {
	status   int
	title    string
	content  template.HTML
	location string // of a redirect
	write    http.HandlerFunc
}

func (d *desk) handle(role account.Role, page pageFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, hr *http.Request) {
		ctx, cancel := context.WithTimeout(hr.Context(), requestTimeout)
		defer cancel()
		r := &request{Request: hr.WithContext(ctx), now: d.Now(), isLocal: d.isLocal()}
		a, err := d.run(w, r, role, page)
		if err != nil {
			a = d.failure(r, err)
		}
		d.write(w, r, a)
	}
}

// run identifies the visitor, checks what she may do and where a form came from, and calls the page.
func (d *desk) run(w http.ResponseWriter, r *request, role account.Role, page pageFunc) (_ *response, err error) {
	if role == "" {
		return page(r)
	}
	r.Visitor, err = d.Config.Visitor(w, r.Request)
	switch isForm := r.Method == http.MethodPost; {
	case errors.Is(err, ErrStranger) && isForm:
		return nil, sessionEnded()
	case errors.Is(err, ErrStranger):
		return &response{status: http.StatusSeeOther, location: accountsite.SignInPath(r.URL.Path)}, nil
	case err != nil:
		return nil, err
	case !r.Role.Includes(role):
		return nil, noPage() // also for authors where only editors may go
	case isForm:
		err = r.readForm(w)
	}
	if r.isLocal && r.Method == http.MethodGet && !strings.HasPrefix(r.URL.Path, copiesPath) { // she may have saved
		d.reading.forget()
	}
	if err == nil {
		r.folder, err = d.folder(r.Context())
	}
	if err != nil {
		return nil, err
	}
	return page(r)
}

// readForm reads the form of a request, and checks that a page of this session had it.
func (r *request) readForm(w http.ResponseWriter) error {
	limit := int64(maxForm)
	isUpload := false
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind == "multipart/form-data" {
		isUpload, limit = true, maxUpload
		// A phone on a bad line needs longer than other requests have. Tests read from memory.
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(requestTimeout))
	}
	r.Body = http.MaxBytesReader(w, r.Body, limit)
	var err error
	if isUpload {
		err = r.ParseMultipartForm(maxUpload)
	} else {
		err = r.ParseForm()
	}
	if err != nil {
		return unreadableForm()
	}
	if subtle.ConstantTimeCompare([]byte(r.PostFormValue("jeton")), []byte(r.Token)) != 1 {
		return sessionEnded()
	}
	return nil
}

func (d *desk) write(w http.ResponseWriter, r *request, a *response) {
	switch {
	case a.write != nil:
		a.write(w, r.Request)
	case a.location != "":
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Location", a.location)
		w.Header().Set("Content-Length", "0")
		w.WriteHeader(a.status)
	default:
		d.Site.ServeAccountPage(w, r.Request, site.AccountPage{
			Status: a.status, Title: a.title, Content: a.content, Desk: true,
		})
	}
}

// seeOther redirects to a page of ours, or a part of it, which says what was done: a key of notices, or "" for nothing.
func seeOther(path, done string) *response {
	path, part, _ := strings.Cut(path, "#")
	to := url.URL{Path: path, Fragment: part}
	if done != "" {
		to.RawQuery = url.Values{"fait": {done}}.Encode()
	}
	return &response{status: http.StatusSeeOther, location: to.String()}
}

// notFound is for unknown paths, and methods that a path does not have.
func (d *desk) notFound(r *request) (*response, error) {
	if clean := strings.TrimRight(r.URL.Path, "/"); clean != r.URL.Path && r.Method == http.MethodGet {
		return seeOther(clean, ""), nil
	}
	return nil, noPage()
}

// A failure is an error page: what is wrong and what to do about it.
type failure struct {
	status int
	title  string
	text   string
}

func (f *failure) Error() string { return f.text }

func noPage() *failure {
	return &failure{
		http.StatusNotFound, "Page introuvable",
		"Cette adresse ne mène à aucune page de la rédaction, ou ce qu’elle montrait n’existe plus.",
	}
}

func crossOrigin() *failure {
	return &failure{
		http.StatusForbidden, "Demande refusée",
		"Cette demande vient d’un autre site que le nôtre\u00a0: par prudence, rien n’a été fait. Si c’est bien ce " +
			"que vous vouliez, ouvrez la rédaction ici et recommencez.",
	}
}

func sessionEnded() *failure {
	return &failure{
		http.StatusForbidden, "Session terminée",
		"Votre session s’est terminée pendant que cette page était ouverte\u00a0: rien n’a été fait. Copiez " +
			"d’abord ce que vous avez écrit, au besoin en revenant à la page précédente. Reconnectez-vous ensuite dans un autre " +
			"onglet, puis rechargez celui-ci.",
	}
}

func unreadableForm() *failure {
	return &failure{
		http.StatusBadRequest, "Formulaire illisible",
		"Le formulaire est trop grand ou abîmé\u00a0: rien n’a été fait. Un texte a au plus un mégaoctet, une image " +
			"dix. Revenez à la page et recommencez.",
	}
}

// refused is the failure of a form that asks for something impossible.
func refused(text string) *failure {
	return &failure{http.StatusUnprocessableEntity, "À corriger", text}
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
		_, pattern := d.mux.Handler(&http.Request{Method: http.MethodGet, URL: &url.URL{Path: at}})
		if strings.HasPrefix(pattern, "GET ") {
			return at
		}
	}
	return ""
}

// failure returns the page of an error, or its sentence for our script.
func (d *desk) failure(r *request, err error) *response {
	f, ok := errors.AsType[*failure](err)
	if !ok {
		f = d.explain(r, err)
	}
	if r.isScript() {
		return writeJSON(f.status, map[string]string{"error": f.text})
	}
	data := failurePage{page: r.page(f.title), Text: f.text}
	data.Notice = "" // whatever was done before, this was not
	if f.status == http.StatusUnprocessableEntity && r.Method == http.MethodPost {
		data.Back = d.formPage(r)
	}
	a := render("failure", data)
	a.status = f.status
	return a
}

// explain returns the failure for an error, and logs it if it is ours.
func (d *desk) explain(r *request, err error) *failure {
	switch {
	case errors.Is(err, sqldb.ErrNotFound):
		return noPage()
	case sqldb.IsOutage(err), errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		d.Log.Warn("a page of the desk was not available", "path", r.URL.Path, "error", err)
		return &failure{
			http.StatusServiceUnavailable, "Rédaction indisponible",
			"La rédaction est momentanément indisponible, et rien n’a été fait. Gardez cette page ouverte et réessayez " +
				"dans une minute.",
		}
	}
	d.Log.Error("a page of the desk failed", "method", r.Method, "path", r.URL.Path, "error", err)
	return &failure{
		http.StatusInternalServerError, "Erreur interne",
		"Une erreur interne s’est produite\u202f; elle est consignée. Réessayez plus tard.",
	}
}
