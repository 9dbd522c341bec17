package site_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"palmares/internal/catalog"
	"palmares/internal/dataset"
	"palmares/internal/record"
	"palmares/internal/site"
	"palmares/internal/snapshot"
)

// openExports serves a catalogue with a feed, whose export can be written.
func openExports(t *testing.T, c *catalog.Catalog) (*server, *dataset.Exports) {
	t.Helper()
	exports := dataset.New(dataset.Config{Dir: t.TempDir(), Log: slog.New(slog.DiscardHandler)})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- exports.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	v := listen(t, site.Config{Demo: func(*snapshot.Snapshot) bool { return false }, Exports: exports})
	c.Sort()
	catalog.CarryOver(&catalog.Catalog{}, c, "2026-11-01")
	s := snapshot.Build(c, 12, "2026-11-02")
	s.PublishedAt = "2026-11-02T08:00:00.000Z"
	s.SetFeed(record.First("flux-1", c, 12, s.PublishedAt))
	v.show(s)
	return v, exports
}

func TestTheDataPageShowsSizesOnceTheFilesAreWritten(t *testing.T) {
	v, exports := openExports(t, small())
	v.get("/donnees").ok().says("Version 12, publiée le", "<code>outils.csv</code>", "s’écrivent à la première demande").saysNot("<code>outils.csv</code></a>")
	if exports.Written(v.live.Load()) != nil {
		t.Error("a visitor had the files written")
	}
	x, err := exports.Get(t.Context(), v.live.Load())
	if err != nil {
		t.Fatal(err)
	}
	path := x.File("outils.csv").Path
	for range 2 {
		v.get("/donnees").ok().says(`<a href="`+path+`"><code>outils.csv</code></a>`, "4\u00a0lignes", "avec une clé").saysNot("s’écrivent à la première demande")
	}
	v.get("/donnees.md").ok().says("[`outils.csv`](" + path + ")")
	_, rest, _ := strings.Cut(v.get("/donnees").ok().body, `<script type="application/ld+json">`)
	text, _, _ := strings.Cut(rest, "</script>")
	var ld struct {
		Type         string `json:"@type"`
		License      string
		Distribution []struct {
			Type       string `json:"@type"`
			ContentURL string `json:"contentUrl"`
		}
	}
	if err := json.Unmarshal([]byte(text), &ld); err != nil || ld.Type != "Dataset" || ld.License != "https://essai.example/licence" || len(ld.Distribution) != len(dataset.Files)-1 { // the manifest, and all but the chunks
		t.Errorf("%v: %s", err, text)
	}
}

func TestAPublisherMayHideTheDataPage(t *testing.T) {
	c := small()
	c.Settings.Dataset = catalog.DatasetHead
	v, _ := openExports(t, c)
	v.get("/donnees").ok().says("sauf le texte des avis").saysNot("chunks.ndjson.zst")
	v.get("/").ok().says(`href="/donnees"`)
	v.get("/sitemap.xml").ok().says("/donnees<")
	v.get("/docs").ok().says(`Qui veut tout le catalogue`)
	v.get("/docs.md").ok().says("/donnees.md")
	c = small()
	c.Settings.Dataset = catalog.DatasetOff
	v, _ = openExports(t, c)
	v.get("/donnees").answers(404)
	v.get("/donnees.md").answers(404)
	for _, path := range []string{"/", "/sitemap.xml", "/llms.txt", "/docs", "/docs.md", "/licence"} {
		v.get(path).ok().saysNot("/donnees")
	}
}
