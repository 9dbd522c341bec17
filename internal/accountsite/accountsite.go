// Package accountsite is the account on the web, /compte and everything below it, and the forms of
// readers without an account, /signaler and /suivre.
//
// A page is a function from a request to a response or an error. One adapter does
// the rest for all of them: it identifies the visitor, limits the time a request
// takes, sets the cookie, shows the page in the layout of the site and turns errors
// into pages. GET changes nothing, with one exception: on return from Stripe the
// subscription is fetched again. Changes are made by forms, accepted from our own
// pages only, and end in a redirect to a page that can be reloaded. That page says
// what was done, by a word in its address from a fixed list (see notice.go), so the
// only cookie is that of the session.
//
// A key or a secret is shown once, in the response to the form that created it; it
// never appears in an address or a cookie. Such a form carries what it was based on.
// If it is sent again, by a reload or a second click, that is outdated and nothing
// is created.
//
// The package calls the store directly: it is a thin layer of forms over it.
package accountsite

import (
	"crypto/sha256"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"palmares/internal/account"
	"palmares/internal/accountdb"
	"palmares/internal/billing"
	"palmares/internal/cache"
	"palmares/internal/deskdb"
	"palmares/internal/readerdb"
	"palmares/internal/site"
	"palmares/internal/vault"
	"palmares/internal/web"
)

// Config is what the pages need. All fields are required unless they say otherwise.
type Config struct {
	Store   *accountdb.Store
	Desk    *deskdb.Store
	Readers *readerdb.Store
	// Site shows the pages in its layout.
	Site *site.Site
	// BaseURL is the public URL of this server, without a trailing slash.
	BaseURL string
	// Trusted are the proxies whose X-Forwarded-For is trusted; none by default.
	Trusted []netip.Prefix
	// MailLogged reports that mails are logged because there is no mail server.
	MailLogged bool
	Now        func() time.Time
	Log        *slog.Logger
	// WakeMail is called after a mail was queued. It must not block.
	WakeMail func()
	// WakeWebhooks is called after a delivery was created. It must not block.
	WakeWebhooks func()
	// Sealer encrypts the secrets of endpoints.
	Sealer vault.Sealer
	// Allow are private networks that endpoints may be in; none by default.
	Allow []netip.Prefix
	// Billing takes payments, if it is enabled.
	Billing *billing.Billing
	// Quota is the number of requests per day of the Developer plan; 0 if requests are
	// not counted, so that there is no usage to show.
	Quota int
	// Outage returns why the store is unreachable, nil if it is not, so that requests fail at
	// once instead of waiting for it; nil means never.
	Outage func() error
}

// LinkURL returns the address of the link in a mail, which signs in to a destination: a word of
// SignInPath, or "". The token in it is a secret.
func LinkURL(base string, purpose account.LinkPurpose, destination, token string) string {
	switch purpose {
	case account.LinkDeletion:
		return base + deletionPath + "?jeton=" + token
	case account.LinkFollow:
		return base + confirmPath + "?jeton=" + token + "&" + destination
	}
	return base + withDestination(signInPath+"?jeton="+token, destination)
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
	planPath       = "/compte/pro" // Stripe redirects back to it
	dataPath       = "/compte/donnees"
	exportPath     = "/compte/donnees.json"
	deletionPath   = "/compte/suppression"
	goodbyePath    = "/compte/adieu"

	reportPath = "/signaler"
	thanksPath = "/signaler/merci"

	followPath  = "/suivre"
	confirmPath = "/suivre/confirmation"
	endPath     = "/suivre/fin"
)

// A Handler is the handler of /compte, /signaler, /suivre and everything below them.
type Handler struct {
	http.Handler
	pages *pages
}

// New returns the pages.
func New(cfg Config) *Handler {
	p := &pages{
		Config: cfg, mux: http.NewServeMux(), local: isLocal(cfg.BaseURL), waiting: make(chan struct{}, maxWaiting),
		strangers: web.NewLimit(maxStrangers, strangerWait),
		known:     cache.New(knownSize, func(hash [sha256.Size]byte, _ struct{}) int { return len(hash) }),
	}

	// For everybody.
	p.open("GET "+homePath, p.home)
	p.open("POST "+homePath, p.requestLink)
	p.open("GET "+sentPath, p.linkSent)
	p.open("GET "+signInPath, p.showLink)
	p.open("POST "+signInPath, p.useLink)
	p.open("POST "+signOutPath, p.signOut)
	p.open("GET "+deletionPath, p.showDeletion)
	p.open("POST "+deletionPath, p.deleteAccount)
	p.open("GET "+goodbyePath, p.goodbye)
	p.open("GET "+reportPath, p.showReport)
	p.open("POST "+reportPath, p.report)
	p.open("GET "+thanksPath, p.thanks)
	p.open("GET "+followPath, p.showFollow)
	p.open("POST "+followPath, p.follow)
	p.open("GET "+confirmPath, p.showConfirmation)
	p.open("POST "+confirmPath, p.confirmFollow)
	p.open("GET "+endPath, p.showEnd)
	p.open("POST "+endPath, p.endFollow)
	// For account owners who are signed in.
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
	p.owned("POST "+endpointsPath+"/{id}/reprise", p.recoverEvents)
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
	p.open("/", p.notFound)

	guard := http.NewCrossOriginProtection()
	// Behind a proxy the Host header may differ from the origin that browsers see.
	if u, err := url.Parse(cfg.BaseURL); err == nil && u.Host != "" {
		if err := guard.AddTrustedOrigin(u.Scheme + "://" + u.Host); err != nil {
			panic(err) // only without a scheme or host
		}
	}
	guard.AddInsecureBypassPattern("POST " + endPath) // by the providers of mailboxes: its secret is all it needs
	guard.SetDenyHandler(p.handle(func(*request) (*response, error) { return nil, crossOrigin() }))
	return &Handler{guard.Handler(p.mux), p}
}
