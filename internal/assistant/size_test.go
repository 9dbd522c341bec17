package assistant_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"palmares/internal/assistant"
	"palmares/internal/catalog"
	"palmares/internal/markdown"
	"palmares/internal/testkit"
)

// verbose returns a catalogue in which everything is long.
func verbose() *catalog.Catalog {
	c := &catalog.Catalog{Name: "Essai", Categories: []catalog.Category{{Slug: "code", Label: "Code"}}}
	for i := range 10 {
		t := &catalog.Tool{
			Slug: fmt.Sprintf("outil-%d-%s", i, strings.Repeat("x", 80)), Name: fmt.Sprintf("Outil %d ", i) + strings.Repeat(`é"`, 200),
			Category: "code", ICP: catalog.EveryICP, Pricing: "payant", Price: "19,99 €/mois", Tagline: strings.Repeat(`Un outil "verbeux" `, 60), Tier: 1,
			UpdatedAt: "2026-11-01", TestedAt: "2026-11-01", PriceCheckedAt: "2026-11-01",
			Summary: strings.Repeat(`Il "dure". `, 27), Interests: strings.Repeat("é", 300), TestedVersion: strings.Repeat("é", 100), TestedPlan: strings.Repeat("é", 100),
			Protocol: strings.Repeat("é", 100), Access: "offered",
			PriceSource: "https://essai.example/" + strings.Repeat("x", 500), PriceQuote: "19,99 € " + strings.Repeat("é", 290),
		}
		for n := range 3 {
			t.Announced = append(t.Announced, catalog.Announcement{
				From: fmt.Sprintf("210%d-01-01", n), Pricing: "payant", Price: "19,99 €/mois", PriceSource: t.PriceSource, PriceQuote: t.PriceQuote,
			})
		}
		now := catalog.FormatTime(time.Now())
		c.Proofs = append(c.Proofs, catalog.Proof{Slug: t.Slug, URL: t.PriceSource, Quote: t.PriceQuote, Result: catalog.Confirmed, CheckedAt: now, ConfirmedAt: now})
		for n := range 8 {
			t.Pros = append(t.Pros, fmt.Sprint(n, strings.Repeat(` "oui"`, 100)))
			t.Cons = append(t.Cons, fmt.Sprint(n, strings.Repeat(` "non"`, 100)))
		}
		for n := range 12 {
			t.Criteria = append(t.Criteria, catalog.Value{Name: fmt.Sprintf("critere-%02d-%s", n, strings.Repeat("x", 20)), Number: 123456.789})
		}
		for n := range 40 {
			t.Plans = append(t.Plans, catalog.PlanRow{Name: fmt.Sprintf("Formule %d-%d", i, n), Price: "19,99 €/mois", Note: strings.Repeat("à l’année, ", 8)})
		}
		for n := range 60 {
			day := fmt.Sprintf("2024-%02d-%02d", 12-n/28, 28-n%28)
			t.PriceHistory = append(t.PriceHistory, catalog.PriceChange{ChangedAt: day, OldPricing: "payant", OldPrice: "9 €/mois", NewPricing: "payant", NewPrice: fmt.Sprintf("%d,%d €/mois", n+10, i)})
		}
		c.Tools = append(c.Tools, t)
	}
	var body strings.Builder
	for n := range 50 {
		fmt.Fprintf(&body, "## Une section numéro %d sur un sujet dont il y a beaucoup à dire\n\n%s\n\n", n, strings.Repeat("Il y a \"beaucoup\" à dire.\n", 1+n%5*60))
	}
	c.Tools[0].Body = body.String()
	for i := range 5 {
		for j := range i {
			a, b := c.Tools[j].Slug, c.Tools[i].Slug
			c.Comparisons = append(c.Comparisons, catalog.Comparison{
				Slug: fmt.Sprintf("duel-%d-%d", j, i), Title: strings.Repeat("Duel ", 80), ToolA: a, ToolB: b, Winner: a,
				WinnerNote: strings.Repeat("Il est \"meilleur\". ", 60), Published: true, UpdatedAt: "2026-11-01", Body: "Duel.",
			})
		}
	}
	c.Sort()
	return c
}

// slugs returns the first slugs of a catalogue as JSON.
func slugs(c *catalog.Catalog, n int) string {
	var list []string
	for i := range n {
		list = append(list, c.Tools[i].Slug)
	}
	b, _ := json.Marshal(list)
	return string(b)
}

// each calls a tool until there is no next, which format takes, and passes on the answers.
func (d *desk) each(name, format string, first any, do func(answer map[string]any)) {
	d.t.Helper()
	calls := 0
	for next := first; next != nil; calls++ {
		answer := d.ok(name, fmt.Sprintf(format, next))
		do(answer)
		if next = answer["next"]; calls > 1000 {
			d.t.Fatalf("%s never ends", name)
		}
	}
	if calls < 2 {
		d.t.Errorf("%s has all in one answer, so nothing is tested", name)
	}
}

func rows(of map[string]any, key string) []any {
	list, _ := of[key].([]any)
	return list
}

func TestALongComparisonGoesOnWithNext(t *testing.T) {
	c := verbose()
	var plans, verdicts []string
	openOn(t, c, assistant.Config{}).each("compare", `{"tools": `+slugs(c, 5)+`, "next": %v}`, 0, func(answer map[string]any) {
		for _, tool := range answer["tools"].([]any) {
			for _, plan := range rows(tool.(map[string]any), "plans") {
				plans = append(plans, plan.(map[string]any)["name"].(string))
			}
		}
		for _, v := range rows(answer, "verdicts") {
			verdicts = append(verdicts, v.(map[string]any)["url"].(string))
		}
	})
	var want []string
	for _, tool := range c.Tools[:5] {
		for _, plan := range tool.Plans {
			want = append(want, plan.Name)
		}
	}
	if !slices.Equal(plans, want) || len(slices.Compact(verdicts)) != 10 {
		t.Errorf("%d plans and %d verdicts; want %d and 10", len(plans), len(verdicts), len(want))
	}
}

func TestALongHistoryOfPricesGoesOnWithNext(t *testing.T) {
	c := verbose()
	d := openOn(t, c, assistant.Config{})
	var got []string
	note := func(change any) { got = append(got, change.(map[string]any)["new_price"].(string)) }
	d.each("prices", `{"tools": `+slugs(c, 10)+`, "next": %v}`, 0, func(answer map[string]any) {
		for _, tool := range answer["prices"].([]any) {
			if p := tool.(map[string]any); !strings.HasPrefix(fmt.Sprint(p["freshness"]), "confirmé le 2") || !strings.HasPrefix(fmt.Sprint(p["quote"]), "19,99 € é") {
				t.Errorf("the price is known by %q: %q", p["freshness"], p["quote"])
			}
			history := rows(tool.(map[string]any), "history")
			if len(history) == 0 {
				t.Error("a tool is shown without any of its history")
			}
			for _, change := range history {
				note(change)
			}
		}
	})
	var want []string
	for _, tool := range c.Tools {
		for _, change := range tool.PriceHistory {
			want = append(want, change.NewPrice)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%d changes of prices; want %d, each once and in order", len(got), len(want))
	}
}

func TestALongReviewIsReadToItsEndByNext(t *testing.T) {
	c := verbose()
	tool := c.Tools[0]
	read, pieces := "", 0
	openOn(t, c, assistant.Config{}).each("fetch", `{"id": %q}`, tool.Slug, func(answer map[string]any) {
		read += answer["text"].(string)
		pieces++
	})
	want := ""
	for _, s := range markdown.Sections(tool.Body) {
		want += s.Text
	}
	bare := strings.NewReplacer("\n", "", " ", "").Replace
	if bare(read) != bare(want) {
		t.Errorf("%d bytes in %d pieces; want %d", len(read), pieces, len(want))
	}
}

func TestALongListOfHitsGoesOnWithNext(t *testing.T) {
	seen := map[string]bool{}
	openOn(t, verbose(), assistant.Config{}).each("search", `{"query": "outil verbeux", "limit": 20, "next": %v}`, 0, func(answer map[string]any) {
		for _, id := range ids(answer["results"]) {
			seen[id] = true
		}
	})
	if len(seen) != 10 {
		t.Errorf("%d tools; want 10", len(seen))
	}
}

// FuzzAnyArgumentsAreAnswered sends arguments as they are to each tool.
func FuzzAnyArgumentsAreAnswered(f *testing.F) {
	log := &testkit.Log{}
	long := verbose()
	handler := handlerOf(f, long, assistant.Config{Log: slog.New(slog.NewTextHandler(log, nil))})
	for _, arguments := range []string{
		``, `{}`, `null`, `[]`, `{"query": "outil", "limit": 20, "next": 3}`, `{"query": "outil à moins de 20 €", "price_max": 1e308, "pricing": "gratuit"}`,
		`{"query": "\ud800", "category": "code"}`, `{"query": null}`, `{"query": "a", "next": 9223372036854775807}`,
		`{"id": "outil-1-x#a@1"}`, `{"id": "` + long.Tools[0].Slug + `#introduction@0005"}`, `{"id": "#@"}`, `{"id": "` + strings.Repeat("é", 9000) + `"}`,
		`{"tools": ` + slugs(long, 5) + `}`, `{"tools": ` + slugs(long, 5) + `, "next": 9223372036854775807}`, `{"tools": ["a", null]}`,
		`{"since": "2024-02-30"}`, `{"since": "2024-02-29", "next": 700}`, `{"after": -1}`, `{"after": 1e3}`, `{"after": 2, "since": null}`,
	} {
		f.Add(arguments)
	}
	f.Fuzz(func(t *testing.T, arguments string) {
		for _, name := range []string{"search", "fetch", "compare", "prices", "changes"} {
			body := `{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "` + name + `"`
			if arguments != "" {
				body += `, "arguments": ` + arguments
			}
			r := httptest.NewRequest("POST", assistant.Path, strings.NewReader(body+"}}"))
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Accept", "application/json, text/event-stream")
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, r)
			checkReply(t, name+" "+arguments, w)
		}
		if log.Contains("panicked") {
			t.Errorf("%s", log)
		}
	})
}

// checkReply requires an answer that fits, or one that says that a request is none.
func checkReply(t *testing.T, call string, w *httptest.ResponseRecorder) {
	t.Helper()
	var reply struct {
		Error  *struct{ Message string }
		Result struct {
			Content           []struct{ Text string }
			StructuredContent json.RawMessage
			IsError           bool
		}
	}
	if w.Code >= 400 && w.Code < 500 {
		return // not a request of the protocol, or too long
	}
	if err := json.Unmarshal(w.Body.Bytes(), &reply); err != nil || w.Code != 200 {
		t.Fatalf("%s: %d %s", call, w.Code, w.Body)
	}
	if reply.Error != nil {
		return
	}
	if len(reply.Result.Content) != 1 {
		t.Fatalf("%s: %s", call, w.Body)
	}
	text := reply.Result.Content[0].Text
	var object, same any
	if err := errors.Join(json.Unmarshal([]byte(text), &same), json.Unmarshal(reply.Result.StructuredContent, &object)); err != nil || !reflect.DeepEqual(object, same) {
		t.Errorf("%s: the text is %s, the object %s", call, text, reply.Result.StructuredContent)
	}
	if len(text) > 6000 || !strings.Contains(text, "Source : Essai") {
		t.Errorf("%s: %d bytes: %s", call, len(text), text)
	}
}
