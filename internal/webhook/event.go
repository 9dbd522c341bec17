package webhook

import (
	"time"

	"palmares/internal/catalog"
	"palmares/internal/wire"
)

// maxEventBody is the size above which an event no longer carries its object:
// receivers are asked to accept 20 kB, as Standard Webhooks advises, and can fetch the
// rest.
const maxEventBody = 20_000

// TimeFormat is the format of times in events and in the webhook API, always in UTC.
const TimeFormat = "2006-01-02T15:04:05.000Z"

// envelope is the wire form of an event.
type envelope struct {
	ID        string `json:"id"`
	Type      string `json:"type"`
	Timestamp string `json:"timestamp"`
	Sequence  int64  `json:"sequence"`
	Data      struct {
		Slug     string         `json:"slug,omitempty"`   // catalog.updated has none
		Reason   string         `json:"reason,omitempty"` // of embeddings.updated only
		Changed  []string       `json:"changed"`
		Previous map[string]any `json:"previous"`
		Object   catalog.Object `json:"object"`
		URL      string         `json:"url"`
	} `json:"data"`
}

// EventBody returns the bytes that announce a change. They are stored with the event
// and sent unchanged to every endpoint on every attempt.
func EventBody(id string, at time.Time, sequence int64, c *catalog.Change) []byte {
	e := envelope{ID: id, Type: c.Type, Timestamp: at.UTC().Format(TimeFormat), Sequence: sequence}
	e.Data.Slug, e.Data.Reason, e.Data.URL, e.Data.Object = c.Slug, c.Reason, c.Page(), c.Object
	e.Data.Changed, e.Data.Previous = c.Changed, c.Previous
	if e.Data.Changed == nil {
		e.Data.Changed, e.Data.Previous = []string{}, map[string]any{}
	}
	body := wire.AppendJSON(nil, &e)
	if len(body) > maxEventBody {
		e.Data.Object, e.Data.Previous = nil, nil
		body = wire.AppendJSON(nil, &e)
	}
	return body
}
