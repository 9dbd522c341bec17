package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"palmares/internal/testkit"
)

// count runs the statement of the connection that counts.
func count(ctx context.Context, d *DB) error {
	return d.Count(ctx, func(pool *sql.DB) error {
		var n int64
		return pool.QueryRowContext(ctx, countState).Scan(&n)
	})
}

// However many connections hang, the first query after the server is back succeeds, and
// nothing is left over.
func TestDeadConnectionsAreNotReused(t *testing.T) {
	proxy := testkit.NewProxy(t, databases.Postgres(t))
	before := goleak.IgnoreCurrent()
	s, err := openTables(t.Context(), proxy.DSN)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	together := make(chan struct{})
	for range maxConnections { // so many connections are in the pool afterwards
		all.Go(func() {
			if err := s.Read(t.Context(), func(tx *sql.Tx) error {
				together <- struct{}{}
				return nil
			}); err != nil {
				t.Error(err)
			}
		})
	}
	for range maxConnections {
		<-together
	}
	all.Wait()
	proxy.Drop()
	ask := func() (errState, errCount error) {
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		_, errState = s.Poll(ctx, numberQuery)
		ctx, cancel = context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		errCount = count(ctx, s)
		return errState, errCount
	}
	if a, b := ask(); !errors.Is(a, context.DeadlineExceeded) || !errors.Is(b, context.DeadlineExceeded) {
		t.Errorf("while data is dropped: %v, %v", a, b)
	}
	proxy.Restore()
	if _, err := s.Poll(t.Context(), numberQuery); err != nil {
		t.Errorf("a question after it is back: %v", err)
	}
	if err := count(t.Context(), s); err != nil {
		t.Errorf("a count after it is back: %v", err)
	}
	if open := s.reads.Stats().OpenConnections; open > maxConnections {
		t.Errorf("%d connections are open; want %d at most", open, maxConnections)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	noneLeft(t, before)
}

func TestAnUnreachableServerIsDistinguishedFromOneThatRefuses(t *testing.T) {
	if _, err := openTables(t.Context(), "postgres://ada@"+closedAddress+"/palmares"); !errors.Is(err, ErrUnavailable) || !errors.Is(err, ErrUnreachable) {
		t.Errorf("nobody listens: %v; want ErrUnavailable", err)
	}
	good, err := url.Parse(databases.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"postgres://nobody@/postgres?", "postgres://postgres@/nowhere?"} {
		if _, err := openTables(t.Context(), bad+good.RawQuery); errors.Is(err, ErrUnavailable) || !errors.Is(err, ErrUnreachable) {
			t.Errorf("%s: %v; want ErrUnreachable and not ErrUnavailable", bad, err)
		}
	}
}
