package mail

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"palmares/internal/webhook"
)

// An Outbox holds the mails that any number of nodes send. The store's Mails implements it.
type Outbox interface {
	// Claim leases at most limit mails that are due.
	Claim(ctx context.Context, now time.Time, limit int) ([]Claim, error)
	// Begin notes that a claimed mail is about to be handed over. ErrObsolete: another has it.
	Begin(ctx context.Context, c Claim) error
	// Finish stores the outcome of a claim.
	Finish(ctx context.Context, c Claim, v Verdict) error
	// Oldest returns when the oldest waiting mail was queued, the zero time for none.
	Oldest(ctx context.Context) (time.Time, error)
	// Check returns ErrObsolete if a mail about payments or the plan is no longer true.
	Check(ctx context.Context, r Request) error
}

// Content provides what is known only when a mail is sent. All methods return
// ErrObsolete if there is no reason to send it any more.
type Content interface {
	// Link creates the link of a mail. One that does not arrive expires unused.
	Link(ctx context.Context, r Request) (string, error)
	// Endpoint finds a webhook endpoint.
	Endpoint(ctx context.Context, id string) (webhook.Endpoint, error)
	// Copy finds the working copy that a mail is about.
	Copy(ctx context.Context, r Request) (Copy, error)
	// Bulletin finds what somebody who follows something is told.
	Bulletin(ctx context.Context, r Request) (Bulletin, error)
	// Reports finds the reports of readers that a mail is about, and how many more there are.
	Reports(ctx context.Context, r Request) ([]Report, int, error)
}

// A Transport delivers mails: a Sender or a LogSender.
type Transport interface {
	Send(ctx context.Context, m Message) error
}

// Config is what a queue works with. All fields are required.
type Config struct {
	Outbox    Outbox
	Content   Content
	Transport Transport
	BaseURL   string        // without a final slash
	Name      func() string // of the catalogue, which signs
	Now       func() time.Time
	Log       *slog.Logger
}

const (
	pollEvery     = time.Second      // for mails that another node queued, and for retries
	gaugeEvery    = 10 * time.Second // how often the oldest mail is looked up
	parallel      = 4                // mails at once: the smallest mail servers accept that many from one client
	stopGrace     = 8 * time.Second  // for mails being sent when Run ends
	finishTimeout = 5 * time.Second  // for storing an outcome once
	finishRetry   = time.Second      // after the store could not store one
)

// A Queue sends the mails of an outbox. NewQueue creates it, one goroutine calls Run,
// any number call Wake.
type Queue struct {
	cfg       Config
	templates map[Kind]templates
	wake      chan struct{}
	done      chan struct{} // a mail is finished
	working   sync.WaitGroup
	metrics

	// Only Run uses these.
	busy     int  // mails being sent
	failing  bool // the last claim failed
	measured time.Time
}

// NewQueue returns a queue. It panics if a field of cfg is not set.
func NewQueue(cfg Config) *Queue {
	if cfg.Outbox == nil || cfg.Content == nil || cfg.Transport == nil || cfg.BaseURL == "" || cfg.Name == nil ||
		cfg.Now == nil || cfg.Log == nil {
		panic("mail: a field of Config is not set")
	}
	return &Queue{
		cfg: cfg, templates: parseTemplates(), metrics: newMetrics(cfg.Now),
		wake: make(chan struct{}, 1), done: make(chan struct{}, parallel),
	}
}

// Wake makes the queue look for mails now instead of within a second. It never
// blocks.
func (q *Queue) Wake() {
	select {
	case q.wake <- struct{}{}:
	default: // it is about to look anyway
	}
}

// Run sends mails until ctx is done. Those being sent then have a few seconds to
// finish; the others are sent by another node or after the next start. It always
// returns nil: failures are logged and retried.
func (q *Queue) Run(ctx context.Context) error {
	// The end of the program does not interrupt a mail that the server is about to accept,
	// or it would be sent again.
	working, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	for ctx.Err() == nil {
		q.measure(ctx)
		q.round(ctx, working)
		select {
		case <-ctx.Done():
		case <-ticker.C:
		case <-q.wake:
		case <-q.done:
			q.busy--
		}
	}
	grace := time.AfterFunc(stopGrace, stop)
	defer grace.Stop()
	q.working.Wait()
	return nil
}

// round claims only as many mails as can be sent at once, so that no mail waits while
// its lease runs.
func (q *Queue) round(ctx, working context.Context) {
	if q.busy == parallel {
		return
	}
	claimed, err := q.cfg.Outbox.Claim(ctx, q.cfg.Now(), parallel-q.busy)
	q.report(ctx, err)
	for _, c := range claimed {
		q.busy++
		q.working.Go(func() {
			q.handle(working, c)
			q.done <- struct{}{} // has room for all
		})
	}
}

// report logs the first failure and the recovery, not every failure.
func (q *Queue) report(ctx context.Context, err error) {
	switch {
	case ctx.Err() != nil:
	case err != nil && !q.failing:
		q.cfg.Log.Error("mails are waiting: the store is unreachable", "error", err)
	case err == nil && q.failing:
		q.cfg.Log.Info("mails are sent again")
	}
	q.failing = err != nil
}

// measure looks up the oldest mail every gaugeEvery.
func (q *Queue) measure(ctx context.Context) {
	now := q.cfg.Now()
	if !q.measured.IsZero() && now.Sub(q.measured) < gaugeEvery {
		return
	}
	q.measured = now
	if oldest, err := q.cfg.Outbox.Oldest(ctx); err == nil { // the claim that follows reports the error
		q.oldest.Store(&oldest)
	}
}

// handle sends one mail and stores the outcome.
func (q *Queue) handle(ctx context.Context, c Claim) {
	log := q.cfg.Log.With("mail", c.ID, "kind", string(c.Kind), "to", Mask(c.To), "attempt", c.Attempts+1)
	leaseEnd := q.cfg.Now().Add(Lease)
	outcome, verdict := expired, Verdict{}
	if c.Begun {
		outcome, log = sent, log.With("unclear", "its node died before the server answered")
	} else if !q.cfg.Now().After(c.CreatedAt.Add(usefulFor(c.Kind) + Lease)) { // Lease is for the last attempt
		err := q.attempt(ctx, c)
		outcome, verdict = q.judge(c, err)
		if err != nil {
			// Our errors may contain the recipient's address; the log must not.
			log = log.With("error", strings.ReplaceAll(err.Error(), c.To, Mask(c.To)))
		}
	}
	switch outcome {
	case sent:
		log.Info("mail sent")
	case obsolete:
		log.Info("mail dropped: the reason for it is gone")
	case retried:
		log.Warn("mail not sent, will retry", "retry_at", verdict.RetryAt)
	case refused, expired:
		log.Error("mail not sent, giving up", "reason", outcome)
	}
	q.mails.WithLabelValues(string(c.Kind), outcome).Inc()

	if err := q.finish(ctx, c, verdict, leaseEnd); err != nil {
		log.Error("could not store the outcome of a mail: it may be sent again when its lease ends", "store", err)
	}
}

// finish stores an outcome, with retries while the lease lasts: after that another claim
// may have the mail. The end of the program interrupts the retries, not an attempt.
func (q *Queue) finish(ctx context.Context, c Claim, v Verdict, leaseEnd time.Time) error {
	retry := time.NewTicker(finishRetry)
	defer retry.Stop()
	for {
		once, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishTimeout)
		err := q.cfg.Outbox.Finish(once, c, v)
		cancel()
		if err == nil || !q.cfg.Now().Add(finishRetry).Before(leaseEnd) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-retry.C:
		}
	}
}

// attempt sends a mail.
func (q *Queue) attempt(ctx context.Context, c Claim) error {
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	m, err := q.write(ctx, c, q.cfg.Now())
	if err != nil {
		return err
	}
	if c.Kind == News {
		err = q.cfg.Outbox.Begin(ctx, c)
		if err != nil {
			return err
		}
	}
	return q.cfg.Transport.Send(ctx, m)
}

// judge decides from the error of an attempt what happens to the mail.
func (q *Queue) judge(c Claim, err error) (outcome string, v Verdict) {
	var failure *Failure
	switch {
	case err == nil:
		return sent, Verdict{}
	case errors.Is(err, ErrObsolete):
		return obsolete, Verdict{}
	case !errors.As(err, &failure):
		failure = &Failure{Class: failedInternal}
	case failure.Unclear && c.Kind == News:
		return sent, Verdict{}
	case failure.Permanent:
		return refused, Verdict{Failure: failure.Class, Bounced: failure.Bounce}
	}
	at, ok := retryAt(c, q.cfg.Now())
	if !ok {
		return expired, Verdict{Failure: failure.Class}
	}
	return retried, Verdict{RetryAt: at, Failure: failure.Class}
}

var _ prometheus.Collector = (*Queue)(nil)
