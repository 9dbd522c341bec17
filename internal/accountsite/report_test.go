package accountsite_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"palmares/internal/catalog"
	"palmares/internal/mail"
	"palmares/internal/readerdb"
	"palmares/internal/snapshot"
)

func TestAReportIsStoredOnceAndMailedOnceADay(t *testing.T) {
	each(t, publicURL, func(t *testing.T, p *server) {
		b, ctx := p.browser(), t.Context()
		p.snap = snapshot.Build(&catalog.Catalog{
			Name: "Essai", URL: publicURL, Categories: []catalog.Category{{Slug: "texte", Label: "Texte"}},
			Tools:   []*catalog.Tool{{Slug: "plume", Name: "Plume", Domain: "plume.example", Category: "texte", Pricing: "payant", Price: "5 €/mois"}},
			Retired: []catalog.Retired{{Slug: "vieux", Name: "Vieux", Category: "texte", Reason: "mort", RetiredAt: "2025-01-01"}},
		}, 1, "2026-11-16")
		if err := p.snap.BuildIndex(ctx); err != nil {
			t.Fatal(err)
		}
		p.cfg.Site.Show(p.snap)
		reports := p.store.Reports.Sealed(p.cfg.Sealer)
		b.get("/signaler?page=/outils/plume").Is(200).Contains(`name="page" value="/outils/plume"`, `action="/signaler" method="post"`)
		b.get("/signaler?page=/cimetiere/vieux").Is(200).Contains(`name="page" value="/cimetiere/vieux"`)
		for _, unknown := range []string{"https://evil.example/", "/cimetiere/jamais-vu", "//evil.example/outils/plume", "/outils/jamais-vu", "/comparatifs/jamais-vu", "/articles/jamais-vu", "outils/plume"} {
			b.get("/signaler?page="+unknown).Is(404).Lacks("evil.example", "<textarea")
		}
		for _, bad := range [][]string{
			{"texte", " "},
			{"texte", "\u200b\u3164\u2800"},
			{"texte", strings.Repeat("é", 2001)},
			{"texte", "Le prix.", "email", "lea"},
			{"texte", "\x00"},
		} {
			b.post("/signaler", bad...).Is(400).Contains(`role="alert"`)
		}
		b.post("/signaler", "texte", "Achetez !", "site", "https://spam.example").RedirectsTo(303, "/signaler/merci")
		b.post("/signaler", "page", "/outils/plume", "texte", "Le prix est faux.", "email", "Lea@Example.org").RedirectsTo(303, "/signaler/merci")
		b.post("/signaler", "page", "//evil.example/a", "texte", strings.Repeat("é", 2000)).RedirectsTo(303, "/signaler/merci")
		b.get("/signaler/merci").Is(200).Contains("Merci").Lacks("plume")
		list, err := reports.List(ctx, 0)
		if err != nil || len(list) != 2 || list[0].Page == list[1].Page || slices.IndexFunc(list, func(r readerdb.Report) bool { return r.Page == "/outils/plume" && r.Address == "lea@example.org" }) < 0 {
			t.Fatalf("%+v, %v", list, err)
		}
		if !p.store.SQL.Shared() {
			for _, suffix := range []string{"", "-wal"} {
				file, err := os.ReadFile(p.store.SQL.Name() + suffix)
				if err != nil || bytes.Contains(bytes.ToLower(file), []byte("lea@example.org")) {
					t.Errorf("the address can be read in the database: %v", err)
				}
			}
		}
		digest := func(contact string) (claimed []mail.Claim) {
			t.Helper()
			if err := p.store.Reports.QueueDigest(ctx, contact, p.now); err != nil {
				t.Fatal(err)
			}
			claimed, err := p.store.Mails.Claim(ctx, p.now, 10)
			for _, c := range claimed {
				err = errors.Join(err, p.store.Mails.Finish(ctx, c, mail.Verdict{}))
			}
			if err != nil {
				t.Fatal(err)
			}
			return claimed
		}
		if early := digest("redaction@example.org"); len(early) != 0 {
			t.Errorf("the day is not over: %+v", early)
		}
		told := func(want ...string) {
			t.Helper()
			p.now = p.now.AddDate(0, 0, 1)
			mails := digest("redaction@example.org")
			if again := digest("redaction@example.org"); len(again) != 0 {
				t.Errorf("a second mail on one day: %+v", again)
			}
			if len(mails) != min(1, len(want)) || len(mails) > 0 && (mails[0].Kind != mail.Reports || mails[0].To != "redaction@example.org") {
				t.Fatalf("the mails are %+v", mails)
			}
			for _, m := range mails {
				since, until, _ := strings.Cut(m.About, " ")
				list, more, err := reports.OpenBetween(ctx, since, until)
				var texts []string
				for _, r := range list {
					texts = append(texts, r.Text)
				}
				slices.Sort(texts)
				if !slices.Equal(texts, want) || more != 0 || err != nil {
					t.Errorf("the mail tells %q, %v", texts, err)
				}
			}
		}
		told("Le prix est faux.", strings.Repeat("é", 2000))
		told()
		b.post("/signaler", "texte", "Encore.").RedirectsTo(303, "/signaler/merci")
		told("Encore.")
		b.post("/signaler", "texte", "Pour personne.").RedirectsTo(303, "/signaler/merci")
		p.now = p.now.AddDate(0, 0, 1)
		if nobody := digest("https://essai.example/ecrire"); len(nobody) != 0 {
			t.Errorf("a mail to nobody: %+v", nobody)
		}
	})
}

func TestReportsAreLimitedByNetwork(t *testing.T) {
	each(t, publicURL, func(t *testing.T, p *server) {
		b := p.browser()
		for i := range 10 {
			b.post("/signaler", "texte", fmt.Sprint("Faute ", i)).RedirectsTo(303, "/signaler/merci")
		}
		refused := b.post("/signaler", "texte", "Encore").Is(429).Contains("Encore", "réessayez", "ou y signaler une erreur")
		if after := refused.Header.Get("Retry-After"); after != "3600" {
			t.Errorf("Retry-After is %q", after)
		}
	})
}
