package accountdb

import (
	"context"
	"database/sql"

	"palmares/internal/account"
	"palmares/internal/sqldb"
	"palmares/internal/webhook"
)

// A DeliveryCursor is a position in the deliveries of an endpoint; the zero value is
// before the first.
type DeliveryCursor struct{ createdAt, id string }

// Export returns the next deliveries to an endpoint, oldest first, at most limit, each with
// all its attempts, and the position after them. All of them may not fit in memory.
// ErrNotFound: no such endpoint.
func (s *Deliveries) Export(
	ctx context.Context, owner account.Owner, endpointID string, after DeliveryCursor, limit int,
) ([]webhook.Delivery, DeliveryCursor, error) {
	var list []webhook.Delivery
	next := after
	err := s.db.Read(ctx, func(tx *sql.Tx) error {
		if _, err := findEndpoint(ctx, tx, owner, endpointID); err != nil {
			return err
		}
		var err error
		list, err = sqldb.Rows(ctx, tx, selectDeliveries+`
			WHERE d.endpoint_id = $1 AND (d.created_at, d.id) > ($2, $3) ORDER BY d.created_at, d.id LIMIT $4`, scanDelivery,
			endpointID, after.createdAt, after.id, limit)
		if err != nil || len(list) == 0 {
			return err
		}
		last := list[len(list)-1]
		next = DeliveryCursor{sqldb.FormatTime(last.CreatedAt), last.ID}
		return addAttempts(ctx, tx, list)
	})
	return list, next, err
}

// addAttempts loads all attempts of deliveries.
func addAttempts(ctx context.Context, tx *sql.Tx, list []webhook.Delivery) error {
	ids, places := make([]string, len(list)), map[string]int{}
	for i, d := range list {
		list[i].Attempts = nil
		ids[i], places[d.ID] = d.ID, i
	}
	type owned struct {
		delivery string
		webhook.Attempt
	}
	chosen, args := sqldb.In(ids)
	all, err := sqldb.Rows(ctx, tx, `SELECT delivery_id, number, at, duration, status, outcome, response FROM attempts
		WHERE delivery_id IN `+chosen+` ORDER BY number`,
		func(scan sqldb.Scanner, a *owned) error {
			return scanAttempt(func(into ...any) error { return scan(append([]any{&a.delivery}, into...)...) }, &a.Attempt)
		}, args...)
	for _, a := range all {
		at := places[a.delivery]
		list[at].Attempts = append(list[at].Attempts, a.Attempt)
	}
	return err
}
