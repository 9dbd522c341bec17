package accountsite

import (
	"context"
	"io"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"palmares/internal/web"
	"palmares/internal/webhook"
)

type dataPage struct {
	page
	AtDesk bool // the owner writes at the desk
}

func (p *belongings) showData(r *request) (*response, error) {
	who, err := p.editor(r)
	if err != nil {
		return nil, err
	}
	return render("data", dataPage{page: r.page("Données"), AtDesk: who != nil}), nil
}

// export returns everything known of an account as one file. Deliveries may be many:
// they are written while they are read.
func (p *belongings) export(r *request) (*response, error) {
	known, err := p.collect(r)
	if err != nil {
		return nil, err
	}
	return p.streamed(func(ctx context.Context, w io.Writer) error {
		head, err := webhook.JSON(known, jsontext.WithIndent("  "), jsontext.EscapeForHTML(true))
		if err != nil {
			return err
		}
		// The object stays open for the deliveries, which come last.
		if _, err := w.Write(append(head[:len(head)-2], ",\n  \"deliveries\": ["...)); err != nil {
			return err
		}
		separator := "\n    "
		for _, e := range known.Endpoints {
			err := p.Store.Deliveries.Each(ctx, r.owner.Account.Owner(), e.ID, func(d webhook.Delivery) error {
				item, err := webhook.JSON(d, jsontext.EscapeForHTML(true))
				if err != nil {
					return err
				}
				_, err = w.Write(append([]byte(separator), item...))
				separator = ",\n    "
				return err
			})
			if err != nil {
				return err
			}
		}
		_, err = io.WriteString(w, "\n  ]\n}\n")
		return err
	}), nil
}

// streamed returns a file that is written while it is read. If reading fails, the connection is aborted,
// so that a truncated file is not taken for a complete one.
func (p *belongings) streamed(write func(context.Context, io.Writer) error) *response {
	return &response{Write: func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Type", "application/json; charset=utf-8")
		h.Set("Content-Disposition", `attachment; filename="palmares-compte.json"`)
		h.Set("Cache-Control", "no-store")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Robots-Tag", "noindex")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		if err := write(r.Context(), new(web.Sender).ExtendTimeout(w)); err != nil {
			if r.Context().Err() == nil {
				p.Log.Error("an export was aborted", "error", err)
			}
			panic(http.ErrAbortHandler)
		}
	}}
}

// collect reads what is exported, except the deliveries.
func (p *belongings) collect(r *request) (*exported, error) {
	ctx, a := r.Context(), r.owner.Account
	known := &exported{ExportedAt: r.Now, Account: exportedAccount{Account: a}}
	var err error
	known.Account.KeysDueAt, err = p.Store.Keys.SuspensionDue(ctx, a.ID)
	if err != nil {
		return nil, err
	}
	s, err := p.Store.Subscriptions.Find(ctx, a.ID)
	if err != nil {
		return nil, err
	}
	if s.CustomerID != "" {
		known.Subscription = &s
	}
	known.Keys, err = p.Store.Keys.List(ctx, a.Email)
	if err != nil {
		return nil, err
	}
	known.Usage, err = p.Store.Usage.ForAccount(ctx, a.ID, "0000-01-01", "9999-12-31")
	if err != nil {
		return nil, err
	}
	known.Sessions, err = p.Store.Sessions.List(ctx, a.ID, r.Now)
	if err != nil {
		return nil, err
	}
	endpoints, err := p.Store.Endpoints.List(ctx, a.Owner())
	if err != nil {
		return nil, err
	}
	for _, e := range endpoints {
		recoveries, err := p.Store.Deliveries.Recoveries(ctx, a.Owner(), e.ID)
		if err != nil {
			return nil, err
		}
		known.Endpoints = append(known.Endpoints, exportedEndpoint{e, recoveries})
	}
	return known, p.collectDesk(r, known)
}

// collectDesk reads what the owner is at the desk, and what she has begun there.
func (p *belongings) collectDesk(r *request, known *exported) error {
	var err error
	known.Editor, err = p.editor(r)
	if err != nil {
		return err
	}
	copies, err := p.Desk.Copies.List(r.Context())
	if err != nil {
		return err
	}
	for _, c := range copies {
		if c.Author == r.owner.Account.Email {
			known.Copies = append(known.Copies, c)
		}
	}
	return nil
}
