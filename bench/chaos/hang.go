package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"time"

	"palmares/internal/testkit"
	"palmares/internal/webhook"
)

// othersMayWait is how many times as long as otherwise the 99th percentile of webhooks may take
// when another endpoint hangs.
const othersMayWait = 1.2

// hang compares two nodes that send webhooks to many endpoints: on one of them, one endpoint
// hangs. They publish in turn, so that whatever else the machine does slows both down.
func hang(ctx context.Context, binary string, endpoints, publications int) error {
	return withPostgres(func(dir string, db *testkit.PostgresServer) (err error) {
		var sides [2]*side
		for i, name := range []string{"answering", "hanging"} {
			if err := db.Exec(ctx, "CREATE DATABASE "+name); err != nil {
				return err
			}
			s := newSide(newCluster(binary, dir, db.URL(name)), name == "hanging")
			defer func() { err = errors.Join(err, s.stop()) }()
			if err := s.prepare(ctx, endpoints); err != nil {
				return err
			}
			sides[i] = s
		}
		for i := range publications + 1 { // the first warms up
			for _, s := range sides {
				if err := s.publish(ctx, i); err != nil {
					return err
				}
			}
		}
		without, with := percentile(sides[0].took, 99), percentile(sides[1].took, 99)
		fmt.Printf("%d webhooks to the %d others: half within %d ms when none hangs and %d ms when one does, "+
			"99 %% within %d and %d ms: %.2f times as long\n",
			len(sides[0].took), endpoints-1, percentile(sides[0].took, 50).Milliseconds(),
			percentile(sides[1].took, 50).Milliseconds(),
			without.Milliseconds(), with.Milliseconds(), with.Seconds()/without.Seconds())
		fmt.Printf("the endpoint that hangs was sent %d requests\n", sides[1].toFirst)
		if with.Seconds() > othersMayWait*without.Seconds() {
			return fmt.Errorf("an endpoint that hangs delays the others: want at most %.1f times as long", othersMayWait)
		}
		return nil
	})
}

// A side is a node and the endpoints that it sends webhooks to.
type side struct {
	*cluster
	receiver *httptest.Server
	stopped  chan struct{}
	took     []time.Duration // from each publication to each arrival at an endpoint other than the first

	mu      sync.Mutex
	toFirst int // requests
	arrived map[string]time.Time
}

// newSide returns a side whose first endpoint may hang.
func newSide(c *cluster, hangs bool) *side {
	s := &side{cluster: c, stopped: make(chan struct{}), arrived: map[string]time.Time{}}
	s.customers, s.size = 0, 1
	s.receiver = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return // the node was stopped
		}
		first := r.URL.Path == "/0"
		s.note(r.URL.Path+r.Header.Get("webhook-id"), first)
		if first && hangs {
			select {
			case <-r.Context().Done():
			case <-s.stopped:
			}
		}
	}))
	return s
}

// note notes the arrival of a webhook.
func (s *side) note(id string, first bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if first {
		s.toFirst++
	} else if s.arrived[id].IsZero() {
		s.arrived[id] = time.Now()
	}
}

// prepare starts the node and registers endpoints.
func (s *side) prepare(ctx context.Context, endpoints int) error {
	if err := s.start(ctx, s.database); err != nil {
		return err
	}
	for i := range endpoints {
		owner := fmt.Sprintf("owner%d@example.org", i/webhook.MaxEndpoints)
		if i%webhook.MaxEndpoints == 0 {
			if _, err := s.palmares(ctx, "account", "create", owner, "--plan", "pro"); err != nil {
				return err
			}
		}
		if _, err := s.palmares(ctx, "webhook", "add", owner, fmt.Sprintf("%s/%d", s.receiver.URL, i), "--webhook-allow",
			"127.0.0.0/8"); err != nil {
			return err
		}
	}
	return nil
}

// publish publishes a catalogue and waits until all others have received its events.
func (s *side) publish(ctx context.Context, i int) error {
	s.mu.Lock()
	clear(s.arrived)
	s.mu.Unlock()
	folder, err := os.MkdirTemp(s.dir, "folder")
	if err != nil {
		return err
	}
	if _, err := s.palmares(ctx, "generate", filepath.Join(folder, "content"), "--tools", "10", "--seed",
		fmt.Sprint(i)); err != nil {
		return err
	}
	if _, err := s.palmares(ctx, "publish", filepath.Join(folder, "content"), "--allow-removals"); err != nil {
		return err
	}
	published := time.Now()
	due, err := s.due(ctx)
	if err != nil {
		return err
	}
	testkit.Await(func() bool { // on a machine of any speed
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.arrived) >= due || ctx.Err() != nil
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.arrived) != due {
		return errors.Join(ctx.Err(), fmt.Errorf("%d webhooks arrived; want %d", len(s.arrived), due))
	}
	for _, at := range s.arrived {
		if i > 0 {
			s.took = append(s.took, max(0, at.Sub(published)))
		}
	}
	return nil
}

// due returns how many webhooks the last publication causes for the others.
func (s *side) due(ctx context.Context) (n int, err error) {
	db, err := sql.Open("pgx", s.database)
	if err != nil {
		return 0, err
	}
	defer db.Close()
	err = db.QueryRowContext(ctx,
		`SELECT count(*) * ((SELECT count(*) FROM endpoints) - 1) FROM events WHERE version = (SELECT max(version)
			FROM events)`).Scan(&n)
	return n, err
}

func (s *side) stop() error {
	close(s.stopped)
	err := s.cluster.stop()
	s.receiver.Close()
	return err
}
