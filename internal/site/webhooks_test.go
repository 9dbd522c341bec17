package site_test

import (
	"html"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"palmares/internal/catalog"
	"palmares/internal/webhook"
)

func TestTheWebhookPageShowsEveryEventAndEveryReceiver(t *testing.T) {
	v := openDemo(t)
	page, source := v.get("/docs/webhooks").ok(), v.get("/docs/webhooks.md").ok()
	for _, example := range webhook.Examples() {
		page.says("<td><code>"+example.Type+"</code></td>", "<summary><code>"+example.Type+"</code></summary>", escaped(example.Body))
		source.says("| `"+example.Type+"` |", "```json\n"+example.Body+"\n```")
	}
	if n := strings.Count(page.body, "<summary><code>"); n != len(webhook.Types)+1 {
		t.Errorf("%d examples of %d types", n, len(webhook.Types)+1)
	}
	for name, fence := range map[string]string{"receiver.go": "go", "receiver.mjs": "js", "receiver.py": "python"} {
		code, err := os.ReadFile("../../tools/webhooks/examples/" + name)
		if err != nil {
			t.Fatal(err)
		}
		page.says(escaped(string(code)))
		source.says("```" + fence + "\n" + string(code) + "```")
	}
}

// escaped returns text as html/template writes it.
func escaped(text string) string {
	return strings.ReplaceAll(html.EscapeString(text), "+", "&#43;")
}

func TestTheRetryTableIsTheSchedule(t *testing.T) {
	v := openDemo(t)
	source := v.get("/docs/webhooks.md").ok()
	rows := []string{"| 1 | aussitôt |  |", "| 2 | 5 s | 5 s |", "| 3 | 5 min | 5 min 5 s |", "| 4 | 30 min | 35 min 5 s |"}
	rows = append(rows, "| 5 | 2 h | 2 h 35 min |", "| 6 | 5 h | 7 h 35 min |", "| 7 | 10 h | 17 h 35 min |", "| 8 | 14 h | 31 h 35 min |", "| 9 | 20 h | 2 j 3 h |", "| 10 | 24 h | 3 j 3 h |")
	if len(rows) != len(webhook.DefaultSchedule()) {
		t.Errorf("%d rows for %d attempts", len(rows), len(webhook.DefaultSchedule()))
	}
	for _, row := range rows {
		if !strings.Contains(strings.ReplaceAll(source.body, "\u00a0", " "), row+"\n") {
			t.Errorf("the table lacks %s", row)
		}
	}
}

func TestTheWebhookPageNamesEveryOutcome(t *testing.T) {
	guide, err := os.ReadFile("../../docs/webhooks.md")
	if err != nil {
		t.Fatal(err)
	}
	source := openDemo(t).get("/docs/webhooks.md").ok()
	for _, outcome := range []webhook.Outcome{webhook.OK, webhook.HTTPStatus, webhook.Timeout, webhook.Resolve, webhook.Connect, webhook.TLS, webhook.Blocked, webhook.Secret} {
		row := "\n| `" + string(outcome) + "` | "
		source.says(row)
		if !strings.Contains(string(guide), row) {
			t.Errorf("docs/webhooks.md lacks %q", row)
		}
	}
	if breaks := regexp.MustCompile(`\d (ko|secondes|heures|jours)\b`).FindAllString(source.body, -1); breaks != nil {
		t.Errorf("a line may break in %q", breaks)
	}
}

func TestAPublisherWhoHidesProHidesTheWebhookPage(t *testing.T) {
	c := small()
	c.Settings.Pro = catalog.ProHide
	v := open(t, c)
	v.get("/docs/webhooks").answers(404)
	v.get("/docs/webhooks.md").answers(404)
	for _, path := range []string{"/", "/sitemap.xml", "/llms.txt", "/docs", "/docs.md", "/tarifs"} {
		v.get(path).ok().saysNot("/docs/webhooks")
	}
	c = small()
	v = open(t, c)
	if got := v.get("/sitemap.xml").ok().body; !slices.Contains(strings.FieldsFunc(got, func(r rune) bool { return r == '<' || r == '>' }), "https://essai.example/docs/webhooks") {
		t.Error("the page is not in the sitemap")
	}
}
