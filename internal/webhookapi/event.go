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
		// after the last event of the page: events of other types are between.
		NextAfter int64 `json:"next_after"`
		More      bool  `json:"more"`
		// OldestSequence lets a receiver that was offline for long see whether it has
		// missed events; null if there are none.
		OldestSequence *int64 `json:"oldest_sequence"`
	} `json:"meta"`
}

func (h *Handler) listEvents(r *request) (web.Response, error) {
	p := r.params()
	after := p.Integer("after", 0, 0, web.MaxInteger)
	limit := p.Limit()
	wanted := web.Choice(p, "type", webhook.Types)
	if err := p.Err(); err != nil {
		return web.Response{}, err
	}
	found, err := h.cfg.Events.List(r.Context(), after, wanted, limit)
	if err != nil {
		return web.Response{}, err
	}
	if after > found.Last {
		p.Refuse("after", strconv.FormatInt(after, 10),
			"un numéro de 0 à "+strconv.FormatInt(found.Last, 10)+", celui du dernier événement")
		return web.Response{}, p.Err()
	}
	page := eventPage{Data: []json.RawMessage{}}
	page.Meta.NextAfter, page.Meta.More = found.UpTo, found.More
	if found.Oldest > 0 {
		page.Meta.OldestSequence = &found.Oldest
	}
	for i := range found.Events {
		page.Data = append(page.Data, found.Events[i].Body)
	}
	var link []string
	if found.More {
		link = []string{p.NextLink(eventsPath, "after", strconv.FormatInt(found.UpTo, 10), "type", "limit")}
	}
	return web.Response{Body: web.JSON(page), Link: link}, nil
}
