package site_test

import (
	"bytes"
	"fmt"
	"image/png"
	"net/http"
	"net/http/httptest"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"

	"palmares/internal/catalog"
)

var ogPattern = regexp.MustCompile(`<meta property="og:(image(?::\w+)?)" content="([^"]*)">`)

// shared returns what a page says of its picture in previews.
func (r *reply) shared() map[string]string {
	all := map[string]string{}
	for _, m := range ogPattern.FindAllStringSubmatch(r.body, -1) {
		all[m[1]] = m[2]
	}
	return all
}

const essai = "https://essai.example"

func TestPagesWithoutAPictureShareACard(t *testing.T) {
	v := open(t, small())
	for path, alt := range map[string]string{
		"/outils/abeille":                 "Abeille, 8,5 sur 10\u00a0: Un outil nommé Abeille",
		"/avis/abeille":                   "Abeille, 8,5 sur 10\u00a0: Un outil nommé Abeille",
		"/outils/cigale":                  "Cigale\u00a0: Un outil nommé Cigale",
		"/comparatifs/abeille-vs-bourdon": "Abeille ou Bourdon\u202f?, Abeille 8,5 sur 10, Bourdon 6,0 sur 10\u00a0: Elle pique moins.",
	} {
		page := v.get(path).ok().says(`<meta name="twitter:card" content="summary_large_image">`)
		shared := page.shared()
		if shared["image:width"] != "1200" || shared["image:height"] != "630" || shared["image:alt"] != alt {
			t.Errorf("%s: %v", path, shared)
		}
		address, ours := strings.CutPrefix(shared["image"], essai)
		if !ours || !strings.HasPrefix(address, "/media"+path+".") {
			t.Fatalf("%s shares %s", path, shared["image"])
		}
		r := v.get(address, "Accept-Encoding: gzip, br").ok().is("Content-Type", "image/png").is("Content-Encoding", "").
			is("Cache-Control", "public, max-age=31536000, immutable").is("Cross-Origin-Resource-Policy", "cross-origin")
		img, err := png.DecodeConfig(strings.NewReader(r.body))
		if err != nil || img.Width != 1200 || img.Height != 630 {
			t.Errorf("%s: %v, %+v", address, err, img)
		}
		v.get(address, "If-None-Match: "+r.header.Get("ETag")).answers(304)
		v.do("HEAD", address).ok().is("Content-Length", fmt.Sprint(len(r.body)))
		v.do("POST", address).answers(405)
	}
	if a, b := v.get("/outils/abeille").shared()["image"], v.get("/avis/abeille").shared()["image"]; a == b {
		t.Error("the review shares the card of the tool")
	}
}

func TestPagesWithAPictureShareIt(t *testing.T) {
	c := magazine()
	c.Comparisons[0].Image = "images/bureau.jpg"
	v, _ := openMagazine(t, c)
	for _, path := range []string{"/outils/abeille", "/avis/abeille", "/comparatifs/abeille-vs-bourdon"} {
		if shared := v.get(path).ok().shared(); !strings.HasPrefix(shared["image"], essai+"/media/"+hashOf("d")) || shared["image:alt"] != "" {
			t.Errorf("%s: %v", path, shared)
		}
	}
	c = magazine() // a logo is too small for a preview
	c.Tools[0].Image = ""
	v, _ = openMagazine(t, c)
	if shared := v.get("/outils/abeille").ok().shared(); !strings.HasPrefix(shared["image"], essai+"/media/outils/abeille.") {
		t.Errorf("a tool with a logo only shares %v", shared)
	}
	if shared := v.get("/outils").ok().shared(); shared["image"] != essai+"/media/"+hashOf("a")+".png" {
		t.Errorf("the list shares %v", shared)
	}
}

func TestEveryNodeDrawsTheSameCard(t *testing.T) {
	one, other := open(t, small()), open(t, small())
	address := strings.TrimPrefix(one.get("/outils/abeille").shared()["image"], essai)
	if one.get(address).ok().body != other.get(address).ok().body {
		t.Error("two nodes draw different cards")
	}
}

func TestACardOfAnotherVersionIsThatOfToday(t *testing.T) {
	v := open(t, small())
	old := strings.TrimPrefix(v.get("/outils/abeille").shared()["image"], essai)
	before := v.get(old).ok().body
	changed := small()
	changed.Tools[0].Score = number(2)
	v.publish(changed, 2)
	today := strings.TrimPrefix(v.get("/outils/abeille").shared()["image"], essai)
	if today == old {
		t.Fatal("another score has the same address")
	}
	r := v.get(old).ok().is("Cache-Control", "public, max-age=0, s-maxage=300, must-revalidate")
	if r.body == before || r.body != v.get(today).ok().body {
		t.Error("an old address does not show the card of today")
	}
}

func TestCardsOfFormerAndUnknownSlugs(t *testing.T) {
	c := small()
	c.Comparisons[0].Aliases = []string{"ancien-duel"}
	v := open(t, c)
	today := strings.TrimPrefix(v.get("/outils/abeille").shared()["image"], essai)
	v.get("/media/outils/ancienne-abeille.0123.png").movesTo(today)
	v.get("/media/comparatifs/ancien-duel.0123.png").movesTo(strings.TrimPrefix(v.get("/comparatifs/abeille-vs-bourdon").shared()["image"], essai))
	for _, path := range []string{
		"/media/outils/inconnu.0123.png", "/media/outils/abeille.png", "/media/outils/abeille.0123.jpg", "/media/outils/abeille.0123", "/media/outils/.png", "/media/outils/",
		"/media/avis/bourdon.0123.png", "/media/comparatifs/brouillon.0123.png", "/media/cimetiere/fantome-01.0123.png", "/media/outils/fantome-01.0123.png", "/media/autres/abeille.0123.png",
	} {
		if got := v.get(path).status; got != 404 && !strings.HasSuffix(path, "/") {
			t.Errorf("%s: %d", path, got)
		}
	}
}

// A hundred visitors for one card wait for one drawing, and the memory for cards is bounded,
// whatever is asked for.
func TestCardsAreDrawnOnceAndKeptWithinBounds(t *testing.T) {
	c := small()
	for i := range 30 {
		tool := *c.Tools[3]
		tool.Slug, tool.Name = fmt.Sprintf("outil-%d", i), fmt.Sprintf("Outil %d", i)
		c.Tools = append(c.Tools, &tool)
	}
	v := open(t, c)
	ask := func(path string) {
		w := &sink{header: http.Header{}}
		v.site.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", path, nil))
		if w.status != 0 && w.status != 200 || w.bytes < 1000 {
			t.Errorf("%s: %d, %d bytes", path, w.status, w.bytes)
		}
	}
	allocated := func(what func()) int {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		what()
		runtime.ReadMemStats(&after)
		return int(after.TotalAlloc - before.TotalAlloc)
	}
	ask("/media/outils/bourdon.x.png") // fonts are parsed
	drawing := allocated(func() { ask("/media/outils/abeille.x.png") })
	var wait sync.WaitGroup
	many := allocated(func() {
		for range 100 {
			wait.Go(func() { ask("/media/outils/cigale.x.png") })
		}
		wait.Wait()
	})
	if many > 3*drawing {
		t.Errorf("a hundred visitors for one card take %d bytes, one takes %d", many, drawing)
	}
	if again := allocated(func() { ask("/media/outils/abeille.another.png") }); again > drawing/10 {
		t.Errorf("a card that was drawn takes %d bytes", again)
	}
	const most = 100_000
	v.site.LimitCards(most)
	for i := range 30 {
		ask(fmt.Sprintf("/media/outils/outil-%d.x.png", i))
	}
	if kept := v.site.CachedCards(); kept > most || kept == 0 {
		t.Errorf("%d bytes of cards are kept", kept)
	}
}

func TestAHostileCatalogueHasCards(t *testing.T) {
	v := open(t, func() *catalog.Catalog {
		c := hostile()
		for i := range c.Tools {
			c.Tools[i].Image = ""
		}
		c.Comparisons[0].Image = ""
		return c
	}())
	for _, path := range []string{"/outils/outil-0", "/avis/outil-0", "/comparatifs/duel"} {
		address := strings.TrimPrefix(v.get(path).ok().shared()["image"], "https://hostile.example")
		if _, err := png.Decode(bytes.NewReader([]byte(v.get(address).ok().body))); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}
