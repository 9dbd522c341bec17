package webhook_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"palmares/internal/catalog"
	"palmares/internal/webhook"
)

func TestTheBodyOfAnEvent(t *testing.T) {
	at := time.Date(2026, 11, 16, 10, 30, 0, 250_999_999, time.FixedZone("CET", 3600))
	long := strings.Repeat("x", 20_000)
	const head = `{"id":"evt_1","type":"tool.updated","timestamp":"2026-11-16T09:30:00.250Z","sequence":7,"data":{`
	for name, test := range map[string]struct {
		change catalog.Change
		want   string
	}{
		"a change of a record": {
			catalog.Change{Slug: "a", URL: "https://x.example/a", Object: catalog.PriceItem{Slug: "a"}, Changed: []string{"name"}, Previous: map[string]any{"name": "A"}},
			`"slug":"a","changed":["name"],"previous":{"name":"A"},"object":{"slug":"a","name":"","pricing":"","price":""},"url":"https://x.example/a"}}`,
		},
		"without slug and fields": {
			catalog.Change{URL: "https://x.example", Object: catalog.Counts{"tool.updated": 1}},
			`"changed":[],"previous":{},"object":{"tool.updated":1},"url":"https://x.example"}}`,
		},
		"a reason": {
			catalog.Change{Slug: "a", Reason: catalog.EmbeddingsLeft, URL: "u"},
			`"slug":"a","reason":"left","changed":[],"previous":{},"object":null,"url":"u"}}`,
		},
		"too large for its object": {
			catalog.Change{Slug: "a", URL: "u", Object: catalog.StoredObject{"body": long}, Changed: []string{"body"}, Previous: map[string]any{"body": long}},
			`"slug":"a","changed":["body"],"previous":null,"object":null,"url":"u"}}`,
		},
	} {
		test.change.Type = "tool.updated"
		if got := string(webhook.EventBody("evt_1", at, 7, &test.change)); got != head+test.want {
			t.Errorf("%s:\ngot  %s\nwant %s", name, got, head+test.want)
		}
	}
}

func TestABodyOver20kBCarriesNoObject(t *testing.T) {
	c := catalog.Change{Type: catalog.ToolUpdated, Slug: "a", Changed: []string{"tagline"}, URL: "https://x.example"}
	for _, long := range []bool{false, true} {
		c.Object = catalog.ToolItem{Slug: "a", Tagline: strings.Repeat("x", 19_000)}
		c.Previous = map[string]any{"tagline": "y"}
		if long {
			c.Previous["tagline"] = strings.Repeat("y", 1000)
		}
		body := webhook.EventBody("evt_1", time.Date(2026, 11, 16, 9, 30, 0, 250_000_000, time.UTC), 7, &c)
		if without := bytes.HasSuffix(body, []byte(`"data":{"slug":"a","changed":["tagline"],"previous":null,"object":null,"url":"https://x.example"}}`)); without != long || len(body) > 20_000 {
			t.Errorf("a body of %d bytes without object: %v; want %v", len(body), without, long)
		}
	}
}
