package accountsite

import (
	"cmp"
	"errors"
	"net/http"
	"net/netip"
	"strings"

	"palmares/internal/account"
	"palmares/internal/accountdb"
	"palmares/internal/clientip"
	"palmares/internal/sqldb"
)

// signInForm is the form to sign up and to sign in.
type signInForm struct {
	Email   string // as typed
	To      string // a destination, "" for the account
	Problem string // "" for none
	InLog   bool   // links are in the log, which the visitor can read
	NeedTLS bool   // browsers will reject the cookie
}

func (p *pages) form(r *request, email, problem string) *signInForm {
	return &signInForm{
		Email: email, To: r.destination(), Problem: problem, InLog: p.inLog(),
		NeedTLS: !p.local && !strings.HasPrefix(p.BaseURL, "https://"),
	}
}

func (p *pages) inLog() bool { return p.MailLogged && p.local }

type welcomePage struct {
	page
	Form *signInForm
}

func (p *pages) welcome(r *request, email, problem string) *response {
	return render("welcome", welcomePage{page: r.page("Compte"), Form: p.form(r, email, problem)})
}

// requestLink mails a link. The response must not reveal whether the account exists: it
// depends only on whether the address is valid.
func (p *pages) requestLink(r *request) (*response, error) {
	typed := r.PostForm.Get("email")
	if strings.TrimSpace(typed) == "" {
		return p.rejectEmail(r, typed, "Indiquez votre adresse électronique."), nil
	}
	queued, err := p.Store.Links.Request(r.Context(), typed, account.LinkSignIn, r.destination(), p.network(r), r.Now)
	if errors.Is(err, sqldb.ErrInvalid) {
		return p.rejectEmail(r, typed,
			"Cette adresse n’en est pas une\u00a0: écrivez-la seule, comme ada@example.org."), nil
	}
	if err := p.belowCeiling(err); err != nil {
		return nil, err
	}
	if queued {
		p.WakeMail()
	}
	return seeOther(sentPath, ""), nil
}

// belowCeiling returns an error of Links.Request unless it is the ceiling of all mails
// together, which it logs once an hour: visitors see nothing of it.
func (p *pages) belowCeiling(err error) error {
	if !errors.Is(err, accountdb.ErrCeiling) {
		return err
	}
	last, now := p.ceilingLogged.Load(), p.Now().Unix()
	if now-last >= 3600 && p.ceilingLogged.CompareAndSwap(last, now) {
		p.Log.Error("too many mails to sign in or to follow something are requested: for an hour some are not sent; " +
			"somebody may be making up addresses")
	}
	return nil
}

// network returns the network of the visitor, by which requests for mails are limited.
func (p *pages) network(r *request) netip.Prefix {
	return clientip.Network(clientip.Addr(r.Request.Request, p.Trusted))
}

func (p *pages) rejectEmail(r *request, typed, problem string) *response {
	a := p.welcome(r, typed, problem)
	a.Status = http.StatusBadRequest
	return a
}

type sentPage struct {
	page
	InLog   bool
	Minutes int
}

// linkSent is the same for everybody, see requestLink.
func (p *pages) linkSent(r *request) (*response, error) {
	data := sentPage{page: r.page("Regardez vos courriels"), InLog: p.inLog(), Minutes: int(account.LinkLife.Minutes())}
	return render("sent", data), nil
}

type linkPage struct {
	page
	Email string
	Token string
	To    string // a destination, "" for the account
}

// showLink shows the button that uses a link. Opening the link does not: mail
// scanners open links too.
func (p *pages) showLink(r *request) (*response, error) {
	token := r.URL.Query().Get("jeton")
	email, err := p.Store.Links.Check(r.Context(), token, account.LinkSignIn, r.Now)
	if err != nil {
		return p.linkFailure(r, err)
	}
	return render("link", linkPage{page: r.page("Connexion"), Email: email, Token: token, To: r.destination()}), nil
}

func (p *pages) useLink(r *request) (*response, error) {
	replaced := ""
	if c, err := r.Cookie(p.cookieName()); err == nil {
		replaced = c.Value
	}
	secret, err := p.Store.Links.SignIn(r.Context(), r.PostForm.Get("jeton"), account.DescribeBrowser(r.UserAgent()),
		replaced, r.Now)
	if err != nil {
		return p.linkFailure(r, err)
	}
	a := seeOther(homePath, "connexion")
	if to := pathOf(r.destination()); to != "" {
		a = seeOther(to, "")
	}
	a.Cookie = p.cookie(secret)
	return a, nil
}

// linkFailure is the response to a link that cannot be used. A second click leads where the first
// did.
func (p *pages) linkFailure(r *request, err error) (*response, error) {
	switch {
	case errors.Is(err, accountdb.ErrLinkUsed) && r.owner != nil:
		return seeOther(cmp.Or(pathOf(r.destination()), homePath), ""), nil
	case errors.Is(err, sqldb.ErrNotFound):
		return nil, &failure{
			Status: http.StatusNotFound, Title: "Lien inconnu", SignIn: true,
			Text: "Ce lien n’est pas l’un des nôtres, ou plus\u00a0: il est peut-être coupé, " +
				"ou trop ancien. Copiez-le en entier depuis le courriel, ou demandez-en un autre.",
		}
	}
	return nil, err
}
