package store

import (
	"context"
	"database/sql"
	"errors"

	"palmares/internal/account"
)

// deletedID is the id of the account that owns what was deleted and is not gone yet. An
// endpoint may have a million deliveries, and deleting them at once would take longer than
// a transaction may. It has no address, no keys and no plan that sends anything, and no
// query for owners, operators or figures returns it or what it owns.
const deletedID = "acc_deleted"

// buryEndpoints deletes endpoints for everybody: nothing is sent to them, nobody finds
// them, and what is known about them is erased. Sweep deletes their rows and deliveries.
// The condition names endpoints by $1.
func buryEndpoints(ctx context.Context, tx *sql.Tx, condition, value string) error {
	if _, err := tx.ExecContext(ctx, `INSERT INTO accounts (id, email, plan, created_at) VALUES ($1, '', $2, '') ON CONFLICT DO NOTHING`,
		deletedID, string(account.Developer)); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `DELETE FROM recoveries WHERE endpoint_id IN (SELECT id FROM endpoints WHERE `+condition+`)`, value); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `
		UPDATE endpoints SET account_id = $2, url = '', events = '', state = 'disabled', reason = '', secret = '', old_secret = '', old_secret_until = ''
		WHERE `+condition, value, deletedID)
	return err
}

// sweepStep is how many deliveries one step of Sweep deletes, each with ten attempts at
// most: few enough that others hardly wait for it.
const sweepStep = 500

// Sweep deletes the next deliveries of endpoints that were deleted, or an endpoint that
// has none left, in one transaction. It reports whether there may be more. A process that
// dies between two steps loses nothing: any other continues.
func (s *Deliveries) Sweep(ctx context.Context) (more bool, err error) {
	var id string
	err = s.reads.QueryRowContext(ctx, `SELECT id FROM endpoints WHERE account_id = $1 LIMIT 1`, deletedID).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, s.explain(ctx, err)
	}
	err = s.withWait(retryWait).write(ctx, func(tx *sql.Tx) error {
		if err := s.lockEndpoint(ctx, tx, id); err != nil {
			return err
		}
		done, err := tx.ExecContext(ctx, `DELETE FROM deliveries WHERE id IN (SELECT id FROM deliveries WHERE endpoint_id = $1 LIMIT $2)`, id, s.sweepStep)
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); err != nil || n > 0 {
			return err
		}
		_, err = tx.ExecContext(ctx, `DELETE FROM endpoints WHERE id = $1`, id)
		return err
	})
	return err == nil, err
}
