package webhook

import (
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Figures are the metrics that the store provides.
type Figures struct {
	OldestDue time.Duration // age of the oldest due delivery of an active endpoint; 0 if none is due
	Endpoints map[State]int // FailingNow and not Active if the last attempt failed
}

// FailingNow is a state in the metrics only.
const FailingNow State = "failing"

// metrics are the figures of a dispatcher. It refreshes the store's figures periodically, so
// that a scrape does not query the database.
type metrics struct {
	attempts  *prometheus.CounterVec
	figures   *atomic.Pointer[Figures] // pointing to nil if unknown
	oldest    *prometheus.Desc
	endpoints *prometheus.Desc
}

func newMetrics() metrics {
	m := metrics{
		attempts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "palmares_webhook_attempts_total",
			Help: "Attempts to deliver a webhook made by this process, by outcome.",
		}, []string{"outcome"}),
		figures: new(atomic.Pointer[Figures]),
		oldest: prometheus.NewDesc("palmares_webhook_oldest_due_seconds", "How long the oldest due delivery of an "+
			"active endpoint has waited; 0 when none is due.", nil, nil),
		endpoints: prometheus.NewDesc("palmares_webhook_endpoints", "Endpoints, by state.", []string{"state"}, nil),
	}
	for _, outcome := range []Outcome{OK, HTTPStatus, Timeout, Resolve, Connect, TLS, Blocked, Secret} {
		m.attempts.WithLabelValues(string(outcome)) // at 0 from the start, so that the first failure is an increase
	}
	return m
}

// Describe implements prometheus.Collector.
func (d *Dispatcher) Describe(out chan<- *prometheus.Desc) {
	d.metrics.attempts.Describe(out)
	out <- d.metrics.oldest
	out <- d.metrics.endpoints
}

// Collect implements prometheus.Collector.
func (d *Dispatcher) Collect(out chan<- prometheus.Metric) {
	d.metrics.attempts.Collect(out)
	f := d.metrics.figures.Load()
	if f == nil {
		return
	}
	out <- prometheus.MustNewConstMetric(d.metrics.oldest, prometheus.GaugeValue, f.OldestDue.Seconds())
	for _, state := range []State{Active, FailingNow, Paused, Suspended, Disabled} {
		out <- prometheus.MustNewConstMetric(d.metrics.endpoints, prometheus.GaugeValue, float64(f.Endpoints[state]),
			string(state))
	}
}
