package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// make chaos has more publications.
var (
	retrievalSeed     = flag.Uint64("retrieval-seed", uint64(time.Now().UnixNano()), "of the publications that the retrieval example follows")
	retrievalVersions = flag.Int("retrieval-versions", 3, "how many random publications the retrieval example follows")
)

// The program that /docs/embeddings shows keeps a store. It runs after each of a few random
// publications, which add, change, rename, retire, remove, bring back and empty tools.
func TestTheRetrievalExampleHasTheTruthAfterEveryPublication(t *testing.T) {
	t.Parallel()
	t.Logf("-retrieval-seed %d", *retrievalSeed)
	database := "sqlite:" + filepath.Join(t.TempDir(), "palmares.db")
	e := newShuffled(t, rand.New(rand.NewPCG(*retrievalSeed, 0)))
	must(t, "publish", e.dir, "--database", database)
	must(t, "account", "create", "ada@example.org", "--database", database)
	key := strings.TrimSpace(must(t, "key", "create", "ada@example.org", "--name", "example", "--database", database))
	r := serveRetrieval(t, database, key)
	kept := t.TempDir()
	for version := 1; version <= *retrievalVersions+1; version++ {
		if version > 1 {
			e.change()
			// A tool that is renamed and retired at once is removed.
			must(t, "publish", e.dir, "--database", database, "--allow-removals")
			r.until("/api/v1/stats", func(resp *http.Response, _ string) bool {
				return resp.Header.Get("X-Service-Version") == fmt.Sprint(version)
			})
		}
		got := r.run(kept)
		// Whoever starts now has the same.
		if diff := cmp.Diff(r.run(t.TempDir()), got); diff != "" {
			t.Errorf("after version %d a new store and the kept one differ (-new +kept):\n%s", version, diff)
		}
		r.compare(got)
		if t.Failed() {
			t.FailNow()
		}
	}
}

// A database that was restored from a backup has the same feed, and may have reached any
// position again with other records.
func TestTheRetrievalExampleNoticesARestoredDatabase(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "palmares.db")
	database, kept := "sqlite:"+file, t.TempDir()
	e := newShuffled(t, rand.New(rand.NewPCG(1, 0)))
	for _, tool := range e.tools {
		tool["tier"] = 1 // so that the selection has many reviews
	}
	e.write()
	must(t, "publish", e.dir, "--database", database)
	must(t, "account", "create", "ada@example.org", "--database", database)
	key := strings.TrimSpace(must(t, "key", "create", "ada@example.org", "--name", "example", "--database", database))
	backup := filepath.Join(t.TempDir(), "backup.db")
	must(t, "backup", backup, "--database", database)

	e.tools[0]["name"] = "Perdu"
	e.write()
	must(t, "publish", e.dir, "--database", database)
	lost := serveRetrieval(t, database, key)
	before := lost.requests.Load()
	if got := lost.run(kept); len(got.Chunks) < 20 {
		t.Fatalf("%d tools have chunks", len(got.Chunks))
	}
	if n := lost.requests.Load() - before; n > 3 {
		t.Errorf("the first run sent %d requests, want the feed, the list of embeddings and one file", n)
	}
	lost.kill()

	e.tools[0]["name"], e.tools[1]["name"] = "Retrouvé", "Changé"
	e.write()
	must(t, "publish", e.dir, "--database", "sqlite:"+backup)
	found := serveRetrieval(t, "sqlite:"+backup, key)
	found.compare(found.run(kept))
}

// A retrieval runs the example, counts its requests, and knows the truth.
type retrieval struct {
	*process
	key, code string
	requests  atomic.Int64
}

// serveRetrieval serves a database, and reads the example that the server shows.
func serveRetrieval(t *testing.T, database, key string) *retrieval {
	t.Helper()
	r := &retrieval{process: serveProcess(t, "--database", database, "--quota", "off"), key: key}
	target, err := url.Parse(r.url)
	if err != nil {
		t.Fatal(err)
	}
	forward := httputil.NewSingleHostReverseProxy(target)
	forward.ModifyResponse = func(answer *http.Response) error {
		if answer.StatusCode != http.StatusTemporaryRedirect { // which is free
			r.requests.Add(1)
		}
		return nil
	}
	proxy := httptest.NewServer(forward)
	t.Cleanup(proxy.Close)
	_, page := r.get("/docs/embeddings.md")
	_, code, _ := strings.Cut(page, "```python\n\"\"\"Une question")
	code, _, _ = strings.Cut(code, "\n```")
	r.code = "\"\"\"Une question" + regexp.MustCompile(`(?m)^BASE = .*$`).ReplaceAllString(code, `BASE = "`+proxy.URL+`"`)
	return r
}

// A store is what the example keeps: passages by tool, and what is said of the tools.
type retrievalStore struct {
	Tools   map[string]retrievalTool
	Chunks  map[string][][2]string // address and text
	Vectors int
}

type retrievalTool struct {
	Name  string
	Score *float64
}

const readRetrievalStore = `
import json, sqlite3
db = sqlite3.connect("palmares-passages.db")
chunks = {}
for slug, url, text in db.execute("SELECT slug, url, text FROM chunks ORDER BY slug, position"):
    chunks.setdefault(slug, []).append([url, text])
tools = {slug: json.loads(record) for slug, record in db.execute("SELECT slug, record FROM records WHERE kind = 'outil'")}
tools = {slug: {"Name": tool["name"], "Score": tool.get("score")} for slug, tool in tools.items()}
print(json.dumps({"Tools": tools, "Chunks": chunks, "Vectors": db.execute("SELECT count(*) FROM vectors").fetchone()[0]}))
`

// run runs the example in a folder and returns its store.
func (r *retrieval) run(dir string) (s retrievalStore) {
	r.t.Helper()
	var out []byte
	for _, code := range []string{r.code, readRetrievalStore} {
		cmd := exec.CommandContext(r.t.Context(), "python3", "-c", code)
		cmd.Dir, cmd.Env, cmd.Stderr = dir, append(os.Environ(), "PALMARES_KEY="+r.key, "PYTHONUTF8=1"), r.t.Output()
		var err error
		if out, err = cmd.Output(); err != nil {
			r.t.Fatalf("%v: %s", err, out)
		}
		if code == r.code && !bytes.HasSuffix(out, []byte("\nSource : Palmarès synthétique (https://synthetique.example)\n")) {
			r.t.Errorf("the example prints %s", out)
		}
	}
	if err := json.Unmarshal(out, &s); err != nil {
		r.t.Fatal(err)
	}
	return s
}

// compare expects a store to have exactly what the server serves. It empties Chunks.
func (r *retrieval) compare(got retrievalStore) {
	r.t.Helper()
	var list struct {
		Data []struct {
			Slug, Name string
			Score      *float64
			Avis       *string `json:"avis_url"`
		}
	}
	r.into("/api/v1/tools?limit=200", &list)
	tools, texts := map[string]retrievalTool{}, map[string]bool{}
	for _, tool := range list.Data {
		tools[tool.Slug] = retrievalTool{tool.Name, tool.Score}
		chunks := got.Chunks[tool.Slug]
		for _, chunk := range chunks {
			texts[chunk[1]] = true
		}
		if want, covered := r.chunks(tool.Slug); covered {
			if diff := cmp.Diff(want, chunks); diff != "" {
				r.t.Errorf("%s (-served +kept): %s", tool.Slug, diff)
			}
		} else {
			r.compareOwn(tool.Slug, tool.Avis, chunks)
		}
		delete(got.Chunks, tool.Slug)
	}
	if diff := cmp.Diff(tools, got.Tools); diff != "" {
		r.t.Errorf("tools (-served +kept): %s", diff)
	}
	if len(got.Chunks) > 0 || got.Vectors != len(texts) {
		r.t.Errorf("passages of tools that are not served: %v; %d vectors of %d texts", got.Chunks, got.Vectors, len(texts))
	}
}

// chunks returns the passages of a tool of the top set.
func (r *retrieval) chunks(slug string) (chunks [][2]string, covered bool) {
	r.t.Helper()
	var document struct {
		Chunks []struct {
			Text     string
			Metadata struct {
				URL string `json:"canonical_url"`
			}
		}
	}
	resp, body := r.get("/api/embeddings/"+slug, "Authorization: Bearer "+r.key)
	if resp.StatusCode == http.StatusNotFound {
		return nil, false
	}
	if err := json.Unmarshal([]byte(body), &document); err != nil {
		r.t.Fatal(err)
	}
	for _, chunk := range document.Chunks {
		chunks = append(chunks, [2]string{chunk.Metadata.URL, chunk.Text})
	}
	return chunks, true
}

// compareOwn expects passages that the example has cut itself to be those of the review,
// if there is one: all its lines, in their order.
func (r *retrieval) compareOwn(slug string, review *string, chunks [][2]string) {
	r.t.Helper()
	if review == nil {
		if len(chunks) > 0 {
			r.t.Errorf("%s has no review, but %v", slug, chunks)
		}
		return
	}
	var records struct{ Data []struct{ Body string } }
	r.into("/data/v1/records/outil?slug="+slug, &records)
	var kept []string
	for _, chunk := range chunks {
		kept = append(kept, lines(chunk[1])...)
		if chunk[0] != *review {
			r.t.Errorf("a passage of %s leads to %s", slug, chunk[0])
		}
	}
	if diff := cmp.Diff(lines(records.Data[0].Body), kept); diff != "" {
		r.t.Errorf("the passages of %s are not its review (-served +kept): %s", slug, diff)
	}
	if want := strings.Count(strings.ReplaceAll("\n"+records.Data[0].Body, "\n## un commentaire", ""), "\n## "); len(chunks) < want {
		r.t.Errorf("the %d sections of %s are %d passages: %q", want, slug, len(chunks), chunks)
	}
}

// lines returns the lines of a text that are not blank.
func lines(s string) []string {
	return slices.DeleteFunc(strings.Split(s, "\n"), func(line string) bool { return strings.TrimSpace(line) == "" })
}

func (r *retrieval) into(path string, v any) {
	r.t.Helper()
	if _, body := r.get(path, "Authorization: Bearer "+r.key); json.Unmarshal([]byte(body), v) != nil {
		r.t.Fatalf("%s: %s", path, body)
	}
}

// shuffled is a content folder that changes at random.
type shuffled struct {
	t       *testing.T
	random  *rand.Rand
	dir     string
	tools   []map[string]any
	retired []map[string]any // as tools
	count   int              // of what was made up
}

func newShuffled(t *testing.T, random *rand.Rand) *shuffled {
	t.Helper()
	e := &shuffled{t: t, random: random, dir: filepath.Join(t.TempDir(), "catalogue")}
	must(t, "generate", e.dir, "--tools", "60")
	lines, err := os.ReadFile(filepath.Join(e.dir, "outils.jsonl"))
	if err == nil { // they name tools, which are about to be renamed
		err = errors.Join(os.Remove(filepath.Join(e.dir, "comparatifs.jsonl")), os.Remove(filepath.Join(e.dir, "articles.jsonl")))
	}
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(lines)) {
		var tool map[string]any
		if err := json.Unmarshal([]byte(line), &tool); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"canonical_url", "avis_url", "alternatives_url", "aliases"} {
			delete(tool, name)
		}
		e.tools = append(e.tools, tool)
	}
	e.add()
	e.write()
	return e
}

// change does eight random things.
func (e *shuffled) change() {
	for range 8 {
		i := e.random.IntN(len(e.tools))
		tool := e.tools[i]
		e.count++
		switch e.random.IntN(8) {
		case 0:
			tool["score"], tool["verifiability"], tool["tested_at"] = float64(30+e.random.IntN(70))/10, 7, "2024-05-06"
		case 1:
			body, _ := tool["body"].(string)
			tool["body"] = fmt.Sprintf("%s\n\n## Ajout %d\n\nUn *essai* de plus, le [%d](https://essai.example/%d).\n", body, e.count, e.count, e.count)
		case 2:
			delete(tool, "body")
		case 3:
			aliases, _ := tool["aliases"].([]any)
			tool["aliases"] = append(slices.Clone(aliases), tool["slug"])
			tool["slug"] = fmt.Sprintf("renomme-%d", e.count)
		case 4:
			e.retired, e.tools = append(e.retired, tool), slices.Delete(e.tools, i, i+1)
		case 5:
			if n := len(e.retired); n > 0 {
				e.tools, e.retired = append(e.tools, e.retired[n-1]), e.retired[:n-1]
			}
		case 6:
			tool["tier"] = 1 + e.random.IntN(3)
		case 7:
			e.add()
		}
	}
	e.write()
}

// add adds a tool whose review has code that looks like Markdown.
func (e *shuffled) add() {
	e.tools = append(e.tools, map[string]any{
		"slug": fmt.Sprintf("nouveau-%d", e.count), "name": fmt.Sprintf("Nouveau %d", e.count), "domain": "nouveau.example", "category": "code",
		"pricing": "gratuit", "price": "0 €/mois", "tagline": "Un outil neuf", "tier": 3,
		"body": fmt.Sprintf("Une *ouverture* %d, avec `nom_de_variable`.\n\n## Avis\n\n```sh\nexport NOM_LONG=*.md\n## un commentaire\n- `date` _ [a](b)\n```\n\nRien à redire.\n", e.count),
	})
}

// write writes the folder.
func (e *shuffled) write() {
	e.t.Helper()
	var tools, retired bytes.Buffer
	for _, tool := range e.tools {
		if err := json.NewEncoder(&tools).Encode(tool); err != nil {
			e.t.Fatal(err)
		}
	}
	for _, tool := range e.retired {
		entry := map[string]any{"slug": tool["slug"], "name": tool["name"], "category": tool["category"], "reason": "mort", "retired_at": "2026-01-02", "body": "Fini."}
		if err := json.NewEncoder(&retired).Encode(entry); err != nil {
			e.t.Fatal(err)
		}
	}
	for name, data := range map[string][]byte{"outils.jsonl": tools.Bytes(), "cimetiere.jsonl": retired.Bytes()} {
		if err := os.WriteFile(filepath.Join(e.dir, name), data, 0o600); err != nil {
			e.t.Fatal(err)
		}
	}
}
