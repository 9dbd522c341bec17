package desk_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"palmares/internal/evidence"
)

const tariffs = "https://plume.example/tarifs"

// look writes what was seen of the price of Plume the night before.
func (n *newsroom) look(result evidence.Result, found ...evidence.Found) {
	n.t.Helper()
	n.write("outils/plume.md", strings.Replace(plume, "tier: 1\n", "price_source: "+tariffs+"\ntier: 1\n", 1))
	n.see(result, found...)
}

// see is look for a tool that has its source.
func (n *newsroom) see(result evidence.Result, found ...evidence.Found) {
	n.t.Helper()
	seen := evidence.Proof{Slug: "plume", URL: tariffs, FinalURL: tariffs, CheckedAt: n.now.Add(-10 * time.Hour), Status: 200, Result: result, Found: found}
	if result == evidence.Confirmed {
		seen.ConfirmedAt = seen.CheckedAt
	}
	if err := evidence.Save(n.dir, []evidence.Proof{seen}); err != nil {
		n.t.Fatal(err)
	}
	n.now = n.now.Add(16 * time.Second) // the folder is read again
}

// taken is the file of Plume with a price of 25 € that was found on 2026-11-15.
var taken = strings.NewReplacer(
	"price: 19 €/mois\n", "price: 25 €/mois\n", "price_checked_at: 2026-01-01\n", "price_checked_at: 2026-11-15\n",
	"tier: 1\n", "price_source: "+tariffs+"\nprice_history:\n  - changed_at: 2026-11-15\n    old_pricing: payant\n    old_price: 19 €/mois\n"+
		"    new_pricing: payant\n    new_price: 25 €/mois\ntier: 1\n",
).Replace(plume)

var (
	pro   = evidence.Found{Amount: "25 €/mois", Text: "Pro <b>neuf</b> : 25 €/mois"}
	crew  = evidence.Found{Amount: "40 € par utilisateur et par mois", Text: "Équipe : 40 € par utilisateur et par mois"}
	vague = evidence.Found{Amount: "12 €", Text: "Dès 12 €"}
)

func TestAPriceThatWasFoundIsTakenOverWithItsDay(t *testing.T) {
	each(t, func(t *testing.T, n *newsroom) {
		ada, bob := n.as("Ada"), n.as("Bob")
		n.look(evidence.Changed, pro, vague, crew)
		bob.get("/redaction").OK().Contains("Sources à revoir", `<a href="/redaction/sources?etat=changed">Prix changés</a>&nbsp;: 1`)
		bob.get("/redaction/sources").OK().Contains(
			"Prix changés", `href="/redaction/fiches/outils/plume">Plume</a>`, "<strong>19\u00a0€/mois</strong>", `href="`+tariffs+`"`, `datetime="2026-11-15"`,
			"Pro &lt;b&gt;neuf&lt;/b&gt; : 25 €/mois", `value="25 €/mois">Reprendre 25`, `value="40 €/utilisateur/mois">`, "Dès 12 €",
		).Lacks(`value="12`)
		bob.get("/redaction/sources?etat=gone").OK().Lacks("Plume")

		// What she has written stays, and only the lines of the price change, however often she chooses.
		copied := bob.open("outils/plume")
		bob.save(copied, "f.tagline", "Écrit bien").Is(http.StatusSeeOther)
		const to = "/redaction/fiches/outils/plume/prix"
		for _, price := range []string{"40 €/utilisateur/mois", "25 €/mois", "25 €/mois"} {
			if got := bob.follow(bob.post(to, "source", tariffs, "note", "19 €/mois", "prix", price)); got != copied {
				t.Errorf("it leads to %s, not to %s", got, copied)
			}
		}
		found, err := n.db.Copies.Find(t.Context(), filepath.Base(copied))
		want := strings.Replace(taken, "Écrit vite", "Écrit bien", 1)
		if err != nil || string(found.Data) != want {
			t.Errorf("%v, the copy is\n%s", err, found.Data)
		}
		bob.get("/redaction/sources").OK().Contains(`<a href="` + copied + `">Votre copie</a>`)
		for _, wrong := range [][]string{
			{"source", tariffs, "prix", "12 €/mois"}, {"source", tariffs, "prix", ""}, {"source", tariffs + "2", "prix", "25 €/mois"}, {"prix", "25 €/mois"},
		} {
			bob.post(to, wrong...).Is(http.StatusUnprocessableEntity).Contains("n’est plus proposé")
		}
		bob.post("/redaction/fiches/outils/encre/prix", "source", tariffs, "prix", "25 €/mois").Is(http.StatusUnprocessableEntity)
		bob.post("/redaction/fiches/outils/absent/prix", "source", tariffs, "prix", "25 €/mois").Is(http.StatusNotFound)

		// Published, it waits for the next look, and the history has the day of this one.
		ada.post("/redaction/publication", "copie", n.seen(copied)).Is(http.StatusSeeOther)
		n.now = n.now.Add(16 * time.Second)
		bob.get("/redaction/sources").OK().Contains("Rien à revoir").Lacks("Plume")
		bob.post(to, "source", tariffs, "prix", "25 €/mois").Is(http.StatusUnprocessableEntity)
		loaded, err := n.db.Catalogue.Load(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		c := loaded.Catalog
		tool := c.Tool("plume")
		if got := fmt.Sprint(tool.Price, tool.PriceCheckedAt, tool.PriceHistory); got != "25 €/mois2026-11-15[{2026-11-15 payant 19 €/mois payant 25 €/mois false  }]" {
			t.Errorf("published: %s", got)
		}
		if known := c.FreshnessOf(tool, "2026-11-16"); known.Day != "2026-11-15" || known.URL != "" {
			t.Errorf("the price is known by %+v", known)
		}
	})
}

func TestOnOnesOwnMachineAPriceIsTakenOverIntoTheFile(t *testing.T) {
	me := newLocal(t)
	me.look(evidence.Changed, pro)
	me.get("/redaction/sources").OK().Contains("Reprendre 25", `name="note" value="19 €/mois"`)
	before := me.read("outils/plume.md")
	me.write("outils/plume.md", strings.Replace(before, "price: 19", "price: 21", 1)) // in her editor, while the page is open
	me.post("/redaction/fiches/outils/plume/prix", "source", tariffs, "note", "19 €/mois", "prix", "25 €/mois").
		Is(http.StatusUnprocessableEntity).Contains("a changé depuis que cette page")
	me.write("outils/plume.md", before)
	to := me.post("/redaction/fiches/outils/plume/prix", "source", tariffs, "note", "19 €/mois", "prix", "25 €/mois").Is(http.StatusSeeOther).Header.Get("Location")
	if got := me.read("outils/plume.md"); got != taken {
		t.Errorf("the file is\n%s", got)
	}
	me.get(to).OK().Contains("Le prix est repris", "Rien à revoir")
	me.see(evidence.Confirmed, pro)
	me.get("/redaction").OK().Lacks("Sources à revoir", "Prix à revoir")
	me.write("preuves.jsonl", "<<<<<<< HEAD\n")
	me.now = me.now.Add(16 * time.Second)
	me.get("/redaction/sources").OK().Contains("À corriger dans le dossier", "preuves.jsonl, ligne 1\u00a0: un conflit n’est pas résolu")
}

func TestPricesOfOneFileAreReadAndNotTakenOver(t *testing.T) {
	me := newLocal(t)
	me.write("outils.jsonl", `{"slug":"gomme","name":"Gomme","domain":"gomme.example","tagline":"Efface","category":"code","pricing":"payant","price":"9 €/mois","price_source":"`+tariffs+`","price_source_hint":"Max"}`+"\n")
	seen := evidence.Proof{Slug: "gomme", URL: tariffs, CheckedAt: me.now, Result: evidence.Changed, Found: []evidence.Found{pro}, NoPlan: true}
	if err := evidence.Save(me.dir, []evidence.Proof{seen}); err != nil {
		t.Fatal(err)
	}
	me.get("/redaction/sources").OK().Contains("Gomme", ": 25 €/mois", "</strong>, offre «&nbsp;Max&nbsp;». Lue le", "L’offre «&nbsp;Max&nbsp;» n’est pas sur la page.").Lacks("Reprendre")
	me.post("/redaction/fiches/outils/gomme/prix", "source", tariffs, "prix", "25 €/mois").Is(http.StatusUnprocessableEntity).Contains("ne s’y modifie pas")
}
