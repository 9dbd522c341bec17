package accountdb

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"palmares/internal/account"
	"palmares/internal/mail"
	"palmares/internal/sqldb"
	"palmares/internal/webhook"
)

// inFlight is how many requests to an endpoint w are under a lease at time $1. A lease
// counts whatever the state of its delivery: the request may still be running.
const inFlight = `(SELECT count(*) FROM deliveries l WHERE l.endpoint_id = w.id AND l.lease_until > $1 AND l.lease_until <> '')`

// room is how many more requests an endpoint w may be sent at time $1: one at a time while
// the breaker is open.
var room = fmt.Sprintf(`(CASE WHEN w.probe_at <> '' THEN 1 ELSE %d END - `+inFlight+`)`, webhook.MaxInFlight)

// due selects a column of up to n deliveries that are due to endpoint w at time $1, the
// longest due first: none before not_before, and none that an open breaker delays.
func due(column string, n int) string {
	some := `SELECT * FROM (SELECT d.id, d.next_at FROM deliveries d WHERE d.endpoint_id = w.id AND d.state = 'pending'
		AND d.next_at <= $1 AND w.not_before <= $1 AND d.attempts %s ORDER BY d.next_at, d.id LIMIT %d) AS %s`
	return fmt.Sprintf(`SELECT %s FROM (`+some+` UNION ALL `+some+`) AS all_due ORDER BY next_at, id LIMIT %d`, column,
		fmt.Sprintf(`< %d`, webhook.AlwaysTried), n, "fresh",
		fmt.Sprintf(`>= %d AND w.probe_at <= $1`, webhook.AlwaysTried), n, "tried", n)
}

// urgent is whether a delivery d is a ping that is sent to endpoint w at time $1 whatever
// else is sent to it: one that was requested since $2 and has not been tried.
const urgent = `d.sequence = 0 AND d.endpoint_id = w.id AND d.created_at > $2 AND d.origin <> 'event'
	AND d.origin = 'ping' AND d.state = 'pending' AND d.attempts = 0 AND d.next_at <= $1`

// urgentFor is how long a ping is urgent. There are at most webhook.PingsAMinute for each
// of these minutes, so they are found quickly.
const urgentFor = 5 * time.Minute

// hasPing is whether an endpoint w has a ping that is urgent.
const hasPing = `EXISTS (SELECT 1 FROM deliveries d WHERE ` + urgent + `)`

// ready selects the endpoints to which something can be sent at time $1. An endpoint
// whose account is not Pro is suspended, whatever its own state. It does not ask with
// EXISTS what is due: PostgreSQL would ignore the order, and read all deliveries until it
// finds one.
var ready = `FROM endpoints w JOIN accounts a ON a.id = w.account_id
	WHERE w.state = 'active' AND a.plan = 'pro' AND (` + room + ` > 0 AND (` + due("id", 1) + `) IS NOT NULL OR ` + hasPing + `)`

// anyReady reports whether there are any, and selectReady selects up to $3 of them in their
// turns, those that were pinged first.
var (
	anyReady    = `SELECT EXISTS (SELECT 1 ` + ready + `)`
	selectReady = `SELECT w.id ` + ready + ` ORDER BY CASE WHEN ` + hasPing + ` THEN 0 ELSE 1 END, w.turn, w.id LIMIT $3`
)

// selectCandidates selects endpoints with their room and up to webhook.MaxInFlight
// deliveries that are due. There is one subquery for all of these because on PostgreSQL each
// reads again what was due before and is not vacuumed yet.
var selectCandidates = `SELECT w.id, ` + room + `, coalesce((SELECT string_agg(x.id, ' ') FROM (` + due("id", webhook.MaxInFlight) + `) AS x), '')
	FROM endpoints w WHERE w.id IN %s ORDER BY w.turn, w.id`

const selectPings = `SELECT w.id, d.id FROM endpoints w JOIN deliveries d ON ` + urgent +
	` WHERE w.id IN %s ORDER BY d.created_at, d.id`

// Claim leases up to limit deliveries that are due to the caller, for length, during which
// no other claim on any node gets them. When a lease ends without an outcome, because the
// process died, the delivery is due again and the attempt does not count.
//
// An endpoint never has more than webhook.MaxInFlight deliveries under a lease, or one
// while its breaker is open; then those that were tried before wait for ProbeAt. Endpoints
// are skipped until Retry-After elapses. Endpoints take turns: each gets
// one before any gets a second, and one that got none comes first next time, so that a
// hundred thousand deliveries to one do not delay the others. Endpoints that another node
// has locked are skipped; the next call finds what is due to them.
//
// A ping comes before all others, even to an endpoint that is skipped or has no room: its
// owner waits for the response, and there are at most webhook.PingsAMinute.
//
// A lease lasts for length from the caller's now, and other nodes compare its end with
// their clocks. Requests end after half of it, so clocks may differ by as much before a
// delivery is sent twice at once, which receivers must handle anyway.
func (s *Deliveries) Claim(
	ctx context.Context, now time.Time, length time.Duration, limit int,
) ([]webhook.Claim, error) {
	// Mostly nothing is due. Finding that out needs no write transaction, which on SQLite
	// would wait for a publication.
	at, since := sqldb.FormatTime(now), sqldb.FormatTime(now.Add(-urgentFor))
	isAny, err := sqldb.Get[bool](ctx, s.db, anyReady, at, since)
	if err != nil || !isAny {
		return nil, err
	}
	return sqldb.Write(ctx, s.db.Retried(), func(tx *sql.Tx) ([]webhook.Claim, error) {
		query := selectReady + s.db.LockClause("FOR NO KEY UPDATE OF w SKIP LOCKED")
		endpoints, err := sqldb.Rows(ctx, tx, query, sqldb.ScanText, at, since, limit)
		if err != nil || len(endpoints) == 0 {
			return nil, err
		}
		chosen, err := choose(ctx, tx, endpoints, at, since, limit)
		if err != nil || len(chosen) == 0 {
			return nil, err
		}
		return s.lease(ctx, tx, chosen, now, length)
	})
}

// A candidate is a locked endpoint and what may be sent to it.
type candidate struct {
	id   string
	room int
	due  []string
}

// choose selects deliveries of locked endpoints: pings, then others in turns. It reads
// again what is due and how much room there is: both may have changed before the
// endpoints were locked.
func choose(ctx context.Context, tx *sql.Tx, endpoints []string, at, since string, limit int) ([]string, error) {
	args, list := sqldb.InAfter([]any{at}, endpoints)
	candidates, err := sqldb.Rows(ctx, tx, fmt.Sprintf(selectCandidates, list),
		func(scan sqldb.Scanner, c *candidate) error {
			var due string
			err := scan(&c.id, &c.room, &due)
			c.due = strings.Fields(due)
			return err
		}, args...)
	if err != nil {
		return nil, err
	}
	chosen, err := choosePings(ctx, tx, candidates, at, since, limit)
	if err != nil {
		return nil, err
	}
	var served []string
	for round := range webhook.MaxInFlight {
		for _, c := range candidates {
			if round >= min(c.room, len(c.due)) || len(chosen) == limit || slices.Contains(chosen, c.due[round]) {
				continue
			}
			chosen = append(chosen, c.due[round])
			if round == 0 {
				served = append(served, c.id)
			}
		}
	}
	if len(served) == 0 {
		return chosen, nil
	}
	args, list = sqldb.InAfter(nil, served)
	return chosen, sqldb.Exec(ctx, tx,
		`UPDATE endpoints SET turn = (SELECT max(turn) FROM endpoints) + 1 WHERE id IN `+list, args...)
}

// choosePings selects the pings that candidates are sent, which then have less room.
func choosePings(
	ctx context.Context, tx *sql.Tx, candidates []candidate, at, since string, limit int,
) ([]string, error) {
	byID := map[string]*candidate{}
	for i := range candidates {
		byID[candidates[i].id] = &candidates[i]
	}
	args, list := sqldb.InAfter([]any{at, since}, slices.Collect(maps.Keys(byID)))
	pings, err := sqldb.Rows(ctx, tx, fmt.Sprintf(selectPings, list),
		func(scan sqldb.Scanner, ping *[2]string) error { return scan(&ping[0], &ping[1]) }, args...)
	if err != nil {
		return nil, err
	}
	var chosen []string
	for _, ping := range pings {
		if len(chosen) < limit {
			chosen = append(chosen, ping[1])
			byID[ping[0]].room--
		}
	}
	return chosen, nil
}

// lease marks deliveries as claimed and returns what is needed to send them, in the order
// in which they were chosen.
func (s *Deliveries) lease(
	ctx context.Context, tx *sql.Tx, chosen []string, now time.Time, length time.Duration,
) ([]webhook.Claim, error) {
	args, list := sqldb.InAfter([]any{sqldb.FormatTime(now.Add(length)), sqldb.FormatTime(now)}, chosen)
	// The condition is repeated although the endpoints are locked: a delivery that is
	// claimed twice is sent twice, and this alone makes that impossible.
	leased, err := sqldb.Rows(ctx, tx, `
		UPDATE deliveries SET lease_until = $1, next_at = $1
		WHERE id IN `+list+` AND state = 'pending' AND next_at <= $2 RETURNING id`,
		sqldb.ScanText, args...)
	if err != nil || len(leased) == 0 {
		return nil, err
	}
	args, list = sqldb.InAfter([]any{sqldb.FormatTime(now)}, leased)
	found, err := sqldb.Rows(ctx, tx, `
		SELECT d.id, d.endpoint_id, d.event_id, d.type, coalesce(e.body, d.body), w.url, w.secret,
			CASE WHEN w.old_secret_until > $1 THEN w.old_secret ELSE '' END, d.attempts + 1, d.lease_until
		FROM deliveries d JOIN endpoints w ON w.id = d.endpoint_id LEFT JOIN `+s.rooms.Events+` e ON e.sequence = d.sequence
		WHERE d.id IN `+list, sqldb.ScanFields[webhook.Claim], args...)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(found, func(a, b webhook.Claim) int {
		return cmp.Compare(slices.Index(chosen, a.DeliveryID), slices.Index(chosen, b.DeliveryID))
	})
	return found, nil
}

// Finish stores the outcome of a claim.
//
// A claim is late when its lease has ended and another claim has the delivery. A late
// failure says nothing about the other request and is dropped. A late success counts: the
// delivery is delivered, and the outcome of the other claim is dropped. Neither is an
// error, nor is a delivery that was deleted meanwhile.
//
// When the attempt disables the endpoint, or its owner is to know that it fails, see
// webhook.Endpoint.After, a mail to its owner is queued in the same transaction.
func (s *Deliveries) Finish(ctx context.Context, c webhook.Claim, v webhook.Verdict) error {
	return s.db.Write(ctx, func(tx *sql.Tx) error {
		if err := lockEndpoint(ctx, s.db, tx, c.EndpointID); err != nil {
			return err
		}
		var state webhook.DeliveryState
		var lease string
		var attempts int
		err := tx.QueryRowContext(ctx, `
			SELECT d.state, d.lease_until, d.attempts FROM deliveries d JOIN endpoints w ON w.id = d.endpoint_id
			WHERE d.id = $1 AND w.account_id <> $2`, c.DeliveryID, deletedID).Scan((*string)(&state), &lease, &attempts)
		if err != nil {
			return sqldb.OrMissing(err, nil)
		}
		ours := lease == sqldb.FormatTime(c.LeaseEnd)
		if state != webhook.Pending {
			if ours { // a late success of another claim finished it
				return sqldb.Exec(ctx, tx, `UPDATE deliveries SET lease_until = '' WHERE id = $1`, c.DeliveryID)
			}
			return nil
		}
		if !ours && v.State != webhook.Delivered {
			return nil
		}
		if ours {
			lease = ""
		}
		next := ""
		if v.State == webhook.Pending {
			next = sqldb.FormatTime(v.NextAt)
		}
		if v.Untried {
			return sqldb.Exec(ctx, tx, `UPDATE deliveries SET next_at = $1, lease_until = $2 WHERE id = $3`, next, lease,
				c.DeliveryID)
		}
		a := v.Attempt
		// PostgreSQL accepts neither invalid UTF-8 nor NUL, and a receiver may send anything.
		response := strings.ToValidUTF8(strings.ReplaceAll(a.Response, "\x00", "\uFFFD"), "\uFFFD")
		err = sqldb.ExecAll(ctx, tx,
			sqldb.Do(`INSERT INTO attempts (delivery_id, number, at, duration, status, outcome, response)
				VALUES ($1, $2, $3, $4, $5, $6, $7)`,
				c.DeliveryID, attempts+1, sqldb.FormatTime(a.At), a.Duration, a.Status, string(a.Outcome), response),
			sqldb.Do(`UPDATE deliveries SET state = $1, next_at = $2, lease_until = $3, attempts = $4 WHERE id = $5`,
				string(v.State), next, lease, attempts+1, c.DeliveryID))
		if err != nil {
			return err
		}
		return s.updateEndpoint(ctx, tx, c.EndpointID, v, a.At.Add(a.Duration))
	})
}

// updateEndpoint stores what an attempt that ended at at means for its endpoint, which
// is locked.
func (s *Deliveries) updateEndpoint(
	ctx context.Context, tx *sql.Tx, endpointID string, v webhook.Verdict, at time.Time,
) error {
	old, err := findEndpoint(ctx, tx, account.AnyOwner(), endpointID)
	if err != nil {
		return err
	}
	w := old.After(v, at)
	if v.State == webhook.Delivered && old.Recovers(at) {
		if err := makeDue(ctx, tx, endpointID, at); err != nil {
			return err
		}
	}
	err = sqldb.Exec(ctx, tx, `
		UPDATE endpoints SET failures = $1, failing_since = $2, not_before = $3, probe_at = $4, last_success_at = $5,
			failure_at = $6, failure_outcome = $7, failure_status = $8, mailed_for = $9 WHERE id = $10`,
		w.Failures, sqldb.FormatTime(w.FailingSince), sqldb.FormatTime(w.NotBefore), sqldb.FormatTime(w.ProbeAt),
		sqldb.FormatTime(w.LastSuccessAt),
		sqldb.FormatTime(w.LastFailure.At), string(w.LastFailure.Outcome), int(w.LastFailure.Status),
		sqldb.FormatTime(w.MailedFor), endpointID)
	if err != nil {
		return err
	}
	about := mail.Request{About: endpointID}
	switch {
	case w.State != old.State:
		about.Kind = mail.EndpointDisabled
		if err := sqldb.Exec(ctx, tx, `UPDATE endpoints SET state = $1, reason = $2, disabled_at = $3 WHERE id = $4`,
			string(w.State), string(w.Reason), sqldb.FormatTime(w.DisabledAt), endpointID); err != nil {
			return err
		}
	case !w.MailedFor.Equal(old.MailedFor):
		about.Kind = mail.EndpointFailing
	default:
		return nil
	}
	about.To, err = sqldb.Value[string](ctx, tx, `SELECT email FROM accounts WHERE id = $1`, w.AccountID)
	if err != nil {
		return err
	}
	return QueueMail(ctx, tx, about, at)
}
