package site_test

import (
	"testing"

	"palmares/internal/site"
	"palmares/internal/snapshot"
)

func TestSamplesCallThePublicURL(t *testing.T) {
	v := listen(t, site.Config{BaseURL: "https://api.essai.example", Demo: func(*snapshot.Snapshot) bool { return false }})
	v.publish(small(), 1)
	v.get("/docs").ok().says(
		"curl &#39;https://api.essai.example/api/v1/tools?category=chat&amp;score_min=8&#39;",
		"https://api.essai.example/api/v1/comparatifs/abeille-vs-bourdon",
		`BASE = &#34;https://api.essai.example&#34;`, `CREDIT = &#34;Source : Essai (https://essai.example)&#34;`, `<input id="essai.getTool.slug" name="slug" data-in="path" type="text" required value="abeille"`,
	)
	v.get("/llms.txt").ok().says("(https://api.essai.example/outils.md)")
}

func TestTheReferenceLinksToTheAccountAndWebhooks(t *testing.T) {
	v := openDemo(t)
	v.get("/tarifs").ok().says(`<a href="/docs/webhooks">Webhooks signés</a>`, `<a href="/compte">Créer un compte</a>`)
	v.get("/docs").ok().says(`<a href="/compte">ouvrez un compte</a>`, `<a href="/webhooks/v1/openapi.json">document OpenAPI</a>`, `<a href="/docs/webhooks">`, "<code>comparatif.unpublished</code>, <code>embeddings.updated</code>")
	v.get("/docs.md").ok().says("/compte", "/webhooks/v1/openapi.json", "`tool.created`, `tool.updated`")
}

func TestTheReferenceIgnoresParameters(t *testing.T) {
	v := openDemo(t)
	tag := v.get("/docs?a=1").ok().header.Get("ETag")
	v.get("/docs").ok().is("ETag", tag)
	v.get("/docs.md?a=1").ok().is("Content-Type", "text/markdown; charset=utf-8")
}
