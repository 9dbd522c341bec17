package browser_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"palmares/internal/testkit"
)

// signsIn signs an editor in and leads to the desk.
func (s *service) signsIn(b *tab) {
	s.t.Helper()
	s.command("editor", "add", "ada@example.org", "--name", "Ada", "--role", "editor")
	b.goTo("/redaction")
	b.at("/compte?vers=redaction", "Compte")
	b.leave(fill("main input[type=email]", "ada@example.org"), click("main form button"))
	b.goTo(s.link())
	b.follow("main form button")
	b.at("/redaction", "Rédaction")
}

// retype types something in the place of what a field has.
func (b *tab) retype(name, text string) {
	b.t.Helper()
	eval[chromedp.Void](b, fmt.Sprintf(`document.getElementsByName(%q)[0].select()`, name))
	b.do(fill("[name='"+name+"']", text))
}

// file returns a file of the catalogue.
func (s *service) file(name string) string {
	s.t.Helper()
	file, err := os.ReadFile(filepath.Join(s.folder, name))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(file)
}

func TestAnEditorWritesWhileThePageFollowsAndPublishes(t *testing.T) {
	t.Parallel()
	s := startService(t)
	b := customer{openTab(t, wideBrowser, desktop, s.url), map[string]bool{}}
	s.signsIn(b.tab)
	b.shows("Bonjour Ada")
	for path, words := range map[string]string{"fiches": "1 fiche", "nouvelle": "Que voulez-vous", "images": "Inutilisées", "sources": "Prix sans citation", "reglages": "Catégories"} {
		b.goTo("/redaction/" + path)
		b.shows(words)
	}
	b.goTo("/redaction/fiches/outils/plume")
	b.shows("Dupliquer", "Retirer")
	b.follow("form[action$=copie] button")
	b.shows("Copie de travail")

	// The form is saved by itself, and the page beside it follows.
	b.retype("f.tagline", "Écrit. Vite et bien")
	b.await(`document.querySelector("[data-status]").textContent.startsWith("Enregistré")`)
	b.await(`document.querySelector("[data-page]").contentDocument.body.innerText.includes("Écrit. Vite et bien")`)
	b.retype("f.price", "cher")
	b.await(`!document.querySelector("[data-wrong=price]").hidden`)
	b.isAccessible("a form with a problem")
	b.retype("f.price", "21 €/mois")
	b.await(`document.querySelector("[data-wrong=price]").hidden`)

	// Tools write Markdown; a record is linked by its name, with the keyboard alone.
	b.retype("f.body", "## Verdict\n\nMieux que ")
	b.do(click("[data-tools] button[aria-expanded]"), fill("[id='page.trouver']", "plu"))
	b.await(`document.querySelector(".desk-find li button")?.textContent.startsWith("Plume")`)
	b.do(fill("[id='page.trouver']", "\r"))
	b.await(`document.querySelector("[name='f.body']").value.includes("[Plume](../outils/plume.md)")`)
	b.await(`document.querySelector("[data-page]").contentDocument.body.innerText.includes("Mieux que Plume")`)

	// A picture that is pasted waits for its description, and is then where she writes.
	eval[chromedp.Void](b.tab, `(async () => {
		const canvas = Object.assign(document.createElement("canvas"), { width: 40, height: 30 });
		const blob = await new Promise(done => canvas.toBlob(done));
		const data = new DataTransfer();
		data.items.add(new File([blob], "Écran.png", { type: "image/png" }));
		document.querySelector("[name='f.body']").dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
	})()`, chromedp.EvalAwaitPromise)
	b.await(`document.activeElement.name === "alt"`)
	b.do(fill("[name=alt]", "Un écran vide"), click(".desk-picture button"))
	b.await(`document.querySelector("[name='f.body']").value.includes("![Un écran vide](../images/plume/ecran.png)")`)
	b.await(`(img => { if (img) img.loading = "eager"; return img?.naturalWidth === 40 })( // it may be out of sight
		document.querySelector("[data-page]").contentDocument.querySelector("main img[alt='Un écran vide']"))`)
	b.await(`document.querySelector("[data-status]").textContent.startsWith("Enregistré")`)

	copied := strings.TrimSuffix(strings.TrimPrefix(b.lastURL(), s.url), "?fait=ouverte")
	b.goTo(copied + "/suppression")
	b.shows("sera perdu")
	b.goTo(copied)
	s.publish("25 €/mois") // by somebody else
	b.follow("button[name=vers]")
	b.at(copied+"/conflit", "Deux versions de la même fiche")
	b.shows("21 €/mois", "25 €/mois")
	eval[chromedp.Void](b.tab, `document.querySelectorAll("[value=mien]").forEach(choice => choice.click())`)
	b.follow("main form button")
	b.follow("button[name=vers]")
	b.at(copied+"/publication", "Publier")
	b.shows("Écrit. Vite et bien", "21 €/mois")
	b.follow("main form button")
	b.at("/redaction?fait=publie", "Rédaction")
	b.shows("C’est publié")
	if got := s.file("outils/plume.md"); !strings.Contains(got, "price: 21 €/mois\n") || !strings.Contains(got, "Mieux que [Plume]") {
		t.Errorf("the file is\n%s", got)
	}
	testkit.Until(t, "the page on the site", func() bool {
		b.goTo("/avis/plume")
		return strings.Contains(b.text("main"), "Mieux que Plume")
	})
}

func TestTheDeskWorksWithoutScripts(t *testing.T) {
	t.Parallel()
	s := startService(t)
	b := openTab(t, wideBrowser, phone, s.url)
	b.withoutScripts()
	s.signsIn(b)
	b.goTo("/redaction/fiches/outils/plume")
	b.follow("form[action$=copie] button")
	copied := strings.TrimSuffix(strings.TrimPrefix(b.lastURL(), s.url), "?fait=ouverte")
	b.retype("f.tagline", "Écrit. Vite")
	b.leave(click(".desk-bar button"))
	b.at(copied+"?fait=enregistre", "Plume")
	s.publish("25 €/mois") // by somebody else
	b.leave(click("button[name=vers]"))
	b.at(copied+"/conflit", "Deux versions de la même fiche")
	b.shows("25 €/mois", "Écrit. Vite")
	b.leave(click("[name='c.tagline'][value=mien]"), click("[name='c.price'][value=leur]"), click("main form button"))
	b.at(copied+"?fait=reuni", "Plume")
	b.follow("button[name=vers]")
	b.follow("main form button")
	b.at("/redaction?fait=publie", "Rédaction")
	if got := s.file("outils/plume.md"); !strings.Contains(got, "25 €/mois") || !strings.Contains(got, "Écrit. Vite") {
		t.Errorf("the file is\n%s", got)
	}
}

func TestADraftIsSharedReviewedScheduledAndCancelled(t *testing.T) {
	t.Parallel()
	s := startService(t)
	b := customer{openTab(t, wideBrowser, desktop, s.url), map[string]bool{}}
	s.signsIn(b.tab)
	b.goTo("/redaction/fiches/outils/plume")
	b.follow("form[action$=copie] button")
	copied := strings.TrimSuffix(strings.TrimPrefix(b.lastURL(), s.url), "?fait=ouverte")
	b.retype("f.tagline", "Écrit. Demain")
	b.retype("f.body", "## Verdict\n\nBien mieux.")
	b.leave(click("button[value=partage]"))
	b.at(copied+"/partage", "Partager")
	b.leave(click("main form button"))
	b.shows("il n’est montré qu’une fois", "0 vue")
	link := strings.TrimPrefix(eval[string](b.tab, `document.getElementById("page.lien").value`), s.url)

	visitor := customer{openTab(t, wideBrowser, phone, s.url), map[string]bool{}}
	visitor.goTo(link)
	visitor.shows("Écrit. Demain")
	if got := visitor.text("aside.preview"); !strings.Contains(got, "Brouillon") {
		t.Errorf("the page says %q", got)
	}

	b.goTo(copied + "/relecture")
	b.shows("Écrit. Demain", "Bien mieux.")
	b.do(fill("[name=mot]", "À relire"))
	b.leave(click("form[action$=relecture] button"))
	b.shows("La relecture est demandée")
	b.goTo(copied + "/relecture")
	b.leave(click("form[action$=accord] button"))
	b.shows("Prête")
	b.goTo(copied + "/programmation")
	b.shows("Europe/Paris")
	eval[chromedp.Void](b.tab, `document.querySelector("[name=quand]").value = "2099-12-01T09:00"`)
	b.leave(click("main form button"))
	b.shows("C’est programmé", "Plume")
	if got := s.file("outils/plume.next.md"); !strings.Contains(got, "2099-12-01T09:00") {
		t.Errorf("the file is\n%s", got)
	}
	visitor.watch.forgive(s.url + link) // it ended with the working copy
	visitor.meet(404, chromedp.Navigate(s.url+link))
	visitor.shows("Ce lien ne mène à aucune page")
	b.leave(click("form[action$=deprogrammation] button"))
	b.tab.shows("La programmation est annulée", "Copie de travail")
	b.goTo("/redaction/versions")
	b.shows("Version 1", "Ada")
	b.follow("main .entries a")
	b.shows("L’annuler")
	b.goTo("/redaction/aide")
	b.shows("Qui peut quoi")
	b.await(`[...document.images].every(i => i.loading === "lazy" || i.naturalWidth > 0)`)
}
