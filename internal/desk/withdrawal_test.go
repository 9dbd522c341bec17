package desk_test

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"palmares/internal/testkit/testdb"
	"palmares/internal/worktree"
)

// A magazine is what is withdrawn: the page links to the article, which Ada signed.
var magazine = map[string]string{
	"outils/plume.md":          plume,
	"outils/encre.md":          encre,
	"outils/stylo.md":          "---\nname: Stylo\ndraft: true\n---\n",
	"pages/equipe.md":          "---\ntitle: L’équipe\n---\nNous. [Cinq](../articles/cinq.md).\n",
	"articles/cinq.md":         "---\ntitle: Cinq plumes\ndescription: Nos plumes.\nauthor: Ada\ndate: 2026-11-01\n---\nUn texte.\n",
	"auteurs/ada.md":           "---\nname: Ada\n---\nElle écrit.\n",
	"comparatifs/duel.md":      duel,
	"comparatifs/duel.next.md": later(duel),
}

func TestWhatIsWithdrawnIsGoneAndCanComeBack(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *testdb.DB) {
		n := newNewsroom(t, db, t.TempDir())
		for name, text := range magazine {
			n.write(name, text)
		}
		withdraw(t, n)
	})
}

func TestWhatIsWithdrawnInARepositoryIsACommit(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *testdb.DB) {
		n, git := newRepository(t, db, magazine)
		withdraw(t, n)
		if got := git("log", "--format=%an %s"); !strings.Contains(got, "Ada Cinq plumes\u00a0: hors du site\n") || git("status", "--porcelain") != "" {
			t.Errorf("the commits are\n%s", got)
		}
	})
}

var seenFile = regexp.MustCompile(`name="vu" value="(\w+)"`)

// withdraw withdraws a record of each kind, and brings it back.
func withdraw(t *testing.T, n *newsroom) {
	t.Helper()
	n.join("Ada")
	ada, bob := n.as("Ada"), n.as("Bob")
	ada.publishes("outils/encre", "f.tagline", "Coule")

	const article = "/redaction/fiches/articles/cinq"
	bob.get(article).OK().Lacks("/suppression")
	ada.get(article).OK().Contains(article + "/suppression")
	ada.get(article+"/suppression").OK().Contains("À corriger d’abord", `<a href="/redaction/fiches/pages/equipe">equipe</a>`).Lacks(`name="vu"`)
	ada.post(article+"/suppression", "vu", worktree.Hash([]byte(n.read("articles/cinq.md")))).Is(http.StatusConflict).Contains(">equipe</a>")
	n.read("articles/cinq.md")
	ada.publishes("pages/equipe", "f.body", "Nous.")
	n.now = n.now.Add(time.Minute)
	ada.get("/redaction/fiches/auteurs/ada/suppression").OK().Contains("2\u00a0fiches sont signées")

	for i, name := range []string{"articles/cinq", "auteurs/ada", "pages/equipe", "comparatifs/duel"} {
		before, text := n.files(), n.read(name+".md")
		bob.open(name)
		path := "/redaction/fiches/" + name + "/suppression"
		page := ada.get(path).OK().Contains("n’existera plus", "Copies de travail").Lacks("À corriger")
		ada.post(path, "vu", "0").Is(http.StatusConflict).Contains("rien n’a été fait")
		n.read(name + ".md")
		ada.post(path, "vu", seenFile.FindStringSubmatch(page.Body)[1]).Is(http.StatusSeeOther)
		if got := n.files(); strings.Contains(got, name) {
			t.Errorf("without %s the folder has %s", name, got)
		}
		ada.get(path).Is(http.StatusNotFound)
		n.now = n.now.Add(time.Minute)
		log, err := n.db.Catalogue.Versions(t.Context(), 1)
		if err != nil || log[0].Author != "Ada" || log[0].Number != int64(3+2*i) {
			t.Fatalf("%+v, %v", log, err)
		}
		version := "/redaction/versions/" + strconv.FormatInt(log[0].Number, 10)
		told := []string{"Article retiré", "ada\u00a0: suppression", "Page retirée", "Comparatif retiré"}[i]
		ada.get(version).OK().Contains(told, "Reviendrait", "Annuler la version")
		ada.post(version + "/annulation").Is(http.StatusSeeOther)
		if got := n.files(); got != before || n.read(name+".md") != text {
			t.Errorf("%s did not come back: %s", name, got)
		}
		n.now = n.now.Add(time.Minute)
	}

	for _, name := range []string{"outils/plume", "comparatifs/duel.next", "articles/rien"} {
		ada.get("/redaction/fiches/" + name + "/suppression").Is(http.StatusNotFound)
		ada.post("/redaction/fiches/"+name+"/suppression", "vu", "").Is(http.StatusNotFound)
	}
	draft := ada.get("/redaction/fiches/outils/stylo/suppression").OK().Contains("Ce brouillon n’existera plus")
	ada.post("/redaction/fiches/outils/stylo/suppression", "vu", seenFile.FindStringSubmatch(draft.Body)[1]).Is(http.StatusSeeOther)
	n.isGone("outils/stylo.md")
}
