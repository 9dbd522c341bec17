package webhook_test

import (
	"context"
	"sync"
	"time"

	"palmares/internal/webhook"
)

// queue is the store's queue without the database, for tests that ask it once in
// every second of three days: due times, leases, and a share for each endpoint.
type queue struct {
	mu   sync.Mutex
	all  []*queued
	lost error // what Finish returns
	late int   // outcomes that came after the end of their lease
}

// RunRecovery, Sweep, Prune and Figures have nothing to do.
func (*queue) Sweep(context.Context) (bool, error)                       { return false, nil }
func (*queue) RunRecovery(context.Context, time.Time, int) (bool, error) { return false, nil }
func (*queue) Prune(context.Context, time.Time) error                    { return nil }
func (*queue) Figures(context.Context, time.Time) (webhook.Figures, error) {
	return webhook.Figures{}, nil
}

type queued struct {
	claim    webhook.Claim
	due      time.Time
	leased   time.Time // until then
	attempts []webhook.Attempt
	state    webhook.DeliveryState
}

func (q *queue) add(c webhook.Claim) *queued {
	q.mu.Lock()
	defer q.mu.Unlock()
	d := &queued{claim: c, due: time.Now(), state: webhook.Pending}
	q.all = append(q.all, d)
	return d
}

func (q *queue) Claim(_ context.Context, now time.Time, lease time.Duration, limit int) ([]webhook.Claim, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	inFlight := map[string]int{}
	for _, d := range q.all {
		if d.leased.After(now) {
			inFlight[d.claim.EndpointID]++
		}
	}
	var claims []webhook.Claim
	for _, d := range q.all {
		if len(claims) == limit || d.state != webhook.Pending || d.due.After(now) || d.leased.After(now) || inFlight[d.claim.EndpointID] == webhook.MaxInFlight {
			continue
		}
		inFlight[d.claim.EndpointID]++
		d.leased = now.Add(lease)
		d.claim.LeaseEnd = d.leased
		d.claim.Attempt = len(d.attempts) + 1
		claims = append(claims, d.claim)
	}
	return claims, nil
}

func (q *queue) Finish(_ context.Context, c webhook.Claim, v webhook.Verdict) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if time.Now().After(c.LeaseEnd) {
		q.late++
	}
	if q.lost != nil {
		return q.lost
	}
	for _, d := range q.all {
		if d.claim.DeliveryID == c.DeliveryID && d.leased.Equal(c.LeaseEnd) {
			d.state, d.due, d.leased = v.State, v.NextAt, time.Time{}
			if !v.Untried {
				d.attempts = append(d.attempts, v.Attempt)
			}
		}
	}
	return nil
}

// lose makes Finish fail, or work again with nil.
func (q *queue) lose(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.lost = err
}

// look returns a delivery as it is now.
func (q *queue) look(d *queued) queued {
	q.mu.Lock()
	defer q.mu.Unlock()
	return *d
}
