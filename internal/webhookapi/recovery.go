package webhookapi

import (
	"errors"
	"net/http"
	"regexp"
	"time"

	"palmares/internal/problem"
	"palmares/internal/sqldb"
	"palmares/internal/web"
	"palmares/internal/webhook"
)

func (h *Handler) recover(r *request) (web.Response, error) {
	now := h.cfg.Now()
	since, text, err := r.body.since(now)
	if err != nil {
		return web.Response{}, err
	}
	recovery, err := h.cfg.Store.Deliveries.Recover(r.Context(), r.owner, r.id, since, now)
	switch {
	case errors.Is(err, sqldb.ErrInvalid):
		return web.Response{}, badSince(text, now)
	case errors.Is(err, sqldb.ErrTooMany):
		return web.Response{}, web.NewError(web.CodeRecoveryRunning,
			problem.New("endpoint-recovering", endpointsPath+"/"+r.id+"/recoveries"))
	case err != nil:
		return web.Response{}, err
	}
	h.wake()
	a := reply(recovery)
	a.Status, a.Location = http.StatusAccepted, endpointsPath+"/"+r.id+"/recoveries"
	return a, nil
}

func (h *Handler) listRecoveries(r *request) (web.Response, error) {
	recoveries, err := h.cfg.Store.Deliveries.Recoveries(r.Context(), r.owner, r.id)
	return reply(list[webhook.Recovery]{recoveries}), err
}

// instantForm is the form of RFC 3339. By itself time.Parse also accepts T8:00:00Z, a comma
// before fractions and an offset of 24 hours.
var instantForm = regexp.MustCompile(`T\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$`)

// since reads the time from which events are sent again: an instant, or a day, which
// begins at midnight UTC. The store decides whether it is recent enough; text is what to
// quote if it is not.
func (b body) since(now time.Time) (since time.Time, text string, err error) {
	text, given, err := b.text("since")
	if err != nil {
		return time.Time{}, "", err
	}
	if !given {
		return time.Time{}, "", web.Invalid("since", problem.New("since-missing", allowedSince(now)))
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		t, err := time.Parse(layout, text)
		if err == nil && (layout == time.DateOnly || instantForm.MatchString(text)) {
			return t.UTC(), text, nil
		}
	}
	return time.Time{}, "", badSince(text, now)
}

func badSince(text string, now time.Time) error {
	return web.Invalid("since", problem.New("since-value", web.Shorten(text), allowedSince(now)))
}

func allowedSince(now time.Time) problem.Text {
	return problem.New("allow-since", now.Add(-webhook.Keep).UTC().Format(webhook.TimeFormat))
}
