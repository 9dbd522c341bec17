package accountsite_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"palmares/internal/account"
)

func TestAFirstKeyIsOneClickAway(t *testing.T) {
	each(t, publicURL, func(t *testing.T, p *server) {
		b := p.signedIn("ada@example.org")
		r := b.get("/compte").Is(200).Contains("Créez votre première clé", `action="/compte/cles" method="post"`, "Developer", "sur 1\u202f000", "Avec Pro")
		made := b.post("/compte/cles", "nom", " Mon portable ", "derniere", hidden(r, "derniere")).Is(200)
		text := keyText.FindString(made.Body)
		made.Contains("Mon portable", "ne s’affichera plus jamais", `data-copy="page.cle"`, "curl -H &#39;Authorization: Bearer "+text+"&#39; &#39;"+publicURL+"/api/v1/tools?limit=3&#39;")
		if k := p.stored(text); k.Name != "Mon portable" || k.AccountID != p.account("ada@example.org").ID {
			t.Errorf("the key is %+v", k)
		}
		b.get("/compte").Is(200).Lacks("première clé").Contains("1\u00a0clé active, sur 3")
		b.get("/compte/cles").Is(200).Contains("Mon portable", text[:8]+"…"+text[len(text)-4:], "jamais utilisée", "Active", "16\u00a0novembre 2026").Lacks(text)
	})
}

func TestAFormSentTwiceCreatesOneKey(t *testing.T) {
	each(t, publicURL, func(t *testing.T, p *server) {
		b := p.signedIn("ada@example.org")
		b.createKey("première")
		p.tick()
		fields := []string{"nom", "seconde", "derniere", hidden(b.get("/compte/cles"), "derniere")}
		b.post("/compte/cles", fields...).Is(200)
		for range 3 {
			p.tick()
			b.post("/compte/cles", fields...).RedirectsTo(303, "/compte/cles?fait=cle-deja-creee")
		}
		b.get("/compte/cles?fait=cle-deja-creee").Contains("Cette demande a déjà été faite")
		b.post("/compte/cles", "nom", "sans rien").Is(409).Contains("Vos clés ont changé depuis", "Rien n’a été créé", `value="sans rien"`)
		keys, err := p.store.Keys.List(t.Context(), "ada@example.org")
		if len(keys) != 2 || err != nil {
			t.Fatalf("there are %d keys, %v", len(keys), err)
		}
		// Neither does a rotation that is sent twice.
		rotation := "/compte/cles/" + keys[0].ID + "/remplacement"
		b.post(rotation).Is(200).Contains("La clé est remplacée", "encore 24&nbsp;heures", "17\u00a0novembre 2026 à 09:30")
		b.post(rotation).RedirectsTo(303, "/compte/cles?fait=cle-deja-remplacee")
		if keys, err = p.store.Keys.List(t.Context(), "ada@example.org"); len(keys) != 3 || err != nil {
			t.Errorf("there are %d keys, %v", len(keys), err)
		}
	})
}

func TestAnOutdatedFormSaysSoAndKeepsTheName(t *testing.T) {
	each(t, publicURL, func(t *testing.T, p *server) {
		b := p.signedIn("ada@example.org")
		stale := hidden(b.get("/compte/cles"), "derniere")
		b.createKey("dans l’autre onglet")
		r := b.post("/compte/cles", "nom", "portable", "derniere", stale).Is(409).
			Contains("Vos clés ont changé depuis", `value="portable"`, "dans l’autre onglet").Lacks("déjà été faite")
		p.tick()
		b.post("/compte/cles", "nom", "portable", "derniere", hidden(r, "derniere")).Is(200)

		p.pro("ada@example.org")
		stale = hidden(b.get("/compte/webhooks"), "dernier")
		b.createEndpoint("https://hooks.example/other")
		r = b.post("/compte/webhooks", "url", "https://hooks.example/in", "portee", "choix", "type", "tool.created", "dernier", stale).Is(409).
			Contains("Vos points de réception ont changé depuis", `value="https://hooks.example/in"`, `value="tool.created" checked`).Lacks("déjà été faite")
		p.tick()
		b.post("/compte/webhooks", "url", "https://hooks.example/in", "portee", "tous", "dernier", hidden(r, "dernier")).Is(200)
	})
}

func TestAPlanLimitsTheNumberOfKeys(t *testing.T) {
	each(t, publicURL, func(t *testing.T, p *server) {
		b := p.signedIn("ada@example.org")
		for i := range 3 {
			b.createKey(fmt.Sprint("clé ", i))
		}
		b.get("/compte/cles").Is(200).Contains("Vous avez 3 clés", "Developer en permet 3", `href="/compte/pro"`).Lacks(`name="nom"`)
		keys, err := p.store.Keys.List(t.Context(), "ada@example.org")
		if err != nil {
			t.Fatal(err)
		}
		b.post("/compte/cles", "nom", "de trop", "derniere", keys[2].ID).Is(409).Contains("Vous avez 3 clés")
		// A replaced key does not count.
		b.post("/compte/cles/" + keys[0].ID + "/remplacement").Is(200)
		b.get("/compte/cles").Is(200).Contains("Remplacée", "fonctionne jusqu’au", "Vous avez 3 clés")
		b.get("/compte").Is(200).Contains("3\u00a0clés actives, sur 3")
		p.pro("ada@example.org")
		for i := range 7 {
			b.createKey(fmt.Sprint("autre clé ", i))
		}
		b.get("/compte/cles").Is(200).Contains("Vous avez 10 clés", "Pro en permet 10").Lacks("passez à Pro")
	})
}

func TestAKeyCanBeRenamedReplacedAndRevoked(t *testing.T) {
	each(t, publicURL, func(t *testing.T, p *server) {
		b := p.signedIn("ada@example.org")
		text := b.createKey("a")
		path := "/compte/cles/" + p.stored(text).ID
		b.get(path).Is(200).Contains("Clé «\u00a0a\u00a0»", "Renommer", "Remplacer", "Révoquer")
		b.post(path+"/nom", "nom", "b").RedirectsTo(303, path+"?fait=cle-renommee")
		if k := p.stored(text); k.Name != "b" {
			t.Errorf("the key is called %q", k.Name)
		}
		for name, words := range map[string]string{
			" ": "Donnez un nom", strings.Repeat("é", 101): "plus de 100\u00a0caractères", "a\x00b": "ne s’affichent pas",
		} {
			b.post(path+"/nom", "nom", name).Is(400).Contains(words, `aria-invalid="true"`, `role="alert"`)
			b.post("/compte/cles", "nom", name, "derniere", p.stored(text).ID).Is(400).Contains(words)
		}
		second := keyText.FindString(b.post(path + "/remplacement").Is(200).Body)
		old := p.stored(text)
		if second == text || !old.ExpiresAt.Equal(p.now.Add(account.Overlap)) || p.stored(second).Name != "b" {
			t.Errorf("the key is %+v, its successor %+v", old, p.stored(second))
		}
		b.get(path).Is(200).Contains("Remplacée", "fonctionne jusqu’au").Lacks(`/remplacement"`)

		last := "/compte/cles/" + p.stored(second).ID
		b.get(last+"/revocation").Is(200).Contains("«&nbsp;b&nbsp;»", "ne revient pas", "Ne rien faire")
		if !p.stored(second).RevokedAt.IsZero() {
			t.Error("the confirmation page revokes the key")
		}
		b.post(last+"/revocation").RedirectsTo(303, "/compte/cles?fait=cle-revoquee")
		if k := p.stored(second); !k.RevokedAt.Equal(p.now) {
			t.Errorf("the key is %+v", k)
		}
		b.post(last+"/revocation").RedirectsTo(303, "/compte/cles?fait=cle-revoquee") // twice
		b.get(last).Is(200).Contains("Révoquée").Lacks("Remplacer", `name="nom"`)
		p.now = p.now.Add(account.Overlap)
		b.get("/compte/cles").Is(200).Contains("2\u00a0anciennes clés", "éteinte depuis", "Aucune clé pour l’instant")
		b.get("/compte/cles/key_nothing").Is(404)
		b.post("/compte/cles/key_nothing/nom", "nom", "a").Is(404)
	})
}

func TestSuspendedKeysAreShownAndRestored(t *testing.T) {
	each(t, publicURL, func(t *testing.T, p *server) {
		b := p.signedIn("ada@example.org")
		p.pro("ada@example.org")
		var texts []string
		for i := range 4 {
			texts = append(texts, b.createKey(fmt.Sprint("clé ", i)))
		}
		if err := p.store.Accounts.SetPlan(t.Context(), "ada@example.org", account.Developer, p.now); err != nil {
			t.Fatal(err)
		}
		suspend := func() {
			t.Helper()
			if err := p.store.Keys.SuspendExcess(t.Context(), p.now); err != nil {
				t.Fatal(err)
			}
		}
		// Before any other page was loaded.
		b.get("/compte/cles").Is(200).Contains("4 clés actives, et sa formule en permet 3&nbsp;: 1\u00a0est de trop", "23\u00a0novembre 2026", "celle qui aura servi le moins récemment")
		b.get("/compte").Is(200).Contains("4\u00a0clés actives, et la formule en permet 3.")
		suspend()
		p.now = p.now.Add(7*24*time.Hour + time.Second)
		suspend()
		b.get("/compte/cles").Is(200).Contains("Suspendue").Lacks("de trop")
		b.get("/compte").Is(200).Contains("3\u00a0clés actives, sur 3 que permet la formule&#8239;; 1\u00a0suspendue.")
		path := "/compte/cles/" + p.stored(texts[0]).ID
		b.get(path).Is(200).Contains("Suspendue", "elle revient aussitôt").Lacks(`/remplacement"`)
		b.post(path+"/remplacement").RedirectsTo(303, "/compte/cles?fait=cle-suspendue")
		b.post("/compte/cles/" + p.stored(texts[3]).ID + "/revocation").Is(303)
		b.get(path).Is(200).Contains("Active")
	})
}

func TestAnAccountCreatesFiftyKeysADayAndEndedOnesLeaveThePage(t *testing.T) {
	each(t, publicURL, func(t *testing.T, p *server) {
		b := p.signedIn("ada@example.org")
		newest := ""
		for i := range account.MaxNewKeys {
			_, k, err := p.store.Keys.Create(t.Context(), "ada@example.org", fmt.Sprint("clé ", i), nil, p.now)
			if err != nil {
				t.Fatal(err)
			}
			if err := p.store.Keys.Revoke(t.Context(), account.AnyOwner(), k.ID, p.now); err != nil {
				t.Fatal(err)
			}
			newest = max(newest, k.ID)
		}
		b.get("/compte/cles").Is(200).Contains("anciennes clés", "clé 7")
		b.post("/compte/cles", "nom", "de trop", "derniere", newest).Is(429).Contains("50\u00a0clés en 24\u00a0heures")
		p.now = p.now.AddDate(0, 0, 2)
		b.post("/compte/cles", "nom", "le surlendemain", "derniere", newest).Is(200)
		p.now = p.now.AddDate(0, 0, 89)
		p.signedIn("ada@example.org").get("/compte/cles").Is(200).Contains("le surlendemain").Lacks("anciennes clés", "clé 7")
	})
}
