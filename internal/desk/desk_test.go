package desk_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"image"
	"image/png"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"palmares/demo"
	"palmares/internal/desk"
	"palmares/internal/deskdb"
)

// tried is what each route is tried with: a path, and the fields of a form. COPY is a working copy of
// Bob's.
var tried = map[string][]string{
	"GET /redaction":                                {"/redaction"},
	"GET /redaction/fiches":                         {"/redaction/fiches"},
	"GET /redaction/fiches/{folder}/{slug}":         {"/redaction/fiches/outils/plume"},
	"POST /redaction/fiches/{folder}/{slug}/copie":  {"/redaction/fiches/outils/plume/copie"},
	"POST /redaction/fiches/{folder}/{slug}/double": {"/redaction/fiches/outils/plume/double", "adresse", "NOUVEAU"},
	"POST /redaction/fiches/{folder}/{slug}/nom":    {"/redaction/fiches/outils/plume/nom", "adresse", "NOUVEAU"},
	"POST /redaction/fiches/{folder}/{slug}/retrait": {
		"/redaction/fiches/outils/plume/retrait", "raison", "mort", "jour", "2026-11-01", "texte", "Fini.",
	},
	"POST /redaction/fiches/{folder}/{slug}/prix":            {"/redaction/fiches/outils/plume/prix", "source", "https://plume.example/tarifs", "mots", "Pro 25 € par mois"},
	"GET /redaction/sources":                                 {"/redaction/sources"},
	"GET /redaction/nouvelle":                                {"/redaction/nouvelle"},
	"POST /redaction/nouvelle":                               {"/redaction/nouvelle", "genre", "outils", "nom", "NOUVEAU"},
	"GET /redaction/aide":                                    {"/redaction/aide"},
	"GET /redaction/aide/{picture}":                          {"/redaction/aide/copie.png"},
	"GET /redaction/images":                                  {"/redaction/images"},
	"GET /redaction/reglages":                                {"/redaction/reglages"},
	"POST /redaction/reglages":                               {"/redaction/reglages"},
	"GET /redaction/copies/{id}":                             {"COPY"},
	"POST /redaction/copies/{id}":                            {"COPY", "revision", "1"},
	"GET /redaction/copies/{id}/source":                      {"COPY/source"},
	"POST /redaction/copies/{id}/source":                     {"COPY/source", "revision", "1", "mots", "0 €/mois: Gratuit pour toujours"},
	"POST /redaction/copies/{id}/images":                     {"COPY/images", "alt", "Un écran"},
	"GET /redaction/copies/{id}/apercu/{path...}":            {"COPY/apercu/outils/plume"},
	"GET /redaction/copies/{id}/conflit":                     {"COPY/conflit"},
	"POST /redaction/copies/{id}/conflit":                    {"COPY/conflit"},
	"GET /redaction/copies/{id}/suppression":                 {"COPY/suppression"},
	"POST /redaction/copies/{id}/suppression":                {"COPY/suppression"},
	"GET /redaction/copies/{id}/publication":                 {"COPY/publication"},
	"POST /redaction/publication":                            {"/redaction/publication"},
	"GET /redaction/copies/{id}/partage":                     {"COPY/partage"},
	"POST /redaction/copies/{id}/partage":                    {"COPY/partage"},
	"POST /redaction/copies/{id}/partage/{share}":            {"COPY/partage/shr_x"},
	"GET /redaction/copies/{id}/relecture":                   {"COPY/relecture"},
	"POST /redaction/copies/{id}/relecture":                  {"COPY/relecture", "revision", "1"},
	"POST /redaction/copies/{id}/accord":                     {"COPY/accord", "revision", "1"},
	"GET /redaction/copies/{id}/programmation":               {"COPY/programmation"},
	"POST /redaction/copies/{id}/programmation":              {"COPY/programmation", "quand", "2020-01-01T09:00"},
	"GET /redaction/programmation":                           {"/redaction/programmation"},
	"POST /redaction/fiches/{folder}/{slug}/deprogrammation": {"/redaction/fiches/outils/plume/deprogrammation"},
	"GET /redaction/fiches/{folder}/{slug}/suppression":      {"/redaction/fiches/pages/equipe/suppression"},
	"POST /redaction/fiches/{folder}/{slug}/suppression":     {"/redaction/fiches/pages/equipe/suppression"},
	"GET /redaction/versions":                                {"/redaction/versions"},
	"GET /redaction/versions/{number}":                       {"/redaction/versions/1"},
	"POST /redaction/versions/{number}/annulation":           {"/redaction/versions/1/annulation"},
	"GET /redaction/signalements":                            {"/redaction/signalements"},
	"POST /redaction/signalements/{id}":                      {"REPORT", "etat", "corrige"},
	"GET /redaction/audience":                                {"/redaction/audience"},
	"GET /redaction/audience.csv":                            {"/redaction/audience.csv"},
	"POST /redaction/copies/{id}/retour":                     {"COPY/retour", "revision", "1", "mot", "À reprendre."},
}

func TestAFileThatIsOpenedAndSavedKeepsItsBytes(t *testing.T) {
	n := newNewsroom(t, databases.OpenDSN(t, databases.SQLite(t)), t.TempDir())
	err := errors.Join(os.RemoveAll(filepath.Join(n.dir, "outils")), os.Remove(filepath.Join(n.dir, "catalogue.yaml")), os.CopyFS(n.dir, demo.Folder))
	if err != nil {
		t.Fatal(err)
	}
	n.write("outils/plume.md", strings.ReplaceAll(strings.Replace(plume, "category: code", "category: ecriture # à revoir", 1), "\n", "\r\n"))
	ada := n.as("Ada")
	check := func(copied, file string) {
		t.Helper()
		ada.save(copied).Is(http.StatusSeeOther)
		n.text(copied).is(n.read(file))
	}
	for _, folder := range []string{"outils", "comparatifs", "cimetiere", "pages", "articles", "auteurs"} {
		files, err := os.ReadDir(filepath.Join(n.dir, folder))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files[:min(len(files), 18)] { // package content tries them all
			check(ada.open(folder+"/"+strings.TrimSuffix(f.Name(), ".md")), folder+"/"+f.Name())
		}
	}
	check(ada.follow(ada.post("/redaction/reglages")), "catalogue.yaml")
}

func TestAChangeIsInItsCopyAndItsPreviewOnly(t *testing.T) {
	each(t, func(t *testing.T, n *newsroom) {
		bob := n.as("Bob")
		copied := bob.edit("outils/plume", "f.tagline", "Écrit : bien", "f.body", "Un avis.\r\n\r\nVoir [Encre](encre.md).")
		bob.get(copied+"/apercu/outils/plume").OK().Contains("Écrit\u00a0: bien", `href="`+copied+`/apercu/outils/encre"`)
		bob.get(copied).OK().Contains("Écrit : bien")
		n.file("outils/plume.md").is(plume)
		n.text(copied).is(strings.NewReplacer("Écrit vite", `"Écrit : bien"`, "Un autre.", "Voir [Encre](encre.md).").Replace(plume))
		if again := bob.open("outils/plume"); again != copied {
			t.Errorf("a second copy, %s", again)
		}
		n.as("Cleo").get("/redaction").OK().Contains("Plume").Lacks(copied)
	})
}

func TestNoLinkOfAPreviewLeavesIt(t *testing.T) {
	n := newNewsroom(t, databases.OpenDSN(t, databases.SQLite(t)), t.TempDir())
	n.write("images/ecran.png", string(drawing(t, 1600, 900)))
	n.write("outils/plume.md", strings.Replace(plume, "Un avis.", "![Un écran](../images/ecran.png)", 1))
	bob := n.as("Bob")
	prefix := bob.open("outils/plume") + "/apercu"
	address := regexp.MustCompile(` (?:href|src|action|srcset)="(/[^" ]*)|, (/[^" ]*) [0-9.]+[wx]`)
	seen := map[string]bool{prefix + "/": true}
	queue := []string{prefix + "/"}
	for pages := 0; len(queue) > 0 && pages < 60; pages++ {
		page := bob.get(queue[0])
		queue = queue[1:]
		if page.Status >= 400 {
			t.Errorf("%s: %d", page, page.Status)
		}
		for _, m := range address.FindAllStringSubmatch(page.Body, -1) {
			to, _, _ := strings.Cut(m[1]+m[2], "#")
			if !strings.HasPrefix(to, prefix) && !strings.HasPrefix(to, "/static/") {
				t.Errorf("%s links to %s", page, to)
			}
			if first, _, _ := strings.Cut(strings.TrimPrefix(to, prefix+"/"), "/"); !seen[to] && !strings.HasPrefix(to, "/static/") &&
				first != "api" && first != "data" && first != "compte" && first != "webhooks" {
				seen[to], queue = true, append(queue, to)
			}
		}
	}
}

func TestWhatIsWrongIsSaidUnderItsField(t *testing.T) {
	n := newNewsroom(t, databases.OpenDSN(t, databases.SQLite(t)), t.TempDir())
	bob := n.as("Bob")
	copied := bob.open("outils/plume")
	form := bob.fields(copied)
	form.Set("f.price", "cher")
	r := bob.do("POST", copied, formType, strings.NewReader(form.Encode()), "Accept: application/json").OK()
	var saved struct {
		Revision int64
		Problems map[string][]string
	}
	if err := json.Unmarshal([]byte(r.Body), &saved); err != nil {
		t.Fatal(err)
	}
	if saved.Revision != 2 || len(saved.Problems) != 1 || len(saved.Problems["price"]) != 1 {
		t.Errorf("%+v", saved)
	}
	page := bob.get(copied).OK().Body
	_, after, _ := strings.Cut(page, `data-wrong="price">`)
	if !strings.HasPrefix(after, `<p class="wrong">`) || !strings.Contains(page, `value="cher"`) {
		t.Error("the problem is not under its field, or what was typed is gone")
	}
	bob.get(copied + "/apercu/outils/plume").OK().Contains("19\u00a0€") // as it was
}

func TestNothingThatSomebodyWroteIsLost(t *testing.T) {
	n := newNewsroom(t, databases.OpenDSN(t, databases.SQLite(t)), t.TempDir())
	bob := n.as("Bob")
	copied := bob.open("outils/plume")
	first := bob.fields(copied)
	n.as("Ada").save(copied, "f.tagline", "Par Ada").Is(http.StatusSeeOther)
	first.Set("f.tagline", "Par Bob")
	bob.do("POST", copied, formType, strings.NewReader(first.Encode()), "Accept: application/json").Is(http.StatusConflict)
	bob.get(copied).Contains("Par Ada")
	r := bob.do("POST", copied, formType, strings.NewReader(first.Encode())).Is(http.StatusConflict).
		Contains("Par Bob", "<del>Par Ada</del>", "<ins>Par Bob</ins>", "data-outdated")
	first.Set("revision", regexp.MustCompile(`name="revision" value="(\d+)"`).FindStringSubmatch(r.Body)[1])
	bob.do("POST", copied, formType, strings.NewReader(first.Encode())).Is(http.StatusSeeOther)
	bob.get(copied).Contains("Par Bob").Lacks("data-outdated")
}

func TestWithoutOurScriptAPictureBringsTheTextWithIt(t *testing.T) {
	n := newNewsroom(t, databases.OpenDSN(t, databases.SQLite(t)), t.TempDir())
	bob := n.as("Bob")
	copied := bob.open("outils/plume")
	form := bob.fields(copied)
	form.Set("f.tagline", "Écrit mieux")
	bob.uploadWith(form, copied+"/images", "a.png", drawing(t, 8, 8), "").Is(http.StatusUnprocessableEntity).Contains("ce que l’image montre")
	n.text(copied).has("Écrit mieux")
	form = bob.fields(copied)
	form.Set("f.tagline", "Écrit bien")
	bob.uploadWith(form, copied+"/images", "a.png", drawing(t, 8, 8), "Un dessin").Is(http.StatusSeeOther)
	n.text(copied).has("Écrit bien", "![Un dessin](../images/plume/a.png)")
	bob.get(copied).OK().Contains(`name="retirer" value="images/plume/a.png"`)
	form = bob.fields(copied)
	form.Set("f.score", "7.4")
	form.Set("retirer", "images/plume/a.png")
	bob.do("POST", copied+"/images", formType, strings.NewReader(form.Encode())).Is(http.StatusSeeOther)
	n.text(copied).has("Écrit bien").lacks("a.png")
	bob.get(copied).OK().Lacks("retirer")
	bob.get(copied+"/relecture").OK().Contains("<del>7,5</del>", "<ins>7,4</ins>")
}

func TestWhatIsPublishedFromAListShowsItsWarningsFirst(t *testing.T) {
	n := newNewsroom(t, databases.OpenDSN(t, databases.SQLite(t)), t.TempDir())
	ada := n.as("Ada")
	one, other := ada.open("outils/plume"), ada.open("outils/encre")
	ada.save(one, "f.price_source", tariffs, "f.price_quote", "Pro 25 € par mois").Is(http.StatusSeeOther)
	ada.save(other, "f.tagline", "Coule toujours").Is(http.StatusSeeOther)
	both := []string{"copie", n.seen(one), "copie", n.seen(other)}
	page := ada.post("/redaction/publication", both...).OK().Contains("À regarder, sans empêcher de publier", `<a href="`+one+`">Plume</a>`, "ne contient pas le montant", `name="message"`)
	for _, seen := range both {
		page.Contains(seen)
	}
	ada.post("/redaction/publication", both[:2]...).OK().Contains("ne contient pas le montant")
	n.file("outils/plume.md").is(plume)
	ada.post("/redaction/publication", append(both, "message", "")...).Is(http.StatusSeeOther)
	if !strings.Contains(n.read("outils/plume.md"), "price_quote: Pro 25 € par mois\n") || !strings.Contains(n.read("outils/encre.md"), "Coule toujours") {
		t.Error("it is not published")
	}
}

func TestAnEditorPublishesWhatAnAuthorWrote(t *testing.T) {
	each(t, func(t *testing.T, n *newsroom) {
		n.join("Ada", "Bob")
		bob, ada := n.as("Bob"), n.as("Ada")
		one, other := bob.open("outils/plume"), bob.open("outils/encre")
		bob.save(one, "f.tagline", "Écrit mieux").Is(http.StatusSeeOther)
		bob.upload(one+"/images", "Écran nº 1.png", drawing(t, 8, 8), "Un [écran]").Is(http.StatusSeeOther)
		for _, place := range []string{"images/plume/b.png", "images/plume/b-2.png"} { // which she does not use
			bob.upload(one+"/images", "b.png", drawing(t, 8, 8), "Un dessin", "Accept: application/json").OK().Contains(place)
		}
		bob.save(other, "f.price", "cher").Is(http.StatusSeeOther)
		ada.get(one+"/publication").OK().Contains("<del>Écrit vite</del>", "<ins>Écrit mieux</ins>")
		ada.publish("copie", n.seen(one), "copie", n.seen(other)).
			Is(http.StatusConflict).Contains(">encre</a>").Lacks("ligne")
		n.file("outils/plume.md").is(plume)
		ada.post("/redaction/publication", "copie", n.seen(one), "message", strings.Repeat("é", 201)).Is(http.StatusUnprocessableEntity)
		ada.post("/redaction/publication", "copie", n.seen(one), "message", "Relu par <Léa>").Is(http.StatusSeeOther)
		for _, page := range []string{"/redaction/versions", "/redaction/versions/1"} {
			bob.get(page).OK().Contains("Relu par &lt;Léa&gt;")
		}
		n.file("outils/plume.md").has("Écrit mieux", `![Un \[écran\]](../images/plume/ecran-n-1.png)`)
		n.read("images/plume/ecran-n-1.png")
		n.isGone("images/plume/b.png")
		bob.get(one).Is(http.StatusNotFound)
		log, err := n.db.Catalogue.Versions(t.Context(), 1)
		if err != nil || len(log) != 1 || !strings.Contains(log[0].Author, "Ada") {
			t.Errorf("%+v, %v", log, err)
		}
	})
}

func TestNothingIsDoneWithATextThatNobodySaw(t *testing.T) {
	n := newNewsroom(t, databases.OpenDSN(t, databases.SQLite(t)), t.TempDir())
	n.join("Ada")
	bob, ada := n.as("Bob"), n.as("Ada")
	copied, other := bob.open("outils/plume"), bob.open("outils/encre")
	seen := n.seen(copied)
	for _, page := range []string{"/publication", "/programmation", "/suppression"} {
		ada.get(copied + page).OK().Contains(`name="copie" value="` + seen + `"`)
	}
	bob.save(copied, "f.tagline", "Jamais relu").Is(http.StatusSeeOther)
	for path, fields := range map[string][]string{
		"/redaction/publication":   {"copie", seen},
		"/redaction/publication?":  {"copie", seen, "copie", n.seen(other)},
		"/redaction/publication??": {"copie", filepath.Base(copied)},
		copied + "/programmation":  {"copie", seen, "quand", "2026-12-01T09:00"},
		copied + "/suppression":    {"copie", seen},
	} {
		ada.post(path, fields...).Is(http.StatusConflict).Contains("pendant que vous le lisiez", "rien n’a été fait", "Plume")
	}
	if n.read("outils/plume.md") != plume || !strings.Contains(n.copyOf(copied), "Jamais relu") {
		t.Error("a text that nobody saw was published, or is gone")
	}
	if err := n.db.Copies.SetState(t.Context(), filepath.Base(copied), n.find(copied).Revision, deskdb.CopyStep{State: deskdb.CopyReady, By: "ada@example.org"}, n.now); err != nil {
		t.Fatal(err)
	}
	ada.get("/redaction").OK().Contains(`name="copie" value="` + n.seen(copied) + `"`)
	ada.publish("copie", n.seen(copied)).Is(http.StatusSeeOther)
	ada.follow(ada.publish("copie", seen))
}

func TestACopyEndsThoughItsServerWasKilledAfterThePublication(t *testing.T) {
	n := newNewsroom(t, databases.OpenDSN(t, databases.SQLite(t)), t.TempDir())
	ada, bob := n.as("Ada"), n.as("Bob")
	published, opened := ada.open("outils/plume"), bob.open("outils/plume")
	ada.save(published, "f.tagline", "Écrit mieux").Is(http.StatusSeeOther)
	scheduled := ada.edit("outils/encre", "f.tagline", "Coule mieux")
	written := bob.edit("outils/encre", "f.tagline", "Coule autrement")
	n.write("outils/plume.md", n.copyOf(published))
	n.write("outils/encre.next.md", strings.Replace(n.copyOf(scheduled), "\n---\n", "\npublish_at: 2026-12-01T09:00\n---\n", 1))
	ada.get(published + "/publication").OK() // there is nothing to choose
	root, err := os.OpenRoot(n.dir)
	if err == nil {
		err = desk.EndPublished(t.Context(), desk.NewLocal(root), n.db.Copies)
	}
	if err != nil || root.Close() != nil {
		t.Fatal(err)
	}
	for copied, want := range map[string]int{
		published: http.StatusNotFound, scheduled: http.StatusNotFound, opened: http.StatusOK, written: http.StatusOK,
	} {
		ada.get(copied).Is(want)
	}
}

func TestTwoRecordsThatBreakEachOtherAreCorrectedTogether(t *testing.T) {
	n := newNewsroom(t, databases.OpenDSN(t, databases.SQLite(t)), t.TempDir())
	ada := n.as("Ada")
	n.write("outils/plume.md", strings.Replace(plume, "19 €", "cher", 1))
	n.write("outils/encre.md", strings.Replace(encre, "score: 6", "score: 60", 1))
	ada.get("/redaction").OK().Contains(`<a href="/redaction/fiches/outils/plume">plume</a>`, `<a href="/redaction/fiches/outils/encre">encre</a>`)
	one, other := ada.open("outils/plume"), ada.open("outils/encre")
	ada.save(one, "f.price", "19 €/mois").Is(http.StatusSeeOther)
	ada.save(other, "f.score", "6").Is(http.StatusSeeOther)
	ada.get("/redaction").OK().Contains(`name="copie" value="`+n.seen(one)+`">`, `name="copie" value="`+n.seen(other)+`">`)
	ada.publish("copie", n.seen(one)).Is(http.StatusConflict).Contains("encre</a>")
	ada.publish("copie", n.seen(one), "copie", n.seen(other)).Is(http.StatusSeeOther)
	n.as("Bob").open("outils/plume")
	n.as("Bob").get("/redaction").OK().Contains("Plume").Lacks(`name="copie"`, "Publier les fiches")
}

func TestAFormThatIsRefusedLeadsBackToItself(t *testing.T) {
	n := newNewsroom(t, databases.OpenDSN(t, databases.SQLite(t)), t.TempDir())
	ada := n.as("Ada")
	copied := ada.open("outils/plume")
	for path, back := range map[string]string{
		"/redaction/nouvelle":                    "/redaction/nouvelle",
		"/redaction/fiches/outils/plume/double":  "/redaction/fiches/outils/plume",
		"/redaction/fiches/outils/plume/retrait": "/redaction/fiches/outils/plume",
		copied + "/images":                       copied,
		copied + "/retour":                       copied + "/relecture",
		copied + "/programmation":                copied + "/programmation",
	} {
		ada.post(path, "revision", "1", "copie", n.seen(copied)).Is(http.StatusUnprocessableEntity).Contains(`<a href="` + back + `">Revenir au formulaire</a>`)
	}
	n.as("").post(copied).Is(http.StatusForbidden).Contains("Copiez d’abord").Lacks("Revenir au formulaire")
}

func TestOfTwoVersionsOfARecordNothingIsChosenForHer(t *testing.T) {
	each(t, func(t *testing.T, n *newsroom) {
		ada := n.as("Ada")
		copied := ada.edit("outils/plume", "f.tagline", "Par Ada", "f.summary", "Clair.", "f.body", "Un avis.\r\n\r\nLe mien.")
		n.write("outils/plume.md", strings.NewReplacer("Écrit vite", "Par un autre", "Un autre.", "Le leur.", "19 €", "20 €").Replace(plume))
		if to := ada.follow(ada.get(copied + "/publication")); to != copied+"/conflit" {
			t.Fatalf("led to %s", to)
		}
		ada.get(copied).OK().Contains("Une autre version de cette fiche est dans le dossier commun", `href="`+copied+`/conflit"`)
		page := ada.get(copied+"/conflit").OK().Contains("Par Ada", "Par un autre", "Le mien.", "Le leur.", "20 €",
			"changé dans le dossier commun", "changé dans votre copie", "changé des deux côtés").Lacks(" checked")
		now := regexp.MustCompile(`name="maintenant" value="(\w+)"`).FindStringSubmatch(page.Body)[1]
		chosen := []string{"revision", "2", "maintenant", now, "c.tagline", "mien", "c.price", "leur", "p.1", "deux"}
		ada.post(copied+"/conflit", chosen...).Is(http.StatusUnprocessableEntity).Contains("Rien n’est choisi pour vous")
		ada.post(copied+"/conflit", append(chosen, "c.summary", "mien")...).Is(http.StatusSeeOther)
		ada.publish("copie", n.seen(copied)).Is(http.StatusSeeOther)
		want := strings.NewReplacer("Écrit vite", "Par Ada", "19 €", "20 €", "Net.", "Clair.", "Un autre.", "Le leur.\n\nLe mien.").Replace(plume)
		n.file("outils/plume.md").is(want)
	})
}

// What a new record lacks keeps nothing from being chosen, and is said in the words of the form.
func TestAnIncompleteRecordOffersAllChoices(t *testing.T) {
	n := newNewsroom(t, databases.OpenDSN(t, databases.SQLite(t)), t.TempDir())
	ada := n.as("Ada")
	copied := ada.follow(ada.post("/redaction/nouvelle", "genre", "outils", "nom", "Fusain"))
	ada.get(copied).OK().Contains(`<option value="code">`, "«\u00a0Domaine\u00a0» est vide", "La page s’affichera ici").Lacks("domain est", "<iframe src")
	ada.get("/redaction").OK().Contains(">Fusain</a>")
}

func TestRecordsBeginInManyWays(t *testing.T) {
	n := newNewsroom(t, databases.OpenDSN(t, databases.SQLite(t)), t.TempDir())
	ada := n.as("Ada")
	publish := func(copied string) {
		t.Helper()
		ada.publish("copie", n.seen(copied)).Is(http.StatusSeeOther)
	}
	publish(ada.open("outils/plume"))
	ada.follow(ada.post("/redaction/nouvelle", "genre", "articles", "nom", "Cinq plumes"))
	ada.post("/redaction/nouvelle", "genre", "outils", "nom", "Plume").Is(http.StatusUnprocessableEntity).Contains("déjà prise")
	ada.post("/redaction/nouvelle", "genre", "outils").Is(http.StatusUnprocessableEntity)
	both := ada.follow(ada.post("/redaction/nouvelle", "genre", "comparatifs", "a", "plume", "b", "encre"))
	ada.save(both, "f.title", "Plume ou Encre", "f.winner", "plume", "f.winner_note", "Plus net.").Is(http.StatusSeeOther)
	publish(both)
	ada.get(ada.open("comparatifs/plume-ou-encre") + "/apercu/comparatifs/plume-ou-encre").OK().Contains("Plus net.")

	renamed := ada.follow(ada.post("/redaction/fiches/outils/plume/nom", "adresse", "plume-2"))
	ada.get(renamed + "/apercu/comparatifs/plume-ou-encre").OK().Contains("apercu/outils/plume-2")
	publish(renamed)
	n.file("comparatifs/plume-ou-encre.md").has("tool_a: plume-2\n", "winner: plume-2\n")

	twin := ada.follow(ada.post("/redaction/fiches/outils/encre/double", "adresse", "Encre Deux"))
	ada.save(twin, "f.name", "Encre deux", "f.domain", "deux.example").Is(http.StatusSeeOther)
	publish(twin)
	publish(ada.follow(ada.post("/redaction/fiches/outils/encre-deux/nom", "adresse", "encre-2")))
	n.file("outils/encre-2.md").has("encre-deux")
	publish(ada.follow(ada.post("/redaction/fiches/outils/encre-2/retrait", "raison", "acquis", "jour", "2026-11-10", "successeur", "plume-2", "texte", "Racheté.")))
	n.file("cimetiere/encre-2.md").has("reason: acquis", "Racheté.", "Encre deux")
	n.isGone("outils/encre-2.md")

	ada.get("/redaction/fiches/outils/encre").OK().Contains(">Plume ou Encre</a>")
	compared := ada.follow(ada.post("/redaction/fiches/outils/encre/retrait", "raison", "mort", "jour", "2026-11-11", "texte", "Fini."))
	for _, page := range []string{"/relecture", "/publication"} {
		ada.get(compared + page).OK().Contains(">Plume ou Encre</a>").Lacks("À corriger")
	}
	publish(compared)
	n.isGone("comparatifs/plume-ou-encre.md")
}

func TestRecordsAreFoundByWhatIsSaidOfThem(t *testing.T) {
	n := newNewsroom(t, databases.OpenDSN(t, databases.SQLite(t)), t.TempDir())
	n.write("outils/stylo.md", "---\nname: Stylo\ndraft: true\n---\n")
	n.write("pages/equipe.md", "---\ntitle: L’équipe\n---\nNous.\n")
	n.write("outils.jsonl", `{"slug":"gomme","name":"Gomme","domain":"gomme.example","tagline":"Efface","category":"code","pricing":"gratuit","price":"0 €/mois"}`+"\n")
	bob := n.as("Bob")
	bob.open("outils/encre")
	for query, want := range map[string]string{
		"":                   "Encre Gomme L’équipe Plume Stylo",
		"?q=ecrit+VITE":      "Plume",
		"?q=equipe":          "L’équipe",
		"?genre=pages":       "L’équipe",
		"?etat=brouillon":    "Stylo",
		"?etat=en-cours":     "Encre",
		"?etat=prix":         "Plume",
		"?etat=test":         "Plume",
		"?auteur=Ada":        "Plume",
		"?categorie=inconnu": "",
	} {
		page := bob.get("/redaction/fiches" + query).OK()
		var found []string
		for _, m := range regexp.MustCompile(`<p class="entry-name"><a href="/redaction/fiches/[^"]*">([^<]*)</a>`).FindAllStringSubmatch(page.Body, -1) {
			found = append(found, m[1])
		}
		if got := strings.Join(found, " "); got != want {
			t.Errorf("%q finds %q, want %q", query, got, want)
		}
	}
	bob.get("/redaction/fiches?q=enc", "Accept: application/json").OK().Equals(`[{"name":"Encre","kind":"Outil","to":"../outils/encre.md"}]`)
	bob.get("/redaction/fiches/outils/gomme").OK().Contains("ne s’y modifie pas")
	bob.post("/redaction/fiches/outils/gomme/copie").Is(http.StatusUnprocessableEntity)
	n.write("outils/encre.md", "---\nname: [\n---\n")
	n.now = n.now.Add(16 * time.Second)
	bob.get("/redaction/fiches").OK().Contains("À corriger", ">encre</a>", ">plume</a>")
	broken := bob.open("outils/stylo")
	bob.get(broken).OK()
}

func TestPicturesAreCheckedAndBounded(t *testing.T) {
	n := newNewsroom(t, databases.OpenDSN(t, databases.SQLite(t)), t.TempDir())
	bob := n.as("Bob")
	to := bob.open("outils/plume") + "/images"
	bob.upload(to, "a.png", make([]byte, 11<<20), "Un dessin").Is(http.StatusBadRequest)
	for i, want := range []string{"images/plume/a.png", "images/plume/a-2.png"} {
		r := bob.upload(to, "../../A.png", drawing(t, 8, 8+i), "Un dessin", "Accept: application/json").OK()
		r.Equals(`{"markdown":"![Un dessin](../` + want + `)","path":"` + want + `"}`)
	}
}

func drawing(t testing.TB, width, height int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, width, height))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestWhatReadersReportIsSettledAtTheDesk(t *testing.T) {
	each(t, func(t *testing.T, n *newsroom) {
		bob := n.as("Bob")
		bob.get("/redaction").Is(http.StatusOK).Lacks("signalement de lecteur")
		bob.get("/redaction/signalements").Is(http.StatusOK).Contains("Personne n’a rien signalé")
		path := "/redaction/signalements/" + n.reported()
		bob.get("/redaction").Is(http.StatusOK).Contains("1\u00a0signalement de lecteur attend")
		bob.get("/redaction/signalements").Is(http.StatusOK).Contains("Le prix est &lt;faux&gt;.", `href="/outils/plume"`).Lacks("lea@example.org")
		n.as("Ada").get("/redaction/signalements").OK().Contains("lea@example.org")
		bob.post(path, "etat", "perdu").Is(http.StatusUnprocessableEntity)
		bob.post(path, "etat", "sans-objet").Is(http.StatusSeeOther)
		bob.get("/redaction/signalements").Is(http.StatusOK).Contains("Sans objet</span> Bob").Lacks("lea@example.org")
		bob.get("/redaction").Is(http.StatusOK).Lacks("signalement de lecteur")
		bob.post("/redaction/signalements/rep_x", "etat", "corrige").Is(http.StatusNotFound)
	})
}

func TestAToolIsFoundByItsName(t *testing.T) {
	n := newNewsroom(t, databases.OpenDSN(t, databases.SQLite(t)), t.TempDir())
	n.write("outils/babil.md", strings.NewReplacer("Encre", "Babilune", "encre.example", "babil.example").Replace(encre))
	n.write("comparatifs/avant.md", strings.Replace(duel, "Un duel", "Avant Babilune", 1))
	n.write("comparatifs/duel.md", strings.Replace(strings.Replace(duel, "Un duel", "Babil et plume", 1), "tool_b: encre", "tool_b: babil", 1))
	ada := n.as("Ada")
	want := `[{"name":"Babilune","kind":"Outil","to":"../outils/babil.md"},{"name":"Babil et plume",`
	if got := ada.get("/redaction/fiches?q=babil", "Accept: application/json").OK().Body; !strings.HasPrefix(got, want) {
		t.Errorf("proposed are %s", got)
	}
	copied := ada.edit("comparatifs/duel", "f.winner", " babilune")
	n.text(copied).has("winner: babil\n")
	ada.save(copied, "f.tool_b", "Personne").Is(http.StatusSeeOther)
	ada.get(copied).OK().Contains("choisissez-le dans la liste")
	added := ada.follow(ada.post("/redaction/nouvelle", "genre", "comparatifs", "a", "plume", "b", "Babilune"))
	n.text(added).has("tool_b: babil\n")
}
