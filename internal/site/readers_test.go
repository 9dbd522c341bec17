package site_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"palmares/internal/site"
	"palmares/internal/snapshot"
	"palmares/internal/testkit"
)

// seen notes what is counted.
type seen []string

func (s *seen) View(r *http.Request) {
	if r.Method == http.MethodGet {
		*s = append(*s, r.URL.Path)
	}
}

func (s *seen) Missed(_ *http.Request, text string) { *s = append(*s, "? "+text) }

// Each request is made twice, so that the second is answered from the cache of the front lane.
func TestAViewIsAPageOfHTMLThatIsShownOrStillValid(t *testing.T) {
	var counted seen
	v := listen(t, site.Config{Demo: func(*snapshot.Snapshot) bool { return false }, Readers: &counted})
	c := small()
	v.publish(c, 1)
	ask := func(path string, headers ...string) string {
		r := httptest.NewRequest("GET", path, nil)
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		w := httptest.NewRecorder()
		v.site.ServeHTTP(testkit.PlainWriter{ResponseWriter: w}, r)
		return w.Header().Get("ETag")
	}
	for path, want := range map[string]seen{
		"/":                              {"/", "/"},
		"/outils/abeille":                {"/outils/abeille", "/outils/abeille"},
		"/outils?q=abeille":              {"/outils", "/outils"},
		"/outils?q=introuvable":          {"? introuvable", "/outils", "? introuvable", "/outils"},
		"/outils?q=introuvable&exact=1":  {"/outils", "/outils"},
		"/outils?q=Fant%C3%B4me+3":       {"/outils", "/outils"},
		"/outils.md?q=introuvable":       nil,
		"/outils/abeille.md":             nil,
		"/outils/personne":               nil,
		"/outils/ancienne-abeille":       nil,
		"/outils/":                       nil,
		"/flux.atom":                     nil,
		"/sitemap.xml":                   nil,
		"/favicon.ico":                   nil,
		"/.well-known/security.txt":      nil,
		"/nulle-part":                    nil,
		"/outils?category=introuvable&q": {"/outils", "/outils"},
	} {
		counted = nil
		tag := ask(path)
		ask(path, "If-None-Match", tag)
		if diff := cmp.Diff(want, counted); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
	}
	counted = nil
	v.do("HEAD", "/").ok()
	c.Settings.Readership = "off"
	v.publish(c, 2)
	ask("/")
	ask("/")
	ask("/outils?q=introuvable")
	if counted != nil || v.site.CountsReaders() {
		t.Errorf("counted though it is off: %q", counted)
	}
	v.get("/confidentialite").says("ni script.", "Nous ne comptons pas les lectures.").saysNot("Ce que nous comptons")
}
