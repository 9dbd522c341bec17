package mail

import (
	"context"
	"embed"
	"fmt"
	html "html/template"
	"strings"
	text "text/template"
	"time"

	"palmares/internal/french"
	"palmares/internal/webhook"
)

//go:embed messages/*
var messages embed.FS

// templates render one kind of mail; the text template defines the subject too.
type templates struct {
	text *text.Template
	html *html.Template
}

// data is what templates use.
type data struct {
	Name     string // of the catalogue
	Site     string // URL of the site
	Account  string // URL of the account page
	Subject  string
	Link     string
	Endpoint webhook.Endpoint
	Copy            // of the record that the mail is about
	Page     string // URL of the page about it
	Hour     string // 6 décembre 2026 à 09:30 UTC
	Day      string // 6 décembre 2026
	Reports  []Report
	More     int // reports that are not in the mail
	Bulletin Bulletin
}

// parseTemplates panics if one of the embedded templates is broken, which every test
// would notice.
func parseTemplates() map[Kind]templates {
	all := map[Kind]templates{}
	for _, k := range kinds {
		all[k] = templates{
			text: text.Must(text.ParseFS(messages, "messages/_layout.txt", "messages/"+string(k)+".txt")),
			html: html.Must(html.ParseFS(messages, "messages/_layout.html", "messages/"+string(k)+".html")),
		}
	}
	return all
}

// write renders the mail of a claim and creates its link. It returns ErrObsolete if
// the mail is not to be sent.
func (q *Queue) write(ctx context.Context, c Claim, now time.Time) (Message, error) {
	d := data{Name: q.cfg.Name(), Site: q.cfg.BaseURL, Account: q.cfg.BaseURL + "/compte"}
	var err error
	switch c.Kind {
	case ConfirmFollow:
		d.Link, err = q.cfg.Content.Link(ctx, c.Request)
		if err == nil {
			d.Bulletin, err = q.cfg.Content.Bulletin(ctx, c.Request)
			d.Bulletin.End, c.To = "", d.Bulletin.To // nothing to end yet
		}
	case SignIn, ConfirmDeletion:
		d.Link, err = q.cfg.Content.Link(ctx, c.Request)
	case EndpointDisabled:
		d.Endpoint, err = q.cfg.Content.Endpoint(ctx, c.About)
		if err == nil && d.Endpoint.State != webhook.Disabled {
			err = ErrObsolete // its owner has enabled it again
		}
	case EndpointFailing:
		err = q.describeFailures(ctx, c.About, &d)
	case PaymentFailed, PlanEnded:
		d.Day = french.Date(c.About)
		_, err = time.Parse(time.DateOnly, c.About)
		if err == nil {
			err = q.cfg.Outbox.Check(ctx, c.Request)
		}
	case ScheduleStuck:
		var due time.Time
		var hour string
		d.Record, hour, _ = strings.Cut(c.About, " ")
		due, err = time.Parse(time.RFC3339, hour)
		d.Hour = frenchHour(due)
	case ReviewAsked, ReviewReturned, ReviewApproved:
		err = q.describeCopy(ctx, c.Request, &d)
	case News:
		d.Bulletin, err = q.cfg.Content.Bulletin(ctx, c.Request)
		c.To = d.Bulletin.To
	case Reports:
		d.Reports, d.More, err = q.cfg.Content.Reports(ctx, c.Request)
	default:
		err = fmt.Errorf("unknown kind of mail %q", c.Kind)
	}
	if err != nil {
		return Message{}, err
	}
	m, err := q.templates[c.Kind].render(c.To, d, now)
	m.From = d.Name
	if d.Link == "" { // a server that drops duplicates must not drop the attempt whose link still works
		m.ID = c.ID
	}
	return m, err
}

// describeFailures fills in what the mail about a failing endpoint says.
func (q *Queue) describeFailures(ctx context.Context, id string, d *data) error {
	e, err := q.cfg.Content.Endpoint(ctx, id)
	if err != nil {
		return err
	}
	if !e.Broken() {
		return ErrObsolete // it works again, or its owner has stopped it
	}
	d.Endpoint, d.Page = e, d.Account+"/webhooks/"+id
	d.Hour, d.Day = frenchHour(e.LastFailure.At), french.Date(isoDay(e.DisableAt()))
	return nil
}

func frenchHour(t time.Time) string { return french.Date(isoDay(t)) + t.UTC().Format(" à 15:04 UTC") }

// describeCopy fills in what the mail about a working copy says.
func (q *Queue) describeCopy(ctx context.Context, r Request, d *data) error {
	c, err := q.cfg.Content.Copy(ctx, r)
	if err != nil {
		return err
	}
	if c.Waiting != (r.Kind == ReviewAsked) || c.Ready != (r.Kind == ReviewApproved) {
		return ErrObsolete // somebody was faster
	}
	d.Copy, d.Page = c, d.Site+"/redaction/copies/"+r.About
	if c.Waiting {
		d.Page += "/relecture"
	}
	return nil
}

func (t templates) render(to string, d data, now time.Time) (Message, error) {
	m := Message{To: to, Link: d.Link, Hook: d.Endpoint.URL, End: d.Bulletin.End, Date: now}
	var b strings.Builder
	if err := t.text.ExecuteTemplate(&b, "subject", d); err != nil {
		return Message{}, err
	}
	m.Subject, d.Subject = b.String(), b.String()
	b.Reset()
	if err := t.text.ExecuteTemplate(&b, "_layout.txt", d); err != nil {
		return Message{}, err
	}
	m.Text = b.String()
	b.Reset()
	if err := t.html.ExecuteTemplate(&b, "_layout.html", d); err != nil {
		return Message{}, err
	}
	m.HTML = b.String()
	return m, nil
}
