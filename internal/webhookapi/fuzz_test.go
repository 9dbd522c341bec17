package webhookapi_test

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"palmares/internal/webhookapi"
)

// FuzzABodyIsReadWholeOrRefused checks that every body is refused, or read as
// encoding/json reads it with no field lost.
func FuzzABodyIsReadWholeOrRefused(f *testing.F) {
	for _, seed := range []string{`{"url":"a","events":["b"]}`, `{}`, `{"url":1,"url":2}`, "{\"url\":\"\xff\"}", `{"url":{"url":[{}]}} `, `{"a":1}`, `[`, `{"url"`, `{"url":"\ud800"}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := webhookapi.ParseBody(raw, "url", "events")
		if err != nil {
			return
		}
		var want map[string]json.RawMessage
		if err := json.Unmarshal(raw, &want); err != nil || len(want) != len(got) {
			t.Fatalf("%q was read as %q: %v", raw, got, err)
		}
		for name, value := range got {
			if !json.Valid(value) || name != "url" && name != "events" {
				t.Errorf("%q: %s is %q", raw, name, value)
			}
		}
	})
}

// FuzzAnyRequestIsAnswered sends any method, path, query, body and content type with a
// valid key, and checks that the answer is a documented one.
func FuzzAnyRequestIsAnswered(f *testing.F) {
	for _, seed := range [][5]string{
		{"POST", endpoints, "", `{"url":"https://un.example"}`, "application/json"},
		{"PATCH", endpoints + "/whk_0123456789abcdefghjkmnpqrs", "a=%zz", `{"state":"paused"}`, "application/json"},
		{"GET", endpoints + "/whk_0123456789abcdefghjkmnpqrs/deliveries", "limit=1&before=\xff", "", ""},
		{"GET", events, "after=9007199254740991&type=tool.created", "", ""},
		{"POST", deliveries + "/\x00/resend", "&&==", "{}", "application/json; charset=\xff"},
		{"DELETE", "/webhooks/\xff/..", "?", "[", "text/plain"},
	} {
		f.Add(seed[0], seed[1], seed[2], seed[3], seed[4])
	}
	s := serve(f, databases.OpenDSN(f, databases.SQLite(f)))
	handler := webhookapi.New(webhookapi.Config{
		Store: s.store.AccountDB, Events: s.store.Events, Keys: s.keys, Sealer: s.sealer, Now: s.clock, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	f.Fuzz(func(t *testing.T, method, path, query, body, kind string) {
		r := httptest.NewRequestWithContext(t.Context(), "GET", "/", strings.NewReader(body))
		r.Method, r.URL = method, &url.URL{Path: path, RawQuery: query}
		r.Header.Set("Content-Type", kind)
		r.Header.Set("Authorization", "Bearer "+s.key)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if !slices.Contains([]int{200, 201, 202, 204, 400, 404, 405, 409, 413, 415, 429}, w.Code) {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		for name, values := range w.Header() {
			if strings.ContainsAny(strings.Join(values, ""), "\r\n\x00") {
				t.Errorf("%s: %q", name, values)
			}
		}
		if w.Code != http.StatusNoContent && !json.Valid(w.Body.Bytes()) {
			t.Errorf("%d with %q", w.Code, w.Body)
		}
	})
}
