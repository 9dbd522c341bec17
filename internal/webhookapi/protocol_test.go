package webhookapi_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"palmares/internal/account"
	"palmares/internal/catalog"
	"palmares/internal/web"
	"palmares/internal/webhook"
	"palmares/internal/webhookapi"
)

// An operation of the document, with a valid request.
type operation struct{ method, path, body string }

// public reports whether the operation needs no key.
func (o operation) public() bool { return strings.HasSuffix(o.path, "openapi.json") }

// operations returns all operations, on the given endpoint and delivery.
func operations(endpoint, delivery string) []operation {
	var all []operation
	for path, item := range contract.Document.Paths.Map() {
		id := endpoint
		if strings.HasPrefix(path, deliveries) {
			id = delivery
		}
		for method, op := range item.Operations() {
			o := operation{method: method, path: strings.Replace(path, "{id}", id, 1)}
			switch op.OperationID {
			case "createEndpoint", "changeEndpoint":
				o.body = `{"url":"https://autre.example"}`
			case "recover":
				o.body = `{"since":"2026-11-15"}`
			}
			all = append(all, o)
		}
	}
	// By path, and DELETE last: nothing works after it.
	slices.SortFunc(all, func(a, b operation) int {
		return cmp.Or(
			cmp.Compare(strings.Count(a.method, "DELETE"), strings.Count(b.method, "DELETE")),
			cmp.Compare(a.path+a.method, b.path+b.method),
		)
	})
	return all
}

func bearer(key string) string { return "Authorization: Bearer " + key }

// someDelivery creates an endpoint of Ada's with one delivery.
func (s *service) someDelivery() (endpoint, delivery string) {
	s.t.Helper()
	endpoint, _ = s.create(`{"url":"https://un.example"}`)
	s.do("POST", endpoints+"/"+endpoint+"/ping", "").Is(202)
	return endpoint, s.only(endpoint).ID
}

func TestTheDocumentIsServedToEverybody(t *testing.T) {
	s := serve(t, databases.OpenDSN(t, databases.SQLite(t)))
	for _, headers := range [][]string{nil, {bearer(s.key)}, {bearer(s.newKey("dev@example.org", account.Developer))}} {
		r := s.ask("GET", "/webhooks/v1/openapi.json", "", headers...).Is(200).Contains(`"servers": [{"url":"https://essai.example"}]`)
		contract.CheckDocument(t, []byte(r.Body))
	}
}

func TestPagesOfAnyOriginReadTheDocumentAndNothingElse(t *testing.T) {
	s := serve(t, databases.OpenDSN(t, databases.SQLite(t)))
	const document = "/webhooks/v1/openapi.json"
	s.ask("GET", document, "", "Origin: https://autre.example").Is(200).HasHeader("Access-Control-Allow-Origin", "*")
	s.ask("GET", document, "", bearer("plm_x")).Is(401).HasHeader("Access-Control-Allow-Origin", "*")
	s.ask("OPTIONS", document, "", "Origin: https://autre.example", "Access-Control-Request-Headers: authorization, traceparent").Is(204).
		HasHeader("Access-Control-Allow-Origin", "*").HasHeader("Access-Control-Allow-Headers", "*, Authorization").HasHeader("Access-Control-Allow-Methods", "GET, HEAD, OPTIONS")
	for _, path := range []string{endpoints, events} {
		s.ask("OPTIONS", path, "", bearer(s.key), "Origin: https://autre.example").Is(405).HasHeader("Access-Control-Allow-Origin", "")
		s.do("GET", path, "").Is(200).HasHeader("Access-Control-Allow-Origin", "")
	}
}

// The file has an event of every type, as receivers get them.
func TestEveryEventIsOfTheUnion(t *testing.T) {
	file, err := os.ReadFile("../catalogdb/testdata/events.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	union, seen := contract.Document.Components.Schemas["Event"].Value, map[string]bool{}
	ping := string(webhook.EventBody("evt_…", time.Unix(0, 0), 0, &catalog.Change{Type: webhook.Ping, URL: "https://essai.example"}))
	for line := range strings.Lines(string(file) + ping) {
		var event map[string]any
		if err := json.Unmarshal([]byte(strings.Replace(line, "evt_…", "evt_"+strings.Repeat("0", 26), 1)), &event); err != nil {
			t.Fatal(err)
		}
		if err := union.VisitJSON(event); err != nil {
			t.Errorf("%s: %v", line, err)
		}
		kind := event["type"].(string)
		seen[kind] = true
		event["data"].(map[string]any)["object"] = map[string]any{"slug": "a"}
		if union.VisitJSON(event) == nil {
			t.Errorf("%s: any object will do", kind)
		}
	}
	for _, kind := range append(slices.Clone(webhook.Types), webhook.Ping) {
		if !seen[kind] || union.Discriminator.Mapping[kind].Ref == "" {
			t.Errorf("%s: no event in the file, or none in the document", kind)
		}
	}
}

func TestTheDocumentHasExactlyTheServedPathsMethodsAndTypes(t *testing.T) {
	s := serve(t, databases.OpenDSN(t, databases.SQLite(t)))
	endpoint, delivery := s.someDelivery()
	var documented []string
	for path, item := range contract.Document.Paths.Map() {
		documented = append(documented, path)
		var methods []string
		for method := range item.Operations() {
			methods = append(methods, method)
			if method == "GET" {
				methods = append(methods, "HEAD")
			}
		}
		slices.Sort(methods)
		id := endpoint
		if strings.HasPrefix(path, deliveries) {
			id = delivery
		}
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PURGE"} {
			if isDocument := strings.HasSuffix(path, "openapi.json"); isDocument && method == "OPTIONS" {
				continue // which is a preflight
			} else if isDocument {
				methods = strings.Split(web.ReadMethods, ", ")
			}
			if !slices.Contains(methods, method) {
				r := s.ask(method, strings.Replace(path, "{id}", id, 1), "", bearer(s.key)).Is(405).HasHeader("Allow", strings.Join(methods, ", "))
				if method != "HEAD" {
					r.FailsOn(405, "method_not_allowed", "", method, methods[0])
				}
			}
		}
	}
	served := webhookapi.New(webhookapi.Config{}).Patterns()
	slices.Sort(served)
	slices.Sort(documented)
	if !slices.Equal(served, documented) {
		t.Errorf("served %v, documented %v", served, documented)
	}
	var types []string
	for _, v := range contract.Document.Components.Schemas["EndpointInput"].Value.Properties["events"].Value.Items.Value.Enum {
		types = append(types, v.(string))
	}
	if !slices.Equal(types, webhook.Types) {
		t.Errorf("documented types %v", types)
	}
}

func TestTheDocumentHasTheCodesOfTheTable(t *testing.T) {
	documented := map[web.Code]bool{}
	for _, code := range contract.Document.Components.Schemas["Error"].Value.Properties["code"].Value.Enum {
		documented[web.Code(code.(string))] = true
	}
	for _, c := range web.Codes {
		if c.Meaning == "" && !c.Publishing && !documented[c.Code] { // only this API can return it
			t.Errorf("%s is not documented", c.Code)
		}
		delete(documented, c.Code)
	}
	if len(documented) > 0 {
		t.Errorf("not in the table: %v", documented)
	}
}

func TestEveryOperationWorksOnlyForTheOwner(t *testing.T) {
	each(t, func(t *testing.T, s *service) {
		endpoint, delivery := s.someDelivery()
		for _, o := range operations(endpoint, delivery) {
			if strings.Contains(o.path, "_") { // it has an id
				s.ask(o.method, o.path, o.body, bearer(s.otherKey)).FailsOn(404, "not_found", "")
			}
		}
		for _, bad := range []string{"x", "whk_", "%00", "%FF", "..", "whk_" + strings.Repeat("0", 26), "dlv_" + strings.Repeat("z", 26), strings.Repeat("a", 5000), "<script>"} {
			for _, o := range operations(url.PathEscape(bad), url.PathEscape(bad)) {
				if strings.Contains(o.path, url.PathEscape(bad)) {
					if r := s.do(o.method, o.path, o.body).FailsOn(404, "not_found", ""); len(r.Body) > 1000 {
						t.Errorf("the answer has %d bytes", len(r.Body))
					}
				}
			}
		}
		for _, o := range operations(endpoint, delivery) {
			if r := s.do(o.method, o.path, o.body); r.Status >= 300 {
				t.Errorf("%s: %d %s", r, r.Status, r.Body)
			}
		}
	})
}

func TestEveryOperationNeedsAValidProKey(t *testing.T) {
	each(t, func(t *testing.T, s *service) {
		endpoint, delivery := s.someDelivery()
		developer := s.newKey("dev@example.org", account.Developer)
		for _, o := range operations(endpoint, delivery) {
			for _, c := range []struct {
				headers []string
				code    string
			}{
				{[]string{bearer("plm_x")}, "invalid_api_key"},
				{[]string{"X-Api-Key: " + s.key, "Cookie: key=" + s.key}, "missing_api_key"},
			} {
				if o.public() && c.code == "missing_api_key" {
					continue
				}
				s.ask(o.method, o.path, o.body, c.headers...).FailsOn(401, c.code, "").HasHeader("WWW-Authenticate", "Bearer")
			}
			if !o.public() {
				s.ask(o.method, o.path, o.body, bearer(developer)).FailsOn(403, "plan_required", "", "Pro")
			}
			for _, query := range []string{"?key=" + s.key, "?x=1&key=a" + s.key, "?key=%70lm_" + s.key[4:]} {
				s.ask(o.method, o.path+query, o.body, bearer(s.key)).FailsOn(400, "invalid_parameter", "key", "Authorization: Bearer")
			}
			if r := s.ask(o.method, o.path+"?"+s.key, o.body).FailsOn(400, "invalid_parameter", ""); strings.Contains(r.Body, s.key) {
				t.Errorf("%s: the answer repeats the key", r)
			}
		}
		s.ask("GET", endpoints, "", "Authorization: bEARER   "+s.key).Is(200)
	})
}

func TestEveryOperationRefusesASuspendedKeyAndOneThatCannotBeLookedUp(t *testing.T) {
	each(t, func(t *testing.T, s *service) {
		ops := operations(s.someDelivery())
		suspended := s.suspendedKey()
		unknown := s.newKey("bob@example.org", account.Pro)
		for _, o := range ops {
			s.ask(o.method, o.path, o.body, bearer(suspended)).FailsOn(403, "key_suspended", "")
		}
		s.lookupsFail.Store(true)
		for _, o := range ops {
			s.ask(o.method, o.path, o.body, bearer(unknown)).FailsOn(503, "unavailable", "").HasHeader("Retry-After", "5")
		}
	})
}

// suspendedKey creates a key of an account that has more keys than its plan allows.
func (s *service) suspendedKey() string {
	s.t.Helper()
	var keys []string
	for range account.MaxKeys(account.Developer) + 1 {
		keys = append(keys, s.newKey("cid@example.org", account.Pro))
	}
	err := s.store.Accounts.SetPlan(s.t.Context(), "cid@example.org", account.Developer, s.clock())
	for range 2 { // the first call starts the grace period, the second is after it
		if err == nil {
			err = s.store.Keys.SuspendExcess(s.t.Context(), s.clock())
		}
		s.advance(account.KeyGrace + time.Hour)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	for _, key := range keys {
		if k, err := s.store.Keys.ByHash(s.t.Context(), account.HashKey(key)); err == nil && !k.SuspendedAt.IsZero() {
			return key
		}
	}
	s.t.Fatal("no key is suspended")
	return ""
}

func TestAnInternalErrorIsLoggedAndNotShown(t *testing.T) {
	s := serve(t, databases.OpenDSN(t, databases.SQLite(t)))
	endpoint, delivery := s.someDelivery()
	if err := s.store.Close(); err != nil {
		t.Fatal(err)
	}
	for _, o := range operations(endpoint, delivery) {
		if !o.public() {
			s.do(o.method, o.path, o.body).FailsOn(500, "internal", "", "consignée")
		}
	}
	if log := s.log.String(); !strings.Contains(log, `"route":"/webhooks/v1/endpoints/{id}"`) || !strings.Contains(log, "closed") || strings.Contains(log, s.key) {
		t.Errorf("log: %s", log)
	}
}

func TestBodiesAreReadStrictly(t *testing.T) {
	s := serve(t, databases.OpenDSN(t, databases.SQLite(t)))
	endpoint, _ := s.someDelivery()
	for _, c := range []struct{ body, param, word string }{
		{``, "", "url, events"},
		{`null`, "", "url, events"},
		{`[]`, "", "objet"},
		{`"x"`, "", "objet"},
		{`{`, "", "objet"},
		{`{"url":"https://un.example"`, "", "objet"},
		{`{"url":}`, "", "objet"},
		{`{"url":"https://un.example"}{}`, "", "seul"},
		{`{"url":"https://un.example"} x`, "", "seul"},
		{"{\"url\":\"https://un.example/\xff\"}", "", "UTF-8"},
		{`{}`, "url", "manque"},
		{`{"url":null}`, "url", "chaîne"},
		{`{"url":1}`, "url", "chaîne"},
		{`{"url":["https://un.example"]}`, "url", "chaîne"},
		{`{"url":"https://un.example","url":"https://un.example"}`, "url", "plusieurs fois"},
		{`{"url":"https://un.example","\u0075rl":"https://un.example"}`, "url", "plusieurs fois"},
		{`{"url":"https://un.example","event":[]}`, "event", "url, events"},
		{`{"URL":"https://un.example"}`, "URL", "url, events"},
		{`{"url":"https://un.example","state":"paused"}`, "state", "url, events"},
		{`{"url":"https://un.example","events":"tool.created"}`, "events", "liste"},
		{`{"url":"https://un.example","events":[]}`, "events", "non vide"},
		{`{"url":"https://un.example","events":[null]}`, "events", "liste"},
		{`{"url":"https://un.example","events":[1]}`, "events", "liste"},
		{`{"url":"https://un.example","events":{}}`, "events", "liste"},
		{`{"url":"https://un.example","events":["tool.made"]}`, "events", "tool.created"},
		{`{"url":"https://un.example","events":["webhook.ping"]}`, "events", "toujours"},
		{`{"` + strings.Repeat("é", 2000) + `":1}`, strings.Repeat("é", 100) + "…", "url, events"},
	} {
		s.do("POST", endpoints, c.body).FailsOn(400, "invalid_parameter", c.param, c.word)
	}
	for _, c := range []struct{ body, param, word string }{
		{`{}`, "", "state"},
		{`{"state":"disabled"}`, "state", "active, paused"},
		{`{"state":"suspended"}`, "state", "active, paused"},
		{`{"state":null}`, "state", "chaîne"},
		{`{"state":"paused","events":[]}`, "events", "non vide"},
		{`{"secret":"whsec_x"}`, "secret", "url, events, state"},
	} {
		s.do("PATCH", endpoints+"/"+endpoint, c.body).FailsOn(400, "invalid_parameter", c.param, c.word)
	}
	// White space around it is allowed.
	s.do("POST", endpoints, " \n{\"url\" : \"https://un.example\"}\t\n").Is(201)
}

func TestEveryBodyIsLimitedAndMustBeJSON(t *testing.T) {
	s := serve(t, databases.OpenDSN(t, databases.SQLite(t)))
	endpoint, delivery := s.someDelivery()
	for _, o := range operations(endpoint, delivery) {
		if o.method == "GET" || o.method == "DELETE" {
			continue
		}
		s.do(o.method, o.path, "{"+strings.Repeat(" ", 16<<10)+"}").FailsOn(413, "payload_too_large", "", "16384")
		for _, kind := range []string{"text/plain", "", "application/json; charset=latin1", "application/x-www-form-urlencoded", "application/jsonp", "application/json;;"} {
			s.ask(o.method, o.path, "{}", bearer(s.key), "Content-Type: "+kind).FailsOn(415, "unsupported_media_type", "", "application/json")
		}
		s.ask(o.method, o.path, "{}", bearer(s.key), "Content-Encoding: gzip").FailsOn(415, "unsupported_media_type", "")
		if o.body == "" {
			s.do(o.method, o.path, `{"force":true}`).FailsOn(400, "invalid_parameter", "force", "aucun champ")
			s.do(o.method, o.path, `[]`).FailsOn(400, "invalid_parameter", "")
		}
		s.ask(o.method, o.path, cmp.Or(o.body, "{}"), bearer(s.key), "Content-Type: Application/JSON; charset=UTF-8")
	}
}

func TestUnknownPathsAreJSON(t *testing.T) {
	s := serve(t, databases.OpenDSN(t, databases.SQLite(t)))
	id, _ := s.create(`{"url":"https://un.example"}`)
	for _, path := range []string{
		"/webhooks", "/webhooks/", "/webhooks/v1", "/webhooks/v1/", "/webhooks/v2/endpoints", endpoints + "/", endpoints + "//", endpoints + "/" + id + "/", endpoints + "//ping",
		endpoints + "/" + id + "/pings", endpoints + "%2F" + id, "/webhooks//v1/endpoints", "/webhooks/v1/../v1/endpoints", deliveries, deliveries + "/", events + "/1", "/",
	} {
		s.ask("GET", path, "").FailsOn(404, "not_found", "", "/webhooks/v1/openapi.json")
		s.do("POST", path, "{}").FailsOn(404, "not_found", "")
		s.ask("GET", path, "", bearer("plm_x")).FailsOn(401, "invalid_api_key", "")
	}
}

func TestHEADAnswersAsGETDoes(t *testing.T) {
	s := serve(t, databases.OpenDSN(t, databases.SQLite(t)))
	endpoint, delivery := s.someDelivery()
	for _, o := range operations(endpoint, delivery) {
		if o.method != "GET" {
			continue
		}
		head, get := s.do("HEAD", o.path, ""), s.get(o.path)
		if head.Status != 200 || len(head.Body) != 0 || head.Header.Get("Content-Length") != fmt.Sprint(len(get.Body)) {
			t.Errorf("%s: %d, %v, GET has %d bytes", head, head.Status, head.Header, len(get.Body))
		}
	}
	if r := s.ask("HEAD", endpoints, ""); r.Status != 401 {
		t.Errorf("HEAD without a key: %d", r.Status)
	}
}

func TestAPanicIsAnsweredInTheFormOfErrors(t *testing.T) {
	w := httptest.NewRecorder()
	w.Header().Set("Location", "/half/an/answer")
	webhookapi.New(webhookapi.Config{}).WriteInternalError(w, httptest.NewRequest("GET", "/", nil))
	if w.Code != 500 || w.Header().Get("Location") != "" || w.Header().Get("Cache-Control") != "no-store" || !strings.Contains(w.Body.String(), `"code":"internal"`) {
		t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
	}
}
