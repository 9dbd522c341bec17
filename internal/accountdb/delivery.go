package accountdb

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
	"strconv"
	"strings"
	"time"

	"palmares/internal/account"
	"palmares/internal/catalog"
	"palmares/internal/sqldb"
	"palmares/internal/webhook"
)

// Deliveries are the deliveries of events to endpoints.
type Deliveries struct {
	db        *sqldb.DB
	rooms     Rooms
	sweepStep int // see the constant
}

// ErrNoDelivery: there is no such delivery.
var ErrNoDelivery = fmt.Errorf("delivery %w", sqldb.ErrNotFound)

var deliveryTable = sqldb.Table{Name: "deliveries", Columns: []string{
	"id", "endpoint_id", "sequence", "event_id", "type", "origin", "state", "created_at", "next_at", "lease_until",
	"attempts", "body",
}}

// Deliver creates deliveries of the events of a publication, those after a sequence up to
// last, for every endpoint that takes them. It runs in the publication's own transaction: no
// event is ever visible without its deliveries.
//
// It runs one statement per endpoint, whatever the number of events.
func (s *Deliveries) Deliver(
	ctx context.Context, tx *sql.Tx, after, last int64, now time.Time, progress func(done, total int),
) error {
	// An endpoint must not be deleted after it was read here and before its deliveries
	// are written. Accounts are locked first, in one order, as when one is deleted.
	for _, lock := range []string{
		`SELECT a.id FROM accounts a WHERE a.id IN (SELECT account_id FROM endpoints) ORDER BY a.id`,
		`SELECT id FROM endpoints ORDER BY id`,
	} {
		if err := sqldb.LockRows(ctx, s.db, tx, lock, "FOR KEY SHARE"); err != nil {
			return err
		}
	}
	endpoints, err := sqldb.Rows(ctx, tx, selectEndpoints+`AND w.state = 'active' AND a.plan = 'pro'`, scanEndpoint)
	if err != nil {
		return err
	}
	made := map[string]bool{}
	for i, w := range endpoints {
		progress(i, len(endpoints))
		prefix := deliveryPrefix(now)
		for made[prefix] {
			prefix = deliveryPrefix(now)
		}
		made[prefix] = true
		if _, err := s.deliverEvents(ctx, tx, w, prefix, webhook.OfEvent, after, last, "", now); err != nil {
			return err
		}
	}
	if len(endpoints) > 0 {
		progress(len(endpoints), len(endpoints))
	}
	return nil
}

// deliveryPrefix returns the common beginning of the ids of deliveries that one statement
// creates: the prefix, the time, and six random characters.
func deliveryPrefix(now time.Time) string {
	return account.NewID(account.DeliveryID, now, rand.Reader)[:20]
}

// deliverEvents creates a delivery of each event after a sequence, up to last, not older
// than since, that the endpoint takes and that is neither delivered to it nor pending. A
// delivery's id is the prefix and the end of the event's id: the events of a publication
// have consecutive ids, so an endpoint's deliveries sort like them, and no id needs to be
// sent to the database.
func (s *Deliveries) deliverEvents(
	ctx context.Context, tx *sql.Tx, w webhook.Endpoint, prefix, origin string, after, last int64, since string,
	now time.Time,
) (int64, error) {
	args := []any{prefix, w.ID, origin, sqldb.FormatTime(now), after, last, since}
	wanted := ""
	if w.Events != nil {
		args, wanted = sqldb.InAfter(args, w.Events)
		wanted = "AND e.type IN " + wanted
	}
	if origin != webhook.OfEvent { // new events have no deliveries, and there may be very many
		wanted += ` AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.endpoint_id = $2 AND d.sequence = e.sequence
			AND d.sequence > $5 AND d.sequence <= $6 AND d.state IN ('pending', 'delivered'))`
	}
	return sqldb.ExecRows(ctx, tx, `
		INSERT INTO deliveries (`+deliveryTable.List()+`)
		SELECT CAST($1 AS TEXT) || substr(e.id, 21), CAST($2 AS TEXT), e.sequence, e.id, e.type, CAST($3 AS TEXT), 'pending', CAST($4 AS TEXT), CAST($4 AS TEXT), '', 0, ''
		FROM `+s.rooms.Events+` e
		WHERE e.sequence > $5 AND e.sequence <= $6 AND e.created_at >= $7 `+wanted, args...)
}

// A DeliveryFilter selects deliveries; the zero value selects the newest fifty.
type DeliveryFilter struct {
	State  webhook.DeliveryState // "" for any
	Type   string                // "" for any
	Before string                // the id of a delivery to continue after, in the order of the list; "" for the start
	Limit  int
}

// List returns deliveries to an endpoint, newest first, each with its last attempt. The
// id of the last one is the next page's Before. ErrNotFound: no such endpoint; ErrInvalid:
// Before is not a delivery of it.
func (s *Deliveries) List(
	ctx context.Context, owner account.Owner, endpointID string, f DeliveryFilter,
) ([]webhook.Delivery, error) {
	return sqldb.Read(ctx, s.db, func(tx *sql.Tx) ([]webhook.Delivery, error) {
		if _, err := findEndpoint(ctx, tx, owner, endpointID); err != nil {
			return nil, err
		}
		args := []any{endpointID, cmp.Or(f.Limit, 50)}
		var where strings.Builder
		also := func(condition string, value string) {
			args = append(args, value)
			fmt.Fprintf(&where, condition, len(args))
		}
		if f.Before != "" {
			created, err := sqldb.Value[string](ctx, tx, `SELECT created_at FROM deliveries
				WHERE id = $1 AND endpoint_id = $2`, f.Before, endpointID)
			if err != nil {
				return nil, sqldb.OrMissing(err, sqldb.Problem(sqldb.ErrInvalid, nil, "the endpoint %s has no delivery %q to "+
					"continue from: start from the newest", endpointID, f.Before))
			}
			also(` AND (d.created_at, d.id) < ($%d, `, created)
			also(`$%d)`, f.Before)
		}
		switch f.State { // literals, so that partial indexes are used
		case "":
		case webhook.Pending:
			where.WriteString(` AND d.state = 'pending'`)
		case webhook.Failed:
			where.WriteString(` AND d.state = 'failed'`)
		default:
			also(` AND d.state = $%d`, string(f.State))
		}
		if f.Type != "" {
			also(` AND d.type = $%d`, f.Type)
		}
		return sqldb.Rows(ctx, tx, selectDeliveries+`WHERE d.endpoint_id = $1`+where.String()+`
			ORDER BY d.created_at DESC, d.id DESC LIMIT $2`, scanDelivery, args...)
	})
}

// Find returns a delivery with all its attempts and its body.
// ErrNotFound: there is none, or it is another account's.
func (s *Deliveries) Find(ctx context.Context, owner account.Owner, id string) (webhook.Delivery, error) {
	return sqldb.Read(ctx, s.db, func(tx *sql.Tx) (webhook.Delivery, error) {
		d, err := s.findDelivery(ctx, tx, owner, id)
		if err != nil {
			return d, err
		}
		one := []webhook.Delivery{d}
		err = addAttempts(ctx, tx, one)
		return one[0], err
	})
}

// Resend creates a new delivery of the same event, with its id and bytes. It is due at
// once, and waits if its endpoint is not active. ErrNotFound: no such delivery. ErrPlan:
// the owner is no longer Pro. sqldb.ErrTooMany: there were webhook.ResendsAMinute to the endpoint
// in the last minute. Sending a ping again counts as a ping: see Ping.
func (s *Deliveries) Resend(
	ctx context.Context, owner account.Owner, deliveryID string, now time.Time,
) (webhook.Delivery, error) {
	return sqldb.Write(ctx, s.db, func(tx *sql.Tx) (d webhook.Delivery, err error) {
		old, err := s.findDelivery(ctx, tx, owner, deliveryID)
		if err != nil {
			return d, err
		}
		// The endpoint may be deleted before it is locked.
		if err := lockEndpoint(ctx, s.db, tx, old.EndpointID); err != nil {
			return d, err
		}
		w, err := findEndpoint(ctx, tx, owner, old.EndpointID)
		if err != nil {
			return d, err
		}
		if old.Sequence == 0 {
			if err := checkPing(ctx, tx, w, now); err != nil {
				return d, err
			}
		}
		if err := checkResend(ctx, tx, owner, w, now); err != nil {
			return d, err
		}
		d = newDelivery(old.EndpointID, webhook.OfResend, now)
		d.EventID, d.Type, d.Sequence = old.EventID, old.Type, old.Sequence
		body := ""
		if d.Sequence == 0 { // otherwise it is stored with the event
			body = old.Body
		}
		return d, insertDelivery(ctx, tx, d, body)
	})
}

// Ping creates a delivery of an event that only this endpoint gets, whatever events it
// takes. It is due at once. ErrNotFound; ErrInactive: nothing would be sent now, and
// whoever pings waits for the result; sqldb.ErrTooMany: there were webhook.PingsAMinute in the
// last minute.
func (s *Deliveries) Ping(
	ctx context.Context, owner account.Owner, endpointID string, now time.Time,
) (webhook.Delivery, error) {
	d := newDelivery(endpointID, webhook.OfPing, now)
	d.EventID, d.Type = account.NewID(account.EventID, now, rand.Reader), webhook.Ping
	_, err := changeEndpoint(ctx, s.db, owner, endpointID, func(tx *sql.Tx, w webhook.Endpoint) error {
		if err := checkPing(ctx, tx, w, now); err != nil {
			return err
		}
		url, err := s.rooms.SiteURL(ctx, tx)
		if err != nil {
			return err
		}
		return insertDelivery(ctx, tx, d,
			string(webhook.EventBody(d.EventID, now, 0, &catalog.Change{Type: webhook.Ping, URL: url})))
	})
	return d, err
}

// checkResend returns why nothing may be sent again to an endpoint, which is locked.
func checkResend(ctx context.Context, tx *sql.Tx, owner account.Owner, w webhook.Endpoint, now time.Time) error {
	if w.State == webhook.Suspended && !owner.Any() {
		return sqldb.Problem(ErrPlan, nil, "the account of the endpoint %s is no longer pro, and nothing is sent to it", w.ID)
	}
	recent, err := sqldb.Value[int](ctx, tx,
		`SELECT count(*) FROM deliveries WHERE endpoint_id = $1 AND created_at > $2 AND origin = $3`,
		w.ID, sqldb.FormatTime(now.Add(-time.Minute)), webhook.OfResend)
	if err == nil && recent >= webhook.ResendsAMinute {
		err = sqldb.Problem(sqldb.ErrTooMany, nil, "%d deliveries to the endpoint %s were sent again in the last minute: "+
			"wait a minute, or recover all since a date", recent, w.ID)
	}
	return err
}

// checkPing returns why an endpoint, which is locked, may not be sent another ping.
func checkPing(ctx context.Context, tx *sql.Tx, w webhook.Endpoint, now time.Time) error {
	if w.State != webhook.Active {
		return sqldb.Problem(ErrInactive, nil, "the endpoint %s is %s, so a ping would not be sent: make it active first",
			w.ID, w.State)
	}
	recent, err := sqldb.Value[int](ctx, tx,
		`SELECT count(*) FROM deliveries WHERE sequence = 0 AND endpoint_id = $1 AND created_at > $2 AND origin <> 'event'`,
		w.ID, sqldb.FormatTime(now.Add(-time.Minute)))
	if err == nil && recent >= webhook.PingsAMinute {
		err = sqldb.Problem(sqldb.ErrTooMany, nil, "the endpoint %s had %d pings in the last minute: wait a minute", w.ID, recent)
	}
	return err
}

func newDelivery(endpointID, origin string, now time.Time) webhook.Delivery {
	at := now.UTC().Truncate(time.Millisecond)
	return webhook.Delivery{
		ID: account.NewID(account.DeliveryID, now, rand.Reader), EndpointID: endpointID,
		Origin: origin, State: webhook.Pending, CreatedAt: at, NextAt: at,
	}
}

func insertDelivery(ctx context.Context, tx *sql.Tx, d webhook.Delivery, body string) error {
	return sqldb.Exec(ctx, tx, deliveryTable.Insert(1), d.ID, d.EndpointID, d.Sequence, d.EventID, d.Type, d.Origin,
		string(d.State), sqldb.FormatTime(d.CreatedAt), sqldb.FormatTime(d.NextAt), "", 0, body)
}

// findDelivery returns a delivery with its body.
func (s *Deliveries) findDelivery(ctx context.Context, tx *sql.Tx, owner account.Owner, id string) (webhook.Delivery, error) {
	d, err := sqldb.Row(ctx, tx, selectDeliveries+`
		WHERE d.id = $1 AND ($2 OR w.account_id = $3) AND w.account_id <> '`+deletedID+`'`, scanDelivery,
		id, owner.Any(), owner.AccountID())
	if err == nil {
		d.Body, err = sqldb.Value[string](ctx, tx, `SELECT coalesce(e.body, d.body)
			FROM deliveries d LEFT JOIN `+s.rooms.Events+` e ON e.sequence = d.sequence WHERE d.id = $1`, id)
	}
	return d, sqldb.OrMissing(err, sqldb.ProblemWith(id, ErrNoDelivery, "there is no delivery %q", id))
}

// selectDeliveries reads deliveries d to endpoints w, each with its last attempt. Nothing but a
// new ping is sent before an endpoint's not_before, see also due.
var selectDeliveries = `
	SELECT d.id, d.endpoint_id, d.event_id, d.type, d.sequence, d.origin, d.state, d.created_at,
		CASE WHEN d.state <> 'pending' OR d.origin = 'ping' AND d.attempts = 0 THEN d.next_at
			WHEN d.attempts >= ` + strconv.Itoa(webhook.AlwaysTried) + ` AND w.probe_at > d.next_at
				AND w.probe_at > w.not_before THEN w.probe_at
			WHEN w.not_before > d.next_at THEN w.not_before ELSE d.next_at END,
		d.lease_until, d.attempts,
		coalesce(t.number, 0), coalesce(t.at, ''), coalesce(t.duration, 0), coalesce(t.status, 0), coalesce(t.outcome, ''), coalesce(t.response, '')
	FROM deliveries d JOIN endpoints w ON w.id = d.endpoint_id LEFT JOIN attempts t ON t.delivery_id = d.id AND t.number = d.attempts `

func scanDelivery(scan sqldb.Scanner, d *webhook.Delivery) error {
	var last webhook.Attempt
	err := scan(append(sqldb.Fields(d)[:11], sqldb.Fields(&last)...)...) // those before Last
	if last.Number > 0 {
		d.Last = &last
	}
	return err
}
