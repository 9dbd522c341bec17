package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"palmares/internal/account"
	"palmares/internal/accountsite"
	"palmares/internal/desk"
	"palmares/internal/deskdb"
	"palmares/internal/mail"
	"palmares/internal/newsletter"
	"palmares/internal/sqldb"
	"palmares/internal/vault"
	"palmares/internal/webhook"
)

// mailContent provides what is known only when a mail is sent.
type mailContent struct {
	*newsletter.Newsletter // the mails to readers
	store                  *Database
	sealer                 vault.Sealer
	baseURL                string
	now                    func() time.Time
}

// Link creates the link in a mail.
func (c *mailContent) Link(ctx context.Context, r mail.Request) (string, error) {
	purpose, to := account.LinkSignIn, r.To
	switch r.Kind {
	case mail.ConfirmDeletion:
		purpose = account.LinkDeletion
	case mail.ConfirmFollow:
		b, err := c.Bulletin(ctx, r)
		if err != nil {
			return "", err
		}
		purpose, to = account.LinkFollow, b.To
	}
	token, err := c.store.Links.Sealed(c.sealer).Create(ctx, to, purpose, c.now())
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

// Copy finds the working copy that a mail is about. A mail to somebody who has left the desk
// meanwhile is obsolete.
func (c *mailContent) Copy(ctx context.Context, r mail.Request) (mail.Copy, error) {
	if _, err := c.store.Editors.Find(ctx, r.To); err != nil {
		return mail.Copy{}, obsoleteIfNotFound(err)
	}
	found, err := c.store.Copies.Find(ctx, r.About)
	if err != nil {
		return mail.Copy{}, obsoleteIfNotFound(err)
	}
	author, err := c.store.Editors.Find(ctx, found.Author)
	if err != nil && !errors.Is(err, sqldb.ErrNotFound) {
		return mail.Copy{}, err
	}
	return mail.Copy{
		Record: desk.NameOf(found.Path, found.Data), Author: cmp.Or(author.Name, found.Author), Note: found.Note,
		Waiting: found.State == deskdb.CopyForReview,
		Ready:   found.State == deskdb.CopyReady,
	}, nil
}

// Reports finds what readers have reported and nobody has looked at yet.
func (c *mailContent) Reports(ctx context.Context, r mail.Request) (list []mail.Report, more int, _ error) {
	since, until, _ := strings.Cut(r.About, " ")
	found, more, err := c.store.Reports.Sealed(c.sealer).OpenBetween(ctx, since, until)
	for _, f := range found {
		list = append(list, mail.Report{Page: c.baseURL + f.Page, Text: f.Text, Address: f.Address})
	}
	if err == nil && len(list) == 0 {
		err = mail.ErrObsolete
	}
	return list, more, err
}

func obsoleteIfNotFound(err error) error {
	if errors.Is(err, sqldb.ErrNotFound) {
		return fmt.Errorf("%w: %w", mail.ErrObsolete, err)
	}
	return err
}
