package accountsite

import (
	"context"
	"errors"
	"net/http"
	"time"

	"palmares/internal/account"
	"palmares/internal/accountdb"
	"palmares/internal/sqldb"
)

type deletionPage struct {
	page
	Email string
	Token string // of the link; "" before it was requested
	InLog bool
	Paid  bool // a subscription ends too

	Refused bool // the subscription could not be cancelled

	AtDesk bool // the owner writes at the desk
}

// showDeletion says what a deletion deletes: to an owner, before asking for the link,
// and to whoever follows the link, before confirming.
func (p *belongings) showDeletion(r *request) (*response, error) {
	data := deletionPage{page: r.page("Supprimer le compte"), Token: r.URL.Query().Get("jeton"), InLog: p.inLog()}
	switch {
	case r.URL.Query().Has("jeton"):
		email, err := p.Store.Links.Check(r.Context(), data.Token, account.LinkDeletion, r.Now)
		if err != nil {
			return nil, deletionFailure(err)
		}
		data.Email = email
		return render("confirmdeletion", data), nil
	case r.owner == nil:
		return seeOther(homePath, ""), nil
	}
	s, err := p.Store.Subscriptions.Find(r.Context(), r.owner.Account.ID)
	if err != nil {
		return nil, err
	}
	who, err := editorOf(r.Context(), p.Desk, r.owner.Account)
	if err != nil {
		return nil, err
	}
	data.Email, data.Paid, data.AtDesk = r.owner.Account.Email, s.Status.Live(), who != nil
	return render("deletion", data), nil
}

// requestDeletion mails the link: access to a browser must not be enough to delete.
func (p *belongings) requestDeletion(r *request) (*response, error) {
	queued, err := p.Store.Links.Request(r.Context(), r.owner.Account.Email, account.LinkDeletion, "", p.network(r), r.Now)
	if err := p.belowCeiling(err); err != nil {
		return nil, err
	}
	if !queued {
		return seeOther(deletionPath, "suppression-limite"), nil
	}
	p.WakeMail()
	return seeOther(deletionPath, "suppression"), nil
}

// cancelTimeout is how long a page waits for Stripe.
const cancelTimeout = 5 * time.Second

// deleteAccount uses the link; a second click leads where the first did. The subscription is
// cancelled first: an account that may still be charged stays.
func (p *belongings) deleteAccount(r *request) (*response, error) {
	token := r.PostForm.Get("jeton")
	email, err := p.Store.Links.Check(r.Context(), token, account.LinkDeletion, r.Now)
	if errors.Is(err, accountdb.ErrLinkUsed) {
		return seeOther(goodbyePath, ""), nil
	}
	if err != nil {
		return nil, deletionFailure(err)
	}
	a, err := p.Store.Accounts.Find(r.Context(), email)
	if errors.Is(err, sqldb.ErrNotFound) {
		// A second click deleted it meanwhile, or there never was an account.
		if _, err := p.Store.Links.Check(r.Context(), token, account.LinkDeletion, r.Now); errors.Is(err,
			accountdb.ErrLinkUsed) {
			return seeOther(goodbyePath, ""), nil
		}
	}
	if err != nil {
		return nil, deletionFailure(err)
	}
	cancelling, stop := context.WithTimeout(r.Context(), cancelTimeout)
	defer stop()
	err = p.Billing.Cancel(cancelling, a.ID)
	if sqldb.IsOutage(err) {
		return nil, err
	}
	if err != nil {
		p.Log.Error("could not cancel the subscription of an account, which was not deleted",
			"account", a.ID, "error", err)
		resp := render("confirmdeletion", deletionPage{
			page: r.page("Supprimer le compte"), Email: email, Token: token, Refused: true,
		})
		resp.Status = http.StatusBadGateway
		return resp, nil
	}
	err = p.Store.Links.DeleteAccount(r.Context(), token, r.Now)
	if err != nil && !errors.Is(err, accountdb.ErrLinkUsed) { // by a concurrent click
		return nil, deletionFailure(err)
	}
	resp := seeOther(goodbyePath, "")
	if r.owner != nil && r.owner.Account.ID == a.ID {
		resp.Cookie = p.cookie("")
	}
	return resp, nil
}

// deletionFailure returns the page for a link that cannot be used. It does not offer to
// sign in, which would not help once the account is deleted.
func deletionFailure(err error) error {
	switch {
	case errors.Is(err, accountdb.ErrLinkUsed):
		return &failure{
			Status: http.StatusGone, Title: "Ce lien ne sert plus",
			Text: "Il a déjà servi\u00a0: le compte est supprimé.",
		}
	case errors.Is(err, accountdb.ErrLinkExpired):
		return &failure{
			Status: http.StatusGone, Title: "Ce lien ne sert plus",
			Text: "Il a plus de 15\u00a0minutes, et rien n’a été supprimé. Redemandez-le depuis votre compte, " +
				"sous «\u00a0Données\u00a0».",
		}
	case errors.Is(err, sqldb.ErrNotFound):
		return &failure{
			Status: http.StatusNotFound, Title: "Lien inconnu",
			Text: "Ce lien n’est pas l’un des nôtres, ou le compte est déjà supprimé. S’il est coupé, " +
				"copiez-le en entier depuis le courriel.",
		}
	}
	return err
}

func (p *belongings) goodbye(r *request) (*response, error) {
	return render("goodbye", r.page("Compte supprimé")), nil
}
