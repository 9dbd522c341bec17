package forms

import (
	"bytes"
	"context"
	"errors"
	"html/template"
	"io/fs"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"palmares/internal/site"
)

// A Response is a page, a redirect, or what a handler writes.
type Response struct {
	Status   int
	Title    string
	Content  template.HTML
	Location string       // of a redirect
	Allow    string       // value of Allow
	Cookie   *http.Cookie // to set; nil for no change
	FormsTo  []string     // other sites that a form of the page may redirect to
	// Write writes the response itself. The request that it is given has no time limit.
	Write http.HandlerFunc
}

// Renderer returns the function that executes the template of a page, of a folder of them. A template that does not
// fit its data panics; tests render every page.
func Renderer(templates fs.FS) func(name string, data interface{ Heading() string }) *Response {
	parsed := site.ParseTemplates(templates)
	return func(name string, data interface{ Heading() string }) *Response {
		var b bytes.Buffer
		if err := parsed().ExecuteTemplate(&b, name+".html", data); err != nil {
			panic(err)
		}
		//nolint:gosec // a template made it
		return &Response{Status: http.StatusOK, Title: data.Heading(), Content: template.HTML(b.String())}
	}
}

// SeeOther redirects to a page of ours, or a part of it, which says what was done: a word of the notices, or "" for
// nothing.
func SeeOther(path, done string) *Response {
	path, part, _ := strings.Cut(path, "#")
	to := url.URL{Path: path, Fragment: part}
	if done != "" {
		to.RawQuery = url.Values{"fait": {done}}.Encode()
	}
	return &Response{Status: http.StatusSeeOther, Location: to.String()}
}

// File returns a response with a body, which is not kept unless further headers, names and values in turn, say so.
func File(status int, kind string, body []byte, headers ...string) *Response {
	return &Response{Status: status, Write: func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		h.Set("Content-Type", kind)
		h.Set("Cache-Control", "no-store")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Content-Length", strconv.Itoa(len(body)))
		for i := 0; i < len(headers); i += 2 {
			h.Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		_, _ = w.Write(body) // fails only when the client is gone
	}}
}

func (a *Response) setHeaders(w http.ResponseWriter) {
	h := w.Header()
	if a.Cookie != nil {
		h.Del("Set-Cookie") // of the session as it was
		http.SetCookie(w, a.Cookie)
	}
	if a.Allow != "" {
		h.Set("Allow", a.Allow)
	}
	switch a.Status {
	case http.StatusServiceUnavailable:
		h.Set("Retry-After", "30")
	case http.StatusTooManyRequests: // worth a try by then
		h.Set("Retry-After", "3600")
	}
}

// write sends a response: a redirect or a page.
func (s *Shell) write(w http.ResponseWriter, r *Request, a *Response) {
	a.setHeaders(w)
	if a.Location == "" {
		s.Site.ServeAccountPage(w, r.Request, site.AccountPage{
			Status: a.Status, Title: a.Title, Content: a.Content, FormsTo: a.FormsTo, Desk: s.IsDesk,
		})
		return
	}
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Location", a.Location)
	h.Set("Content-Length", "0")
	w.WriteHeader(a.Status)
}

// A Failure is the page of an error: what is wrong and what to do about it.
type Failure struct {
	Status int
	Title  string
	Text   string
	SignIn bool   // it shows the form to sign in
	Allow  string // value of Allow
}

func (f *Failure) Error() string { return f.Text }

// A Known is an error with its page.
type Known struct {
	Is   func(error) bool
	Page *Failure
}

// On returns an error with its page.
func On(target error, page *Failure) Known {
	return Known{func(err error) bool { return errors.Is(err, target) }, page}
}

// Failure returns the failure of an error. An unknown error is a bug: it is logged, and visitors see nothing of it.
func (s *Shell) Failure(r *Request, err error) *Failure {
	if f, ok := errors.AsType[*Failure](err); ok {
		return f
	}
	found := &Failure{
		Status: http.StatusInternalServerError, Title: "Erreur interne",
		Text: "Une erreur interne s’est produite\u202f; elle est consignée. Réessayez plus tard.",
	}
	for _, known := range s.Failures {
		if known.Is(err) {
			found = known.Page
			break
		}
	}
	if found.Status >= http.StatusInternalServerError && !errors.Is(err, context.Canceled) {
		s.Log.Error(s.Failed, "method", r.Method, "path", r.URL.Path, "error", err)
	}
	return found
}
