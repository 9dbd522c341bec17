package site_test

import (
	"html/template"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"palmares/internal/site"
)

func TestAnAccountPageHasTheLayoutAndIsPrivate(t *testing.T) {
	v := open(t, small())
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v.site.ServeAccountPage(w, r, site.AccountPage{Status: http.StatusGone, Title: "Un <titre>", Content: template.HTML("<p>Le contenu.</p>")})
	}))
	defer srv.Close()
	v.url = srv.URL
	r := v.get("/compte?jeton=secret", "Accept-Encoding: gzip")
	if r.status != http.StatusGone {
		t.Errorf("the status is %d", r.status)
	}
	r.says("<title>Un &lt;titre&gt; – ", `<main id="page.contenu" tabindex="-1">`, "<p>Le contenu.</p>", `content="noindex"`, `href="/static/account.`).
		saysNot("secret", `rel="canonical"`, "text/markdown")
	for name, want := range map[string]string{
		"Cache-Control": "no-store", "X-Robots-Tag": "noindex", "Referrer-Policy": "strict-origin", "X-Content-Type-Options": "nosniff",
		"Content-Encoding": "", "Etag": "",
	} {
		if got := r.header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if !strings.Contains(r.header.Get("Content-Security-Policy"), "default-src 'none'") {
		t.Error("an account page has a weaker policy")
	}
}
