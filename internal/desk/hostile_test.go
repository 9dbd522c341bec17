package desk_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"
)

func TestForgedAddressesLeadNowhere(t *testing.T) {
	n := newNewsroom(t, databases.OpenDSN(t, databases.SQLite(t)), t.TempDir())
	ada := n.as("Ada")
	real := ada.open("outils/plume")
	forged := []string{
		"cop_", "cop_x", strings.ToUpper(real[len("/redaction/copies/"):]), real[len("/redaction/copies/"):] + "0", "%00", "..%2f..%2fcatalogue.yaml",
		"shr_01m7hv29e0fpaw2pdjw1skz8ys", strings.Repeat("a", 5000), "'%20or%201=1", "%ff",
	}
	for _, id := range forged {
		for _, page := range []string{"", "/partage", "/relecture", "/programmation", "/publication", "/conflit", "/suppression", "/apercu/outils/plume"} {
			ada.get("/redaction/copies/" + id + page).Is(http.StatusNotFound)
		}
		for _, page := range []string{"/partage", "/partage/" + id, "/relecture", "/accord", "/retour", "/programmation", "/suppression", "/images"} {
			ada.post("/redaction/copies/"+id+page, "revision", "1", "mot", "x", "quand", "2099-01-01T09:00").Is(http.StatusNotFound)
		}
		ada.post(real + "/partage/" + id).Is(http.StatusSeeOther) // there is nothing to revoke
		ada.get("/redaction/aide/" + id).Is(http.StatusNotFound)
		ada.get("/redaction/versions/" + id).Is(http.StatusNotFound)
		ada.post("/redaction/versions/" + id + "/annulation").Is(http.StatusNotFound)
		ada.post("/redaction/fiches/outils/" + id + "/deprogrammation").Is(http.StatusNotFound)
	}
	for _, revision := range []string{"", "0", "-1", "2", "9223372036854775808", "1 "} {
		if r := ada.post(real+"/accord", "revision", revision); r.Status != http.StatusBadRequest && r.Status != http.StatusUnprocessableEntity {
			t.Errorf("revision %q: %d", revision, r.Status)
		}
	}
}

func TestBadUploadsAreRefusedInFrench(t *testing.T) {
	n := newNewsroom(t, databases.OpenDSN(t, databases.SQLite(t)), t.TempDir())
	bob := n.as("Bob")
	copied := bob.open("outils/plume")
	good := drawing(t, 64, 64)
	huge := bytes.Clone(good)
	copy(huge[16:24], []byte{0, 1, 0, 0, 0, 1, 0, 0}) // it says 65,536 pixels by 65,536
	for name, file := range map[string][]byte{
		"vide.png":       nil,
		"coupe.png":      good[:len(good)/2],
		"bombe.png":      huge,
		"page.png":       []byte("<!doctype html><script>alert(1)</script>"),
		"dessin.svg":     []byte(`<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>`),
		"texte.txt":      []byte("bonjour"),
		"a.pdf":          []byte("%PDF-1.7"),
		"..":             []byte("x"),
		"faux.jpg":       []byte("GIF89a"),
		"catalogue.yaml": []byte("name: Pirate\n"),
	} {
		r := bob.upload(copied+"/images", name, file, "Un dessin").Is(http.StatusUnprocessableEntity)
		if !strings.Contains(r.Body, "<h1>À corriger</h1>") {
			t.Errorf("%s: %s", name, r.Body)
		}
	}
	bob.upload(copied+"/images", "a.png", good, strings.Repeat("é", 301)).Is(http.StatusUnprocessableEntity).Contains("plus brièvement")
	for range 20 {
		bob.upload(copied+"/images", "a.png", good, "Un dessin", "Accept: application/json").OK()
	}
	bob.upload(copied+"/images", "a.png", good, "Un dessin").Is(http.StatusUnprocessableEntity).Contains("20")
	bob.save(copied, "f.body", strings.Repeat("Trop long. ", 100_000)).Is(http.StatusUnprocessableEntity).Contains("À corriger")
	n.as("Cleo").upload(copied+"/images", "a.png", good, "Un dessin").Is(http.StatusNotFound)
}
