package certificate

import (
	"net"
	"net/http"
	"strings"
)

// hsts tells browsers to use HTTPS for a year.
var hsts = []string{"max-age=31536000"}

// Secure returns the handler of HTTPS: requests for the canonical domain go to next, those for other
// domains of this server are redirected.
func (m *Manager) Secure(next http.Handler) http.Handler {
	_, host, _ := strings.Cut(m.cfg.Base, "://")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Strict-Transport-Security"] = hsts
		if r.Host == host {
			next.ServeHTTP(w, r)
			return
		}
		m.redirect(w, r, next)
	})
}

// Plain returns the handler of port 80: it answers the authority, and redirects everybody else.
func (m *Manager) Plain() http.Handler {
	redirect := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { m.redirect(w, r, nil) })
	answers := m.answers.HTTPHandler(redirect)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if m.held[hostname(r.Host)] == nil {
			redirect(w, r)
			return
		}
		answers.ServeHTTP(w, r)
	})
}

// redirect sends a request to the canonical address. On HTTPS, one that only spells it differently is
// for next.
func (m *Manager) redirect(w http.ResponseWriter, r *http.Request, next http.Handler) {
	name := hostname(r.Host)
	switch {
	case m.held[name] == nil:
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(http.StatusMisdirectedRequest)
		_, _ = w.Write([]byte("Ce serveur ne sert pas cette adresse.\n")) // fails only if the client has disconnected
	case !strings.HasPrefix(r.URL.RequestURI(), "/"): // x:@other.example, before which our address would be a name
		http.Error(w, "Cette adresse n’en est pas une.", http.StatusBadRequest)
	case next != nil && name == m.cfg.Domains[0]:
		next.ServeHTTP(w, r)
	case r.Method == http.MethodGet || r.Method == http.MethodHead:
		http.Redirect(w, r, m.cfg.Base+r.URL.RequestURI(), http.StatusMovedPermanently)
	default:
		http.Redirect(w, r, m.cfg.Base+r.URL.RequestURI(), http.StatusPermanentRedirect)
	}
}

// hostname returns the name in a Host header, in lower case.
func hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(strings.TrimSuffix(host, "."))
}
