// Package accountsite is the account on the web: everything at /compte and below.
//
// A route is a function from a request to an answer or an error; one adapter does
// for all of them what must be the same everywhere: who is asking, how long that
// may take, the cookie, the frame of the site, and the pages that say what went
// wrong. Reading a page changes nothing, whoever opens it, but for one: on the way back
// from Stripe what is known of the subscription is read anew. What changes something
// is a form that is posted, from a page of ours only, and ends by leading the
// browser to a page that can be read again. What was done is said there by a word
// in its address, one of a fixed list: the one cookie is that of the session.
//
// A key or a secret is shown once, in the answer to the form that made it, since an
// address or a cookie is no place for one. Such a form says what it was made from;
// sent again, by a reload or a second click, that is no longer so, and nothing is made.
//
// It speaks to the store itself, without functions in between: there is nothing
// here but forms in front of it.
package accountsite

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"strings"
	"time"

	"palmares/internal/account"
	"palmares/internal/billing"
	"palmares/internal/site"
	"palmares/internal/store"
	"palmares/internal/webhook"
)

// Config is what the pages need. All fields are required unless they say otherwise.
type Config struct {
	Store *store.Store
	// Site shows the pages in its layout.
	Site *site.Site
	// BaseURL is where visitors find this server, without a last slash.
	BaseURL string
	// Trusted are the proxies whose X-Forwarded-For is believed; none by default.
	Trusted []netip.Prefix
	// MailLogged tells that mails go to the log, for want of a mail server.
	MailLogged bool
	Now        func() time.Time
	Log        *slog.Logger
	// WakeMail is called when a mail was queued, and does not wait for it.
	WakeMail func()
	// WakeWebhooks is called when a delivery was made, and does not wait for it.
	WakeWebhooks func()
	// Sealer seals the secrets of endpoints.
	Sealer webhook.Sealer
	// Allow opens networks to endpoints; none by default.
	Allow []netip.Prefix
	// Billing has accounts pay, or says that nobody can here.
	Billing *billing.Billing
	// Quota is how many requests a day the Developer plan has; 0 where requests are not
	// counted, so that there is no usage to show.
	Quota int
	// Away tells that the store does not answer: nobody then waits for it; nil for never.
	Away func() bool
}

// LinkURL is where the link in a mail leads. The token in it is a secret.
func LinkURL(base string, purpose account.LinkPurpose, token string) string {
	if purpose == account.LinkDeletion {
		return base + deletionPath + "?jeton=" + token
	}
	return base + signInPath + "?jeton=" + token
}

const (
	homePath     = "/compte"
	sentPath     = "/compte/courriel"
	signInPath   = "/compte/connexion"
	signOutPath  = "/compte/deconnexion"
	sessionsPath = "/compte/sessions"

	keysPath       = "/compte/cles"
	usagePath      = "/compte/usage"
	endpointsPath  = "/compte/webhooks"
	deliveriesPath = "/compte/envois"
	planPath       = "/compte/pro" // to which Stripe leads back
	dataPath       = "/compte/donnees"
	exportPath     = "/compte/donnees.json"
	deletionPath   = "/compte/suppression"
	goodbyePath    = "/compte/adieu"
)

// New makes the handler of /compte and what is below it.
func New(cfg Config) http.Handler {
	p := &portal{Config: cfg, mux: http.NewServeMux(), local: isLocal(cfg.BaseURL)}

	// Anybody's.
	p.open("GET "+homePath, p.home)
	p.open("POST "+homePath, p.requestLink)
	p.open("GET "+sentPath, p.linkSent)
	p.open("GET "+signInPath, p.showLink)
	p.open("POST "+signInPath, p.spendLink)
	p.open("POST "+signOutPath, p.signOut)
	p.open("GET "+deletionPath, p.showDeletion)
	p.open("POST "+deletionPath, p.deleteAccount)
	p.open("GET "+goodbyePath, p.goodbye)
	// Their owner's.
	p.owned("GET "+sessionsPath, p.listSessions)
	p.owned("POST "+sessionsPath+"/autres/fin", p.endOtherSessions)
	p.owned("POST "+sessionsPath+"/{id}/fin", p.endSession)
	p.owned("GET "+keysPath, p.listKeys)
	p.owned("POST "+keysPath, p.createKey)
	p.owned("GET "+keysPath+"/{id}", p.showKey)
	p.owned("POST "+keysPath+"/{id}/nom", p.renameKey)
	p.owned("POST "+keysPath+"/{id}/remplacement", p.rotateKey)
	p.owned("GET "+keysPath+"/{id}/revocation", p.confirmRevocation)
	p.owned("POST "+keysPath+"/{id}/revocation", p.revokeKey)
	p.owned("GET "+usagePath, p.showUsage)
	p.owned("GET "+endpointsPath, p.listEndpoints)
	p.owned("POST "+endpointsPath, p.createEndpoint)
	p.owned("GET "+endpointsPath+"/{id}", p.showEndpoint)
	p.owned("POST "+endpointsPath+"/{id}", p.changeEndpoint)
	p.owned("POST "+endpointsPath+"/{id}/etat", p.changeState)
	p.owned("POST "+endpointsPath+"/{id}/secret", p.rotateSecret)
	p.owned("POST "+endpointsPath+"/{id}/essai", p.ping)
	p.owned("POST "+endpointsPath+"/{id}/reprise", p.recover)
	p.owned("GET "+endpointsPath+"/{id}/suppression", p.confirmRemoval)
	p.owned("POST "+endpointsPath+"/{id}/suppression", p.removeEndpoint)
	p.owned("GET "+endpointsPath+"/{id}/envois", p.listDeliveries)
	p.owned("GET "+deliveriesPath+"/{id}", p.showDelivery)
	p.owned("POST "+deliveriesPath+"/{id}/renvoi", p.resend)
	p.owned("GET "+planPath, p.showPlan)
	p.owned("POST "+planPath+"/abonnement", p.subscribe)
	p.owned("POST "+planPath+"/gestion", p.manage)
	p.owned("GET "+dataPath, p.showData)
	p.owned("GET "+exportPath, p.export)
	p.owned("POST "+deletionPath+"/demande", p.requestDeletion)
	p.open("/", p.missing)

	guard := http.NewCrossOriginProtection()
	// A proxy may hand the request on under another name than browsers know us by.
	if u, err := url.Parse(cfg.BaseURL); err == nil && u.Host != "" {
		if err := guard.AddTrustedOrigin(u.Scheme + "://" + u.Host); err != nil {
			panic(err) // only for what has no scheme or host
		}
	}
	guard.SetDenyHandler(p.handler(func(*request) (*answer, error) { return nil, crossOrigin() }))
	return guard.Handler(p.mux)
}

type portal struct {
	Config
	mux   *http.ServeMux
	local bool // visitors come from this machine, without TLS
	asked limiter
}

// isLocal tells http://localhost, where a browser may be told secrets without TLS.
func isLocal(base string) bool {
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" {
		return false
	}
	addr, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() == "localhost" || err == nil && addr.IsLoopback()
}

// A request is what a route sees.
type request struct {
	*http.Request
	now   time.Time
	owner *owner // who is signed in; nil for a stranger
}

// An owner is somebody who is signed in.
type owner struct {
	Account account.Account
	Session account.Session
}

// A handler answers or fails; it writes nothing itself.
type handler func(*request) (*answer, error)

// The limits of one request: a form of ours is small, and a database that does not
// answer for that long is away.
const (
	maxForm  = 64 << 10
	patience = 10 * time.Second
)

// open registers a route for everybody.
func (p *portal) open(pattern string, h handler) { p.mux.HandleFunc(pattern, p.handler(h)) }

// owned registers a route for somebody who is signed in. A stranger who wants to
// read is led to the form; for one who posts, whose session ended while the page
// was open, nothing is done and the page says so.
func (p *portal) owned(pattern string, h handler) {
	p.open(pattern, func(r *request) (*answer, error) {
		switch {
		case !plain(r.PathValue("id")):
			return nil, notFound("Cette adresse ne mène à aucune page du compte.")
		case r.owner != nil:
			return h(r)
		case r.Method == http.MethodPost:
			return nil, sessionEnded()
		}
		return seeOther(homePath, ""), nil
	})
}

// plain tells whether s can be an id at all: what else stands in an address, PostgreSQL
// would not even take as text.
func plain(s string) bool {
	return len(s) < 100 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

func (p *portal) handler(h handler) http.HandlerFunc {
	return func(w http.ResponseWriter, hr *http.Request) {
		ctx, cancel := context.WithTimeout(hr.Context(), patience)
		defer cancel()
		hr.Body = http.MaxBytesReader(w, hr.Body, maxForm)
		r := &request{Request: hr.WithContext(ctx), now: p.Now()}
		a, err := p.answer(w, r, h)
		if err != nil {
			a = p.failure(r, err)
		}
		p.write(w, r, a)
		if a.stream != nil {
			p.stream(hr.Context(), w, a)
		}
	}
}

// answer finds out who is asking, and asks h.
func (p *portal) answer(w http.ResponseWriter, r *request, h handler) (*answer, error) {
	if r.Method == http.MethodPost {
		if err := r.ParseForm(); err != nil {
			return nil, unreadableForm()
		}
	}
	if p.Away != nil && p.Away() {
		return nil, away
	}
	if err := p.recognise(w, r); err != nil {
		return nil, err
	}
	return h(r)
}

// missing answers paths that do not exist, and methods that a path does not have.
func (p *portal) missing(r *request) (*answer, error) {
	if clean := path.Clean(r.URL.Path); clean != r.URL.Path && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
		return seeOther(clean, ""), nil
	}
	var allowed []string
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost} {
		other := *r.Request
		other.Method = method
		if _, pattern := p.mux.Handler(&other); pattern != "/" {
			allowed = append(allowed, method)
		}
	}
	if len(allowed) > 0 {
		return nil, methodNotAllowed(strings.Join(allowed, ", "))
	}
	return nil, notFound("Cette adresse ne mène à aucune page du compte.")
}
