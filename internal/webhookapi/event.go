package webhookapi

import (
	"encoding/json"
	"strconv"

	"palmares/internal/store"
	"palmares/internal/web"
	"palmares/internal/webhook"
)

// eventPage is a page of the event log, each event exactly as it is delivered.
type eventPage struct {
	Data []json.RawMessage `json:"data"`
	Meta struct {
		// NextAfter is where to continue, now or once there are more events. It may be
		// after the last event of the page: events of other types were read too.
		NextAfter int64 `json:"next_after"`
		// OldestSequence lets a receiver that was offline for long see whether it has
		// missed events; null if there are none.
		OldestSequence *int64 `json:"oldest_sequence"`
	} `json:"meta"`
}

func (h *Handler) listEvents(r *request) (web.Answer, error) {
	p := r.params()
	after := p.Integer("after", 0, 0, web.MaxInteger)
	limit := p.Limit()
	var wanted string
	if i, given := p.Choice("type", webhook.Types); given {
		wanted = webhook.Types[i]
	}
	if err := p.Err(); err != nil {
		return web.Answer{}, err
	}
	events, upTo, more, err := h.readEvents(r, after, wanted, limit)
	if err != nil {
		return web.Answer{}, err
	}
	oldest, err := h.cfg.Store.Events.Oldest(r.Context())
	if err != nil {
		return web.Answer{}, err
	}
	page := eventPage{Data: []json.RawMessage{}}
	if oldest > 0 {
		page.Meta.OldestSequence = &oldest
	}
	page.Meta.NextAfter = upTo
	for i := range events {
		page.Data = append(page.Data, events[i].Body)
	}
	var link []string
	if more {
		link = []string{p.NextLink(eventsPath, "after", strconv.FormatInt(page.Meta.NextAfter, 10), "type", "limit")}
	}
	return web.Answer{Body: web.JSON(page), Link: link}, nil
}

// readEvents reads a page of events, of one type unless that is "". A page of a type may
// have few of them, or none, while there are more: the next page continues after upTo.
func (h *Handler) readEvents(r *request, after int64, wanted string, limit int) (events []store.Event, upTo int64, more bool, err error) {
	if wanted != "" {
		return h.cfg.Store.Events.ListType(r.Context(), after, wanted, limit)
	}
	events, err = h.cfg.Store.Events.List(r.Context(), after, limit+1) // to know whether there is a next page
	if more = len(events) > limit; more {
		events = events[:limit]
	}
	if upTo = after; len(events) > 0 {
		upTo = events[len(events)-1].Sequence
	}
	return events, upTo, more, err
}
