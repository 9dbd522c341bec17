package search

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"palmares/demo"
	"palmares/internal/catalog"
	"palmares/internal/content"
)

// A judgedQuery is a query with what its good answers are: slugs, topics, or labels of
// categories after an @, with grades from 1 to 3.
type judgedQuery struct {
	kind, text string
	heldOut    bool // of tuning; only the figures of these are ever printed, not their answers
	grades     map[string]int
	condition  string // gratuit, libre, <20 or ""
}

// parseJudged reads a query of a file; self is the topic that it is about, "" in the demo.
func parseJudged(t testing.TB, line, self string) judgedQuery {
	t.Helper()
	parts := append(strings.Split(line, " | "), "")
	q := judgedQuery{kind: strings.TrimLeft(parts[0], "+-"), text: parts[1], grades: map[string]int{}}
	q.heldOut = parts[0][0] == '+' || parts[0][0] != '-' && heldOut(q.text)
	answers := parts[2]
	if label, ok := strings.CutPrefix(answers, "@"); ok { // may contain spaces
		label, grade, _ := strings.Cut(label, ":")
		q.grades["@"+label], _ = strconv.Atoi(grade)
		return q
	}
	if self != "" {
		q.grades[self] = 3
	}
	for answer := range strings.FieldsSeq(answers) {
		what, grade, graded := strings.Cut(answer, ":")
		if !graded {
			q.condition = what
			continue
		}
		n, err := strconv.Atoi(grade)
		if err != nil {
			t.Fatalf("%s: %s is not a grade", line, grade)
		}
		q.grades[what] = n
	}
	return q
}

// heldOut chooses a third of the queries, if a file does not.
func heldOut(text string) bool {
	h := fnv.New32a()
	h.Write([]byte(text))
	return h.Sum32()%3 == 0
}

// A collection is a catalogue with queries that were judged.
type collection struct {
	name    string
	catalog *catalog.Catalog
	about   map[string]judgedTool // by slug; nil for the demo
	queries []judgedQuery
}

// grade returns how good an answer a tool is.
func (c *collection) grade(q *judgedQuery, t *catalog.Tool) int {
	is := c.about[t.Slug]
	grade := max(q.grades[t.Slug], q.grades[is.topic], q.grades["@"+c.label(t.Category)])
	if is.second != "" {
		grade = max(grade, q.grades[is.second]-1)
	}
	if most, ok := strings.CutPrefix(q.condition, "<"); ok {
		most, _ := strconv.ParseFloat(most, 64)
		if euros, ok := catalog.Monthly(t.Pricing, t.Price); !ok || euros > most {
			return 0
		}
	}
	switch {
	case q.condition == "gratuit" && t.Pricing == "freemium":
		return max(grade-1, 0)
	case q.condition == "gratuit" && t.Pricing != "gratuit", q.condition == "libre" && !is.open:
		return 0
	}
	return grade
}

func (c *collection) label(slug string) string {
	for i := range c.catalog.Categories {
		if c.catalog.Categories[i].Slug == slug {
			return c.catalog.Categories[i].Label
		}
	}
	return ""
}

func demoCollection(t testing.TB) collection {
	t.Helper()
	r, err := content.ReadFS(t.Context(), demo.Folder, content.Options{Known: func(source string) (catalog.Picture, bool) {
		return catalog.Picture{Source: source, Hash: source, Ext: "png", Width: 1, Height: 1}, true
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	c := collection{name: "demo", catalog: r.Catalog}
	text, err := os.ReadFile("testdata/judged-demo.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			c.queries = append(c.queries, parseJudged(t, line, ""))
		}
	}
	return c
}

func generatedCollection(t testing.TB) collection {
	t.Helper()
	c := collection{name: "2,000 tools"}
	c.catalog, c.about, c.queries = judgedCatalog(t)
	for i := range 20 {
		tool := c.catalog.Tools[i*97+13]
		q := judgedQuery{kind: "nom", text: tool.Name, grades: map[string]int{tool.Slug: 3}}
		switch i % 5 {
		case 0:
			q.text = "prix de " + strings.ToLower(q.text)
		case 1, 2:
			q.kind, q.text = "faute", q.text[:3]+q.text[4:]
		}
		q.heldOut = heldOut(q.text)
		c.queries = append(c.queries, q)
	}
	return c
}

// quality is what is reported for a set of queries.
type quality struct {
	queries int
	ndcg    float64 // sum
	missed  int     // queries with no answer of grade 2 or 3 among the first five
}

func (q *quality) add(other quality) {
	q.queries += other.queries
	q.ndcg += other.ndcg
	q.missed += other.missed
}

func (q quality) mean() float64 { return q.ndcg / float64(max(q.queries, 1)) }

func (q quality) String() string {
	return fmt.Sprintf("%3d queries, nDCG@10 %.3f, no right answer in the first five: %d", q.queries, q.mean(), q.missed)
}

// judge measures the answers to one query.
func (c *collection) judge(q *judgedQuery, answers []int) quality {
	gain := func(grade, rank int) float64 {
		return (math.Pow(2, float64(grade)) - 1) / math.Log2(float64(rank)+2)
	}
	var ideal []int
	for i := range c.catalog.Tools {
		if grade := c.grade(q, c.catalog.Tools[i]); grade > 0 {
			ideal = append(ideal, grade)
		}
	}
	slices.SortFunc(ideal, func(a, b int) int { return cmp.Compare(b, a) })
	got, best := 0.0, 0.0
	for rank, grade := range ideal[:min(len(ideal), 10)] {
		best += gain(grade, rank)
	}
	result := quality{queries: 1, missed: 1}
	for rank, tool := range answers[:min(len(answers), 10)] {
		grade := c.grade(q, c.catalog.Tools[tool])
		got += gain(grade, rank)
		if rank < 5 && grade >= 2 {
			result.missed = 0
		}
	}
	if best > 0 {
		result.ndcg = got / best
	}
	return result
}

// ask returns the first ten answers to a query, as the site would show them.
func ask(x *Index, text string) []int {
	var answers []int
	request := x.ReadRequest(text, nil)
	for _, hit := range x.Search(Query{Text: request.Text, Constraints: request.Constraints, Limit: 10}).Hits {
		answers = append(answers, hit.Tool)
	}
	return answers
}

// TestQuestionsInEnglishFindFrenchTools also prints the figures, for make bench.
func TestQuestionsInEnglishFindFrenchTools(t *testing.T) {
	text, err := os.ReadFile("testdata/judged-english.txt")
	if err != nil {
		t.Fatal(err)
	}
	collections := map[string]collection{"demo": demoCollection(t), "topics": generatedCollection(t)}
	indexes := map[string]*Index{}
	for name, c := range collections {
		indexes[name], err = Build(t.Context(), c.catalog)
		if err != nil {
			t.Fatal(err)
		}
	}
	var parts [2]quality // tuned, held out
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		q := parseJudged(t, strings.TrimSpace(line), "")
		c := collections[q.kind]
		answers := ask(indexes[q.kind], q.text)
		result := c.judge(&q, answers)
		if q.heldOut {
			parts[1].add(result)
			continue
		}
		parts[0].add(result)
		if result.ndcg < 0.7 {
			t.Logf("%s: %q has nDCG %.2f: %s", c.name, q.text, result.ndcg, c.describe(answers))
		}
	}
	for i, name := range []string{"tuned", "held out"} {
		t.Logf("search, English, %s: %s", name, parts[i])
		if parts[i].mean() < 0.9 {
			t.Errorf("%s: got %s; want at least 0.9", name, parts[i])
		}
	}
}

// TestTheAnswersToJudgedQueriesAreGood also prints the figures, for make bench.
func TestTheAnswersToJudgedQueriesAreGood(t *testing.T) {
	var tuned, heldOut quality
	for _, c := range []collection{demoCollection(t), generatedCollection(t)} {
		x, err := Build(t.Context(), c.catalog)
		if err != nil {
			t.Fatal(err)
		}
		var parts [2]quality
		kinds := map[string]quality{}
		for i := range c.queries {
			q := &c.queries[i]
			answers := ask(x, q.text)
			result := c.judge(q, answers)
			if q.heldOut {
				parts[1].add(result)
				continue
			}
			parts[0].add(result)
			kind := kinds[q.kind]
			kind.add(result)
			kinds[q.kind] = kind
			if result.ndcg < 0.7 {
				t.Logf("%s: %q has nDCG %.2f: %s", c.name, q.text, result.ndcg, c.describe(answers))
			}
		}
		for kind, result := range kinds {
			t.Logf("%s, %s: %s", c.name, kind, result)
		}
		t.Logf("search, %s, tuned: %s", c.name, parts[0])
		t.Logf("search, %s, held out: %s", c.name, parts[1])
		tuned.add(parts[0])
		heldOut.add(parts[1])
	}
	for _, part := range []struct {
		name   string
		got    quality
		ndcg   float64
		missed int
	}{{"tuned", tuned, 0.95, 2}, {"held out", heldOut, 0.93, 2}} {
		t.Logf("search, all, %s: %s", part.name, part.got)
		if part.got.mean() < part.ndcg || part.got.missed > part.missed {
			t.Errorf("%s: got %s; want at least %.2f and at most %d", part.name, part.got, part.ndcg, part.missed)
		}
	}
}

func TestTheDemoAnswersWithTheRightToolFirst(t *testing.T) {
	c := demoCollection(t)
	x, err := Build(t.Context(), c.catalog)
	if err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string]string{
		"transcrire une réunion":                  "calepin-bavard",
		"transcription de réunion":                "calepin-bavard",
		"transcrire mes réunions":                 "calepin-bavard",
		"prendre des notes en réunion":            "calepin-bavard",
		"chatbot local":                           "murmurine",
		"chatbot en local sans internet":          "murmurine",
		"open source générer des images":          "lavis-public",
		"faire un site internet":                  "moufle-studio",
		"créer une application sans savoir coder": "moufle-studio",
		"vérifier une citation":                   "sourcelot",
		"créer une application":                   "moufle-studio",
		"créer une appli":                         "moufle-studio",
		"outil pour créer une application":        "moufle-studio",
		"faire une application":                   "moufle-studio",
		"construire une application":              "moufle-studio",
		"créer une appli sans coder":              "moufle-studio",
		"interroger une base de données":          "grenier-sql",
		"documents internes":                      "fonds-de-tiroir",
		"chercher dans mes documents internes":    "fonds-de-tiroir",
		"données de test anonymes":                "faux-semblant",
		"revue de code":                           "relecteur-tardif",
		"revue de code pull request":              "relecteur-tardif",
		"fond transparent":                        "detourix",
		"changer le fond d'une photo":             "detourix",
		"enlever le fond d'une photo":             "detourix",

		// Long questions are reduced to what they ask for.
		"bonjour, je suis graphiste indépendante et je cherche de quoi détourer des photos de produits pour mes clients, merci d’avance":                 "detourix",
		"nous sommes une équipe de cinq personnes et nous perdons beaucoup de temps à rédiger les comptes rendus de nos réunions, que conseillez-vous ?": "calepin-bavard",
		"I run a small podcast from home and my recordings have a lot of background noise, what should I use?":                                           "souffle-coupe",
	} {
		if answers := ask(x, query); len(answers) == 0 || c.catalog.Tools[answers[0]].Slug != want {
			t.Errorf("%q: got %s; want %s first", query, c.describe(answers), want)
		}
	}
}

// describe names the first five answers and what they are about.
func (c *collection) describe(answers []int) string {
	var names []string
	for _, i := range answers[:min(len(answers), 5)] {
		t := c.catalog.Tools[i]
		names = append(names, t.Name+" ("+cmp.Or(c.about[t.Slug].topic, t.Category)+")")
	}
	return fmt.Sprint(len(answers), " ", strings.Join(names, ", "))
}
