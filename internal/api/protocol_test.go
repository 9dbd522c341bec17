package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"

	"palmares/internal/account"
	"palmares/internal/api"
	"palmares/internal/catalog"
	"palmares/internal/snapshot"
	"palmares/internal/testkit"
	"palmares/internal/web"
)

func TestAnInvalidParameterIsNamedWithWhatIsAllowed(t *testing.T) {
	s := serve(t, smallCatalogue())
	lists := []string{"tools", "comparatifs", "pricing", "cimetiere"}
	for _, list := range lists {
		for _, bad := range []string{"0", "-1", "abc", "1.5", "", "+1", "1e3", "99999999999999999999", "%20" + "1", "1%00", "%zz"} {
			s.get("/api/v1/"+list+"?page="+bad).FailsOn(400, "invalid_parameter", "page", "page", "entier de 1")
			s.get("/api/v1/"+list+"?limit="+bad).FailsOn(400, "invalid_parameter", "limit", "limit", "1 à 200")
		}
		s.get("/api/v1/"+list+"?limit=201").FailsOn(400, "invalid_parameter", "limit", "1 à 200")
		s.get("/api/v1/"+list+"?limit=1&limit=1").FailsOn(400, "invalid_parameter", "limit", "plusieurs fois", "1 à 200")
		s.get("/api/v1/"+list+"?page=1&%70age=2").FailsOn(400, "invalid_parameter", "page", "plusieurs fois")
		s.get("/api/v1/"+list+"?category=").FailsOn(400, "invalid_parameter", "category", "vide")
		s.get("/api/v1/"+list+"?category").FailsOn(400, "invalid_parameter", "category", "vide")
		s.get("/api/v1/"+list+"?category=a&category=b").FailsOn(400, "invalid_parameter", "category", "plusieurs fois")
		s.get("/api/v1/"+list+"?category=%FF").FailsOn(400, "invalid_parameter", "category", "UTF-8")
	}
	for _, name := range []string{"score_min", "obsolescence_max"} {
		for _, bad := range []string{"abc", "", "NaN", "inf", "-Infinity", "1e999", "8,5", "0x1p3", "1_0"} {
			s.get("/api/v1/tools?"+name+"="+bad).FailsOn(400, "invalid_parameter", name, name, "nombre")
		}
		for _, good := range []string{"8", "8.5", "-1", "1e1", "0"} {
			s.get("/api/v1/tools?" + name + "=" + good).OK()
		}
	}
	for _, bad := range []string{"score", "SCORE_DESC", "", "name_asc%20"} {
		s.get("/api/v1/tools?sort="+bad).FailsOn(400, "invalid_parameter", "sort", "score_desc, score_asc, name_asc, name_desc")
	}
	for _, bad := range []string{"Mort", "", "x"} {
		s.get("/api/v1/cimetiere?reason="+bad).FailsOn(400, "invalid_parameter", "reason", "mort, acquis, deprecie, pivot, absorbe")
	}
}

func TestUnknownParametersAreIgnored(t *testing.T) {
	s := serve(t, smallCatalogue())
	whole := s.get("/api/v1/tools").OK()
	for _, query := range []string{"utm=x", "utm=%zz", "%zz=1", "a&b&&=", ";", "PAGE=2", "page[]=2", "reason=x"} {
		s.get("/api/v1/tools?" + query).OK().Equals(whole.Body)
	}
	s.get("/api/v1/stats?page=abc&limit=0").OK()
	s.get("/api/v1/categories?limit=1").lists("voix", "code", "chat")
	s.get("/api/v1/tools/zebre?page=abc").OK()
}

func TestAKeyInTheURLIsRefusedEverywhere(t *testing.T) {
	s := serve(t, smallCatalogue())
	key := "plm_" + strings.Repeat("a", 38)
	for _, path := range []string{
		"/api/v1/tools?key=" + key, "/api/v1/tools/zebre?x=1&api_key=" + key, "/api/v1/comparatifs?a=" + key, "/api/v1/comparatifs/cote-vs-zebre?a=" + key,
		"/api/v1/pricing?a=" + key, "/api/v1/pricing/cote?a=" + key, "/api/v1/cimetiere?a=" + key, "/api/v1/categories?a=" + key,
		"/api/v1/stats?a=%70lm_" + key[4:], "/api/v1/openapi.json?" + key, "/api/embeddings/zebre?token=" + key, "/api/rien?k=" + key,
	} {
		s.get(path).Fails(400, "invalid_parameter", "Authorization: Bearer")
	}
	s.get("/api/v1/tools?key="+key).FailsOn(400, "invalid_parameter", "key")
	s.get("/api/v1/stats?a=plm_short").OK()
	s.get("/api/v1/stats?a=Bearer%20"+key).Fails(400, "invalid_parameter")
	if r := s.get("/api/v1/stats?"+key+"=1").Fails(400, "invalid_parameter"); strings.Contains(r.Body, key) {
		t.Errorf("the answer repeats the key: %s", r.Body)
	}
}

func TestAURLThatIsTooLongIsRefused(t *testing.T) {
	serve(t, smallCatalogue()).get("/api/v1/tools?x="+strings.Repeat("y", 9000)).Fails(400, "invalid_parameter", "8192")
}

func TestARefusedKeyIsRefusedOnEveryPath(t *testing.T) {
	s := serve(t, smallCatalogue())
	for _, path := range everyPath {
		s.get(path, "Authorization: bad").Fails(401, "invalid_api_key").HasHeader("Www-Authenticate", "Bearer").HasHeader("Etag", "")
		s.get(path, "Authorization: unreachable").Fails(503, "unavailable").HasHeader("Retry-After", "5")
	}
	s.do("POST", "/api/v1/tools", "Authorization: bad").Fails(401, "invalid_api_key")
}

var everyPath = []string{
	"/api/v1/tools", "/api/v1/tools/zebre", "/api/v1/comparatifs", "/api/v1/comparatifs/cote-vs-zebre", "/api/v1/pricing", "/api/v1/pricing/zebre",
	"/api/v1/cimetiere", "/api/v1/categories", "/api/v1/stats", "/api/v1/openapi.json", "/api/embeddings/zebre", "/api/rien", "/api",
}

func TestKeyedAnswersAreKeptFromCachesThatIgnoreVary(t *testing.T) {
	s := serve(t, smallCatalogue())
	for _, path := range everyPath {
		s.get(path, "Authorization: good").HasHeader("Cdn-Cache-Control", "no-store")
		s.get(path).HasHeader("Cdn-Cache-Control", "")
	}
}

func TestANewVersionIsServedAlthoughAnswersAreKept(t *testing.T) {
	s := serve(t, smallCatalogue())
	before := s.get("/api/v1/stats").OK()
	s.live = snapshot.Build(&catalog.Catalog{}, 1, "2026-11-03") // with the same number, as after a restore
	if now := s.get("/api/v1/stats").OK().HasHeader("X-Service-Updated-At", "2026-11-03"); now.Body == before.Body {
		t.Error("the old answer is still sent")
	}
	s.get("/api/v1/tools").lists()
}

func TestWhatNeedsAKeyIsNotKeptForOthers(t *testing.T) {
	s := serve(t, smallCatalogue())
	s.get("/api/embeddings/zebre", "Authorization: good").OK()
	s.get("/api/embeddings/zebre").Fails(401, "missing_api_key")
}

func TestUnknownPathsAreJSON(t *testing.T) {
	s := serve(t, smallCatalogue())
	for _, path := range []string{
		"/api", "/api/", "/api/v1", "/api/v1/", "/api/v2/tools", "/api/v1/tools/", "/api/v1/tools/zebre/", "/api/v1/stats/x", "/api/v1//tools", "/api//v1/tools",
		"/api/v1/./tools", "/api/v1/x/../tools", "/api/v1/tools/a%2Fb", "/api/v1%2Ftools", "/api%2fv1/tools", "/api/v1/%2e%2e/tools", "/api/v1/TOOLS", "/api/embeddings", "/api/embeddings/", "/api/v1/embeddings/zebre",
	} {
		s.get(path).Fails(404, "not_found", "openapi.json")
	}
}

func TestHeadIsGetWithoutABody(t *testing.T) {
	s := serve(t, smallCatalogue())
	for _, path := range append(slices.Clone(everyPath), "/api/v1/tools?page=0", "/api/v1/tools/zebra") {
		get := s.get(path, "Authorization: good")
		head := s.do("HEAD", path, "Authorization: good")
		get.Header.Del("Date")
		head.Header.Del("Date")
		if head.Status != get.Status || len(head.Raw) != 0 || !reflect.DeepEqual(head.Header, get.Header) {
			t.Errorf("HEAD %s: %d %v, GET: %d %v", path, head.Status, head.Header, get.Status, get.Header)
		}
	}
}

func TestOptionsAnswersThePreflight(t *testing.T) {
	s := serve(t, smallCatalogue())
	for _, path := range everyPath {
		r := s.do("OPTIONS", path, "Origin: https://ailleurs.example", "Access-Control-Request-Method: GET", "Access-Control-Request-Headers: authorization")
		if r.Status != 204 || len(r.Raw) != 0 {
			t.Errorf("%s: %d", r, r.Status)
		}
		r.HasHeader("Access-Control-Allow-Headers", "*, Authorization").HasHeader("Access-Control-Allow-Methods", "GET, HEAD, OPTIONS").HasHeader("Access-Control-Max-Age", "86400")
	}
}

func TestOtherMethodsAreRefused(t *testing.T) {
	s := serve(t, smallCatalogue())
	for _, method := range []string{"POST", "PUT", "DELETE", "PATCH", "TRACE", "BREW"} {
		for _, path := range everyPath {
			s.do(method, path).Fails(405, "method_not_allowed", method, "GET").HasHeader("Allow", "GET, HEAD, OPTIONS")
		}
	}
}

func TestEveryAnswerHasAStrongTagAndCanBeRevalidated(t *testing.T) {
	s := serve(t, smallCatalogue())
	for _, path := range everyPath[:11] {
		tags := map[string]string{}
		for _, coding := range []string{"identity", "gzip", "br", "zstd"} {
			r := s.get(path, "Authorization: good", "Accept-Encoding: "+coding).OK()
			tag := r.Header.Get("Etag")
			if !strings.HasPrefix(tag, `"`) || tags[tag] != "" {
				t.Errorf("%s in %s: tag %s, as in %s", path, coding, tag, tags[tag])
			}
			tags[tag] = coding
			again := s.get(path, "Authorization: good", "Accept-Encoding: "+coding)
			if again.Header.Get("Etag") != tag || string(again.Raw) != string(r.Raw) {
				t.Errorf("%s in %s: another answer the second time", path, coding)
			}
			for _, match := range []string{tag, "W/" + tag, `"x", ` + tag, `"x",W/"y" ,` + tag + `, "z"`, "*"} {
				r := s.get(path, "Authorization: good", "Accept-Encoding: "+coding, "If-None-Match: "+match)
				if r.Status != 304 || len(r.Raw) != 0 || r.Header.Get("Etag") != tag {
					t.Errorf("%s If-None-Match: %s: %d %s", path, match, r.Status, r.Header.Get("Etag"))
				}
			}
			for _, match := range []string{`"x"`, strings.Trim(tag, `"`), tag[:len(tag)-1], `""`, ",", "W/"} {
				s.get(path, "Authorization: good", "Accept-Encoding: "+coding, "If-None-Match: "+match).OK()
			}
		}
	}
	a := s.get("/api/v1/tools", `If-None-Match: "a"`, "If-None-Match: "+s.get("/api/v1/tools").Header.Get("Etag"))
	if a.Status != 304 {
		t.Errorf("a tag in a second header line: %d", a.Status)
	}
}

func TestTagsDoNotDependOnTheProcess(t *testing.T) {
	one, two := serve(t, smallCatalogue()), serve(t, smallCatalogue())
	for _, path := range append(slices.Clone(everyPath[:10]), "/api/v1/tools?limit=2&page=2&sort=name_desc") {
		if a, b := one.get(path).Header.Get("Etag"), two.get(path).Header.Get("Etag"); a != b || a == "" {
			t.Errorf("%s: %s and %s", path, a, b)
		}
	}
	changed := smallCatalogue()
	changed.Tools[0].Tagline = "Autre"
	three := serve(t, changed)
	if one.get("/api/v1/tools").Header.Get("Etag") == three.get("/api/v1/tools").Header.Get("Etag") {
		t.Error("another list has the same tag")
	}
	if a, b := one.get("/api/v1/tools/zebre").Header.Get("Etag"), three.get("/api/v1/tools/zebre").Header.Get("Etag"); a != b {
		t.Error("an unchanged tool has another tag")
	}
}

func TestTheBestCodingIsChosen(t *testing.T) {
	s := serve(t, smallCatalogue())
	plain := string(s.get("/api/v1/tools").OK().HasHeader("Content-Encoding", "").Body)
	for accept, want := range map[string]string{
		"gzip": "gzip", "br": "br", "zstd": "zstd", "gzip, deflate, br, zstd": "br", "gzip, zstd": "zstd", "GZIP": "gzip", "x-gzip": "gzip",
		"br;q=0.5, gzip": "gzip", "br;q=0, *": "zstd", "*": "br", "*;q=0": "", "identity": "", "": "", "deflate": "", "br;q=0.1, identity;q=0.5": "",
		"gzip;q=0": "", "br;q=abc, gzip;q=0.1": "gzip", "gzip;q=2": "", "gzip ; q=0.8 , br ; q=0.8": "br", ",,;;q=,": "", "identity;q=0": "",
		"identity;q=0, gzip;q=0.001": "gzip",
	} {
		r := s.get("/api/v1/tools", "Accept-Encoding: "+accept).OK().HasHeader("Content-Encoding", want).Equals(plain)
		r.HasHeader("Content-Length", fmt.Sprint(len(r.Raw)))
	}
	r := s.get("/api/v1/tools", "Accept-Encoding: gzip;q=0.5", "Accept-Encoding: zstd").OK()
	r.HasHeader("Content-Encoding", "zstd")
}

func TestPagesAreLinkedAndKeepTheirFilters(t *testing.T) {
	s := serve(t, smallCatalogue())
	const licence = `</licence>; rel="license"`
	s.get("/api/v1/tools?limit=3&page=2&sort=name_asc").HasHeader("Link", `</api/v1/tools?limit=3&sort=name_asc&page=1>; rel="first", </api/v1/tools?limit=3&sort=name_asc&page=1>; rel="prev", </api/v1/tools?limit=3&sort=name_asc&page=3>; rel="next", </api/v1/tools?limit=3&sort=name_asc&page=3>; rel="last", `+licence)
	s.get("/api/v1/tools").HasHeader("Link", `</api/v1/tools?page=1>; rel="first", </api/v1/tools?page=1>; rel="last", `+licence)
	s.get("/api/v1/pricing?page=7&limit=4").HasHeader("Link", `</api/v1/pricing?limit=4&page=1>; rel="first", </api/v1/pricing?limit=4&page=2>; rel="prev", </api/v1/pricing?limit=4&page=2>; rel="last", `+licence)
	s.get(`/api/v1/tools?category=%3E%22é%3C`).HasHeader("Link", `</api/v1/tools?category=%3E%22%C3%A9%3C&page=1>; rel="first", `+licence)
	for _, path := range []string{"/api/v1/categories", "/api/v1/stats", "/api/v1/tools/zebre", "/api/v1/openapi.json"} {
		s.get(path).OK().HasHeader("Link", licence)
	}
}

func TestLinksLeadToTheWholeList(t *testing.T) {
	s := serve(t, smallCatalogue())
	var got []string
	path := "/api/v1/tools?limit=3&score_min=3"
	for path != "" {
		r := s.get(path).OK()
		got = append(got, r.slugs()...)
		path = ""
		for _, link := range strings.Split(r.Header.Get("Link"), ", ") {
			if ref, ok := strings.CutSuffix(link, `>; rel="next"`); ok {
				path = ref[1:]
			}
		}
	}
	if want := s.get("/api/v1/tools?score_min=3").slugs(); !slices.Equal(got, want) {
		t.Errorf("following next returns %v", got)
	}
}

func TestTheDocumentIsValidForEveryCatalogue(t *testing.T) {
	tags := map[string]bool{}
	for _, c := range []*catalog.Catalog{smallCatalogue(), {Name: "Vide", URL: "https://vide.example"}} {
		r := serve(t, c).get("/api/v1/openapi.json").OK().HasHeader("Content-Type", "application/json")
		contract.CheckDocument(t, []byte(r.Body))
		tags[r.Header.Get("ETag")] = true
	}
	if len(tags) != 2 {
		t.Errorf("two documents have the entity tags %v", tags)
	}
}

func TestACallWithTheExamplesOfTheDocumentIsAnswered(t *testing.T) {
	s := serve(t, smallCatalogue())
	for _, call := range testkit.ExampleCalls(t, []byte(s.get("/api/v1/openapi.json").OK().Body)) {
		s.get(call.Path, append(call.Headers, "Authorization: good")...).OK()
	}
}

func TestTheDocumentHasExactlyTheServedPaths(t *testing.T) {
	var got []string
	for path := range contract.Document.Paths.Map() {
		got = append(got, path)
	}
	slices.Sort(got)
	want := []string{
		"/api/embeddings/{slug}", "/api/v1/categories", "/api/v1/cimetiere", "/api/v1/comparatifs", "/api/v1/comparatifs/{slug}", "/api/v1/openapi.json",
		"/api/v1/pricing", "/api/v1/pricing/{slug}", "/api/v1/stats", "/api/v1/tools", "/api/v1/tools/{slug}",
	}
	if !slices.Equal(got, want) {
		t.Errorf("the document has the paths %v", got)
	}
}

func TestTheDocumentHasTheCodesOfTheTable(t *testing.T) {
	var got, want []string
	for _, code := range contract.Document.Components.Schemas["Error"].Value.Properties["code"].Value.Enum {
		got = append(got, code.(string))
	}
	for _, c := range web.Codes {
		if c.Meaning != "" && !c.Dataset {
			want = append(want, string(c.Code))
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("documented %v, in the table %v", got, want)
	}
}

func TestSchemasHaveTheFieldsOfTheItems(t *testing.T) {
	for name, item := range map[string]any{
		"ToolItem": catalog.ToolItem{}, "PriceChange": catalog.PriceChangeItem{}, "Category": catalog.CategoryItem{}, "Stats": catalog.Stats{},
		"Chunk": catalog.Chunk{}, "ChunkMetadata": catalog.ChunkMetadata{},
	} {
		ref := contract.Document.Components.Schemas[name]
		if ref == nil {
			t.Errorf("no schema %s", name)
			continue
		}
		var got, want []string
		for field := range ref.Value.Properties {
			got = append(got, field)
		}
		for i := range reflect.TypeOf(item).NumField() {
			if field := reflect.TypeOf(item).Field(i).Tag.Get("json"); field != "-" {
				want = append(want, field)
			}
		}
		required := slices.Clone(ref.Value.Required)
		slices.Sort(got)
		slices.Sort(want)
		slices.Sort(required)
		if !slices.Equal(got, want) || !slices.Equal(required, want) {
			t.Errorf("%s: properties %v, required %v, fields %v", name, got, required, want)
		}
	}
}

// FuzzAnyRequestIsAnswered sends any path, query and headers and checks that the
// answer is JSON with a documented status.
func FuzzAnyRequestIsAnswered(f *testing.F) {
	for _, seed := range [][4]string{
		{"/api/v1/tools", "page=2&limit=3", "gzip", `"x"`},
		{"/api/v1/tools/zebra", "a=%zz&page=\xff", "br;q=0.5,*", "W/"},
		{"/api/\x00\xff", "score_min=1e308&score_min", ";;q=", `"a`},
		{"/api/v1/cimetiere", "reason=mort&category=%FF", "*;q=0", "*"},
		{"/api/embeddings/../x", "&&==", "", ""},
		{"/api/v1/tools/zebra", "\x00", "", ""},
	} {
		f.Add(seed[0], seed[1], seed[2], seed[3])
	}
	c := smallCatalogue()
	c.Sort()
	catalog.CarryOver(&catalog.Catalog{}, c, "2026-11-01")
	snap := snapshot.Build(c, 1, "2026-11-02")
	handler := api.New(api.Config{
		Snapshot: func() *snapshot.Snapshot { return snap },
		Callers: web.Authorizer(func(context.Context, *http.Request) (web.Caller, error) {
			return web.Caller{Key: &account.Key{}}, nil
		}),
	})
	f.Fuzz(func(t *testing.T, path, query, accept, match string) {
		r := httptest.NewRequestWithContext(t.Context(), "GET", "/", nil)
		r.URL = &url.URL{Path: path, RawQuery: query}
		r.Header.Set("Accept-Encoding", accept)
		r.Header.Set("If-None-Match", match)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if !slices.Contains([]int{200, 304, 308, 400, 404}, w.Code) {
			t.Fatalf("%d", w.Code)
		}
		for name, values := range w.Header() {
			for _, v := range values {
				if strings.ContainsAny(v, "\r\n\x00") {
					t.Errorf("%s: %q", name, v)
				}
			}
		}
		if w.Code != 304 && w.Code != 308 && w.Header().Get("Content-Encoding") == "" && !json.Valid(w.Body.Bytes()) {
			t.Errorf("%d with %q", w.Code, w.Body)
		}
	})
}

func TestErrorsAreInEnglishForWhoPrefersIt(t *testing.T) {
	s := serve(t, smallCatalogue())
	for wish, want := range map[string]string{
		"": "Aucun outil", "*": "Aucun outil", "de": "Aucun outil", "fr, en": "Aucun outil", "en;q=0.5, fr;q=0.7": "Aucun outil", "*, en;q=0.9": "Aucun outil",
		"en": "No tool has the slug", "EN-gb, fr;q=0.9": "No tool has the slug", "de, en;q=0.4": "No tool has the slug", "fr;q=0.1, en": "No tool has the slug",
	} {
		r := s.get("/api/v1/tools/nichts", "Accept-Language: "+wish)
		if r.Status != 404 || !strings.Contains(r.Body, want) || !strings.Contains(r.Body, `"code":"tool_not_found"`) {
			t.Errorf("%q: %d %s", wish, r.Status, r.Body)
		}
	}
	english, french := s.get("/api/v1/stats", "Accept-Language: en"), s.get("/api/v1/stats", "Accept-Language: fr")
	if english.Body != french.Body || english.Header.Get("ETag") != french.Header.Get("ETag") || strings.Contains(english.Header.Get("Vary"), "Language") {
		t.Error("what is no error differs by language")
	}
}
