package accountsite_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"palmares/internal/account"
	"palmares/internal/accountsite"
	"palmares/internal/mail"
	"palmares/internal/testkit"
)

func TestSigningUpInAndOut(t *testing.T) {
	each(t, publicURL, func(t *testing.T, p *server) {
		b := p.browser()
		b.get("/compte").Is(200).Contains(form, "<h1>Compte</h1>", `autocomplete="email"`).Lacks("Se déconnecter", "Sessions")
		b.post("/compte", "email", " Ada@Example.org ").RedirectsTo(303, "/compte/courriel")
		b.get("/compte/courriel").Is(200).Contains("Regardez vos courriels", "15&nbsp;minutes").Lacks("journal", "example.org")
		mails, err := p.store.Mails.Claim(t.Context(), p.now, 10)
		if err != nil || len(mails) != 1 || mails[0].To != "ada@example.org" || mails[0].Kind != mail.SignIn || p.woken.Load() != 1 {
			t.Fatalf("the mails are %v, %v; the queue was woken %d times", mails, err, p.woken.Load())
		}
		token := p.link(mails[0].To)
		if got := accountsite.LinkURL(publicURL, account.LinkSignIn, "", token); got != publicURL+"/compte/connexion?jeton="+token {
			t.Errorf("the link is %s", got)
		}
		b.get("/compte/connexion?jeton="+token).Is(200).Contains("ada@example.org", `name="jeton" value="`+token+`"`, `action="/compte/connexion" method="post"`, "Se connecter")
		b.post("/compte/connexion", "jeton", token).RedirectsTo(303, "/compte?fait=connexion")
		b.get("/compte?fait=connexion").Is(200).Contains("ada@example.org", "La connexion est faite.", `role="status"`, "16\u00a0novembre 2026", `href="/compte" aria-current="page"`).Lacks(form)
		b.get("/compte?fait=<b>").Is(200).Lacks("<b>", `role="status"`)
		// The same link again, while signed in.
		b.get("/compte/connexion?jeton="+token).RedirectsTo(303, "/compte")
		b.post("/compte/connexion", "jeton", token).RedirectsTo(303, "/compte")

		b.post("/compte/deconnexion").RedirectsTo(303, "/compte?fait=deconnexion")
		if b.cookie != nil {
			t.Error("the browser keeps the cookie of a session that ended")
		}
		b.get("/compte?fait=deconnexion").Is(200).Contains(form, "Ce navigateur est déconnecté.")
		b.post("/compte/deconnexion").RedirectsTo(303, "/compte?fait=deconnexion") // twice
	})
}

func TestTheAnswerDoesNotRevealWhetherAnAccountExists(t *testing.T) {
	each(t, publicURL, func(t *testing.T, p *server) {
		p.signedIn("known@example.org")
		ask := func(email, from string) (*testkit.Reply, *testkit.Reply) {
			b := p.browser()
			b.from = from
			return b.post("/compte", "email", email), b.get("/compte/courriel")
		}
		first, page := ask("known@example.org", "198.51.100.1")
		same := func(what, email, from string, queued bool) {
			t.Helper()
			before := p.woken.Load()
			answer, next := ask(email, from)
			if diff := cmp.Diff([]any{first.Status, first.Header, first.Body, page.Body}, []any{answer.Status, answer.Header, answer.Body, next.Body}); diff != "" {
				t.Errorf("%s gets another answer:\n%s", what, diff)
			}
			if got := p.woken.Load() > before; got != queued {
				t.Errorf("%s gets a mail: %t", what, got)
			}
		}
		same("an unknown address", "unknown@example.org", "198.51.100.2", true)
		for i := range 3 {
			same("a known address again", "known@example.org", fmt.Sprintf("198.51.100.%d", 10+i), i < 2)
		}
		for i := range 12 {
			same("one network", fmt.Sprintf("a%d@example.org", i), "198.51.100.3", i < 10)
		}
		same("a neighbour in the network of a household", "b@example.org", "2001:db8:1:2::1", true)
		for i := range 9 {
			same("the same household", fmt.Sprintf("c%d@example.org", i), fmt.Sprintf("2001:db8:1:2::%d", i+2), true)
		}
		same("the same household once more", "d@example.org", "2001:db8:1:2:ffff::1", false)
		p.now = p.now.Add(15 * time.Minute)
		same("a known address later", "known@example.org", "198.51.100.20", true)
	})
}

func TestAnInvalidEmailIsReportedInTheForm(t *testing.T) {
	each(t, publicURL, func(t *testing.T, p *server) {
		b := p.browser()
		for _, typed := range []string{
			"ada", "ada@", "ada@example.org\r\nBcc: eve@example.org", "ada@example.org\nSubject: x", "ada@example.org%0aBcc:eve@example.org\x00",
			"ada@example.org,eve@example.org", "Ada <ada@example.org>", "ada@[127.0.0.1]", strings.Repeat("a", 300) + "@example.org", `"><script>alert(1)</script>@x`,
		} {
			b.post("/compte", "email", typed).Is(400).Contains(form, "Cette adresse n’en est pas une", `aria-invalid="true"`, `aria-describedby="page.courriel-faux"`, `role="alert"`).Lacks("<script>alert")
		}
		b.post("/compte", "email", " ").Is(400).Contains("Indiquez votre adresse")
		b.post("/compte").Is(400).Contains("Indiquez votre adresse")
		b.post("/compte", "email", strings.Repeat("a", 100_000)).Is(400).Contains("Formulaire illisible")
		if mails, err := p.store.Mails.Claim(t.Context(), p.now, 10); len(mails) != 0 || err != nil {
			t.Errorf("mails are queued: %v, %v", mails, err)
		}
		// They do not count either.
		b.post("/compte", "email", "ada@example.org").Is(303)
		if p.woken.Load() != 1 {
			t.Error("rejected addresses count against the limit")
		}
	})
}

func TestAnUnusableLinkSaysWhyAndOffersAnother(t *testing.T) {
	each(t, publicURL, func(t *testing.T, p *server) {
		used, expired := p.link("ada@example.org"), p.link("ada@example.org")
		deletion, err := p.store.Links.Create(t.Context(), "ada@example.org", account.LinkDeletion, p.now)
		if err != nil {
			t.Fatal(err)
		}
		p.browser().post("/compte/connexion", "jeton", used).Is(303)
		before := p.contents()
		check := func(token string, status int, words string) {
			t.Helper()
			b := p.browser()
			for _, r := range []*testkit.Reply{b.get("/compte/connexion?jeton=" + url.QueryEscape(token)), b.post("/compte/connexion", "jeton", token)} {
				r.Is(status).Contains(words, form)
				if b.cookie != nil || len(token) > 1 && strings.Contains(r.Body, url.QueryEscape(token)) {
					t.Errorf("%s: an unusable link sets a cookie or shows the token", r)
				}
			}
		}
		check(used, 410, "Il a déjà servi")
		for _, unknown := range []string{"", "x", strings.Repeat("A", 43), deletion, used + "A", strings.Repeat("é", 1000)} {
			check(unknown, 404, "Lien inconnu")
		}
		p.now = p.now.Add(15 * time.Minute)
		check(expired, 410, "plus de 15\u00a0minutes")
		if after := p.contents(); after != before {
			t.Errorf("unusable links changed %s into %s", before, after)
		}
	})
}

func TestLocallyThePageSaysThatTheLinkIsLogged(t *testing.T) {
	st := open(t, databases.SQLite(t), localURL).store
	for base, want := range map[string]bool{
		localURL: true, "http://127.0.0.1:8080": true, "http://[::1]:8080": true, "http://localhost": true,
		publicURL: false, "https://localhost": false, "http://palmares.example": false, "http://192.168.1.9:8080": false,
	} {
		b := newServer(t, st, base).browser()
		for _, path := range []string{"/compte", "/compte/courriel"} {
			if got := strings.Contains(b.get(path).Is(200).Body, "dans son journal"); got != want {
				t.Errorf("%s%s mentions the log: %t", base, path, got)
			}
		}
	}
}
