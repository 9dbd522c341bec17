package accountsite_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"palmares/internal/account"
	"palmares/internal/accountsite"
	"palmares/internal/mail"
	"palmares/internal/sqldb"
)

// deletionLink creates the link that a mail about a deletion contains.
func (p *server) deletionLink(email string) string {
	p.t.Helper()
	token, err := p.store.Links.Create(p.t.Context(), email, account.LinkDeletion, p.now)
	if err != nil {
		p.t.Fatal(err)
	}
	return token
}

func TestAnAccountIsDeletedByTheLinkInTheMail(t *testing.T) {
	each(t, publicURL, func(t *testing.T, p *server) {
		c := p.withStripe()
		h := p.newFullAccount()
		h.post("/compte/pro/abonnement").Is(303)
		c.subscribe("active", monday.AddDate(0, 1, 0), false)
		h.get("/compte/pro?session_id=cs_1").Is(200)
		eve := p.signedIn("eve@example.org")

		h.get("/compte/suppression").Is(200).Contains("Ce qui disparaît", "ada@example.org", "l’abonnement à Pro")
		woken := p.woken.Load()
		h.post("/compte/suppression/demande").RedirectsTo(303, "/compte/suppression?fait=suppression")
		mails, err := p.store.Mails.Claim(t.Context(), p.now, 10)
		if err != nil || len(mails) != 1 || mails[0].Kind != mail.ConfirmDeletion || mails[0].To != "ada@example.org" || p.woken.Load() != woken+1 {
			t.Fatalf("the mails are %v, %v", mails, err)
		}
		h.get("/compte/suppression?fait=suppression").Is(200).Contains("Rien n’est encore supprimé")

		token := p.deletionLink("ada@example.org")
		if got := accountsite.LinkURL(publicURL, account.LinkDeletion, "", token); got != publicURL+"/compte/suppression?jeton="+token {
			t.Errorf("the link is %s", got)
		}
		// Mail scanners open it, without a cookie.
		for range 3 {
			p.browser().get("/compte/suppression?jeton="+token).Is(200).Contains("ada@example.org", "Dernière étape", `name="jeton" value="`+token+`"`)
		}
		if c.canceled {
			t.Fatal("opening the link cancels the subscription")
		}
		p.account("ada@example.org") // it still exists
		h.post("/compte/suppression", "jeton", token).RedirectsTo(303, "/compte/adieu")
		if h.cookie != nil || !c.canceled {
			t.Errorf("the cookie is %v, the subscription has ended: %t", h.cookie, c.canceled)
		}
		h.get("/compte/adieu").Is(200).Contains("Compte supprimé", "Il ne reste rien")
		if _, err := p.store.Accounts.Find(t.Context(), "ada@example.org"); !errors.Is(err, sqldb.ErrNotFound) {
			t.Errorf("the account still exists: %v", err)
		}
		for _, text := range h.secrets[:4] {
			if _, err := p.store.Keys.ByHash(t.Context(), account.HashKey(text)); !errors.Is(err, sqldb.ErrNotFound) {
				t.Errorf("a key still exists: %v", err)
			}
		}
		if left, err := p.store.Endpoints.List(t.Context(), account.AnyOwner()); len(left) != 0 || err != nil {
			t.Errorf("endpoints are left: %v, %v", left, err)
		}
		if mails, err := p.store.Mails.Claim(t.Context(), p.now.Add(24*time.Hour), 10); len(mails) != 0 || err != nil {
			t.Errorf("mails are left: %v, %v", mails, err)
		}
		if left, err := p.store.Subscriptions.Cancellations(t.Context()); len(left) != 0 || err != nil {
			t.Errorf("the cancellation is still queued after Stripe confirmed it: %v, %v", left, err)
		}
		// Only the fact that the link was used is kept.
		p.browser().post("/compte/suppression", "jeton", token).RedirectsTo(303, "/compte/adieu")
		p.browser().get("/compte/suppression?jeton=" + token).Is(410).Contains("le compte est supprimé").Lacks("ada@example.org")
		eve.get("/compte").Is(200).Contains("eve@example.org")
	})
}

func TestConcurrentClicksDeleteOnceAndAllSaySo(t *testing.T) {
	each(t, publicURL, func(t *testing.T, p *server) {
		p.signedIn("ada@example.org")
		token := p.deletionLink("ada@example.org")
		var wait sync.WaitGroup
		for range 20 {
			wait.Go(func() {
				r := p.browser().post("/compte/suppression", "jeton", token)
				if to := r.Header.Get("Location"); to != "/compte/adieu" {
					t.Errorf("a click answers %d and redirects to %q", r.Status, to)
				}
			})
		}
		wait.Wait()
	})
}

func TestAnInvalidDeletionLinkDeletesNothing(t *testing.T) {
	each(t, publicURL, func(t *testing.T, p *server) {
		b := p.signedIn("ada@example.org")
		p.browser().get("/compte/suppression").RedirectsTo(303, "/compte")
		b.get("/compte/suppression").Is(200).Lacks("l’abonnement à Pro")
		signIn := p.link("ada@example.org")
		for _, token := range []string{"", "x", signIn} {
			b.get("/compte/suppression?jeton=" + token).Is(404).Contains("Lien inconnu")
			b.post("/compte/suppression", "jeton", token).Is(404).Contains("Lien inconnu")
		}
		token := p.deletionLink("ada@example.org")
		b.do("POST", "/compte/suppression", "jeton="+token, "Sec-Fetch-Site: cross-site", "Origin: https://evil.example").Is(403)
		p.now = p.now.Add(account.LinkLife)
		b.post("/compte/suppression", "jeton", token).Is(410).Contains("plus de 15\u00a0minutes", "rien n’a été supprimé")
		b.get("/compte/suppression?jeton=" + token).Is(410)
		// A link for an address that has no account.
		b.post("/compte/suppression", "jeton", p.deletionLink("nobody@example.org")).Is(404)
		p.account("ada@example.org")
		for i := range 4 {
			want := "/compte/suppression?fait=suppression"
			if i == 3 {
				want += "-limite"
			}
			b.post("/compte/suppression/demande").RedirectsTo(303, want)
		}
		b.get("/compte/suppression?fait=suppression-limite").Is(200).Contains("patientez une heure, un jour au plus", "Rien n’est supprimé")
	})
}

func TestADeletionDoesNotWaitForStripe(t *testing.T) {
	each(t, publicURL, func(t *testing.T, p *server) {
		c := p.withStripe()
		b := p.signedIn("ada@example.org")
		b.post("/compte/pro/abonnement").Is(303)
		c.subscribe("active", monday.AddDate(0, 1, 0), false)
		c.setUnreachable(true)
		b.post("/compte/suppression", "jeton", p.deletionLink("ada@example.org")).RedirectsTo(303, "/compte/adieu")
		if left, err := p.store.Subscriptions.Cancellations(t.Context()); len(left) != 1 || left[0] != "cus_1" || err != nil {
			t.Errorf("to be cancelled: %v, %v", left, err)
		}
	})
}
