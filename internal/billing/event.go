package billing

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/stripe/stripe-go/v86"
)

const (
	// maxEvent is above the largest event about a subscription that has one item.
	maxEvent = 64 << 10
	// eventTolerance is how old a signature may be, so that an event that was seen on
	// its way cannot be sent again for ever. It is Stripe's own recommendation.
	eventTolerance = 5 * time.Minute
	// eventTimeout ends before Stripe gives up waiting, so that the failure is in our log.
	eventTimeout = 15 * time.Second
)

// An event is the part of one that is read: nothing of it is believed but that
// something about this customer has changed.
type event struct {
	ID     string `json:"id"`
	Object string `json:"object"`
	Type   string `json:"type"`
	Data   struct {
		Object struct {
			ID       string          `json:"id"`
			Object   string          `json:"object"`
			Customer json.RawMessage `json:"customer"`
		} `json:"object"`
	} `json:"data"`
}

var errNoEvent = errors.New("the body is no event of Stripe")

// parseEvent reads the body of an event whose signature is good.
func parseEvent(body []byte) (event, error) {
	var e event
	if err := json.Unmarshal(body, &e); err != nil || e.Object != "event" || e.ID == "" || e.Type == "" {
		return event{}, errNoEvent
	}
	return e, nil
}

// customer says whom an event is about; "" when that does not matter here.
func (e event) customer() string {
	kind, _, _ := strings.Cut(e.Type, ".")
	switch kind {
	case "customer", "checkout", "invoice", "subscription_schedule":
	default:
		return ""
	}
	if e.Data.Object.Object == "customer" {
		return e.Data.Object.ID
	}
	var id string
	if json.Unmarshal(e.Data.Object.Customer, &id) == nil {
		return id
	}
	var expanded struct {
		ID string `json:"id"`
	}
	_ = json.Unmarshal(e.Data.Object.Customer, &expanded) // neither form: about nobody
	return expanded.ID
}

// ServeHTTP takes an event from Stripe. It answers 200 when the event has taken
// effect, now or before, or needs none; 500 when that failed here, so that Stripe
// sends it again.
func (b *Billing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	if b.stripe == nil {
		http.NotFound(w, r)
		return
	}
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "events are posted", http.StatusMethodNotAllowed)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxEvent))
	if err != nil {
		status := http.StatusBadRequest
		if _, long := errors.AsType[*http.MaxBytesError](err); long {
			status = http.StatusRequestEntityTooLarge
		}
		http.Error(w, "the body cannot be read to its end", status)
		return
	}
	signatures := r.Header["Stripe-Signature"]
	if len(signatures) != 1 || stripe.ValidatePayload(body, signatures[0], b.cfg.WebhookSecret, stripe.WithTolerance(eventTolerance)) != nil {
		http.Error(w, "the signature is missing, wrong or too old", http.StatusBadRequest)
		return
	}
	e, err := parseEvent(body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), eventTimeout)
	defer cancel()
	if err := b.take(ctx, e); err != nil {
		b.cfg.Log.Error("an event of Stripe could not be applied: Stripe sends it again", "event", e.ID, "type", e.Type, "error", err)
		http.Error(w, "the event could not be applied", http.StatusInternalServerError)
		return
	}
	w.WriteHeader(http.StatusOK)
}

// take has an event take effect.
func (b *Billing) take(ctx context.Context, e event) error {
	customerID := e.customer()
	if customerID == "" {
		return nil
	}
	// The store asks this again in the transaction; here it spares a call to Stripe.
	if seen, err := b.cfg.EventSeen(ctx, e.ID); err != nil || seen {
		return err
	}
	_, err := b.refresh(ctx, func() (Subscription, error) { return b.cfg.SubscriptionOf(ctx, customerID) }, e.ID)
	if errors.Is(err, errUnknownCustomer) {
		// Stripe would send it for three days, and nothing would come of it.
		b.cfg.Log.Error("an event of Stripe is about a customer that Stripe does not know: nothing was changed; check that --stripe-key and --stripe-webhook-secret are of one account",
			"event", e.ID, "type", e.Type, "customer", customerID, "error", err)
		return nil
	}
	return err
}
