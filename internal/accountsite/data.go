package accountsite

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"

	"palmares/internal/account"
	"palmares/internal/billing"
	"palmares/internal/store"
	"palmares/internal/webhook"
)

func (p *portal) showData(r *request) (*answer, error) {
	data := r.page("Données")
	return render("data", data, data), nil
}

// exported is what is known of an account, but for its deliveries, as the file has it.
// What proves who somebody is (keys, secrets of endpoints and sessions, or what they
// are recognised by) is left out: the file would open what it describes.
type exported struct {
	ExportedAt   time.Time             `json:"exported_at"`
	Account      exportedAccount       `json:"account"`
	Subscription *exportedSubscription `json:"subscription"`
	Keys         []exportedKey         `json:"keys"`
	Usage        []exportedUsage       `json:"usage"`
	Sessions     []exportedSession     `json:"sessions"`
	Endpoints    []exportedEndpoint    `json:"endpoints"`
}

type exportedAccount struct {
	ID        string       `json:"id"`
	Email     string       `json:"email"`
	Plan      account.Plan `json:"plan"`
	CreatedAt time.Time    `json:"created_at"`
	KeysDueAt time.Time    `json:"keys_suspended_from,omitzero"`
}

type exportedSubscription struct {
	CustomerID     string         `json:"stripe_customer_id"`
	SubscriptionID string         `json:"stripe_subscription_id,omitempty"`
	Status         billing.Status `json:"status,omitempty"`
	PeriodEnd      time.Time      `json:"period_end,omitzero"`
	CancelAt       time.Time      `json:"cancel_at,omitzero"`
	GraceUntil     time.Time      `json:"grace_until,omitzero"`
}

type exportedKey struct {
	ID          string    `json:"id"`
	Name        string    `json:"name"`
	Prefix      string    `json:"first_characters"`
	Suffix      string    `json:"last_characters"`
	CreatedAt   time.Time `json:"created_at"`
	LastUsedAt  time.Time `json:"last_used_at,omitzero"`
	RevokedAt   time.Time `json:"revoked_at,omitzero"`
	ExpiresAt   time.Time `json:"expires_at,omitzero"`
	SuspendedAt time.Time `json:"suspended_at,omitzero"`
}

type exportedUsage struct {
	Day      string `json:"day"`
	Requests int64  `json:"requests"`
}

type exportedSession struct {
	ID        string    `json:"id"`
	Browser   string    `json:"browser"`
	CreatedAt time.Time `json:"created_at"`
	SeenOn    string    `json:"seen_on"`
	ExpiresAt time.Time `json:"expires_at"`
}

type exportedEndpoint struct {
	ID             string             `json:"id"`
	URL            string             `json:"url"`
	Events         []string           `json:"events"` // null: all
	State          webhook.State      `json:"state"`
	Reason         string             `json:"disabled_reason,omitempty"`
	CreatedAt      time.Time          `json:"created_at"`
	DisabledAt     time.Time          `json:"disabled_at,omitzero"`
	Failures       int                `json:"failures"`
	FailingSince   time.Time          `json:"failing_since,omitzero"`
	LastSuccessAt  time.Time          `json:"last_success_at,omitzero"`
	OldSecretUntil time.Time          `json:"old_secret_until,omitzero"`
	Recoveries     []exportedRecovery `json:"recoveries"`
}

type exportedRecovery struct {
	ID         string    `json:"id"`
	Since      time.Time `json:"since"`
	CreatedAt  time.Time `json:"created_at"`
	DoneAt     time.Time `json:"done_at,omitzero"`
	Deliveries int       `json:"deliveries"`
}

type exportedDelivery struct {
	ID         string                `json:"id"`
	EndpointID string                `json:"endpoint_id"`
	EventID    string                `json:"event_id"`
	Type       string                `json:"type"`
	Sequence   int64                 `json:"sequence"`
	Origin     string                `json:"origin"`
	State      webhook.DeliveryState `json:"state"`
	CreatedAt  time.Time             `json:"created_at"`
	NextAt     time.Time             `json:"next_attempt_at,omitzero"`
	Attempts   []exportedAttempt     `json:"attempts"`
}

type exportedAttempt struct {
	Number     int             `json:"number"`
	At         time.Time       `json:"at"`
	DurationMS int64           `json:"duration_ms"`
	Status     int             `json:"status,omitempty"`
	Outcome    webhook.Outcome `json:"outcome"`
	Response   string          `json:"response"`
}

// export gives everything that is known of an account as one file. The deliveries
// may be many and are written as they are read.
func (p *portal) export(r *request) (*answer, error) {
	known, err := p.gather(r)
	if err != nil {
		return nil, err
	}
	return &answer{status: http.StatusOK, stream: func(ctx context.Context, w io.Writer) error {
		head, err := json.MarshalIndent(known, "", "  ")
		if err != nil {
			return err
		}
		// The object is left open for the deliveries, which come last.
		if _, err := w.Write(append(head[:len(head)-2], ",\n  \"deliveries\": ["...)); err != nil {
			return err
		}
		separator := "\n    "
		for _, e := range known.Endpoints {
			for after := (store.DeliveryCursor{}); ; {
				var list []webhook.Delivery
				if list, after, err = p.Store.Deliveries.Export(ctx, r.owner.Account.Owner(), e.ID, after, exportStep); err != nil {
					return err
				}
				for _, d := range list {
					one, err := json.Marshal(exportDelivery(d))
					if err != nil {
						return err
					}
					if _, err := w.Write(append([]byte(separator), one...)); err != nil {
						return err
					}
					separator = ",\n    "
				}
				if len(list) < exportStep {
					break
				}
			}
		}
		_, err = io.WriteString(w, "\n  ]\n}\n")
		return err
	}}, nil
}

// exportStep is how many deliveries are in memory at once: a few hundred kilobytes.
const exportStep = 200

// stream writes a file. Its beginning is on its way before its end is read: when that
// fails, the connection is cut, so that half a file does not look whole.
func (p *portal) stream(ctx context.Context, w http.ResponseWriter, a *answer) {
	h := w.Header()
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("Content-Disposition", `attachment; filename="palmares-compte.json"`)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Robots-Tag", "noindex")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	w.WriteHeader(a.status)
	if err := a.stream(ctx, &patientWriter{w, http.NewResponseController(w)}); err != nil {
		if ctx.Err() == nil {
			p.Log.Error("an export was cut short", "error", err)
		}
		panic(http.ErrAbortHandler)
	}
}

// A patientWriter gives a reader half a minute for each part, however many there are.
type patientWriter struct {
	http.ResponseWriter
	connection *http.ResponseController
}

func (w *patientWriter) Write(b []byte) (int, error) {
	err := w.connection.SetWriteDeadline(time.Now().Add(30 * time.Second))
	if err != nil && !errors.Is(err, http.ErrNotSupported) {
		return 0, err
	}
	return w.ResponseWriter.Write(b)
}

func (p *portal) gather(r *request) (*exported, error) {
	ctx, a := r.Context(), r.owner.Account
	// Lists that are empty, rather than null.
	known := &exported{
		ExportedAt: r.now.UTC(), Account: exportedAccount{ID: a.ID, Email: a.Email, Plan: a.Plan, CreatedAt: a.CreatedAt},
		Keys: []exportedKey{}, Usage: []exportedUsage{}, Sessions: []exportedSession{}, Endpoints: []exportedEndpoint{},
	}
	var err error
	if known.Account.KeysDueAt, err = p.Store.Keys.SuspensionDue(ctx, a.ID); err != nil {
		return nil, err
	}
	s, err := p.Store.Subscriptions.Find(ctx, a.ID)
	if err != nil {
		return nil, err
	}
	if s.CustomerID != "" {
		known.Subscription = &exportedSubscription{s.CustomerID, s.ID, s.Status, s.PeriodEnd, s.CancelAt, s.GraceUntil}
	}
	keys, err := p.Store.Keys.List(ctx, a.Email)
	if err != nil {
		return nil, err
	}
	for _, k := range keys {
		known.Keys = append(known.Keys, exportedKey{k.ID, k.Name, k.Prefix, k.Suffix, k.CreatedAt, k.LastUsedAt, k.RevokedAt, k.ExpiresAt, k.SuspendedAt})
	}
	usage, err := p.Store.Usage.ForAccount(ctx, a.ID, "0000-01-01", "9999-12-31")
	if err != nil {
		return nil, err
	}
	for _, u := range usage {
		known.Usage = append(known.Usage, exportedUsage{u.Day, u.Requests})
	}
	sessions, err := p.Store.Sessions.List(ctx, a.ID, r.now)
	if err != nil {
		return nil, err
	}
	for _, s := range sessions {
		known.Sessions = append(known.Sessions, exportedSession{s.ID, s.Browser, s.CreatedAt, s.SeenOn, s.ExpiresAt})
	}
	endpoints, err := p.Store.Endpoints.List(ctx, a.Owner())
	if err != nil {
		return nil, err
	}
	for _, e := range endpoints {
		item := exportedEndpoint{
			e.ID, e.URL, e.Events, e.State, e.Reason, e.CreatedAt, e.DisabledAt, e.Failures, e.FailingSince, e.LastSuccessAt, e.OldSecretUntil, []exportedRecovery{},
		}
		recoveries, err := p.Store.Deliveries.Recoveries(ctx, a.Owner(), e.ID)
		if err != nil {
			return nil, err
		}
		for _, c := range recoveries {
			item.Recoveries = append(item.Recoveries, exportedRecovery{c.ID, c.Since, c.CreatedAt, c.DoneAt, c.Count})
		}
		known.Endpoints = append(known.Endpoints, item)
	}
	return known, nil
}

func exportDelivery(d webhook.Delivery) exportedDelivery {
	item := exportedDelivery{
		d.ID, d.EndpointID, d.EventID, d.Type, d.Sequence, d.Origin, d.State, d.CreatedAt, d.NextAt, []exportedAttempt{},
	}
	for _, a := range d.Attempts {
		item.Attempts = append(item.Attempts, exportedAttempt{a.Number, a.At, a.Duration.Milliseconds(), a.Status, a.Outcome, a.Response})
	}
	return item
}
