package accountsite_test

import (
	"errors"
	"testing"
	"time"

	"palmares/internal/account"
	"palmares/internal/accountsite"
	"palmares/internal/mail"
	"palmares/internal/sqldb"
	"palmares/internal/testkit"
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
		// Only the fact that the link was used is kept.
		p.browser().post("/compte/suppression", "jeton", token).RedirectsTo(303, "/compte/adieu")
		p.browser().get("/compte/suppression?jeton=" + token).Is(410).Contains("le compte est supprimé").Lacks("ada@example.org")
		eve.get("/compte").Is(200).Contains("eve@example.org")
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

func TestAnAccountWhoseSubscriptionCannotBeCancelledIsNotDeleted(t *testing.T) {
	each(t, publicURL, func(t *testing.T, p *server) {
		c := p.withStripe()
		h := p.newFullAccount()
		h.post("/compte/pro/abonnement").Is(303)
		c.subscribe("active", monday.AddDate(0, 1, 0), false)
		token := p.deletionLink("ada@example.org")
		tables := []string{"accounts", "api_keys", "endpoints", "sessions", "links", "mails", "subscriptions"}
		before := testkit.Dump(t, p.store.SQL.Reads(), tables...)
		c.setUnreachable(true)
		h.post("/compte/suppression", "jeton", token).Is(502).
			Contains("rien n’a été supprimé", `name="jeton" value="`+token+`"`, `<button type="submit">Réessayer</button>`)
		if after := testkit.Dump(t, p.store.SQL.Reads(), tables...); after != before {
			t.Errorf("the account was\n%s\nand is\n%s", before, after)
		}
		h.get("/compte").Is(200).Contains("ada@example.org")
		c.setUnreachable(false)
		h.post("/compte/suppression", "jeton", token).RedirectsTo(303, "/compte/adieu")
		if !c.canceled {
			t.Error("a deleted account pays")
		}
	})
}
