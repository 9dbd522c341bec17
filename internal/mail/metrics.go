package mail

import (
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// The outcomes of an attempt.
const (
	sent     = "sent"
	retried  = "retried"  // it failed and will be retried
	refused  = "refused"  // the mail server rejects it for good
	expired  = "expired"  // it could not be sent while it was useful
	obsolete = "obsolete" // there was no reason to send it any more
)

// metrics are the figures of a queue.
type metrics struct {
	mails  *prometheus.CounterVec
	age    prometheus.GaugeFunc
	oldest *atomic.Pointer[time.Time]
}

func newMetrics(now func() time.Time) metrics {
	m := metrics{
		mails: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "palmares_mails_total",
			Help: "Attempts to send mails by this node, by kind and outcome.",
		}, []string{"kind", "outcome"}),
		oldest: new(atomic.Pointer[time.Time]),
	}
	m.age = prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "palmares_mail_oldest_seconds",
		Help: "How long the oldest mail of all nodes has been waiting to be sent; 0 when none is waiting.",
	}, func() float64 {
		oldest := m.oldest.Load()
		if oldest == nil || oldest.IsZero() {
			return 0
		}
		return max(0, now().Sub(*oldest).Seconds())
	})
	return m
}

// Describe implements prometheus.Collector.
func (m metrics) Describe(ch chan<- *prometheus.Desc) {
	m.mails.Describe(ch)
	m.age.Describe(ch)
}

// Collect implements prometheus.Collector.
func (m metrics) Collect(ch chan<- prometheus.Metric) {
	m.mails.Collect(ch)
	m.age.Collect(ch)
}
