package readerdb

import (
	"context"
	"crypto/rand"
	"database/sql"
	"net/netip"
	"time"

	"palmares/internal/account"
	"palmares/internal/accountdb"
	"palmares/internal/mail"
	"palmares/internal/sqldb"
	"palmares/internal/vault"
)

// What became of a report.
const (
	ReportFixed = "corrige"
	ReportNotSo = "sans-objet"
)

// How many reports are shown, and how long they are kept: those that are closed, and those that
// nobody has looked at.
const (
	MaxReports     = 200
	reportsClosed  = 30 * 24 * time.Hour
	reportsIgnored = 365 * 24 * time.Hour
)

// A Report is what a reader says is wrong.
type Report struct {
	ID        string
	Page      string // its path; "" for the whole site
	Text      string
	Address   string // of the reader; "" for none
	CreatedAt time.Time
	State     string // "", ReportFixed or ReportNotSo
	ClosedBy  string // a name
}

// Reports are what readers say is wrong.
type Reports struct {
	db     *sqldb.DB
	links  *accountdb.Links
	sealer vault.Sealer
}

// Sealed returns the reports with what seals and opens the addresses of readers.
func (s *Reports) Sealed(sealer vault.Sealer) *Reports { return &Reports{s.db, s.links, sealer} }

// Add stores a report, unless the network or everybody together has sent too many, and reports
// whether it did.
func (s *Reports) Add(ctx context.Context, r Report, network netip.Prefix, now time.Time) (bool, error) {
	id, sealed := account.NewID(account.ReportID, now, rand.Reader), ""
	if r.Address != "" {
		sealed = s.sealer.Seal(id, r.Address)
	}
	return s.links.Limited(ctx, "report", network, now, func(tx *sql.Tx) error {
		return sqldb.Exec(ctx, tx, `INSERT INTO reports (id, page, text, sealed, created_at, state, closed_by, closed_at)
			VALUES ($1, $2, $3, $4, $5, '', '', '')`, id, r.Page, r.Text, sealed, sqldb.FormatTime(now))
	})
}

// List lists the newest reports, those that are open first, after so many.
func (s *Reports) List(ctx context.Context, after int) ([]Report, error) {
	return s.list(ctx, `ORDER BY CASE WHEN state = '' THEN 0 ELSE 1 END, created_at DESC, id LIMIT $1 OFFSET $2`, MaxReports, after)
}

// OpenBetween lists the reports from one day until another that are open, oldest first, and returns how many
// more there are.
func (s *Reports) OpenBetween(ctx context.Context, since, until string) (list []Report, more int, _ error) {
	const which = `WHERE created_at >= $2 AND created_at < $3 AND state = ''`
	list, err := s.list(ctx, which+` ORDER BY created_at, id LIMIT $1`, MaxReports, since, until)
	if err != nil || len(list) < MaxReports {
		return list, 0, err
	}
	more, err = sqldb.Get[int](ctx, s.db, `SELECT count(*) - $1 FROM reports `+which, MaxReports, since, until)
	return list, max(more, 0), err
}

func (s *Reports) list(ctx context.Context, which string, args ...any) ([]Report, error) {
	return sqldb.List(ctx, s.db, `SELECT id, page, text, sealed, created_at, state, closed_by FROM reports `+which,
		func(scan sqldb.Scanner, r *Report) error {
			var sealed string
			if err := scan(&r.ID, &r.Page, &r.Text, &sealed, sqldb.Time(&r.CreatedAt), &r.State, &r.ClosedBy); err != nil || sealed == "" {
				return err
			}
			r.Address, _ = s.sealer.Open(r.ID, sealed) // without its key the report is still worth reading
			return nil
		}, args...)
}

// Open returns how many reports wait for somebody.
func (s *Reports) Open(ctx context.Context) (int, error) {
	return sqldb.Get[int](ctx, s.db, `SELECT count(*) FROM reports WHERE state = ''`)
}

// Close says what became of a report, and erases the address. ErrNotFound: there is none of that id.
func (s *Reports) Close(ctx context.Context, id, state, by string, now time.Time) error {
	missing := sqldb.Problem(sqldb.ErrNotFound, nil, "there is no such report")
	if !account.IsID(account.ReportID, id) || state != ReportFixed && state != ReportNotSo {
		return missing
	}
	return sqldb.WriteSome(ctx, s.db, missing, `UPDATE reports SET state = $1, closed_by = $2, closed_at = $3, sealed = '' WHERE id = $4`,
		state, by, sqldb.FormatTime(now), id)
}

// QueueDigest queues the mail about the reports of the days since the last one, if there are any: one a
// day, whatever is killed and however many nodes there are. Old reports are deleted on this occasion.
func (s *Reports) QueueDigest(ctx context.Context, contact string, now time.Time) error {
	today := now.UTC().Format(time.DateOnly)
	since, err := sqldb.Get[string](ctx, s.db, `SELECT coalesce(max(period), '') FROM reader_cursors WHERE name = 'reports'`)
	if err != nil || since >= today {
		return err
	}
	return s.db.Write(ctx, func(tx *sql.Tx) error {
		n, err := sqldb.ExecRows(ctx, tx, `INSERT INTO reader_cursors (name, period) VALUES ('reports', $1)
			ON CONFLICT (name) DO UPDATE SET period = excluded.period WHERE reader_cursors.period = $2`, today, since)
		if err != nil || n == 0 { // another node was first
			return err
		}
		err = sqldb.Exec(ctx, tx, `DELETE FROM reports WHERE created_at < $1 OR state <> '' AND closed_at < $2`,
			sqldb.FormatTime(now.Add(-reportsIgnored)), sqldb.FormatTime(now.Add(-reportsClosed)))
		if err != nil {
			return err
		}
		some, err := sqldb.Value[bool](ctx, tx, `SELECT EXISTS (SELECT 1 FROM reports WHERE created_at >= $1 AND created_at < $2 AND state = '')`, since, today)
		if _, invalid := account.NormalizeEmail(contact); err != nil || !some || invalid != nil {
			return err
		}
		return accountdb.QueueMail(ctx, tx, mail.Request{To: contact, Kind: mail.Reports, About: since + " " + today}, now)
	})
}
