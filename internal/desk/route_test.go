package desk_test

import (
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"palmares/internal/account"
	"palmares/internal/accountsite"
	"palmares/internal/billing"
	"palmares/internal/desk"
	"palmares/internal/sqldb"
	"palmares/internal/testkit"
)

// everybody is who tries each route: a visitor, somebody with an account, two authors, and an editor.
var everybody = []string{"", "visiteur", "Cleo", "Bob", "Ada"}

// An accountRow is what a route of the account is tried with, and the statuses for a visitor, for somebody
// else, and for Ada, the owner of SESSION, KEY, ENDPOINT and DELIVERY. LINK signs in.
type accountRow struct {
	path              string
	visitor, who, ada int
	fields            []string
}

var accountRows = map[string]accountRow{
	"GET /compte":               {"/compte", 200, 200, 200, nil},
	"POST /compte":              {"/compte", 303, 303, 303, []string{"email", "eve@example.org"}},
	"GET /compte/courriel":      {"/compte/courriel", 200, 200, 200, nil},
	"GET /compte/connexion":     {"/compte/connexion?jeton=LINK", 200, 200, 200, nil},
	"POST /compte/connexion":    {"/compte/connexion", 303, 303, 303, []string{"jeton", "LINK"}},
	"POST /compte/deconnexion":  {"/compte/deconnexion", 303, 303, 303, nil},
	"GET /compte/suppression":   {"/compte/suppression", 303, 200, 200, nil},
	"POST /compte/suppression":  {"/compte/suppression", 404, 404, 404, []string{"jeton", "x"}},
	"GET /compte/adieu":         {"/compte/adieu", 200, 200, 200, nil},
	"GET /signaler":             {"/signaler", 200, 200, 200, nil},
	"POST /signaler":            {"/signaler", 303, 303, 303, []string{"texte", "Le prix est faux.", "site", "x"}},
	"GET /signaler/merci":       {"/signaler/merci", 200, 200, 200, nil},
	"GET /suivre":               {"/suivre", 200, 200, 200, nil},
	"POST /suivre":              {"/suivre", 303, 303, 303, []string{"email", "eve@example.org"}},
	"GET /suivre/confirmation":  {"/suivre/confirmation?jeton=x", 410, 410, 410, nil},
	"POST /suivre/confirmation": {"/suivre/confirmation", 410, 410, 410, []string{"jeton", "x"}},
	"GET /suivre/fin":           {"/suivre/fin?jeton=x", 410, 410, 410, nil},
	"POST /suivre/fin":          {"/suivre/fin", 410, 410, 410, []string{"jeton", "x"}},

	"GET /compte/sessions":             {"/compte/sessions", 303, 200, 200, nil},
	"POST /compte/sessions/autres/fin": {"/compte/sessions/autres/fin", 403, 303, 303, nil},
	"POST /compte/sessions/{id}/fin":   {"/compte/sessions/SESSION/fin", 403, 303, 303, nil}, // it says that there is none
	"GET /compte/cles":                 {"/compte/cles", 303, 200, 200, nil},
	// Others know another newest key, or endpoint, than Ada's.
	"POST /compte/cles":                   {"/compte/cles", 403, 409, 200, []string{"nom", "x", "derniere", "KEY"}},
	"GET /compte/cles/{id}":               {"/compte/cles/KEY", 303, 404, 200, nil},
	"POST /compte/cles/{id}/nom":          {"/compte/cles/KEY/nom", 403, 404, 303, []string{"nom", "x"}},
	"POST /compte/cles/{id}/remplacement": {"/compte/cles/KEY/remplacement", 403, 404, 200, nil},
	"GET /compte/cles/{id}/revocation":    {"/compte/cles/KEY/revocation", 303, 404, 200, nil},
	"POST /compte/cles/{id}/revocation":   {"/compte/cles/KEY/revocation", 403, 404, 303, nil},
	"GET /compte/usage":                   {"/compte/usage", 303, 200, 200, nil},
	"GET /compte/webhooks":                {"/compte/webhooks", 303, 200, 200, nil},
	"POST /compte/webhooks": {
		"/compte/webhooks", 403, 409, 200, []string{"url", "https://hooks.example/", "portee", "tous", "dernier", "ENDPOINT"},
	},
	"GET /compte/webhooks/{id}": {"/compte/webhooks/ENDPOINT", 303, 404, 200, nil},
	"POST /compte/webhooks/{id}": {
		"/compte/webhooks/ENDPOINT", 403, 404, 303, []string{"url", "https://hooks.example/", "portee", "tous"},
	},
	"POST /compte/webhooks/{id}/etat":        {"/compte/webhooks/ENDPOINT/etat", 403, 404, 303, []string{"etat", "paused"}},
	"POST /compte/webhooks/{id}/secret":      {"/compte/webhooks/ENDPOINT/secret", 403, 404, 200, nil},
	"POST /compte/webhooks/{id}/essai":       {"/compte/webhooks/ENDPOINT/essai", 403, 404, 303, nil},
	"POST /compte/webhooks/{id}/reprise":     {"/compte/webhooks/ENDPOINT/reprise", 403, 404, 303, []string{"depuis", "2026-11-15"}},
	"GET /compte/webhooks/{id}/suppression":  {"/compte/webhooks/ENDPOINT/suppression", 303, 404, 200, nil},
	"POST /compte/webhooks/{id}/suppression": {"/compte/webhooks/ENDPOINT/suppression", 403, 404, 303, nil},
	"GET /compte/webhooks/{id}/envois":       {"/compte/webhooks/ENDPOINT/envois", 303, 404, 200, nil},
	"GET /compte/envois/{id}":                {"/compte/envois/DELIVERY", 303, 404, 200, nil},
	"POST /compte/envois/{id}/renvoi":        {"/compte/envois/DELIVERY/renvoi", 403, 404, 303, nil},
	"GET /compte/pro":                        {"/compte/pro", 303, 200, 200, nil},
	"POST /compte/pro/abonnement":            {"/compte/pro/abonnement", 403, 303, 303, nil},
	"POST /compte/pro/gestion":               {"/compte/pro/gestion", 403, 303, 303, nil},
	"GET /compte/donnees":                    {"/compte/donnees", 303, 200, 200, nil},
	"GET /compte/donnees.json":               {"/compte/donnees.json", 303, 200, 200, nil},
	"POST /compte/suppression/demande":       {"/compte/suppression/demande", 403, 303, 303, nil},
}

// A house is the desk and the account pages, where people are signed in.
type house struct {
	*newsroom
	accounts *accountsite.Handler
	cookies  map[string]*http.Cookie // by name
	belongs  *strings.Replacer       // what belongs to Ada
}

func newHouse(t *testing.T, n *newsroom) *house {
	t.Helper()
	log, clock := slog.New(slog.NewTextHandler(&n.log, nil)), func() time.Time { return n.now }
	bills, err := billing.New(billing.Config{Ledger: n.db.Subscriptions, Keys: n.db.Keys, BaseURL: base, Now: clock, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	h := &house{newsroom: n, cookies: map[string]*http.Cookie{}, accounts: accountsite.New(accountsite.Config{
		Store: n.db.AccountDB, Desk: n.db.DeskDB, Readers: n.db.ReaderDB, Site: n.site, BaseURL: base, Now: clock, Log: log,
		WakeMail: func() {}, WakeWebhooks: func() {}, Sealer: sealer, Billing: bills,
	})}
	n.visitor = desk.Guests(h.accounts, n.db.Editors)
	atDesk := n.handler
	n.handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c := h.cookies[r.Header.Get("X-Who")]; c != nil {
			r.AddCookie(c)
		}
		if strings.HasPrefix(r.URL.Path, "/redaction") {
			atDesk.ServeHTTP(w, r)
			return
		}
		h.accounts.ServeHTTP(w, r)
	})
	for name, who := range n.people {
		if who.Role != "" {
			n.join(name)
		}
	}
	return h
}

// signIn gives everybody a new account, signs them in, and gives Ada what belongs to her.
func (h *house) signIn() {
	h.t.Helper()
	link := func(email string) string {
		token, err := h.db.Links.Create(h.t.Context(), email, account.LinkSignIn, h.now)
		if err != nil {
			h.t.Fatal(err)
		}
		return token
	}
	for name, who := range h.people {
		err := h.db.Accounts.Delete(h.t.Context(), who.Email)
		if err != nil && !errors.Is(err, sqldb.ErrNotFound) {
			h.t.Fatal(err)
		}
		if _, err := h.db.Accounts.Create(h.t.Context(), who.Email, account.Pro, h.now); err != nil {
			h.t.Fatal(err)
		}
		h.cookies[name] = nil
		r := h.as("").fill("/compte/connexion", []string{"jeton", link(who.Email)}).Is(303)
		h.cookies[name] = (&http.Response{Header: r.Header}).Cookies()[0]
		who.Token = account.FormToken(h.cookies[name].Value)
		h.people[name] = who
	}
	ctx, ada := h.t.Context(), h.people["Ada"].Email
	_, key, err := h.db.Keys.Create(ctx, ada, "x", nil, h.now)
	if err != nil {
		h.t.Fatal(err)
	}
	e, err := h.db.Endpoints.Create(ctx, key.AccountID, "https://hooks.example/", nil, func(string) string { return "" }, nil, h.now)
	if err != nil {
		h.t.Fatal(err)
	}
	d, err := h.db.Deliveries.Ping(ctx, account.OwnedBy(key.AccountID), e.ID, h.now)
	if err != nil {
		h.t.Fatal(err)
	}
	sessions, err := h.db.Sessions.List(ctx, key.AccountID, h.now)
	if err != nil {
		h.t.Fatal(err)
	}
	h.belongs = strings.NewReplacer("SESSION", sessions[0].ID, "KEY", key.ID, "ENDPOINT", e.ID, "DELIVERY", d.ID,
		"LINK", link("eve@example.org"))
}

// fill sends a form without the token of the session.
func (p person) fill(path string, fields []string, headers ...string) *testkit.Reply {
	p.t.Helper()
	form := url.Values{}
	for i := 0; i < len(fields); i += 2 {
		form.Add(fields[i], fields[i+1])
	}
	return p.do("POST", path, formType, strings.NewReader(form.Encode()), headers...)
}

// foreign are the headers of a form on another site.
var foreign = []string{"Sec-Fetch-Site: cross-site", "Origin: https://evil.example"}

func TestEverybodyMayDoWhatTheirRoleAllowsAndNothingElse(t *testing.T) {
	each(t, func(t *testing.T, n *newsroom) {
		n.write("pages/equipe.md", "---\ntitle: L’équipe\n---\nNous.\n")
		h := newHouse(t, n)
		h.signIn()
		n.as("Ada").publish("copie", n.seen(n.as("Ada").open("outils/plume"))).Is(http.StatusSeeOther)
		for pattern, role := range desk.Routes() {
			if role == "" && pattern == "GET /apercu/{path...}" {
				continue // for everybody: see private links
			}
			t.Run(pattern, func(t *testing.T) { h.tryDesk(t, pattern, role) })
		}
		for _, pattern := range h.accounts.Patterns() {
			if pattern != "/" { // what there is not
				t.Run(pattern, func(t *testing.T) { h.tryAccount(t, pattern) })
			}
		}
	})
}

// tryDesk tries a route of the desk, which needs a role.
func (h *house) tryDesk(t *testing.T, pattern string, role account.Role) {
	h.t = t
	given := tried[pattern]
	if given == nil {
		t.Fatal("this route is not tried")
	}
	isForm := strings.HasPrefix(pattern, "POST ")
	for _, who := range everybody {
		p, copied := h.as(who), h.as("Bob").open("outils/encre")
		path := strings.Replace(given[0], "COPY", copied, 1)
		if path == "REPORT" {
			path = "/redaction/signalements/" + h.reported()
		}
		isDenied := !h.people[who].Role.Includes(role) || who == "Cleo" && strings.HasPrefix(given[0], "COPY")
		var fields []string
		for _, field := range given[1:] {
			fields = append(fields, strings.ReplaceAll(field, "NOUVEAU", who+strconv.Itoa(len(pattern))))
		}
		if isForm { // without the token of the session, from another site
			form := strings.NewReader("jeton=" + h.people["Ada"].Token + "x")
			h.isRefused(t, p.do("POST", path, formType, form))
			h.isRefused(t, p.send(path, fields, foreign...))
		}
		h.isRefused(t, p.do("DELETE", path, formType, nil))
		r := p.get(path)
		if isForm {
			r = p.send(path, fields)
		}
		switch {
		case who == "" && isForm:
			r.Is(http.StatusForbidden).Contains("Session terminée")
		case who == "":
			r.Is(http.StatusSeeOther)
			if to := r.Header.Get("Location"); !strings.HasPrefix(to, "/compte") {
				t.Errorf("strangers are sent to %s", to)
			}
		case isDenied:
			r.Is(http.StatusNotFound).Lacks("Encre", "encre")
		case r.Status == http.StatusNotFound || r.Status == http.StatusForbidden || r.Status >= 500:
			t.Errorf("%s: %d for %s", r, r.Status, who)
		}
	}
}

// isRefused fails the test unless somebody is told nothing, or sent to the form to sign in.
func (h *house) isRefused(t *testing.T, r *testkit.Reply) {
	t.Helper()
	isSent := r.Status == http.StatusSeeOther && strings.HasPrefix(r.Header.Get("Location"), "/compte")
	if !isSent && r.Status != http.StatusForbidden && r.Status != http.StatusNotFound {
		t.Errorf("%s: %d", r, r.Status)
	}
}

// tryAccount tries a route of the account.
func (h *house) tryAccount(t *testing.T, pattern string) {
	h.t = t
	row, ok := accountRows[pattern]
	if !ok {
		t.Fatal("this route is not tried")
	}
	h.signIn()
	method, _, _ := strings.Cut(pattern, " ")
	path := h.belongs.Replace(row.path)
	var fields []string
	for _, field := range row.fields {
		fields = append(fields, h.belongs.Replace(field))
	}
	for _, who := range everybody {
		p, want := h.as(who), row.who
		switch who {
		case "":
			want = row.visitor
		case "Ada":
			want = row.ada
		}
		p.do("DELETE", path, formType, nil).Is(http.StatusMethodNotAllowed).Contains("Méthode refusée").
			HasHeader("Allow", h.methods(pattern))
		if method == http.MethodGet {
			p.get(path).Is(want)
			p.do("HEAD", path, "", nil).Is(want)
			continue
		}
		if path != "/suivre/fin" { // which mailboxes send
			p.fill(path, fields, foreign...).Is(http.StatusForbidden).Contains("Demande refusée")
		}
		r := p.fill(path, fields).Is(want)
		if row.visitor == http.StatusForbidden && who == "" {
			r.Contains("Session terminée", "rien n’a été fait", "Reconnectez-vous")
		}
	}
}

// methods returns the methods of the path of a pattern, as a refusal lists them.
func (h *house) methods(pattern string) string {
	_, path, _ := strings.Cut(pattern, " ")
	var all []string
	for _, method := range []string{"GET", "HEAD", "POST"} {
		if slices.Contains(h.accounts.Patterns(), strings.Replace(method, "HEAD", "GET", 1)+" "+path) {
			all = append(all, method)
		}
	}
	return strings.Join(all, ", ")
}
