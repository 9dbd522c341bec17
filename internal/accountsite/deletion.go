package accountsite

import (
	"context"
	"errors"
	"net/http"
	"time"

	"palmares/internal/account"
	"palmares/internal/clientip"
	"palmares/internal/store"
)

type deletionPage struct {
	page
	Email string
	Token string // of the link; "" where it is yet to be asked for
	InLog bool
	Paid  bool // there is a subscription that ends too
}

// showDeletion tells what a deletion takes, to an owner who thinks about it and to
// whoever followed the link that confirms it.
func (p *portal) showDeletion(r *request) (*answer, error) {
	data := deletionPage{page: r.page("Supprimer le compte"), Token: r.URL.Query().Get("jeton"), InLog: p.inLog()}
	switch {
	case r.URL.Query().Has("jeton"):
		email, err := p.Store.Links.Check(r.Context(), data.Token, account.LinkDeletion, r.now)
		if err != nil {
			return nil, deadDeletion(err)
		}
		data.Email = email
		return render("confirmdeletion", data.page, data), nil
	case r.owner == nil:
		return seeOther(homePath, ""), nil
	}
	s, err := p.Store.Subscriptions.Find(r.Context(), r.owner.Account.ID)
	if err != nil {
		return nil, err
	}
	data.Email, data.Paid = r.owner.Account.Email, s.Status.Live()
	return render("deletion", data.page, data), nil
}

// requestDeletion mails the link: a browser that was left open must not be enough.
func (p *portal) requestDeletion(r *request) (*answer, error) {
	network := clientip.Network(clientip.Addr(r.Request, p.Trusted))
	queued, err := p.Store.Links.Request(r.Context(), r.owner.Account.Email, account.LinkDeletion, network, r.now)
	if err != nil {
		return nil, err
	}
	if !queued {
		return seeOther(deletionPath, "suppression-limite"), nil
	}
	p.WakeMail()
	return seeOther(deletionPath, "suppression"), nil
}

// cancelPatience is how long a page waits for a Stripe that is slow; then the
// subscription is ended later (see billing.Billing.Cancel).
const cancelPatience = 5 * time.Second

// deleteAccount spends the link; who clicked twice is where the first click led. What
// is charged is ended at once: the deletion noted whose it is, and this forgets that.
func (p *portal) deleteAccount(r *request) (*answer, error) {
	token := r.PostForm.Get("jeton")
	email, err := p.Store.Links.Check(r.Context(), token, account.LinkDeletion, r.now)
	if errors.Is(err, store.ErrLinkUsed) {
		return seeOther(goodbyePath, ""), nil
	}
	if err != nil {
		return nil, deadDeletion(err)
	}
	a, err := p.Store.Accounts.Find(r.Context(), email)
	if errors.Is(err, store.ErrNotFound) {
		// By the other click, since the link was looked at; or there never was an account.
		if _, err := p.Store.Links.Check(r.Context(), token, account.LinkDeletion, r.now); errors.Is(err, store.ErrLinkUsed) {
			return seeOther(goodbyePath, ""), nil
		}
	}
	if err != nil {
		return nil, deadDeletion(err)
	}
	s, err := p.Store.Subscriptions.Find(r.Context(), a.ID)
	if err != nil {
		return nil, err
	}
	err = p.Store.Links.DeleteAccount(r.Context(), token, r.now)
	if err != nil && !errors.Is(err, store.ErrLinkUsed) { // by the other click, at the same moment
		return nil, deadDeletion(err)
	}
	cancelling, stop := context.WithTimeout(r.Context(), cancelPatience)
	defer stop()
	p.Billing.Cancel(cancelling, s.CustomerID)
	answer := seeOther(goodbyePath, "")
	if r.owner != nil && r.owner.Account.ID == a.ID {
		answer.cookie = p.cookie("")
	}
	return answer, nil
}

// deadDeletion is what comes of a link that cannot be spent. To sign in would not
// help those whose account is gone, and the others know how.
func deadDeletion(err error) error {
	switch {
	case errors.Is(err, store.ErrLinkUsed):
		return &failure{
			status: http.StatusGone, title: "Ce lien ne sert plus",
			text: "Il a déjà servi\u00a0: le compte est supprimé.",
		}
	case errors.Is(err, store.ErrLinkExpired):
		return &failure{
			status: http.StatusGone, title: "Ce lien ne sert plus",
			text: "Il a plus de 15\u00a0minutes, et rien n’a été supprimé. Redemandez-le depuis votre compte, sous «\u00a0Données\u00a0».",
		}
	case errors.Is(err, store.ErrNotFound):
		return &failure{
			status: http.StatusNotFound, title: "Lien inconnu",
			text: "Ce lien n’est pas l’un des nôtres, ou le compte est déjà supprimé. S’il est coupé, copiez-le en entier depuis le courriel.",
		}
	}
	return err
}

func (p *portal) goodbye(r *request) (*answer, error) {
	data := r.page("Compte supprimé")
	return render("goodbye", data, data), nil
}
