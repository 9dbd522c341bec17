package accountdb

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/hex"
	"time"

	"palmares/internal/quota"
	"palmares/internal/sqldb"
)

// countStatement returns the statement that grants requests exactly across all nodes: each
// row is raised as far as its limit allows, and the statement returns its new value and how
// much of that was granted here. Rows are locked in one order, so that two nodes cannot
// deadlock. Accounts and networks with zero requests are only read; no row is created for
// them.
//
// The server's clock decides which day it is: on another day nothing is granted. Around
// midnight both days are open for two seconds, because a node knows that clock only to
// within a round trip.
//
// It has only the parts that a group needs: most groups are of accounts that ask for
// something, and with all parts the statement would take the server twice as long. An account
// that does not exist makes it fail, unless careful is set; then it is left out.
//
// It runs on PostgreSQL only, as SQLite has one node, and so may use arrays, with which a
// group of any size is one prepared statement, and the server's clock.
func countStatement(networks, reads, careful bool) string {
	with := `
	WITH server AS (SELECT clock_timestamp() AS now),
	open AS (
		SELECT now FROM server WHERE $1::text BETWEEN
			to_char((now - interval '2 seconds') AT TIME ZONE 'UTC', 'YYYY-MM-DD') AND
			to_char((now + interval '2 seconds') AT TIME ZONE 'UTC', 'YYYY-MM-DD')),
	granted_accounts AS (
		INSERT INTO usage AS u (day, account_id, requests, granted)
		SELECT $1, asked.id, LEAST(asked.requests, $4::bigint), LEAST(asked.requests, $4)
		FROM unnest($2::text[], $3::bigint[]) AS asked (id, requests)
		WHERE asked.requests > 0 AND EXISTS (SELECT 1 FROM open)`
	if careful {
		with += ` AND EXISTS (SELECT 1 FROM accounts WHERE accounts.id = asked.id)`
	}
	with += `
		ORDER BY asked.id COLLATE "C"
		ON CONFLICT (day, account_id) DO UPDATE SET
			requests = GREATEST(u.requests, LEAST(u.requests + excluded.requests, $4)),
			granted = GREATEST(u.requests, LEAST(u.requests + excluded.requests, $4)) - u.requests
		RETURNING account_id, requests, granted)`
	rows := `
	SELECT 0 AS kind, '' AS name, (extract(epoch FROM now) * 1000000)::bigint AS requests, (SELECT count(*) FROM open) AS granted FROM server
	UNION ALL SELECT 1, account_id, requests, granted FROM granted_accounts`
	if reads {
		rows += `
	UNION ALL SELECT 1, u.account_id, u.requests, 0 FROM usage u JOIN unnest($2, $3) AS asked (id, requests) ON u.account_id = asked.id
		WHERE asked.requests = 0 AND u.day = $1 AND EXISTS (SELECT 1 FROM open)`
	}
	if networks {
		with += `,
	granted_networks AS (
		INSERT INTO network_usage AS u (day, network, requests, granted)
		SELECT $1, asked.network, LEAST(asked.requests, asked.most), LEAST(asked.requests, asked.most)
		FROM unnest($5::text[], $6::bigint[], $7::bigint[]) AS asked (network, requests, most)
		WHERE asked.requests > 0 AND EXISTS (SELECT 1 FROM open)
		ORDER BY asked.network COLLATE "C"
		ON CONFLICT (day, network) DO UPDATE SET
			requests = GREATEST(u.requests, LEAST(u.requests + excluded.requests, ($7)[array_position($5, u.network)])),
			granted = GREATEST(u.requests, LEAST(u.requests + excluded.requests, ($7)[array_position($5, u.network)])) - u.requests
		RETURNING network, requests, granted)`
		rows += `
	UNION ALL SELECT 2, network, requests, granted FROM granted_networks`
	}
	if networks && reads {
		rows += `
	UNION ALL SELECT 2, u.network, u.requests, 0 FROM network_usage u JOIN unnest($5, $6) AS asked (network, requests) ON u.network = asked.network
		WHERE asked.requests = 0 AND u.day = $1 AND EXISTS (SELECT 1 FROM open)`
	}
	return with + rows
}

// CountStatement is the statement of most groups, which connections that count prepare.
var CountStatement = countStatement(false, false, false)

// Count grants requests of a day among all nodes, see quota.Counters.Count. It must only
// be called when the database is shared.
func (s *Usage) Count(ctx context.Context, day string, asked quota.Usage) (tally quota.Tally, err error) {
	err = s.db.Count(ctx, func(pool *sql.DB) error {
		tally, err = countOnce(ctx, pool, day, asked, false)
		for range asked.Accounts {
			if !sqldb.IsMissingReference(err) {
				break
			}
			// An account that is deleted after the statement has looked for it is not there
			// the next time.
			tally, err = countOnce(ctx, pool, day, asked, true)
		}
		return err
	})
	return tally, err
}

// countOnce runs the statement; for careful see there.
func countOnce(
	ctx context.Context, pool *sql.DB, day string, asked quota.Usage, careful bool,
) (quota.Tally, error) {
	reads := false
	ids, ofIDs := make([]string, len(asked.Accounts)), make([]int64, len(asked.Accounts))
	for i, c := range asked.Accounts {
		ids[i], ofIDs[i] = c.Account, c.Requests
		reads = reads || c.Requests == 0
	}
	networks, ofNetworks, most := make([]string, len(asked.Networks)), make([]int64, len(asked.Networks)), make([]int64,
		len(asked.Networks))
	for i, c := range asked.Networks {
		networks[i], ofNetworks[i], most[i] = hex.EncodeToString(c.Network[:]), c.Requests, cmp.Or(c.Limit,
			int64(quota.Anonymous.Limit()))
		reads = reads || c.Requests == 0
	}
	tally := quota.Tally{Accounts: map[string]quota.Counted{}, Networks: map[quota.Pseudonym]quota.Counted{}}
	statement, args := CountStatement, []any{day, ids, ofIDs, quota.Free.Limit()}
	if len(networks) > 0 {
		args = append(args, networks, ofNetworks, most)
	}
	if len(networks) > 0 || reads || careful {
		statement = countStatement(len(networks) > 0, reads, careful)
	}
	_, err := sqldb.Rows(ctx, pool, statement, func(scan sqldb.Scanner, c *quota.Counted) error {
		var kind int
		var name string
		var network quota.Pseudonym
		err := scan(&kind, &name, &c.Used, &c.Granted)
		switch {
		case err != nil:
		case kind == 0:
			tally.Now, tally.Open = time.UnixMicro(c.Used), c.Granted > 0
		case kind == 1:
			tally.Accounts[name] = *c
		default:
			err = sqldb.DecodeHex(network[:], []byte(name))
			tally.Networks[network] = *c
		}
		return err
	}, args...)
	return tally, err
}
