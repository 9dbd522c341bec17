package accountsite

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"palmares/internal/account"
	"palmares/internal/accountdb"
	"palmares/internal/deskdb"
	"palmares/internal/web"
	"palmares/internal/webhook"
)

type dataPage struct {
	page
	AtDesk bool // the owner writes at the desk
}

func (p *belongings) showData(r *request) (*response, error) {
	who, err := editorOf(r.Context(), p.Desk, r.owner.Account)
	if err != nil {
		return nil, err
	}
	return render("data", dataPage{page: r.page("Données"), AtDesk: who != nil}), nil
}

// export returns everything known of an account as one file.
func (p *belongings) export(r *request) (*response, error) {
	known, err := NewExport(r.Context(), p.Store, p.Desk, r.owner.Account, r.Now)
	if err != nil {
		return nil, err
	}
	return p.streamed(known.Write), nil
}

// Write writes the file. Deliveries may be many: they are written while they are read.
func (e *Export) Write(ctx context.Context, w io.Writer) error {
	head, err := webhook.JSON(e, jsontext.WithIndent("  "), jsontext.EscapeForHTML(true))
	if err != nil {
		return err
	}
	// The object stays open for the deliveries, which come last.
	if _, err := w.Write(append(head[:len(head)-2], ",\n  \"deliveries\": ["...)); err != nil {
		return err
	}
	separator := "\n    "
	for _, endpoint := range e.Endpoints {
		err := e.store.Deliveries.Each(ctx, e.Account.Owner(), endpoint.ID, func(d webhook.Delivery) error {
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

// NewExport reads what is exported of an account, except the deliveries: what belongs to it, what its owner is at the desk
// and what she has begun there.
func NewExport(
	ctx context.Context, store *accountdb.Store, desk *deskdb.Store, a account.Account, now time.Time,
) (*Export, error) {
	known := &Export{ExportedAt: now, Account: exportedAccount{Account: a}, store: store}
	var err error
	known.Account.KeysDueAt, err = store.Keys.SuspensionDue(ctx, a.ID)
	if err != nil {
		return nil, err
	}
	s, err := store.Subscriptions.Find(ctx, a.ID)
	if err != nil {
		return nil, err
	}
	if s.CustomerID != "" {
		known.Subscription = &s
	}
	known.Keys, err = store.Keys.List(ctx, a.Email)
	if err != nil {
		return nil, err
	}
	known.Usage, err = store.Usage.ForAccount(ctx, a.ID, "0000-01-01", "9999-12-31")
	if err != nil {
		return nil, err
	}
	known.Sessions, err = store.Sessions.List(ctx, a.ID, now)
	if err != nil {
		return nil, err
	}
	endpoints, err := store.Endpoints.List(ctx, a.Owner())
	if err != nil {
		return nil, err
	}
	for _, e := range endpoints {
		recoveries, err := store.Deliveries.Recoveries(ctx, a.Owner(), e.ID)
		if err != nil {
			return nil, err
		}
		known.Endpoints = append(known.Endpoints, exportedEndpoint{e, recoveries})
	}
	known.Editor, err = editorOf(ctx, desk, a)
	if err != nil {
		return nil, err
	}
	copies, err := desk.Copies.List(ctx)
	for _, c := range copies {
		if c.Author == a.Email {
			known.Copies = append(known.Copies, c)
		}
	}
	return known, err
}
