package accountsite

import (
	"crypto/sha256"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"palmares/internal/account"
	"palmares/internal/cache"
	"palmares/internal/forms"
	"palmares/internal/web"
)

// pages are what the pages share: who is signed in, and how people sign in.
type pages struct {
	Config
	shell     forms.Shell
	local     bool                                      // visitors come from this machine, without TLS
	strangers *web.Limit                                // of those who are not signed in
	known     *cache.Cache[[sha256.Size]byte, struct{}] // sessions that were found, by the hash of their secret

	ceilingLogged atomic.Int64 // when, in Unix seconds; see belowCeiling
}

// The pages by what they are about.
type (
	keys       struct{ *pages }
	belongings struct{ *pages } // all that an account has, exported or deleted
	readers    struct{ *pages } // of the site, who have no account
	endpoints  struct {
		*pages
		waiting chan struct{} // one element for each page that waits for a response
	}
	plans struct {
		*pages
		stripeCalls limiter
	}
)

// A request is one HTTP request and who sent it.
type request struct {
	*forms.Request
	owner *Guest // nil if nobody is signed in
	offer bool   // the Pro plan may be mentioned
	guide bool   // the site has /docs/webhooks
}

type (
	response = forms.Response
	failure  = forms.Failure
	pageFunc func(*request) (*response, error)
)

var seeOther = forms.SeeOther

// The limits of one request: our forms are small, and a database that does not
// respond within requestTimeout counts as unreachable.
const (
	maxForm        = 64 << 10
	requestTimeout = 10 * time.Second
)

// Of the connections to the database, strangers get some: whoever opens made-up links keeps neither
// pictures nor people who are signed in waiting.
const (
	maxStrangers = 2
	knownSize    = 4 << 20 // bytes of sessions, about 10,000
)

// strangerWait is how long a stranger waits for others. It is a variable for tests.
var strangerWait = 5 * time.Second

// open registers a page for everybody.
func (p *pages) open(pattern string, page pageFunc) { p.shell.Handle(pattern, p.handle(page)) }

// owned registers a page for account owners. Anybody else is redirected to the
// sign-in form, except after POST: the session ended while the page was open, so
// nothing is done and the response says so.
func (p *pages) owned(pattern string, page pageFunc) {
	p.open(pattern, func(r *request) (*response, error) {
		switch id := r.PathValue("id"); {
		case id != "" && !slices.ContainsFunc(pathIDs, func(prefix string) bool { return account.IsID(prefix, id) }):
			return nil, noPage()
		case r.owner != nil:
			return page(r)
		case r.Method == http.MethodPost:
			return nil, sessionEnded()
		}
		return seeOther(homePath, ""), nil
	})
}

// pathIDs are the prefixes of the IDs that a path may contain.
var pathIDs = []string{account.SessionID, account.KeyID, account.EndpointID, account.DeliveryID}

func (p *pages) handle(page pageFunc) func(http.ResponseWriter, *forms.Request) *response {
	return func(w http.ResponseWriter, fr *forms.Request) *response {
		r := &request{Request: fr}
		a, err := p.run(w, r, page)
		if err != nil {
			a = p.failure(r, err)
		}
		return a
	}
}

// run identifies the visitor and calls the page.
func (p *pages) run(w http.ResponseWriter, r *request, page pageFunc) (*response, error) {
	if r.Method == http.MethodPost {
		if err := r.ReadForm(w, maxForm, 0, 0); err != nil {
			return nil, unreadableForm()
		}
	}
	owner, leave, err := p.identify(w, r.Request.Request, r.Now)
	if err != nil {
		return nil, err
	}
	defer leave()
	r.owner = owner
	r.guide = p.Site.OffersPro()
	// A publisher who hides Pro hides it from those who do not have it.
	r.offer = r.guide || r.owner != nil && r.owner.Account.Plan == account.Pro
	return page(r)
}

// notFound is for unknown paths, and methods that a path does not have: with "/"
// registered, the mux sends neither 404 nor 405 itself.
func (p *pages) notFound(r *request) (*response, error) {
	if a := r.Cleaned(); a != nil {
		return a, nil
	}
	var allowed []string
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost} {
		if p.shell.Pattern(method, r.URL.Path) != "/" {
			allowed = append(allowed, method)
		}
	}
	if len(allowed) > 0 {
		return nil, methodNotAllowed(strings.Join(allowed, ", "))
	}
	return nil, noPage()
}
