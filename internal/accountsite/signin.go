package accountsite

import (
	"errors"
	"net/http"
	"strings"

	"palmares/internal/account"
	"palmares/internal/clientip"
	"palmares/internal/store"
)

// signInForm is the one form by which people sign up and sign in.
type signInForm struct {
	Email   string // as it was typed
	Problem string // what is wrong with it; "" for nothing
	InLog   bool   // there is no mail server, and whoever reads this can read the log
	NeedTLS bool   // browsers will not keep the cookie
}

func (p *portal) form(email, problem string) *signInForm {
	return &signInForm{
		Email: email, Problem: problem, InLog: p.inLog(),
		NeedTLS: !p.local && !strings.HasPrefix(p.BaseURL, "https://"),
	}
}

func (p *portal) inLog() bool { return p.MailLogged && p.local }

type welcomePage struct {
	page
	Form *signInForm
}

func (p *portal) welcome(r *request, email, problem string) *answer {
	data := welcomePage{page: r.page("Compte"), Form: p.form(email, problem)}
	return render("welcome", data.page, data)
}

// requestLink asks for a mail. The answer depends on the form of the address, which
// its writer knows, and on nothing that we know.
func (p *portal) requestLink(r *request) (*answer, error) {
	typed := r.PostForm.Get("email")
	if strings.TrimSpace(typed) == "" {
		return p.refuse(r, typed, "Indiquez votre adresse électronique."), nil
	}
	network := clientip.Network(clientip.Addr(r.Request, p.Trusted))
	queued, err := p.Store.Links.Request(r.Context(), typed, account.LinkSignIn, network, r.now)
	if errors.Is(err, store.ErrInvalid) {
		return p.refuse(r, typed, "Cette adresse n’en est pas une\u00a0: écrivez-la seule, comme ada@example.org."), nil
	}
	if err != nil {
		return nil, err
	}
	if queued {
		p.WakeMail()
	}
	return seeOther(sentPath, ""), nil
}

func (p *portal) refuse(r *request, typed, problem string) *answer {
	a := p.welcome(r, typed, problem)
	a.status = http.StatusBadRequest
	return a
}

type sentPage struct {
	page
	InLog   bool
	Minutes int
}

// linkSent is the same for everybody.
func (p *portal) linkSent(r *request) (*answer, error) {
	data := sentPage{page: r.page("Regardez vos courriels"), InLog: p.inLog(), Minutes: int(account.LinkLife.Minutes())}
	return render("sent", data.page, data), nil
}

type linkPage struct {
	page
	Email string
	Token string
}

// showLink shows the button that spends a link. Opening a link is no proof of a
// person: mail scanners do it.
func (p *portal) showLink(r *request) (*answer, error) {
	token := r.URL.Query().Get("jeton")
	email, err := p.Store.Links.Check(r.Context(), token, account.LinkSignIn, r.now)
	if err != nil {
		return p.deadLink(r, err)
	}
	data := linkPage{page: r.page("Connexion"), Email: email, Token: token}
	return render("link", data.page, data), nil
}

func (p *portal) spendLink(r *request) (*answer, error) {
	replaced := ""
	if c, err := r.Cookie(p.cookieName()); err == nil {
		replaced = c.Value
	}
	secret, err := p.Store.Links.SignIn(r.Context(), r.PostForm.Get("jeton"), account.DescribeBrowser(r.UserAgent()), replaced, r.now)
	if err != nil {
		return p.deadLink(r, err)
	}
	a := seeOther(homePath, "connexion")
	a.cookie = p.cookie(secret)
	return a, nil
}

// deadLink is what comes of a link that cannot be spent. Who clicked twice is where
// the first click led.
func (p *portal) deadLink(r *request, err error) (*answer, error) {
	switch {
	case errors.Is(err, store.ErrLinkUsed) && r.owner != nil:
		return seeOther(homePath, ""), nil
	case errors.Is(err, store.ErrNotFound):
		return nil, &failure{
			status: http.StatusNotFound, title: "Lien inconnu", form: true,
			text: "Ce lien n’est pas l’un des nôtres, ou plus\u00a0: il est peut-être coupé, ou trop ancien. Copiez-le en entier depuis le courriel, ou demandez-en un autre.",
		}
	}
	return nil, err
}
