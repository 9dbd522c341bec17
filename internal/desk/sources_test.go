package desk_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"palmares/internal/catalog"
	"palmares/internal/content"
)

const (
	tariffs = "https://plume.example/tarifs"
	quoted  = "Pro <b> 19 € par mois"
)

// look writes what was seen of the quotation of Plume the night before.
func (n *newsroom) look(result, found string) {
	n.t.Helper()
	n.write("outils/plume.md", strings.Replace(plume, "tier: 1\n", "price_source: "+tariffs+"\nprice_quote: "+quoted+"\ntier: 1\n", 1))
	n.see(catalog.Proof{Slug: "plume", Quote: quoted, Result: result, Found: found})
}

// see is look for a tool that has its quotation.
func (n *newsroom) see(p catalog.Proof) {
	n.t.Helper()
	p.URL, p.FinalURL, p.CheckedAt, p.Status = tariffs, tariffs, catalog.FormatTime(n.now.Add(-10*time.Hour)), 200
	if p.Result == catalog.Confirmed {
		p.ConfirmedAt = p.CheckedAt
	}
	if err := content.SaveProofs(n.dir, []catalog.Proof{p}); err != nil {
		n.t.Fatal(err)
	}
	n.now = n.now.Add(16 * time.Second) // the folder is read again
}

// taken is the file of Plume with words that were found on 2026-11-15.
var taken = strings.NewReplacer(
	"price: 19 €/mois\n", "price: 25 €/mois\n", "price_checked_at: 2026-01-01\n", "price_checked_at: 2026-11-15\n",
	"tier: 1\n", "price_source: "+tariffs+"\nprice_quote: \"Pro <b> 25 € par mois\"\nprice_history:\n  - changed_at: 2026-11-15\n    old_pricing: payant\n"+
		"    old_price: 19 €/mois\n    new_pricing: payant\n    new_price: 25 €/mois\ntier: 1\n",
).Replace(plume)

const takeOver = "/redaction/fiches/outils/plume/prix"

// words are the fields of the form that takes over what was found.
var words = []string{"source", tariffs, "note", "19 €/mois", "mots", "Pro <b> 25 € par mois"}

func TestWordsThatWereFoundAreTakenOverWithTheirPriceAndDay(t *testing.T) {
	each(t, func(t *testing.T, n *newsroom) {
		ada, bob := n.as("Ada"), n.as("Bob")
		n.look(catalog.Changed, "Pro <b>\n25\u00a0€\npar mois")
		bob.get("/redaction").OK().Contains("Sources à revoir", `<a href="/redaction/sources?etat=changed">Prix changés</a>&nbsp;: 1`)
		bob.get("/redaction/sources").OK().Contains(
			"Prix changés", `href="/redaction/fiches/outils/plume">Plume</a>`, "<strong>19\u00a0€/mois</strong>", `href="`+tariffs+`"`, `datetime="2026-11-15"`,
			"Cité&nbsp;: «&nbsp;Pro &lt;b&gt; <mark>19 </mark>€ par mois&nbsp;»", "Trouvé&nbsp;: «&nbsp;Pro &lt;b&gt; <mark>25 </mark>€ par mois&nbsp;»",
			"Reprendre 25\u00a0€/mois et les mots trouvés", "Toujours vrai",
		)
		bob.get("/redaction/sources?etat=gone").OK().Lacks("Plume")

		// What she has written stays, and only the lines of the price change, however often she chooses.
		copied := bob.edit("outils/plume", "f.tagline", "Écrit bien")
		bob.get("/redaction/sources").OK().Contains("Votre copie</a></p>", "Reprendre 25")
		for range 2 {
			if got := bob.follow(bob.post(takeOver, words...)); got != copied {
				t.Errorf("it leads to %s, not to %s", got, copied)
			}
		}
		n.text(copied).is(strings.Replace(taken, "Écrit vite", "Écrit bien", 1))
		bob.get("/redaction/sources").OK().Contains(`<a href="`+copied+`">Votre copie</a>&nbsp;: le prix y est cité`).Lacks("Reprendre", "Toujours vrai")
		for _, wrong := range [][]string{
			{"source", tariffs, "mots", "Pro 12 € par mois"}, {"source", tariffs, "mots", ""}, {"source", tariffs + "2", "mots", words[5]}, {"mots", words[5]},
		} {
			bob.post(takeOver, wrong...).Is(http.StatusUnprocessableEntity).Contains("ne sont plus proposés")
		}
		bob.post("/redaction/fiches/outils/encre/prix", words...).Is(http.StatusUnprocessableEntity)
		bob.post("/redaction/fiches/outils/absent/prix", words...).Is(http.StatusNotFound)
		bob.save(copied, "f.price_source", tariffs+"/nouveaux").Is(http.StatusSeeOther)
		bob.post(takeOver, words...).Is(http.StatusUnprocessableEntity).Contains("ne sont plus proposés")
		bob.save(copied, "f.price_source", tariffs).Is(http.StatusSeeOther)

		// Published, it waits for the next look, and the history has the day of this one.
		ada.publish("copie", n.seen(copied)).Is(http.StatusSeeOther)
		n.now = n.now.Add(16 * time.Second)
		bob.get("/redaction/sources").OK().Contains("Rien à revoir").Lacks("Plume")
		bob.post(takeOver, words...).Is(http.StatusUnprocessableEntity)
		loaded, err := n.db.Catalogue.Load(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		tool := loaded.Catalog.Tool("plume")
		if got := fmt.Sprint(tool.Price, tool.PriceCheckedAt, tool.PriceHistory); got != "25 €/mois2026-11-15[{2026-11-15 payant 19 €/mois payant 25 €/mois false  }]" {
			t.Errorf("published: %s", got)
		}
		if known := loaded.Catalog.FreshnessOf(tool, "2026-11-16"); known.Day != "2026-11-15" || known.Proof != nil {
			t.Errorf("the price is known by %+v", known)
		}
	})
}

func TestOnOnesOwnMachineWordsAreTakenOverIntoTheFile(t *testing.T) {
	me := newLocal(t)
	me.look(catalog.Changed, words[5])
	me.get("/redaction/sources").OK().Contains("Reprendre 25", `name="note" value="19 €/mois"`)
	before := me.read("outils/plume.md")
	for was, other := range map[string]string{"price: 19": "price: 21", "price_quote: Pro": "price_quote: Max", "/tarifs\n": "/prix\n"} {
		me.write("outils/plume.md", strings.Replace(before, was, other, 1)) // in her editor, while the page is open
		me.post(takeOver, words...).Is(http.StatusUnprocessableEntity).Contains("ne sont plus proposés")
	}
	me.write("outils/plume.md", before)
	to := me.post(takeOver, words...).Is(http.StatusSeeOther).Header.Get("Location")
	me.file("outils/plume.md").is(taken)
	me.get(to).OK().Contains("Le prix est repris", "Rien à revoir")
	me.see(catalog.Proof{Slug: "plume", Quote: words[5], Result: catalog.Confirmed})
	me.get("/redaction").OK().Lacks("Sources à revoir", "Prix à revoir")
	me.write("preuves.jsonl", "<<<<<<< HEAD\n")
	me.now = me.now.Add(16 * time.Second)
	me.get("/redaction/sources").OK().Contains("À corriger dans le dossier", "preuves.jsonl, ligne 1\u00a0: un conflit n’est pas résolu")
}

func TestWhereOnlyAPersonCanTellThePriceTheWordsAloneAreTakenOver(t *testing.T) {
	me := newLocal(t)
	me.look(catalog.Changed, words[5])
	me.write("outils/plume.md", strings.Replace(me.read("outils/plume.md"), "price: 19 €/mois\n", "price: 19 €/mois\nprice_display: Dès 19 €\n", 1))
	me.get("/redaction/sources").OK().Contains("Reprendre les mots trouvés")
	to := me.post(takeOver, words...).Is(http.StatusSeeOther).Header.Get("Location")
	to, _, _ = strings.Cut(to, "#")
	me.get(to).OK().Contains("La citation est dans la fiche", "À regarder, sans empêcher de publier")
	me.file("outils/plume.md").has("price: 19 €/mois\n", "price_quote: \""+words[5]+"\"\n")
}

func TestEveryStateHasItsList(t *testing.T) {
	me := newLocal(t)
	for state, title := range map[string]string{
		catalog.Gone: "Pages disparues", catalog.Moved: "Pages déplacées", catalog.Unreadable: "Pages illisibles", catalog.Confirmed: "Rien à revoir",
	} {
		me.look(state, "")
		r := me.get("/redaction/sources").OK().Contains(title)
		if state != catalog.Confirmed {
			r.Contains("Cité&nbsp;: «&nbsp;"+strings.NewReplacer("<", "&lt;", ">", "&gt;").Replace(quoted), "Toujours vrai").Lacks("Reprendre", "Trouvé")
		}
	}
	me.see(catalog.Proof{Slug: "plume", Quote: quoted, Result: catalog.Unreadable, Why: "the page answers with status 403"})
	me.get("/redaction/sources").OK().Contains("Essayée le <time", "<p>La page répond par le statut 403.</p>").Lacks("Lue le")
	me.write("preuves.jsonl", "")
	me.now = me.now.Add(16 * time.Second)
	me.get("/redaction/sources").OK().Contains("Pages à relire", "Jamais relue")
	me.write("outils/plume.md", strings.Replace(me.read("outils/plume.md"), "price_quote: "+quoted+"\n", "", 1))
	me.get("/redaction/sources?etat=changed").OK().Contains("Rien dans cette liste").Lacks("Rien à revoir")
	me.write("catalogue.yaml", settings+"categories: []\n")
	me.get("/redaction/sources").OK().Contains("dès qu’il n’y aura plus rien à corriger").Lacks("Rien à revoir")
}

func TestPricesWithoutAQuotationAreListedAsSoonAsTheyAreSaved(t *testing.T) {
	const list = "/redaction/sources?etat=unquoted"
	me := newLocal(t)
	me.write("outils/encre.md", encre)
	first := me.get(list).OK().Contains("Prix sans citation&nbsp;: 1", "Plume", "19\u00a0€/mois")
	first.Contains("n’a pas de page du prix", "Donner l’adresse<span").Lacks("Encre")
	copied := me.follow(me.post("/redaction/fiches/outils/plume/copie", "vers", "source"))
	me.get(copied).OK().Contains(`name="f.price_source" value=""`)
	me.write("outils/plume.md", strings.Replace(plume, "tier: 1\n", "sources: [https://plume.example/a-propos, https://plume.example]\ntier: 1\n", 1))
	page := me.get(copied).OK().Contains("Adresse de la page qui dit le prix", `value="https://plume.example/a-propos"`).Body
	fields := []string{"revision", hasRevision.FindStringSubmatch(page)[1], "f.price_source", tariffs, "vers", "source"}
	me.post(strings.TrimSuffix(copied, "/source"), fields...).Is(http.StatusSeeOther)
	me.get(list).OK().Contains(`href="`+tariffs+`"`, "Lire la page<span")
	plume := me.edit("outils/plume", "f.price_display", "Sur devis, dès 21 $")
	me.get(list).OK().Contains("<strong>Sur devis, dès 21 $</strong>")
	for _, price := range []string{"0 €/mois", "sur devis"} { // with a page, it can be quoted
		me.save(plume, "f.price", price, "f.price_display", "").Is(http.StatusSeeOther)
		me.get(list).OK().Contains("Plume")
	}
	me.save(plume, "f.price_source", "").Is(http.StatusSeeOther)
	me.get(list).OK().Contains("Rien dans cette liste")
	me.get("/redaction/sources").OK().Contains("Rien à revoir")
}

func TestPricesOfOneFileAreReadAndNotTakenOver(t *testing.T) {
	me := newLocal(t)
	me.write("outils.jsonl", `{"slug":"gomme","name":"Gomme","domain":"gomme.example","tagline":"Efface","category":"code","pricing":"payant","price":"19 €/mois","price_source":"`+tariffs+`","price_quote":"`+quoted+`"}`+"\n")
	me.see(catalog.Proof{Slug: "gomme", Quote: quoted, Result: catalog.Changed, Found: words[5]})
	me.get("/redaction/sources").OK().Contains("Gomme", "<mark>25 </mark>").Lacks("Reprendre", "Toujours vrai")
	me.post("/redaction/fiches/outils/gomme/prix", words...).Is(http.StatusUnprocessableEntity).Contains("ne s’y modifie pas")
}
