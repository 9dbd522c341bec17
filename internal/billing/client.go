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
	// callTimeout is for one call and its response. Calls usually take less than a second;
	// a visitor waits for two or three of them.
	callTimeout = 10 * time.Second
	// maxResponse is far above a page of a hundred subscriptions.
	maxResponse = 8 << 20
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
		// errors are returned to us, and only ours are logged
		LeveledLogger:     &stripe.LeveledLogger{Level: stripe.LevelNull},
		MaxNetworkRetries: stripe.Int64(1),
		EnableTelemetry:   stripe.Bool(false),
	}
	if api != "" {
		config.URL = stripe.String(api)
	}
	return stripe.NewClient(key, stripe.WithBackends(stripe.NewBackendsWithConfig(config)))
}

// limited cuts off responses that are too long to be Stripe's.
type limited struct{ next http.RoundTripper }

// RoundTrip sends a request.
func (l limited) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := l.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	response.Body = struct {
		io.Reader
		io.Closer
	}{io.LimitReader(response.Body, maxResponse), response.Body}
	return response, nil
}

// explain describes the failure of a call. It leaves out Stripe's own message, which may
// repeat what was sent, including part of the key.
func explain(err error) error {
	var refused *stripe.Error
	if !errors.As(err, &refused) {
		return fmt.Errorf("%w: %w", errUnavailable, err)
	}
	reason := fmt.Errorf("a call to Stripe was refused with status %d, type %q, code %q, parameter %q: "+
		"look up request %q in the Stripe dashboard",
		refused.HTTPStatusCode, refused.Type, refused.Code, refused.Param, refused.RequestID)
	switch status := refused.HTTPStatusCode; {
	case refused.Code == stripe.ErrorCodeResourceMissing && refused.Param == "customer":
		return fmt.Errorf("%w: %w", errUnknownCustomer, reason)
	case status == http.StatusUnauthorized, status == http.StatusTooManyRequests,
		status >= http.StatusInternalServerError:
		return fmt.Errorf("%w: %w", errUnavailable, reason)
	}
	return reason
}

var (
	// errUnavailable means that other calls would fail too: Stripe is unreachable, has an
	// outage or refuses the key.
	errUnavailable = errors.New("a call to Stripe failed")
	// errUnknownCustomer means that other calls about the same customer would fail too: it
	// was deleted or belongs to another Stripe account.
	errUnknownCustomer = errors.New("the customer does not belong to this Stripe account")
)

// errNoCustomer stops a list without a customer: Stripe would list everybody's, and what
// is listed may be cancelled.
var errNoCustomer = errors.New("the account is not a Stripe customer, or was deleted meanwhile")

// read returns every subscription that a customer ever had. A deleted customer has none;
// for one that Stripe does not know it returns errUnknownCustomer.
func (b *Billing) read(ctx context.Context, customerID string) ([]Reading, error) {
	if customerID == "" {
		return nil, errNoCustomer
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
		pro, err := b.isPro(ctx, s)
		if err != nil {
			return nil, err
		}
		r := Reading{
			ID: s.ID, Pro: pro, Status: Status(s.Status), Created: unixTime(s.Created), CancelAt: unixTime(s.CancelAt),
		}
		if s.Items != nil {
			for _, item := range s.Items.Data {
				if end := unixTime(item.CurrentPeriodEnd); end.After(r.PeriodEnd) {
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

// isPro reports whether a subscription is to Pro: to the price of --stripe-price, or to
// another of the same product, such as the one before an increase. The operator may sell
// other things through the same Stripe account.
func (b *Billing) isPro(ctx context.Context, s *stripe.Subscription) (bool, error) {
	if s.Items == nil {
		return false, nil
	}
	for _, item := range s.Items.Data {
		if item.Price == nil {
			continue
		}
		if item.Price.ID == b.cfg.Price {
			return true, nil
		}
		product, err := b.product(ctx)
		if err != nil {
			return false, err
		}
		if item.Price.Product != nil && item.Price.Product.ID == product {
			return true, nil
		}
	}
	return false, nil
}

// product returns the id of the product that --stripe-price belongs to, which never
// changes.
func (b *Billing) product(ctx context.Context) (string, error) {
	if known := b.productID.Load(); known != nil {
		return *known, nil
	}
	price, err := b.stripe.V1Prices.Retrieve(ctx, b.cfg.Price, nil)
	if err != nil {
		return "", explain(err)
	}
	if price.Product == nil || price.Product.ID == "" {
		return "", fmt.Errorf("the price of --stripe-price has no product: nothing was changed; " +
			"check it in the Stripe dashboard")
	}
	b.productID.Store(&price.Product.ID)
	return price.Product.ID, nil
}

// deleted reports whether a customer was deleted in the Stripe dashboard, and all its
// subscriptions with it. It reports false if Stripe does not say.
func (b *Billing) deleted(ctx context.Context, customerID string) bool {
	c, err := b.stripe.V1Customers.Retrieve(ctx, customerID, nil)
	return err == nil && c.Deleted
}

// unixTime returns the zero time for 0, which is null in Stripe's API.
func unixTime(unix int64) time.Time {
	if unix == 0 {
		return time.Time{}
	}
	return time.Unix(unix, 0).UTC()
}
