package store

import (
	"context"

	"palmares/internal/quota"
)

// Join gives a node a row among those that count, unless it has one. Like Renew and Leave
// it is one statement on a connection that no page or publication holds up.
func (s *Usage) Join(ctx context.Context, id string) error {
	return s.register(ctx, `INSERT INTO counting_nodes (id, renewals, sole) VALUES ($1, 0, FALSE) ON CONFLICT (id) DO NOTHING`, id)
}

// Renew renews the row of a node and returns all rows, see quota.Counters.Renew. It must
// only be called when the store is shared.
func (s *Usage) Renew(ctx context.Context, own quota.Node, gone []quota.Node) ([]quota.Node, error) {
	nodes, err := s.dialect.renew(ctx, own, gone)
	return nodes, s.explain(ctx, err)
}

// Leave removes the row of a node.
func (s *Usage) Leave(ctx context.Context, id string) error {
	return s.register(ctx, `DELETE FROM counting_nodes WHERE id = $1`, id)
}

func (s *Usage) register(ctx context.Context, statement, id string) error {
	return s.explain(ctx, s.dialect.lookup(ctx, func() error {
		_, err := s.lookups.ExecContext(ctx, statement, id)
		return err
	}))
}

// renewStatement renews a row. Only a changed mark is worth waiting for a disk or a standby: a
// renewal that is lost was only one of many. It skips silent nodes that another node is about
// to remove.
//
// It also returns a row without an id if there is a node of a release that has
// no rows here: the session with which it counts has run nothing but statements that begin
// as they did then (see countStatement). It is written in two pieces, so that it does not
// find itself.
const renewStatement = `
	WITH removed AS (
		DELETE FROM counting_nodes WHERE id IN (
			SELECT n.id FROM counting_nodes n JOIN unnest($4::text[], $5::bigint[]) AS gone (id, renewals) ON n.id = gone.id
			WHERE n.renewals = gone.renewals FOR UPDATE OF n SKIP LOCKED)),
	own AS (
		UPDATE counting_nodes n SET renewals = $2, sole = $3 FROM counting_nodes before
		WHERE n.id = $1 AND n.renewals <= $2 AND before.id = n.id
		RETURNING n.id, n.renewals, n.sole, set_config('synchronous_commit',
			CASE WHEN before.sole = n.sole THEN 'off' ELSE current_setting('synchronous_commit') END, TRUE))
	SELECT id, renewals, sole FROM own
	UNION ALL SELECT id, renewals, sole FROM counting_nodes WHERE id <> $1
	UNION ALL SELECT '', 0, FALSE WHERE EXISTS (
		SELECT 1 FROM pg_stat_activity WHERE datname = current_database()
		AND query LIKE '%WITH clock AS (SELECT ' || 'clock_timestamp() AS now),%')`

func (d *postgresDialect) renew(ctx context.Context, own quota.Node, gone []quota.Node) (nodes []quota.Node, err error) {
	ids, renewals := make([]string, len(gone)), make([]int64, len(gone))
	for i, n := range gone {
		ids[i], renewals[i] = n.ID, n.Renewals
	}
	err = d.lookup(ctx, func() error {
		nodes, err = rows(ctx, d.lookups, 0, renewStatement, func(scan scanner, n *quota.Node) error {
			return scan(&n.ID, &n.Renewals, &n.Sole)
		}, own.ID, own.Renewals, own.Sole, ids, renewals)
		return err
	})
	return nodes, err
}
