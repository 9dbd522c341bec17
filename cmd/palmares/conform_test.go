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

// ignoring removes a parameter of a request.
func ignoring(parameter string) func(*http.Request) {
	return func(r *http.Request) {
		values := r.URL.Query()
		values.Del(parameter)
		r.URL.RawQuery = values.Encode()
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
	front := httptest.NewServer(proxy)
	defer front.Close()
	check := func() (broken []string) {
		conform.Run(t.Context(), conform.Config{
			BaseURL: front.URL, Key: key, Client: http.DefaultClient,
		}, func(r conform.Result) {
			if r.Err != nil {
				broken = append(broken, r.Promise)
			}
		})
		return broken
	}
	if broken := check(); broken != nil {
		t.Fatalf("replayed, these are broken: %q", broken)
	}
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
		"a key that everybody has": func(r *http.Request, reply *recorded) {
			if strings.HasPrefix(r.URL.Path, "/api/embeddings/") {
				reply.status = 200
			}
		},
		"POST": func(r *http.Request, reply *recorded) {
			if r.Method == http.MethodPost {
				reply.status = 200
			}
		},
	}
	for name, change := range changes {
		proxy.breaks = change
		if broken := check(); len(broken) == 0 {
			t.Errorf("%s: nothing is found", name)
		}
	}
	proxy.breaks = nil
	for _, parameter := range []string{"limit", "page", "category", "score_min", "sort", "reason"} {
		ignored := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ignoring(parameter)(r)
			proxy.ServeHTTP(w, r)
		}))
		found := 0
		conform.Run(t.Context(), conform.Config{
			BaseURL: ignored.URL, Key: key, Client: http.DefaultClient,
		}, func(r conform.Result) {
			if r.Err != nil {
				found++
			}
		})
		ignored.Close()
		if found == 0 {
			t.Errorf("that %s is ignored is not found", parameter)
		}
	}
}
