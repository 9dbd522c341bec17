package main

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"palmares/internal/conform"
)

// A recorder replays the responses of a server, changed by breaks.
type recorder struct {
	server string
	seen   map[string]*recorded // by method, key and address
	breaks func(r *http.Request, reply *recorded)
}

type recorded struct {
	status int
	header http.Header
	body   []byte
}

func (p *recorder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := r.Method + r.Header.Get("Authorization") + r.URL.String()
	if p.seen[name] == nil {
		req := r.Clone(r.Context())
		req.RequestURI, req.Host = "", ""
		req.Header.Del("Accept-Encoding") // what arrives is to be changed
		target, err := req.URL.Parse(p.server + r.URL.String())
		if err != nil {
			panic(err)
		}
		req.URL = target
		resp, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			panic(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil {
			panic(err)
		}
		p.seen[name] = &recorded{resp.StatusCode, resp.Header, body}
	}
	reply := *p.seen[name]
	reply.header = reply.header.Clone()
	reply.header.Del("Content-Length")
	if p.breaks != nil {
		p.breaks(r, &reply)
	}
	maps.Copy(w.Header(), reply.header)
	w.WriteHeader(reply.status)
	_, _ = w.Write(reply.body)
}

// with changes the JSON of the responses to a path.
func with(path string, change func(map[string]any)) func(*http.Request, *recorded) {
	return func(r *http.Request, reply *recorded) {
		if r.URL.Path != path && !(strings.HasSuffix(path, "/") && strings.HasPrefix(r.URL.Path, path)) {
			return
		}
		var o map[string]any
		if json.Unmarshal(reply.body, &o) != nil {
			return
		}
		change(o)
		var b bytes.Buffer
		_ = json.NewEncoder(&b).Encode(o)
		reply.body = b.Bytes()
	}
}

// each changes every element of a list.
func each(path string, change func(map[string]any)) func(*http.Request, *recorded) {
	return with(path, func(o map[string]any) {
		list, _ := o["data"].([]any)
		for _, element := range list {
			change(element.(map[string]any))
		}
	})
}

func set(field string, value any) func(map[string]any) {
	return func(o map[string]any) { o[field] = value }
}

func drop(field string) func(map[string]any) { return func(o map[string]any) { delete(o, field) } }

// header changes a header of every response.
func header(name, value string) func(*http.Request, *recorded) {
	return func(_ *http.Request, reply *recorded) { reply.header.Set(name, value) }
}

// status changes the status of responses to a method at paths with a prefix.
func status(method, prefix string, status int) func(*http.Request, *recorded) {
	return func(r *http.Request, reply *recorded) {
		if r.Method == method && strings.HasPrefix(r.URL.Path, prefix) {
			reply.status = status
		}
	}
}

// ignoring removes a parameter of requests to a list.
func ignoring(path, parameter string) func(*http.Request) {
	return func(r *http.Request) {
		if values := r.URL.Query(); r.URL.Path == path {
			values.Del(parameter)
			r.URL.RawQuery = values.Encode()
		}
	}
}

const (
	apiTools       = "/api/v1/tools"
	apiComparisons = "/api/v1/comparatifs"
	apiPrices      = "/api/v1/pricing"
	apiRetired     = "/api/v1/cimetiere"
)

func TestThisServerConformsAndEveryBrokenPromiseIsFound(t *testing.T) {
	t.Parallel()
	database := databases.SQLite(t)
	must(t, "publish", "../../demo", "--database", database)
	key := strings.TrimPrefix(customer(t, database, "ada@example.org", "developer", 1)[0], "Authorization: Bearer ")
	server := serveProcess(t, "--database", database)
	if out := must(t, "conform", server.url, "--key", key); strings.Contains(out, "skipped") {
		t.Errorf("something was not tried:\n%s", out)
	}
	proxy := &recorder{server: server.url, seen: map[string]*recorded{}}
	var changed func(*http.Request)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if changed != nil {
			changed(r)
		}
		proxy.ServeHTTP(w, r)
	}))
	defer front.Close()
	skipped := 0
	check := func() (broken []string) {
		skipped = 0
		conform.Run(t.Context(), conform.Config{
			BaseURL: front.URL, Key: key, Client: http.DefaultClient,
		}, func(r conform.Result) {
			if r.Err != nil {
				broken = append(broken, r.Promise+": "+r.Err.Error())
			} else if r.Skipped != "" {
				skipped++
			}
		})
		return broken
	}
	if broken := check(); broken != nil || skipped > 0 {
		t.Fatalf("replayed, %d are skipped and these are broken: %q", skipped, broken)
	}
	// What cannot be judged is neither kept nor broken.
	proxy.breaks = status("GET", "/api/", 429)
	if broken := check(); broken != nil || skipped < 40 {
		t.Errorf("with a quota that is used up, %d are skipped and these are broken: %q", skipped, broken)
	}
	nothing := databases.SQLite(t)
	key = strings.TrimPrefix(customer(t, nothing, "ada@example.org", "pro", 1)[0], "Authorization: Bearer ")
	proxy.server, proxy.breaks, proxy.seen = serveProcess(t, "--database", nothing, "--demo", "off").url, nil, map[string]*recorded{}
	if broken := check(); broken != nil || skipped < 20 {
		t.Errorf("with nothing published, %d are skipped and these are broken: %q", skipped, broken)
	}
	proxy.server, proxy.seen = server.url, map[string]*recorded{}
	key = strings.TrimPrefix(customer(t, database, "bob@example.org", "developer", 1)[0], "Authorization: Bearer ")
	changes := map[string]func(*http.Request, *recorded){
		"a tool without a tagline": each(apiTools, drop("tagline")),
		"a score as text":          each(apiTools, set("score", "8")),
		"an unknown profile":       each(apiTools, set("icp", "tous")),
		"an unknown model":         each(apiTools, set("pricing", "libre")),
		"a price without a period": each(apiTools, set("price", "12 €")),
		"a date with a time":       each(apiTools, set("updated_at", "2026-11-17T00:00:00Z")),
		"a relative address":       each(apiTools, set("canonical_url", "/outils/a")),
		"no meta":                  with(apiTools, drop("meta")),
		"a wrong number of pages": with(apiTools,
			set("meta", map[string]any{"total": 66, "page": 1, "limit": 50, "pages": 99})),
		"a wrong total":                  header("X-Total-Count", "7"),
		"data that is no list":           with(apiTools, set("data", map[string]any{})),
		"a tool alone without a price":   with(apiTools+"/", drop("price")),
		"a tool alone with another name": with(apiTools+"/", set("name", "Autre")),
		"a 404 without an error":         with(apiTools+"/", drop("error")),
		"a comparison without a title":   each(apiComparisons, drop("title")),
		"a comparison without a score": with(apiComparisons+"/",
			func(o map[string]any) { o["tool_a"] = map[string]any{"name": "A"} }),
		"a winner who did not take part":  with(apiComparisons+"/", set("winner", "Personne")),
		"a price list without names":      each(apiPrices, drop("name")),
		"a price without a history":       with(apiPrices+"/", drop("price_history")),
		"a price that is not the current": with(apiPrices+"/", set("current_price", "1 €/mois")),
		"an unknown reason":               each(apiRetired, set("reason", "perdu")),
		"a retirement without a date":     each(apiRetired, set("retired_at", "")),
		"a category without a label":      each("/api/v1/categories", drop("label")),
		"a wrong number of tools":         each("/api/v1/categories", set("tool_count", 1000)),
		"statistics without an average":   with("/api/v1/stats", drop("tools_avg_score")),
		"statistics of another catalogue": with("/api/v1/stats", set("tools_total", 1000)),
		"no caching":                      header("Cache-Control", "no-store"),
		"no other origins":                header("Access-Control-Allow-Origin", "https://a.example"),
		"no date of update":               header("X-Service-Updated-At", ""),
		"HTML":                            header("Content-Type", "text/html"),
		"no tier":                         header("X-RateLimit-Tier", ""),
		"a reset in an hour":              header("X-RateLimit-Reset", "3600"),
		"a quota that does not count":     header("X-RateLimit-Remaining", "500"),
		"too few chunks":                  with("/api/embeddings/", set("chunk_count", 1)),
		"another digest":                  with("/api/embeddings/", set("hash", "md5-1")),
		"OpenAPI 3.1":                     with("/api/v1/openapi.json", set("openapi", "3.1.0")),
		"an operation without a description": with("/api/v1/openapi.json", func(o map[string]any) {
			delete(o["paths"].(map[string]any), apiRetired)
		}),
		"another document version":    with("/api/v1/openapi.json", set("info", map[string]any{"version": "2.0.0"})),
		"OpenAPI 3.0.0":               with("/api/v1/openapi.json", set("openapi", "3.0.0")),
		"another winner in the list":  each(apiComparisons, set("winner", "Autre")),
		"another comparison":          with(apiComparisons+"/", set("slug", "autre")),
		"another price's slug":        with(apiPrices+"/", set("slug", "autre")),
		"a document of another tool":  with("/api/embeddings/", set("name", "Autre")),
		"a document of another page":  with("/api/embeddings/", set("canonical_url", "https://a.example/b")),
		"a total of the page":         header("X-Total-Count", "2"),
		"a page of another size":      with(apiTools, set("meta", map[string]any{"total": 66, "page": 1, "limit": 20, "pages": 4})),
		"too much left of the quota":  header("X-RateLimit-Remaining", "1000000"),
		"no preflight":                status("OPTIONS", "/api/", 405),
		"a preflight without a key":   header("Access-Control-Allow-Headers", "*"),
		"a key that everybody has":    status("GET", "/api/embeddings/", 200),
		"figures for customers only":  status("GET", "/api/v1/stats", 401),
		"POST":                        status("POST", "/api/", 200),
		"POST of figures":             status("POST", "/api/v1/stats", 200),
		"a price that is not missing": status("GET", apiPrices+"/aucun", 200),
		"a tool that is never found":  status("GET", apiTools+"/", 404),
		"no document of the best":     status("GET", "/api/embeddings/", 404),
	}
	for name, change := range changes {
		proxy.breaks = change
		if broken := check(); len(broken) == 0 {
			t.Errorf("%s: nothing is found", name)
		}
	}
	proxy.breaks = nil
	for path, parameters := range map[string]string{
		apiTools:       "limit page category score_min obsolescence_max sort",
		apiComparisons: "limit page category", apiPrices: "limit page category", apiRetired: "limit page category reason",
	} {
		for parameter := range strings.FieldsSeq(parameters) {
			changed = ignoring(path, parameter)
			if len(check()) == 0 {
				t.Errorf("%s ignores %s: nothing is found", path, parameter)
			}
		}
	}
}
