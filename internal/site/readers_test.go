package site_test

import (
	"html/template"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"palmares/internal/catalog"
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
	v.get("/confidentialite").says("Nous ne comptons pas les lectures.").saysNot("Ce que nous comptons")
}

func TestAScriptOfOthersIsOnPublicPagesOnlyAndAllowedExactly(t *testing.T) {
	const script, allowed = "https://stats.example/js/script.js", "script-src 'self' https://stats.example/js/script.js; "
	c := small()
	v := open(t, c)
	v.get("/").saysNot("stats.example")
	v.get("/confidentialite").says("ni script.", "Ce que nous comptons").saysNot("stats.example")
	c.Settings.Analytics = []catalog.Analytics{{Script: script, Connect: "https://collecte.example"}}
	v.publish(c, 2)
	for _, path := range []string{"/", "/outils/abeille", "/outils?q=x", "/nulle-part"} {
		v.get(path).says(`<script src="`+script+`" data-domain="essai.example" defer></script>`).
			is("Content-Security-Policy", "default-src 'none'; "+allowed+"style-src 'self'; img-src 'self'; connect-src 'self' https://collecte.example; manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	}
	v.get("/confidentialite").says("un script extérieur à ce service, <code>"+script+"</code>", "<code>https://collecte.example</code>").saysNot("ni script.")
	w := httptest.NewRecorder()
	v.site.ServeAccountPage(w, httptest.NewRequest("GET", "/compte", nil), site.AccountPage{Status: 200, Content: template.HTML("x")})
	preview := listen(t, site.Config{
		Demo: func(*snapshot.Snapshot) bool { return false }, Preview: func(*snapshot.Snapshot) *site.Preview { return &site.Preview{} },
	})
	preview.publish(c, 1)
	private := preview.get("/").ok()
	for _, path := range []string{"/redaction", "/redaction/x", "/apercu/x"} {
		r := v.get(path).saysNot("stats.example")
		if policy := r.header.Get("Content-Security-Policy"); r.status != 404 || strings.Contains(policy, ".example") {
			t.Errorf("%s without a desk: %d with %s", path, r.status, policy)
		}
	}
	for what, got := range map[string]string{
		"an account page": w.Body.String() + w.Header().Get("Content-Security-Policy"),
		"a preview":       private.body + private.header.Get("Content-Security-Policy"),
	} {
		if strings.Contains(got, "stats.example") || strings.Contains(got, "collecte.example") {
			t.Errorf("the script is on %s", what)
		}
	}
}
