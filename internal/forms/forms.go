// Package forms is the shell of pages with forms: the account, the forms of readers, and the desk.
//
// A page is a function from a request to a response; it writes nothing itself. The shell limits the time that a
// request takes and the size of its form, accepts forms from our own pages only, shows the response in the layout of
// the site and turns errors into pages. GET changes nothing. A form ends in a redirect to a page that can be
// reloaded, which says what was done by a word in its address from a fixed list.
package forms

import (
	"context"
	"log/slog"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"palmares/internal/site"
)

// A Shell serves the pages of one part of the site. All fields are required unless they say otherwise.
type Shell struct {
	Site    *site.Site
	BaseURL string // the public URL of this server, without a trailing slash
	Now     func() time.Time
	Log     *slog.Logger
	Timeout time.Duration // of a request
	IsDesk  bool          // the pages are those of the desk
	Failed  string        // what the log says of a page that failed
	// Failures are the pages of errors that are not failures themselves, the most specific first.
	Failures []Known

	mux      http.ServeMux
	patterns []string
}

// A Request is one HTTP request.
type Request struct {
	*http.Request
	Now    time.Time
	Notice string // what its page says was done; "" for the word in its address
}

// Handle has a page respond to the requests of a pattern.
func (s *Shell) Handle(pattern string, page func(http.ResponseWriter, *Request) *Response) {
	s.mux.HandleFunc(pattern, s.handler(page))
	s.patterns = append(s.patterns, pattern)
}

// Patterns returns the patterns of all pages.
func (s *Shell) Patterns() []string { return s.patterns }

func (s *Shell) handler(page func(http.ResponseWriter, *Request) *Response) http.HandlerFunc {
	return func(w http.ResponseWriter, hr *http.Request) {
		ctx, cancel := context.WithTimeout(hr.Context(), s.Timeout)
		defer cancel()
		r := &Request{Request: hr.WithContext(ctx), Now: s.Now()}
		a := page(w, r)
		if a.Write != nil {
			a.setHeaders(w)
			a.Write(w, hr)
			return
		}
		s.write(w, r, a)
	}
}

// Guarded returns the handler of all pages. Forms of other sites get the page denied, but for those of open patterns.
func (s *Shell) Guarded(denied func(http.ResponseWriter, *Request) *Response, open ...string) http.Handler {
	guard := http.NewCrossOriginProtection()
	// Behind a proxy the Host header may differ from the origin that browsers see.
	if u, err := url.Parse(s.BaseURL); err == nil && u.Host != "" {
		if err := guard.AddTrustedOrigin(u.Scheme + "://" + u.Host); err != nil {
			panic(err) // only without a scheme or host
		}
	}
	for _, pattern := range open {
		guard.AddInsecureBypassPattern(pattern)
	}
	guard.SetDenyHandler(s.handler(denied))
	return guard.Handler(&s.mux)
}

// Pattern returns the pattern that requests of a method to a path have.
func (s *Shell) Pattern(method, path string) string {
	_, pattern := s.mux.Handler(&http.Request{Method: method, URL: &url.URL{Path: path}})
	return pattern
}

// Cleaned returns the redirect of a path with a slash too much; nil for other paths.
func (r *Request) Cleaned() *Response {
	clean := path.Clean(r.URL.Path)
	if clean == r.URL.Path || r.Method != http.MethodGet && r.Method != http.MethodHead {
		return nil
	}
	return SeeOther(clean, "")
}

// ReadForm reads the form of a request, of so many bytes at most, or if it has files of maxUpload.
func (r *Request) ReadForm(w http.ResponseWriter, maxForm, maxUpload int64, timeout time.Duration) error {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if kind != "multipart/form-data" || maxUpload == 0 {
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
		return r.ParseForm()
	}
	// A phone on a bad line needs longer than other requests have. Tests read from memory.
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(timeout))
	r.Body = http.MaxBytesReader(w, r.Body, maxUpload)
	return r.ParseMultipartForm(maxUpload)
}

// A Page is what surrounds the content of a page. The data of each page embeds it.
type Page struct {
	Title  string
	Notice string // what was just done; "" for nothing
	Menu   []Entry
}

// Heading returns the title.
func (p Page) Heading() string { return p.Title }

// An Entry is a line of the menu.
type Entry struct {
	Href, Text string
	Current    string   // value of aria-current: "page", "true" for a page below it, or ""
	Below      []string // what other addresses of pages below it begin with
}

// Page returns what surrounds a page, given what may be said to be done by its words and the menu, whose first entry
// is the home of all.
func (r *Request) Page(title string, notices map[string]string, menu []Entry) Page {
	p := Page{Title: title, Notice: r.Notice}
	if p.Notice == "" {
		p.Notice = notices[r.URL.Query().Get("fait")]
	}
	for i, e := range menu {
		if i > 0 {
			e.Below = append(e.Below, e.Href+"/")
		}
		for _, below := range e.Below {
			if strings.HasPrefix(r.URL.Path, below) {
				e.Current = "true"
			}
		}
		if e.Href == r.URL.Path {
			e.Current = "page"
		}
		p.Menu = append(p.Menu, e)
	}
	return p
}
