package webhookapi

import (
	"encoding/json"
	"strconv"

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

// maxScan is how many events one request reads to find those of its type. It may find
// few of them, or none, while there are more: the next page continues from there.
const maxScan = 1000

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
	read := limit + 1 // to know whether there is a next page
	if wanted != "" {
		read = maxScan
	}
	events, err := h.cfg.Store.Events.List(r.Context(), after, read)
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
	page.Meta.NextAfter = after
	more := len(events) == read
	for i := range events {
		e := &events[i]
		if len(page.Data) == limit {
			more = true
			break
		}
		page.Meta.NextAfter = e.Sequence
		if wanted == "" || e.Type == wanted {
			page.Data = append(page.Data, e.Body)
		}
	}
	var link []string
	if more {
		link = []string{p.NextLink(eventsPath, "after", strconv.FormatInt(page.Meta.NextAfter, 10), "type", "limit")}
	}
	return web.Answer{Body: web.JSON(page), Link: link}, nil
}
