package webhook_test

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"palmares/internal/account"
	"palmares/internal/catalogdb"
	"palmares/internal/synthetic"
	"palmares/internal/testkit/testdb"
	"palmares/internal/webhook"
)

// BenchmarkOneHangingAmongHundred publishes to 100 endpoints that answer at once,
// on a real store and over real connections, alone and beside one that never
// answers. p99-ms is how long after the publication the events reached the 100.
func BenchmarkOneHangingAmongHundred(b *testing.B) {
	for _, hanging := range []int{0, 1} {
		b.Run(fmt.Sprintf("hanging=%d", hanging), func(b *testing.B) { benchmarkHanging(b, hanging) })
	}
}

func benchmarkHanging(b *testing.B, hanging int) {
	const answering = 100
	ctx := b.Context()
	release := make(chan struct{})
	arrived := make(chan time.Time, 100_000)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		if r.URL.Path == "/hanging" {
			<-release
			return
		}
		arrived <- time.Now()
	}))
	defer server.Close()

	s, err := testdb.Open(ctx, "sqlite:"+filepath.Join(b.TempDir(), "palmares.db"))
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	var owner account.Account
	for i := range answering + hanging {
		if i%webhook.MaxEndpoints == 0 {
			if owner, err = s.Accounts.Create(ctx, fmt.Sprintf("owner%d@example.com", i), account.Pro, time.Now()); err != nil {
				b.Fatal(err)
			}
		}
		path := fmt.Sprintf("/%d", i)
		if i >= answering {
			path = "/hanging"
		}
		if _, err := s.Endpoints.Create(ctx, owner.ID, server.URL+path, nil, func(id string) string { return sealer.Seal(id, testSecret) }, time.Now()); err != nil {
			b.Fatal(err)
		}
	}
	d := dispatcher(b, webhook.Config{Queue: s.Deliveries, Allow: loopback, Log: slog.New(slog.DiscardHandler)})
	defer run(b, d)()
	defer close(release)

	var waits []time.Duration
	var seed uint64
	var sequence int64
	for b.Loop() {
		seed++
		published, err := s.Catalogue.Publish(ctx, synthetic.Catalog(2, seed), catalogdb.PublishOptions{Now: time.Now, AllowRemovals: true})
		if err != nil {
			b.Fatal(err)
		}
		start := time.Now()
		d.Wake()
		for range answering * (published.Sequence - sequence) {
			waits = append(waits, (<-arrived).Sub(start))
		}
		sequence = published.Sequence
	}
	slices.Sort(waits)
	b.ReportMetric(float64(waits[len(waits)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(waits[len(waits)*99/100].Microseconds())/1000, "p99-ms")
	b.ReportMetric(float64(len(waits))/float64(b.N), "deliveries/op")
}
