package webhookapi

import (
	"encoding/json"
	"strconv"

	"palmares/internal/webhook"
)

// eventPage is a stretch of the journal of events, each exactly as it is sent.
type eventPage struct {
	Data []json.RawMessage `json:"data"`
	Meta struct {
		// NextAfter is where to go on, now or when more has happened. It is not always
		// that of the last event shown: those of other types were read too.
		NextAfter int64 `json:"next_after"`
		// OldestSequence tells who was away for long whether something is missing before
		// what is shown; null when nothing is kept.
		OldestSequence *int64 `json:"oldest_sequence"`
	} `json:"meta"`
}

// mostRead is how many events one request looks at for those of its type. Few may
// be found, or none, and more be left: the next page goes on from there.
const mostRead = 1000

func (h *Handler) listEvents(r *request) (answer, error) {
	after, err := r.query.integer("after", 0, 0, maxSequence)
	if err != nil {
		return answer{}, err
	}
	limit, err := r.query.limit()
	if err != nil {
		return answer{}, err
	}
	wanted, err := r.query.choice("type", webhook.Types)
	if err != nil {
		return answer{}, err
	}
	read := limit + 1 // one more tells whether there is a next page
	if wanted != "" {
		read = mostRead
	}
	events, err := h.cfg.Store.Events.List(r.Context(), after, read)
	if err != nil {
		return answer{}, err
	}
	oldest, err := h.cfg.Store.Events.Oldest(r.Context())
	if err != nil {
		return answer{}, err
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
	var next string
	if more {
		next = eventsPath + r.query.with("after", strconv.FormatInt(page.Meta.NextAfter, 10), "type", "limit")
	}
	return answer{value: page, next: next}, nil
}
