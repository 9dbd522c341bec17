package desk_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"palmares/internal/deskdb"
	"palmares/internal/testkit/testdb"
)

func (n *newsroom) copyOf(path string) string { return string(n.find(path).Data) }

func (n *newsroom) find(path string) deskdb.WorkingCopy {
	n.t.Helper()
	c, err := n.db.Copies.Find(n.t.Context(), filepath.Base(path))
	if err != nil {
		n.t.Fatal(err)
	}
	return c
}

// seen returns a working copy as the forms of a page name it.
func (n *newsroom) seen(path string) string {
	n.t.Helper()
	return fmt.Sprintf("%s:%d", filepath.Base(path), n.find(path).Revision)
}

func TestWhatIsScheduledWaitsInTheFolderAndCanBeCancelled(t *testing.T) {
	each(t, func(t *testing.T, n *newsroom) {
		n.join("Ada", "Bob")
		bob, ada := n.as("Bob"), n.as("Ada")
		ada.publish("copie", n.seen(ada.open("outils/encre"))).Is(http.StatusSeeOther)
		copied := bob.edit("outils/plume", "f.tagline", "Écrit demain")
		ada.get(copied+"/programmation").OK().Contains("Europe/Paris", `min="2026-11-16T10:31"`)
		for when, want := range map[string]string{
			"":                 "un jour et une heure",
			"demain":           "un jour et une heure",
			"2026-12-01":       "un jour et une heure",
			"2026-11-16T10:30": "est passée",
			"2027-03-28T02:30": "les pendules changent",
			"2027-10-31T02:30": "les pendules changent",
		} {
			ada.post(copied+"/programmation", "copie", n.seen(copied), "quand", when).Is(http.StatusUnprocessableEntity).Contains(want)
		}
		ada.post(copied+"/programmation", "copie", n.seen(copied), "quand", "2026-12-01T09:00").Is(http.StatusSeeOther)
		n.file("outils/plume.next.md").has(`publish_at: "2026-12-01T09:00"`, "Écrit demain")
		n.file("outils/plume.md").is(plume)
		bob.get(copied).Is(http.StatusNotFound)
		log, err := n.db.Catalogue.Versions(t.Context(), 1)
		if err != nil || len(log) != 1 || log[0].Author != "Ada" {
			t.Errorf("%+v, %v", log, err)
		}
		bob.get("/redaction/versions/2").OK().Contains("Plume\u00a0: programmé", "Ada").Lacks("Annuler la version")
		bob.get("/redaction/programmation").OK().Contains("Plume", "1er\u00a0décembre 2026 à 09:00").Lacks("Annuler")
		again := bob.open("outils/plume")
		ada.post(again+"/programmation", "copie", n.seen(again), "quand", "2026-12-02T09:00").Is(http.StatusUnprocessableEntity).Contains("déjà programmée")

		mine := ada.edit("outils/plume", "f.tagline", "Autre chose")
		ada.post("/redaction/fiches/outils/plume.next/deprogrammation").Is(http.StatusUnprocessableEntity).Contains("déjà une copie")
		ada.post(mine+"/suppression", "copie", n.seen(mine)).Is(http.StatusSeeOther)
		kept := ada.follow(ada.post("/redaction/fiches/outils/plume.next/deprogrammation"))
		n.text(kept).is(strings.Replace(plume, "Écrit vite", "Écrit demain", 1))
		n.isGone("outils/plume.next.md")
		ada.post("/redaction/fiches/outils/plume/deprogrammation").Is(http.StatusUnprocessableEntity).Contains("n’est pas programmée")

		added := ada.follow(ada.post("/redaction/fiches/outils/encre/double", "adresse", "stylo"))
		ada.save(added, "f.name", "Stylo", "f.domain", "stylo.example", "f.draft", "true").Is(http.StatusSeeOther)
		ada.post(added+"/programmation", "copie", n.seen(added), "quand", "2026-12-01T09:00").Is(http.StatusUnprocessableEntity).Contains("brouillon")
		ada.save(added, "f.draft", "false").Is(http.StatusSeeOther)
		text := n.copyOf(added)
		ada.post(added+"/programmation", "copie", n.seen(added), "quand", "2026-12-01T09:00").Is(http.StatusSeeOther)
		n.now = n.now.Add(time.Minute)
		ada.get("/redaction/programmation").OK().Contains("Stylo")
		n.text(ada.follow(ada.post("/redaction/fiches/outils/stylo/deprogrammation"))).is(text)
		ada.get("/redaction/programmation").OK().Contains("Rien n’est programmé")
	})
}

func TestATextThatWasJustScheduledElsewhereIsNotTakenForTheRecord(t *testing.T) {
	each(t, func(t *testing.T, n *newsroom) {
		ada := n.as("Ada")
		ada.get("/redaction/fiches/outils/plume").OK() // the folder has been looked at
		n.write("outils/plume.next.md", later(strings.Replace(plume, "Écrit vite", "Écrit demain", 1)))
		if got := ada.fields(ada.open("outils/plume")).Get("f.tagline"); got != "Écrit vite" {
			t.Errorf("the working copy has %q", got)
		}
	})
}

func TestATextThatIsToReplaceARecordMovesAndGoesWithIt(t *testing.T) {
	each(t, func(t *testing.T, n *newsroom) {
		n.join("Ada")
		ada := n.as("Ada")
		n.write("comparatifs/duel.md", duel)
		n.write("comparatifs/duel.next.md", later(duel))
		copied := ada.open("outils/plume")
		ada.get(copied + "/publication").OK().Contains("Aucun champ ni passage du texte ne change").Lacks("change d’adresse")
		ada.save(copied, "f.tagline", "Écrit demain", "f.aliases", "plumeau").Is(http.StatusSeeOther)
		ada.post(copied+"/programmation", "copie", n.seen(copied), "quand", "2026-12-01T09:00").Is(http.StatusSeeOther)
		ada.post("/redaction/fiches/outils/plume.next/nom", "adresse", "plume-3").Is(http.StatusNotFound)
		n.now = n.now.Add(time.Minute)

		renamed := ada.follow(ada.post("/redaction/fiches/outils/plume/nom", "adresse", "plume-2"))
		for _, page := range []string{"/publication", "/relecture"} {
			ada.get(renamed+page).OK().Contains("<code>/outils/plume-2</code>", "<code>/outils/plume</code>").Lacks("À corriger", "Aucun champ")
		}
		ada.publish("copie", n.seen(renamed)).Is(http.StatusSeeOther)
		if got := n.files(); got != "catalogue.yaml comparatifs/duel.md comparatifs/duel.next.md outils/encre.md outils/plume-2.md outils/plume-2.next.md" {
			t.Errorf("the folder has %s", got)
		}
		for _, file := range []string{"outils/plume-2.md", "outils/plume-2.next.md"} {
			if strings.Count(n.read(file), "- plume\n") != 1 {
				t.Errorf("%s is\n%s", file, n.read(file))
			}
		}
		n.file("outils/plume-2.next.md").has("Écrit demain", "- plumeau\n")
		ada.get("/redaction/programmation").OK().Contains("/redaction/fiches/outils/plume-2.next")

		ada.schedules("outils/encre", "Coule demain", "2026-12-02T09:00")
		retired := ada.follow(ada.post("/redaction/fiches/outils/encre/retrait", "raison", "mort", "jour", "2026-11-30", "texte", "Fini."))
		ada.get(retired + "/publication").OK().Contains("ne paraîtra pas").Lacks("À corriger")
		ada.publish("copie", n.seen(retired)).Is(http.StatusSeeOther)
		if got := n.files(); got != "catalogue.yaml cimetiere/encre.md outils/plume-2.md outils/plume-2.next.md" {
			t.Errorf("the folder has %s", got)
		}
	})
}

func TestATextWhoseHourHasComeIsTheOneThatIsEdited(t *testing.T) {
	each(t, func(t *testing.T, n *newsroom) {
		n.join("Ada", "Bob")
		bob, ada := n.as("Bob"), n.as("Ada")
		ada.schedules("outils/plume", "Écrit demain", "2026-11-16T11:00")
		late := bob.open("outils/plume") // of the text before
		bob.save(late, "f.name", "Plume 2").Is(http.StatusSeeOther)
		n.now = n.now.Add(time.Hour)
		if _, err := n.db.Catalogue.Advance(t.Context(), func() time.Time { return n.now }); err != nil {
			t.Fatal(err)
		}
		ada.get(late+"/conflit").OK().Contains("Écrit demain", "Écrit vite")
		ada.publish("copie", n.seen(late)).Lacks("fait=publiee")
		n.file("outils/plume.md").is(plume)
		copied := ada.open("outils/plume")
		n.text(copied).is(strings.Replace(plume, "Écrit vite", "Écrit demain", 1))
		ada.save(copied, "f.tagline", "Écrit ensuite").Is(http.StatusSeeOther)
		ada.publish("copie", n.seen(copied)).Is(http.StatusSeeOther)
		n.file("outils/plume.md").is(strings.Replace(plume, "Écrit vite", "Écrit ensuite", 1))
		n.isGone("outils/plume.next.md")

		// Scheduling folds in what has appeared, as publishing does.
		for i, text := range []string{"Écrit tôt", "Écrit tard"} {
			ada.schedules("outils/plume", text, fmt.Sprintf("2026-11-16T1%d:00", 3+3*i))
			n.now = n.now.Add(3 * time.Hour)
		}
		if got := n.read("outils/plume.md"); got != strings.Replace(plume, "Écrit vite", "Écrit tôt", 1) || !strings.Contains(n.read("outils/plume.next.md"), "Écrit tard") {
			t.Errorf("the file is\n%s", got)
		}
	})
}

func TestAnUndoneVersionDoesNotComeBack(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *testdb.DB) {
		n, git := newRepository(t, db, map[string]string{"outils/plume.md": plume, "outils/encre.md": encre})
		isClean := undoes(t, n)
		if log := git("log", "-2", "--format=%an %s"); !isClean || git("status", "--porcelain") != "" || !strings.HasSuffix(log, "Ada Annule la version 2 (Plume\u00a0: 19 → 29\u00a0€/mois)\n") {
			t.Errorf("the folder is not as before: %s", log)
		}
		n.as("Ada").get("/redaction/versions/1").OK().Contains("ne sont pas connus").Lacks("Annuler la version")
	})
}

func TestOutsideGitAVersionIsUndoneByWhatItReplaced(t *testing.T) {
	each(t, func(t *testing.T, n *newsroom) {
		if !undoes(t, n) {
			t.Error("the folder is not as before")
		}
	})
}

// undoes undoes the second of three versions, publishes another one, and reports whether the folder was as before.
func undoes(t *testing.T, n *newsroom) (isAsBefore bool) {
	t.Helper()
	n.join("Ada")
	ada := n.as("Ada")
	ada.publishes("outils/encre", "f.tagline", "Coule")
	ada.publishes("outils/plume", "f.price", "29 €/mois")
	ada.publishes("outils/encre", "f.tagline", "Coule bien")
	const price = "Plume\u00a0: 19 → 29\u00a0€/mois<"
	ada.get("/redaction/versions").OK().Contains("/redaction/versions/2", price, "Encre\u00a0: accroche<", "Ada")
	ada.get("/redaction/versions/2").OK().Contains(price, "<del>29 €/mois</del>", "<ins>19 €/mois</ins>", "Annuler la version")
	ada.get("/redaction/versions/9").Is(http.StatusNotFound)
	ada.post("/redaction/versions/1/annulation").Is(http.StatusUnprocessableEntity)
	ada.post("/redaction/versions/2/annulation").Is(http.StatusSeeOther)
	isAsBefore = n.read("outils/plume.md") == plume
	ada.publishes("outils/encre", "f.tagline", "Coule à flots")
	now, err := n.db.Catalogue.Load(t.Context())
	if err != nil || now.Catalog.Tool("plume").Price != "19 €/mois" {
		t.Errorf("%v, %v", now.Catalog.Tool("plume"), err)
	}
	ada.get("/redaction/versions/2").OK().Contains("Plume\u00a0: prix<", "rien à annuler").Lacks("Annuler la version")
	ada.post("/redaction/versions/2/annulation").Is(http.StatusUnprocessableEntity)
	log, err := n.db.Catalogue.Versions(t.Context(), 9)
	if err != nil || len(log) != 5 || log[1].Undoes != 2 || log[1].Token != "Ada" {
		t.Errorf("%+v, %v", log, err)
	}
	return isAsBefore
}

func TestAnUndoneRenameKeepsTheAddressThatWasPublic(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *testdb.DB) {
		article := "---\ntitle: Un article\ndescription: Il raconte.\ndate: 2026-11-01\nauthor: Ada\n---\nUn texte.\n"
		n, _ := newRepository(t, db, map[string]string{"outils/plume.md": plume, "outils/encre.md": encre, "comparatifs/duel.md": duel, "articles/un.md": article})
		n.join("Ada")
		ada := n.as("Ada")
		ada.publishes("outils/encre", "f.tagline", "Coule")
		for i, record := range []string{"outils/plume", "comparatifs/duel", "articles/un"} {
			n.now = n.now.Add(time.Minute)
			renamed := ada.follow(ada.post("/redaction/fiches/"+record+"/nom", "adresse", "neuf"))
			ada.publish("copie", n.seen(renamed)).Is(http.StatusSeeOther)
			version := int64(2 + 2*i)
			n.now = n.now.Add(time.Minute)
			ada.post(fmt.Sprintf("/redaction/versions/%d/annulation", version)).Is(http.StatusSeeOther)
			if got := n.read(record + ".md"); strings.Count(got, "- neuf\n") != 1 {
				t.Errorf("%s is\n%s", record, got)
			}
			log, err := n.db.Catalogue.Versions(t.Context(), 1)
			if err != nil || log[0].Number != version+1 || log[0].Undoes != version {
				t.Fatalf("%s: %+v, %v", record, log, err)
			}
		}
		now, err := n.db.Catalogue.Load(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		c := now.Catalog
		for _, aliases := range [][]string{c.Tool("plume").Aliases, c.Comparisons[0].Aliases, c.Articles[0].Aliases} {
			if !slices.Equal(aliases, []string{"neuf"}) {
				t.Errorf("the aliases are %q", aliases)
			}
		}
	})
}
