package dataapi_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"palmares/internal/catalog"
	"palmares/internal/content"
	"palmares/internal/quota"
	"palmares/internal/record"
	"palmares/internal/testkit"
	"palmares/internal/testkit/quotatest"
	"palmares/internal/web"
)

// A change is one as a reader sees it.
type change struct {
	Position, Version int64
	At, Kind, Slug    string
	Deleted           bool
	RenamedTo         *string `json:"renamed_to"`
	Hash              *string
	Record            json.RawMessage
}

type changes struct {
	Data []change
	Meta struct {
		Feed, State         string
		Next, Last, Version int64
		More                bool
	}
}

func (s *service) changes(query string) (page changes) {
	s.t.Helper()
	s.get("/data/v1/changes" + query).OK().Into(&page)
	return page
}

// A reader keeps a copy of the catalogue as the documentation says.
type reader struct {
	feed    string
	next    int64
	records map[[2]string]json.RawMessage
}

// follow reads until there is no more, and compares the state of the copy.
func (r *reader) follow(t *testing.T, s *service, limit int) (requests int) {
	t.Helper()
	for {
		page := s.changes(fmt.Sprintf("?after=%d&limit=%d&feed=%s", r.next, limit, r.feed))
		requests++
		for _, c := range page.Data {
			key := [2]string{c.Kind, c.Slug}
			if c.Deleted {
				delete(r.records, key)
				continue
			}
			if got := record.Hash(c.Record); got != *c.Hash {
				t.Errorf("%s %s has the hash %s, not %s", c.Kind, c.Slug, *c.Hash, got)
			}
			r.records[key] = c.Record
		}
		r.next = page.Meta.Next
		if page.Meta.More {
			continue
		}
		var all []record.Change
		for key, text := range r.records {
			all = append(all, record.Change{Kind: catalog.KindNamed(key[0]), Slug: key[1], Hash: record.Hash(text)})
		}
		if got := record.State(all); got != page.Meta.State {
			t.Errorf("the copy has the state %s, the server %s", got, page.Meta.State)
		}
		return requests
	}
}

func TestAReaderThatFollowsTheFeedHasAnExactCopy(t *testing.T) {
	s := serve(t, small(), nil)
	for _, limit := range []int{1, 3, 1000} {
		r := &reader{feed: "flux-1", records: map[[2]string]json.RawMessage{}}
		r.follow(t, s, limit)
		if len(r.records) != 7 {
			t.Errorf("%d records", len(r.records))
		}
	}
	r := &reader{feed: "flux-1", records: map[[2]string]json.RawMessage{}}
	r.follow(t, s, 1000)
	renamed := small()
	renamed.Tools[2].Slug, renamed.Tools[2].Aliases = "d", []string{"c"}
	renamed.Retired, renamed.Comparisons[0].Published, renamed.Pages[0].Title = nil, false, "La méthode"
	s.publish(renamed)
	if n := r.follow(t, s, 1000); n != 1 || len(r.records) != 5 {
		t.Errorf("%d requests for a copy of %d records", n, len(r.records))
	}
	page := s.changes("?after=7")
	var got []string
	for _, c := range page.Data {
		line := fmt.Sprintf("%d %d %s %s %t", c.Position, c.Version, c.Kind, c.Slug, c.Deleted)
		if c.RenamedTo != nil {
			line += " " + *c.RenamedTo
		}
		if c.At != published || c.Deleted != (c.Hash == nil) || c.Deleted != (string(c.Record) == "null") {
			t.Errorf("%+v", c)
		}
		got = append(got, line)
	}
	want := []string{"8 2 outil d false", "9 2 page methode false", "10 2 cimetiere gomme true", "11 2 comparatif a-b true", "12 2 outil c true d"}
	if !slices.Equal(got, want) || page.Meta.Last != 12 || page.Meta.Next != 12 || page.Meta.More || page.Meta.Feed != "flux-1" || page.Meta.Version != 2 {
		t.Errorf("%q, %+v", got, page.Meta)
	}
	if page := s.changes("?after=12"); len(page.Data) > 0 || page.Meta.Next != 12 || page.Meta.More {
		t.Errorf("after the end: %+v", page)
	}
}

func TestAFilteredPageAdvancesPastOtherKinds(t *testing.T) {
	s := serve(t, small(), nil)
	page := s.changes("?kind=outil&limit=2")
	if len(page.Data) != 2 || page.Meta.Next != 2 || !page.Meta.More {
		t.Errorf("%+v", page.Meta)
	}
	page = s.changes("?kind=outil&limit=2&after=2")
	if len(page.Data) != 1 || page.Meta.Next != 7 || page.Meta.More {
		t.Errorf("%+v", page.Meta)
	}
	if page = s.changes("?kind=catalogue"); len(page.Data) != 1 || page.Data[0].Slug != "catalogue" || page.Meta.More {
		t.Errorf("%+v", page)
	}
}

func TestAPageHasAtMostEightMebibytesButForOneRecord(t *testing.T) {
	c := small()
	for i := range c.Tools {
		c.Tools[i].Body = strings.Repeat("Un avis \"long\".\n", 300_000)
	}
	s := serve(t, c, nil)
	r := s.get("/data/v1/changes").OK()
	var page changes
	if r.Into(&page); len(page.Data) != 1 || !page.Meta.More || page.Meta.Next != 1 {
		t.Errorf("%d records in %d bytes", len(page.Data), len(r.Body))
	}
	s.get("/data/v1/changes", "Accept-Encoding: br, gzip").OK().HasHeader("Content-Encoding", "gzip") // quickly rather than well
	copied := &reader{feed: "flux-1", records: map[[2]string]json.RawMessage{}}
	if n := copied.follow(t, s, 1000); n != 3 { // a tool, another one, the third one with the rest
		t.Errorf("%d requests", n)
	}
	s.get("/data/v1/records/outil?slug=a,b").Fails(400, "invalid_parameter")
	s.get("/data/v1/records/outil?slug=a").OK()
	s.get("/data/v1/records/outil?slug=a,b&fields=name").OK()
}

func TestACursorOfAnotherDatabaseIsRefused(t *testing.T) {
	s := serve(t, small(), nil)
	s.get("/data/v1/changes?after=8").Fails(409, "foreign_cursor")
	s.get("/data/v1/changes?after=9007199254740991").Fails(409, "foreign_cursor")
	s.get("/data/v1/changes?feed=autre").Fails(409, "foreign_cursor")
	s.get("/data/v1/changes?after=7&feed=autre").Fails(409, "foreign_cursor")
	for _, query := range []string{
		"?after=-1", "?after=x", "?after=", "?after=1.5", "?after=1&after=2", "?after=9007199254740992", "?limit=0", "?limit=1001", "?limit=x",
		"?kind=avis", "?kind=", "?feed=", "?feed=%ff",
	} {
		s.get("/data/v1/changes"+query).Fails(400, "invalid_parameter")
	}
	s.get("/data/v1/changes?inconnu=x&after=7&feed=flux-1").OK()
}

func TestRecordsComeInTheRequestedOrder(t *testing.T) {
	s := serve(t, small(), nil)
	var got struct {
		Data []json.RawMessage
		Meta struct {
			Missing []string
			Renamed map[string]string
		}
	}
	s.get("/data/v1/records/outil?slug=c,ancien,zut,b,gomme").OK().Into(&got)
	c := s.live.Catalog
	for i, slug := range []string{"c", "a", "b"} {
		r, _ := record.Find(c, catalog.ToolKind, slug)
		if want := r.Append(nil, r.Images(c)); len(got.Data) != 3 || !bytes.Equal(got.Data[i], want) {
			t.Fatalf("%s; want %s", got.Data, want)
		}
	}
	if !slices.Equal(got.Meta.Missing, []string{"zut", "gomme"}) || len(got.Meta.Renamed) != 1 || got.Meta.Renamed["ancien"] != "a" {
		t.Errorf("%+v", got.Meta)
	}
	for path, want := range map[string]string{
		"page?slug=methode&fields=title,menu":               `{"data":[{"slug":"methode","title":"Méthode","menu":"footer"}],"meta":{"missing":[],"renamed":{}}}`,
		"comparatif?slug=b-a,secret&fields=title":           `{"data":[{"slug":"a-b","title":"A ou B"}],"meta":{"missing":["secret"],"renamed":{"b-a":"a-b"}}}`,
		"cimetiere?slug=gomme&fields=body,name":             `{"data":[{"slug":"gomme","name":"Gomme","body":"*Fin.*"}],"meta":{"missing":[],"renamed":{}}}`,
		"catalogue?slug=catalogue&fields=url":               `{"data":[{"slug":"catalogue","url":"https://essai.example"}],"meta":{"missing":[],"renamed":{}}}`,
		"outil?slug=a,a&fields=images":                      `{"data":[` + twice(`{"slug":"a","images":[{"path":"images/l.png","sha256":"`+strings.Repeat("0f", 32)+`"}]}`) + `],"meta":{"missing":[],"renamed":{}}}`,
		"page?slug=methode&fields=title&inconnu=x&limit=-1": `{"data":[{"slug":"methode","title":"Méthode"}],"meta":{"missing":[],"renamed":{}}}`,
	} {
		if r := s.get("/data/v1/records/" + path).OK(); r.Body != want {
			t.Errorf("%s: %s; want %s", r, r.Body, want)
		}
	}
	for _, query := range []string{"", "?slug=", "?slug=a,,b", "?slug=A", "?slug=a&slug=b", "?slug=" + strings.Repeat("a,", 100) + "a", "?slug=a&fields=", "?slug=a&fields=inconnu", "?slug=a&fields=draft", "?slug=a&fields=name,"} {
		s.get("/data/v1/records/outil"+query).Fails(400, "invalid_parameter")
	}
	s.get("/data/v1/records/outil?slug=a,CHATGPT,b").Fails(400, "invalid_parameter", "contient « CHATGPT », qui n’est pas un identifiant")
	s.get("/data/v1/records/outil?slug=" + strings.Repeat("a,", 99) + "a").OK()
}

func twice(s string) string { return s + "," + s }

// Of these, generated clients make fields.
func TestEveryFieldOfARecordIsInTheDocument(t *testing.T) {
	for _, kind := range catalog.Kinds {
		schema := contract.Document.Components.Schemas["Record"+strings.ToUpper(kind.Name[:1])+kind.Name[1:]]
		for _, f := range kind.Fields {
			if !f.Form.IsStatus() && (schema == nil || schema.Value.Properties[f.Name] == nil) {
				t.Errorf("the records of %s have no %s in the document", kind.Name, f.Name)
			}
		}
	}
}

func TestSchemasAndTheDocumentAreServed(t *testing.T) {
	s := serve(t, small(), nil)
	for _, kind := range catalog.Kinds {
		want, err := content.RecordSchema(kind)
		if r := s.get("/data/v1/schema/" + kind.Name + ".json").OK(); err != nil || r.Body != string(want) {
			t.Errorf("%s: %s", r, r.Body)
		}
	}
	contract.CheckDocument(t, []byte(s.get("/data/v1/openapi.json").OK().Body))
	for _, path := range []string{"/data", "/data/", "/data/v1", "/data/v1/changes/", "/data/v1/records", "/data/v1/records/avis?slug=a", "/data/v1/records%2Foutil?slug=a", "/data/v1/schema/avis.json", "/data/v1/schema/outil", "/data/v2/changes"} {
		s.get(path).Fails(404, "not_found")
	}
	if r := s.do("POST", "/data/v1/changes").Is(405); r.Header.Get("Allow") != web.ReadMethods {
		t.Errorf("Allow: %s", r.Header.Get("Allow"))
	}
	if r := s.do("OPTIONS", "/data/v1/changes").Is(204); r.Header.Get("Access-Control-Allow-Headers") != "*, Authorization" {
		t.Errorf("%v", r.Header)
	}
	if r := s.do("HEAD", "/data/v1/changes").OK(); r.Body != "" || r.Header.Get("ETag") == "" {
		t.Errorf("%v", r.Header)
	}
}

func TestACallWithTheExamplesOfTheDocumentIsAnswered(t *testing.T) {
	s := serveExports(t, small(), nil)
	raw := []byte(s.get("/data/v1/openapi.json").OK().Body)
	contract.CheckDocument(t, raw)
	for _, call := range testkit.ExampleCalls(t, raw) {
		if call.Operation == "getExportFile" {
			s.get(call.Path, append(call.Headers, "Authorization: good")...).Is(307)
			continue
		}
		s.get(call.Path, append(call.Headers, "Authorization: good")...).OK()
	}
}

func TestAPublisherMayGiveAwayLessOrNothing(t *testing.T) {
	heads := small()
	heads.Settings.Dataset = catalog.DatasetHead
	s := serve(t, heads, nil)
	r := &reader{feed: "flux-1", records: map[[2]string]json.RawMessage{}}
	r.follow(t, s, 1000)
	for key, text := range r.records {
		if bytes.Contains(text, []byte(`"body"`)) {
			t.Errorf("%v has a body: %s", key, text)
		}
	}
	if body := s.get("/data/v1/records/outil?slug=a").OK().Body; strings.Contains(body, "Un avis") {
		t.Error(body)
	}
	off := small()
	off.Settings.Dataset = catalog.DatasetOff
	s = serve(t, off, nil)
	for _, path := range []string{"/data/v1/changes", "/data/v1/records/outil?slug=a", "/data/v1/history/a", "/data/v1/embeddings", "/data/v1/freshness", "/data/v1/schema/outil.json", "/data/v1/openapi.json"} {
		s.get(path).Fails(404, "not_found")
	}
}

func TestAnUnchangedAnswerIsNotSentAgain(t *testing.T) {
	s := serve(t, small(), nil)
	for _, path := range []string{"/data/v1/changes?after=3", "/data/v1/records/outil?slug=a,b", "/data/v1/search?q=avis", "/data/v1/freshness", "/data/v1/schema/page.json", "/data/v1/openapi.json"} {
		tags := map[string]bool{}
		for _, coding := range []string{"identity", "gzip", "br", "zstd"} {
			r := s.get(path, "Accept-Encoding: "+coding).OK()
			tag := r.Header.Get("ETag")
			tags[tag] = true
			s.get(path, "Accept-Encoding: "+coding, "If-None-Match: "+tag).Is(304)
			if again := s.get(path, "Accept-Encoding: "+coding, `If-None-Match: "x"`).OK(); again.Body != r.Body || again.Header.Get("ETag") != tag {
				t.Errorf("%s has another answer", r)
			}
		}
		if len(tags) != 4 {
			t.Errorf("%s has the tags %v", path, tags)
		}
	}
	tags := map[string]string{}
	for _, path := range []string{
		"/data/v1/changes", "/data/v1/changes?limit=1", "/data/v1/changes?kind=outil", "/data/v1/changes?after=1", "/data/v1/records/outil?slug=a", "/data/v1/records/outil?slug=b",
		"/data/v1/records/outil?slug=a,zut", "/data/v1/records/outil?slug=a&fields=name", "/data/v1/records/outil?slug=a&fields=price", "/data/v1/records/page?slug=methode",
		"/data/v1/search?q=a", "/data/v1/search?q=a&limit=1", "/data/v1/search?q=avis", "/data/v1/search?q=avis&page=2",
	} {
		tag := s.get(path).OK().Header.Get("ETag")
		if tags[tag] != "" {
			t.Errorf("%s and %s have one tag", path, tags[tag])
		}
		tags[tag] = path
	}
	before := s.get("/data/v1/changes?after=7").OK().Header.Get("ETag")
	changed := small()
	changed.Tools[0].Tagline = "Un autre"
	s.publish(changed)
	s.get("/data/v1/changes?after=7", "If-None-Match: "+before).OK()
}

func TestNobodyWaitsForChangesAndNothingStreams(t *testing.T) {
	s := serve(t, small(), nil)
	for _, accept := range []string{"text/event-stream", "Text/Event-Stream; charset=utf-8", "text/event-stream, application/json;q=0"} {
		s.get("/data/v1/changes", "Accept: "+accept).Fails(406, "not_acceptable", "If-None-Match", "webhook")
	}
	for _, accept := range []string{"*/*", "text/html", "application/json", "text/event-stream, */*", "application/json, text/event-stream", ";;,,q"} {
		s.get("/data/v1/changes?after=7", "Accept: "+accept).OK().HasHeader("Content-Type", "application/json")
	}
	for _, value := range []string{"=30", "=0", "=x", ""} {
		s.get("/data/v1/changes?after=7&wait"+value).FailsOn(400, "invalid_parameter", "wait", "If-None-Match", "webhook")
	}
}

// almostUsedUp returns a meter on which account acc_1 has three requests left today.
func almostUsedUp(t *testing.T) *quota.Meter {
	t.Helper()
	now := time.Date(2026, 11, 15, 8, 0, 0, 0, time.UTC)
	m, err := quota.New(t.Context(), quota.Config{
		Counters: quotatest.Counters{Usage: map[string]quota.Usage{
			"2026-11-15": {Accounts: []quota.AccountCount{{Account: "acc_1", Requests: 997}}},
		}},
		Now: func() time.Time { return now }, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestKeysAreCheckedAndRequestsCounted(t *testing.T) {
	s := serve(t, small(), almostUsedUp(t))
	counted := []string{"/data/v1/changes?after=0", "/data/v1/records/outil?slug=a", "/data/v1/schema/page.json?x=y"}
	all := append(slices.Clone(counted), "/data/v1/history/a?x=y", "/data/v1/embeddings?x=y", "/data/v1/freshness?x=y", "/data/v1/search?q=a")
	for _, path := range all {
		s.get(path, "Authorization: bad").Fails(401, "invalid_api_key")
		s.get(path, "Authorization: unreachable").Fails(503, "unavailable")
		s.get(path+"&cle=plm_"+strings.Repeat("a", 38)).Fails(400, "invalid_parameter")
	}
	for i, path := range counted {
		r := s.get(path, "Authorization: good").OK().HasHeader("X-RateLimit-Remaining", fmt.Sprint(2-i)).HasHeader("CDN-Cache-Control", "no-store")
		s.get(path, "Authorization: good", "If-None-Match: "+r.Header.Get("ETag")).Is(304).HasHeader("X-RateLimit-Remaining", fmt.Sprint(2-i))
	}
	for _, path := range all {
		s.get(path, "Authorization: good").Fails(429, "quota_exceeded", "export")
	}
	const free = "/data/v1/openapi.json"
	s.get(free, "Authorization: good").OK().HasHeader("X-RateLimit-Remaining", "0")
	s.get(free, "Authorization: bad").Fails(401, "invalid_api_key")
	s.get(free, "Authorization: unreachable").Fails(503, "unavailable")
	s.get(free+"?cle=plm_"+strings.Repeat("a", 38)).Fails(400, "invalid_parameter")
}

func TestTheDocumentHasTheCodesOfTheTable(t *testing.T) {
	documented := map[web.Code]bool{}
	for _, code := range contract.Document.Components.Schemas["Error"].Value.Properties["code"].Value.Enum {
		documented[web.Code(code.(string))] = true
	}
	for _, c := range web.Codes {
		if c.Dataset && !documented[c.Code] {
			t.Errorf("%s is not documented", c.Code)
		}
		if c.Meaning == "" && documented[c.Code] {
			t.Errorf("%s is documented, but not explained", c.Code)
		}
	}
}
