package accountsite_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"palmares/internal/testkit"
)

func TestTheCookieIsForThisHostOnly(t *testing.T) {
	each(t, publicURL, func(t *testing.T, p *server) {
		secret := regexp.MustCompile(`=[A-Za-z0-9_-]{43};`)
		for base, want := range map[string]string{
			publicURL:                 "__Host-palmares=X; Path=/; Max-Age=2592000; HttpOnly; Secure; SameSite=Lax",
			"http://palmares.example": "__Host-palmares=X; Path=/; Max-Age=2592000; HttpOnly; Secure; SameSite=Lax",
			localURL:                  "palmares=X; Path=/; Max-Age=2592000; HttpOnly; SameSite=Lax",
			"http://127.0.0.1:8080":   "palmares=X; Path=/; Max-Age=2592000; HttpOnly; SameSite=Lax",
		} {
			b := newServer(t, p.store, base).browser()
			var seen []string
			for range 2 {
				set := b.post("/compte/connexion", "jeton", p.link("ada@example.org")).Is(303).Header["Set-Cookie"]
				if len(set) != 1 || secret.ReplaceAllString(set[0], "=X;") != want {
					t.Errorf("on %s the cookie is %q, want %q", base, set, want)
				}
				seen = append(seen, set...)
			}
			if seen[0] == seen[1] {
				t.Error("a second sign-in keeps the first session")
			}
			set := b.post("/compte/deconnexion").Is(303).Header["Set-Cookie"]
			gone := strings.Replace(strings.Replace(want, "=X", "=", 1), "Max-Age=2592000", "Max-Age=0", 1)
			if len(set) != 1 || set[0] != gone {
				t.Errorf("on %s the cookie is deleted with %q, want %q", base, set, gone)
			}
		}
	})
}

func TestASecondSignInEndsThePreviousSession(t *testing.T) {
	each(t, publicURL, func(t *testing.T, p *server) {
		b := p.signedIn("ada@example.org")
		old := *b.cookie
		b.post("/compte/connexion", "jeton", p.link("bob@example.org")).Is(303)
		b.get("/compte").Is(200).Contains("bob@example.org")
		b.cookie = &old
		b.get("/compte").Is(200).Contains(form).Lacks("ada@example.org")
	})
}

func TestOwnersSeeAndEndTheirSessions(t *testing.T) {
	each(t, publicURL, func(t *testing.T, p *server) {
		phone := p.browser()
		phone.agent = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) Version/18.5 Mobile/15E148 Safari/604.1"
		phone.post("/compte/connexion", "jeton", p.link("ada@example.org")).Is(303)
		p.now = p.now.AddDate(0, 0, 1)
		tablet, desk, eve := p.signedIn("ada@example.org"), p.signedIn("ada@example.org"), p.signedIn("eve@example.org")

		list := desk.get("/compte/sessions").Is(200).Contains("Firefox sur Linux (ce navigateur)", "Safari sur iPhone", "16\u00a0novembre 2026", "17\u00a0novembre 2026", "Terminer toutes les autres")
		ids := regexp.MustCompile(`action="(/compte/sessions/ses_[0-9a-z]{26}/fin)"`).FindAllStringSubmatch(list.Body, -1)
		if len(ids) != 3 {
			t.Fatalf("%d sessions are listed: %s", len(ids), list.Body)
		}
		oldest := ids[2][1] // newest first
		eve.post(oldest).RedirectsTo(303, "/compte/sessions?fait=session-inconnue")
		phone.get("/compte").Is(200).Contains("ada@example.org")

		desk.post(oldest).RedirectsTo(303, "/compte/sessions?fait=session-terminee")
		desk.get("/compte/sessions?fait=session-terminee").Is(200).Contains("La session est terminée.").Lacks("iPhone")
		phone.get("/compte").Is(200).Contains(form)
		desk.post(oldest).RedirectsTo(303, "/compte/sessions?fait=session-inconnue")

		phone.post("/compte/connexion", "jeton", p.link("ada@example.org")).Is(303)
		desk.post("/compte/sessions/autres/fin").RedirectsTo(303, "/compte/sessions?fait=autres-terminees")
		desk.get("/compte/sessions").Is(200).Lacks("Terminer toutes les autres")
		for _, b := range []*browser{phone, tablet} {
			b.get("/compte").Is(200).Contains(form)
		}
		eve.get("/compte").Is(200).Contains("eve@example.org")

		own := regexp.MustCompile(`/compte/sessions/ses_[0-9a-z]{26}/fin`).FindString(desk.get("/compte/sessions").Body)
		desk.post(own).RedirectsTo(303, "/compte?fait=deconnexion")
		desk.get("/compte").Is(200).Contains(form)
	})
}

func TestASessionLastsThirtyDaysFromTheLastVisit(t *testing.T) {
	each(t, publicURL, func(t *testing.T, p *server) {
		b := p.signedIn("ada@example.org")
		if set := b.get("/compte").Is(200).Header["Set-Cookie"]; set != nil {
			t.Errorf("on the first day the cookie is set again: %q", set)
		}
		for range 3 {
			p.now = p.now.AddDate(0, 0, 29)
			if set := b.get("/compte").Is(200).Contains("ada@example.org").Header["Set-Cookie"]; len(set) != 1 || !strings.Contains(set[0], "Max-Age=2592000") {
				t.Errorf("the cookie is %q: the browser would drop it too early", set)
			}
			if set := b.get("/compte").Is(200).Header["Set-Cookie"]; set != nil {
				t.Errorf("a second visit on the same day sets it again: %q", set)
			}
		}
		p.now = p.now.AddDate(0, 0, 30)
		b.get("/compte").Is(200).Contains(form)
		if b.cookie != nil {
			t.Error("the browser keeps the cookie of a session that expired")
		}
	})
}

func TestOtherSitesCannotPost(t *testing.T) {
	p := open(t, databases.SQLite(t), publicURL)
	b, other := p.signedIn("ada@example.org"), p.signedIn("ada@example.org")
	before := p.contents()
	for _, headers := range [][]string{
		{"Sec-Fetch-Site: cross-site", "Origin: https://evil.example"},
		{"Sec-Fetch-Site: same-site", "Origin: https://blog.palmares.example"},
		{"Origin: https://evil.example"},
		{"Origin: null"},
		{"Sec-Fetch-Site: cross-site"},
	} {
		for _, path := range []string{"/compte/sessions/autres/fin", "/compte/nulle-part"} {
			b.do(http.MethodPost, path, "", headers...).Is(403).Contains("Demande refusée", "rien n’a été fait", "ouvrez le formulaire sur ce site")
		}
	}
	if after := p.contents(); after != before {
		t.Errorf("%s became %s", before, after)
	}
	other.get("/compte").Is(200).Contains("ada@example.org")
	// Behind a proxy that changes Host, an old browser still sends its origin.
	b.do(http.MethodPost, "/compte/deconnexion", "", "Host: 10.0.0.1", "Origin: "+publicURL).Is(303)
}

func TestEveryPageHasSecurityHeadersAndIsPrivate(t *testing.T) {
	each(t, publicURL, func(t *testing.T, p *server) {
		stranger, ada := p.browser(), p.signedIn("ada@example.org")
		for i, r := range []*testkit.Reply{
			stranger.get("/compte"), stranger.get("/compte/courriel"), stranger.get("/compte/connexion?jeton=" + p.link("ada@example.org")),
			stranger.get("/compte/connexion"), stranger.get("/compte/nulle-part"), stranger.post("/compte", "email", "x"),
			ada.get("/compte"), ada.get("/compte/sessions"), stranger.post("/compte/sessions/autres/fin"),
		} {
			for name, want := range map[string]string{
				"Cache-Control": "no-store", "X-Robots-Tag": "noindex", "Referrer-Policy": "strict-origin", "Content-Type": "text/html; charset=utf-8",
				"X-Content-Type-Options": "nosniff", "Strict-Transport-Security": "max-age=31536000",
				"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
				"Content-Length":          fmt.Sprint(len(r.Raw)),
			} {
				if got := r.Header.Get(name); got != want {
					t.Errorf("%d, %s: %s is %q, want %q", i, r, name, got, want)
				}
			}
			r.Contains(`<html lang="fr">`, "<h1>", `<meta name="robots" content="noindex">`, `/static/account.`).Lacks(`rel="canonical"`)
			if n := strings.Count(r.Body, "<h1"); n != 1 {
				t.Errorf("%s has %d main headings", r, n)
			}
		}
		for _, r := range []*testkit.Reply{stranger.get("/compte/sessions"), stranger.post("/compte", "email", "a@example.org"), ada.post("/compte/deconnexion")} {
			if got := r.Is(303).Header.Get("Cache-Control"); got != "no-store" {
				t.Errorf("%s may be cached: %q", r, got)
			}
		}
	})
}

func TestUnknownPathsAre404(t *testing.T) {
	b := open(t, databases.SQLite(t), publicURL).browser()
	b.get("/compte/nulle-part").Is(404).Contains("Page introuvable")
	b.post("/compte/nulle-part").Is(404)
	b.get("/compte/").RedirectsTo(303, "/compte")
	b.get("/compte/deconnexion").Is(405)
}
