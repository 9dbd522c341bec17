package webhookapi_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"palmares/internal/webhook"
)

const endpoints = "/webhooks/v1/endpoints"

// endpoint is an endpoint as its owner sees it.
type endpoint struct {
	ID, URL, State, Secret string
	Events                 []string
	OldSecretUntil         *string `json:"old_secret_until"`
	DisabledReason         *string `json:"disabled_reason"`
	DisabledAt             *string `json:"disabled_at"`
	Failures               int
}

func TestAnEndpointIsMadeSeenChangedAndDeleted(t *testing.T) {
	each(t, func(t *testing.T, s *service) {
		var made, got endpoint
		r := s.do("POST", endpoints, `{"url":"https://Crochets.Example:443/a?b=c","events":["tool.retired","pricing.updated","tool.retired"]}`).has(201).into(&made)
		r.is("Location", endpoints+"/"+made.ID)
		if made.URL != "https://crochets.example/a?b=c" || made.State != "active" || !slices.Equal(made.Events, []string{"pricing.updated", "tool.retired"}) {
			t.Errorf("made %s", r.body)
		}
		s.get(endpoints + "/" + made.ID).has(200).into(&got)
		made.Secret = ""
		if fmt.Sprint(got) != fmt.Sprint(made) {
			t.Errorf("made %+v, got %+v", made, got)
		}
		s.pass(time.Second)
		second, _ := s.create(`{"url":"https://deux.example"}`)
		var list struct{ Data []endpoint }
		s.get(endpoints).has(200).into(&list)
		if len(list.Data) != 2 || list.Data[0].ID != made.ID || list.Data[1].ID != second || list.Data[1].Events != nil {
			t.Errorf("list %+v", list)
		}

		change := func(body string) (e endpoint) {
			t.Helper()
			s.do("PATCH", endpoints+"/"+made.ID, body).has(200).into(&e)
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

		if r := s.do("DELETE", endpoints+"/"+made.ID, "").has(204); len(r.body) != 0 {
			t.Errorf("%q", r.body)
		}
		s.get(endpoints+"/"+made.ID).fails(404, "not_found", "", made.ID, endpoints)
		s.do("DELETE", endpoints+"/"+made.ID, "").fails(404, "not_found", "")
		s.get(endpoints).has(200).into(&list)
		if len(list.Data) != 1 {
			t.Errorf("list %+v", list)
		}
	})
}

func TestASecretIsShownOnceAndKeptSealed(t *testing.T) {
	each(t, func(t *testing.T, s *service) {
		id, first := s.create(`{"url":"https://un.example"}`)
		var e endpoint
		r := s.do("POST", endpoints+"/"+id+"/rotate", "").has(200).into(&e)
		second := e.Secret
		for _, secret := range []string{first, second} {
			if !regexp.MustCompile(`^whsec_[A-Za-z0-9+/]{32}$`).MatchString(secret) {
				t.Errorf("secret %q", secret)
			}
		}
		if until := sunday.Add(24 * time.Hour).Format("2006-01-02T15:04:05.000Z"); first == second || e.OldSecretUntil == nil || *e.OldSecretUntil != until {
			t.Errorf("rotated: %s", r.body)
		}
		for _, path := range []string{endpoints, endpoints + "/" + id} {
			if r := s.get(path).has(200); strings.Contains(string(r.body), "whsec_") || strings.Contains(string(r.body), `"secret"`) {
				t.Errorf("%s: %s", r.what, r.body)
			}
		}
		sealed, err := s.store.Endpoints.SealedSecrets(t.Context())
		if err != nil || len(sealed) != 1 {
			t.Fatal(sealed, err)
		}
		for want, kept := range map[string]string{second: sealed[0].Secret, first: sealed[0].OldSecret} {
			if strings.Contains(kept, want[6:]) {
				t.Errorf("%s is kept in clear", want)
			}
			if got, err := s.sealer.Open(id, kept); err != nil || got != want {
				t.Errorf("%s opens as %q, %v", kept, got, err)
			}
		}
	})
}

func TestASecretThatSignsNoLongerIsNotSpokenOf(t *testing.T) {
	each(t, func(t *testing.T, s *service) {
		id, _ := s.create(`{"url":"https://un.example"}`)
		s.do("POST", endpoints+"/"+id+"/rotate", "").has(200)
		s.pass(webhook.Overlap - time.Millisecond)
		for _, signs := range []bool{true, false} {
			var e endpoint
			if r := s.get(endpoints + "/" + id).has(200).into(&e); (e.OldSecretUntil != nil) != signs {
				t.Errorf("the old secret signs: %v; %s", signs, r.body)
			}
			s.pass(time.Millisecond)
		}
	})
}

func TestAnAccountHasTenEndpoints(t *testing.T) {
	each(t, func(t *testing.T, s *service) {
		for range webhook.MaxEndpoints {
			s.create(`{"url":"https://un.example"}`)
		}
		s.do("POST", endpoints, `{"url":"https://un.example"}`).fails(409, "endpoint_limit", "", "10")
		s.ask("POST", endpoints, `{"url":"https://un.example"}`, "Authorization: Bearer "+s.foe).has(201)
	})
}

func TestAnAddressThatCannotBeReachedFromOutsideIsRefusedInFrench(t *testing.T) {
	s := serve(t, "sqlite:"+filepath.Join(t.TempDir(), "palmares.db"))
	id, _ := s.create(`{"url":"https://un.example"}`)
	for url, word := range map[string]string{
		"http://un.example": "https://", "ftp://un.example": "https://", "": "https://", "https://": "URL", "https://127.0.0.1": "adresse IP", "https://2130706433": "adresse IP",
		"https://[::1]": "adresse IP", "https://a:b@un.example": "mot de passe", "https://un.example:8443": "443", "https://un.example/#x": "fragment", "https://localhost": "domaine",
		"https://é.example": "ASCII", "https://un.example/" + strings.Repeat("a", 3000): "2\u202f048",
	} {
		s.do("POST", endpoints, `{"url":"`+url+`"}`).fails(400, "invalid_parameter", "url", word)
		s.do("PATCH", endpoints+"/"+id, `{"url":"`+url+`"}`).fails(400, "invalid_parameter", "url", word)
	}
	var e endpoint
	if s.get(endpoints + "/" + id).into(&e); e.URL != "https://un.example" {
		t.Errorf("a refused change changed it to %s", e.URL)
	}
}

func TestAnOpenedNetworkAllowsHTTPAndOtherPorts(t *testing.T) {
	s := serve(t, "sqlite:"+filepath.Join(t.TempDir(), "palmares.db"), "127.0.0.0/8")
	for _, url := range []string{"http://127.0.0.1:9000/x", "http://crochets:8080", "https://un.example"} {
		s.create(`{"url":"` + url + `"}`)
	}
	s.do("POST", endpoints, `{"url":"http://10.0.0.1"}`).fails(400, "invalid_parameter", "url")
}

func TestADisabledEndpointSaysWhyAndIsMadeActiveAgain(t *testing.T) {
	each(t, func(t *testing.T, s *service) {
		id, _ := s.create(`{"url":"https://un.example"}`)
		s.do("POST", endpoints+"/"+id+"/ping", "").has(202)
		s.attempt(webhook.Verdict{Attempt: webhook.Attempt{Status: 410, Outcome: webhook.HTTPStatus, Response: "Parti"}, State: webhook.Failed, Gone: true})
		var e endpoint
		r := s.get(endpoints + "/" + id).has(200).into(&e)
		if e.State != "disabled" || e.DisabledReason == nil || *e.DisabledReason != "gone" || e.DisabledAt == nil || e.Failures != 1 {
			t.Errorf("%s", r.body)
		}
		e = endpoint{}
		r = s.do("PATCH", endpoints+"/"+id, `{"state":"active"}`).has(200).into(&e)
		if e.State != "active" || e.DisabledReason != nil || e.DisabledAt != nil || e.Failures != 0 {
			t.Errorf("%s", r.body)
		}
	})
}
