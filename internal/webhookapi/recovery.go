package webhookapi

import (
	"errors"
	"net/http"
	"time"

	"palmares/internal/account"
	"palmares/internal/store"
	"palmares/internal/webhook"
)

// recoveryItem is a recovery on the wire.
type recoveryItem struct {
	ID         string  `json:"id"`
	EndpointID string  `json:"endpoint_id"`
	Since      string  `json:"since"`
	CreatedAt  string  `json:"created_at"`
	DoneAt     *string `json:"done_at"`
	Deliveries int     `json:"deliveries"`
}

func newRecoveryItem(r *webhook.Recovery) recoveryItem {
	return recoveryItem{
		ID: r.ID, EndpointID: r.EndpointID, Since: stamp(r.Since), CreatedAt: stamp(r.CreatedAt), DoneAt: stampOrNull(r.DoneAt), Deliveries: r.Count,
	}
}

func (h *Handler) recover(r *request) (answer, error) {
	body, err := readBody(r.Request, "since")
	if err != nil {
		return answer{}, err
	}
	now := h.cfg.Now()
	since, text, err := body.since(now)
	if err != nil {
		return answer{}, err
	}
	if !isID(account.EndpointID, r.id) {
		return answer{}, endpointNotFound(r.id)
	}
	recovery, err := h.cfg.Store.Deliveries.Recover(r.Context(), account.OwnedBy(r.account), r.id, since, now)
	switch {
	case errors.Is(err, store.ErrInvalid):
		return answer{}, badSince(text, now)
	case errors.Is(err, store.ErrTooMany):
		return answer{}, recoveryRunning(r.id)
	case err != nil:
		return answer{}, found(err, endpointNotFound(r.id))
	}
	h.wake()
	return answer{status: http.StatusAccepted, value: newRecoveryItem(&recovery), location: endpointsPath + "/" + r.id + "/recoveries"}, nil
}

func (h *Handler) listRecoveries(r *request) (answer, error) {
	if !isID(account.EndpointID, r.id) {
		return answer{}, endpointNotFound(r.id)
	}
	recoveries, err := h.cfg.Store.Deliveries.Recoveries(r.Context(), account.OwnedBy(r.account), r.id)
	if err != nil {
		return answer{}, found(err, endpointNotFound(r.id))
	}
	items := make([]recoveryItem, len(recoveries))
	for i := range recoveries {
		items[i] = newRecoveryItem(&recoveries[i])
	}
	return answer{value: list[recoveryItem]{items}}, nil
}

// since reads from when on events are to be sent again: a moment, or a day, which
// begins at midnight UTC. Whether it is one of those that can be asked for the store
// says; text is for its refusal.
func (b body) since(now time.Time) (since time.Time, text string, err error) {
	text, given, err := b.text("since")
	if err != nil {
		return time.Time{}, "", err
	}
	if !given {
		return time.Time{}, "", invalid("since", "Le champ « since » manque ; valeurs admises : "+allowedSince(now)+".")
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC(), text, nil
		}
	}
	return time.Time{}, "", badSince(text, now)
}

func badSince(text string, now time.Time) error {
	return invalid("since", "Le champ « since » vaut "+quote(text)+" ; valeurs admises : "+allowedSince(now)+".")
}

func allowedSince(now time.Time) string {
	return "une date (2026-11-15) ou un instant RFC 3339 (2026-11-15T08:00:00Z), du " + stamp(now.Add(-webhook.Keep)) + " à maintenant, car les événements sont gardés 30 jours"
}
