package accountsite

import (
	"context"
	"errors"
	"net/http"
	"sync"
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

// A Guest is somebody who is signed in.
type Guest struct {
	Account account.Account
	Session account.Session
	// FormToken is for the forms of this session: another site cannot know it.
	FormToken string
}

// Guest returns who sent a request to other pages of the site, nil if nobody is signed in. It
// extends the session as the pages of the account do. An error means that this cannot be known at
// the moment.
func (h *Handler) Guest(w http.ResponseWriter, r *http.Request) (*Guest, error) {
	ctx, cancel := context.WithTimeout(r.Context(), requestTimeout)
	defer cancel()
	guest, leave, err := h.pages.identify(w, r.WithContext(ctx), h.pages.Now())
	leave()
	return guest, err
}

// identify returns who sent a request, nil for a stranger, who has one of the places for strangers
// until leave is called.
func (p *pages) identify(
	w http.ResponseWriter, r *http.Request, now time.Time,
) (guest *Guest, leave func(), err error) {
	leave = func() {}
	if p.Outage != nil {
		if err := p.Outage(); err != nil {
			if sqldb.IsPermanent(err) {
				return nil, leave, broken
			}
			return nil, leave, unavailable
		}
	}
	secret := ""
	if c, err := r.Cookie(p.cookieName()); err == nil {
		secret = c.Value
	}
	if _, known := p.known.Get(account.HashToken(secret)); !known {
		if err := p.strangers.Enter(r.Context(), 1); err != nil {
			return nil, leave, unavailable
		}
		leave = sync.OnceFunc(func() { p.strangers.Leave(1) })
	}
	guest, err = p.authenticate(w, r, secret, now)
	if guest != nil || err != nil {
		leave()
	}
	return guest, leave, err
}

// authenticate finds the session of a secret. A session is extended on the first
// visit of a day; if that fails, it keeps its end.
func (p *pages) authenticate(w http.ResponseWriter, r *http.Request, secret string, now time.Time) (*Guest, error) {
	if secret == "" {
		return nil, nil
	}
	session, who, err := p.Store.Sessions.Find(r.Context(), secret, now)
	if errors.Is(err, sqldb.ErrNotFound) {
		http.SetCookie(w, p.cookie(""))
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	p.known.Put(account.HashToken(secret), struct{}{})
	extended, err := p.Store.Sessions.Extend(r.Context(), session, now)
	if err != nil {
		p.Log.Warn("could not extend a session", "error", err)
	}
	if extended {
		http.SetCookie(w, p.cookie(secret))
	}
	return &Guest{Account: who, Session: session, FormToken: account.FormToken(secret)}, nil
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
	a.Cookie = p.cookie("")
	return a, nil
}

type sessionsPage struct {
	page
	Sessions []account.Session
	Here     string // the id of this one
}

func (p *pages) listSessions(r *request) (*response, error) {
	all, err := p.Store.Sessions.List(r.Context(), r.owner.Account.ID, r.Now)
	if err != nil {
		return nil, err
	}
	return render("sessions", sessionsPage{page: r.page("Sessions"), Sessions: all, Here: r.owner.Session.ID}), nil
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
	return seeOther(sessionsPath, "session-terminee"), err
}

func (p *pages) endOtherSessions(r *request) (*response, error) {
	err := p.Store.Sessions.EndOthers(r.Context(), r.owner.Account.ID, r.owner.Session.ID)
	return seeOther(sessionsPath, "autres-terminees"), err
}

// day formats the UTC day of a time, for templates.
func day(t time.Time) string { return t.UTC().Format(time.DateOnly) }
