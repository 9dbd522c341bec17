package webhook

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"sync"
	"time"
)

const (
	// maxRequests is how many requests a node makes at once. An endpoint takes at most
	// MaxInFlight of them, and one that hangs soon only one, so it takes many dead
	// endpoints at the same moment to make the others wait.
	maxRequests = 256
	// pollEvery is how late a delivery may be that nobody announced.
	pollEvery = time.Second
	// recoverStep is how many events one step of a recovery looks at: few enough that
	// its transaction keeps nobody waiting.
	recoverStep   = 200
	tendEvery     = time.Hour
	figuresEvery  = 10 * time.Second
	settleAgain   = 500 * time.Millisecond // after the store refused an outcome
	settleTimeout = 5 * time.Second        // for a store that is stuck
	// stopWithin is the contract's 15 s for what is in flight, less what the process
	// needs to end.
	stopWithin = 14 * time.Second
)

// A Queue holds the deliveries that any number of nodes send. The store's Deliveries is
// one.
type Queue interface {
	// Claim leases at most limit deliveries that are due, shared fairly among endpoints.
	Claim(ctx context.Context, now time.Time, lease time.Duration, limit int) ([]Claim, error)
	// Finish stores the outcome of a claim. It does nothing if the lease has ended and
	// another node has claimed the delivery.
	Finish(ctx context.Context, c Claim, v Verdict) error
	// RunRecovery makes one step of the oldest recovery that is not done, over at most
	// limit events, and reports whether there is more to do.
	RunRecovery(ctx context.Context, now time.Time, limit int) (more bool, err error)
	// Prune removes events and finished deliveries from before a time.
	Prune(ctx context.Context, before time.Time) error
	// Figures returns the queue's part of the metrics.
	Figures(ctx context.Context, now time.Time) (Figures, error)
}

// Config is what a Dispatcher works with. All fields are required unless they say
// otherwise.
type Config struct {
	Queue   Queue
	Secrets Secrets // resealed with the first key of Sealer
	Sealer  Sealer  // the keys of --secret-key

	Allow    []netip.Prefix // networks that --webhook-allow opens; nil: none
	Schedule Schedule       // nil: DefaultSchedule
	Timeout  time.Duration  // of a request; its lease is twice as long; 0: AnswerWithin
	Now      func() time.Time
	Log      *slog.Logger
}

// A Dispatcher sends deliveries, on any number of nodes at once. Make it with
// NewDispatcher and call Run once.
type Dispatcher struct {
	cfg     Config
	sender  *sender
	metrics metrics
	wake    chan struct{}
	slots   chan struct{} // one element for each request in flight
	poll    time.Duration // pollEvery, but for tests that live through days
	work    sync.WaitGroup
}

// NewDispatcher returns a dispatcher that does nothing before Run. It panics if a
// required field of cfg is not set.
func NewDispatcher(cfg Config) *Dispatcher {
	if cfg.Queue == nil || cfg.Secrets == nil || len(cfg.Sealer.keys) == 0 || cfg.Now == nil || cfg.Log == nil {
		panic("webhook: a required field of Config is not set")
	}
	if cfg.Schedule == nil {
		cfg.Schedule = DefaultSchedule()
	}
	if cfg.Timeout == 0 {
		cfg.Timeout = AnswerWithin
	}
	return &Dispatcher{
		cfg:     cfg,
		sender:  newSender(cfg.Allow, cfg.Sealer, cfg.Timeout, cfg.Now),
		metrics: newMetrics(),
		wake:    make(chan struct{}, 1),
		slots:   make(chan struct{}, maxRequests),
		poll:    pollEvery,
	}
}

// Wake tells that there may be something due, rather than wait for the next poll.
// It never blocks, and several calls may count as one.
func (d *Dispatcher) Wake() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// Run sends what is due until ctx ends, then finishes the requests in flight, in
// stopWithin at most. What is cut off then has no outcome: its lease ends and
// another process repeats it. A store that is away is logged and asked again, so
// the error is always nil.
func (d *Dispatcher) Run(ctx context.Context) error {
	outlast, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	var loops sync.WaitGroup
	loops.Go(func() { d.tend(ctx) })
	d.dispatch(ctx, outlast)
	last := time.AfterFunc(stopWithin, cut)
	defer last.Stop()
	loops.Wait()
	d.work.Wait()
	d.sender.transport.CloseIdleConnections()
	return nil
}

// dispatch claims as much as there is room for, each time there may be something:
// every second, when woken, and when a request has ended, for its endpoint may
// have had its share in flight.
func (d *Dispatcher) dispatch(ctx, outlast context.Context) {
	trouble := trouble{log: d.cfg.Log, what: "due webhook deliveries cannot be claimed"}
	ticker := time.NewTicker(d.poll)
	defer ticker.Stop()
	for ctx.Err() == nil {
		// Only this loop fills slots, so what is free now stays free.
		if free := cap(d.slots) - len(d.slots); free > 0 {
			claims, err := d.cfg.Queue.Claim(ctx, d.cfg.Now(), 2*d.cfg.Timeout, free)
			trouble.report(ctx, err)
			for _, c := range claims {
				d.slots <- struct{}{}
				d.work.Go(func() {
					defer d.Wake()
					defer func() { <-d.slots }()
					d.deliver(outlast, c)
				})
			}
		}
		select {
		case <-ctx.Done():
		case <-ticker.C:
		case <-d.wake:
		}
	}
}

// deliver makes one attempt and writes what came of it.
func (d *Dispatcher) deliver(ctx context.Context, c Claim) {
	result := d.sender.send(ctx, c)
	if ctx.Err() != nil {
		return // cut off by the end of the process: no outcome
	}
	verdict := Judge(c.Attempt, result, d.cfg.Schedule, rand.Float64())
	d.metrics.attempts.WithLabelValues(string(result.Outcome)).Inc()
	log := d.cfg.Log.With("delivery", c.DeliveryID, "endpoint", c.EndpointID, "attempt", c.Attempt)
	if result.Outcome == Secret {
		log.Error("a webhook cannot be signed, as its endpoint's secret is sealed under a key that is not among those of --secret-key")
	} else {
		log.Debug("a webhook was sent", "outcome", result.Outcome, "status", result.Status, "duration", result.Duration)
	}
	if err := d.settle(ctx, c, verdict); err != nil {
		log.Warn("the outcome of a webhook could not be stored, so it will be sent again", "outcome", result.Outcome, "error", err)
	}
}

// settle tries for as long as the lease lasts: after that another node may have
// sent the delivery, and the outcome belongs to a claim that is over.
func (d *Dispatcher) settle(ctx context.Context, c Claim, v Verdict) error {
	for {
		once, cancel := context.WithTimeout(ctx, settleTimeout)
		err := d.cfg.Queue.Finish(once, c, v)
		cancel()
		if err == nil || !d.cfg.Now().Add(settleAgain).Before(c.LeaseEnd) {
			return err
		}
		if !pause(ctx, settleAgain) {
			return errors.Join(err, ctx.Err())
		}
	}
}

// pause waits, and tells whether ctx let it.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// tend does what is not sending: recoveries step by step, figures, and once an
// hour what removes and seals anew. It is apart from dispatch so that a slow step
// delays nothing that is due.
func (d *Dispatcher) tend(ctx context.Context) {
	recovery := trouble{log: d.cfg.Log, what: "webhook recoveries cannot be made"}
	figures := trouble{log: d.cfg.Log, what: "the webhook figures cannot be read"}
	hourly := trouble{log: d.cfg.Log, what: "old webhook deliveries cannot be removed, or secrets not be sealed anew"}
	var tended, counted time.Time
	for ctx.Err() == nil {
		now := d.cfg.Now()
		if now.Sub(tended) >= tendEvery {
			tended = now
			hourly.report(ctx, errors.Join(d.reseal(ctx), d.cfg.Queue.Prune(ctx, now.Add(-Keep))))
		}
		more, err := d.cfg.Queue.RunRecovery(ctx, now, recoverStep)
		recovery.report(ctx, err)
		if now.Sub(counted) >= figuresEvery {
			counted = now
			f, err := d.cfg.Queue.Figures(ctx, now)
			figures.report(ctx, err)
			if err == nil {
				d.metrics.figures.Store(&f)
			} else {
				d.metrics.figures.Store(nil) // a gap in the chart is truer than an old figure
			}
		}
		if more && err == nil {
			d.Wake()
		} else {
			pause(ctx, d.poll)
		}
	}
}

func (d *Dispatcher) reseal(ctx context.Context) error {
	resealed, err := d.cfg.Sealer.Reseal(ctx, d.cfg.Secrets)
	if resealed > 0 {
		d.cfg.Log.Info("webhook secrets were resealed with the first key of --secret-key", "resealed", resealed)
	}
	return err
}

// trouble logs the beginning and the end of something that goes wrong again and
// again, not each time that it does.
type trouble struct {
	log  *slog.Logger
	what string
	on   bool
}

func (t *trouble) report(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return // what fails because the process ends is no trouble
	}
	switch {
	case err != nil && !t.on:
		t.log.Error(t.what+"; this is tried again until it works", "error", err)
	case err == nil && t.on:
		t.log.Info("this is over: " + t.what)
	}
	t.on = err != nil
}
