package accountdb

import (
	"context"
	"database/sql"

	"palmares/internal/account"
	"palmares/internal/sqldb"
	"palmares/internal/webhook"
)

// exportStep is how many deliveries are in memory at once: a few hundred kilobytes.
const exportStep = 200

// Each calls do with every delivery to an endpoint, oldest first, each with all its attempts. All of
// them may not fit in memory. ErrNotFound: no such endpoint.
func (s *Deliveries) Each(
	ctx context.Context, owner account.Owner, endpointID string, do func(webhook.Delivery) error,
) error {
	createdAt, id := "", "" // of the last one
	for {
		list, err := sqldb.Read(ctx, s.db, func(tx *sql.Tx) ([]webhook.Delivery, error) {
			if _, err := findEndpoint(ctx, tx, owner, endpointID); err != nil {
				return nil, err
			}
			list, err := sqldb.Rows(ctx, tx, selectDeliveries+`
				WHERE d.endpoint_id = $1 AND (d.created_at, d.id) > ($2, $3) ORDER BY d.created_at, d.id LIMIT $4`, scanDelivery,
				endpointID, createdAt, id, exportStep)
			if err != nil || len(list) == 0 {
				return nil, err
			}
			return list, addAttempts(ctx, tx, list)
		})
		for _, d := range list {
			if err := do(d); err != nil {
				return err
			}
			createdAt, id = sqldb.FormatTime(d.CreatedAt), d.ID
		}
		if err != nil || len(list) < exportStep {
			return err
		}
	}
}

// addAttempts loads all attempts of deliveries.
func addAttempts(ctx context.Context, tx *sql.Tx, list []webhook.Delivery) error {
	ids, places := make([]string, len(list)), map[string]int{}
	for i, d := range list {
		list[i].Attempts = []webhook.Attempt{}
		ids[i], places[d.ID] = d.ID, i
	}
	type owned struct {
		Delivery string
		webhook.Attempt
	}
	args, chosen := sqldb.InAfter(nil, ids)
	all, err := sqldb.Rows(ctx, tx, `SELECT delivery_id, number, at, duration, status, outcome, response FROM attempts
		WHERE delivery_id IN `+chosen+` ORDER BY number`,
		sqldb.ScanFields[owned], args...)
	for _, a := range all {
		at := places[a.Delivery]
		list[at].Attempts = append(list[at].Attempts, a.Attempt)
	}
	return err
}
