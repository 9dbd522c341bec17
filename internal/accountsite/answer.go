package accountsite

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"html/template"
	"io"
	"net/http"
	"net/url"
	"strings"

	"palmares/internal/site"
	"palmares/internal/store"
)

//go:embed templates/*.html
var templateFiles embed.FS

// templates are the pages by name: each is a file that defines "content", joined
// with what surrounds it and the parts that several share (files named _*.html).
var templates = site.ParseTemplates(templateFiles)

// An answer is a page, or where to go instead.
type answer struct {
	status   int
	title    string
	content  template.HTML
	location string                                 // of a redirection; then there is no page
	allow    string                                 // of a method that is refused
	cookie   *http.Cookie                           // a new one, or its end; nil for no change
	formsTo  []string                               // other sites that a form of the page may lead to
	stream   func(context.Context, io.Writer) error // of a file; then there is no page
}

// page is what surrounds the content of every page; each page's own data embeds it.
type page struct {
	Title  string
	Notice string  // what was just done; "" for nothing
	Menu   []entry // of an owner's pages
}

// An entry of the menu leads to a part of the account.
type entry struct {
	Href, Text string
	Current    string // as aria-current has it: "page", "true" for a page below it, or ""
}

// menu is the same on every page of an owner.
var menu = []entry{
	{Href: homePath, Text: "Compte"},
	{Href: keysPath, Text: "Clés"},
	{Href: usagePath, Text: "Usage"},
	{Href: endpointsPath, Text: "Webhooks"},
	{Href: planPath, Text: "Formule"},
	{Href: sessionsPath, Text: "Sessions"},
	{Href: dataPath, Text: "Données"},
}

// section is the path of the entry that a page belongs to.
func section(path string) string {
	switch {
	case strings.HasPrefix(path, deliveriesPath+"/"):
		return endpointsPath
	case strings.HasPrefix(path, deletionPath):
		return dataPath
	}
	rest, ok := strings.CutPrefix(path, homePath+"/")
	if !ok {
		return ""
	}
	part, _, _ := strings.Cut(rest, "/")
	return homePath + "/" + part
}

// notices are what a page may say was done, by the word in its address.
var notices = map[string]string{
	"connexion":        "La connexion est faite.",
	"deconnexion":      "Ce navigateur est déconnecté.",
	"session-terminee": "La session est terminée.",
	"autres-terminees": "Toutes les autres sessions sont terminées.",
	"session-inconnue": "Cette session était déjà terminée.",

	"cle-renommee":         "Le nom est changé.",
	"cle-revoquee":         "La clé est révoquée\u00a0: elle est refusée partout en quelques secondes.",
	"cle-deja-creee":       "Cette demande a déjà été faite, et rien n’a été créé de plus. Une clé ne s’affiche qu’une fois\u00a0: si vous ne l’avez pas copiée, remplacez-la.",
	"cles-changees":        "Vos clés ont changé depuis l’ouverture de cette page\u00a0: vérifiez, puis recommencez. Rien n’a été créé.",
	"cle-deja-remplacee":   "Cette clé est déjà remplacée ou révoquée\u00a0: rien n’a été changé. Si vous n’avez pas copié la nouvelle, remplacez-la à son tour.",
	"cle-suspendue":        "Une clé suspendue ne se remplace pas. Révoquez-en une autre, et elle revient.",
	"point-deja-cree":      "Cette demande a déjà été faite, et rien n’a été créé de plus. Un secret ne s’affiche qu’une fois\u00a0: si vous ne l’avez pas copié, remplacez-le.",
	"points-changes":       "Vos points de réception ont changé depuis l’ouverture de cette page\u00a0: vérifiez, puis recommencez. Rien n’a été créé.",
	"point-change":         "Les changements sont enregistrés.",
	"point-supprime":       "Le point de réception est supprimé, et son journal avec lui.",
	"point-en-pause":       "Le point de réception est en pause\u00a0: plus rien n’y est envoyé.",
	"point-actif":          "Le point de réception est actif.",
	"point-suspendu":       "Le point de réception n’est plus en pause, mais suspendu\u00a0: les webhooks font partie de la formule Pro.",
	"point-sans-pro":       "Les webhooks font partie de la formule Pro, et ce compte n’y est pas\u00a0: rien n’a été envoyé.",
	"secret-deja-remplace": "Cette demande a déjà été faite, et le secret n’a pas changé de nouveau. Si vous ne l’avez pas copié, remplacez-le encore.",
	"essai":                "L’essai part\u00a0: rechargez cette page pour voir la réponse.",
	"trop-d-essais":        "Cinq essais par minute, c’est le plus\u00a0: patientez une minute.",
	"point-inactif":        "Le point de réception n’est pas actif\u00a0: un essai n’arriverait pas. Reprenez-le ou réactivez-le d’abord.",
	"reprise-en-cours":     "Une récupération est déjà en cours\u00a0: attendez qu’elle soit finie.",
	"reprise":              "La récupération est demandée\u00a0: les envois manqués partent l’un après l’autre.",
	"reprise-plus-tard":    "La récupération est demandée\u00a0: les envois manqués partiront quand le point de réception sera actif.",
	"renvoi":               "L’envoi repart\u00a0: rechargez cette page pour voir la réponse.",
	"suppression":          "Un courriel part vers votre adresse\u00a0: suivez son lien dans les 15\u00a0minutes pour confirmer. Rien n’est encore supprimé.",
	"suppression-limite":   "Trop de courriels ont été demandés pour cette adresse\u00a0: patientez une heure, un jour au plus, puis recommencez. Rien n’est supprimé.",
}

// page fills in what surrounds a page.
func (r *request) page(title string) page {
	p := page{Title: title, Notice: notices[r.URL.Query().Get("fait")]}
	if r.owner != nil {
		for _, e := range menu {
			switch e.Href {
			case r.URL.Path:
				e.Current = "page"
			case section(r.URL.Path):
				e.Current = "true"
			}
			p.Menu = append(p.Menu, e)
		}
	}
	return p
}

// render makes a page of a template and what it shows. A template that does not fit
// its data is a mistake of ours that tests find.
func render(name string, p page, data any) *answer {
	var b bytes.Buffer
	if err := templates[name].ExecuteTemplate(&b, "page", data); err != nil {
		panic(err)
	}
	return &answer{status: http.StatusOK, title: p.Title, content: template.HTML(b.String())} //nolint:gosec // a template made it
}

// seeOther leads to a page of ours, which says what was done: a key of notices, or
// "" for nothing.
func seeOther(path, done string) *answer {
	to := url.URL{Path: path}
	if done != "" {
		to.RawQuery = url.Values{"fait": {done}}.Encode()
	}
	return &answer{status: http.StatusSeeOther, location: to.String()}
}

func (p *portal) write(w http.ResponseWriter, r *request, a *answer) {
	if a.cookie != nil {
		w.Header().Del("Set-Cookie") // of the session that was there before
		http.SetCookie(w, a.cookie)
	}
	if a.location != "" {
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Location", a.location)
		w.Header().Set("Content-Length", "0")
		w.WriteHeader(a.status)
		return
	}
	if a.allow != "" {
		w.Header().Set("Allow", a.allow)
	}
	if a.status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "30")
	}
	if a.stream != nil {
		return
	}
	p.Site.ServeAccountPage(w, r.Request, site.AccountPage{Status: a.status, Title: a.title, Content: a.content, FormsTo: a.formsTo})
}

// A failure is a page that says what is wrong and what to do about it.
type failure struct {
	status int
	title  string
	text   string
	form   bool // the page offers to sign in
	allow  string
}

func (f *failure) Error() string { return f.text }

func notFound(text string) *failure {
	return &failure{status: http.StatusNotFound, title: "Page introuvable", text: text}
}

func methodNotAllowed(allow string) *failure {
	return &failure{status: http.StatusMethodNotAllowed, title: "Méthode refusée", text: "Cette adresse ne s’utilise pas ainsi. Passez par les pages du compte.", allow: allow}
}

func crossOrigin() *failure {
	return &failure{
		status: http.StatusForbidden, title: "Demande refusée",
		text: "Cette demande vient d’un autre site que le nôtre\u00a0: par prudence, rien n’a été fait. Si c’est bien ce que vous vouliez, ouvrez votre compte ici et recommencez.",
	}
}

func sessionEnded() *failure {
	return &failure{
		status: http.StatusForbidden, title: "Session terminée", form: true,
		text: "Votre session s’est terminée pendant que cette page était ouverte\u00a0: rien n’a été fait. Reconnectez-vous, puis recommencez.",
	}
}

func unreadableForm() *failure {
	return &failure{status: http.StatusBadRequest, title: "Formulaire illisible", text: "Le formulaire est trop grand ou abîmé\u00a0: rien n’a été fait. Revenez à la page et recommencez."}
}

func gone(text string) *failure {
	return &failure{status: http.StatusGone, title: "Ce lien ne sert plus", text: text, form: true}
}

// The sentences for what the store refuses, from the most particular on. What is not
// here is a mistake of ours: it is logged, and a stranger sees nothing of it.
var failures = []struct {
	kind error
	page *failure
}{
	{store.ErrLinkUsed, gone("Il a déjà servi, et un lien ne sert qu’une fois. Si c’était vous à l’instant, ouvrez simplement votre compte\u00a0; sinon, demandez-en un autre.")},
	{store.ErrLinkExpired, gone("Il a plus de 15\u00a0minutes. Demandez-en un autre.")},
	{store.ErrNotFound, notFound("Ce que vous cherchez n’existe pas, ou plus.")},
	{store.ErrPlan, &failure{
		status: http.StatusForbidden, title: "Webhooks",
		text: "Les webhooks font partie de la formule Pro, et ce compte n’y est pas\u00a0: rien n’a été fait.",
	}},
	{store.ErrBusy, away},
	{store.ErrUnreachable, away},
	{store.ErrFull, away},
	{store.ErrReadOnly, away},
	{context.DeadlineExceeded, away},
	{context.Canceled, away}, // nobody is left to read it
}

var away = &failure{
	status: http.StatusServiceUnavailable, title: "Compte indisponible",
	text: "Le compte est momentanément indisponible, et rien n’a été fait. Réessayez dans une minute. L’API et le site, eux, répondent.",
}

type failurePage struct {
	page
	Text string
	Form *signInForm // nil where signing in would not help
}

// failure is the page of an error.
func (p *portal) failure(r *request, err error) *answer {
	var f *failure
	if !errors.As(err, &f) {
		f = p.explain(r, err)
	}
	data := failurePage{page: r.page(f.title), Text: f.text}
	data.Notice = ""
	if f.form && r.owner == nil {
		data.Form = p.form("", "")
	}
	a := render("failure", data.page, data)
	a.status, a.allow = f.status, f.allow
	return a
}

func (p *portal) explain(r *request, err error) *failure {
	found := &failure{
		status: http.StatusInternalServerError, title: "Erreur interne",
		text: "Une erreur interne s’est produite\u00a0; elle est consignée. Réessayez plus tard.",
	}
	for _, known := range failures {
		if errors.Is(err, known.kind) {
			found = known.page
			break
		}
	}
	if found.status >= http.StatusInternalServerError && !errors.Is(err, context.Canceled) {
		p.Log.Error("an account page failed", "method", r.Method, "path", r.URL.Path, "error", err)
	}
	return found
}
