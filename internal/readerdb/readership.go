package readerdb

import (
	"cmp"
	"context"
	"database/sql"

	"palmares/internal/accountdb"
	"palmares/internal/pseudonym"
	"palmares/internal/readership"
	"palmares/internal/sqldb"
)

// Readership is how often pages were read, per day in UTC; see package readership.
type Readership struct{ db *sqldb.DB }

var readershipTable = sqldb.Table{
	Name: "readership", Key: "day, kind, name", Adds: true, Columns: []string{"day", "kind", "name", "views"},
}

// Begin deletes the views of the days before oldest (see sqldb.DeleteDays), and the keys of the
// weeks before week with what is kept under them, and returns the key of week.
func (s *Readership) Begin(
	ctx context.Context, oldest, week string, candidate pseudonym.Key,
) (pseudonym.Key, error) {
	err := s.db.Retried().Write(ctx, func(tx *sql.Tx) error {
		if _, err := accountdb.DestroyKeys(ctx, tx, accountdb.ForSearches, week); err != nil {
			return err
		}
		return sqldb.ExecAll(ctx, tx,
			sqldb.Do(`DELETE FROM missed_searches WHERE week < $1`, week),
			sqldb.Do(`DELETE FROM missed_words WHERE week < $1`, oldest),
			sqldb.Do(`DELETE FROM readership_writers WHERE writer < $1`, oldest), // which begins with a day
			sqldb.DeleteDays("readership", oldest))
	})
	err = cmp.Or(err, s.db.Purge(ctx))
	if err != nil {
		return candidate, err
	}
	return accountdb.KeyOf(ctx, s.db, accountdb.ForSearches, week, candidate)
}

// Save adds a batch to what is stored, in one transaction, unless it was saved before.
func (s *Readership) Save(ctx context.Context, b *readership.Batch) error {
	return s.db.Retried().Write(ctx, func(tx *sql.Tx) error {
		// One after the other, so that a day never has too many pages.
		if err := s.db.InTurn(ctx, tx); err != nil {
			return err
		}
		n, err := sqldb.ExecRows(ctx, tx, `INSERT INTO readership_writers (writer, batch) VALUES ($1, $2)
			ON CONFLICT (writer) DO UPDATE SET batch = excluded.batch WHERE readership_writers.batch < excluded.batch`, b.Writer, b.Number)
		if err != nil || n == 0 {
			return err
		}
		rows, days := sqldb.NewBatch(tx, readershipTable, s.db.Placeholders()), map[readership.Name]bool{}
		for name, n := range b.Views {
			days[readership.Name{Day: name.Day, Kind: name.Kind}] = true
			if err := rows.Add(ctx, name.Day, name.Kind, name.Name, n); err != nil {
				return err
			}
		}
		err = rows.Flush(ctx)
		for of := range days {
			err = cmp.Or(err, limit(ctx, tx, of.Day, of.Kind))
		}
		return cmp.Or(err, addSearches(ctx, tx, b.Searches))
	})
}

// limit counts the names of a day for which there is no room, those that were read least, as others.
func limit(ctx context.Context, tx *sql.Tx, day, kind string) error {
	least, err := sqldb.Rows(ctx, tx, `SELECT day, name, views FROM readership WHERE day = $1 AND kind = $2 AND name <> $3
		ORDER BY views DESC LIMIT 1000000 OFFSET $4`,
		sqldb.ScanFields[Views], day, kind, readership.Others, readership.Most[kind])
	for _, v := range least {
		err = cmp.Or(err, sqldb.Exec(ctx, tx, readershipTable.Insert(1), day, kind, readership.Others, v.Views),
			sqldb.Exec(ctx, tx, `DELETE FROM readership WHERE day = $1 AND kind = $2 AND name = $3`, day, kind, v.Name))
	}
	return err
}

// addSearches notes searches that found nothing, up to 10,000 a week, and the words of those that enough
// networks made.
func addSearches(ctx context.Context, tx *sql.Tx, found []readership.Search) error {
	for _, one := range found {
		err := cmp.Or(sqldb.Exec(ctx, tx, `INSERT INTO missed_searches (week, words, network) SELECT $1, $2, $3
			WHERE (SELECT count(*) FROM missed_searches WHERE week = $1) < 10000
			ON CONFLICT DO NOTHING`, one.Week, one.Digest, one.Network),
			sqldb.Exec(ctx, tx, `INSERT INTO missed_words (week, words, networks) SELECT $1, $2, count(*) FROM missed_searches
			WHERE week = $1 AND words = $3 HAVING count(*) >= $4
			ON CONFLICT (week, words) DO UPDATE SET networks = excluded.networks`,
				one.Week, one.Words, one.Digest, readership.MinNetworks))
		if err != nil {
			return err
		}
	}
	return nil
}

// Views is how many times a page was read, or how many networks searched for words without a result.
type Views struct {
	Day   string // or the first one of a week
	Name  string // a path, a host or words
	Views int
}

// Top returns the pages or hosts with the most views from one day to another, up to limit.
func (s *Readership) Top(ctx context.Context, kind, from, to string, limit int) ([]Views, error) {
	return sqldb.List(ctx, s.db, `SELECT min(day), name, CAST(sum(views) AS BIGINT) FROM readership
		WHERE kind = $1 AND day >= $2 AND day <= $3 GROUP BY name ORDER BY 3 DESC LIMIT $4`,
		sqldb.ScanFields[Views], kind, from, to, limit)
}

// Daily returns the views of a page, or of all pages for "", on each day since one that has any.
func (s *Readership) Daily(ctx context.Context, path, since string) ([]Views, error) {
	return sqldb.List(ctx, s.db, `SELECT day, min(kind), CAST(sum(views) AS BIGINT) FROM readership
		WHERE kind = $1 AND day >= $2 AND ($3 = '' OR name = $3) GROUP BY day ORDER BY day`,
		sqldb.ScanFields[Views], readership.Pages, since, path)
}

// Missed returns the searches that found nothing in the weeks since a day, up to limit of the newest.
func (s *Readership) Missed(ctx context.Context, since string, limit int) ([]Views, error) {
	return sqldb.List(ctx, s.db, `SELECT week, words, networks FROM missed_words WHERE week >= $1
		ORDER BY week DESC, networks DESC LIMIT $2`,
		sqldb.ScanFields[Views], since, limit)
}
