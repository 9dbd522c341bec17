// Package preview shows a content folder to its author as visitors would see it,
// before it is published: from memory, without a database, with its drafts.
//
// Run watches the folder and reads it anew whenever something in it changes; open
// pages then reload themselves. The pages are those of package site. A folder with
// problems has none: every address lists the problems until they are fixed.
//
// Drafts are nobody else's business, neither of other sites in her browser nor of other people on her
// machine. So only requests for a loopback host are served that no other origin caused, and that have the secret of
// Address, in a cookie once it was opened.
package preview

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	_ "embed"
	"fmt"
	"html/template"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"palmares/internal/clientip"
	"palmares/internal/content"
	"palmares/internal/edition"
	"palmares/internal/problem"
	"palmares/internal/site"
	"palmares/internal/snapshot"
)

// Config is what a preview needs. All of it is required.
type Config struct {
	Dir      string // the content folder
	Document []byte // the OpenAPI document that /docs explains
	Now      func() time.Time
	Log      *slog.Logger
	Language problem.Language // of the author
}

// A Preview shows one folder. Its Run method must run alongside.
type Preview struct {
	cfg      Config
	editions *edition.Editions // of the folder alone
	site     *site.Site
	current  atomic.Pointer[reading]
	secret   string // of the address
	prefix   string // of what mounted serves; "" for nothing
	mounted  http.Handler
}

// A reading is the folder as it was read once.
type reading struct {
	number   int64
	edition  *edition.Edition   // nil if the folder could not be read
	snapshot *snapshot.Snapshot // the last one without problems
	problems []string
	warnings []string      // the first of each kind
	found    int           // warnings in all
	replaced chan struct{} // closed when there is a newer edition
}

// New returns a preview that has not read its folder yet.
func New(ctx context.Context, cfg Config) *Preview {
	p := &Preview{cfg: cfg, secret: rand.Text()}
	empty := snapshot.Empty("Aperçu", "")
	p.current.Store(&reading{
		snapshot: empty, replaced: make(chan struct{}), problems: []string{"Lecture du dossier en cours…"},
	})
	p.editions = edition.New(edition.Config{Document: cfg.Document, Now: cfg.Now, Notice: p.notice})
	p.site = p.editions.Site()
	_ = empty.BuildIndex(context.WithoutCancel(ctx)) // fails only when its context ends
	p.site.Show(empty)
	return p
}

// Mount adds pages below a prefix. It must be called before anything is served.
func (p *Preview) Mount(prefix string, pages http.Handler) { p.prefix, p.mounted = prefix, pages }

// Address returns the address of a page with the secret that opens it.
func (p *Preview) Address(page string) string { return page + "?jeton=" + p.secret }

// Site returns what shows the pages.
func (p *Preview) Site() *site.Site { return p.site }

// The addresses of the preview itself. No page of a catalogue has them.
const (
	scriptPath = "/preview/reload.js"
	eventsPath = "/preview/events"
)

//go:embed reload.js
var script string

// notice returns what the pages of a snapshot show to the author. A page of an earlier
// edition reloads itself at once.
func (p *Preview) notice(s *snapshot.Snapshot) *site.Preview {
	e := p.current.Load()
	if e.snapshot != s {
		return &site.Preview{Script: scriptPath}
	}
	return &site.Preview{
		Script: scriptPath + "?edition=" + strconv.FormatInt(e.number, 10), Warnings: e.warnings, Found: e.found,
	}
}

// ServeHTTP implements http.Handler.
func (p *Preview) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Robots-Tag", "noindex, nofollow")
	if !clientip.IsLoopback(r.Host) {
		http.Error(w, "L’aperçu ne répond qu’aux adresses de cette machine, comme http://localhost:8081.",
			http.StatusMisdirectedRequest)
		return
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "none", "same-origin":
	default:
		http.Error(w, "L’aperçu ne répond pas aux autres sites\u00a0: ouvrez son adresse vous-même.",
			http.StatusMisdirectedRequest)
		return
	}
	if !p.admits(w, r) {
		return
	}
	switch path := r.URL.Path; {
	case path == scriptPath:
		w.Header().Set("Content-Type", "text/javascript; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store")
		_, _ = w.Write([]byte(script)) // fails only when the client is gone
	case path == eventsPath:
		p.serveEvents(w, r)
	case p.mounted != nil && (path == p.prefix || strings.HasPrefix(path, p.prefix+"/")):
		p.mounted.ServeHTTP(w, r)
	case path == "/robots.txt":
		_, _ = w.Write([]byte("User-agent: *\nDisallow: /\n"))
	case len(p.current.Load().problems) > 0 && !isPart(path):
		var b strings.Builder
		if err := problemList.Execute(&b, p.current.Load().problems); err != nil {
			panic(err) // the template does not fit its data
		}
		p.site.ServeAccountPage(w, r, site.AccountPage{
			Status: http.StatusInternalServerError, Title: "À corriger", Content: template.HTML(b.String()),
		})
	case isElsewhere(path):
		p.site.ServeAccountPage(w, r, site.AccountPage{
			Status: http.StatusNotFound, Title: "Absent de l’aperçu", Content: elsewhere,
		})
	default:
		p.site.ServeHTTP(w, r)
	}
}

// admits reports whether a request has the cookie with the secret. It answers others: an address with the secret
// sets the cookie.
func (p *Preview) admits(w http.ResponseWriter, r *http.Request) bool {
	isSecret := func(s string) bool { return subtle.ConstantTimeCompare([]byte(s), []byte(p.secret)) == 1 }
	_, port, _ := net.SplitHostPort(r.Host)
	name := "palmares-apercu-" + port // a browser sends the cookies of a host to all its ports
	cookie, err := r.Cookie(name)
	params := r.URL.Query()
	switch {
	case isSecret(params.Get("jeton")):
		params.Del("jeton")
		page := url.URL{Path: "/" + strings.TrimLeft(r.URL.Path, "/"), RawQuery: params.Encode()}
		http.SetCookie(w, &http.Cookie{Name: name, Value: p.secret, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
		http.Redirect(w, r, page.String(), http.StatusSeeOther)
	case err == nil && isSecret(cookie.Value):
		return true
	default:
		http.Error(w, "L’aperçu s’ouvre par l’adresse que «\u00a0palmares preview\u00a0» a affichée, avec son jeton.",
			http.StatusForbidden)
	}
	return false
}

// isPart reports whether the list of problems, as any page, has something of this path in it:
// the logo is that of the last edition without problems.
func isPart(path string) bool {
	return strings.HasPrefix(path, "/static/") || strings.HasPrefix(path, "/media/") || path == "/favicon.ico"
}

// isElsewhere reports whether pages link to a path that only the server has.
func isElsewhere(path string) bool {
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return first == "api" || first == "compte" || first == "data" || first == "webhooks"
}

const elsewhere = `<header class="top"><h1>Absent de l’aperçu</h1>
<p class="deck">L’aperçu montre les pages du site. L’API, les fichiers de données et les comptes n’existent que sur le serveur, après publication.</p></header>`

// serveEvents sends the number of the current edition, and of each that follows.
func (p *Preview) serveEvents(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	out := http.NewResponseController(w)
	for {
		e := p.current.Load()
		if _, err := fmt.Fprintf(w, "data: %d\n\n", e.number); err != nil {
			return
		}
		if err := out.Flush(); err != nil {
			return
		}
		select {
		case <-e.replaced:
		case <-r.Context().Done():
			return
		}
	}
}

var problemList = template.Must(template.New("").Parse(`<header class="top"><h1>À corriger</h1>
<p class="deck">La page reviendra d’elle-même dès que le dossier sera lisible.</p></header>
<ul class="problems" role="alert">{{range .}}<li><code>{{.}}</code></li>{{end}}</ul>`))

// read makes the next edition from the folder, if it changed.
func (p *Preview) read(ctx context.Context) {
	began, last := time.Now(), p.current.Load()
	next := &reading{number: last.number + 1, snapshot: last.snapshot, replaced: make(chan struct{})}
	e, err := p.open(ctx)
	next.edition = e
	switch {
	case ctx.Err() != nil, err == nil && e == last.edition:
		return
	case err != nil:
		next.problems = []string{problem.Of(err).In(p.cfg.Language)}
		p.cfg.Log.Error(next.problems[0])
	case len(e.Problems) > 0:
		next.problems = p.sentences("", e.Problems)
		p.cfg.Log.Warn(problem.New("folder-problems").In(p.cfg.Language), "problems", len(e.Problems), "first", next.problems[0])
	default:
		var warnings []content.Problem
		for _, w := range e.Warnings {
			warnings = append(warnings, content.Problem(w))
		}
		next.warnings, next.found = p.sentences("warning", warnings), len(warnings)
		next.snapshot, err = e.Snapshot(ctx)
		if err != nil {
			return // the context has ended
		}
		p.cfg.Log.Info(problem.New("read-folder").In(p.cfg.Language), "tools", len(e.Catalog.Tools), "warnings", next.found,
			"ms", time.Since(began).Milliseconds())
	}
	p.current.Store(next)
	if next.problems == nil {
		p.site.Show(next.snapshot)
	}
	close(last.replaced)
}

func (p *Preview) open(ctx context.Context) (*edition.Edition, error) {
	root, err := content.Open(p.cfg.Dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return p.editions.Read(ctx, root.FS())
}

// sentences returns what people read of problems or warnings, as validate prints them.
func (p *Preview) sentences(frame string, found []content.Problem) (list []string) {
	text := func(i int) string { return found[i].Text.In(p.cfg.Language) }
	content.Group(len(found), text, func(i int) {
		what := found[i].Text
		if frame != "" {
			what = problem.New(frame, what)
		}
		list = append(list, fmt.Sprintf("%s:%d: %s", found[i].File, found[i].Line, what.In(p.cfg.Language)))
	}, func(i, others int) {
		more := problem.New("and-more", others, "palmares validate --format json", found[i].Text)
		list = append(list, more.In(p.cfg.Language))
	})
	return list
}
