package main

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
)

// TestAPriceThatChangedOnItsPageIsListed follows a price from its first look to its change.
func TestAPriceThatChangedOnItsPageIsListed(t *testing.T) {
	var price, agent atomic.Value
	price.Store("19 €/mois")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		agent.Store(r.UserAgent())
		if r.URL.Path != "/tarifs" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = fmt.Fprintf(w, "<h1>Tarifs</h1><div><h3>Solo</h3><p>9 €/mois</p></div><div><h3>Pro</h3><p>%s</p></div>", price.Load())
	}))
	defer server.Close()
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tool := "---\nname: Plume\ndomain: plume.example\ncategory: code\npricing: payant\nprice: 19 €/mois\ntagline: Il écrit\n%s---\n"
	write("catalogue.yaml", "name: Essai\nurl: https://essai.example\ncontact: redaction@essai.example\ncategories:\n  - slug: code\n    label: Code\n")
	write("outils/plume.md", fmt.Sprintf(tool, "price_source: "+server.URL+"/tarifs\nprice_source_hint: Pro\n"))
	command := func(want int, args ...string) string {
		t.Helper()
		var out bytes.Buffer
		if code := run(t.Context(), args, &out, &out); code != want {
			t.Fatalf("%q exits %d, want %d: %s", args, code, want, out.String())
		}
		return out.String()
	}
	check := []string{"sources", "check", dir, "--allow", "127.0.0.0/8", "--spacing", "0s"}
	proofs := func() string {
		text, _ := os.ReadFile(filepath.Join(dir, "preuves.jsonl"))
		return string(text)
	}
	contains := func(text string, parts ...string) {
		t.Helper()
		for _, part := range parts {
			if !strings.Contains(text, part) {
				t.Errorf("%q is not in %s", part, text)
			}
		}
	}

	contains(command(0, check...), "looked at 1 of 1 sources: 1 confirmed, 0 changed")
	contains(agent.Load().(string), "Palmares/", "+https://essai.example; redaction@essai.example")
	if !regexp.MustCompile(`^{"slug":"plume","url":"[^"]+","final_url":"[^"]+","checked_at":"[^"]+","status":200,"result":"confirmed","found":\[{"amount":"19 €/mois",.*\],"text_hash":"[0-9a-f]+","confirmed_at":"[^"]+","price":"19 €/mois; ; Pro"}\n$`).MatchString(proofs()) {
		t.Errorf("the file has %s", proofs())
	}
	before := proofs()
	command(0, append(check, "--only-changes")...)
	if proofs() != before {
		t.Errorf("--only-changes wrote %s over %s", proofs(), before)
	}
	if out := command(0, "sources", "list", dir, "--strict"); out != "" {
		t.Errorf("listed: %s", out)
	}
	contains(command(0, "validate", dir), "no problem")

	price.Store("25 €/mois")
	contains(command(0, check...), "0 confirmed, 1 changed")
	contains(command(1, "sources", "list", dir, "--strict"), "plume: changed, recorded 19 €/mois, plan « Pro », found ", "25 €/mois", "1 source should be looked at")
	contains(command(0, "sources", "list", dir, "--format", "json"), `"state":"changed"`, `"price":"19 €/mois","hint":"Pro"`)
	contains(command(0, "sources", "list", dir, "--format", "github"), "::warning file=", "preuves.jsonl,line=1::plume: changed")
	if out := command(0, "sources", "list", dir, "--state", "gone"); out != "" {
		t.Errorf("listed: %s", out)
	}
	contains(command(1, "sources", "list", dir, "--state", "late"), `"late" is not a state`)
	contains(command(0, append(check, "--lang", "fr")...), "1 source lue sur 1\u202f; prix confirmés\u00a0: 0, prix changés\u00a0: 1, pages déplacées\u00a0: 0")
	contains(command(1, "sources", "list", dir, "--strict", "--lang", "fr"), "plume: prix changé, noté 19 €/mois, offre «\u00a0Pro\u00a0», trouvé 25 €/mois dans «\u00a0",
		" à l’adresse "+server.URL+"/tarifs\n", "1 source est à revoir")

	// Programs of others write the same fields.
	write("preuves.jsonl", fmt.Sprintf(`{"slug": "plume", "url": "%s/tarifs", "final_url": "%[1]s/tarifs", "checked_at": "2026-11-12T03:00:00Z", "status": 404, "result": "gone", "found": [], "text_hash": "", "confirmed_at": null}`+"\n", server.URL))
	contains(command(0, "validate", dir), "no problem")
	contains(command(0, "sources", "list", dir), "plume: gone, recorded 19 €/mois")
	contains(command(0, check...), "0 confirmed, 1 changed")

	write("outils/plume.md", fmt.Sprintf(tool, "price_source: "+server.URL+"/tarifs\nprice_source_hint: Max\n"))
	command(0, check...)
	contains(command(0, "sources", "list", dir, "--lang", "fr"), "plume: prix changé, noté 19 €/mois, offre «\u00a0Max\u00a0», l’offre «\u00a0Max\u00a0» n’est pas sur la page, lu le ")

	// What somebody wrote into the file is never overwritten.
	conflicted := "<<<<<<< HEAD\n" + proofs()
	write("preuves.jsonl", conflicted)
	contains(command(1, check...), "preuves.jsonl:1: a conflict was not resolved")
	contains(command(1, "validate", dir, "--lang", "fr"), "un conflit n’est pas résolu")
	write("preuves.jsonl", strings.Replace(before, "confirmed", "Confirmed", 1))
	contains(command(1, check...), "preuves.jsonl:1: this is not a line that sources check wrote")
	write("preuves.jsonl", before[:len(before)-2]+`,"x":1}`+"\n") // which only those see who read all of it
	for _, args := range [][]string{check, {"sources", "list", dir, "--state", "confirmed"}} {
		contains(command(1, args...), "/preuves.jsonl:1: this is not a line that sources check wrote")
	}
	if err := os.Remove(filepath.Join(dir, "preuves.jsonl")); err != nil {
		t.Fatal(err)
	}
	write("outils/plume.md", fmt.Sprintf(tool, "price_source_hint: Pro\n"))
	contains(command(1, check...), "outils/plume.md:8: price_source_hint names a plan on a page that is not given")
	write("outils/plume.md", fmt.Sprintf(tool, "price_source: tarifs\n"))
	contains(command(1, check...), "outils/plume.md:8: price_source")
}
