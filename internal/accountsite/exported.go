package accountsite

import (
	"time"

	"palmares/internal/account"
	"palmares/internal/accountdb"
	"palmares/internal/billing"
	"palmares/internal/webhook"
)

// exported is everything known of an account except its deliveries, in the form of
// the exported file. Credentials (keys, secrets, session cookies and their hashes)
// are left out: the file must not grant access to what it describes.
type exported struct {
	ExportedAt   time.Time               `json:"exported_at"`
	Account      exportedAccount         `json:"account"`
	Subscription *billing.Subscription   `json:"subscription"`
	Keys         []account.Key           `json:"keys"`
	Usage        []accountdb.DayUsage    `json:"usage"`
	Sessions     []account.Session       `json:"sessions"`
	Endpoints    []exportedEndpoint      `json:"endpoints"`
	Editor       *accountdb.Editor       `json:"editor"` // null for who does not write at the desk
	Copies       []accountdb.WorkingCopy `json:"working_copies"`
}

type exportedAccount struct {
	account.Account
	KeysDueAt time.Time `json:"keys_suspended_from,omitzero"`
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
	LastFailureAt  time.Time          `json:"last_failure_at,omitzero"`
	LastOutcome    webhook.Outcome    `json:"last_failure_outcome,omitempty"`
	LastStatus     int                `json:"last_failure_status,omitempty"`
	OldSecretUntil time.Time          `json:"old_secret_until,omitzero"`
	Recoveries     []webhook.Recovery `json:"recoveries"`
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

func exportEndpoint(e webhook.Endpoint, recoveries []webhook.Recovery) exportedEndpoint {
	return exportedEndpoint{
		e.ID, e.URL, e.Events, e.State, e.Reason, e.CreatedAt, e.DisabledAt, e.Failures, e.FailingSince, e.LastSuccessAt,
		e.LastFailure.At, e.LastFailure.Outcome, e.LastFailure.Status, e.OldSecretUntil,
		append([]webhook.Recovery{}, recoveries...),
	}
}

func exportDelivery(d webhook.Delivery) exportedDelivery {
	item := exportedDelivery{
		d.ID, d.EndpointID, d.EventID, d.Type, d.Sequence, d.Origin, d.State, d.CreatedAt, d.NextAt, []exportedAttempt{},
	}
	for _, a := range d.Attempts {
		item.Attempts = append(item.Attempts,
			exportedAttempt{a.Number, a.At, a.Duration.Milliseconds(), a.Status, a.Outcome, a.Response})
	}
	return item
}
