package webhookapi_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"palmares/internal/accountdb"
	"palmares/internal/webhook"
)

const events = "/webhooks/v1/events"

type eventPage struct {
	Data []json.RawMessage
	Meta struct {
		NextAfter int64 `json:"next_after"`
		More      bool
		Oldest    *int64 `json:"oldest_sequence"`
	}
}

// names lists the events of a page as "sequence type".
func (p *eventPage) names(t *testing.T) string {
	t.Helper()
	var list []string
	for _, raw := range p.Data {
		var e struct {
			Sequence int64
			Type     string
		}
		if err := json.Unmarshal(raw, &e); err != nil {
			t.Fatal(err)
		}
		list = append(list, fmt.Sprint(e.Sequence, " ", e.Type))
	}
	return strings.Join(list, ", ")
}

// events reads a page of the event log and returns it with the path of the next page.
func (s *service) events(path string) (*eventPage, string) {
	s.t.Helper()
	page := new(eventPage)
	r := s.get(path).Is(200).Into(page)
	if next := nextPage(r); page.Meta.More != (next != "") {
		s.t.Errorf("more is %v, the next page is %q", page.Meta.More, next)
	}
	return page, nextPage(r)
}

// publishTwice publishes 6 events: 1 and 2 are tool.created, 3 and 6 catalog.updated.
func (s *service) publishTwice() {
	s.t.Helper()
	s.publish("a", "1 €/mois", "b", "1 €/mois")
	s.advance(time.Second)
	s.publish("a", "2 €/mois", "b", "1 €/mois")
}

func TestAPositionAfterTheLastEventIsRefused(t *testing.T) {
	each(t, func(t *testing.T, s *service) {
		s.publishTwice()
		if page, _ := s.events(events + "?after=6"); len(page.Data) != 0 || page.Meta.NextAfter != 6 {
			t.Errorf("after the last: %+v", page)
		}
		for _, query := range []string{"after=7", "after=7&type=tool.created"} {
			s.get(events+"?"+query).FailsOn(400, "invalid_parameter", "after", "de 0 à 6")
		}
	})
}

func TestTheEventLogReturnsEveryEventAsItWasDelivered(t *testing.T) {
	each(t, func(t *testing.T, s *service) {
		if page, next := s.events(events); len(page.Data) != 0 || page.Meta.NextAfter != 0 || page.Meta.Oldest != nil || next != "" {
			t.Errorf("before the first event: %+v, next %q", page, next)
		}
		s.publishTwice()
		log, err := s.store.Events.List(t.Context(), 0, "", 100)
		if err != nil {
			t.Fatal(err)
		}
		stored := log.Events
		page, next := s.events(events)
		if len(stored) != 6 || next != "" || page.Meta.NextAfter != 6 {
			t.Fatalf("%d events, page %+v, next %q", len(stored), page, next)
		}
		for i, e := range stored {
			if string(page.Data[i]) != string(e.Body) {
				t.Errorf("%s, delivered as %s", page.Data[i], e.Body)
			}
		}
		const all = "1 tool.created, 2 tool.created, 3 catalog.updated, 4 pricing.updated, 5 tool.updated, 6 catalog.updated"
		whole := page.names(t)
		if strings.Count(whole, "tool.created") != 2 || strings.Count(whole, "pricing.updated") != 1 || !strings.HasPrefix(whole, "1 ") || len(whole) != len(all) {
			t.Errorf("%s; want, in some order, %s", whole, all)
		}
		for _, limit := range []int{1, 2, 5, 6} {
			var got []string
			for next := fmt.Sprintf("%s?limit=%d", events, limit); next != ""; {
				page, next = s.events(next)
				got = append(got, page.names(t))
			}
			if strings.Join(got, ", ") != whole {
				t.Errorf("by %d: %q", limit, got)
			}
		}
		if page, _ := s.events(events + "?after=4"); page.names(t) != strings.Join(strings.Split(whole, ", ")[4:], ", ") {
			t.Errorf("after 4: %s", page.names(t))
		}
		if page, next := s.events(events + "?after=6"); len(page.Data) != 0 || page.Meta.NextAfter != 6 || next != "" {
			t.Errorf("after the last: %+v, next %q", page, next)
		}
	})
}

func TestEventsOfOneTypeAreReadOnce(t *testing.T) {
	each(t, func(t *testing.T, s *service) {
		s.publishTwice()
		first, next := s.events(events + "?type=catalog.updated&limit=1")
		if first.names(t) != "3 catalog.updated" || first.Meta.NextAfter != 3 || !strings.Contains(next, "type=catalog.updated") || !strings.Contains(next, "after=3") {
			t.Errorf("%s, %+v, next %q", first.names(t), first.Meta, next)
		}
		if second, next := s.events(next); second.names(t) != "6 catalog.updated" || second.Meta.NextAfter != 6 || next != "" {
			t.Errorf("%s, %+v, next %q", second.names(t), second.Meta, next)
		}
		if none, next := s.events(events + "?type=tool.retired"); len(none.Data) != 0 || none.Meta.NextAfter != 6 || next != "" {
			t.Errorf("%s, %+v, next %q", none.names(t), none.Meta, next)
		}
		for query, param := range map[string]string{
			"after=-1": "after", "after=x": "after", "after=": "after", "after=1&after=2": "after", "after=9007199254740992": "after", "after=-0": "after",
			"limit=0": "limit", "limit=201": "limit", "type=webhook.ping": "type", "type=": "type", "type=Tool.Created": "type",
		} {
			s.get(events+"?"+query).FailsOn(400, "invalid_parameter", param, param)
		}
	})
}

func TestTheEventLogSaysWhichEventIsTheOldest(t *testing.T) {
	each(t, func(t *testing.T, s *service) {
		s.publishTwice()
		if page, _ := s.events(events + "?after=6"); page.Meta.Oldest == nil || *page.Meta.Oldest != 1 {
			t.Errorf("the oldest of all six is %v", page.Meta.Oldest)
		}
		s.advance(webhook.Keep)
		s.publish("a", "3 €/mois", "b", "1 €/mois")
		if err := s.store.Events.Prune(t.Context(), s.clock().Add(-time.Hour), accountdb.SentAgain); err != nil {
			t.Fatal(err)
		}
		if page, _ := s.events(events); page.Meta.Oldest == nil || *page.Meta.Oldest != 7 || !strings.HasPrefix(page.names(t), "7 ") {
			t.Errorf("after a month the oldest is %v of %s", page.Meta.Oldest, page.names(t))
		}
	})
}
