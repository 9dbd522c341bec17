// Package conform checks a server against the interface: its ten operations, headers, errors, paging,
// quotas and the OpenAPI document. It knows nothing of this program, so that other implementations of
// the interface can use it, and asks for nothing that the interface leaves open. A promise that the
// server's records or quota do not let it judge is skipped with the reason, and never counts as kept.
package conform

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// A Result is what was found about one promise.
type Result struct {
	Promise string
	Err     error  // nil if it is kept
	Skipped string // why it was not tried; "" if it was
}

// Config is what is checked. Client is required; Key may be empty, and then promises to callers with
// a key are skipped.
type Config struct {
	BaseURL string
	Key     string
	Client  *http.Client
}

// Run tries every promise, and calls report with each result.
func Run(ctx context.Context, cfg Config, report func(Result)) {
	s := &service{cfg: cfg, ctx: ctx, known: map[string]*reply{}}
	for _, p := range promises {
		r := Result{Promise: p.text}
		switch {
		case p.keyed && cfg.Key == "":
			r.Skipped = "it needs --key"
		case ctx.Err() != nil:
			r.Err = ctx.Err()
		default:
			r.Err = s.try(p)
		}
		if unknown := (unjudged{}); errors.As(r.Err, &unknown) {
			r.Err, r.Skipped = nil, unknown.Error()
		}
		report(r)
	}
}

// A promise is a sentence of the interface, and how it is tried.
type promise struct {
	text  string
	keyed bool // to callers with a key
	try   func(*service)
}

// A service is a server while it is checked. What is found wrong is thrown as a broken.
type service struct {
	cfg   Config
	ctx   context.Context
	known map[string]*reply // replies to plain requests by key and path, so that few requests are counted
}

type broken struct{ error }

// An unjudged says why it cannot be told whether a promise is kept.
type unjudged struct{ error }

func (s *service) try(p promise) (err error) {
	defer func() {
		if thrown := recover(); thrown != nil {
			found, ok := thrown.(broken)
			if !ok {
				panic(thrown)
			}
			err = found.error
		}
	}()
	p.try(s)
	return nil
}

// fail breaks a promise.
func fail(format string, args ...any) { panic(broken{fmt.Errorf(format, args...)}) }

// skip leaves a promise unjudged.
func skip(format string, args ...any) { panic(broken{unjudged{fmt.Errorf(format, args...)}}) }

// A reply is a response with its body.
type reply struct {
	path   string
	status int
	header http.Header
	body   []byte
}

// get returns the reply to a plain request. It is sent once.
func (s *service) get(path string) *reply { return s.getAs(path, s.cfg.Key) }

func (s *service) getAs(path, key string) *reply {
	if s.known[key+path] == nil {
		s.known[key+path] = s.send(http.MethodGet, path, key)
	}
	return s.known[key+path]
}

// ok returns the reply to a plain request, which must be 200 with JSON.
func (s *service) ok(path string) *reply { return s.get(path).is(http.StatusOK) }

const maxBody = 32 << 20

func (s *service) send(method, path, key string) *reply {
	ctx, cancel := context.WithTimeout(s.ctx, 30*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, s.cfg.BaseURL+path, nil)
	if err != nil {
		fail("%s cannot be requested: %w", path, err)
	}
	if method == http.MethodOptions { // as a browser asks before it sends a key
		req.Header.Set("Origin", "https://conform.example")
		req.Header.Set("Access-Control-Request-Method", http.MethodGet)
		req.Header.Set("Access-Control-Request-Headers", "authorization")
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	resp, err := s.cfg.Client.Do(req)
	if err != nil {
		fail("%s cannot be requested: %w", path, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxBody))
	if err != nil {
		fail("the response to %s ends early: %w", path, err)
	}
	if resp.StatusCode == http.StatusTooManyRequests {
		skip("%s has the status 429: the quota is used up; try tomorrow, or with the --key of another account", path)
	}
	return &reply{path: path, status: resp.StatusCode, header: resp.Header, body: body}
}

// is checks the status and that the body is JSON.
func (r *reply) is(status int) *reply {
	if r.status != status {
		fail("%s has the status %d instead of %d", r.path, r.status, status)
	}
	kind, _, _ := strings.Cut(r.header.Get("Content-Type"), ";")
	if strings.TrimSpace(kind) != "application/json" {
		fail("%s has the Content-Type %q instead of application/json", r.path, r.header.Get("Content-Type"))
	}
	return r
}

func (r *reply) object() map[string]any {
	var o map[string]any
	if err := json.Unmarshal(r.body, &o); err != nil {
		fail("the body of %s is not a JSON object: %w", r.path, err)
	}
	return o
}

func (r *reply) list() []map[string]any {
	data, ok := r.object()["data"].([]any)
	if !ok {
		fail("%s has no list « data »", r.path)
	}
	list := make([]map[string]any, len(data))
	for i := range data {
		list[i], ok = data[i].(map[string]any)
		if !ok {
			fail("element %d of %s is not an object", i, r.path)
		}
	}
	return list
}

// some returns the elements of a list, with which other promises are tried.
func (s *service) some(path string) []map[string]any {
	list := s.ok(path).list()
	if len(list) == 0 {
		skip("%s is empty: nothing can be tried with it", path)
	}
	return list
}

func (s *service) first(path string) map[string]any { return s.some(path)[0] }

func (r *reply) meta(name string) int {
	meta, ok := r.object()["meta"].(map[string]any)
	if !ok {
		fail("%s has no object « meta »", r.path)
	}
	n, ok := meta[name].(float64)
	if !ok || n != float64(int(n)) {
		fail("meta.%s of %s is %v instead of an integer", name, r.path, meta[name])
	}
	return int(n)
}

func number(o map[string]any, field string) float64 {
	n, ok := o[field].(float64)
	if !ok {
		fail("%s is %v instead of a number", field, o[field])
	}
	return n
}

func text(o map[string]any, field string) string {
	s, ok := o[field].(string)
	if !ok {
		fail("%s is %v instead of a string", field, o[field])
	}
	return s
}

func at(list string, o map[string]any) string { return list + "/" + url.PathEscape(text(o, "slug")) }
