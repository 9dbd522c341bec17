package browser_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"palmares/internal/testkit"
)

// A customer is somebody who uses the account pages in a tab.
type customer struct {
	*tab
	seen map[string]bool // headings of the pages whose layout and accessibility were checked
}

// shows checks that the page contains some words and, the first time that a page has its
// heading, that its layout holds at every width and that it is accessible.
func (c customer) shows(words ...string) {
	c.t.Helper()
	text := c.text("main")
	for _, w := range words {
		if !strings.Contains(text, w) {
			c.t.Fatalf("%s does not say %q: %s", c.lastURL(), w, text)
		}
	}
	heading := c.text("h1")
	if c.seen[heading] {
		return
	}
	c.seen[heading] = true
	c.hasSoundLayout("account-"+heading, widths)
	c.isAccessible(c.lastURL())
	c.show(desktop)
}

// fill types into an empty field.
func fill(selector, text string) chromedp.Action[chromedp.Void] {
	return chromedp.SendKeys(chromedp.CSS(selector), text)
}

func click(selector string) chromedp.Action[chromedp.Void] {
	return chromedp.Click(chromedp.CSS(selector))
}

func TestACustomerDoesEverythingHerself(t *testing.T) {
	t.Parallel()
	s := startService(t)
	// The wide typeface is the one that makes lines too long; the public pages have both.
	runJourney(s, customer{openTab(t, wideBrowser, desktop, s.url), map[string]bool{}})
}

// runJourney is everything a customer can do with an account, from signing up to
// deleting it.
func runJourney(s *service, b customer) {
	signsUp(s, b)
	key := createsAKey(s, b)
	replacesAndRevokes(s, b, key)
	endpoint := addsAnEndpoint(s, b)
	readsDeliveries(s, b, endpoint)
	leaves(s, b, key)
}

func signsUp(s *service, b customer) {
	b.goTo("/signaler?page=/outils/plume")
	b.shows("Ce qui est faux", "/outils/plume")
	b.goTo("/suivre")
	b.shows("Tout le catalogue")
	b.goTo("/compte")
	b.shows("Une adresse suffit")
	b.leave(fill("main input[type=email]", "ada@example.org"), click("main form button"))
	b.at("/compte/courriel", "Regardez vos courriels")
	b.shows("15 minutes")
	b.goTo(s.link())
	b.shows("ada@example.org")
	b.follow("main form button")
	b.at("/compte?fait=connexion", "Votre compte")
	b.shows("ada@example.org", "Créez votre première clé", "0 sur 1 000 requêtes")
}

func createsAKey(s *service, b customer) (key string) {
	b.leave(fill("[name=nom]", "portable"), click("form[action='/compte/cles'] button"))
	b.at("/compte/cles", "Votre nouvelle clé")
	b.shows("« portable »", "ne s’affichera plus jamais", "curl -H")
	key = b.text("[id='page.cle']")
	if !strings.HasPrefix(key, "plm_") {
		b.t.Fatalf("the key is %q", key)
	}
	b.await(`!document.querySelector("button[data-copy]").hidden`)
	if got := s.call(key); got != 200 {
		b.t.Fatalf("the key is answered %d", got)
	}
	testkit.Until(b.t, "counting the request", func() bool {
		b.goTo("/compte/usage")
		return strings.Contains(b.text(".today"), "1 sur 1 000")
	})
	b.shows("30 derniers jours", "1 requête en tout")
	b.goTo("/compte")
	b.shows("1 clé active, sur 3", "Avec Pro, chaque publication")
	return key
}

func replacesAndRevokes(s *service, b customer, key string) {
	b.goTo("/compte/cles")
	b.shows("portable", "Active")
	b.follow(".entry-name a")
	b.shows("Remplacer", "Révoquer")
	b.follow("form[action$=remplacement] button")
	b.shows("La clé est remplacée", "L’ancienne clé fonctionne encore")
	second := b.text("[id='page.cle']")
	if a, c := s.call(key), s.call(second); a != 200 || c != 200 {
		b.t.Fatalf("in the overlap the keys are answered %d and %d", a, c)
	}
	b.follow("main > .more a")
	b.shows("Remplacée")
	b.follow(".entries li:last-child .entry-name a")
	b.follow("a[href$=revocation]")
	b.shows("refusée partout")
	b.follow("main form button")
	b.at("/compte/cles?fait=cle-revoquee", "Clés")
	testkit.Until(b.t, "refusal of the revoked key", func() bool { return s.call(second) == 401 })
	b.shows("La clé est révoquée", "1 ancienne clé")
}

// addsAnEndpoint is for an account that the operator made Pro. It returns the path of
// the endpoint's page.
func addsAnEndpoint(s *service, b customer) string {
	b.goTo("/compte/webhooks")
	b.shows("Avec la formule Pro")
	b.goTo("/compte/pro")
	b.shows("Vous êtes Developer", "99 €", "accordé par son opérateur")
	s.command("account", "plan", "ada@example.org", "pro")
	b.goTo("/compte/pro")
	b.shows("Vous êtes Pro", "accordé par l’opérateur")
	b.goTo("/compte/webhooks")
	b.shows("Aucun pour l’instant")
	b.watch.forgive(s.url + "/compte/webhooks") // the next request is refused
	b.meet(400, fill("[name=url]", "ftp://x"), click("form[action='/compte/webhooks'] button"))
	b.shows("doit commencer par")
	b.leave(chromedp.SetValue(chromedp.CSS("[name=url]"), s.receiver+"/in"), click("form[action='/compte/webhooks'] button"))
	b.shows("ne s’affichera plus jamais", "whsec_")
	b.follow("main > .more a")
	b.shows("Actif", "Rien n’a encore été envoyé ici")
	return strings.TrimPrefix(b.lastURL(), s.url)
}

func readsDeliveries(s *service, b customer, endpoint string) {
	b.follow("form[action$=essai] button")
	s.hook("webhook.ping")
	s.publish("29 €/mois")
	price := s.hook("pricing.updated")
	b.goTo(endpoint)
	b.shows("pricing.updated", "Tout le journal")
	testkit.Until(b.t, "listing the delivery", func() bool {
		b.goTo(endpoint + "/envois?type=pricing.updated")
		return strings.Contains(b.text(".entries"), "Remis")
	})
	b.shows("Journal des envois", "réponse 200")
	b.follow(".entry-name a")
	b.do(click("summary"))
	b.shows("pricing.updated", `<script>alert("received")</script>`, "29 €/mois")
	first := b.lastURL()
	b.follow("form[action$=renvoi] button")
	if again := s.hook("pricing.updated"); again != price {
		b.t.Fatalf("sent again, it is %s instead of %s", again, price)
	}
	if b.lastURL() == first {
		b.t.Error("the page is still that of the first delivery")
	}
	b.shows("renvoi")
	b.goTo(endpoint)
	b.follow("form[action$=etat] button")
	b.shows("En pause", "Reprendre")
	b.leave(click("form[action$=reprise] button"))
	b.shows("La récupération est demandée", "Demandée le")
	b.follow("a[href$=suppression]")
	b.shows("Plus rien ne sera envoyé")
}

func leaves(s *service, b customer, key string) {
	b.goTo("/compte/sessions")
	b.shows("ce navigateur")
	b.goTo("/compte/donnees")
	b.shows("Télécharger mes données")
	b.goTo("/compte/suppression")
	b.shows("Ce qui disparaît")
	b.follow("main form button")
	b.shows("Rien n’est encore supprimé")
	b.goTo(s.link())
	b.shows("Dernière étape")
	b.follow("main form button")
	b.at("/compte/adieu", "Compte supprimé")
	b.shows("Il ne reste rien")
	testkit.Until(b.t, "refusal of the keys", func() bool { return s.call(key) == 401 })
	b.goTo("/compte")
	b.shows("Une adresse suffit")
	b.watch.forgive(s.url + "/compte/nulle-part")
	b.open(pageKind{path: "/compte/nulle-part", status: 404})
	b.shows("Page introuvable")
}
