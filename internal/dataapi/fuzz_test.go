package dataapi_test

import (
	"encoding/json"
	"net/http/httptest"
	"net/url"
	"slices"
	"testing"

	"palmares/internal/dataapi"
	"palmares/internal/record"
	"palmares/internal/snapshot"
)

// FuzzAnyRequestIsAnswered sends any path and query and checks that the answer is a
// documented one, in JSON.
func FuzzAnyRequestIsAnswered(f *testing.F) {
	for _, seed := range [][2]string{
		{"/data/v1/changes", "after=1&limit=2&kind=outil&feed=flux-1"},
		{"/data/v1/changes", "after=18446744073709551616&limit=-0&kind=\xff"},
		{"/data/v1/changes", "feed=%zz&after=+1"},
		{"/data/v1/changes", "after=7&wait=30"},
		{"/data/v1/records/outil", "slug=a,b,ancien,zut&fields=name,body"},
		{"/data/v1/records/page", "slug=,&fields=,"},
		{"/data/v1/records/../x", "slug=a%2Cb&&=="},
		{"/data/v1/schema/page.json", "\x00"},
		{"/data/v1/history/a", "at=2026-01-01"},
		{"/data/v1/history/ancien", "at=2026-02-30&\r\n"},
		{"/data/v1/history/\xff\x00", "at=9999-12-31"},
		{"/data/v1/search", "q=avis+sur+a&category=code&score_min=7&pricing=payant&price_max=5&limit=2&page=1"},
		{"/data/v1/search", "q=gratuit%20moins%20de%205%20%E2%82%AC&page=9007199254740991&limit=200"},
		{"/data/v1/search", "q=%ff&price_max=NaN"},
		{"/data/v1/search", "q=+&q="},
		{"/data/v1/embeddings", "cle=x"},
		{"/data/v1/export", "x=%zz"},
		{"/data/v1/export/v1-0123456789ab/outils.csv", ""},
		{"/data/v1/export/v1-0123456789ab/chunks.ndjson.zst", ""},
		{"/data/v1/export/../../outils.csv", ""},
	} {
		f.Add(seed[0], seed[1])
	}
	c := complete(small())
	snap := snapshot.Build(c, 1, "2026-11-16")
	snap.SetFeed(record.First("flux-1", c, 1, published))
	if err := snap.BuildIndex(f.Context()); err != nil {
		f.Fatal(err)
	}
	handler := dataapi.New(dataapi.Config{Live: snapshot.Fixed(snap), Callers: authorize})
	f.Fuzz(func(t *testing.T, path, query string) {
		r := httptest.NewRequestWithContext(t.Context(), "GET", "/", nil)
		r.URL = &url.URL{Path: path, RawQuery: query}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if !slices.Contains([]int{200, 308, 400, 401, 404, 409, 503}, w.Code) || w.Code != 308 && !json.Valid(w.Body.Bytes()) {
			t.Fatalf("%d with %q", w.Code, w.Body)
		}
	})
}
