package webhookapi_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"palmares/internal/webhook"
)

const deliveries = "/webhooks/v1/deliveries"

// delivery is a delivery as the API returns it.
type delivery struct {
	ID, Type, Origin, State, Body string
	EndpointID                    string `json:"endpoint_id"`
	EventID                       string `json:"event_id"`
	Sequence                      int64
	AttemptCount                  int      `json:"attempt_count"`
	NextAt                        *string  `json:"next_attempt_at"`
	LastAttempt                   *attempt `json:"last_attempt"`
	Attempts                      []attempt
}

type attempt struct {
	Number   int
	Duration int `json:"duration_ms"`
	Status   *int
	Outcome  string
	Response string
}

func TestAPingIsQueuedAndItsAttemptsAreListed(t *testing.T) {
	each(t, func(t *testing.T, s *service) {
		id, _ := s.create(`{"url":"https://un.example","events":["tool.created"]}`)
		var d delivery
		r := s.do("POST", endpoints+"/"+id+"/ping", "{}").Is(202).Into(&d)
		r.HasHeader("Location", deliveries+"/"+d.ID)
		if d.Type != "webhook.ping" || d.Origin != "ping" || d.State != "pending" || d.EndpointID != id || d.Sequence != 0 || d.LastAttempt != nil || d.NextAt == nil {
			t.Errorf("%s", r.Body)
		}
		if s.woken.Load() != 1 {
			t.Errorf("the dispatcher was woken %d times", s.woken.Load())
		}
		s.attempt(webhook.Verdict{
			Attempt: webhook.Attempt{Duration: 15 * time.Second, Outcome: webhook.Timeout}, State: webhook.Pending, NextAt: s.clock().Add(5 * time.Second),
		})
		s.advance(5 * time.Second)
		s.attempt(webhook.Verdict{Attempt: webhook.Attempt{Duration: 1234567 * time.Microsecond, Status: 202, Outcome: webhook.OK, Response: "<été>"}, State: webhook.Delivered})

		d = delivery{}
		r = s.get(deliveries + "/" + s.only(id).ID).Is(200).Into(&d)
		if d.State != "delivered" || d.AttemptCount != 2 || len(d.Attempts) != 2 || d.NextAt != nil {
			t.Fatalf("%s", r.Body)
		}
		first, last := d.Attempts[0], d.Attempts[1]
		if first.Number != 1 || first.Status != nil || first.Outcome != "timeout" || first.Duration != 15000 || first.Response != "" {
			t.Errorf("first attempt %+v", first)
		}
		if last.Number != 2 || *last.Status != 202 || last.Outcome != "delivered" || last.Duration != 1234 || last.Response != "<été>" || d.LastAttempt.Number != 2 {
			t.Errorf("last attempt %+v", last)
		}
		var event struct {
			ID, Type string
			Sequence int64
		}
		if err := json.Unmarshal([]byte(d.Body), &event); err != nil || event.ID != d.EventID || event.Type != "webhook.ping" {
			t.Errorf("the body sent is %s, %v", d.Body, err)
		}
	})
}

// only returns the one delivery to an endpoint.
func (s *service) only(endpoint string) delivery {
	s.t.Helper()
	var list struct{ Data []delivery }
	s.get(endpoints + "/" + endpoint + "/deliveries").Is(200).Into(&list)
	if len(list.Data) != 1 {
		s.t.Fatalf("%d deliveries", len(list.Data))
	}
	return list.Data[0]
}

func TestAnEndpointIsPingedFiveTimesAMinuteResendsIncluded(t *testing.T) {
	each(t, func(t *testing.T, s *service) {
		id, _ := s.create(`{"url":"https://un.example"}`)
		other, _ := s.create(`{"url":"https://deux.example"}`)
		var ping delivery
		s.do("POST", endpoints+"/"+id+"/ping", "").Is(202).Into(&ping)
		resend := deliveries + "/" + ping.ID + "/resend"
		for range webhook.PingsAMinute - 1 {
			s.advance(time.Second)
			s.do("POST", resend, "").Is(202) // a ping too
		}
		for _, path := range []string{endpoints + "/" + id + "/ping", resend} {
			s.do("POST", path, "").FailsOn(429, "too_many_requests", "", "5", "minute").HasHeader("Retry-After", "60")
		}
		s.do("POST", endpoints+"/"+other+"/ping", "").Is(202)
		s.advance(time.Minute)
		s.do("POST", endpoints+"/"+id+"/ping", "").Is(202)
		if woken := s.woken.Load(); woken != webhook.PingsAMinute+2 {
			t.Errorf("woken %d times", woken)
		}
	})
}

func TestAnInactiveEndpointIsNotPinged(t *testing.T) {
	each(t, func(t *testing.T, s *service) {
		id, _ := s.create(`{"url":"https://un.example"}`)
		var ping delivery
		s.do("POST", endpoints+"/"+id+"/ping", "").Is(202).Into(&ping)
		s.do("PATCH", endpoints+"/"+id, `{"state":"paused"}`).Is(200)
		s.do("POST", endpoints+"/"+id+"/ping", "").FailsOn(409, "endpoint_inactive", "", "active")
		s.do("POST", deliveries+"/"+ping.ID+"/resend", "").FailsOn(409, "endpoint_inactive", "", "active")
		if d := s.only(id); d.ID != ping.ID || s.woken.Load() != 1 {
			t.Errorf("%+v, and the dispatcher was woken %d times", d, s.woken.Load())
		}
	})
}

func TestALinkLeadsToTheNextPageOfDeliveriesWithItsFilter(t *testing.T) {
	s := serve(t, databases.OpenDSN(t, databases.SQLite(t)))
	id, _ := s.create(`{"url":"https://un.example"}`)
	s.publish("a", "1 €/mois", "b", "1 €/mois", "c", "1 €/mois") // four events
	s.advance(time.Second)
	s.attempt(webhook.Verdict{Attempt: webhook.Attempt{Status: 200, Outcome: webhook.OK}, State: webhook.Delivered})
	list := func(path string) (n int, next string) {
		t.Helper()
		var page struct{ Data []delivery }
		r := s.get(path).Is(200).Into(&page)
		return len(page.Data), nextPage(r)
	}
	path := endpoints + "/" + id + "/deliveries"
	if n, next := list(path); n != 4 || next != "" {
		t.Errorf("%d, next %q", n, next)
	}
	n, next := list(path + "?state=delivered&type=tool.created&limit=2&x=%3E")
	if n != 2 || !strings.Contains(next, "state=delivered") || !strings.Contains(next, "type=tool.created") || !strings.Contains(next, "limit=2") || strings.Contains(next, "x=") {
		t.Errorf("%d, next %q", n, next)
	}
	if n, next := list(next); n != 1 || next != "" {
		t.Errorf("%d, next %q", n, next)
	}
}

func TestFiltersOfDeliveriesAreReadStrictly(t *testing.T) {
	each(t, func(t *testing.T, s *service) {
		id, delivery := s.someDelivery()
		path := endpoints + "/" + id + "/deliveries"
		for query, param := range map[string]string{
			"state=done": "state", "state=": "state", "state=pending&state=failed": "state", "type=tool.made": "type", "limit=0": "limit", "limit=201": "limit", "limit=x": "limit",
			"limit=%2B1": "limit", "limit=": "limit", "before=x": "before", "before=": "before", "before=" + id: "before", "before=%zz": "before", "before=%00": "before",
			"before=dlv_" + strings.Repeat("0", 26): "before",
		} {
			s.get(path+"?"+query).FailsOn(400, "invalid_parameter", param, param)
		}
		other, _ := s.create(`{"url":"https://deux.example"}`)
		s.get(endpoints+"/"+other+"/deliveries?before="+delivery).FailsOn(400, "invalid_parameter", "before")
	})
}

type recovery struct {
	ID, Since  string
	DoneAt     *string `json:"done_at"`
	Deliveries int
}

// finishRecoveries runs all recoveries to their end.
func (s *service) finishRecoveries() {
	s.t.Helper()
	for more := true; more; {
		var err error
		if more, err = s.store.Deliveries.RunRecovery(s.t.Context(), s.clock(), 100); err != nil {
			s.t.Fatal(err)
		}
	}
}

func TestMissedEventsAreRecovered(t *testing.T) {
	each(t, func(t *testing.T, s *service) {
		id, _ := s.create(`{"url":"https://un.example","events":["tool.created"]}`)
		s.do("PATCH", endpoints+"/"+id, `{"state":"paused"}`).Is(200)
		s.publish("a", "1 €/mois", "b", "1 €/mois")
		s.do("PATCH", endpoints+"/"+id, `{"state":"active"}`).Is(200)
		s.advance(time.Hour)

		var made recovery
		r := s.do("POST", endpoints+"/"+id+"/recover", `{"since":"2026-11-15"}`).Is(202).Into(&made)
		r.HasHeader("Location", endpoints+"/"+id+"/recoveries")
		if made.Since != "2026-11-15T00:00:00.000Z" || made.DoneAt != nil || s.woken.Load() != 1 {
			t.Errorf("%s", r.Body)
		}
		s.do("POST", endpoints+"/"+id+"/recover", `{"since":"2026-11-15"}`).FailsOn(409, "recovery_running", "", "en cours", endpoints+"/"+id+"/recoveries")
		s.finishRecoveries()
		var list struct{ Data []recovery }
		r = s.get(endpoints + "/" + id + "/recoveries").Is(200).Into(&list)
		if len(list.Data) != 1 || list.Data[0].ID != made.ID || list.Data[0].DoneAt == nil || list.Data[0].Deliveries != 2 {
			t.Errorf("%s", r.Body)
		}
	})
}

func TestARecoveryStartsAtMostAMonthAgo(t *testing.T) {
	each(t, func(t *testing.T, s *service) {
		id, _ := s.create(`{"url":"https://un.example","events":["tool.created"]}`)
		path := endpoints + "/" + id + "/recover"
		s.advance(time.Hour)
		oldest := s.clock().Add(-webhook.Keep) // the day in which it is may be given, too
		for since, want := range map[string]time.Time{
			oldest.Format(time.RFC3339Nano):                                 oldest,
			oldest.Format(time.DateOnly):                                    oldest,
			s.clock().In(time.FixedZone("", 7200)).Format(time.RFC3339Nano): s.clock(),
			oldest.Add(-24 * time.Hour).Format(time.RFC3339Nano):            oldest,
			oldest.AddDate(0, 0, 1).Format(time.DateOnly):                   oldest.AddDate(0, 0, 1).Truncate(24 * time.Hour),
		} {
			var made recovery
			s.do("POST", path, `{"since":"`+since+`"}`).Is(202).Into(&made)
			if made.Since != want.UTC().Format("2006-01-02T15:04:05.000Z") {
				t.Errorf("since %s was read as %s", since, made.Since)
			}
			s.finishRecoveries()
		}
		for _, bad := range []string{
			`"2026-11-15T8:00:00Z"`, `"2026-11-15T08:00:00,5Z"`, `"2026-11-15T08:00:00+24:00"`,
			`"` + oldest.Add(-24*time.Hour-time.Millisecond).Format(time.RFC3339Nano) + `"`, `"` + s.clock().Add(time.Millisecond).Format(time.RFC3339Nano) + `"`,
			`"2026-10-01"`, `"hier"`, `""`, `"2026-11-31"`, `"2026-11-15T08:00:00"`, `"15/11/2026"`,
		} {
			s.do("POST", path, `{"since":`+bad+`}`).FailsOn(400, "invalid_parameter", "since", "2026-10-16", "RFC", "30 jours")
		}
		s.do("POST", path, `{}`).FailsOn(400, "invalid_parameter", "since", "manque", "RFC")
		s.do("POST", path, `{"since":1}`).FailsOn(400, "invalid_parameter", "since", "chaîne")
	})
}
