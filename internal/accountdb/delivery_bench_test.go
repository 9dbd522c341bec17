package accountdb

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"palmares/internal/account"
	"palmares/internal/catalog"
	"palmares/internal/sqldb"
	"palmares/internal/synthetic"
	"palmares/internal/webhook"
)

// insertDelivered inserts n finished deliveries to an endpoint.
func insertDelivered(b *testing.B, s *kit, endpointID string, n int) {
	b.Helper()
	err := s.SQL.Write(b.Context(), func(tx *sql.Tx) error {
		_, err := tx.ExecContext(b.Context(), `
			WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $1)
			INSERT INTO deliveries (`+deliveryTable.List()+`)
			SELECT 'dlv_0000000000000000000' || (10000000 + i), $2, i, 'evt_0000000000000000000' || (10000000 + i), 'tool.updated', 'event', 'delivered', $3, '', '', 0, ''
			FROM n`, n, endpointID, sqldb.FormatTime(day(-1)))
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
}

// BenchmarkDeliveries shows that a million finished deliveries slow down neither a claim
// nor a page of deliveries, and what it costs to publish for ten endpoints:
// go test -run - -bench Deliveries -benchtime 200x ./internal/accountdb
func BenchmarkDeliveries(b *testing.B) {
	const finished, tools = 1_000_000, 20_000
	for _, kind := range []string{"sqlite", "postgres"} {
		dsn := "sqlite:" + filepath.Join(b.TempDir(), "palmares.db")
		if kind == "postgres" {
			dsn = databases.Postgres(b)
		}
		s := open(b, dsn)
		a, err := s.Accounts.Create(b.Context(), "ada@example.org", account.Pro, monday)
		if err != nil {
			b.Fatal(err)
		}
		var w webhook.Endpoint
		for range 10 {
			w = endpoint(b, s, a.ID)
		}
		insertDelivered(b, s, w.ID, finished) // all of one endpoint, the worst case
		start := time.Now()
		p := publish(b, s, synthetic.Catalog(tools, 1), monday)
		took := time.Since(start)
		b.Run(kind+"/publish", func(b *testing.B) {
			b.ReportMetric(float64(10*p.Sequence), "deliveries")
			b.ReportMetric(took.Seconds(), "s")
		})

		b.Run(kind+"/claim one", func(b *testing.B) {
			for range b.N {
				c := claim(b, s, monday, 1)
				b.StopTimer()
				finish(b, s, c[0], success(monday))
				b.StartTimer()
			}
		})
		b.Run(kind+"/claim and finish 32", func(b *testing.B) {
			for range b.N {
				for _, c := range claim(b, s, monday, 32) {
					finish(b, s, c, success(monday))
				}
			}
		})
		b.Run(kind+"/nothing due", func(b *testing.B) {
			for range b.N {
				if c := claim(b, s, day(-2), 32); len(c) > 0 {
					b.Fatal(len(c))
				}
			}
		})
		for _, f := range []DeliveryFilter{{}, {State: webhook.Pending}, {State: webhook.Failed}, {Type: catalog.ToolRemoved}} {
			b.Run(fmt.Sprintf("%s/list %q %q", kind, f.State, f.Type), func(b *testing.B) {
				for range b.N {
					if _, err := s.Deliveries.List(b.Context(), account.AnyOwner(), w.ID, f); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
