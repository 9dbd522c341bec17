package mail

import (
	"context"
	"embed"
	"fmt"
	html "html/template"
	"strconv"
	"strings"
	text "text/template"
	"time"

	"palmares/internal/webhook"
)

//go:embed messages/*
var messages embed.FS

// A letter is the templates of one kind of mail; subject stands in the text's.
type letter struct {
	text *text.Template
	html *html.Template
}

// A facts is all that a template may speak of.
type facts struct {
	Site     string // where Palmarès is
	Account  string // the account page
	Subject  string
	Link     string
	Endpoint string // the webhook's URL
	Gone     bool   // it was disabled by its own answer
	Day      string // 6 décembre 2026
}

// letters parses the templates, which are part of the program: what is wrong with
// one is seen by every test.
func letters() map[Kind]letter {
	all := map[Kind]letter{}
	for _, k := range kinds {
		all[k] = letter{
			text: text.Must(text.ParseFS(messages, "messages/_layout.txt", "messages/"+string(k)+".txt")),
			html: html.Must(html.ParseFS(messages, "messages/_layout.html", "messages/"+string(k)+".html")),
		}
	}
	return all
}

// write makes the mail of a claim, its link included. The error is ErrObsolete or
// what kept it from being made.
func (q *Queue) write(ctx context.Context, c Claim, now time.Time) (Message, error) {
	f := facts{Site: q.cfg.BaseURL, Account: q.cfg.BaseURL + "/compte"}
	var err error
	switch c.Kind {
	case SignIn, ConfirmDeletion:
		f.Link, err = q.cfg.Content.Link(ctx, c.To, c.Kind)
	case EndpointDisabled:
		var e webhook.Endpoint
		if e, err = q.cfg.Content.Endpoint(ctx, c.About); err == nil && e.State != webhook.Disabled {
			err = ErrObsolete // its owner was faster
		}
		f.Endpoint, f.Gone = e.URL, e.Reason == webhook.Gone
	case PaymentFailed, PlanEnded:
		if f.Day, err = day(c.About); err == nil {
			err = q.cfg.Outbox.Check(ctx, c.Request)
		}
	default:
		err = fmt.Errorf("there is no mail of the kind %q", c.Kind)
	}
	if err != nil {
		return Message{}, err
	}
	return q.letters[c.Kind].render(c.To, f, now)
}

func (l letter) render(to string, f facts, now time.Time) (Message, error) {
	m := Message{To: to, Link: f.Link, Hook: f.Endpoint, Date: now}
	var b strings.Builder
	if err := l.text.ExecuteTemplate(&b, "subject", f); err != nil {
		return Message{}, err
	}
	m.Subject, f.Subject = b.String(), b.String()
	b.Reset()
	if err := l.text.ExecuteTemplate(&b, "_layout.txt", f); err != nil {
		return Message{}, err
	}
	m.Text = b.String()
	b.Reset()
	if err := l.html.ExecuteTemplate(&b, "_layout.html", f); err != nil {
		return Message{}, err
	}
	m.HTML = b.String()
	return m, nil
}

var months = [...]string{"janvier", "février", "mars", "avril", "mai", "juin", "juillet", "août", "septembre", "octobre", "novembre", "décembre"}

// day writes 2026-12-06 as a French reader does, with spaces that do not break.
func day(iso string) (string, error) {
	t, err := time.Parse(time.DateOnly, iso)
	if err != nil {
		return "", fmt.Errorf("%q is not a day: give it as 2026-12-06", iso)
	}
	number := strconv.Itoa(t.Day())
	if t.Day() == 1 {
		number = "1er"
	}
	return number + "\u00a0" + months[t.Month()-1] + "\u00a0" + strconv.Itoa(t.Year()), nil
}
