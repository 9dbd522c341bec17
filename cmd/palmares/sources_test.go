package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
)

var (
	sourceHosts = flag.Int("source-hosts", 10, "how many hosts have the sources of prices")
	sourcePages = flag.Int("source-pages", 5, "how many sources each of these hosts has")
)

const sourceCatalogue = "name: Essai\nurl: https://essai.example\ncontact: redaction@essai.example\ncategories:\n  - slug: code\n    label: Code\n"

// A sourceFolder is a content folder whose sources are looked at.
type sourceFolder struct {
	*testing.T
	dir string
}

func newSourceFolder(t *testing.T) *sourceFolder {
	f := &sourceFolder{t, t.TempDir()}
	f.write("catalogue.yaml", sourceCatalogue)
	return f
}

func (f *sourceFolder) write(name, text string) {
	f.Helper()
	name = filepath.Join(f.dir, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		f.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		f.Fatal(err)
	}
}

func (f *sourceFolder) read(name string) string {
	text, _ := os.ReadFile(filepath.Join(f.dir, name))
	return string(text)
}

// says runs a command on the folder DIR that exits with a code and says something.
func (f *sourceFolder) says(code int, args string, parts ...string) string {
	f.Helper()
	var out bytes.Buffer
	list := strings.Fields(strings.Replace(args, "DIR", f.dir, 1))
	if got := run(f.Context(), list, &out, &out); got != code {
		f.Fatalf("%q exits %d, want %d: %s", list, got, code, out.String())
	}
	for _, part := range parts {
		if !strings.Contains(out.String(), part) {
			f.Errorf("%q: %q is not in %s", list, part, out.String())
		}
	}
	return out.String()
}

const (
	sourceTool = "---\nname: Plume # le nom\ndomain: plume.example\ncategory: code\npricing: payant\nprice: 19 €/mois\ntagline: Il écrit\n%s---\n"
	checkHere  = "sources check DIR --allow 127.0.0.0/8 --spacing 0s"
	quoteHere  = "sources quote DIR plume --allow 127.0.0.0/8 --spacing 0s"
)

// TestAPriceThatChangedOnItsPageIsListed follows a price from its quotation to its change.
func TestAPriceThatChangedOnItsPageIsListed(t *testing.T) {
	var price, agent atomic.Value
	price.Store("19 €/mois")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		agent.Store(r.UserAgent())
		switch {
		case r.URL.Path != "/tarifs":
			http.NotFound(w, r)
			return
		case price.Load() == "":
			w.WriteHeader(http.StatusForbidden)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = fmt.Fprintf(w, "<h1>Tarifs</h1><div><h3>Solo</h3><p>9 €/mois</p></div><div><h3>Pro</h3><p>%s</p></div>", price.Load())
	}))
	defer server.Close()
	f := newSourceFolder(t)

	// Nothing is claimed of a source without a quotation.
	f.write("outils/plume.md", fmt.Sprintf(sourceTool, ""))
	f.says(1, quoteHere, `the tool "plume" has no price_source`)
	f.says(1, strings.Replace(quoteHere, "plume", "gomme", 1)+" --lang fr", "il n’y a pas d’outil «\u00a0gomme\u00a0» dans le dossier")
	f.write("outils/plume.md", fmt.Sprintf(sourceTool, "price_source: "+server.URL+"/rien\n"))
	f.says(1, quoteHere, server.URL+"/rien cannot be read: the page answers with status 404")
	f.write("outils/plume.md", fmt.Sprintf(sourceTool, "price_source: "+server.URL+"/rien\nprice_quote: Pro 19 €/mois\n"))
	f.says(0, checkHere, "1 gone, 0 unreadable\n1 not read: the page answers with status 404\n")
	f.says(0, "sources list DIR --lang fr", "la page répond par le statut 404, essayé le ", " à l’adresse "+server.URL)
	before := fmt.Sprintf(sourceTool, "price_source: "+server.URL+"/tarifs # là\n")
	f.write("outils/plume.md", before)
	f.says(0, checkHere, "looked at 0 of 0 sources")
	if text := f.read("preuves.jsonl"); text != "" {
		t.Errorf("without sources the file has %s", text)
	}
	f.says(0, quoteHere, "  1 * Pro 19 €/mois\n  2   Solo 9 €/mois\nonly the first one has the recorded price, 19 €/mois; --take 1 quotes it\n")
	f.says(1, quoteHere+" --take 3", "there is no passage 3 on the page, which has 2 now")
	f.says(0, quoteHere+" --take 1 --lang fr", "plume.md cite «\u00a0Pro 19 €/mois\u00a0», lu le ")
	after := regexp.MustCompile(`(?m)^price_quote: Pro 19 €/mois\n|^price_checked_at: [0-9-]{10}\n`)
	if text := f.read("outils/plume.md"); len(after.FindAllString(text, -1)) != 2 || after.ReplaceAllString(text, "") != before {
		t.Errorf("--take wrote %s over %s", text, before)
	}

	f.says(0, checkHere, "looked at 1 of 1 sources: 1 confirmed, 0 changed")
	if got := agent.Load().(string); !strings.HasPrefix(got, "Palmares/") || !strings.HasSuffix(got, " (+https://essai.example; redaction@essai.example)") {
		t.Errorf("asked as %s", got)
	}
	line := regexp.MustCompile(`^{"slug":"plume","url":"[^"]+","final_url":"[^"]+","checked_at":"[^"]+","status":200,"result":"confirmed","quote":"Pro 19 €/mois","found":"Pro\\n19 €/mois","text_hash":"[0-9a-f]{64}","confirmed_at":"[^"]+"}\n$`)
	proofs := f.read("preuves.jsonl")
	if !line.MatchString(proofs) {
		t.Errorf("the file has %s", proofs)
	}
	f.says(0, checkHere+" --only-changes")
	if f.read("preuves.jsonl") != proofs {
		t.Errorf("--only-changes wrote %s over %s", f.read("preuves.jsonl"), proofs)
	}
	if out := f.says(0, "sources list DIR --strict"); out != "" {
		t.Errorf("listed: %s", out)
	}
	f.says(0, "validate DIR", "no problem")

	price.Store("25 €/mois")
	f.says(0, checkHere, "0 confirmed, 1 changed")
	f.says(1, "sources list DIR --strict", "plume: changed, recorded 19 €/mois, quoted « Pro 19 €/mois », found « Pro 25 €/mois », read on ", " at "+server.URL+"/tarifs\n",
		"1 source should be looked at")
	f.says(0, "sources list DIR --format json", `"quote":"Pro 19 €/mois","found":"Pro\n25 €/mois",`, `"state":"changed","price":"19 €/mois"}`)
	f.says(0, "sources list DIR --format github", "::warning file=", "preuves.jsonl,line=1::plume: changed")
	if out := f.says(0, "sources list DIR --state gone"); out != "" {
		t.Errorf("listed: %s", out)
	}
	f.says(1, "sources list DIR --state late", `"late" is not a state`)
	f.says(0, checkHere+" --lang fr", "1 source lue sur 1\u202f; prix confirmés\u00a0: 0, prix changés\u00a0: 1, pages déplacées\u00a0: 0")
	f.says(1, "sources list DIR --strict --lang fr", "plume: prix changé, noté 19 €/mois, cité «\u00a0Pro 19 €/mois\u00a0», trouvé «\u00a0Pro 25 €/mois\u00a0», lu le ",
		" à l’adresse "+server.URL+"/tarifs\n", "1 source est à revoir")
	f.says(0, quoteHere, "none has the recorded price, 19 €/mois")
	price.Store("") // a page that cannot be read takes no finding back
	f.says(0, checkHere, "0 confirmed, 1 changed", "1 not read: the page answers with status 403\n")
	price.Store("25 €/mois")

	// What somebody wrote into the file is never overwritten.
	f.write("preuves.jsonl", "<<<<<<< HEAD\n"+proofs)
	f.says(1, checkHere, "preuves.jsonl:1: a conflict was not resolved")
	f.write("preuves.jsonl", proofs[:len(proofs)-2]+`,"x":1}`+"\n")
	f.says(1, checkHere, "/preuves.jsonl:1: this is not a line that sources check wrote")
	f.says(1, "sources list DIR --lang fr", "/preuves.jsonl:1: ce n’est pas une ligne que sources check a écrite")
	if err := os.Remove(filepath.Join(f.dir, "preuves.jsonl")); err != nil {
		t.Fatal(err)
	}
	f.write("outils/plume.md", fmt.Sprintf(sourceTool, "price_source: tarifs\n"))
	f.says(1, checkHere, "outils/plume.md:8: price_source")

	// Records in bulk are not written.
	if err := os.Remove(filepath.Join(f.dir, "outils", "plume.md")); err != nil {
		t.Fatal(err)
	}
	bulk := fmt.Sprintf(`{"slug":"plume","name":"Plume","domain":"plume.example","category":"code","pricing":"payant","price":"19 €/mois","tagline":"Il écrit","price_source":"%s/tarifs"}`+"\n", server.URL)
	f.write("outils.jsonl", bulk)
	f.says(1, quoteHere+" --take 1", `the record of "plume" is a line of outils.jsonl, which is not written here`)
	if f.read("outils.jsonl") != bulk {
		t.Error("it was written")
	}
}

// TestManySourcesAreLookedAtInLittleMemory interrupts a check of many hosts, goes on, and looks again.
func TestManySourcesAreLookedAtInLittleMemory(t *testing.T) {
	t.Parallel()
	var asked, unsent atomic.Int64
	half, interrupted, total := make(chan struct{}), make(chan struct{}), *sourceHosts**sourcePages
	page := "<p>Pro<p>19 €/mois<p>" + strings.Repeat("<p class=x>Tout ce qu’il faut pour écrire 12 pages par jour.</p>", 4000)
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/robots.txt":
			http.NotFound(w, r)
			return
		case r.Header.Get("If-None-Match") == `"1"`:
			unsent.Add(1)
			w.WriteHeader(http.StatusNotModified)
			return
		case asked.Add(1) == int64(total/2):
			close(half)
		}
		if asked.Load() >= int64(total/2) {
			select {
			case <-interrupted:
			case <-r.Context().Done():
			}
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("ETag", `"1"`)
		_, _ = fmt.Fprint(w, page)
	})
	f := newSourceFolder(t)
	for i := range *sourceHosts {
		server := httptest.NewServer(handler)
		defer server.Close()
		for n := range *sourcePages {
			f.write(fmt.Sprintf("outils/t%d-%d.md", i, n), strings.Replace(fmt.Sprintf(sourceTool,
				fmt.Sprintf("price_source: %s/%d\nprice_quote: Pro 19 €/mois\n", server.URL, n)), "plume", fmt.Sprintf("t%d-%d", i, n), 1))
		}
	}
	check := func(interrupt bool, args ...string) string {
		cmd := palmares(context.WithoutCancel(t.Context()), append([]string{"sources", "check", f.dir, "--allow", "127.0.0.0/8", "--spacing", "20ms"}, args...)...)
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if interrupt {
			<-half
			if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
				t.Error(err)
			}
		}
		if err := cmd.Wait(); (err != nil) != interrupt || cmd.ProcessState.ExitCode() > 1 {
			t.Fatalf("%v: %s", err, out.String())
		}
		memory := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss / 1024
		t.Logf("%d MB in %v: %s", memory, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime(), out.String())
		if total >= 1500 && memory > 100 {
			t.Errorf("%d MB of memory", memory)
		}
		return out.String()
	}
	check(true)
	close(interrupted)
	done := strings.Count(f.read("preuves.jsonl"), "\n")
	if done == 0 || done == total {
		t.Errorf("%d of %d were kept", done, total)
	}
	check(false, "--limit", fmt.Sprint(total-done))
	if got := strings.Count(f.read("preuves.jsonl"), `"result":"confirmed"`); got != total || unsent.Load() != 0 {
		t.Errorf("%d of %d are confirmed, %d of them unsent", got, total, unsent.Load())
	}
	if check(false); unsent.Load() != int64(total) {
		t.Errorf("%d of %d were not sent again", unsent.Load(), total)
	}
}
