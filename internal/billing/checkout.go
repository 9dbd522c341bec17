package billing

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/stripe/stripe-go/v86"

	"palmares/internal/account"
)

// Checkout returns the URL of a Stripe page on which the account subscribes or, if it has
// a subscription already, changes it.
func (b *Billing) Checkout(ctx context.Context, a account.Account) (string, error) {
	if b.stripe == nil {
		return "", ErrOff
	}
	known, err := b.cfg.Ledger.Find(ctx, a.ID)
	if err != nil {
		return "", err
	}
	if known.CustomerID == "" {
		known, err = b.newCustomer(ctx, a, "")
		if err != nil {
			return "", err
		}
	}
	page, err := b.subscribe(ctx, a)
	if errors.Is(err, errUnknownCustomer) && b.deleted(ctx, known.CustomerID) {
		if _, err := b.newCustomer(ctx, a, known.CustomerID); err != nil {
			return "", err
		}
		return b.subscribe(ctx, a)
	}
	return page, err
}

// subscribe is Checkout for an account that is a customer.
func (b *Billing) subscribe(ctx context.Context, a account.Account) (string, error) {
	// What is stored may be an hour old; a second subscription would be charged for a month.
	known, err := b.Refresh(ctx, a.ID)
	if err != nil {
		return "", err
	}
	if known.Status.Live() {
		return b.portal(ctx, known.CustomerID)
	}
	return b.checkout(ctx, a, known)
}

// newCustomer creates the Stripe customer of an account, in place of one that was
// deleted, "" for none. The idempotency key is made of both, so that a repeated request,
// or one after a crash, finds the same customer.
func (b *Billing) newCustomer(ctx context.Context, a account.Account, deleted string) (Subscription, error) {
	params := &stripe.CustomerCreateParams{
		Email:            &a.Email,
		PreferredLocales: []*string{stripe.String("fr")},
		Metadata:         map[string]string{"account_id": a.ID},
	}
	params.SetIdempotencyKey("palmares-customer-" + a.ID + deleted)
	created, err := b.stripe.V1Customers.Create(ctx, params)
	if err != nil {
		return Subscription{}, explain(err)
	}
	return b.cfg.Ledger.SetCustomer(ctx, a.ID, deleted, created.ID)
}

func (b *Billing) checkout(ctx context.Context, a account.Account, known Subscription) (string, error) {
	// Only one page is open at a time: two could both be paid.
	offer := b.offer()
	open, err := b.openSessions(ctx, known.CustomerID)
	if err != nil {
		return "", err
	}
	page := ""
	for _, s := range open {
		if page == "" && s.Metadata["offer"] == offer {
			page = s.URL
		} else if err := b.expire(ctx, s); err != nil {
			return "", err
		}
	}
	if page != "" {
		return page, nil
	}
	params := &stripe.CheckoutSessionCreateParams{
		Mode:      stripe.String("subscription"),
		LineItems: []*stripe.CheckoutSessionCreateLineItemParams{{Price: &b.cfg.Price, Quantity: stripe.Int64(1)}},
		Customer:  &known.CustomerID,
		// Tax follows from the address and the tax ID entered on the page; without this
		// Stripe would not store them with an existing customer.
		CustomerUpdate: &stripe.CheckoutSessionCreateCustomerUpdateParams{
			Address: stripe.String("auto"), Name: stripe.String("auto"),
		},
		AutomaticTax:             &stripe.CheckoutSessionCreateAutomaticTaxParams{Enabled: stripe.Bool(true)},
		TaxIDCollection:          &stripe.CheckoutSessionCreateTaxIDCollectionParams{Enabled: stripe.Bool(true)},
		BillingAddressCollection: stripe.String("required"),
		Locale:                   stripe.String("fr"),
		ClientReferenceID:        &a.ID,
		SubscriptionData: &stripe.CheckoutSessionCreateSubscriptionDataParams{
			Metadata: map[string]string{"account_id": a.ID},
		},
		Metadata:   map[string]string{"account_id": a.ID, "offer": offer},
		SuccessURL: stripe.String(b.cfg.BaseURL + "/compte/pro?session_id={CHECKOUT_SESSION_ID}"),
		CancelURL:  stripe.String(b.cfg.BaseURL + "/compte"),
	}
	// Two clicks at once create one page. Stripe remembers the key for at least a day and
	// returns the same page for it; the hour and the last subscription are part of it so
	// that no paid or expired page is returned.
	hour := b.cfg.Now().UTC().Truncate(time.Hour)
	attempt := digest(a.ID, known.CustomerID, offer, known.ID, hour.Format(time.RFC3339))
	params.SetIdempotencyKey("palmares-checkout-" + attempt)
	created, err := b.stripe.V1CheckoutSessions.Create(ctx, params)
	if err != nil {
		return "", explain(err)
	}
	if created.URL == "" {
		return "", fmt.Errorf("the checkout session %s has no URL: try again", created.ID)
	}
	return created.URL, nil
}

// offer identifies the Checkout pages of this installation and price.
func (b *Billing) offer() string { return digest(b.cfg.Price, b.cfg.BaseURL) }

// digest returns a short identifier of several texts.
func digest(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\n")))
	return hex.EncodeToString(sum[:16])
}

// openSessions returns the Checkout pages on which a customer could still pay.
func (b *Billing) openSessions(ctx context.Context, customerID string) ([]*stripe.CheckoutSession, error) {
	if customerID == "" {
		return nil, errNoCustomer
	}
	var open []*stripe.CheckoutSession
	params := &stripe.CheckoutSessionListParams{Customer: &customerID, Status: stripe.String("open")}
	params.Limit = stripe.Int64(100)
	for s, err := range b.stripe.V1CheckoutSessions.List(ctx, params).All(ctx) {
		if err != nil {
			return nil, explain(err)
		}
		open = append(open, s)
	}
	return open, nil
}

// expire closes a Checkout page. One that has just been paid cannot be closed: that is an
// error now, and a subscription the next time.
func (b *Billing) expire(ctx context.Context, s *stripe.CheckoutSession) error {
	if _, err := b.stripe.V1CheckoutSessions.Expire(ctx, s.ID, &stripe.CheckoutSessionExpireParams{}); err != nil {
		return explain(err)
	}
	return nil
}

// ErrNoCustomer means that the account never started to pay, so there is nothing to
// change.
var ErrNoCustomer = errors.New("the account has no subscription to change: start one with Checkout")

// Portal returns the URL of the Stripe page on which the account changes its card, reads
// its invoices and cancels. It returns ErrNoCustomer if the account never started to pay
// or its customer was deleted.
func (b *Billing) Portal(ctx context.Context, a account.Account) (string, error) {
	if b.stripe == nil {
		return "", ErrOff
	}
	known, err := b.cfg.Ledger.Find(ctx, a.ID)
	if err != nil {
		return "", err
	}
	if known.CustomerID == "" {
		return "", ErrNoCustomer
	}
	page, err := b.portal(ctx, known.CustomerID)
	if errors.Is(err, errUnknownCustomer) && b.deleted(ctx, known.CustomerID) {
		_, err := b.Refresh(ctx, a.ID) // the page that is shown instead has the current state
		return "", cmp.Or(err, ErrNoCustomer)
	}
	return page, err
}

func (b *Billing) portal(ctx context.Context, customerID string) (string, error) {
	created, err := b.stripe.V1BillingPortalSessions.Create(ctx, &stripe.BillingPortalSessionCreateParams{
		Customer:  &customerID,
		Locale:    stripe.String("fr"),
		ReturnURL: stripe.String(b.cfg.BaseURL + "/compte"),
	})
	if err != nil {
		return "", explain(err)
	}
	return created.URL, nil
}
