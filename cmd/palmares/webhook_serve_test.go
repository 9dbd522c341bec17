package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"palmares/internal/webhook"
)

// editions are folders which, published in turn, change the catalogue in every way.
func editions(t *testing.T) []string {
	t.Helper()
	const header = "name: Essai\nurl: https://essai.example\ncategories:\n  - slug: code\n    label: Code\n"
	tool := func(slug, price, tagline, review string) string {
		return fmt.Sprintf(`{"slug":%q,"name":"L’outil %s","domain":"t.example","category":"code","icp":"mixte","pricing":"payant","price":%q,"tagline":%q,"score":8.5,"verifiability":7,"tier":1,"body":%q}`+"\n",
			slug, slug, price, tagline, review)
	}
	versus := func(title string, published bool) string {
		return fmt.Sprintf(`{"slug":"a-ou-b","title":%q,"tool_a":"a","tool_b":"b","winner":"a","winner_note":"De peu.","published":%v}`+"\n", title, published)
	}
	const retired = `{"slug":"c","name":"L’outil c","category":"code","reason":"deprecie","retired_at":"2026-01-01","body":"Adieu, et merci."}` + "\n"
	article := func(text string) string {
		return fmt.Sprintf(`{"slug":"essai","title":"Un essai","author":"Ada","date":"2026-01-01","body":%q}`+"\n", text)
	}
	page := func(text string) string {
		return fmt.Sprintf(`{"slug":"equipe","title":"L’équipe","body":%q}`+"\n", text)
	}
	b, c, d := tool("b", "0 €/mois", "Bien sûr 🎉", ""), tool("c", "2 €/mois", "C’est peu", ""), tool("d", "3 €/mois", "Dommage", "")
	var dirs []string
	for _, files := range []map[string]string{
		{"outils.jsonl": tool("a", "1 €/mois", "Avant", "## Un\n\nL’un.") + b + c + d, "comparatifs.jsonl": versus("A ou B ?", true), "articles.jsonl": article("L’un."), "pages.jsonl": page("L’un.")},
		{"outils.jsonl": tool("a", "9 €/mois", "Après", "## Un\n\nL’autre.") + b + d, "comparatifs.jsonl": versus("A ou B, enfin ?", true), "cimetiere.jsonl": retired, "articles.jsonl": article("L’autre."), "pages.jsonl": page("L’autre.")},
		{"outils.jsonl": tool("a", "9 €/mois", "Après", "") + b + c, "comparatifs.jsonl": versus("A ou B, enfin ?", false)},
	} {
		dir := t.TempDir()
		files["catalogue.yaml"] = header
		for name, text := range files {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		dirs = append(dirs, dir)
	}
	return dirs
}

// checkObject expects the API to serve the object of an event, byte for byte, or
// nothing where the event has none. Texts have pages, of which the event only tells.
func (s *subscriber) checkObject(kind, slug string, object string) {
	s.t.Helper()
	noun, _, _ := strings.Cut(kind, ".")
	switch text := map[string]string{"article": "/articles/", "review": "/avis/", "page": "/"}[noun]; {
	case text != "":
		s.server.until(text+slug, func(r *http.Response, _ string) bool { return (r.StatusCode == 200) == (object != "null") })
	case kind == "embeddings.updated" && object != "null":
		s.server.until("/api/embeddings/"+slug, func(_ *http.Response, body string) bool {
			return strings.HasPrefix(body, strings.TrimSuffix(object, "}")+`,"chunks":[`)
		}, s.key)
	case object == "null":
		path := map[string]string{"tool": "/api/v1/tools/", "comparatif": "/api/v1/comparatifs/", "embeddings": "/api/embeddings/"}[noun]
		s.server.until(path+slug, func(r *http.Response, _ string) bool { return r.StatusCode == 404 }, s.key)
	default:
		list := map[string]string{"tool": "tools", "pricing": "pricing", "comparatif": "comparatifs"}[noun]
		if kind == "tool.retired" {
			list = "cimetiere"
		}
		s.server.until("/api/v1/"+list+"?limit=200", func(_ *http.Response, body string) bool { return strings.Contains(body, object) })
	}
}

func TestEveryChangeReachesItsReceiversOnceSignedAndAsTheAPIShowsIt(t *testing.T) {
	t.Parallel()
	databases.EachDSN(t, func(t *testing.T, database string) {
		s := subscribe(t, database)
		prices := newReceiver(t, accept)
		prices.add("ada@example.org", database, "--events", "pricing.updated")
		seen, types := 0, map[string]bool{}
		var ofPrices []string
		for _, edition := range editions(t) {
			must(t, "publish", edition, "--allow-removals", "--database", database)
			published := s.events()
			if len(published) == seen {
				t.Fatal("nothing changed")
			}
			counts := map[string]int{}
			for _, event := range published[seen:] {
				seen++
				var e struct {
					ID, Type  string
					Timestamp time.Time
					Sequence  int
					Data      struct {
						Slug     string
						Changed  []string
						Previous map[string]any
						Object   json.RawMessage
						URL      string
					}
				}
				if err := json.Unmarshal([]byte(event), &e); err != nil {
					t.Fatal(err)
				}
				types[e.Type] = true
				if e.Sequence != seen || time.Since(e.Timestamp) > time.Hour || !strings.HasPrefix(e.Data.URL, "https://essai.example") {
					t.Errorf("event %d is %s", seen, event)
				}
				sent := slices.DeleteFunc(slices.Clone(e.Data.Changed), func(name string) bool { return name == "body" }) // texts are not
				if previous := slices.Sorted(maps.Keys(e.Data.Previous)); !slices.Equal(previous, slices.Sorted(slices.Values(sent))) {
					t.Errorf("%s changed %v and had %v", e.Type, e.Data.Changed, previous)
				}
				switch e.Type {
				case "catalog.updated":
					var object map[string]any
					if err := json.Unmarshal(e.Data.Object, &object); err != nil || object["state"] == "" {
						t.Errorf("%v, %v", object, err)
					}
					maps.DeleteFunc(object, func(name string, _ any) bool { return !strings.Contains(name, ".") })
					if got, want := fmt.Sprint(object), fmt.Sprint(counts); got != want {
						t.Errorf("%s; want %s", got, want)
					}
				case "pricing.updated":
					ofPrices = append(ofPrices, event)
					if diff := cmp.Diff(map[string]any{"price": "1 €/mois"}, e.Data.Previous); diff != "" {
						t.Error(diff)
					}
					fallthrough
				default:
					counts[e.Type]++
					s.checkObject(e.Type, e.Data.Slug, string(e.Data.Object))
				}
			}
			s.deliveriesDone()
			if diff := cmp.Diff(slices.Sorted(slices.Values(published)), s.got()); diff != "" {
				t.Fatalf("published and received differ (-want +got):\n%s", diff)
			}
		}
		if got := slices.Sorted(maps.Keys(types)); !slices.Equal(got, slices.Sorted(slices.Values(webhook.Types))) {
			t.Errorf("only %v happened", got)
		}
		prices.until(len(ofPrices))
		if diff := cmp.Diff(ofPrices, prices.got()); diff != "" {
			t.Errorf("who wants prices got (-want +got):\n%s", diff)
		}
	})
}

func TestTimesForWebhooksThatMakeNoSenseAreRefused(t *testing.T) {
	for _, bad := range [][2]string{
		{"--webhook-timeout=16s", "100ms to 15s"},
		{"--webhook-timeout=0s", "100ms to 15s"},
		{"--webhook-timeout=soon", "100ms to 15s"},
		{"--webhook-schedule=5s,5m", "begins with 0s"},
		{"--webhook-schedule=0s,-1s", "write delays as"},
	} {
		var out, said strings.Builder
		code := run(t.Context(), []string{"serve", "--listen", "localhost:0", "--database", databases.SQLite(t), bad[0]}, &out, &said)
		if code != 1 || !strings.Contains(said.String(), bad[1]) {
			t.Errorf("%s: %d, %s", bad[0], code, &said)
		}
	}
}
