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
	// eventTolerance is how old a signature may be, so that an intercepted event cannot be
	// replayed forever. It is Stripe's own recommendation.
	eventTolerance = 5 * time.Minute
	// eventTimeout is shorter than Stripe's, so that a failure is in our log.
	eventTimeout = 15 * time.Second
)

// An event has the fields of a Stripe event that are read. It is trusted only for the customer that has
// changed, and for whose Checkout page was paid.
type event struct {
	ID, Object, Type string
	Data             struct{ Object map[string]any }
}

var errNoEvent = errors.New("the body is not a Stripe event")

// parseEvent parses the body of an event whose signature is valid.
func parseEvent(body []byte) (event, error) {
	var e event
	if err := json.Unmarshal(body, &e); err != nil || e.Object != "event" || e.ID == "" || e.Type == "" {
		return event{}, errNoEvent
	}
	return e, nil
}

// customer returns the customer that an event is about, "" if it does not matter here.
func (e event) customer() string {
	kind, _, _ := strings.Cut(e.Type, ".")
	switch kind {
	case "customer", "checkout", "invoice", "subscription_schedule":
	default:
		return ""
	}
	id := e.Data.Object["customer"]
	if e.Data.Object["object"] == "customer" {
		id = e.Data.Object["id"]
	} else if expanded, ok := id.(map[string]any); ok {
		id = expanded["id"]
	}
	customer, _ := id.(string) // neither form: no customer
	return customer
}

// ServeHTTP receives an event from Stripe. It responds 200 if the event has been applied,
// now or before, or does not matter, and 500 if applying it failed, so that Stripe resends
// it.
func (b *Billing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	if b.stripe == nil {
		http.NotFound(w, r)
		return
	}
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "use POST", http.StatusMethodNotAllowed)
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
	if len(signatures) != 1 ||
		stripe.ValidatePayload(body, signatures[0], b.cfg.WebhookSecret, stripe.WithTolerance(eventTolerance)) != nil {
		b.events.WithLabelValues("forged").Inc()
		b.cfg.Log.Warn("an event was refused, as its signature is missing, wrong or too old: if Stripe sent it, check " +
			"--stripe-webhook-secret and the clock of this machine")
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
	if err := b.apply(ctx, e); err != nil {
		b.events.WithLabelValues("failed").Inc()
		b.cfg.Log.Error("could not apply a Stripe event: Stripe will resend it",
			"event", e.ID, "type", e.Type, "error", err)
		http.Error(w, "the event could not be applied", http.StatusInternalServerError)
		return
	}
	b.events.WithLabelValues("applied").Inc()
	w.WriteHeader(http.StatusOK)
}

// apply reads and stores the subscription that an event is about.
func (b *Billing) apply(ctx context.Context, e event) error {
	customerID := e.customer()
	if customerID == "" {
		return nil
	}
	// The ledger checks this again in its transaction; here it saves a call to Stripe.
	if seen, err := b.cfg.Ledger.EventSeen(ctx, e.ID); err != nil || seen {
		return err
	}
	known, err := b.refresh(ctx, func() (Subscription, error) { return b.cfg.Ledger.ByCustomer(ctx, customerID) }, e.ID)
	metadata, _ := e.Data.Object["metadata"].(map[string]any)
	if err == nil && known.CustomerID == "" && e.Type == "checkout.session.completed" &&
		metadata["offer"] == b.offer() {
		return b.cancel(ctx, customerID) // our page, paid while the account was deleted
	}
	if errors.Is(err, errUnknownCustomer) {
		// Stripe would resend it for three days without effect.
		b.cfg.Log.Error("a Stripe event is about a customer that Stripe does not know: nothing was changed; "+
			"check that --stripe-key and --stripe-webhook-secret belong to the same account",
			"event", e.ID, "type", e.Type, "customer", customerID, "error", err)
		return nil
	}
	return err
}
