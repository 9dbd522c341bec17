package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"time"

	"palmares/internal/account"
	"palmares/internal/accountsite"
	"palmares/internal/mail"
	"palmares/internal/store"
	"palmares/internal/webhook"
)

// mailTransport returns what --smtp and --mail-from say.
func (c *serveCommand) mailTransport(log *slog.Logger) (mail.Transport, error) {
	if c.Mail.SMTP.given == nil {
		return mail.LogSender{Log: log}, nil
	}
	base, err := url.Parse(string(c.BaseURL))
	if err != nil {
		return nil, err
	}
	from, err := mail.ParseFrom(c.Mail.From, base)
	if err != nil {
		return nil, err
	}
	return mail.NewSender(*c.Mail.SMTP.given, from), nil
}

// mailContent provides what is known only when a mail is sent.
type mailContent struct {
	store   *store.Store
	baseURL string
	now     func() time.Time
}

// Link creates the link in a mail.
func (c *mailContent) Link(ctx context.Context, to string, kind mail.Kind) (string, error) {
	purpose := account.LinkSignIn
	if kind == mail.ConfirmDeletion {
		purpose = account.LinkDeletion
	}
	token, err := c.store.Links.Create(ctx, to, purpose, c.now())
	if err != nil {
		return "", obsoleteIfNotFound(err)
	}
	return accountsite.LinkURL(c.baseURL, purpose, token), nil
}

// Endpoint finds the endpoint that a mail is about.
func (c *mailContent) Endpoint(ctx context.Context, id string) (webhook.Endpoint, error) {
	e, err := c.store.Endpoints.Find(ctx, account.AnyOwner(), id)
	return e, obsoleteIfNotFound(err)
}

func obsoleteIfNotFound(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("%w: %w", mail.ErrObsolete, err)
	}
	return err
}
