package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"sync"
	"time"

	"palmares/internal/account"
	"palmares/internal/node"
	"palmares/internal/testkit"
)

const (
	revokedWithin = time.Second // 99 of 100
	// atOnce is how many keys are revoked at the same time.
	atOnce = 4
)

// revoke revokes keys that three nodes have seen, while callers read, and measures how long
// each node goes on accepting them.
func revoke(ctx context.Context, binary string, times int) error {
	return withPostgres(func(dir string, db *testkit.PostgresServer) (err error) {
		c := newCluster(binary, dir, db.URL(databaseName))
		c.customers, c.spares = 2*times, times // the readers use less than a thousand requests of each
		defer func() { err = errors.Join(err, c.stop()) }()
		if err := c.start(ctx, c.database); err != nil {
			return err
		}
		st, err := node.Open(ctx, c.database)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, st.Close()) }()
		var r result
		stopReading := c.read(ctx, &r)
		took, err := c.revokeAll(ctx, st)
		stopReading()
		if err != nil {
			return err
		}
		half, most, worst := percentile(took, 50), percentile(took, 99), percentile(took, 100)
		fmt.Printf("%d revocations on %d nodes while callers read %d times: half known within %d ms, 99 %% within %d ms, "+
			"all within %d ms\n",
			times, len(c.nodes), r.keyed.asked+r.anonymous.asked+r.pages.asked, half.Milliseconds(), most.Milliseconds(), worst.Milliseconds())
		if most > revokedWithin || worst > mayRevoke {
			return fmt.Errorf("revocations took too long: want 99 %% within %s and all within %s", revokedWithin, mayRevoke)
		}
		return nil
	})
}

// revokeAll revokes all spare keys, a few at a time. It returns how long after each
// revocation was stored each node refused the key.
func (c *cluster) revokeAll(ctx context.Context, st *node.Database) (took []time.Duration, err error) {
	keys := make(chan spare)
	go func() {
		defer close(keys)
		for _, s := range c.spare {
			keys <- s
		}
	}()
	var mu sync.Mutex
	var workers sync.WaitGroup
	for range atOnce {
		workers.Go(func() {
			for s := range keys {
				failed := st.Keys.Revoke(ctx, account.AnyOwner(), s.id, time.Now())
				revoked := time.Now()
				var nodes sync.WaitGroup
				for _, n := range c.nodes {
					nodes.Go(func() {
						after := until(ctx, revoked, func() bool {
							_, status, err := c.ask(ctx, n, "/api/v1/stats", s.key)
							return err == nil && status == http.StatusUnauthorized
						})
						mu.Lock()
						defer mu.Unlock()
						took = append(took, after)
					})
				}
				nodes.Wait()
				mu.Lock()
				err = errors.Join(err, failed)
				mu.Unlock()
			}
		})
	}
	workers.Wait()
	return took, errors.Join(err, ctx.Err())
}

// percentile returns the shortest time that is not exceeded by p of 100.
func percentile(all []time.Duration, p float64) time.Duration {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[max(0, int(math.Ceil(float64(len(sorted))*p/100))-1)]
}
