package catalogdb

import (
	"context"
	"crypto/rand"
	"database/sql"

	"palmares/internal/record"
	"palmares/internal/sqldb"
)

// Feed reads the last change of every record: kind, slug, hash, and whether it is deleted.
func (s *Catalogue) Feed(ctx context.Context) (*record.Feed, error) {
	return sqldb.Read(ctx, s.db, func(tx *sql.Tx) (*record.Feed, error) {
		f, err := feedHead(ctx, tx)
		if err != nil {
			return nil, err
		}
		f.Changes, err = sqldb.Rows(ctx, tx, `SELECT kind, slug, deleted, hash FROM records WHERE public
			ORDER BY position`,
			func(scan sqldb.Scanner, c *record.Change) error {
				return scan(kindColumn{&c.Kind}, &c.Slug, &c.Deleted, &c.Hash)
			})
		return f, err
	})
}

// feedHead reads the feed without its changes.
func feedHead(ctx context.Context, tx *sql.Tx) (*record.Feed, error) {
	f := &record.Feed{}
	err := tx.QueryRowContext(ctx, `SELECT feed, feed_format, feed_position, feed_state FROM catalogue`).
		Scan(&f.ID, &f.Format, &f.Last, &f.State)
	return f, err
}

// storeFeed stores a feed without its changes.
func storeFeed(ctx context.Context, tx *sql.Tx, feed *record.Feed) error {
	return sqldb.Exec(ctx, tx, `UPDATE catalogue SET feed = $1, feed_format = $2, feed_position = $3, feed_state = $4`,
		feed.ID, feed.Format, feed.Last, feed.State)
}

// RenewFeed gives the feed another id, which it returns: positions in a database that was
// restored from a backup mean something else than they did before.
func (s *Catalogue) RenewFeed(ctx context.Context) (id string, err error) {
	id = rand.Text()
	return id, sqldb.WriteOnce(ctx, s.db, `UPDATE catalogue SET feed = $1`, id)
}
