package billing

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/stripe/stripe-go/v86"
)

const (
	// callTimeout is for one call, with its answer. Stripe's own calls take less than a
	// second; a visitor waits for two or three of them.
	callTimeout = 10 * time.Second
	// maxAnswer is far above a page of a hundred subscriptions.
	maxAnswer = 8 << 20
)

func newClient(key, api string) *stripe.Client {
	config := &stripe.BackendConfig{
		HTTPClient: &http.Client{
			Timeout: callTimeout,
			Transport: limited{&http.Transport{
				Proxy:                  http.ProxyFromEnvironment,
				DialContext:            (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
				TLSHandshakeTimeout:    5 * time.Second,
				ResponseHeaderTimeout:  callTimeout,
				MaxResponseHeaderBytes: 64 << 10,
				MaxIdleConnsPerHost:    4,
				IdleConnTimeout:        time.Minute,
				ForceAttemptHTTP2:      true,
			}},
			// The key must not follow a redirect.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		LeveledLogger:     &stripe.LeveledLogger{Level: stripe.LevelNull}, // errors come back to us, and only ours are logged
		MaxNetworkRetries: stripe.Int64(1),
		EnableTelemetry:   stripe.Bool(false),
	}
	if api != "" {
		config.URL = stripe.String(api)
	}
	return stripe.NewClient(key, stripe.WithBackends(stripe.NewBackendsWithConfig(config)))
}

// limited cuts answers that are too long to be Stripe's.
type limited struct{ next http.RoundTripper }

// RoundTrip sends a request.
func (l limited) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := l.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	answer.Body = struct {
		io.Reader
		io.Closer
	}{io.LimitReader(answer.Body, maxAnswer), answer.Body}
	return answer, nil
}

// explain makes a sentence of what went wrong with a call. Stripe's own message stays
// out of it: it may repeat what was sent, a part of the key included.
func explain(err error) error {
	var refused *stripe.Error
	if !errors.As(err, &refused) {
		return fmt.Errorf("%w: %w", errAway, err)
	}
	said := fmt.Errorf("a call to Stripe was refused with status %d, type %q, code %q, parameter %q: look up the request %q in the Stripe dashboard",
		refused.HTTPStatusCode, refused.Type, refused.Code, refused.Param, refused.RequestID)
	switch status := refused.HTTPStatusCode; {
	case refused.Code == stripe.ErrorCodeResourceMissing && refused.Param == "customer":
		return fmt.Errorf("%w: %w", errUnknownCustomer, said)
	case status == http.StatusUnauthorized, status == http.StatusTooManyRequests, status >= http.StatusInternalServerError:
		return fmt.Errorf("%w: %w", errAway, said)
	}
	return said
}

// What a failed call says of others. errAway: they would fail too, as Stripe cannot be
// reached, is in trouble or refuses the key. errUnknownCustomer: only those about the
// same customer, who was deleted or is another Stripe account's.
var (
	errAway            = errors.New("a call to Stripe failed")
	errUnknownCustomer = errors.New("the customer is not one of this Stripe account")
)

// errNobody stops a list that names no customer: Stripe would list everybody's, and
// what is listed may be cancelled.
var errNobody = errors.New("the account is no customer of Stripe, or was deleted meanwhile")

// read gives every subscription that a customer ever had. Whoever was deleted has none
// any more; of whom Stripe never heard nothing can be said: errUnknownCustomer.
func (b *Billing) read(ctx context.Context, customerID string) ([]Reading, error) {
	if customerID == "" {
		return nil, errNobody
	}
	params := &stripe.SubscriptionListParams{Customer: &customerID, Status: stripe.String("all")}
	params.Limit = stripe.Int64(100)
	var all []Reading
	for s, err := range b.stripe.V1Subscriptions.List(ctx, params).All(ctx) {
		if err != nil {
			err = explain(err)
			if errors.Is(err, errUnknownCustomer) && b.deleted(ctx, customerID) {
				return nil, nil
			}
			return nil, err
		}
		r := Reading{ID: s.ID, Status: Status(s.Status), Created: moment(s.Created), CancelAt: moment(s.CancelAt)}
		if s.Items != nil {
			for _, item := range s.Items.Data {
				if end := moment(item.CurrentPeriodEnd); end.After(r.PeriodEnd) {
					r.PeriodEnd = end
				}
			}
		}
		if s.CancelAtPeriodEnd && r.CancelAt.IsZero() {
			r.CancelAt = r.PeriodEnd
		}
		all = append(all, r)
	}
	return all, nil
}

// deleted tells whether a customer was deleted, in the Stripe dashboard: with it went
// all that it paid. No is also what is answered when Stripe does not say so.
func (b *Billing) deleted(ctx context.Context, customerID string) bool {
	c, err := b.stripe.V1Customers.Retrieve(ctx, customerID, nil)
	return err == nil && c.Deleted
}

// moment is the zero time where Stripe says null.
func moment(unix int64) time.Time {
	if unix == 0 {
		return time.Time{}
	}
	return time.Unix(unix, 0).UTC()
}
