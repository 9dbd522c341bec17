package desk_test

import (
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

var sharedLink = regexp.MustCompile(`value="` + base + `(/apercu/[^"]+)"`)

func TestAPrivateLinkShowsOnePageAndNothingElse(t *testing.T) {
	each(t, func(t *testing.T, n *newsroom) {
		n.write("outils/stylo.md", strings.NewReplacer("name: Encre", "name: Stylo\ndraft: true", "encre.example", "stylo.example").Replace(encre))
		n.write("outils/encre.next.md", strings.NewReplacer("name: Encre", "name: Encre secrète\npublish_at: 2027-01-01T09:00").Replace(encre))
		bob, nobody := n.as("Bob"), n.as("")
		copied := bob.follow(bob.post("/redaction/fiches/outils/plume/double", "adresse", "gomme"))
		bob.save(copied, "f.name", "Gomme", "f.domain", "gomme.example", "f.draft", "true").Is(http.StatusSeeOther)
		picture := bob.upload(copied+"/images", "ecran.png", drawing(t, 900, 500), "Un écran")
		picture.Is(http.StatusSeeOther)
		other := bob.open("outils/plume")
		bob.upload(other+"/images", "secret.png", drawing(t, 8, 9), "Un secret").Is(http.StatusSeeOther)

		link := sharedLink.FindStringSubmatch(bob.post(copied + "/partage").OK().Body)[1]
		page := nobody.get(link).OK().Contains("Brouillon.", "Gomme", `content="noindex"`).
			Lacks("Stylo", "stylo", "secrète", "/redaction", `="/media/`, `href="/outils/gomme"`)
		if dead := regexp.MustCompile(`<a [^>]*href="/[^"]*gomme[^"]*"`).FindString(page.Body); dead != "" {
			t.Errorf("the public site has no such page: %s", dead)
		}
		for name, want := range map[string]string{
			"X-Robots-Tag": "noindex, nofollow", "Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "Set-Cookie": "", "ETag": "",
		} {
			if got := page.Header.Get(name); got != want {
				t.Errorf("%s is %q", name, got)
			}
		}
		nobody.get(link+"/avis").OK().Contains("Un avis.", "Brouillon.").Lacks("Stylo", "secrète")
		pictures := regexp.MustCompile(` src="(` + link + `/media/[^"]+)"`).FindStringSubmatch(nobody.get(link + "/avis").Body)
		if len(pictures) == 0 {
			t.Fatal("the page does not show its picture")
		}
		nobody.get(pictures[1]).OK()
		shown := regexp.MustCompile(`/apercu(/media/[^" ]+)`).FindStringSubmatch(bob.get(other + "/apercu/avis/plume").OK().Body)
		if len(shown) == 0 {
			t.Fatal("the other page does not show its picture")
		}
		for _, path := range []string{
			shown[1], "/media/", "/outils/encre", "/avis/plume", "/redaction", "/avis/", pictures[1][len(link) : len(pictures[1])-1],
		} {
			nobody.get(link + path).Is(http.StatusNotFound).Lacks("Gomme")
		}
		// Whoever guesses, or comes too late, learns nothing.
		gone := nobody.get("/apercu/AAAAAAAAAAAAAAAAAAAAAA").Is(http.StatusNotFound).Contains("expiré").Body
		id := regexp.MustCompile(`/partage/(shr_[^"]+)"`)
		if page := bob.get(copied + "/partage").OK().Contains("3\u00a0vues").Lacks(link).Body; !id.MatchString(page) {
			t.Error("the link is not listed")
		}
		is := func(path string) {
			t.Helper()
			if got := nobody.get(path).Is(http.StatusNotFound).Body; got != gone {
				t.Errorf("another page:\n%s", got)
			}
		}
		for _, path := range []string{"/apercu/", "/apercu/x", link + "A", strings.ToLower(link)} {
			is(path)
		}
		n.as("Cleo").post(copied + "/partage").Is(http.StatusNotFound)
		n.now = n.now.Add(time.Minute)
		second := sharedLink.FindStringSubmatch(bob.post(copied + "/partage").OK().Body)[1]
		nobody.get(second).OK()
		revoked := copied + "/partage/" + id.FindAllStringSubmatch(bob.get(copied+"/partage").Body, -1)[0][1]
		n.as("Cleo").post(revoked).Is(http.StatusNotFound)
		nobody.get(second).OK()
		bob.post(revoked).Is(http.StatusSeeOther)
		is(second)
		nobody.get(link).OK()
		n.now = n.now.Add(14 * 24 * time.Hour)
		is(link)
		if log := n.log.String(); strings.Contains(log, filepath.Base(link)) {
			t.Errorf("the token was logged:\n%s", log)
		}
	})
}

func TestAReviewIsAskedGivenBackAndApproved(t *testing.T) {
	each(t, func(t *testing.T, n *newsroom) {
		n.join("Ada", "Bob")
		bob, ada := n.as("Bob"), n.as("Ada")
		copied := bob.edit("outils/plume", "f.tagline", "Écrit mieux", "f.body", "Un avis net.\r\n\r\nUn autre.")
		state := func(want, note string) {
			t.Helper()
			if c, err := n.db.Copies.Find(t.Context(), filepath.Base(copied)); c.State != want || c.Note != note || err != nil {
				t.Errorf("%s, %q, %v; want %s", c.State, c.Note, err, want)
			}
		}
		bob.get(copied + "/relecture").OK().Contains("Demander une relecture").Lacks("Donner l’accord")
		bob.post(copied+"/relecture", "revision", "2", "mot", " Relis <vite>.\r\n").Is(http.StatusSeeOther)
		state("a-relire", "Relis <vite>.")
		ada.get("/redaction").OK().Contains(copied+"/relecture", "Relis &lt;vite&gt;.")
		ada.get(copied+"/relecture").OK().Contains("<del>Écrit vite</del>", "<ins>Écrit mieux</ins>", "<ins>Un <mark>avis net.</mark></ins>", "Donner l’accord")
		ada.post(copied+"/retour", "revision", "2").Is(http.StatusUnprocessableEntity).Contains("à reprendre")
		ada.post(copied+"/retour", "revision", "2", "mot", "La source manque.").Is(http.StatusSeeOther)
		state("en-cours", "La source manque.")
		bob.get(copied).OK().Contains("La source manque.")
		bob.save(copied, "f.tagline", "Écrit très bien").Is(http.StatusSeeOther)
		bob.post(copied+"/relecture", "revision", "3", "mot", strings.Repeat("é", 4001)).Is(http.StatusUnprocessableEntity).Contains("trop long")
		bob.post(copied+"/relecture", "revision", "3").Is(http.StatusSeeOther)
		bob.save(copied, "f.tagline", "Écrit tout").Is(http.StatusSeeOther)
		ada.post(copied+"/accord", "revision", "3").Is(http.StatusUnprocessableEntity).Contains("pendant que vous la lisiez")
		ada.post(copied+"/accord", "revision", "4").Is(http.StatusSeeOther)
		state("prete", "")
		bob.save(copied, "f.tagline", "Encore").Is(http.StatusSeeOther)
		state("en-cours", "") // what was approved is not what would be published
	})
}

func TestAuthorsHaveNoHourAndOneAddress(t *testing.T) {
	n := newNewsroom(t, databases.OpenDSN(t, databases.SQLite(t)), t.TempDir())
	n.write("auteurs/ada.md", "---\nname: Ada\nrole: Rédactrice\n---\nElle écrit.\n")
	ada := n.as("Ada")
	copied := ada.open("auteurs/ada")
	ada.get(copied + "/publication").OK().Lacks("Programmer")
	ada.get(copied + "/programmation").Is(http.StatusUnprocessableEntity).Contains("auteurs")
	link := sharedLink.FindStringSubmatch(ada.post(copied + "/partage").OK().Body)
	n.as("").get(link[1]).OK().Contains("Elle écrit.")
	ada.get("/redaction/fiches/auteurs/ada").OK().Lacks("continue d’y mener")
	renamed := ada.follow(ada.post("/redaction/fiches/auteurs/ada/nom", "adresse", "ada-l"))
	ada.get(renamed + "/relecture").OK().Lacks("continue d’y mener")
	ada.get(ada.follow(ada.post("/redaction/reglages")) + "/publication").OK().Lacks("Programmer…")
}
