package accountsite_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"palmares/internal/accountdb"
	"palmares/internal/mail"
)

func TestAReportIsStoredOnceAndMailedOnceADay(t *testing.T) {
	each(t, publicURL, func(t *testing.T, p *server) {
		b, ctx := p.browser(), t.Context()
		reports := p.store.Reports.Sealed(p.cfg.Sealer)
		b.get("/signaler?page=/outils/plume").Is(200).Contains(`name="page" value="/outils/plume"`, `action="/signaler" method="post"`)
		b.get("/signaler?page=https://evil.example/").Is(200).Lacks("evil.example")
		for _, bad := range [][]string{
			{"texte", " "},
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
		list, err := reports.List(ctx)
		if err != nil || len(list) != 2 || list[0].Page == list[1].Page || slices.IndexFunc(list, func(r accountdb.Report) bool { return r.Page == "/outils/plume" && r.Address == "lea@example.org" }) < 0 {
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
		first := digest("redaction@example.org")
		if len(first) != 1 || first[0].Kind != mail.Reports || first[0].To != "redaction@example.org" {
			t.Fatalf("the mails are %+v", first)
		}
		since, until, _ := strings.Cut(first[0].About, " ")
		if told, err := reports.OpenBetween(ctx, since, until); len(told) != 2 || err != nil {
			t.Errorf("the mail tells %+v, %v", told, err)
		}
		p.now = p.now.Add(time.Minute)
		b.post("/signaler", "texte", "Encore.").RedirectsTo(303, "/signaler/merci")
		if again := digest("redaction@example.org"); len(again) != 0 {
			t.Errorf("a second mail on one day: %+v", again)
		}
		p.now = p.now.AddDate(0, 0, 1)
		if nobody := digest("https://essai.example/ecrire"); len(nobody) != 0 {
			t.Errorf("a mail to nobody: %+v", nobody)
		}
		p.now = p.now.AddDate(0, 0, 1)
		next := digest("redaction@example.org")
		if len(next) != 1 {
			t.Fatalf("the mails are %+v", next)
		}
		since, until, _ = strings.Cut(next[0].About, " ")
		if told, err := reports.OpenBetween(ctx, since, until); len(told) != 1 || told[0].Text != "Encore." || err != nil {
			t.Errorf("the next mail tells %+v, %v", told, err)
		}
		p.now = p.now.AddDate(0, 0, 1)
		if quiet := digest("redaction@example.org"); len(quiet) > 0 {
			t.Errorf("a mail about nothing: %+v", quiet)
		}
	})
}

func TestReportsAreLimitedByNetworkAndDay(t *testing.T) {
	each(t, publicURL, func(t *testing.T, p *server) {
		b := p.browser()
		stored := 0
		for i := range 60 {
			p.now = p.now.Add(15 * time.Minute)
			if b.post("/signaler", "texte", fmt.Sprint("Faute ", i)).Status == 303 {
				stored++
			}
		}
		if stored != 30 {
			t.Errorf("one network sent %d reports in fifteen hours", stored)
		}
		b.post("/signaler", "texte", "Encore").Is(429).Contains("Encore", "réessayez")
		other := p.browser()
		other.from = "198.51.100.8"
		other.post("/signaler", "texte", "Une autre").RedirectsTo(303, "/signaler/merci")
	})
}
