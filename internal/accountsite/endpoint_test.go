package accountsite_test

import (
	"fmt"
	"html"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"palmares/internal/account"
	"palmares/internal/accountsite"
	"palmares/internal/webhook"
)

func (p *server) endpoint(id string) webhook.Endpoint {
	p.t.Helper()
	e, err := p.store.Endpoints.Find(p.t.Context(), account.AnyOwner(), id)
	if err != nil {
		p.t.Fatal(err)
	}
	return e
}

func TestWebhooksNeedPro(t *testing.T) {
	each(t, publicURL, func(t *testing.T, p *server) {
		b := p.signedIn("ada@example.org")
		b.get("/compte/webhooks").Is(200).Contains("Avec la formule Pro", `href="/compte/pro"`).Lacks(`name="url"`)
		for _, url := range []string{"https://hooks.example/in", "x"} {
			b.post("/compte/webhooks", "url", url, "portee", "tous").Is(403).Contains("ne comprend pas les webhooks", "rien n’a été fait")
		}
		p.pro("ada@example.org")
		id, _ := b.createEndpoint("https://hooks.example/in")
		if err := p.store.Accounts.SetPlan(t.Context(), "ada@example.org", account.Developer, p.now); err != nil {
			t.Fatal(err)
		}
		b.get("/compte/webhooks").Is(200).Contains("Avec la formule Pro", "hooks.example", "Suspendu")
		b.get("/compte/webhooks/"+id).Is(200).Contains("Suspendu", "ne comprend plus les webhooks", "rien n’est supprimé").Lacks("Envoyer un essai", `name="depuis"`)

		// Nothing that needs Pro is offered.
		path := "/compte/webhooks/" + id
		b.post(path+"/etat", "etat", "paused").RedirectsTo(303, path+"?fait=point-en-pause")
		b.get(path).Is(200).Contains("En pause", "ne comprend plus les webhooks").Lacks("Reprendre", "récupérez", `name="depuis"`)
		b.post(path+"/etat", "etat", "active").RedirectsTo(303, path+"?fait=point-suspendu")
		b.get(path + "?fait=point-suspendu").Is(200).Contains("mais suspendu").Lacks("L’envoi reprend")
		b.post(path+"/reprise", "depuis", "2026-11-16").Is(403).Contains("ne comprend pas les webhooks", "rien n’a été fait")
		b.post(path+"/essai").RedirectsTo(303, path+"?fait=point-sans-pro")
	})
}

func TestAnEndpointIsCreatedOnceAndItsSecretShownOnce(t *testing.T) {
	each(t, publicURL, func(t *testing.T, p *server) {
		b := p.signedIn("ada@example.org")
		p.pro("ada@example.org")
		fields := []string{"url", "https://Hooks.example:443/in", "portee", "choix", "type", "tool.created", "type", "pricing.updated", "type", "tool.created", "dernier", ""}
		made := b.post("/compte/webhooks", fields...).Is(200).Contains("ne s’affichera plus jamais", `data-copy="page.secret"`, "https://hooks.example/in")
		secret := secretText.FindString(html.UnescapeString(made.Body))
		p.tick()
		b.post("/compte/webhooks", fields...).RedirectsTo(303, "/compte/webhooks?fait=point-deja-cree")
		all, err := p.store.Endpoints.List(t.Context(), p.account("ada@example.org").Owner())
		if err != nil || len(all) != 1 || all[0].URL != "https://hooks.example/in" || !cmp.Equal(all[0].Events, []string{"pricing.updated", "tool.created"}) {
			t.Fatalf("the endpoints are %+v, %v", all, err)
		}
		// The secret shown is the one that signs.
		sealed, err := p.store.Endpoints.Secrets().Sealed(t.Context())
		if err != nil || len(sealed) != 1 {
			t.Fatal(sealed, err)
		}
		if got, err := p.cfg.Sealer.Open(all[0].ID, sealed[0].Text); got != secret || err != nil {
			t.Errorf("the secret that signs is not the one that was shown: %v", err)
		}

		path := "/compte/webhooks/" + all[0].ID
		old := hidden(b.get(path).Is(200).Contains("Actif", "pricing.updated").Lacks(secret), "ancien")
		rotated := b.post(path+"/secret", "ancien", old).Is(200).Contains("Le secret est remplacé", "deux signatures", "17\u00a0novembre 2026")
		if next := secretText.FindString(html.UnescapeString(rotated.Body)); next == secret || next == "" {
			t.Error("the secret is the same")
		}
		p.tick()
		b.post(path+"/secret", "ancien", old).RedirectsTo(303, path+"?fait=secret-deja-remplace")
		b.post(path+"/secret", "ancien", "hier").Is(400)
		p.tick()
		b.post(path+"/secret", "ancien", hidden(b.get(path).Contains("Un remplacement est en cours"), "ancien")).Is(200)
	})
}

func TestAnInvalidEndpointURLIsReportedInTheForm(t *testing.T) {
	each(t, publicURL, func(t *testing.T, p *server) {
		b := p.signedIn("ada@example.org")
		p.pro("ada@example.org")
		id, _ := b.createEndpoint("https://hooks.example/in")
		for url, words := range map[string]string{
			"": "doit commencer par", "http://hooks.example/": "https://", "https://127.0.0.1/": "pas une adresse IP", "https://hooks.example:8443/": "443",
			"https://u:hunter2@hooks.example/": "nom d’utilisateur", `https://hooks.example/"><script>alert(1)</script>`: "", "https://localhost/": "public",
		} {
			for _, path := range []string{"/compte/webhooks", "/compte/webhooks/" + id} {
				r := b.post(path, "url", url, "portee", "choix", "type", "tool.created", "dernier", id)
				if words == "" { // a URL may contain it, encoded
					r.Lacks("<script>alert")
					continue
				}
				r.Is(400).Contains(`id="page.url-faux" role="alert"`, words, `value="tool.created" checked`, `aria-invalid="true"`, `value="`+html.EscapeString(url)+`"`)
			}
		}
		for _, types := range [][]string{{}, {"type", "tool.exploded"}} {
			b.post("/compte/webhooks", append([]string{"url", "https://hooks.example/", "portee", "choix"}, types...)...).Is(400).Contains("Cochez au moins un événement")
		}
		if e := p.endpoint(id); e.Events != nil && !strings.Contains(e.URL, "script") {
			t.Errorf("a rejected form changed %+v", e)
		}
		p.cfg.Allow = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
		p.handler = accountsite.New(p.cfg)
		b.createEndpoint("http://127.0.0.1:8099/in")
	})
}

func TestAnAccountMayHaveTenEndpoints(t *testing.T) {
	each(t, publicURL, func(t *testing.T, p *server) {
		b := p.signedIn("ada@example.org")
		p.pro("ada@example.org")
		last := ""
		for i := range webhook.MaxEndpoints {
			last, _ = b.createEndpoint(fmt.Sprintf("https://hooks.example/%d", i))
		}
		b.get("/compte/webhooks").Is(200).Contains("Vous avez 10 points de réception, le maximum").Lacks(`name="url"`)
		b.post("/compte/webhooks", "url", "https://hooks.example/", "portee", "tous", "dernier", last).Is(409).Contains("le maximum")
		b.get("/compte/webhooks/"+last+"/suppression").Is(200).Contains("https://hooks.example/9", "mettez-le en pause")
		b.post("/compte/webhooks/"+last+"/suppression").RedirectsTo(303, "/compte/webhooks?fait=point-supprime")
		b.post("/compte/webhooks/" + last + "/suppression").Is(404)
		b.get("/compte/webhooks").Is(200).Contains(`name="url"`).Lacks("hooks.example/9")
	})
}

func TestAnEndpointCanBeChangedPausedAndResumed(t *testing.T) {
	each(t, publicURL, func(t *testing.T, p *server) {
		b := p.signedIn("ada@example.org")
		p.pro("ada@example.org")
		id, _ := b.createEndpoint("https://hooks.example/in")
		path := "/compte/webhooks/" + id
		for _, page := range []string{path, "/compte/webhooks"} {
			b.get(page).Is(200).Contains(`href="/docs/webhooks"`)
		}
		b.post(path, "url", "https://hooks.example/out", "portee", "choix", "type", "tool.updated").RedirectsTo(303, path+"?fait=point-change")
		if e := p.endpoint(id); e.URL != "https://hooks.example/out" || !cmp.Equal(e.Events, []string{"tool.updated"}) {
			t.Errorf("the endpoint is %+v", e)
		}
		b.post(path, "url", "https://hooks.example/out", "portee", "tous").Is(303)
		if e := p.endpoint(id); e.Events != nil {
			t.Errorf("the endpoint receives %v", e.Events)
		}
		b.post(path+"/etat", "etat", "paused").RedirectsTo(303, path+"?fait=point-en-pause")
		b.get(path).Is(200).Contains("En pause", "Reprendre", "récupérez-le ensuite").Lacks("Envoyer un essai")
		b.post(path+"/reprise", "depuis", "2026-11-16").RedirectsTo(303, path+"?fait=reprise-plus-tard")
		b.post(path+"/etat", "etat", "active").RedirectsTo(303, path+"?fait=point-actif")
		for _, state := range []string{"", "disabled", "suspended", "x"} {
			b.post(path+"/etat", "etat", state).Is(400)
		}
		for reason, words := range map[webhook.Reason]string{webhook.Gone: "a répondu 410", webhook.Failing: "en cinq jours"} {
			p.publish("plume", fmt.Sprintf("%d €/mois", len(reason)))
			if reason == webhook.Failing {
				// The failures started long ago.
				p.attempt(webhook.Verdict{Attempt: webhook.Attempt{Outcome: webhook.Timeout}, State: webhook.Pending, NextAt: p.now.Add(webhook.DisableAfter)})
				p.now = p.now.Add(webhook.DisableAfter)
				p.attempt(webhook.Verdict{Attempt: webhook.Attempt{Outcome: webhook.Timeout}, State: webhook.Pending, NextAt: p.now.Add(time.Hour)})
			} else {
				p.attempt(webhook.Verdict{Attempt: webhook.Attempt{Status: 410, Outcome: webhook.HTTPStatus}, State: webhook.Failed, Gone: true})
			}
			b.get(path).Is(200).Contains("Désactivé", words, "Réactiver")
			b.post(path+"/etat", "etat", "active").Is(303)
			if e := p.endpoint(id); e.State != webhook.Active {
				t.Errorf("the endpoint is %+v", e)
			}
		}
	})
}
