package accountsite_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"palmares/internal/account"
	"palmares/internal/accountsite"
	"palmares/internal/deskdb"
	"palmares/internal/mail"
)

// nextMail takes the only mail of the queue.
func (p *server) nextMail() mail.Claim {
	p.t.Helper()
	mails, err := p.store.Mails.Claim(p.t.Context(), p.now, 10)
	if err != nil || len(mails) != 1 {
		p.t.Fatalf("the mails are %v, %v", mails, err)
	}
	if err := p.store.Mails.Finish(p.t.Context(), mails[0], mail.Verdict{}); err != nil {
		p.t.Fatal(err)
	}
	return mails[0]
}

func TestASignInLeadsToTheDeskAndToNoOtherSite(t *testing.T) {
	each(t, publicURL, func(t *testing.T, p *server) {
		id := account.CopyID + strings.Repeat("0", 26)
		for _, c := range []struct{ page, word, path string }{
			{"/redaction", "redaction", "/redaction"},
			{"/redaction/fiches?q=a", "redaction", "/redaction"},
			{"/redaction/copies/" + id, id, "/redaction/copies/" + id},
			{"/redaction/copies/" + id + "/relecture", id, "/redaction/copies/" + id},
			{"https://evil.example/", "redaction", "/redaction"},
		} {
			b := p.browser()
			signIn := accountsite.SignInPath(c.page)
			hidden := `<input type="hidden" name="vers" value="` + c.word + `">`
			b.get(signIn).Is(200).Contains(form, hidden)
			b.post("/compte", "email", "ada", "vers", c.word).Is(400).Contains(hidden)
			b.post("/compte", "email", "ada@example.org", "vers", c.word).RedirectsTo(303, "/compte/courriel")
			if m := p.nextMail(); m.About != c.word {
				t.Errorf("%s: the mail is about %q", c.page, m.About)
			}
			token := p.link("ada@example.org")
			link := accountsite.LinkURL("", account.LinkSignIn, c.word, token)
			b.get(link).Is(200).Contains(hidden)
			b.post("/compte/connexion", "jeton", token, "vers", c.word).RedirectsTo(303, c.path)
			// The same again, and the form of somebody who is signed in.
			b.get(link).RedirectsTo(303, c.path)
			b.post("/compte/connexion", "jeton", token, "vers", c.word).RedirectsTo(303, c.path)
			b.get(signIn).RedirectsTo(303, c.path)
			// Another browser is offered another link to the same page.
			p.browser().get(link).Is(410).Contains(form, hidden)
			p.now = p.now.AddDate(0, 0, 2) // so that there may be more mails
		}
		for _, word := range []string{"//evil.example", "https://evil.example", "/redaction", "redaction/..", "cop_../../x", id + "/", id[:29]} {
			b := p.browser()
			b.post("/compte", "email", "eve@example.org", "vers", word).RedirectsTo(303, "/compte/courriel")
			if m := p.nextMail(); m.About != "" {
				t.Errorf("%q: the mail is about %q", word, m.About)
			}
			token := p.link("eve@example.org")
			if got := accountsite.LinkURL("", account.LinkSignIn, word, token); got != "/compte/connexion?jeton="+token {
				t.Errorf("%q: the link is %s", word, got)
			}
			b.get("/compte?vers=" + word).Is(200).Lacks(`name="vers"`)
			b.post("/compte/connexion", "jeton", token, "vers", word).RedirectsTo(303, "/compte?fait=connexion")
			b.get("/compte?vers=" + word).Is(200)
			p.now = p.now.AddDate(0, 0, 2)
		}
	})
}

func TestWhoWritesAtTheDeskIsToldWhatIsKnown(t *testing.T) {
	each(t, publicURL, func(t *testing.T, p *server) {
		const desk, stays, listed = `href="/redaction"`, "Ce qui reste", "votre rôle à la rédaction"
		ada, eve := p.signedIn("ada@example.org"), p.signedIn("eve@example.org")
		if _, err := p.store.Editors.Add(t.Context(), deskdb.Editor{Email: "ada@example.org", Name: "Ada Lovelace", Role: account.Author}, p.now); err != nil {
			t.Fatal(err)
		}
		for _, author := range []string{"ada@example.org", "bob@example.org"} {
			c := deskdb.WorkingCopy{Path: "outils/" + author + ".md", Author: author}
			if _, err := p.store.Copies.Create(t.Context(), c, p.now); err != nil {
				t.Fatal(err)
			}
		}
		ada.get("/compte").Is(200).Contains(desk)
		ada.get("/compte/suppression").Is(200).Contains(stays)
		ada.get("/compte/donnees").Is(200).Contains(listed)
		ada.get("/compte/donnees.json").Is(200).Contains(`"role": "author"`, `"name": "Ada Lovelace"`, `"path": "outils/ada@example.org.md"`, `"state": "en-cours"`).Lacks("bob@")
		eve.get("/compte").Is(200).Lacks(desk)
		eve.get("/compte/suppression").Is(200).Lacks(stays)
		eve.get("/compte/donnees").Is(200).Lacks(listed)
		eve.get("/compte/donnees.json").Is(200).Contains(`"editor": null`, `"working_copies": []`)
	})
}

func TestOtherPagesKnowWhoIsSignedIn(t *testing.T) {
	each(t, publicURL, func(t *testing.T, p *server) {
		ask := func(b *browser) (*accountsite.Guest, *http.Response) {
			t.Helper()
			r, w := httptest.NewRequest(http.MethodGet, publicURL+"/redaction", http.NoBody), httptest.NewRecorder()
			if b.cookie != nil {
				r.AddCookie(b.cookie)
			}
			guest, err := p.handler.Guest(w, r)
			if err != nil {
				t.Fatal(err)
			}
			return guest, w.Result()
		}
		ada, again, stranger := p.signedIn("ada@example.org"), p.signedIn("ada@example.org"), p.browser()
		first, response := ask(ada)
		second, _ := ask(again)
		if first == nil || first.Account.Email != "ada@example.org" || first.Session.ID == second.Session.ID || len(response.Cookies()) != 0 {
			t.Fatalf("the first is %+v with %v, the second %+v", first, response.Cookies(), second)
		}
		if repeated, _ := ask(ada); len(first.FormToken) != 22 || first.FormToken != repeated.FormToken || first.FormToken == second.FormToken ||
			strings.Contains(ada.cookie.Value, first.FormToken) {
			t.Errorf("the tokens of forms are %q, %q and of another session %q", first.FormToken, repeated.FormToken, second.FormToken)
		}
		if guest, response := ask(stranger); guest != nil || len(response.Cookies()) != 0 {
			t.Errorf("a stranger is %+v with %v", guest, response.Cookies())
		}
		p.now = p.now.AddDate(0, 0, 1)
		if guest, response := ask(ada); guest == nil || len(response.Cookies()) != 1 || response.Cookies()[0].Value != ada.cookie.Value {
			t.Errorf("on the next day %+v gets %v", guest, response.Cookies())
		}
		p.now = p.now.AddDate(0, 0, 31)
		if guest, response := ask(ada); guest != nil || len(response.Cookies()) != 1 || response.Cookies()[0].MaxAge >= 0 {
			t.Errorf("after a month %+v gets %v", guest, response.Cookies())
		}
	})
}
