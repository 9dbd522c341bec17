package assistant_test

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"palmares/internal/assistant"
)

func TestAToolIsKnownByItsNameAndItsAddresses(t *testing.T) {
	d := open(t, assistant.Config{BaseURL: "http://localhost:19400/"})
	for asked, want := range map[string]string{
		"http://localhost:19400/avis/grenier-sql#verdict": "grenier-sql#verdict", "/outils/grenier-sql": "grenier-sql",
		"/avis/grenier-sql.md#verdict": "grenier-sql#verdict", "/outils/moufle": "moufle-studio",
		"Grenier SQL": "grenier-sql", " grenier sql ": "grenier-sql", "GRENIER-SQL#verdict": "grenier-sql#verdict",
		"https://essai.example/outils/grenier-sql":                     "grenier-sql",
		"http://essai.example/alternatives/grenier-sql/":               "grenier-sql",
		"https://essai.example/avis/grenier-sql.md?utm_source=x":       "grenier-sql",
		"https://essai.example/avis/grenier-sql#verdict":               "grenier-sql#verdict",
		"https://essai.example/outils/moufle":                          "moufle-studio",
		d.ok("fetch", `{"id": "moufle-studio"}`)["url"].(string):       "moufle-studio",
		d.ok("fetch", `{"id": "grenier-sql#verdict"}`)["url"].(string): "grenier-sql#verdict",
	} {
		got := d.ok("fetch", fmt.Sprintf(`{"id": %q}`, asked))
		renamed := got["metadata"].(map[string]any)["renamed"]
		if got["id"] != want || (renamed != nil) != strings.HasSuffix(asked, "/moufle") {
			t.Errorf("%q is %v, renamed %v; want %s", asked, got["id"], renamed, want)
		}
	}
	if got := ids(d.ok("compare", `{"tools": ["Grenier SQL", "https://essai.example/outils/dictaphrase"]}`)["tools"]); !slices.Equal(got, []string{"grenier-sql", "dictaphrase"}) {
		t.Errorf("%q", got)
	}
}

func TestWhatIsKnownIsComparedAndPricedThoughOneIDIsNot(t *testing.T) {
	d := open(t, assistant.Config{})
	for tool, list := range map[string]string{"compare": "tools", "prices": "prices"} {
		got := d.ok(tool, `{"tools": ["grenier-sql", "mandibul", "dictaphrase"]}`)
		unknown, _ := got["unknown"].([]any)
		if shown := ids(got[list]); !slices.Equal(shown, []string{"grenier-sql", "dictaphrase"}) || len(unknown) != 1 {
			t.Fatalf("%s: %q, %v", tool, shown, unknown)
		}
		one := unknown[0].(map[string]any)
		if text, _ := one["error"].(string); one["id"] != "mandibul" || !strings.Contains(text, "Les plus proches\u00a0: mandibule") {
			t.Errorf("%s: %v", tool, one)
		}
		if got := d.ok(tool, `{"tools": ["grenier-sql", "dictaphrase"]}`); got["unknown"] != nil {
			t.Errorf("%s: %v", tool, got["unknown"])
		}
	}
}

func TestTheServerHasTheNameOfTheCatalogue(t *testing.T) {
	c := *demoCatalogue()
	c.Name = "Le Banc d’essai"
	d := openOn(t, &c, assistant.Config{})
	if got := d.session.InitializeResult(); got.ServerInfo.Title != c.Name || !strings.HasPrefix(got.Instructions, c.Name+"\u00a0: un catalogue") {
		t.Errorf("%+v, %s", got.ServerInfo, got.Instructions)
	}
}

func TestMethodsOfUndeclaredCapabilitiesAreNotFound(t *testing.T) {
	d := open(t, assistant.Config{})
	for method, params := range map[string]string{
		"prompts/list": `{}`, "prompts/get": `{"name":"x"}`, "resources/list": `{}`, "resources/templates/list": `{}`,
		"resources/read": `{"uri":"x:y"}`, "resources/subscribe": `{"uri":"x:y"}`, "logging/setLevel": `{"level":"info"}`,
		"completion/complete": `{"ref":{"type":"ref/prompt","name":"x"},"argument":{"name":"a","value":"b"}}`,
	} {
		r := d.post("POST", fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params))
		body, err := io.ReadAll(r.Body)
		if err != nil || !strings.Contains(string(body), `"code":-32601`) {
			t.Errorf("%s: %s, %v", method, body, err)
		}
	}
}
