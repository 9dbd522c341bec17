// Package accountsite is the account on the web, /compte and everything below it, and the forms of
// readers without an account, /signaler and /suivre.
//
// Its shell is package forms. GET changes nothing, with one exception: on return from
// Stripe the subscription is fetched again. The only cookie is that of the session.
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
	"palmares/internal/clientip"
	"palmares/internal/deskdb"
	"palmares/internal/forms"
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

// Patterns returns the patterns of all pages.
func (h *Handler) Patterns() []string { return h.pages.shell.Patterns() }

// New returns the pages.
func New(cfg Config) *Handler {
	base, err := url.Parse(cfg.BaseURL)
	p := &pages{
		Config: cfg, local: err == nil && base.Scheme == "http" && clientip.IsLoopback(base.Host),
		strangers: web.NewLimit(maxStrangers, strangerWait),
		known:     cache.New(knownSize, func(hash [sha256.Size]byte, _ struct{}) int { return len(hash) }),
		shell: forms.Shell{
			Site: cfg.Site, BaseURL: cfg.BaseURL, Now: cfg.Now, Log: cfg.Log, Timeout: requestTimeout,
			Failed: "an account page failed", Failures: failures,
		},
	}

	readers, belongings, plans := &readers{p}, &belongings{p}, &plans{pages: p}
	keys, endpoints := &keys{p}, &endpoints{pages: p, waiting: make(chan struct{}, maxWaiting)}

	// For everybody.
	p.open("GET "+homePath, p.home)
	p.open("POST "+homePath, p.requestLink)
	p.open("GET "+sentPath, p.linkSent)
	p.open("GET "+signInPath, p.showLink)
	p.open("POST "+signInPath, p.useLink)
	p.open("POST "+signOutPath, p.signOut)
	p.open("GET "+deletionPath, belongings.showDeletion)
	p.open("POST "+deletionPath, belongings.deleteAccount)
	p.open("GET "+goodbyePath, belongings.goodbye)
	p.open("GET "+reportPath, readers.showReport)
	p.open("POST "+reportPath, readers.report)
	p.open("GET "+thanksPath, readers.thanks)
	p.open("GET "+followPath, readers.showFollow)
	p.open("POST "+followPath, readers.follow)
	p.open("GET "+confirmPath, readers.showConfirmation)
	p.open("POST "+confirmPath, readers.confirmFollow)
	p.open("GET "+endPath, readers.showEnd)
	p.open("POST "+endPath, readers.endFollow)
	// For account owners who are signed in.
	p.owned("GET "+sessionsPath, p.listSessions)
	p.owned("POST "+sessionsPath+"/autres/fin", p.endOtherSessions)
	p.owned("POST "+sessionsPath+"/{id}/fin", p.endSession)
	p.owned("GET "+keysPath, keys.listKeys)
	p.owned("POST "+keysPath, keys.createKey)
	p.owned("GET "+keysPath+"/{id}", keys.showKey)
	p.owned("POST "+keysPath+"/{id}/nom", keys.renameKey)
	p.owned("POST "+keysPath+"/{id}/remplacement", keys.rotateKey)
	p.owned("GET "+keysPath+"/{id}/revocation", keys.confirmRevocation)
	p.owned("POST "+keysPath+"/{id}/revocation", keys.revokeKey)
	p.owned("GET "+usagePath, p.showUsage)
	p.owned("GET "+endpointsPath, endpoints.listEndpoints)
	p.owned("POST "+endpointsPath, endpoints.createEndpoint)
	p.owned("GET "+endpointsPath+"/{id}", endpoints.showEndpoint)
	p.owned("POST "+endpointsPath+"/{id}", endpoints.changeEndpoint)
	p.owned("POST "+endpointsPath+"/{id}/etat", endpoints.changeState)
	p.owned("POST "+endpointsPath+"/{id}/secret", endpoints.rotateSecret)
	p.owned("POST "+endpointsPath+"/{id}/essai", endpoints.ping)
	p.owned("POST "+endpointsPath+"/{id}/reprise", endpoints.recoverEvents)
	p.owned("GET "+endpointsPath+"/{id}/suppression", endpoints.confirmRemoval)
	p.owned("POST "+endpointsPath+"/{id}/suppression", endpoints.removeEndpoint)
	p.owned("GET "+endpointsPath+"/{id}/envois", endpoints.listDeliveries)
	p.owned("GET "+deliveriesPath+"/{id}", endpoints.showDelivery)
	p.owned("POST "+deliveriesPath+"/{id}/renvoi", endpoints.resend)
	p.owned("GET "+planPath, plans.showPlan)
	p.owned("POST "+planPath+"/abonnement", plans.subscribe)
	p.owned("POST "+planPath+"/gestion", plans.manage)
	p.owned("GET "+dataPath, belongings.showData)
	p.owned("GET "+exportPath, belongings.export)
	p.owned("POST "+deletionPath+"/demande", belongings.requestDeletion)
	p.open("/", p.notFound)

	denied := p.handle(func(*request) (*response, error) { return nil, crossOrigin() })
	// The providers of mailboxes send the last form: its secret is all it needs.
	return &Handler{p.shell.Guarded(denied, "POST "+endPath), p}
}
