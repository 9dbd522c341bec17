package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"palmares/internal/account"
	"palmares/internal/accountdb"
	"palmares/internal/accountsite"
	"palmares/internal/catalog"
	"palmares/internal/desk"
	"palmares/internal/mail"
	"palmares/internal/site"
	"palmares/internal/snapshot"
	"palmares/internal/sqldb"
	"palmares/internal/webhook"
)

// mailContent provides what is known only when a mail is sent.
type mailContent struct {
	store   *Database
	sealer  webhook.Sealer
	live    *snapshot.Live
	pages   *site.Site
	baseURL string
	now     func() time.Time
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
		Waiting: found.State == accountdb.CopyForReview,
		Ready:   found.State == accountdb.CopyReady,
	}, nil
}

// maxEntries is how many changes a mail tells.
const maxEntries = 50

// Bulletin finds what somebody who follows something is told, or asked to confirm. A node that does not
// serve the version yet leaves it to others, or to later.
func (c *mailContent) Bulletin(ctx context.Context, r mail.Request) (b mail.Bulletin, _ error) {
	if r.Kind == mail.ConfirmFollow {
		asked, malformed := url.ParseQuery(r.About)
		to, err := c.store.Links.Sealed(c.sealer).Open(r.To)
		b.To, b.Topics, b.IsWeekly = to, c.pages.TopicName(asked.Get("quoi")), asked.Get("quand") == accountdb.FollowWeekly
		return b, errors.Join(malformed, err)
	}
	var upTo, version int64
	fields := strings.Fields(r.About)
	if n, err := fmt.Sscan(r.About, &upTo, &version); err != nil || len(fields)%2 != 0 {
		return b, fmt.Errorf("%d numbers of %q, %w", n, r.About, err)
	}
	if served := c.live.Snapshot().Version; served < version {
		return b, fmt.Errorf("version %d is served, and the mail is about %d", served, version)
	}
	type followed struct {
		accountdb.Follow
		told  int64 // the sequence of the last event that the reader knows of
		isNew bool  // there is something to tell
	}
	var all []*followed
	after, mailed := upTo, map[string]string{}
	for pair := range slices.Chunk(fields[2:], 2) {
		f, err := c.store.Follows.Sealed(c.sealer).Find(ctx, pair[0])
		if errors.Is(err, sqldb.ErrNotFound) {
			continue
		}
		sequence, malformed := strconv.ParseInt(pair[1], 10, 64)
		if err := errors.Join(err, malformed); err != nil {
			return b, err
		}
		after, all = min(after, sequence), append(all, &followed{Follow: f, told: sequence})
		maps.Copy(mailed, f.Mailed)
	}
	events, more, err := c.store.Events.Between(ctx, after, upTo, func(sequence int64, e *catalog.Event) (isWanted bool) {
		topics := c.pages.TopicsOf(e)
		for _, f := range all {
			if sequence > f.told && isTold(e, f.Pace) && slices.Contains(topics, f.Topic) {
				f.isNew, isWanted = true, true
			}
		}
		return isWanted
	})
	if err != nil {
		return b, err
	}
	var names []string
	for _, f := range all {
		if f.isNew {
			whole := ""
			if len(names) > 0 {
				whole = f.All
			}
			names = append(names, c.pages.TopicName(f.Topic))
			b.To, b.End = f.Address, accountsite.EndURL(c.baseURL, f.Token, whole)
		}
	}
	for _, n := range c.pages.News(events, mailed) {
		if len(b.Entries) == maxEntries {
			b.More++
			continue
		}
		b.Entries = append(b.Entries, mail.Entry{Title: n.Title, Summary: n.Summary, Page: n.URL})
		b.Told = n.Priced + " " + b.Told // the oldest first
	}
	b.Told = catalog.Day(c.now()) + " " + b.Told
	b.Topics, b.AtLeast = strings.Join(names, "\u00a0», «\u00a0"), more
	if len(b.Entries) == 0 {
		return b, mail.ErrObsolete
	}
	return b, nil
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
