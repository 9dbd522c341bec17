package accountdb

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"

	"palmares/internal/pseudonym"
	"palmares/internal/sqldb"
)

// Purposes of pseudonyms. Each has keys of its own, as they are destroyed at different times.
const (
	forUsage    = "usage"    // a key for each day
	forLinks    = "links"    // a key for each day
	ForSearches = "searches" // a key for each week, by its first day
)

// DestroyKeys deletes the keys for a purpose from before a day, and returns how many. See Usage.Prune for
// what is left of a key on a disk.
func DestroyKeys(ctx context.Context, tx *sql.Tx, purpose, day string) (int64, error) {
	return sqldb.ExecRows(ctx, tx, `DELETE FROM pseudonym_keys WHERE purpose = $1 AND day < $2`, purpose, day)
}

// KeyOf stores candidate as the key of a day that has none yet, and returns the key that it has.
func KeyOf(ctx context.Context, db *sqldb.DB, purpose, day string, candidate pseudonym.Key) (pseudonym.Key, error) {
	// Mostly there is one, and then a starting process need not wait for a publication.
	key, err := sqldb.Value[pseudonym.Key](ctx, db.Reads(), `SELECT key FROM pseudonym_keys WHERE purpose = $1 AND day = $2`,
		purpose, day)
	if errors.Is(err, sql.ErrNoRows) {
		key, err = sqldb.Write(ctx, db, func(tx *sql.Tx) (pseudonym.Key, error) {
			// The update changes nothing: of two concurrent statements the second waits for the
			// first and returns its key, on both databases.
			return sqldb.Value[pseudonym.Key](ctx, tx, `INSERT INTO pseudonym_keys (purpose, day, key) VALUES ($1, $2, $3)
				ON CONFLICT (purpose, day) DO UPDATE SET key = pseudonym_keys.key RETURNING key`,
				purpose, day, hex.EncodeToString(candidate[:]))
		})
	}
	return key, db.Explain(ctx, err)
}
