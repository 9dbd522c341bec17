package accountsite

import (
	"errors"
	"time"

	"palmares/internal/sqldb"
	"palmares/internal/webhook"
)

// A secretPage shows a key or the secret of an endpoint, once: in the response to the
// request that created it. It has no address of its own.
type secretPage struct {
	page
	Secret  copyable
	Name    string // of the key, or address of the endpoint
	Curl    copyable
	OldEnds time.Time // when what was replaced stops working; zero if nothing was
	Back    string
}

// A copyable is a text with a button to copy it.
type copyable struct{ ID, Text, What string }

func (p *endpoints) showNewSecret(r *request, title, secret string, e webhook.Endpoint, oldEnds time.Time) *response {
	data := secretPage{
		page: r.page(title), Name: e.URL, OldEnds: oldEnds, Back: endpointsPath + "/" + e.ID,
		Secret: copyable{"page.secret", secret, "le secret"},
	}
	return render("newsecret", data)
}

func (p *endpoints) rotateSecret(r *request) (*response, error) {
	id, last := r.PathValue("id"), time.Time{}
	if text := r.PostForm.Get("ancien"); text != "" {
		var err error
		last, err = time.Parse(time.RFC3339Nano, text)
		if err != nil {
			return nil, unreadableForm()
		}
	}
	secret := webhook.NewSecret()
	e, err := p.Store.Endpoints.RotateSecret(r.Context(), r.owner.Account.Owner(), id, p.Sealer.Seal(id, secret), new(
		last),
		r.Now)

	if errors.Is(err, sqldb.ErrChanged) {
		return seeOther(endpointsPath+"/"+id, "secret-deja-remplace"), nil
	}
	if err != nil {
		return nil, err
	}
	return p.showNewSecret(r, "Le secret est remplacé", secret, e, e.OldSecretUntil), nil
}
