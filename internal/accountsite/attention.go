package accountsite

import (
	"slices"
	"time"

	"palmares/internal/account"
	"palmares/internal/billing"
	"palmares/internal/french"
	"palmares/internal/webhook"
)

// A concern is something that its owner should see on the first page: an endpoint that
// receives nothing, or what ends soon.
type concern struct {
	Href, Name string
	Endpoint   *webhook.Endpoint // one that fails or is disabled; nil for what ends
	What       string            // ends
	At         time.Time
}

// sessionNotice is how long before its end a session is a concern. The one of this visit
// begins again with it.
const sessionNotice = 7 * 24 * time.Hour

// concerns returns what fails, then what ends, the soonest first.
func (p *pages) concerns(
	r *request, keys []account.Key, endpoints []webhook.Endpoint, s billing.Subscription,
) ([]concern, error) {
	var failing, ending []concern
	for i := range endpoints {
		e := &endpoints[i]
		path := endpointsPath + "/" + e.ID
		if e.Failures > 0 && e.State != webhook.Suspended || e.State == webhook.Disabled {
			failing = append(failing, concern{Href: path, Name: e.URL, Endpoint: e})
		}
		if e.Overlaps(r.Now) {
			ending = append(ending, concern{
				Href: path, Name: e.URL, What: "l’ancien secret cesse de signer", At: e.OldSecretUntil,
			})
		}
	}
	active := 0
	for _, k := range keys {
		switch k.State(r.Now) {
		case account.KeyActive:
			active++
		case account.KeyOverlap:
			ending = append(ending, concern{
				Href: keysPath + "/" + k.ID, Name: k.Name, What: "la clé remplacée cesse de fonctionner", At: k.ExpiresAt,
			})
		}
	}
	if excess := active - account.MaxKeys(r.owner.Account.Plan); excess > 0 {
		due, err := p.Store.Keys.SuspensionDue(r.Context(), r.owner.Account.ID)
		if err != nil {
			return nil, err
		}
		if !due.IsZero() {
			ending = append(ending, concern{
				Href: keysPath, Name: french.Plural(excess, "clé de trop", "clés de trop"), What: "suspension", At: due,
			})
		}
	}
	if s.Status.Live() && !s.CancelAt.IsZero() {
		ending = append(ending, concern{Href: planPath, Name: "Abonnement", What: "il s’arrête", At: s.CancelAt})
	}
	sessions, err := p.Store.Sessions.List(r.Context(), r.owner.Account.ID, r.Now)
	if err != nil {
		return nil, err
	}
	for _, other := range sessions {
		if other.ID != r.owner.Session.ID && other.ExpiresAt.Before(r.Now.Add(sessionNotice)) {
			ending = append(ending, concern{
				Href: sessionsPath, Name: other.Browser, What: "la session prend fin", At: other.ExpiresAt,
			})
		}
	}
	slices.SortStableFunc(ending, func(a, b concern) int { return a.At.Compare(b.At) })
	return append(failing, ending...), nil
}
