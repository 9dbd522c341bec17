package accountsite

import (
	"bytes"
	"context"
	"html/template"
	"io"
	"net/http"
	"net/url"

	"palmares/internal/site"
)

// A response is a page, a redirect or a file.
type response struct {
	status   int
	title    string
	content  template.HTML
	location string                                 // of a redirect
	allow    string                                 // value of Allow
	cookie   *http.Cookie                           // to set; nil for no change
	formsTo  []string                               // other sites that a form of the page may redirect to
	stream   func(context.Context, io.Writer) error // writes a file
}

// render executes the template of a page. A template that does not fit its data
// panics; tests render every page.
func render(name string, data interface{ title() string }) *response {
	var b bytes.Buffer
	if err := templates()[name].ExecuteTemplate(&b, "page", data); err != nil {
		panic(err)
	}
	//nolint:gosec // a template made it
	return &response{status: http.StatusOK, title: data.title(), content: template.HTML(b.String())}
}

// seeOther redirects to a page of ours, which says what was done: a key of notices,
// or "" for nothing.
func seeOther(path, done string) *response {
	to := url.URL{Path: path}
	if done != "" {
		to.RawQuery = url.Values{"fait": {done}}.Encode()
	}
	return &response{status: http.StatusSeeOther, location: to.String()}
}

// conflict sets the status of the response to a form that cannot be carried out.
func conflict(a *response, err error) (*response, error) {
	if err == nil {
		a.status = http.StatusConflict
	}
	return a, err
}

func (p *pages) write(w http.ResponseWriter, r *request, a *response) {
	if a.cookie != nil {
		w.Header().Del("Set-Cookie") // set by authenticate
		http.SetCookie(w, a.cookie)
	}
	if a.location != "" {
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Location", a.location)
		w.Header().Set("Content-Length", "0")
		w.WriteHeader(a.status)
		return
	}
	if a.allow != "" {
		w.Header().Set("Allow", a.allow)
	}
	switch a.status {
	case http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", "30")
	case http.StatusTooManyRequests: // worth a try by then
		w.Header().Set("Retry-After", "3600")
	}
	if a.stream != nil {
		return
	}
	p.Site.ServeAccountPage(w, r.Request, site.AccountPage{
		Status: a.status, Title: a.title, Content: a.content, FormsTo: a.formsTo,
	})
}
