package accountsite

import (
	"errors"
	"net/http"
	"time"

	"palmares/internal/account"
	"palmares/internal/sqldb"
)

// cookieName is the name of the session cookie. Browsers accept the prefix __Host-
// only over TLS and only from this host, so that no subdomain can set another one;
// http://localhost has no TLS.
func (p *pages) cookieName() string {
	if p.local {
		return "palmares"
	}
	return "__Host-palmares"
}

// cookie returns the session cookie with a secret; "" deletes it.
func (p *pages) cookie(secret string) *http.Cookie {
	c := &http.Cookie{
		Name: p.cookieName(), Value: secret, Path: "/", MaxAge: int(account.SessionLife / time.Second),
		Secure: !p.local, HttpOnly: true, SameSite: http.SameSiteLaxMode,
	}
	if secret == "" {
		c.MaxAge = -1
	}
	return c
}

// authenticate finds the session of a request. A session is extended on the first
// visit of a day; if that fails, it keeps its end.
func (p *pages) authenticate(w http.ResponseWriter, r *request, secret string) error {
	if secret == "" {
		return nil
	}
	session, who, err := p.Store.Sessions.Find(r.Context(), secret, r.now)
	if errors.Is(err, sqldb.ErrNotFound) {
		http.SetCookie(w, p.cookie(""))
		return nil
	}
	if err != nil {
		return err
	}
	p.known.Put(account.HashToken(secret), struct{}{})
	r.owner = &owner{Account: who, Session: session}
	extended, err := p.Store.Sessions.Extend(r.Context(), session, r.now)
	if err != nil {
		p.Log.Warn("could not extend a session", "error", err)
	}
	if extended {
		http.SetCookie(w, p.cookie(secret))
	}
	return nil
}

// signOut ends the session of this browser, if there is one.
func (p *pages) signOut(r *request) (*response, error) {
	if r.owner != nil {
		err := p.Store.Sessions.End(r.Context(), r.owner.Account.ID, r.owner.Session.ID)
		if err != nil && !errors.Is(err, sqldb.ErrNotFound) {
			return nil, err
		}
	}
	a := seeOther(homePath, "deconnexion")
	a.cookie = p.cookie("")
	return a, nil
}

type sessionsPage struct {
	page
	Sessions []sessionRow
	Others   bool // there are others than this one
}

type sessionRow struct {
	ID      string
	Browser string
	Since   string // a day
	SeenOn  string // a day
	Current bool
}

func (p *pages) listSessions(r *request) (*response, error) {
	all, err := p.Store.Sessions.List(r.Context(), r.owner.Account.ID, r.now)
	if err != nil {
		return nil, err
	}
	data := sessionsPage{page: r.page("Sessions"), Others: len(all) > 1}
	for _, s := range all {
		data.Sessions = append(data.Sessions, sessionRow{
			ID: s.ID, Browser: s.Browser, Since: day(s.CreatedAt), SeenOn: s.SeenOn, Current: s.ID == r.owner.Session.ID,
		})
	}
	return render("sessions", data), nil
}

func (p *pages) endSession(r *request) (*response, error) {
	id := r.PathValue("id")
	if id == r.owner.Session.ID {
		return p.signOut(r)
	}
	err := p.Store.Sessions.End(r.Context(), r.owner.Account.ID, id)
	if errors.Is(err, sqldb.ErrNotFound) {
		return seeOther(sessionsPath, "session-inconnue"), nil // ended elsewhere, or it expired
	}
	if err != nil {
		return nil, err
	}
	return seeOther(sessionsPath, "session-terminee"), nil
}

func (p *pages) endOtherSessions(r *request) (*response, error) {
	if err := p.Store.Sessions.EndOthers(r.Context(), r.owner.Account.ID, r.owner.Session.ID); err != nil {
		return nil, err
	}
	return seeOther(sessionsPath, "autres-terminees"), nil
}

// day formats the UTC day of a time, for templates.
func day(t time.Time) string { return t.UTC().Format(time.DateOnly) }
