package accountsite

import (
	"time"

	"palmares/internal/account"
	"palmares/internal/accountdb"
	"palmares/internal/billing"
	"palmares/internal/deskdb"
	"palmares/internal/webhook"
)

// An Export is everything known of an account except its deliveries, in the form of
// the exported file. Credentials (keys, secrets, session cookies and their hashes)
// are left out: the file must not grant access to what it describes.
type Export struct {
	ExportedAt   time.Time             `json:"exported_at"`
	Account      exportedAccount       `json:"account"`
	Subscription *billing.Subscription `json:"subscription"`
	Keys         []account.Key         `json:"keys"`
	Usage        []accountdb.DayUsage  `json:"usage"`
	Sessions     []account.Session     `json:"sessions"`
	Endpoints    []exportedEndpoint    `json:"endpoints"`
	Editor       *deskdb.Editor        `json:"editor"` // null for who does not write at the desk
	Copies       []deskdb.WorkingCopy  `json:"working_copies"`

	store *accountdb.Store
}

type exportedAccount struct {
	account.Account
	KeysDueAt time.Time `json:"keys_suspended_from,omitzero"`
}

type exportedEndpoint struct {
	webhook.Endpoint
	Recoveries []webhook.Recovery `json:"recoveries"`
}
