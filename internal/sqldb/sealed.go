package sqldb

import (
	"context"
	"fmt"

	"palmares/internal/vault"
)

// Secrets are columns with sealed texts, "" for none, of a table whose rows have an id.
func (d *DB) Secrets(table string, columns ...string) (all vault.Secrets) {
	for _, column := range columns {
		all = append(all, sealedColumn{d, table, column})
	}
	return all
}

type sealedColumn struct {
	db            *DB
	table, column string
}

// SealedSecrets implements vault.Store.
func (c sealedColumn) SealedSecrets(ctx context.Context) ([]vault.Sealed, error) {
	query := fmt.Sprintf(`SELECT id, %[2]s FROM %[1]s WHERE %[2]s <> '' `, c.table, c.column)
	return List(ctx, c.db, query, ScanFields[vault.Sealed])
}

// ReplaceSecret implements vault.Store.
func (c sealedColumn) ReplaceSecret(ctx context.Context, old vault.Sealed, replacement string) error {
	return WriteOnce(ctx, c.db, fmt.Sprintf(`UPDATE %[1]s SET %[2]s = $3 WHERE id = $1 AND %[2]s = $2`, c.table, c.column),
		old.Owner, old.Text, replacement)
}
