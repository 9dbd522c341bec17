package catalogdb

import (
	"context"
	"database/sql"
	"time"

	"palmares/internal/sqldb"
)

// Upkeep is when the database was last looked after.
type Upkeep struct{ db *sqldb.DB }

// The tasks. A check has the name of its machine, which has settings and limits of its own, after it.
const (
	Backup = "backup"
	Copy   = "copy" // Litestream was seen to have copied all of it
	Check  = "check "
)

// Done is when a task was last done.
type Done struct {
	At    time.Time
	Wrong int64 // how much a check has found wrong
}

// History is when each task was last done.
type History struct {
	Began time.Time // when something was published for the first time; the zero time if nothing is
	Last  map[string]Done
}

// Since returns when a task was last done, the zero time for never. A backup that was never made counts as one of the
// day before the first publication: it is two days old a day after that.
func (h *History) Since(t string) time.Time {
	done, ok := h.Last[t]
	if !ok && t == Backup && !h.Began.IsZero() {
		return h.Began.AddDate(0, 0, -1)
	}
	return done.At
}

// MaxAge is how old the last backup, copy and check may be.
const MaxAge = 48 * time.Hour

// Read returns the history.
func (u *Upkeep) Read(ctx context.Context) (h History, err error) {
	h.Last = map[string]Done{}
	err = u.db.Read(ctx, func(tx *sql.Tx) error {
		const first = `SELECT published_at FROM publications ORDER BY version LIMIT 1`
		err := sqldb.OrMissing(tx.QueryRowContext(ctx, first).Scan(sqldb.Time(&h.Began)), nil)
		if err != nil {
			return err
		}
		_, err = sqldb.Rows(ctx, tx, `SELECT task, at, wrong FROM upkeep`, func(scan sqldb.Scanner, d *Done) error {
			var t string
			err := scan(&t, sqldb.Time(&d.At), &d.Wrong)
			h.Last[t] = *d
			return err
		})
		return err
	})
	return h, u.db.Explain(ctx, err)
}

// Note notes that a task was done.
func (u *Upkeep) Note(ctx context.Context, t string, d Done) error {
	return sqldb.WriteOnce(ctx, u.db, `
		INSERT INTO upkeep (task, at, wrong) VALUES ($1, $2, $3)
		ON CONFLICT (task) DO UPDATE SET at = excluded.at, wrong = excluded.wrong`, t, sqldb.FormatTime(d.At), d.Wrong)
}
