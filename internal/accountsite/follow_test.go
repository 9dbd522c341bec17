package accountsite_test

import (
	"bytes"
	"errors"
	"fmt"
	"mime/multipart"
	"path/filepath"
	"strings"
	"testing"

	"palmares/internal/account"
	"palmares/internal/accountsite"
	"palmares/internal/catalog"
	"palmares/internal/mail"
	"palmares/internal/readerdb"
	"palmares/internal/snapshot"
	"palmares/internal/sqldb"
)

// showPlume shows a catalogue of one tool.
func (p *server) showPlume() {
	p.t.Helper()
	p.snap = snapshot.Build(&catalog.Catalog{
		Name: "Essai", URL: publicURL, Categories: []catalog.Category{{Slug: "code", Label: "Code"}},
		Tools: []*catalog.Tool{{
			Slug: "plume", Name: "Plume", Domain: "plume.example", Category: "code", Pricing: "payant", Price: "5 €/mois",
		}},
	}, 1, "2026-11-16")
	if err := p.snap.BuildIndex(p.t.Context()); err != nil {
		p.t.Fatal(err)
	}
	p.cfg.Site.Show(p.snap)
}

// follow has an address follow a topic by the form and the link of the mail that it gets.
func (p *server) follow(email, topic string) (f readerdb.Follow) {
	p.t.Helper()
	b, ctx := p.browser(), p.t.Context()
	b.post("/suivre", "email", email, "quoi", topic, "quand", "semaine").RedirectsTo(303, "/suivre?fait=suivre")
	claimed, err := p.store.Mails.Claim(ctx, p.now, 10)
	if err != nil || len(claimed) != 1 || claimed[0].Kind != mail.ConfirmFollow {
		p.t.Fatalf("%+v, %v", claimed, err)
	}
	links := p.store.Links.Sealed(p.cfg.Sealer)
	to, err := links.Open(claimed[0].To)
	token, problem := links.Create(ctx, to, account.LinkFollow, p.now)
	if err := errors.Join(err, problem, p.store.Mails.Finish(ctx, claimed[0], mail.Verdict{})); err != nil {
		p.t.Fatal(err)
	}
	path, query, _ := strings.Cut(accountsite.LinkURL("", account.LinkFollow, claimed[0].About, token), "?")
	for range 2 { // scanners open links
		b.get(path+"?"+query).Is(200).Contains(strings.ToLower(email), "<button")
	}
	b.do("POST", path, query, "Sec-Fetch-Site: same-origin").RedirectsTo(303, "/suivre?fait=suivi")
	b.do("POST", path, query, "Sec-Fetch-Site: same-origin").Is(410)
	id, err := sqldb.Get[string](ctx, p.store.SQL, `SELECT id FROM follows WHERE topic = $1 AND pace = 'semaine'`, topic)
	if err == nil {
		f, err = p.store.Follows.Sealed(p.cfg.Sealer).Find(ctx, id)
	}
	if err != nil || f.Address != strings.ToLower(email) {
		p.t.Fatalf("%+v, %v", f, err)
	}
	return f
}

const oneClick = "List-Unsubscribe=One-Click"

func TestAReaderFollowsByALinkAndEndsByOneClick(t *testing.T) {
	each(t, publicURL, func(t *testing.T, p *server) {
		p.showPlume()
		b, f := p.browser(), p.follow("Lea@example.org", "outils/plume")
		path := accountsite.EndURL("", f.Token, "")
		for range 2 {
			b.get(path).Is(200).Contains("Ne plus suivre", "Plume", "lea@example.org")
		}
		b.do("POST", path, "").Is(200).Contains("Ne plus suivre")
		for range 2 { // without a cookie, and again
			b.do("POST", path, oneClick).Is(200).Contains("C’est fini")
		}
		for _, gone := range []string{path, path[:len(path)-5], "/suivre/fin?jeton=", "/suivre/fin"} {
			b.get(gone).Is(410).Contains("ce qu’il arrêtait est déjà fini").Lacks("@example.org", "C’est fini")
		}
	})
}

// A mailbox ends what a mail was about also after its reader has ended a part of it.
func TestOneClickEndsAllThatAMailWasAbout(t *testing.T) {
	each(t, publicURL, func(t *testing.T, p *server) {
		p.showPlume()
		b := p.browser()
		var f readerdb.Follow
		for _, topic := range []string{"outils/plume", "categories/code", ""} {
			f = p.follow("lea@example.org", topic)
		}
		path := accountsite.EndURL("", f.Token, f.All)
		b.get(path).Is(200).Contains("Tout le catalogue\u00a0», «\u00a0Code\u00a0», «\u00a0Plume")
		left := b.post("/suivre/fin", "jeton", f.Token).Is(200)
		left.Contains("C’est fini", "Code\u00a0», «\u00a0Plume").Lacks("Tout le catalogue\u00a0»")
		for range 2 {
			b.do("POST", path, oneClick).Is(200)
		}
		if left, err := sqldb.Get[int](t.Context(), p.store.SQL, `SELECT count(*) FROM follows`); left != 0 || err != nil {
			t.Errorf("%d are left, %v", left, err)
		}
	})
}

// A mailbox may click as a form of several parts, the form that RFC 8058 recommends.
func TestOneClickMayHaveSeveralParts(t *testing.T) {
	p := open(t, databases.SQLite(t), publicURL)
	p.showPlume()
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "none")) // nothing is written there
	b, f := p.browser(), p.follow("lea@example.org", "outils/plume")
	path := accountsite.EndURL("", f.Token, "")
	for _, test := range []struct {
		parts, size int
		value       string
		status      int
		words       string
	}{
		{1, 65 << 10, "One-Click", 400, ""},
		{0, 0, "no", 200, "Ne plus suivre"},
		{1, 63 << 10, "no", 200, "Ne plus suivre"},
		{300, 1, "One-Click", 200, "C’est fini"},
	} {
		var body bytes.Buffer
		form := multipart.NewWriter(&body)
		for i := range test.parts {
			part, err := form.CreateFormFile(fmt.Sprint("f", i), "f")
			if err != nil {
				t.Fatal(err)
			}
			_, _ = part.Write(make([]byte, test.size)) // to memory
		}
		if err := errors.Join(form.WriteField("List-Unsubscribe", test.value), form.Close()); err != nil {
			t.Fatal(err)
		}
		b.do("POST", path, body.String(), "Content-Type: "+form.FormDataContentType()).Is(test.status).Contains(test.words)
	}
}

func TestNobodyLearnsWhoFollowsOrSubscribesSomebodyElse(t *testing.T) {
	each(t, publicURL, func(t *testing.T, p *server) {
		p.showPlume()
		p.follow("lea@example.org", "outils/plume")
		b := p.browser()
		ask := func(email string) string {
			reply := b.post("/suivre", "email", email, "quoi", "outils/plume")
			return fmt.Sprint(reply.Status, reply.Header.Get("Location"), reply.Body)
		}
		if known, unknown := ask("lea@example.org"), ask("bob@example.org"); known != unknown {
			t.Errorf("%q is not %q", known, unknown)
		}
		for range 30 {
			ask("bob@example.org")
		}
		if mails, err := p.store.Mails.Claim(t.Context(), p.now, 100); err != nil || len(mails) > 4 {
			t.Errorf("%d mails flood a mailbox, %v", len(mails), err)
		}
		if n, err := sqldb.Get[int](t.Context(), p.store.SQL, `SELECT count(*) FROM follows`); n != 1 || err != nil {
			t.Errorf("%d follow, though one has confirmed, %v", n, err)
		}
		b.post("/suivre", "email", "robot@example.org", "quoi", "", "site", "https://spam.example").Is(303)
		b.post("/suivre", "email", "bob", "quoi", "").Is(400).Contains("Cette adresse n’en est pas une")
		b.post("/suivre", "email", "bob@example.org", "quoi", "outils/unknown").Is(404)
		b.post("/suivre", "email", "bob@example.org", "quand", "jamais").Is(400)
		b.post("/suivre/confirmation", "jeton", "x", "quoi", "").Is(410)
	})
}
