package accountsite_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"palmares/internal/testkit"
	"palmares/internal/webhook"
)

var deliveryLink = regexp.MustCompile(`href="/compte/envois/(dlv_[0-9a-z]{26})"`)

// listed returns the ids that a page lists.
func listed(r *testkit.Reply) (ids []string) {
	for _, m := range deliveryLink.FindAllStringSubmatch(r.Body, -1) {
		ids = append(ids, m[1])
	}
	return ids
}

var older = regexp.MustCompile(`rel="next" href="([^"]+)"`)

func TestTheLogIsPagedAndFiltered(t *testing.T) {
	each(t, publicURL, func(t *testing.T, p *server) {
		b := p.signedIn("ada@example.org")
		p.pro("ada@example.org")
		id, _ := b.createEndpoint("https://hooks.example/in")
		path := "/compte/webhooks/" + id + "/envois"
		b.get(path).Is(200).Contains("Rien n’a encore été envoyé ici.")
		var tools []string
		for i := range 59 {
			tools = append(tools, fmt.Sprint("outil-", i), "10 €/mois")
		}
		p.publish(tools...) // sixty events
		p.attempt(webhook.Verdict{Attempt: webhook.Attempt{Status: 500, Outcome: webhook.HTTPStatus}, State: webhook.Failed})
		var got []string
		for next := path; next != ""; {
			r := b.get(next).Is(200)
			got = append(got, listed(r)...)
			next = ""
			if m := older.FindStringSubmatch(r.Body); m != nil {
				next = strings.ReplaceAll(m[1], "&amp;", "&")
			}
		}
		if len(got) != 60 || len(slices.Compact(slices.Sorted(slices.Values(got)))) != 60 {
			t.Errorf("%d deliveries are listed, not each once", len(got))
		}
		b.get(path+"?etat=failed").Is(200).Contains("Échoué", "réponse 500", `value="failed" selected`).Lacks("En attente</span>")
		if m := older.FindStringSubmatch(b.get(path + "?etat=pending&type=tool.created").Body); m == nil || !strings.Contains(m[1], "etat=pending") || !strings.Contains(m[1], "type=tool.created") {
			t.Errorf("the next page loses the filter: %q", m)
		}
		b.get(path + "?etat=delivered").Is(200).Contains("Aucun envoi ne répond à ce choix.")
		for _, query := range []string{"etat=x", "type=x", "avant=x", "avant=dlv_00000000000000000000000000", "avant=" + id} {
			b.get(path + "?" + query).Is(404)
		}
	})
}

func TestADeliveryShowsItsAttemptsAndCanBeResent(t *testing.T) {
	each(t, publicURL, func(t *testing.T, p *server) {
		b := p.signedIn("ada@example.org")
		p.pro("ada@example.org")
		id, _ := b.createEndpoint("https://hooks.example/in", "catalog.updated")
		p.publish("plume", "10 €/mois")
		woken := p.wokenHooks.Load()
		d := p.newest(id)[0]
		path := "/compte/envois/" + d.ID
		b.get(path).Is(200).Contains("En attente", "prochaine tentative", "Aucune encore", d.EventID, "catalog.updated")
		p.attempt(webhook.Verdict{
			Attempt: webhook.Attempt{Duration: 15 * time.Second, Outcome: webhook.Timeout}, State: webhook.Pending, NextAt: p.now.Add(5 * time.Second),
		})
		p.now = p.now.Add(5 * time.Second)
		p.attempt(delivered("</pre><script>alert(1)</script>\x00é"))
		r := b.get(path).Is(200).Contains("Remis", "Pas de réponse"[1:], "15,0\u00a0s", "Réponse 200"[1:], "12\u00a0ms", "tentative 2", "&lt;/pre&gt;&lt;script&gt;alert(1)&lt;/script&gt;", "&#34;type&#34;:&#34;catalog.updated&#34;").Lacks("<script>alert")
		if first, second := strings.Index(r.Body, "tentative 1"), strings.Index(r.Body, "tentative 2"); second > first {
			t.Error("the first attempt comes first")
		}
		p.tick()
		answer := b.post(path + "/renvoi").Is(303)
		again := p.newest(id)[0]
		answer.RedirectsTo(303, "/compte/envois/"+again.ID+"?fait=renvoi")
		if again.Origin != webhook.OfResend || again.EventID != d.EventID || p.wokenHooks.Load() != woken+1 {
			t.Errorf("the resent delivery is %+v, the dispatcher was woken %d times", again, p.wokenHooks.Load()-woken)
		}
		b.get("/compte/envois/"+again.ID).Is(200).Contains("renvoi", d.EventID)
		b.get("/compte/envois/dlv_nothing").Is(404)
		b.post("/compte/envois/dlv_nothing/renvoi").Is(404)
		// A delivery that waits for its endpoint says so.
		b.post("/compte/webhooks/"+id+"/etat", "etat", "paused").Is(303)
		b.get("/compte/envois/" + again.ID).Is(200).Contains("jusqu’à ce que le point de réception soit actif")
	})
}

func TestPingsAreLimitedToFiveAMinute(t *testing.T) {
	each(t, publicURL, func(t *testing.T, p *server) {
		b := p.signedIn("ada@example.org")
		p.pro("ada@example.org")
		id, _ := b.createEndpoint("https://hooks.example/in", "tool.created")
		path := "/compte/webhooks/" + id
		for range webhook.PingsAMinute {
			p.tick()
			b.post(path+"/essai").RedirectsTo(303, "/compte/envois/"+p.newest(id)[0].ID+"?fait=essai")
		}
		b.post(path+"/essai").RedirectsTo(303, path+"?fait=trop-d-essais")
		b.get(path+"?fait=trop-d-essais").Is(200).Contains("patientez une minute", "webhook.ping", "essai")
		ping := "/compte/envois/" + p.newest(id)[0].ID
		b.post(ping+"/renvoi").RedirectsTo(303, ping+"?fait=trop-d-essais")
		p.now = p.now.Add(time.Minute)
		b.post(path + "/essai").Is(303)
		b.post(path+"/etat", "etat", "paused").Is(303)
		b.post(path+"/essai").RedirectsTo(303, path+"?fait=point-inactif")
		b.get(path + "?fait=point-inactif").Is(200).Contains("un essai n’arriverait pas")
	})
}

func TestMissedEventsAreRecoveredByDay(t *testing.T) {
	p := open(t, databases.SQLite(t), publicURL)
	b := p.signedIn("ada@example.org")
	p.pro("ada@example.org")
	id, _ := b.createEndpoint("https://hooks.example/in")
	path := "/compte/webhooks/" + id
	b.get(path).Is(200).Contains(`min="2026-10-17" max="2026-11-16"`)
	for _, day := range []string{"", "hier", "2026-10-16", "2026-11-17", "2026-02-30"} {
		b.post(path+"/reprise", "depuis", day).Is(400).Contains("un jour des 30 derniers", `id="page.depuis-faux" role="alert"`)
	}
	b.post(path+"/reprise", "depuis", "2026-11-01").RedirectsTo(303, path+"?fait=reprise")
	b.post(path+"/reprise", "depuis", "2026-11-01").RedirectsTo(303, path+"?fait=reprise-en-cours")
	b.get(path).Is(200).Contains("1er\u00a0novembre 2026 à 00:00", "en cours")
}

func TestAFailingEndpointShowsItsNextAttempt(t *testing.T) {
	each(t, publicURL, func(t *testing.T, p *server) {
		b := p.signedIn("ada@example.org")
		p.pro("ada@example.org")
		id, _ := b.createEndpoint("https://hooks.example/in")
		path := "/compte/webhooks/" + id
		var tools []string
		for i := range webhook.MaxInFlight - 1 {
			tools = append(tools, fmt.Sprint("outil-", i), "10 €/mois")
		}
		p.publish(tools...)
		b.get("/compte/envois/" + p.newest(id)[0].ID).Is(200).Contains("dès que son tour vient")
		for !p.endpoint(id).Broken() {
			if state := b.get(path).Is(200).Lacks("seul le plus ancien envoi"); p.endpoint(id).Failures > 0 {
				state.Contains("En échec", "pas de réponse à temps, le").Lacks("state-good\">Actif")
				b.get("/compte/webhooks").Is(200).Contains("En échec", "depuis le", "&nbsp;: pas de réponse à temps").Lacks("state-good")
			} else {
				state.Contains("state-good\">Actif")
			}
			p.attempt(webhook.Verdict{Attempt: webhook.Attempt{Outcome: webhook.Timeout}, State: webhook.Pending, NextAt: p.now, ProbeAt: p.now.Add(webhook.ProbeEvery)})
			p.now = p.now.Add(4 * time.Second)
		}
		until := p.endpoint(id).ProbeAt
		if !until.After(p.now) {
			t.Fatalf("the endpoint is skipped until %s", until)
		}
		clock := until.Format("15:04:05")
		b.get(path).Is(200).Contains("En échec", "seul le plus ancien envoi est tenté", clock)
		// A delivery that was due before waits too.
		p.now = p.now.Add(time.Millisecond)
		b.get("/compte/envois/"+p.newest(id)[0].ID).Is(200).Contains("En attente", "prochaine tentative le", clock)
		p.now = until.Add(time.Second)
		b.get(path).Is(200).Contains("seul le plus ancien envoi est tenté").Lacks("et pas avant")
	})
}

func TestAnEndpointThatAskedToWaitShowsUntilWhen(t *testing.T) {
	each(t, publicURL, func(t *testing.T, p *server) {
		b := p.signedIn("ada@example.org")
		p.pro("ada@example.org")
		id, _ := b.createEndpoint("https://hooks.example/in")
		path, until := "/compte/webhooks/"+id, p.now.Add(3*time.Hour)
		p.publish("plume", "10 €/mois", "pinceau", "10 €/mois", "rabot", "10 €/mois", "varlope", "10 €/mois")
		p.attempt(webhook.Verdict{Attempt: webhook.Attempt{Status: 503, Outcome: webhook.HTTPStatus}, State: webhook.Pending, NextAt: until, HoldUntil: until})
		clock := until.Format("15:04:05")
		b.get(path).Is(200).Contains("rien n’est envoyé avant le", clock)
		for _, d := range p.newest(id) { // also what was not tried
			if !d.NextAt.Equal(until) {
				t.Errorf("the next attempt of %s after %d is at %s", d.ID, d.Count, d.NextAt)
			}
		}
		p.now = until
		b.get(path).Is(200).Lacks("rien n’est envoyé avant le")
	})
}

func TestADeliveryThatIsBeingSentSaysSo(t *testing.T) {
	each(t, publicURL, func(t *testing.T, p *server) {
		b := p.signedIn("ada@example.org")
		p.pro("ada@example.org")
		id, _ := b.createEndpoint("https://hooks.example/in")
		b.post("/compte/webhooks/" + id + "/essai").Is(303)
		page := "/compte/envois/" + p.newest(id)[0].ID
		b.get(page).Is(200).Contains("En attente")
		if claims, err := p.store.Deliveries.Claim(t.Context(), p.now, webhook.Lease, 1); err != nil || len(claims) != 1 {
			t.Fatal(claims, err)
		}
		for _, path := range []string{page, "/compte/webhooks/" + id, "/compte/webhooks/" + id + "/envois"} {
			b.get(path).Is(200).Contains("En cours d’envoi").Lacks("En attente</span>", "prochaine tentative")
		}
		p.now = p.now.Add(webhook.Lease) // its node died
		b.get(page).Is(200).Contains("En attente").Lacks("En cours d’envoi")
	})
}

func TestThePageOfAPingShowsItsAnswer(t *testing.T) {
	each(t, publicURL, func(t *testing.T, p *server) {
		b := p.signedIn("ada@example.org")
		p.pro("ada@example.org")
		id, _ := b.createEndpoint("https://hooks.example/in", "catalog.updated")
		for _, test := range []struct {
			verdict webhook.Verdict
			want    string
		}{
			{webhook.Verdict{Attempt: webhook.Attempt{Duration: 15 * time.Second, Outcome: webhook.Timeout}, State: webhook.Pending, NextAt: monday.Add(time.Hour)}, "Échec\u00a0: pas de réponse à temps, en 15,0\u00a0s."},
			{webhook.Verdict{Attempt: webhook.Attempt{Duration: 42 * time.Millisecond, Status: 503, Outcome: webhook.HTTPStatus}, State: webhook.Pending, NextAt: monday.Add(time.Hour)}, "Échec\u00a0: réponse 503, en 42\u00a0ms."},
			{delivered("merci"), "C’est remis\u00a0: réponse 200, en 12\u00a0ms."},
		} {
			p.tick()
			b.post("/compte/webhooks/" + id + "/essai").Is(303)
			page := "/compte/envois/" + p.newest(id)[0].ID
			answered, at := make(chan error), p.now
			go func() { answered <- p.attemptAt(at, test.verdict) }()
			b.get(page + "?fait=essai").Is(200).Contains(test.want).Lacks("rechargez cette page") // it waits for the answer
			if err := <-answered; err != nil {
				t.Fatal(err)
			}
			b.get(page).Is(200).Contains("webhook.ping").Lacks(test.want)
		}
		// An answer that takes too long is not waited for twice.
		p.tick()
		b.post("/compte/webhooks/" + id + "/essai").Is(303)
		page := "/compte/envois/" + p.newest(id)[0].ID
		p.now = p.now.Add(time.Minute)
		b.get(page+"?fait=essai").Is(200).Contains("pas encore de réponse", "rechargez cette page")
	})
}

func TestTheFirstPageShowsWhatFailsAndWhatEnds(t *testing.T) {
	each(t, publicURL, func(t *testing.T, p *server) {
		b := p.signedIn("ada@example.org")
		p.pro("ada@example.org")
		b.post("/compte/cles", "nom", "production").Is(200)
		b.get("/compte").Is(200).Contains("Aujourd’hui", "À surveiller", "rien n’expire bientôt").Lacks("En échec")
		id, _ := b.createEndpoint("https://hooks.example/in", "catalog.updated")
		b.get("/compte").Is(200).Contains("vos points de réception répondent")
		p.publish("plume", "10 €/mois")
		p.attempt(webhook.Verdict{Attempt: webhook.Attempt{Status: 503, Outcome: webhook.HTTPStatus}, State: webhook.Pending, NextAt: p.now.Add(time.Hour)})
		b.get("/compte").Is(200).Contains("En échec", "https://hooks.example/in", "&nbsp;: réponse 503", "dont 1 en échec").Lacks("rien n’expire")
		b.post("/compte/webhooks/"+id+"/etat", "etat", "paused").Is(303)
		b.get("/compte").Is(200).Contains("En pause", "&nbsp;: réponse 503").Lacks("rien n’expire")
		b.post("/compte/webhooks/"+id+"/etat", "etat", "active").Is(303)
		b.post("/compte/webhooks/" + id + "/secret").Is(200)
		key := keyLink.FindString(b.get("/compte/cles").Body)
		b.post(key + "/remplacement").Is(200)
		phone := p.signedIn("ada@example.org")
		p.now = p.now.Add(23 * time.Hour)
		page := b.get("/compte").Is(200).Contains("l’ancien secret cesse de signer le", "la clé remplacée cesse de fonctionner le", "17\u00a0novembre 2026 à 09:30").Lacks("la session prend fin")
		if strings.Index(page.Body, "En échec") > strings.Index(page.Body, "cesse de") {
			t.Error("what ends comes before what fails")
		}
		for range 25 { // this browser is used, the phone is not
			p.now = p.now.Add(24 * time.Hour)
			b.get("/compte").Is(200)
		}
		b.get("/compte").Is(200).Contains("la session prend fin le", "16\u00a0décembre 2026").Lacks("cesse de")
		phone.get("/compte").Is(200).Lacks("la session prend fin")
	})
}

var keyLink = regexp.MustCompile(`/compte/cles/key_[0-9a-z]{26}`)
