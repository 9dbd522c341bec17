package node

import (
	"context"
	"errors"
	"fmt"
	"time"

	"palmares/internal/account"
	"palmares/internal/accountsite"
	"palmares/internal/mail"
	"palmares/internal/sqldb"
	"palmares/internal/webhook"
)

// mailContent provides what is known only when a mail is sent.
type mailContent struct {
	store   *Database
	baseURL string
	now     func() time.Time
}

// Link creates the link in a mail.
func (c *mailContent) Link(ctx context.Context, r mail.Request) (string, error) {
	purpose := account.LinkSignIn
	if r.Kind == mail.ConfirmDeletion {
		purpose = account.LinkDeletion
	}
	token, err := c.store.Links.Create(ctx, r.To, purpose, c.now())
	if err != nil {
		return "", obsoleteIfNotFound(err)
	}
	return accountsite.LinkURL(c.baseURL, purpose, r.About, token), nil
}

// Endpoint finds the endpoint that a mail is about.
func (c *mailContent) Endpoint(ctx context.Context, id string) (webhook.Endpoint, error) {
	e, err := c.store.Endpoints.Find(ctx, account.AnyOwner(), id)
	return e, obsoleteIfNotFound(err)
}

func obsoleteIfNotFound(err error) error {
	if errors.Is(err, sqldb.ErrNotFound) {
		return fmt.Errorf("%w: %w", mail.ErrObsolete, err)
	}
	return err
}
