// Package mail writes to the owners of accounts.
//
// A mail is queued in the database as an address, a kind and what it is about,
// never as a text: a link is made at the moment the mail is handed over, so that no
// secret waits in a table. One that cannot be handed over is tried again.
package mail

// A Kind says what a mail is about.
type Kind string

// The kinds, and what Request.About holds for each.
const (
	SignIn           Kind = "sign_in"           // ""; the link is made when it is sent
	ConfirmDeletion  Kind = "confirm_deletion"  // ""; the link is made when it is sent
	EndpointDisabled Kind = "endpoint_disabled" // the endpoint's id
	PaymentFailed    Kind = "payment_failed"    // the day on which Pro ends, 2026-12-06
	PlanEnded        Kind = "plan_ended"        // the day on which keys above the plan's number are suspended
)

// A Request is a mail to be written.
type Request struct {
	To    string
	Kind  Kind
	About string
}
