package accountdb

import (
	"context"
	"database/sql"

	"palmares/internal/account"
	"palmares/internal/sqldb"
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
	return sqldb.ExecAll(ctx, tx,
		sqldb.Do(`INSERT INTO accounts (id, email, plan, created_at) VALUES ($1, '', $2, '')
			ON CONFLICT DO NOTHING`, deletedID, string(account.Developer)),
		sqldb.Do(`DELETE FROM recoveries WHERE endpoint_id IN (SELECT id FROM endpoints WHERE `+condition+`)`, value),
		sqldb.Do(`UPDATE endpoints SET account_id = $2, url = '', events = '', state = 'disabled', reason = '',
			secret = '', old_secret = '', old_secret_until = '' WHERE `+condition, value, deletedID))
}
