package desk_test

import (
	"encoding/base64"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"palmares/internal/desk"
)

// newLocal returns the desk of a folder on somebody's own machine, and her at it.
func newLocal(t *testing.T) person {
	t.Helper()
	n := &newsroom{t: t, dir: t.TempDir(), now: monday, people: map[string]desk.Visitor{}}
	n.write("catalogue.yaml", settings)
	n.write("outils/plume.md", plume)
	root, err := os.OpenRoot(n.dir)
	if err != nil {
		t.Fatal(err)
	}
	own := desk.NewLocal(root)
	n.serve(root, desk.Config{Folder: own, Copies: own, Visitor: own.Visitor})
	who, err := own.Visitor(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	n.people["moi"] = who
	return n.as("moi")
}

func TestOnOnesOwnMachineSavingWritesTheFile(t *testing.T) {
	me := newLocal(t)
	n := me.newsroom
	me.get("/redaction").OK()
	copied := me.open("outils/plume")
	before := me.fields(copied)
	me.save(copied).Is(http.StatusSeeOther)
	n.file("outils/plume.md").is(plume)
	me.save(copied, "f.tagline", "Écrit bien").Is(http.StatusSeeOther)
	if got, want := n.read("outils/plume.md"), strings.Replace(plume, "Écrit vite", "Écrit bien", 1); got != want {
		t.Errorf("the file is\n%s", got)
	}
	me.get(copied + "/apercu/outils/plume").OK().Contains("Écrit bien")
	before.Set("f.tagline", "Trop tard")
	me.do("POST", copied, formType, strings.NewReader(before.Encode())).Is(http.StatusConflict).Contains("Trop tard")
	me.upload(copied+"/images", "ecran.png", drawing(t, 8, 8), "Un écran").Is(http.StatusSeeOther)
	n.read("images/plume/ecran.png")
	made := me.follow(me.post("/redaction/nouvelle", "genre", "pages", "nom", "L’équipe"))
	me.save(made, "f.title", "Équipe").Is(http.StatusSeeOther)
	me.follow(me.post("/redaction/fiches/outils/plume/nom", "adresse", "plume-2"))
	if _, err := os.Stat(filepath.Join(n.dir, "outils/plume.md")); err == nil || !strings.Contains(n.read("outils/plume-2.md"), "- plume\n") {
		t.Error("the tool was not renamed")
	}
	me.get(made + "/publication").Is(http.StatusNotFound)
	me.get(made + "/suppression").Is(http.StatusNotFound)
	me.publish("copie", "x").Is(http.StatusNotFound)
	for _, id := range []string{"Li4vc2VjcmV0", "L2V0Yy9wYXNzd2Q", "b3V0aWxz"} { // ../secret, /etc/passwd, outils
		me.get("/redaction/copies/" + id).Is(http.StatusNotFound)
	}
	for _, file := range []string{".git/config", "README.md", "outils/lancer.sh", "outils/.plume.md", "outils/vieux/plume.md", "outils.jsonl", "images/a.png"} {
		n.write(file, "intact")
		copied := "/redaction/copies/" + base64.RawURLEncoding.EncodeToString([]byte(file))
		me.get(copied).Is(http.StatusNotFound)
		me.post(copied, "revision", "1", "source", "changé").Is(http.StatusNotFound)
		n.file(file).is("intact")
	}
}

func TestOnOnesOwnMachineWhatNamesAToolFollowsIt(t *testing.T) {
	me := newLocal(t)
	n := me.newsroom
	n.write("outils/encre.md", encre)
	n.write("comparatifs/duel.md", duel)
	n.write("comparatifs/duel.next.md", later(duel))
	n.write("outils/plume.next.md", later(plume))
	me.follow(me.post("/redaction/fiches/outils/plume/nom", "adresse", "plume-2"))
	for _, file := range []string{"comparatifs/duel.md", "comparatifs/duel.next.md"} {
		n.file(file).has("tool_a: plume-2\n")
	}
	n.read("outils/plume-2.next.md")
	me.get("/redaction").OK().Lacks("À corriger")
	me.get("/redaction/fiches/outils/plume-2").OK().Contains(">Un duel</a>", "quittent votre dossier tout de suite")
	me.follow(me.post("/redaction/fiches/outils/plume-2/retrait", "raison", "mort", "jour", "2026-11-01", "texte", "Fini."))
	if got := n.files(); got != "catalogue.yaml cimetiere/plume-2.md outils/encre.md" {
		t.Errorf("the folder has %s", got)
	}
	me.get("/redaction").OK().Lacks("À corriger")
}
