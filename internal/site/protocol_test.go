package site_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"palmares/internal/site"
	"palmares/internal/snapshot"
	"palmares/internal/testkit"
)

func TestEveryResponseHasSecurityHeaders(t *testing.T) {
	v := open(t, small())
	for _, path := range []string{"/", "/outils/abeille", "/nulle-part", "/outils/ancienne-abeille", "/robots.txt", "/sitemap.xml", "//x", "/static/x"} {
		v.get(path).
			is("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'").
			is("X-Content-Type-Options", "nosniff").
			is("Referrer-Policy", "strict-origin-when-cross-origin").
			is("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=(), browsing-topics=()").
			is("Cross-Origin-Opener-Policy", "same-origin").
			is("Cross-Origin-Resource-Policy", "same-origin").
			is("Vary", "Accept-Encoding").
			is("Strict-Transport-Security", "").
			is("Set-Cookie", "")
	}
}

func TestOnlyAnHTTPSSiteSendsHSTS(t *testing.T) {
	for base, want := range map[string]string{"https://essai.example": "max-age=31536000", "http://essai.example": ""} {
		v := listen(t, site.Config{BaseURL: base, Demo: func(*snapshot.Snapshot) bool { return false }})
		v.publish(small(), 1)
		v.get("/").ok().is("Strict-Transport-Security", want)
	}
}

func TestAnUnchangedPageAnswers304(t *testing.T) {
	v := open(t, small())
	for _, path := range []string{"/", "/outils?category=chat", "/flux.atom", "/robots.txt"} {
		tags := map[string]bool{}
		for _, coding := range []string{"identity", "gzip", "br", "zstd"} {
			r := v.get(path, "Accept-Encoding: "+coding).ok().is("Cache-Control", "public, max-age=0, s-maxage=300, must-revalidate")
			if got := r.header.Get("Content-Encoding"); got != strings.TrimPrefix(coding, "identity") {
				t.Errorf("%s: asked for %s, got %q", path, coding, got)
			}
			tag := r.header.Get("ETag")
			tags[tag] = true
			again := v.get(path, "Accept-Encoding: "+coding, "If-None-Match: "+tag).answers(304).is("ETag", tag)
			if again.wire > 0 {
				t.Errorf("%s: 304 with a body", path)
			}
			v.get(path, "Accept-Encoding: "+coding, `If-None-Match: "autre"`).ok()
		}
		if len(tags) != 4 {
			t.Errorf("%s: the four codings have the tags %v", path, tags)
		}
	}
}

func TestCachedPagesAreSentAsTheFirst(t *testing.T) {
	v := open(t, small())
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v.site.ServeHTTP(testkit.PlainWriter{ResponseWriter: w}, r)
	}))
	t.Cleanup(plain.Close)
	lane := &server{t: t, url: plain.URL}
	first := map[string]*reply{}
	for _, version := range []int64{1, 2} {
		for _, path := range []string{"/", "/avis/abeille", "/avis/abeille.md", "/outils.md", "/robots.txt"} {
			for _, coding := range []string{"identity", "gzip", "br", "zstd"} {
				with := "Accept-Encoding: " + coding
				var all []*reply
				for range 3 {
					all = append(all, lane.get(path, with).ok())
				}
				all = append(all, v.get(path, with).ok(), v.do("HEAD", path, with).ok())
				match := "If-None-Match: " + all[0].header.Get("ETag")
				for _, r := range append(all, lane.get(path, with, match).answers(304), v.get(path, with, match).answers(304)) {
					r.header.Del("Date")
					if r.status == 304 {
						for _, name := range []string{"Content-Type", "Content-Encoding", "Content-Length"} {
							all[0].header.Del(name)
						}
					}
					if diff := cmp.Diff(all[0].header, r.header); diff != "" {
						t.Errorf("%s %d (-first +then):\n%s", r.what, r.status, diff)
					}
					if r.wire > 0 && r.body != all[0].body {
						t.Errorf("%s has another body than before", r.what)
					}
				}
				if version == 1 {
					first[path+coding] = all[0]
				} else if path == "/avis/abeille" && first[path+coding].body == all[0].body {
					t.Errorf("%s in %s is that of the version before", path, coding)
				}
			}
		}
		c := small()
		c.Tools[0].Tagline = "Nouvelle accroche"
		v.publish(c, version+1)
	}
}

func TestHeadIsGetWithoutTheBody(t *testing.T) {
	v := open(t, small())
	for path, status := range map[string]int{"/": 200, "/outils/abeille": 200, "/nulle-part": 404} {
		get, head := v.get(path).answers(status), v.do("HEAD", path).answers(status)
		if head.wire > 0 {
			t.Errorf("HEAD %s has a body", path)
		}
		for _, name := range []string{"Content-Type", "Content-Length", "ETag", "Cache-Control"} {
			head.is(name, get.header.Get(name))
		}
	}
}

func TestOtherMethodsAnswer405(t *testing.T) {
	v := open(t, small())
	for _, method := range []string{"POST", "PUT", "DELETE", "PATCH", "OPTIONS"} {
		v.do(method, "/outils").answers(405).is("Allow", "GET, HEAD").is("Cache-Control", "no-store").says("<h1>Méthode refusée</h1>")
	}
}

func TestPagesOfAnyOriginReadWhatIsForPrograms(t *testing.T) {
	v := open(t, small())
	for _, path := range []string{"/llms.txt", "/docs.md", "/outils.md", "/outils/abeille.md", "/outils/personne.md", "/tarifs.md", "/flux.atom", "/outils/abeille.atom", "/categories/chat.atom"} {
		v.get(path).is("Access-Control-Allow-Origin", "*").is("Cross-Origin-Resource-Policy", "cross-origin").is("Access-Control-Expose-Headers", "ETag, Link")
		v.do("OPTIONS", path).answers(204).is("Access-Control-Allow-Origin", "*").is("Access-Control-Allow-Headers", "*, Authorization")
	}
	for _, path := range []string{"/", "/outils", "/outils/abeille", "/robots.txt"} {
		v.get(path).ok().is("Access-Control-Allow-Origin", "")
	}
}

func TestAssetsAreCachedForAYear(t *testing.T) {
	v := open(t, small())
	seen := 0
	for _, one := range v.get("/").ok().tags() {
		path := one.attributes["href"] + one.attributes["src"]
		if !strings.HasPrefix(path, "/static/") {
			continue
		}
		seen++
		r := v.get(path).ok().is("Cache-Control", "public, max-age=31536000, immutable")
		v.get(path, "If-None-Match: "+r.header.Get("ETag")).answers(304)
		name, ext, _ := strings.Cut(strings.TrimPrefix(path, "/static/"), ".")
		v.get("/static/" + name + ".000000000000" + ext[strings.LastIndex(ext, "."):]).answers(404)
		v.get("/static/" + name + ext[strings.LastIndex(ext, "."):]).answers(404)
	}
	if seen != 4 {
		t.Errorf("the page has %d assets", seen)
	}
}

func TestAliasesRedirectToTheCurrentSlug(t *testing.T) {
	v := open(t, small())
	for _, kind := range []string{"/outils/", "/avis/", "/alternatives/"} {
		v.get(kind + "ancienne-abeille").movesTo(kind + "abeille")
		v.get(kind + "ancienne-abeille?a=b").movesTo(kind + "abeille?a=b")
	}
}

func TestARetiredToolRedirectsToItsPage(t *testing.T) {
	v := open(t, small())
	for i := range 60 {
		slug := v.live.Load().Catalog.Retired[i].Slug
		for _, kind := range []string{"/outils/", "/avis/", "/alternatives/"} {
			v.get(kind + slug).movesTo("/cimetiere/" + slug)
		}
	}
	v.get("/cimetiere/fantome-03").ok()
	v.get("/cimetiere/Fantome-03").movesTo("/cimetiere/fantome-03")
	v.get("/cimetiere/abeille").movesTo("/outils/abeille")
	v.get("/cimetiere/abeille.md").movesTo("/outils/abeille.md")
	v.get("/cimetiere/fantom-03").answers(404).says(`<li><a href="/cimetiere/fantome-03">Fantôme 3</a></li>`)
	v.get("/cimetiere/inconnu").answers(404)
}

func TestUnknownPathsAnswer404(t *testing.T) {
	v := open(t, small())
	for _, path := range []string{
		"/nulle-part", "/outils/inconnu", "/avis/inconnu", "/alternatives/inconnu", "/categories/inconnue", "/comparatifs/inconnu", "/outils/abeille/x",
		"/comparatifs/brouillon", "/avis/bourdon", "/sitemap-2.xml", "/sitemap-0.xml", "/sitemap-01.xml", "/sitemap-x.xml", "/Nulle-Part",
	} {
		v.get(path).answers(404).is("Cache-Control", "public, max-age=0, s-maxage=60").says(`<form class="find" action="/outils"`, `<meta name="robots" content="noindex">`).saysNot(`rel="canonical"`)
	}
	v.get("/avis/bourdon").says("Nous n’avons pas encore publié d’avis sur Bourdon", `href="/outils/bourdon"`)
}

func TestDraftsAreShownNowhere(t *testing.T) {
	v := open(t, small())
	for _, path := range []string{"/", "/comparatifs", "/outils/abeille", "/avis/abeille", "/alternatives/abeille", "/categories/chat", "/comparatifs/abeille-vs-bourdon", "/flux.atom", "/sitemap.xml"} {
		v.get(path).ok().saysNot("rouillon")
	}
}

func TestATrailingSlashRedirects(t *testing.T) {
	v := open(t, small())
	v.get("/outils/").movesTo("/outils")
	v.get("/outils/abeille/?a=b").movesTo("/outils/abeille?a=b")
	for _, path := range []string{`/\evil.example/`, "//evil.example/", "/%5cevil.example/", "/%2f%2fevil.example/", "/.//evil.example/"} {
		to := v.get(path).header.Get("Location")
		if strings.HasPrefix(to, "//") || strings.HasPrefix(to, `/\`) || strings.Contains(to, "://") {
			t.Errorf("%s redirects to another site, %q", path, to)
		}
	}
}

func TestAnUncleanPathRedirectsToTheCleanOne(t *testing.T) {
	v := open(t, small())
	for path, want := range map[string]string{
		"//outils": "/outils", "//outils?a=b": "/outils?a=b", "/outils//abeille": "/outils/abeille", "/avis/../outils": "/outils",
		"//ailleurs.example/": "/ailleurs.example", "///ailleurs.example/x": "/ailleurs.example/x", "/%2Foutils": "/outils",
	} {
		if r := v.get(path).movesTo(want).is("Cache-Control", "public, max-age=3600"); r.wire > 0 {
			t.Errorf("%s: %q", r.what, r.body)
		}
	}
	v.get("/outils/").movesTo("/outils")
}
