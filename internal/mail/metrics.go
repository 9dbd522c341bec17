package mail

import (
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// What may become of an attempt.
const (
	sent     = "sent"
	retried  = "retried"  // it failed and is tried again
	refused  = "refused"  // the mail server does not want it, ever
	expired  = "expired"  // it could not be handed over while it was of use
	obsolete = "obsolete" // there was nothing to write about any more
)

// figures are what an operator watches of a queue.
type figures struct {
	mails  *prometheus.CounterVec
	age    prometheus.GaugeFunc
	oldest *atomic.Pointer[time.Time]
}

func newFigures(now func() time.Time) figures {
	f := figures{
		mails: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "palmares_mails_total",
			Help: "Mails tried by this node, by kind and outcome.",
		}, []string{"kind", "outcome"}),
		oldest: new(atomic.Pointer[time.Time]),
	}
	f.age = prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "palmares_mail_oldest_seconds",
		Help: "How long the oldest mail of all nodes has been waiting to be handed over; 0 when none waits.",
	}, func() float64 {
		oldest := f.oldest.Load()
		if oldest == nil || oldest.IsZero() {
			return 0
		}
		return max(0, now().Sub(*oldest).Seconds())
	})
	return f
}

// Describe and Collect make a queue something that a registry takes.
func (f figures) Describe(ch chan<- *prometheus.Desc) {
	f.mails.Describe(ch)
	f.age.Describe(ch)
}

// Collect gives the figures of the moment.
func (f figures) Collect(ch chan<- prometheus.Metric) {
	f.mails.Collect(ch)
	f.age.Collect(ch)
}
