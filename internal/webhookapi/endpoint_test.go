package webhookapi_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"palmares/internal/testkit"
	"palmares/internal/webhook"
)

const endpoints = "/webhooks/v1/endpoints"

// endpoint is an endpoint as the API returns it.
type endpoint struct {
	ID, URL, State, Secret string
	Events                 []string
	OldSecretUntil         *string `json:"old_secret_until"`
	DisabledReason         *string `json:"disabled_reason"`
	DisabledAt             *string `json:"disabled_at"`
	Failures               int
}

func TestAnEndpointIsCreatedReadChangedAndDeleted(t *testing.T) {
	each(t, func(t *testing.T, s *service) {
		var made, got endpoint
		r := s.do("POST", endpoints, `{"url":"https://Crochets.Example:443/a?b=c","events":["tool.retired","pricing.updated","tool.retired"]}`).Is(201).Into(&made)
		r.HasHeader("Location", endpoints+"/"+made.ID)
		if made.URL != "https://crochets.example/a?b=c" || made.State != "active" || !slices.Equal(made.Events, []string{"pricing.updated", "tool.retired"}) {
			t.Errorf("made %s", r.Body)
		}
		s.get(endpoints + "/" + made.ID).Is(200).Into(&got)
		made.Secret = ""
		if fmt.Sprint(got) != fmt.Sprint(made) {
			t.Errorf("made %+v, got %+v", made, got)
		}
		s.advance(time.Second)
		second, _ := s.create(`{"url":"https://deux.example"}`)
		var list struct{ Data []endpoint }
		s.get(endpoints).Is(200).Into(&list)
		if len(list.Data) != 2 || list.Data[0].ID != made.ID || list.Data[1].ID != second || list.Data[1].Events != nil {
			t.Errorf("list %+v", list)
		}

		change := func(body string) (e endpoint) {
			t.Helper()
			s.do("PATCH", endpoints+"/"+made.ID, body).Is(200).Into(&e)
			return e
		}
		if e := change(`{"state":"paused"}`); e.State != "paused" || e.URL != made.URL || len(e.Events) != 2 {
			t.Errorf("paused: %+v", e)
		}
		if e := change(`{"events":null}`); e.Events != nil || e.State != "paused" {
			t.Errorf("all events: %+v", e)
		}
		if e := change(`{"url":"https://trois.example/","events":["catalog.updated"],"state":"active"}`); e.URL != "https://trois.example/" || e.State != "active" || len(e.Events) != 1 {
			t.Errorf("changed: %+v", e)
		}

		if r := s.do("DELETE", endpoints+"/"+made.ID, "").Is(204); len(r.Body) != 0 {
			t.Errorf("%q", r.Body)
		}
		s.get(endpoints+"/"+made.ID).FailsOn(404, "not_found", "", made.ID, endpoints)
		s.do("DELETE", endpoints+"/"+made.ID, "").FailsOn(404, "not_found", "")
		s.get(endpoints).Is(200).Into(&list)
		if len(list.Data) != 1 {
			t.Errorf("list %+v", list)
		}
	})
}

func TestARequestWithTheSameKeyCreatesOneEndpoint(t *testing.T) {
	each(t, func(t *testing.T, s *service) {
		post := func(body, account, key string) *testkit.Reply {
			return s.ask("POST", endpoints, body, "Authorization: Bearer "+account, "Idempotency-Key: "+key)
		}
		const one = `{"url":"https://un.example/in","events":["tool.retired","pricing.updated"]}`
		first := post(one, s.key, "é-1").Is(201)
		s.advance(time.Hour)
		var made endpoint
		first.Into(&made)
		s.do("PATCH", endpoints+"/"+made.ID, `{"state":"paused"}`).Is(200)
		again := post(`{"events":["pricing.updated","tool.retired"],"url":"https://un.example:443/in"}`, s.key, "é-1").Is(201)
		if again.Body != first.Body || again.Header.Get("Location") != first.Header.Get("Location") {
			t.Errorf("first %s, then %s", first.Body, again.Body)
		}
		post(`{"url":"https://un.example/in"}`, s.key, "é-1").FailsOn(409, "idempotency_key_reused", "")
		post(one, s.key, strings.Repeat("k", 256)).FailsOn(400, "invalid_parameter", "Idempotency-Key")
		post(one, s.otherKey, "é-1").Is(201)
		s.advance(24 * time.Hour)
		post(one, s.key, "é-1").Is(201)
		var list struct{ Data []endpoint }
		if s.get(endpoints).Is(200).Into(&list); len(list.Data) != 2 {
			t.Errorf("list %+v", list)
		}
	})
}

func TestASecretIsShownOnceAndStoredEncrypted(t *testing.T) {
	each(t, func(t *testing.T, s *service) {
		id, first := s.create(`{"url":"https://un.example"}`)
		var e endpoint
		r := s.do("POST", endpoints+"/"+id+"/rotate", "").Is(200).Into(&e)
		second := e.Secret
		for _, secret := range []string{first, second} {
			if !regexp.MustCompile(`^whsec_[A-Za-z0-9+/]{32}$`).MatchString(secret) {
				t.Errorf("secret %q", secret)
			}
		}
		if until := startTime.Add(24 * time.Hour).Format("2006-01-02T15:04:05.000Z"); first == second || e.OldSecretUntil == nil || *e.OldSecretUntil != until {
			t.Errorf("rotated: %s", r.Body)
		}
		for _, path := range []string{endpoints, endpoints + "/" + id} {
			if r := s.get(path).Is(200); strings.Contains(r.Body, "whsec_") || strings.Contains(r.Body, `"secret"`) {
				t.Errorf("%s: %s", r, r.Body)
			}
		}
		sealed, err := s.store.Endpoints.Secrets().Sealed(t.Context())
		if err != nil || len(sealed) != 2 {
			t.Fatal(sealed, err)
		}
		for want, kept := range map[string]string{second: sealed[0].Text, first: sealed[1].Text} {
			if strings.Contains(kept, want[6:]) {
				t.Errorf("%s is stored in clear", want)
			}
			if got, err := s.sealer.Open(id, kept); err != nil || got != want {
				t.Errorf("%s opens as %q, %v", kept, got, err)
			}
		}
	})
}

func TestAnOldSecretIsMentionedOnlyWhileItSigns(t *testing.T) {
	each(t, func(t *testing.T, s *service) {
		id, _ := s.create(`{"url":"https://un.example"}`)
		s.do("POST", endpoints+"/"+id+"/rotate", "").Is(200)
		s.advance(webhook.Overlap - time.Millisecond)
		for _, signs := range []bool{true, false} {
			var e endpoint
			if r := s.get(endpoints + "/" + id).Is(200).Into(&e); (e.OldSecretUntil != nil) != signs {
				t.Errorf("the old secret signs: %v; %s", signs, r.Body)
			}
			s.advance(time.Millisecond)
		}
	})
}

func TestAnAccountHasAtMostTenEndpoints(t *testing.T) {
	each(t, func(t *testing.T, s *service) {
		for range webhook.MaxEndpoints {
			s.create(`{"url":"https://un.example"}`)
		}
		s.do("POST", endpoints, `{"url":"https://un.example"}`).FailsOn(409, "endpoint_limit", "", "10")
		s.ask("POST", endpoints, `{"url":"https://un.example"}`, "Authorization: Bearer "+s.otherKey).Is(201)
	})
}

func TestAPrivateOrInvalidURLIsRefusedInFrench(t *testing.T) {
	s := serve(t, databases.OpenDSN(t, databases.SQLite(t)))
	id, _ := s.create(`{"url":"https://un.example"}`)
	for url, word := range map[string]string{
		"http://un.example": "https://", "ftp://un.example": "https://", "": "https://", "https://": "URL", "https://127.0.0.1": "adresse IP", "https://2130706433": "adresse IP",
		"https://[::1]": "adresse IP", "https://a:b@un.example": "mot de passe", "https://un.example:8443": "443", "https://un.example/#x": "fragment", "https://localhost": "domaine",
		"https://é.example": "ASCII", "https://un.example/" + strings.Repeat("a", 3000): "2\u202f048",
	} {
		s.do("POST", endpoints, `{"url":"`+url+`"}`).FailsOn(400, "invalid_parameter", "url", word)
		s.do("PATCH", endpoints+"/"+id, `{"url":"`+url+`"}`).FailsOn(400, "invalid_parameter", "url", word)
	}
	var e endpoint
	if s.get(endpoints + "/" + id).Into(&e); e.URL != "https://un.example" {
		t.Errorf("a refused change set it to %s", e.URL)
	}
}

func TestAnAllowedNetworkPermitsHTTPAndOtherPorts(t *testing.T) {
	s := serve(t, databases.OpenDSN(t, databases.SQLite(t)), "127.0.0.0/8")
	for _, url := range []string{"http://127.0.0.1:9000/x", "http://crochets:8080", "https://un.example"} {
		s.create(`{"url":"` + url + `"}`)
	}
	s.do("POST", endpoints, `{"url":"http://10.0.0.1"}`).FailsOn(400, "invalid_parameter", "url")
}

func TestADisabledEndpointSaysWhyAndCanBeActivatedAgain(t *testing.T) {
	each(t, func(t *testing.T, s *service) {
		id, _ := s.create(`{"url":"https://un.example"}`)
		s.do("POST", endpoints+"/"+id+"/ping", "").Is(202)
		s.attempt(webhook.Verdict{Attempt: webhook.Attempt{Status: 410, Outcome: webhook.HTTPStatus, Response: "Parti"}, State: webhook.Failed, Gone: true})
		var e endpoint
		r := s.get(endpoints + "/" + id).Is(200).Into(&e)
		if e.State != "disabled" || e.DisabledReason == nil || *e.DisabledReason != "gone" || e.DisabledAt == nil || e.Failures != 1 {
			t.Errorf("%s", r.Body)
		}
		e = endpoint{}
		r = s.do("PATCH", endpoints+"/"+id, `{"state":"active"}`).Is(200).Into(&e)
		if e.State != "active" || e.DisabledReason != nil || e.DisabledAt != nil || e.Failures != 1 {
			t.Errorf("%s", r.Body)
		}
	})
}
