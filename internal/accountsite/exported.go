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
	webhook.Endpoint
	webhook.Failure                    // the last one
	Recoveries      []webhook.Recovery `json:"recoveries"`
}

type exportedDelivery struct {
	webhook.Delivery
	Attempts []exportedAttempt `json:"attempts"`
}

type exportedAttempt struct {
	webhook.Attempt
	DurationMS int64 `json:"duration_ms"`
}

func exportDelivery(d webhook.Delivery) exportedDelivery {
	item := exportedDelivery{d, []exportedAttempt{}}
	for _, a := range d.Attempts {
		item.Attempts = append(item.Attempts, exportedAttempt{a, a.Duration.Milliseconds()})
	}
	return item
}
