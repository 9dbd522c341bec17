package site_test

import (
	"testing"

	"palmares/internal/api"
	"palmares/internal/catalog"
	"palmares/internal/markdown"
	"palmares/internal/reference"
	"palmares/internal/site"
	"palmares/internal/snapshot"
)

func TestSamplesCallThePublicURL(t *testing.T) {
	v := listen(t, site.Config{BaseURL: "https://api.essai.example", Demo: func(*snapshot.Snapshot) bool { return false }})
	v.publish(small(), 1)
	v.get("/docs").ok().says("curl &#39;https://api.essai.example/api/v1/tools?limit=1&#39;")
	v.get("/docs/comparatifs").ok().says("https://api.essai.example/api/v1/comparatifs/abeille-vs-bourdon")
	v.get("/docs/embeddings").ok().says(`BASE = &#34;https://api.essai.example&#34;`, `CREDIT = &#34;Source : Essai (https://essai.example)&#34;`)
	guide := v.get("/docs/donnees").ok().says("curl -s &#39;https://api.essai.example/data/v1/search?")
	for _, kind := range catalog.KindNames(catalog.Kinds) {
		guide.says("<code>" + kind + "</code>")
	}
	v.get("/docs").ok().says("<code>/data/v1/changes</code>")
	v.get("/tarifs.md").ok().says("| Developer | gratuit")
	v.get("/docs/assistants").ok().says("https://api.essai.example/mcp")
	v.get("/docs/outils").ok().says(
		"curl &#39;https://api.essai.example/api/v1/tools?category=chat&amp;score_min=8&#39;", `<input id="essai.getTool.slug" name="slug" data-in="path" type="text" required value="abeille"`,
	)
	v.get("/llms.txt").ok().says("(https://api.essai.example/outils.md)")
}

func TestTheReferenceLinksToTheAccountAndWebhooks(t *testing.T) {
	v := openDemo(t)
	v.get("/tarifs").ok().says(`<a href="/docs/webhooks">Webhooks signés</a>`, `<a href="/compte">Créer un compte</a>`)
	v.get("/docs").ok().says(`<a href="/compte">ouvrez un compte</a>`, `<a href="/webhooks/v1/openapi.json">document OpenAPI</a>`, `<a href="/docs/webhooks">`)
	v.get("/docs.md").ok().says("/compte", "/webhooks/v1/openapi.json", "(/docs/webhooks.md)")
}

func TestTheReferenceIgnoresParameters(t *testing.T) {
	v := openDemo(t)
	tag := v.get("/docs?a=1").ok().header.Get("ETag")
	v.get("/docs").ok().is("ETag", tag)
	v.get("/docs.md?a=1").ok().is("Content-Type", "text/markdown; charset=utf-8")
}

func TestTheDocumentationNamesEveryOpenAddress(t *testing.T) {
	v := openDemo(t)
	addresses := []string{"/data/v1/search", "/data/v1/records", "/data/v1/history", "/data/v1/changes", "/data/v1/export", "/docs/donnees", "/docs/assistants"}
	v.get("/docs").ok().says(addresses...)
	v.get("/docs.md").ok().says(addresses...)
	v.get("/docs/donnees").ok().says("/data/v1/embeddings", "/data/v1/schema", "foreign_cursor", "euros_per_month")
	v.get("/docs/assistants").ok().says("<code>search</code>", "<code>fetch</code>", "<code>compare</code>", "<code>prices</code>", "<code>changes</code>", "mcpServers")
	off := small()
	off.Settings.Dataset = catalog.DatasetOff
	v = open(t, off)
	v.get("/docs/donnees").answers(404)
	for _, path := range []string{"/docs", "/docs.md", "/docs/outils", "/docs/outils.md", "/docs/description", "/docs/description.md", "/docs/erreurs"} {
		v.get(path).ok().saysNot("/data/v1/export", "l’export", "API Palmarès")
	}
	v.get("/docs").ok().says("/data/v1/search").saysNot("/data/v1/records", "/docs/donnees")
}

func TestEveryPageOfTheDocumentationIsListed(t *testing.T) {
	v := openDemo(t)
	addresses := &markdown.Addresses{Catalog: small()}
	sitemap, llms := v.get("/sitemap.xml").ok(), v.get("/llms.txt").ok()
	llms.saysNot(" ;", " ?", " !")
	paths := []string{"/docs/webhooks", "/docs/donnees", "/docs/assistants"}
	for _, p := range reference.New(api.Document()).Pages() {
		paths = append(paths, p.Path)
	}
	for _, path := range paths {
		sitemap.says("<loc>" + v.url + path + "</loc>")
		llms.says(v.url + path + ".md)")
		v.get(path).ok()
		if _, reason := addresses.In("").Link(path); reason != nil {
			t.Errorf("a text cannot link to %s: %s", path, reason)
		}
	}
}
