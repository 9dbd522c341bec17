package webhook

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/netip"
	"sync"
	"time"

	"palmares/internal/vault"
)

const (
	// maxRequests is how many requests a node sends at once. An endpoint uses at most
	// MaxInFlight of them, and one that hangs soon only one, so only many dead endpoints
	// at the same time delay the others.
	maxRequests = 256
	// pollEvery limits the delay of a delivery for which Wake was not called.
	pollEvery = time.Second
	// recoverStep is how many events one step of a recovery examines: few enough that
	// its transaction does not delay others.
	recoverStep   = 200
	pruneEvery    = time.Hour
	figuresEvery  = 10 * time.Second
	finishRetry   = 500 * time.Millisecond // after the store could not store an outcome
	finishTimeout = 5 * time.Second        // for a store that hangs
	// finishFor is how long storing an outcome is retried. It may take longer than the
	// lease: a large publication has SQLite to itself.
	finishFor = time.Hour
	// interruptAfter is how long a process that ends waits for receivers: most answer within
	// a second, and whoever hangs must not delay its successor.
	interruptAfter = time.Second
	// stopWithin is how long such a process takes to store outcomes, and to give back what
	// it has interrupted.
	stopWithin = 5 * time.Second
)

// A Queue holds the deliveries that any number of nodes send. The store's Deliveries
// implements it.
type Queue interface {
	// Claim leases at most limit deliveries that are due, shared fairly among endpoints.
	Claim(ctx context.Context, now time.Time, lease time.Duration, limit int) ([]Claim, error)
	// Finish stores the outcome of a claim. It does nothing if the lease has ended and
	// another node has claimed the delivery.
	Finish(ctx context.Context, c Claim, v Verdict) error
	// RunRecovery makes one step of the oldest recovery that is not done, over at most
	// limit events, and reports whether there is more to do.
	RunRecovery(ctx context.Context, now time.Time, limit int) (more bool, err error)
	// Sweep makes one step of removing what belonged to deleted endpoints, and reports
	// whether there is more to do.
	Sweep(ctx context.Context) (more bool, err error)
	// Prune removes events and finished deliveries from before a time.
	Prune(ctx context.Context, before time.Time) error
	// Figures returns the queue's part of the metrics.
	Figures(ctx context.Context, now time.Time) (Figures, error)
}

// Config is what a Dispatcher works with. All fields are required unless they say
// otherwise.
type Config struct {
	Queue   Queue
	Secrets vault.Secrets // of the database; sealed again with the first key of Sealer
	Sealer  vault.Sealer  // the keys of --secret-key

	Allow    []netip.Prefix // private networks that --webhook-allow allows, nil for none
	Schedule Schedule       // nil for DefaultSchedule
	Timeout  time.Duration  // of a request, 0 for RequestTimeout; its lease is twice as long
	Now      func() time.Time
	// ClockWrong reports whether Now cannot be trusted: signatures and leases need the time.
	// Meanwhile nothing is sent. nil for never.
	ClockWrong func() bool
	Log        *slog.Logger
}

// A Dispatcher sends deliveries, on any number of nodes at once. NewDispatcher creates
// it, one goroutine calls Run.
type Dispatcher struct {
	cfg     Config
	sender  *sender
	metrics metrics
	wake    chan struct{}
	slots   chan struct{} // one element for each request in flight
	work    sync.WaitGroup

	mu   sync.Mutex
	held map[string]Claim // by delivery: those being sent or whose outcome is being stored
}

// NewDispatcher returns a dispatcher that does nothing before Run. It panics if a
// required field of cfg is not set.
func NewDispatcher(cfg Config) *Dispatcher {
	if cfg.Queue == nil || cfg.Now == nil || cfg.Log == nil {
		panic("webhook: a required field of Config is not set")
	}
	if cfg.Schedule == nil {
		cfg.Schedule = DefaultSchedule()
	}
	if cfg.Timeout == 0 {
		cfg.Timeout = RequestTimeout
	}
	return &Dispatcher{
		cfg:     cfg,
		sender:  newSender(cfg.Allow, cfg.Sealer, cfg.Timeout, cfg.Now),
		metrics: newMetrics(),
		wake:    make(chan struct{}, 1),
		slots:   make(chan struct{}, maxRequests),
		held:    map[string]Claim{},
	}
}

// Wake makes the dispatcher look for due deliveries now instead of at the next poll.
// It never blocks, and several calls may count as one.
func (d *Dispatcher) Wake() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// Run sends due deliveries until ctx is done, then waits for the requests in flight, for
// interruptAfter at most. Requests interrupted then have no outcome: their deliveries are
// due again, and another process repeats them. It always returns nil: failures of the
// store are logged and retried.
func (d *Dispatcher) Run(ctx context.Context) error {
	storing, giveUp := context.WithCancel(context.WithoutCancel(ctx))
	defer giveUp()
	sending, interrupt := context.WithCancel(storing)
	defer interrupt()
	var loops sync.WaitGroup
	loops.Go(func() { d.maintain(ctx) })
	d.dispatch(ctx, sending, storing)
	defer time.AfterFunc(interruptAfter, interrupt).Stop()
	defer time.AfterFunc(stopWithin, giveUp).Stop()
	loops.Wait()
	d.work.Wait()
	d.sender.transport.CloseIdleConnections()
	return nil
}

// dispatch claims as many deliveries as there are free slots: every second, when
// woken, and when a request has ended, since its endpoint may have had its maximum in
// flight.
func (d *Dispatcher) dispatch(ctx, sending, storing context.Context) {
	claiming := problem{log: d.cfg.Log, what: "due webhook deliveries cannot be claimed"}
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	for ctx.Err() == nil {
		// Only this loop fills slots, so what is free now stays free.
		free := cap(d.slots) - len(d.slots)
		if free > 0 && (d.cfg.ClockWrong == nil || !d.cfg.ClockWrong()) {
			held := d.allHeld() // before the claim: an outcome may be stored right after it
			claims, err := d.cfg.Queue.Claim(ctx, d.cfg.Now(), 2*d.cfg.Timeout, free)
			claiming.report(ctx, err)
			for _, c := range claims {
				if _, sent := held[c.DeliveryID]; sent {
					d.renew(c)
					continue
				}
				d.hold(c)
				d.slots <- struct{}{}
				d.work.Go(func() {
					defer d.Wake()
					defer func() { <-d.slots }()
					d.deliver(sending, storing, c)
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

// deliver makes one attempt, unless sending is done, and stores its outcome, unless storing is.
func (d *Dispatcher) deliver(sending, storing context.Context, c Claim) {
	defer d.release(c.DeliveryID)
	result := d.sender.send(sending, c)
	if sending.Err() != nil && result.Outcome != OK {
		// It is due at once, or when its lease ends.
		due := Verdict{State: Pending, Untried: true, NextAt: wholeMillisecond(d.cfg.Now())}
		if err := d.finish(storing, c.DeliveryID, due); err != nil {
			d.cfg.Log.Warn("could not give back a webhook that was under way: it waits for its lease to end",
				"delivery", c.DeliveryID, "endpoint", c.EndpointID, "error", err)
		}
		return
	}
	verdict := Judge(c.Attempt, result, d.cfg.Schedule, rand.Float64())
	d.metrics.attempts.WithLabelValues(string(result.Outcome)).Inc()
	log := d.cfg.Log.With("delivery", c.DeliveryID, "endpoint", c.EndpointID, "attempt", c.Attempt)
	if result.Outcome == Secret {
		log.Error("cannot sign a webhook: the endpoint's secret is sealed with a key that is not in --secret-key")
	} else {
		log.Debug("webhook sent", "outcome", result.Outcome, "status", result.Status, "duration", result.Duration)
	}
	if err := d.finish(storing, c.DeliveryID, verdict); err != nil {
		log.Warn("could not store the outcome of a webhook: it will be sent again",
			"outcome", result.Outcome, "error", err)
	}
}

// finish stores an outcome, with retries: a delivery that was received must not be sent
// again because the store was busy.
func (d *Dispatcher) finish(ctx context.Context, deliveryID string, v Verdict) error {
	last := d.cfg.Now().Add(finishFor)
	for {
		once, cancel := context.WithTimeout(ctx, finishTimeout)
		err := d.cfg.Queue.Finish(once, d.allHeld()[deliveryID], v)
		cancel()
		if err == nil || d.cfg.Now().After(last) {
			return err
		}
		if !pause(ctx, finishRetry) {
			return errors.Join(err, ctx.Err())
		}
	}
}

// allHeld returns the claims whose outcome is not stored yet.
func (d *Dispatcher) allHeld() map[string]Claim {
	d.mu.Lock()
	defer d.mu.Unlock()
	return maps.Clone(d.held)
}

func (d *Dispatcher) hold(c Claim) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.held[c.DeliveryID] = c
}

// renew replaces the claim of a delivery whose lease ended before its outcome was stored,
// so that the outcome is stored under the new lease and the delivery is not sent again.
func (d *Dispatcher) renew(c Claim) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, held := d.held[c.DeliveryID]; held {
		d.held[c.DeliveryID] = c
	}
}

func (d *Dispatcher) release(deliveryID string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.held, deliveryID)
}

// pause waits for d and reports whether ctx is still alive.
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

// maintain runs recoveries and deletions step by step, refreshes the figures, and once an hour
// prunes and reseals. It is a loop of its own so that a slow step delays no delivery.
func (d *Dispatcher) maintain(ctx context.Context) {
	recovery := problem{log: d.cfg.Log, what: "webhook recoveries fail"}
	sweeping := problem{log: d.cfg.Log, what: "deliveries of deleted webhook endpoints cannot be removed"}
	figures := problem{log: d.cfg.Log, what: "the webhook metrics cannot be read"}
	hourly := problem{log: d.cfg.Log, what: "old webhook deliveries cannot be removed, or secrets cannot be resealed"}
	var pruned, counted time.Time
	started := d.cfg.Now()
	for ctx.Err() == nil {
		now := d.cfg.Now()
		if now.Sub(pruned) >= pruneEvery {
			pruned = now
			// A clock that jumps while this process runs deletes nothing: the time that has passed is
			// that of the monotonic clock.
			lived := started.Add(now.Sub(started))
			hourly.report(ctx, errors.Join(d.reseal(ctx), d.cfg.Queue.Prune(ctx, lived.Add(-Keep))))
		}
		more, err := d.cfg.Queue.RunRecovery(ctx, now, recoverStep)
		recovery.report(ctx, err)
		swept, sweepErr := d.cfg.Queue.Sweep(ctx)
		sweeping.report(ctx, sweepErr)
		if now.Sub(counted) >= figuresEvery {
			counted = now
			f, err := d.cfg.Queue.Figures(ctx, now)
			figures.report(ctx, err)
			if err == nil {
				d.metrics.figures.Store(&f)
			} else {
				d.metrics.figures.Store(nil) // a gap in the chart is better than a stale value
			}
		}
		if more && err == nil {
			d.Wake()
		}
		if err != nil || sweepErr != nil || !more && !swept {
			pause(ctx, pollEvery)
		}
	}
}

func (d *Dispatcher) reseal(ctx context.Context) error {
	resealed, err := d.cfg.Sealer.Reseal(ctx, d.cfg.Secrets)
	if resealed > 0 {
		d.cfg.Log.Info("secrets were resealed with the first key of --secret-key", "resealed", resealed)
	}
	return err
}

// A problem is logged when it begins and when it ends, not on every failure.
type problem struct {
	log  *slog.Logger
	what string
	on   bool
}

func (p *problem) report(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return // the process ends
	}
	switch {
	case err != nil && !p.on:
		p.log.Error(p.what+"; retrying", "error", err)
	case err == nil && p.on:
		p.log.Info("resolved: " + p.what)
	}
	p.on = err != nil
}
