package server

import (
	"flag"
	"fmt"
	"html"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"palmares/internal/api"
	"palmares/internal/catalog"
	"palmares/internal/catalogdb"
	"palmares/internal/keyring"
	"palmares/internal/site"
	"palmares/internal/snapshot"
	"palmares/internal/synthetic"
	"palmares/internal/testkit"
	"palmares/internal/testkit/keyringtest"
	"palmares/internal/testkit/testdb"
)

var sharedPublications = flag.Int("shared-publications", 4, "random publications of TestVersionsThatShareAnswerLikeWholeOnes")

// A server that takes what did not change from the version before answers every request
// as one that has just read everything, after any number of publications.
func TestVersionsThatShareAnswerLikeWholeOnes(t *testing.T) {
	st, err := testdb.Open(t.Context(), testkit.SQLite(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	e := editor{Catalog: synthetic.Catalog(30, 1), random: rand.New(rand.NewPCG(seed, 0))}
	now := time.Date(2027, 1, 4, 9, 0, 0, 0, time.UTC)
	var before *snapshot.Snapshot
	answers, followed, loads := 0, 0, 0
	for i := range *sharedPublications {
		now = now.Add(5 * time.Hour)
		if i > 0 {
			e.edit()
		}
		if _, err := st.Catalogue.Publish(t.Context(), e.copy(), catalogdb.PublishOptions{Now: func() time.Time { return now }, AllowRemovals: true}); err != nil {
			t.Fatal(err)
		}
		if i > 1 && i < *sharedPublications-1 && e.random.IntN(4) == 0 {
			continue // a server may miss versions
		}
		loads++
		var earlier *catalogdb.Published
		if before != nil {
			earlier = &catalogdb.Published{Catalog: before.Catalog, Version: before.Version, PublishedAt: before.PublishedAt, Feed: before.Feed}
		}
		changed, step, err := st.Catalogue.LoadAfter(t.Context(), earlier)
		if err != nil {
			t.Fatal(err)
		}
		if step != nil {
			followed++
		}
		all, err := st.Catalogue.Load(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		shared := newCrawled(t, before, step, changed)
		whole := newCrawled(t, nil, nil, all)
		whole.crawl(func(path, want string) {
			answers++
			if got := shared.answer(path); got != want {
				t.Fatalf("publication %d, %s:\n%.3000s\n\nis\n\n%.3000s", i, path, want, got)
			}
		})
		if before = shared.snapshot; i%100 == 99 {
			t.Logf("%d publications, %d answers", i+1, answers)
		}
	}
	t.Logf("%d publications, %d of %d loads read what changed, %d answers", *sharedPublications, followed, loads, answers)
	if followed < loads-1 {
		t.Errorf("only %d of %d loads read what changed", followed, loads)
	}
}

// A crawled is a server that answers from one version.
type crawled struct {
	http.Handler
	t        *testing.T
	snapshot *snapshot.Snapshot
	found    []string
	seen     map[string]bool
}

func newCrawled(t *testing.T, before *snapshot.Snapshot, step *catalog.Step, p *catalogdb.Published) *crawled {
	t.Helper()
	s := snapshot.Next(before, p.Catalog, step, p.Version, p.ChangedOn, false)
	s.Entries, s.PublishedAt = p.Entries, p.PublishedAt
	s.SetFeed(p.Feed)
	if err := s.BuildIndex(t.Context()); err != nil {
		t.Fatal(err)
	}
	pages := site.New(site.Config{Demo: func(*snapshot.Snapshot) bool { return false }, BaseURL: "https://essai.example", Document: api.Document()})
	pages.Show(s)
	return &crawled{
		t: t, snapshot: s, seen: map[string]bool{},
		Handler: New(Config{
			Live: snapshot.Fixed(s), Keys: keyring.New(keyringtest.Store{}, time.Now), Site: pages, BaseURL: "https://essai.example",
			Log: slog.New(slog.DiscardHandler), Requests: io.Discard, Metrics: NewMetrics(), Account: http.NotFoundHandler(),
		}),
	}
}

// answer returns what must be the same of every server.
func (c *crawled) answer(path string) string {
	w := httptest.NewRecorder()
	c.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	if w.Code >= 500 {
		c.t.Errorf("%s: %d", path, w.Code)
	}
	w.Header().Del("Date")
	w.Header().Del("X-Request-Id")
	var b strings.Builder
	fmt.Fprintln(&b, w.Code)
	if err := w.Header().Write(&b); err != nil {
		c.t.Fatal(err)
	}
	return b.String() + "\n" + w.Body.String()
}

var crawledLink = regexp.MustCompile(`(?:href|src|action)="(/[^"]*)"|"slug":"([a-z0-9-]+)"|<loc>https://[a-z.]+(/[^<]*)|"next":"(/[^"]*)"`)

// crawl calls visit with every path that can be reached, and some more, and its answer.
func (c *crawled) crawl(visit func(path, answer string)) {
	c.add(
		"/", "/sitemap.xml", "/robots.txt", "/llms.txt", "/llms-full.txt", "/flux.atom", "/prix.csv",
		"/api/v1/tools", "/api/v1/stats", "/api/v1/categories", "/api/v1/comparatifs", "/api/v1/cimetiere", "/api/v1/pricing?limit=7&page=3", "/api/embeddings", "/api/v1/openapi.json",
		"/data/v1/tools", "/data/v1/changes", "/data/v1/records?kind=outil", "/outils?q=assistant", "/data/v1/search?q=transcrire", "/data/v1/search?q=nouveau+outil", "/data/v1/search?q=renom",
	)
	for _, sort := range snapshot.Sorts {
		c.add("/api/v1/tools?limit=200&sort="+sort, "/api/v1/tools?category=code&sort="+sort, "/api/v1/tools?score_min=7&sort="+sort, "/api/v1/tools?score_min=5&obsolescence_max=6&category=image&sort="+sort)
	}
	for i := 0; i < len(c.found); i++ {
		answer := c.answer(c.found[i])
		visit(c.found[i], answer)
		for _, m := range crawledLink.FindAllStringSubmatch(answer, -1) {
			c.add(html.UnescapeString(m[1] + m[3] + m[4]))
			if slug := m[2]; slug != "" {
				c.add("/api/v1/tools/"+slug, "/api/v1/pricing/"+slug, "/api/v1/comparatifs/"+slug, "/api/embeddings/"+slug)
			}
		}
	}
}

func (c *crawled) add(paths ...string) {
	for _, path := range paths {
		path, _, _ := strings.Cut(path, "#")
		if path == "" || c.seen[path] || strings.HasPrefix(path, "//") || strings.HasPrefix(path, "/compte") || strings.HasPrefix(path, "/signaler") || strings.HasPrefix(path, "/suivre") || strings.HasPrefix(path, "/static/") || path == "/data/v1/export" {
			continue
		}
		c.seen[path] = true
		c.found = append(c.found, path)
	}
}

// An editor changes a catalogue at random, and keeps its size.
type editor struct {
	*catalog.Catalog
	random *rand.Rand
	count  int
}

// copy returns the catalogue, for a publication that completes it.
func (e *editor) copy() *catalog.Catalog {
	c := *e.Catalog
	c.Tools, c.Comparisons, c.Retired, c.Pages = slices.Clone(c.Tools), slices.Clone(c.Comparisons), slices.Clone(c.Retired), slices.Clone(c.Pages)
	c.Categories = slices.Clone(c.Categories)
	for i, t := range c.Tools {
		own := *t
		c.Tools[i] = &own
	}
	return &c
}

// edit does a few random things.
func (e *editor) edit() {
	for range 1 + e.random.IntN(6) {
		e.count++
		i := e.random.IntN(len(e.Tools))
		t := e.Tools[i]
		switch e.random.IntN(23) {
		case 0:
			t.Tagline = fmt.Sprintf("Une autre phrase, la %de", e.count)
		case 1:
			score := float64(30+e.random.IntN(70)) / 10
			t.Score, t.Verifiability, t.TestedAt = &score, &score, "2026-12-01"
		case 2:
			t.Price, t.Pricing = fmt.Sprintf("%d €/mois", 5+e.random.IntN(40)), "payant"
		case 3:
			if len(t.Body) > 5_000 {
				t.Body = ""
			}
			t.Body = fmt.Sprintf("%s\n\n## Ajout %d\n\nUn paragraphe de plus.\n", t.Body, e.count)
		case 4:
			t.Body = ""
		case 5:
			t.Category = e.Categories[e.random.IntN(len(e.Categories))].Slug
		case 6:
			t.Name = fmt.Sprintf("Élan %d", e.count)
		case 7: // renamed
			if !e.isCompared(t.Slug) {
				t.Aliases = append(slices.Clone(t.Aliases[max(0, len(t.Aliases)-2):]), t.Slug)
				slices.Sort(t.Aliases)
				t.Slug = fmt.Sprintf("renomme-%d", e.count)
			}
		case 8: // retired
			if !e.isCompared(t.Slug) && len(e.Tools) > 25 && len(e.Retired) < 8 {
				e.Retired = append(e.Retired, catalog.Retired{Slug: t.Slug, Name: t.Name, Category: t.Category, Reason: "mort", RetiredAt: "2027-01-03", Body: "Fini.", Note: "Fini."})
				e.Tools = slices.Delete(e.Tools, i, i+1)
			}
		case 9: // removed
			if !e.isCompared(t.Slug) && len(e.Tools) > 25 {
				e.Tools = slices.Delete(e.Tools, i, i+1)
			}
		case 10, 11:
			if len(e.Tools) > 35 {
				continue
			}
			added := *t
			added.Slug, added.Name, added.Aliases = fmt.Sprintf("nouveau-%d", e.count), fmt.Sprintf("Nouveau %d", e.count), nil
			added.PriceHistory, added.ScoreHistory, added.CanonicalURL, added.ReviewURL, added.AlternativesURL = nil, nil, "", "", ""
			e.Tools = append(e.Tools, &added)
		case 12:
			if len(e.Comparisons) > 0 {
				x := &e.Comparisons[e.random.IntN(len(e.Comparisons))]
				x.Published, x.Title = !x.Published || e.random.IntN(2) == 0, fmt.Sprintf("Un duel, le %de", e.count)
			}
		case 13:
			e.Pages[0].Body = fmt.Sprintf("Un texte, le %de.", e.count)
		case 14:
			if e.random.IntN(3) == 0 {
				e.Categories[0].Label = fmt.Sprintf("Rubrique %d", e.count)
			} else {
				e.Settings.Headline = fmt.Sprintf("Titre %d", e.count)
			}
		case 15:
			if n := len(e.Retired); n > 0 {
				e.Retired = slices.Delete(e.Retired, n-1, n)
			}
		case 16: // the name of another tool
			t.Name = e.Tools[e.random.IntN(len(e.Tools))].Name
		case 17:
			if !e.isCompared(t.Slug) {
				t.Score, t.Verifiability, t.Obsolescence, t.TestedAt = nil, nil, nil, ""
			}
		case 18:
			figure := float64(e.random.IntN(100)) / 10
			t.Obsolescence = &figure
		case 19: // another category
			e.Categories = append(e.Categories, catalog.Category{Slug: fmt.Sprintf("rubrique-%d", e.count), Label: fmt.Sprintf("Nouvelle rubrique %d", e.count)})
			if len(e.Categories) > 8 {
				e.removeCategory(e.random.IntN(len(e.Categories)))
			}
			e.random.Shuffle(len(e.Categories), func(a, b int) { e.Categories[a], e.Categories[b] = e.Categories[b], e.Categories[a] })
			for k := range e.Categories {
				e.Categories[k].Position = k + 1
			}
		case 20:
			if other := e.Tools[e.random.IntN(len(e.Tools))]; other != t && t.Score != nil && other.Score != nil && len(e.Comparisons) < 12 {
				e.Comparisons = append(e.Comparisons, catalog.Comparison{
					Slug: fmt.Sprintf("duel-%d", e.count), Title: fmt.Sprintf("Duel %d", e.count), ToolA: t.Slug, ToolB: other.Slug, Winner: t.Slug,
					WinnerNote: "Plus court.", Published: true, UpdatedAt: "2027-01-02", Body: "Lisse.",
				})
			} else if n := len(e.Comparisons); n > 2 {
				e.Comparisons = slices.Delete(e.Comparisons, n-1, n)
			}
		case 21:
			if n := len(e.Comparisons); n > 0 {
				x := &e.Comparisons[e.random.IntN(n)]
				x.Winner, x.WinnerNote = x.ToolB, fmt.Sprintf("Plus long, de %d.", e.count)
			}
		case 22:
			if e.random.IntN(4) == 0 {
				e.URL = fmt.Sprintf("https://essai-%d.example", e.count)
			} else {
				e.Catalog.Name = fmt.Sprintf("Essai %d", e.count)
			}
		}
	}
	e.Sort()
}

// removeCategory removes a category, whose tools go to another one.
func (e *editor) removeCategory(i int) {
	slug := e.Categories[i].Slug
	e.Categories = slices.Delete(e.Categories, i, i+1)
	for _, t := range e.Tools {
		if t.Category == slug {
			t.Category = e.Categories[0].Slug
		}
	}
	for k := range e.Retired {
		if e.Retired[k].Category == slug {
			e.Retired[k].Category = e.Categories[0].Slug
		}
	}
}

func (e *editor) isCompared(slug string) bool {
	return slices.ContainsFunc(e.Comparisons, func(x catalog.Comparison) bool { return x.ToolA == slug || x.ToolB == slug })
}
