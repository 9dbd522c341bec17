package site_test

import (
	"fmt"
	"html"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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

// eventRow is the row of an event in the tables of the guides.
var eventRow = regexp.MustCompile("(?m)^\\| `([a-z]+\\.[a-z]+)` \\|")

func TestTheGuidesListExactlyTheEventsThatExist(t *testing.T) {
	want := append(slices.Clone(webhook.Types), webhook.Ping)
	guide, err := os.ReadFile("../../docs/webhooks.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"docs/webhooks.md": string(guide), "/docs/webhooks.md": openDemo(t).get("/docs/webhooks.md").ok().body} {
		var got []string
		for _, row := range eventRow.FindAllStringSubmatch(text, -1) {
			if !strings.HasPrefix(row[1], "data.") {
				got = append(got, row[1])
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s lists %q, want %q", name, got, want)
		}
	}
}

// escaped returns text as html/template writes it.
func escaped(text string) string {
	return strings.ReplaceAll(html.EscapeString(text), "+", "&#43;")
}

func TestTheRetryTableIsTheSchedule(t *testing.T) {
	source := strings.ReplaceAll(openDemo(t).get("/docs/webhooks.md").ok().body, "\u00a0", " ")
	_, table, _ := strings.Cut(source, "| tentative | après la précédente | en tout |\n|---|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	want, sum := []string{"| 1 | aussitôt |  |"}, time.Duration(0)
	for i, delay := range webhook.DefaultSchedule()[1:] {
		sum += delay
		want = append(want, fmt.Sprintf("| %d | %s | %s |", i+2, waited(delay), waited(sum)))
	}
	if diff := cmp.Diff(want, strings.Split(table, "\n")); diff != "" {
		t.Errorf("(-want +got): %s", diff)
	}
}

// waited formats a delay by its two largest units.
func waited(d time.Duration) string {
	units := []struct {
		length time.Duration
		name   string
	}{{24 * time.Hour, "j"}, {time.Hour, "h"}, {time.Minute, "min"}, {time.Second, "s"}}
	var parts []string
	for _, unit := range units {
		if n := d / unit.length; n > 0 && len(parts) < 2 && (unit.name != "j" || n > 1) {
			parts = append(parts, fmt.Sprintf("%d %s", n, unit.name))
			d %= unit.length
		}
	}
	return strings.Join(parts, " ")
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
