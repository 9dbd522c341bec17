package assistant_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"palmares/demo"
	"palmares/internal/account"
	"palmares/internal/assistant"
	"palmares/internal/catalog"
	"palmares/internal/content"
	"palmares/internal/quota"
	"palmares/internal/snapshot"
	"palmares/internal/testkit/quotatest"
	"palmares/internal/web"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A desk is an assistant with a connection to the tools of the demo.
type desk struct {
	t       *testing.T
	url     string
	session *mcp.ClientSession
	sizes   []int                           // of the answers, in bytes
	outputs map[string]*jsonschema.Resolved // of the tools that say what they return
}

// demoCatalogue is read once, because its pictures take long.
var demoCatalogue = sync.OnceValue(func() *catalog.Catalog {
	r, err := content.ReadFS(context.Background(), demo.Folder, content.Options{})
	if err != nil || len(r.Problems) > 0 {
		panic(fmt.Sprint(err, r))
	}
	return r.Catalog
})

// open serves the demo, completed by cfg, on a real listener.
func open(t *testing.T, cfg assistant.Config) *desk {
	t.Helper()
	return openOn(t, demoCatalogue(), cfg)
}

func openOn(t *testing.T, c *catalog.Catalog, cfg assistant.Config) *desk {
	t.Helper()
	return connect(t, handlerOf(t, c, cfg))
}

// connect serves a handler on a real listener and opens a session with it.
func connect(t *testing.T, handler http.Handler) *desk {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	d := &desk{t: t, url: server.URL + assistant.Path, outputs: map[string]*jsonschema.Resolved{}}
	client := mcp.NewClient(&mcp.Implementation{Name: "essai", Version: "1"}, nil)
	var err error
	if d.session, err = client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: d.url, DisableStandaloneSSE: true}, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.session.Close() })
	list, err := d.session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range list.Tools {
		var schema *jsonschema.Schema
		b, _ := json.Marshal(tool.OutputSchema)
		if err := json.Unmarshal(b, &schema); err != nil {
			t.Fatal(err)
		}
		if schema != nil {
			d.outputs[tool.Name], err = schema.Resolve(nil)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return d
}

// handlerOf returns the handler of a catalogue, completed by cfg.
func handlerOf(t testing.TB, original *catalog.Catalog, cfg assistant.Config) *assistant.Handler {
	t.Helper()
	c := *original
	c.Tools = slices.Clone(c.Tools)
	for i, t := range c.Tools {
		own := *t
		c.Tools[i] = &own
	}
	c.URL = "https://essai.example"
	catalog.CarryOver(&catalog.Catalog{}, &c, "2026-11-01")
	snap := snapshot.Build(&c, 1, "2026-11-16")
	if err := snap.BuildIndex(t.Context()); err != nil {
		t.Fatal(err)
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	cfg.Live, cfg.Callers, cfg.Calls, cfg.Version = snapshot.Fixed(snap), authorize, assistant.NewCalls(), "1"
	return assistant.New(cfg)
}

func authorize(_ context.Context, r *http.Request) (web.Caller, error) {
	switch r.Header.Get("Authorization") {
	case "":
		return web.Caller{Subject: quota.Subject{Tier: quota.Anonymous, Network: netip.MustParsePrefix("192.0.2.7/32")}}, nil
	case "good":
		return web.Caller{Key: &account.Key{}, Subject: quota.Subject{Tier: quota.Free, Account: "acc_1"}}, nil
	}
	return web.Caller{}, web.KeyError(account.ErrInvalidKey)
}

// call calls a tool and returns its answer, which every client must be able to read.
func (d *desk) call(name, arguments string) (answer map[string]any, isError bool) {
	d.t.Helper()
	result, err := d.session.CallTool(d.t.Context(), &mcp.CallToolParams{Name: name, Arguments: json.RawMessage(arguments)})
	if err != nil {
		d.t.Fatalf("%s %s: %v", name, arguments, err)
	}
	text := result.Content[0].(*mcp.TextContent).Text
	if err := json.Unmarshal([]byte(text), &answer); err != nil || len(result.Content) != 1 {
		d.t.Fatalf("%s %s: %q", name, arguments, text)
	}
	structured, _ := json.Marshal(result.StructuredContent)
	again, _ := json.Marshal(answer)
	if string(structured) != string(again) {
		d.t.Errorf("%s %s: the text is %s, the object %s", name, arguments, again, structured)
	}
	if schema := d.outputs[name]; schema != nil && !result.IsError {
		if err := schema.Validate(answer); err != nil {
			d.t.Errorf("%s %s is not what its schema says: %v", name, arguments, err)
		}
	}
	if d.sizes = append(d.sizes, len(text)); len(text) > 6000 {
		d.t.Errorf("%s %s has an answer of %d bytes", name, arguments, len(text))
	}
	if !strings.Contains(text, "Source : ") || !strings.Contains(text, "https://essai.example/") && !strings.Contains(text, `"changes":[]`) {
		d.t.Errorf("%s %s has no credit line or no address: %s", name, arguments, text)
	}
	return answer, result.IsError
}

// ok calls a tool that must answer.
func (d *desk) ok(name, arguments string) map[string]any {
	d.t.Helper()
	answer, isError := d.call(name, arguments)
	if isError {
		d.t.Errorf("%s %s: %v", name, arguments, answer)
	}
	return answer
}

func ids(list any) (ids []string) {
	for _, item := range list.([]any) {
		ids = append(ids, item.(map[string]any)["id"].(string))
	}
	return ids
}

func TestTheToolsAreListedInFewBytes(t *testing.T) {
	d := open(t, assistant.Config{})
	list, err := d.session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
		if a := tool.Annotations; a == nil || !a.ReadOnlyHint || !strings.HasPrefix(tool.Description, "Palmarès (démonstration)\u00a0: ") {
			t.Errorf("%s is not marked as reading only, or does not name the catalogue: %s", tool.Name, tool.Description)
		}
		if (tool.OutputSchema != nil) != (tool.Name == "search" || tool.Name == "fetch") {
			t.Errorf("%s returns %v", tool.Name, tool.OutputSchema)
		}
	}
	slices.Sort(names)
	if !slices.Equal(names, []string{"categories", "changes", "compare", "fetch", "prices", "search"}) {
		t.Errorf("%q", names)
	}
	if b, _ := json.Marshal(list); len(b) > 9000 {
		t.Errorf("the list has %d bytes", len(b))
	}
	if text := d.session.InitializeResult().Instructions; len(text) > 1200 || !strings.Contains(text, "search") {
		t.Errorf("the instructions have %d bytes: %s", len(text), text)
	}
}

// One guide is in the repository, one on the site.
func TestTheGuidesNameWhatToolsTakeAndReturn(t *testing.T) {
	list, err := open(t, assistant.Config{}).session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"../../docs/assistants.md", "../site/templates/guide-assistants.md"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		guide := string(text)
		for _, tool := range list.Tools {
			_, row, _ := strings.Cut(guide, "\n| `"+tool.Name+"` |")
			row, _, _ = strings.Cut(row, "\n")
			for argument := range tool.InputSchema.(map[string]any)["properties"].(map[string]any) {
				if argument != "next" && !strings.Contains(row, "`"+argument+"`") {
					t.Errorf("%s: the row of %s has no %s", file, tool.Name, argument)
				}
			}
		}
		for _, field := range []string{"constraints", "suggestion", "partial", "retired", "unknown", "metadata.renamed", "next", "more", "credit", "isError", "reset_at", "structuredContent"} {
			if !strings.Contains(guide, "`"+field) {
				t.Errorf("%s does not say what %s is", file, field)
			}
		}
	}
}

func TestASearchLeadsToTheReview(t *testing.T) {
	d := open(t, assistant.Config{})
	answer := d.ok("search", `{"query": "transcrire une réunion", "price_max": 20, "category": null}`)
	found := ids(answer["results"])
	if len(found) == 0 || !strings.HasPrefix(found[0], "calepin-bavard") {
		t.Fatalf("%q", found)
	}
	for _, id := range found {
		if got := d.ok("fetch", fmt.Sprintf(`{"id": %q}`, id)); got["id"] != id || got["text"] == "" || got["title"] == "" || got["metadata"].(map[string]any)["price"] == nil {
			t.Errorf("%s: %v", id, got)
		}
	}
	for _, hit := range d.ok("search", `{"query": "outil", "pricing": "gratuit", "limit": 20}`)["results"].([]any) {
		if price := hit.(map[string]any)["price"].(string); price == "" {
			t.Errorf("%v", hit)
		}
	}
}

func TestASearchGoesOnWithNext(t *testing.T) {
	d := open(t, assistant.Config{})
	seen, next := map[string]bool{}, any(0.0)
	var total float64
	for calls := 0; next != nil; calls++ {
		answer := d.ok("search", fmt.Sprintf(`{"query": "outil", "limit": 20, "next": %v}`, next))
		total = answer["total"].(float64)
		for _, id := range ids(answer["results"]) {
			slug, _, _ := strings.Cut(id, "#")
			if seen[slug] {
				t.Errorf("%s comes twice", slug)
			}
			seen[slug] = true
		}
		if next = answer["next"]; calls > 100 {
			t.Fatal("it never ends")
		}
	}
	if len(seen) != int(total) || total < 20 {
		t.Errorf("%d of %v", len(seen), total)
	}
}

func TestToolsAreComparedWithTheVerdict(t *testing.T) {
	d := open(t, assistant.Config{})
	answer := d.ok("compare", `{"tools": ["mandibule", "escouade"]}`)
	if got := ids(answer["tools"]); !slices.Equal(got, []string{"mandibule", "escouade"}) {
		t.Errorf("%q", got)
	}
	if verdicts := answer["verdicts"].([]any); len(verdicts) != 1 || verdicts[0].(map[string]any)["note"] == "" {
		t.Errorf("%v", verdicts)
	}
	other := d.ok("compare", `{"tools": ["mandibule", "castafiole"]}`)
	if warning, _ := other["warning"].(string); answer["warning"] != nil || !strings.Contains(warning, "bancs d’essai différents") {
		t.Errorf("tools of one category: %v; of two: %q", answer["warning"], warning)
	}
}

func TestPricesAndChangesGoOn(t *testing.T) {
	d := open(t, assistant.Config{})
	if got := d.ok("prices", `{"tools": ["dictaphrase", "grenier-sql"]}`); len(got["prices"].([]any)) != 2 {
		t.Errorf("%v", got)
	}
	past := d.ok("changes", `{"since": "2020-01-01"}`) // of the demo, of which nothing is stored
	days := column(past, "day")
	if len(days) < 8 || !slices.IsSorted(days) || past["next"] != 0.0 || past["more"] != false {
		t.Errorf("%v", past)
	}
	if got := d.ok("changes", `{"since": "2020-01-01", "after": 0}`); len(rows(got, "changes")) != 0 {
		t.Errorf("%v; want what is stored alone", got)
	}
}

func TestWhatIsWrongIsSaidInASentence(t *testing.T) {
	d := open(t, assistant.Config{})
	for _, c := range [][3]string{
		{"search", `{}`, "query"},
		{"search", `{"query": " "}`, "query"},
		{"search", `{"query": "a", "sort": "date"}`, "sort: enum: date does not equal any of: [relevance score price]"},
		{"search", `{"usage": "coudre"}`, "Aucun usage n’a l’identifiant «\u00a0coudre\u00a0»"},
		{"search", `{"alternatives_to": "dictafraze"}`, "dictaphrase"},
		{"categories", `{"category": "cod"}`, "code"},
		{"fetch", `{"id": "/cimetiere/helice-flux"}`, "Pour le remplacer\u00a0: tuyauterie, "},
		{"search", `{"query": 3}`, `query: type: 3 has type "integer", want "string"`},
		{"search", `{"query": "a", "price_max": "20"}`, `price_max: type: 20 has type "string", want "number"`},
		{"search", `{"query": "a", "limit": "5"}`, `limit: type: 5 has type "string", want "integer"`},
		{"search", `{"query": "a", "next": true}`, `next: type: true has type "boolean", want "integer"`},
		{"search", `{"query": "a", "category": {}}`, `category: type: map[] has type "object", want "string"`},
		{"compare", `{"tools": [1, 2]}`, `tools/items: type: 1 has type "integer", want "string"`},
		{"search", `{"query": "a", "prix": 3}`, `Le schéma de search, que donne tools/list, refuse ces arguments : unexpected additional properties ["prix"].`},
		{"prices", `{"tools": "mandibule"}`, `tools: type: mandibule has type "string", want "array"`},
		{"search", `{"query": "a", "limit": 21}`, "limit: maximum: 21 is greater than 20."},
		{"search", `{"query": "a", "pricing": "cher"}`, "pricing: enum"},
		{"search", `{"query": "a", "price_max": -1}`, "price_max: minimum: -1 is less than 0."},
		{"search", `{"query": "a", "category": "cod"}`, "code"},
		{"fetch", `{"id": "dictafraze"}`, "dictaphrase"},
		{"fetch", `{"id": "https://autre.example/outils/dictaphrase"}`, "Aucun outil"},
		{"fetch", `{"id": "Tricoteuse"}`, "Tricoteuse a fermé le 28\u00a0février 2025."},
		{"fetch", `{"id": "dictaphrase#rien"}`, "introduction"},
		{"fetch", `{"id": "dictaphrase#introduction@99999"}`, "next"},
		{"compare", `{"tools": ["mandibule"]}`, "tools: minItems: array length 1 is less than 2."},
		{"compare", `{"tools": ["mandibule", "mandibule"]}`, "différents"},
		{"compare", `{"tools": ["mandibule", "mandibul"]}`, "mandibule"},
		{"prices", `{"tools": ["mandibul"]}`, "mandibule"},
		{"prices", `{}`, `required: missing properties: ["tools"]`},
		{"changes", `{}`, "since"},
		{"changes", `{"after": 99999}`, "since"},
		{"search", `{"query": "a", "limit": 5.5}`, "limit: type: 5.5"},
		{"search", `{"query": "a", "limit": 1e300}`, "is greater than 20."},
		{"search", `{"query": "` + strings.Repeat("é", 501) + `"}`, "contains 501 Unicode code points, more than 500."},
		{"search", `{"query": "a", "next": -1}`, "next: minimum: -1 is less than 0."},
		{"compare", `{}`, `required: missing properties: ["tools"]`},
		{"search", `[]`, `type: [] has type "array", want "object"`},
		{"fetch", `{"id": ""}`, "L’id est vide"},
		{"fetch", `{"id": " #verdict"}`, "L’id est vide"},
		{"fetch", `{"id": "calepin-bavard#verdict"}`, "Calepin Bavard n’a pas encore d’avis"},
		{"fetch", `{"id": "tricoteuse"}`, "Tricoteuse a fermé le 28\u00a0février 2025."},
		{"fetch", `{"id": "bavardoir"}`, "est devenu une partie d’un autre produit le 31\u00a0octobre 2025."},
	} {
		answer, isError := d.call(c[0], c[1])
		if text, _ := answer["error"].(string); !isError || !strings.Contains(text, c[2]) {
			t.Errorf("%s %s: %v; want an error with %q", c[0], c[1], answer, c[2])
		}
	}
}

func TestAWholeNumberMayHaveADecimalPoint(t *testing.T) {
	d := open(t, assistant.Config{})
	if got := ids(d.ok("search", `{"query": "outil", "limit": 2.0, "next": 1e0}`)["results"]); len(got) != 2 {
		t.Errorf("%q", got)
	}
	if got := d.ok("changes", `{"after": 0.0}`); got["more"] != false {
		t.Errorf("%v", got)
	}
}

func TestASearchForARetiredToolSaysWhatBecameOfIt(t *testing.T) {
	d := open(t, assistant.Config{})
	for _, query := range []string{"bavardoir", "le prix de Bavardoir ?"} {
		got, _ := d.ok("search", `{"query": "`+query+`"}`)["retired"].([]any)
		if len(got) != 1 {
			t.Fatalf("%s: %v", query, got)
		}
		one := got[0].(map[string]any)
		if url, _ := one["url"].(string); one["name"] != "Bavardoir" || one["retired_at"] != "2025-10-31" || one["successor"] != "comptoir-bleu" || !strings.HasSuffix(url, "/cimetiere/bavardoir") {
			t.Errorf("%s: %v", query, one)
		}
	}
	if got, has := d.ok("search", `{"query": "transcrire une réunion"}`)["retired"]; has {
		t.Errorf("a request that names none has %v", got)
	}
}

func TestASearchSaysIfNoToolHasAllWords(t *testing.T) {
	d := open(t, assistant.Config{})
	if got := d.ok("search", `{"query": "transcrire zygomatique "}`)["partial"]; got != true {
		t.Errorf("partial is %v", got)
	}
	if got, has := d.ok("search", `{"query": "transcrire une réunion"}`)["partial"]; has {
		t.Errorf("a tool has all words, but partial is %v", got)
	}
}

func TestAFormerCategoryIsAccepted(t *testing.T) {
	d := open(t, assistant.Config{})
	now, former := d.ok("search", `{"query": "tests", "category": "code"}`), d.ok("search", `{"query": "tests", "category": "dev"}`)
	if !reflect.DeepEqual(now, former) || now["total"] == 0.0 {
		t.Errorf("%v; want %v", former, now)
	}
}

func TestABodyThatIsNoJSONIsAParseError(t *testing.T) {
	d := open(t, assistant.Config{})
	resp := d.post("POST", "bonjour")
	if resp.StatusCode != 400 || resp.Header.Get("Content-Type") != "application/json" {
		t.Errorf("%s %v", resp.Status, resp.Header)
	}
}

func TestASearchSaysWhichConstraintsItRead(t *testing.T) {
	d := open(t, assistant.Config{})
	got := d.ok("search", `{"query": "transcrire une réunion à moins de 20 €"}`)["constraints"]
	if want := map[string]any{"pricing": nil, "price_max": 20.0}; !reflect.DeepEqual(got, want) {
		t.Errorf("%v; want %v", got, want)
	}
	if got, has := d.ok("search", `{"query": "transcrire une réunion", "price_max": 20}`)["constraints"]; has {
		t.Errorf("a request without constraints has %v", got)
	}
}

func TestAFormerIDLeadsToThePresentOne(t *testing.T) {
	got := open(t, assistant.Config{}).ok("fetch", `{"id": "moufle#verdict"}`)
	renamed := got["metadata"].(map[string]any)["renamed"]
	if got["id"] != "moufle-studio#verdict" || !reflect.DeepEqual(renamed, map[string]any{"moufle": "moufle-studio"}) {
		t.Errorf("%v, renamed %v", got["id"], renamed)
	}
}

func TestAToolThatIsAskedForTwiceHasOnePrice(t *testing.T) {
	if got := ids(open(t, assistant.Config{}).ok("prices", `{"tools": ["moufle", "moufle-studio", "dictaphrase", "moufle-studio"]}`)["prices"]); !slices.Equal(got, []string{"moufle-studio", "dictaphrase"}) {
		t.Errorf("%q", got)
	}
}

func TestAPriceIsGivenInItsOwnWordsToo(t *testing.T) {
	d := open(t, assistant.Config{})
	for name, arguments := range map[string]string{
		"fetch": `{"id":"ouistiti-ops"}`, "prices": `{"tools":["ouistiti-ops"]}`, "compare": `{"tools":["ouistiti-ops","cambouis"]}`,
		"search": `{"query":"ouistiti"}`,
	} {
		if said := fmt.Sprint(d.ok(name, arguments)); !strings.Contains(said, "price_display:97 $/mois") {
			t.Errorf("%s: %s", name, said)
		}
	}
}

func TestAConvertedChangeOfAPriceIsMarked(t *testing.T) {
	c := &catalog.Catalog{Name: "Essai", URL: "https://essai.example", Categories: []catalog.Category{{Slug: "c", Label: "C"}}}
	for slug, display := range map[string]string{"dollar": "20 $/mois", "euro": ""} {
		c.Tools = append(c.Tools, &catalog.Tool{
			Slug: slug, Name: slug, Category: "c", Pricing: catalog.Paid, Price: "18 €/mois", PriceDisplay: display,
			PriceHistory: []catalog.PriceChange{{ChangedAt: "2026-10-01", OldPricing: catalog.Paid, OldPrice: "9 €/mois", NewPricing: catalog.Paid, NewPrice: "18 €/mois"}},
		})
	}
	c.Sort()
	d := openOn(t, c, assistant.Config{})
	var changes []any
	for _, one := range rows(d.ok("prices", `{"tools": ["dollar", "euro"]}`), "prices") {
		tool := one.(map[string]any)
		changes = append(changes, map[string]any{"id": tool["id"], "converted": tool["history"].([]any)[0].(map[string]any)["converted"]})
	}
	for _, one := range changes {
		change := one.(map[string]any)
		if (change["converted"] == true) != (change["id"] == "dollar") {
			t.Errorf("%v", change)
		}
	}
	if len(changes) != 2 {
		t.Errorf("%v", changes)
	}
}

func TestASpentQuotaIsAReadableAnswer(t *testing.T) {
	now := time.Date(2026, 11, 15, 8, 0, 0, 0, time.UTC)
	meter, err := quota.New(t.Context(), quota.Config{
		Counters: quotatest.Counters{}, Now: func() time.Time { return now }, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	d := open(t, assistant.Config{Meter: meter, Quota: 3})
	for range 3 {
		d.ok("fetch", `{"id": "dictaphrase"}`)
		if _, err := d.session.ListTools(t.Context(), nil); err != nil { // which is free
			t.Fatal(err)
		}
	}
	answer, isError := d.call("fetch", `{"id": "dictaphrase"}`)
	if !isError || answer["reset_at"] != "2026-11-16T00:00:00Z" || !strings.Contains(answer["error"].(string), "quota") {
		t.Errorf("%v", answer)
	}
	network := quota.Subject{Tier: quota.Anonymous, Network: netip.MustParsePrefix("192.0.2.7/32")}
	if left := meter.Look(t.Context(), network).Remaining; left != 100 {
		t.Errorf("%d requests are left to the API", left)
	}
}

// post sends a request as it is; headers are "Name: value" lines.
func (d *desk) post(method, body string, headers ...string) *http.Response {
	d.t.Helper()
	r, err := http.NewRequestWithContext(d.t.Context(), method, d.url, strings.NewReader(body))
	if err != nil {
		d.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		if r.Header.Set(name, value); name == "Host" {
			r.Host = value
		}
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		d.t.Fatal(err)
	}
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		d.t.Fatal(err)
	}
	_ = resp.Body.Close()
	resp.Body = io.NopCloser(bytes.NewReader(text))
	return resp
}

func TestPagesOfAnyOriginMayAskButNotUnderAForeignName(t *testing.T) {
	const list = `{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}`
	d := open(t, assistant.Config{})
	if r := d.post("OPTIONS", "", "Origin: https://page.example"); r.StatusCode != 204 || !strings.Contains(r.Header.Get("Access-Control-Allow-Headers"), "Mcp-Method, Mcp-Name, MCP-Protocol-Version") {
		t.Errorf("%d %v", r.StatusCode, r.Header)
	}
	if r := d.post("POST", list, "Origin: https://page.example", "Host: autre.example"); r.StatusCode != 200 || r.Header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("%d %v", r.StatusCode, r.Header)
	}
	if r := d.post("POST", list, "Authorization: good"); r.StatusCode != 200 {
		t.Errorf("%d", r.StatusCode)
	}
	if r := d.post("POST", list, "Authorization: bad"); r.StatusCode != 401 || r.Header.Get("WWW-Authenticate") != "Bearer" {
		t.Errorf("%d %v", r.StatusCode, r.Header)
	}
	if r := d.post("GET", ""); r.StatusCode != 405 {
		t.Errorf("%d", r.StatusCode)
	}
	if r := d.post("POST", strings.Repeat(" ", 65<<10)+list); r.StatusCode != 413 {
		t.Errorf("%d", r.StatusCode)
	}
	if r := d.post("POST", "\n ["+list+"]"); r.StatusCode != 400 {
		t.Errorf("a batch: %d", r.StatusCode)
	}
	local := open(t, assistant.Config{Local: true})
	for host, want := range map[string]int{"autre.example": 403, "localhost:8080": 200, "[::1]:80": 200, "127.0.0.1": 200, "localhost.": 200, "LOCALHOST.:8080": 200, "localhost.autre.example": 403} {
		if r := local.post("POST", list, "Host: "+host); r.StatusCode != want {
			t.Errorf("%s: %d; want %d", host, r.StatusCode, want)
		}
	}
}

// column returns a value of each change.
func column(answer map[string]any, name string) (list []string) {
	for _, row := range rows(answer, "changes") {
		list = append(list, fmt.Sprint(row.(map[string]any)[name]))
	}
	return list
}

func TestChangesGoThroughTheChronicleInItsOrder(t *testing.T) {
	c := &catalog.Catalog{
		Name: "Essai", URL: "https://essai.example", Categories: []catalog.Category{{Slug: "c", Label: "C"}},
		Tools: []*catalog.Tool{{
			Slug: "a", Name: "A", Category: "c", Price: "2 €/mois", TestedAt: "2026-10-02",
			PriceHistory: []catalog.PriceChange{
				{ChangedAt: "2026-10-01", OldPrice: "1 €/mois", NewPrice: "2 €/mois"},
				{ChangedAt: "2026-09-01", OldPrice: "3 €/mois", NewPrice: "1 €/mois"},
			},
		}},
	}
	open := func(entries []catalog.Entry) *desk {
		snap := snapshot.Build(c, 3, "2026-11-17")
		snap.Entries = slices.Concat(entries, c.PastEntries())
		snap.Entries = snap.Entries[:min(len(snap.Entries), catalog.KeptEntries)]
		if err := snap.BuildIndex(t.Context()); err != nil {
			t.Fatal(err)
		}
		return connect(t, assistant.New(assistant.Config{
			Live: snapshot.Fixed(snap), Callers: authorize, Calls: assistant.NewCalls(),
			Log: slog.New(slog.DiscardHandler),
		}))
	}
	score := func(n int) catalog.Entry {
		return catalog.Entry{
			Kind: "outil", Slug: "a", First: "a", Name: "A", What: catalog.WhatScore, Field: fmt.Sprint(n),
			Old: "7", New: "8", Note: "Plus vite", Day: "2026-11-15", At: "2026-11-16T09:30:00.250Z", Position: int64(n),
		}
	}
	entries := []catalog.Entry{{
		Kind: "article", Slug: "x", First: "x", Name: "X", What: catalog.WhatText, New: "1", Note: "sponsored", Day: "2026-11-17",
		At: "2026-11-17T09:30:00.250Z", Position: 40,
	}}
	for n := 39; n > 2; n-- { // the first were merged since
		entries = append(entries, score(n))
	}
	entries[5].Withdrawn = true
	d := open(entries)
	var positions, whats []string
	answer := d.ok("changes", `{"since": "2026-09-30"}`)
	for calls := 1; ; calls++ {
		positions, whats = append(positions, column(answer, "position")...), append(whats, column(answer, "what")...)
		if answer["more"] == false {
			marked := column(answer, "sponsored")
			if calls < 2 || answer["next"] != 40.0 || marked[len(marked)-1] != "true" {
				t.Errorf("the last of %d answers is %v", calls, answer)
			}
			break
		}
		answer = d.ok("changes", fmt.Sprintf(`{"since": "2026-09-30", "after": %v}`, answer["next"]))
	}
	want := []string{"0", "0"}
	for n := 3; n <= 40; n++ {
		if n != 35 {
			want = append(want, fmt.Sprint(n))
		}
	}
	if !slices.Equal(positions, want) || !slices.Equal(whats[:3], []string{"price", "test", "score"}) {
		t.Errorf("%q %q", positions, whats)
	}
	past := score(41) // which a tool that is new has had
	past.What, past.At, past.Day = catalog.WhatPrice, "", "2025-05-01"
	for arguments, want := range map[string]int{`{"since": "2025-01-01", "after": 39}`: 2, `{"since": "2026-01-01", "after": 39}`: 1, `{"after": 39}`: 1} {
		if got := rows(open(append([]catalog.Entry{past}, entries...)).ok("changes", arguments), "changes"); len(got) != want {
			t.Errorf("%s: %v; want %d", arguments, got, want)
		}
	}
	last := column(d.ok("changes", `{"since": "2026-11-17", "after": 2}`), "title")
	if !slices.Equal(last, []string{"Article sponsorisé publié\u00a0: X"}) {
		t.Errorf("since the last day: %q", last)
	}
	row, _ := rows(d.ok("changes", `{"after": 38}`), "changes")[0].(map[string]any)
	if diff := cmp.Diff(map[string]any{
		"entry": "outil/a/score/39/2026-11-15", "position": 39.0, "what": "score", "kind": "outil", "id": "a",
		"name": "A", "url": "https://essai.example/outils/a", "day": "2026-11-15", "field": "39",
		"old": "7", "new": "8", "title": "A\u00a0: note 7,0 → 8,0", "note": "Plus vite",
	}, row); diff != "" {
		t.Error(diff)
	}

	entries = nil
	for n := 100 + catalog.KeptEntries; n > 100; n-- {
		entries = append(entries, score(n))
	}
	d = open(entries)
	gone, isError := d.call("changes", `{"after": 99}`)
	if !isError || !strings.Contains(fmt.Sprint(gone["error"]), "/data/v1/changes") {
		t.Errorf("after what is no longer kept: %v", gone)
	}
	if got := column(d.ok("changes", `{"after": 100}`), "position"); len(got) == 0 || got[0] != "101" {
		t.Errorf("after the first that is kept: %q", got)
	}
}

func TestASearchNeedsNoWords(t *testing.T) {
	d := open(t, assistant.Config{})
	for arguments, want := range map[string]func(row map[string]any) bool{
		`{"sort": "price", "score_min": 7, "category": "code"}`:                               func(row map[string]any) bool { return row["score"].(float64) >= 7 },
		`{"usage": "Relier deux services"}`:                                                   func(row map[string]any) bool { return row["id"] != "" },
		`{"category": "https://essai.example/categories/automatisation", "limit": 20}`:        func(row map[string]any) bool { return row["id"] != "" },
		`{"exclude_category": "Automatisation", "pricing": "gratuit"}`:                        func(row map[string]any) bool { return row["euros_per_month"] == 0.0 || row["price"] != "" },
		`{"alternatives_to": "Hélice Flux"}`:                                                  func(row map[string]any) bool { return row["id"] != "helice-flux" },
		`{"alternatives_to": "https://essai.example/outils/tuyauterie", "sort": "relevance"}`: func(row map[string]any) bool { return row["id"] != "tuyauterie" },
	} {
		results := rows(d.ok("search", arguments), "results")
		for _, row := range results {
			if !want(row.(map[string]any)) {
				t.Errorf("%s: %v", arguments, row)
			}
		}
		if len(results) == 0 {
			t.Errorf("%s finds nothing", arguments)
		}
	}
	last := -1.0
	for _, row := range rows(d.ok("search", `{"sort": "price", "category": "code", "limit": 20}`), "results") {
		euros, isMonthly := row.(map[string]any)["euros_per_month"].(float64)
		if isMonthly && euros < last || !isMonthly && last < 0 {
			t.Errorf("%v after %v €", row, last)
		}
		last = 1e9
		if isMonthly {
			last = euros
		}
	}
}

func TestCategoriesHaveTheirUsagesAndCriteria(t *testing.T) {
	d := open(t, assistant.Config{})
	var got []string
	d.each("categories", `{"next": %v}`, 0, func(answer map[string]any) {
		for _, row := range rows(answer, "categories") {
			one := row.(map[string]any)
			got = append(got, one["id"].(string))
			if len(rows(one, "usages")) == 0 || len(rows(one, "criteria")) == 0 || one["tools"].(float64) < 1 {
				t.Errorf("%v", one)
			}
		}
	})
	if len(got) != 9 || !slices.IsSorted(got) {
		t.Errorf("%q", got)
	}
	one := rows(d.ok("categories", `{"category": "Agents autonomes"}`), "categories")
	text := fmt.Sprint(one)
	if len(one) != 1 || !strings.Contains(text, "label:Erreurs non signalées") || !strings.Contains(text, "better:lower") || !strings.Contains(text, "unit:%") {
		t.Errorf("%v", one)
	}
}

func TestWhatATestFoundIsInResponses(t *testing.T) {
	d := open(t, assistant.Config{})
	found := d.ok("fetch", `{"id": "Babilune"}`)["metadata"].(map[string]any)
	for _, field := range []string{"summary", "pros", "cons", "usages", "criteria", "tested_version", "tested_plan", "access", "euros_per_month"} {
		if found[field] == nil {
			t.Errorf("fetch has no %s: %v", field, found)
		}
	}
	for _, row := range rows(d.ok("compare", `{"tools": ["babilune", "murmurine"]}`), "tools") {
		if tool := row.(map[string]any); tool["summary"] == nil || tool["criteria"] == nil {
			t.Errorf("compare has no test: %v", tool)
		}
	}
}
