package webhook_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"palmares/internal/vault"
	"palmares/internal/webhook"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const inURL = "http://127.0.0.1/in"

// queueing makes a dispatcher of an empty queue.
func queueing(t testing.TB, cfg webhook.Config) (*queue, *webhook.Dispatcher) {
	t.Helper()
	q := &queue{}
	cfg.Queue = q
	cfg.Allow = loopback
	return q, dispatcher(t, cfg)
}

func TestADeliveryThatFailsIsTriedTenTimesAtTheContractsTimesAndNoneIsEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, d := queueing(t, webhook.Config{})
		r, close := receive(t, d, answering(http.StatusInternalServerError))
		stop := run(t, d)
		delivery := q.add(claim(inURL))
		time.Sleep(4 * 24 * time.Hour) // the schedule takes 76 to 83 hours
		stop()
		close()

		requests := r.seen()
		if len(requests) != 10 {
			t.Fatalf("%d attempts", len(requests))
		}
		for i, delay := range webhook.DefaultSchedule()[1:] {
			// The jitter, and the second until the next poll.
			latest := delay + delay/10 + time.Second
			if got := requests[i+1].at.Sub(requests[i].at); got < delay || got > latest {
				t.Errorf("attempt %d came %s after the one before, which is not within %s and %s", i+2, got, delay, latest)
			}
			if requests[i+1].body != testBody || requests[i+1].header.Get("webhook-id") != testEvent {
				t.Errorf("attempt %d has other bytes or another id", i+2)
			}
			if requests[i+1].header.Get("webhook-timestamp") != fmt.Sprint(requests[i+1].at.Unix()) {
				t.Errorf("attempt %d has the time of another", i+2)
			}
		}
		if got := q.look(delivery); got.state != webhook.Failed || len(got.attempts) != 10 {
			t.Errorf("%s after %d attempts", got.state, len(got.attempts))
		}
	})
}

func TestADeliveryGoesOutAtOnceWhenTheDispatcherIsWoken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, d := queueing(t, webhook.Config{})
		r, close := receive(t, d, answering(http.StatusNoContent))
		stop := run(t, d)
		time.Sleep(100 * time.Millisecond) // between two polls
		start := time.Now()
		delivery := q.add(claim(inURL))
		d.Wake()
		synctest.Wait()
		if requests := r.seen(); len(requests) != 1 || requests[0].at.Sub(start) != 0 {
			t.Errorf("%+v", requests)
		}
		if got := q.look(delivery); got.state != webhook.Delivered || got.attempts[0].Outcome != webhook.OK {
			t.Errorf("%+v", got)
		}
		stop()
		close()
	})
}

func TestAnAnswerThatDoesNotComeIsGivenUpAfter15Seconds(t *testing.T) {
	for what, answer := range map[string]http.HandlerFunc{
		"no answer": hanging,
		"half an answer": func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusOK)
			w.(http.Flusher).Flush()
			hanging(w, r)
		},
		"a byte every second": func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				io.WriteString(w, "x")
				w.(http.Flusher).Flush()
				time.Sleep(time.Second)
			}
		},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q, d := queueing(t, webhook.Config{})
				_, close := receive(t, d, answer)
				stop := run(t, d)
				delivery := q.add(claim(inURL))
				d.Wake()
				time.Sleep(16 * time.Second)
				got := q.look(delivery)
				if len(got.attempts) != 1 || got.attempts[0].Outcome != webhook.Timeout || got.attempts[0].Duration != 15*time.Second {
					t.Errorf("%+v", got.attempts)
				}
				stop()
				close()
			})
		})
	}
}

func TestAnEndpointThatHangsHasAtMostFourRequestsAndDelaysNobodyElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, d := queueing(t, webhook.Config{})
		r, close := receive(t, d, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/hanging" {
				hanging(w, r)
			}
		})
		stop := run(t, d)
		add := func(endpoint, path string) *queued {
			c := claim("http://127.0.0.1" + path)
			c.DeliveryID, c.EndpointID, c.Secret = fmt.Sprintf("dlv_%d", len(q.all)), endpoint, sealer.Seal(endpoint, testSecret)
			return q.add(c)
		}
		for range 50 {
			add("whk_hanging", "/hanging")
		}
		var others []*queued
		for i := range 100 {
			others = append(others, add(fmt.Sprintf("whk_%d", i), fmt.Sprintf("/%d", i)))
		}
		start := time.Now()
		d.Wake()
		synctest.Wait()
		for _, other := range others {
			if got := q.look(other); got.state != webhook.Delivered || !got.attempts[0].At.Equal(start) {
				t.Fatalf("an endpoint that does not hang was kept waiting: %+v", got)
			}
		}
		for range 60 {
			// A request that was given up is over here before its handler has noticed.
			synctest.Wait()
			if n := r.open("/hanging"); n != webhook.MaxInFlight {
				t.Errorf("%d requests at once to the endpoint that hangs", n)
			}
			time.Sleep(time.Second)
		}
		stop()
		close()
	})
}

func TestWhatWaitsForItsEndpointsShareGoesOutAsSoonAsARequestEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, d := queueing(t, webhook.Config{})
		r, close := receive(t, d, answering(http.StatusOK))
		stop := run(t, d)
		for i := range 50 {
			c := claim(inURL)
			c.DeliveryID = fmt.Sprintf("dlv_%d", i)
			q.add(c)
		}
		d.Wake()
		synctest.Wait() // no time passes, so no poll helps
		if n := len(r.seen()); n != 50 {
			t.Errorf("%d of 50 went out", n)
		}
		if most := r.atOnce("/in"); most > webhook.MaxInFlight {
			t.Errorf("%d requests at once", most)
		}
		stop()
		close()
	})
}

func TestAnOutcomeIsStoredWhenTheStoreComesBackWithinTheLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, d := queueing(t, webhook.Config{})
		r, close := receive(t, d, answering(http.StatusOK))
		stop := run(t, d)
		q.lose(errors.New("unreachable"))
		delivery := q.add(claim(inURL))
		time.Sleep(20 * time.Second)
		q.lose(nil)
		time.Sleep(time.Minute)
		if got := q.look(delivery); got.state != webhook.Delivered || len(r.seen()) != 1 {
			t.Errorf("%+v after %d requests", got, len(r.seen()))
		}
		stop()
		close()
	})
}

func TestADeliveryIsNotSentAgainWhenTheStoreIsBusyForLongerThanTheLease(t *testing.T) {
	for _, status := range []int{http.StatusOK, http.StatusInternalServerError} {
		synctest.Test(t, func(t *testing.T) {
			q, d := queueing(t, webhook.Config{Log: slog.New(slog.DiscardHandler), Schedule: webhook.Schedule{0, time.Hour}})
			r, close := receive(t, d, answering(status))
			stop := run(t, d)
			q.lose(errors.New("busy"))
			delivery := q.add(claim(inURL))
			time.Sleep(3*webhook.Lease + 10*time.Second)
			q.lose(nil)
			time.Sleep(time.Minute)
			if requests := r.seen(); len(requests) != 1 {
				t.Errorf("%d requests", len(requests))
			}
			if got := q.look(delivery); len(got.attempts) != 1 || got.attempts[0].Number != 1 || (got.state == webhook.Delivered) != (status == http.StatusOK) {
				t.Errorf("%+v", got)
			}
			stop()
			close()
		})
	}
}

func TestStoppingFinishesWhatIsInFlightAndStartsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, d := queueing(t, webhook.Config{})
		const answering = 900 * time.Millisecond
		r, close := receive(t, d, func(http.ResponseWriter, *http.Request) { time.Sleep(answering) })
		stop := run(t, d)
		delivery := q.add(claim(inURL))
		d.Wake()
		synctest.Wait()
		start := time.Now()
		later := claim(inURL)
		later.DeliveryID = "dlv_later"
		time.AfterFunc(answering/2, func() { q.add(later); d.Wake() })
		stop()
		if took := time.Since(start); took != answering {
			t.Errorf("the stop took %s", took)
		}
		if got := q.look(delivery); got.state != webhook.Delivered || len(r.seen()) != 1 {
			t.Errorf("%+v", got)
		}
		close()
	})
}

func TestStoppingGivesBackWhatHangsAndCountsNothing(t *testing.T) {
	for name, lost := range map[string]error{"": nil, " unless the store fails": errors.New("gone")} {
		t.Run("due at once"+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q, d := queueing(t, webhook.Config{})
				_, close := receive(t, d, hanging)
				stop := run(t, d)
				delivery := q.add(claim(inURL))
				d.Wake()
				synctest.Wait()
				q.lose(lost)
				start := time.Now()
				stop()
				if took := time.Since(start); took > 5*time.Second || lost == nil && took != time.Second {
					t.Errorf("the stop took %s", took)
				}
				got := q.look(delivery)
				if got.state != webhook.Pending || len(got.attempts) != 0 || got.leased.IsZero() != (lost == nil) || lost == nil && got.due.After(time.Now()) {
					t.Errorf("%+v", got)
				}
				close()
			})
		})
	}
}

func TestWithAWrongClockNothingIsSentAndNothingIsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var wrong atomic.Bool
		wrong.Store(true)
		q, d := queueing(t, webhook.Config{ClockWrong: wrong.Load})
		r, close := receive(t, d, answering(http.StatusOK))
		stop := run(t, d)
		delivery := q.add(claim(inURL))
		time.Sleep(time.Hour)
		if got := q.look(delivery); len(r.seen()) != 0 || got.state != webhook.Pending || len(got.attempts) != 0 || !got.leased.IsZero() {
			t.Errorf("with a wrong clock: %d requests, %+v", len(r.seen()), got)
		}
		wrong.Store(false)
		time.Sleep(time.Minute)
		if got := q.look(delivery); len(r.seen()) != 1 || got.state != webhook.Delivered {
			t.Errorf("with the right one: %d requests, %+v", len(r.seen()), got)
		}
		stop()
		close()
	})
}

func TestMaintenanceRunsWhenDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := &upkeepQueue{recoverySteps: 50}
		var reseals atomic.Int32
		d := dispatcher(t, webhook.Config{Queue: q, Secrets: vault.Secrets{countedSecrets{&reseals}}})
		start := time.Now()
		stop := run(t, d)
		synctest.Wait()
		if q.steps.Load() != 50 {
			t.Errorf("a recovery that has more to do was left after %d steps", q.steps.Load())
		}
		if q.prunes.Load() != 1 || reseals.Load() != 1 || !q.oldest.Load().Equal(start.Add(-webhook.Keep)) {
			t.Errorf("at the start: %d prunes before %s, %d reseals", q.prunes.Load(), q.oldest.Load(), reseals.Load())
		}
		time.Sleep(24*time.Hour + time.Minute)
		if q.prunes.Load() != 25 || reseals.Load() != 25 {
			t.Errorf("after a day: %d prunes, %d reseals", q.prunes.Load(), reseals.Load())
		}
		stop()
	})
}

// upkeepQueue is a queue without deliveries that counts the other calls.
type upkeepQueue struct {
	queue
	recoverySteps int32 // how many there are to make
	steps, prunes atomic.Int32
	oldest        atomic.Pointer[time.Time]
}

func (q *upkeepQueue) RunRecovery(context.Context, time.Time, int) (bool, error) {
	return q.steps.Add(1) < q.recoverySteps, nil
}

func (q *upkeepQueue) Prune(_ context.Context, before time.Time) error {
	q.prunes.Add(1)
	q.oldest.Store(&before)
	return nil
}

var errUnreachable = errors.New("the database is unreachable")

// failingQueue is a queue whose every method fails.
type failingQueue struct{}

func (failingQueue) Claim(context.Context, time.Time, time.Duration, int) ([]webhook.Claim, error) {
	return nil, errUnreachable
}

func (failingQueue) Finish(context.Context, webhook.Claim, webhook.Verdict) error {
	return errUnreachable
}

func (failingQueue) RunRecovery(context.Context, time.Time, int) (bool, error) {
	return true, errUnreachable
}

func (failingQueue) Sweep(context.Context) (bool, error) { return true, errUnreachable }

func (failingQueue) Prune(context.Context, time.Time) error { return errUnreachable }

func (failingQueue) Figures(context.Context, time.Time) (webhook.Figures, error) {
	return webhook.Figures{}, errUnreachable
}

// countedSecrets counts how often secrets are to be resealed.
type countedSecrets struct{ reads *atomic.Int32 }

func (s countedSecrets) SealedSecrets(context.Context) ([]vault.Sealed, error) {
	s.reads.Add(1)
	return nil, nil
}

func (countedSecrets) ReplaceSecret(context.Context, vault.Sealed, string) error { return nil }

func TestAnUnreachableStoreIsLoggedOnceAndAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		records := &counting{}
		d := dispatcher(t, webhook.Config{Log: slog.New(records), Queue: failingQueue{}})
		stop := run(t, d)
		time.Sleep(time.Hour / 2)
		if got := records.errors.Load(); got != 5 {
			t.Errorf("%d errors in the log, want one for each of the five things that fail", got)
		}
		if got := records.infos.Load(); got != 0 {
			t.Errorf("%d things said to be over", got)
		}
		stop()
	})
}

// counting is a log that counts.
type counting struct{ errors, infos atomic.Int32 }

func (*counting) Enabled(context.Context, slog.Level) bool { return true }
func (c *counting) WithAttrs([]slog.Attr) slog.Handler     { return c }
func (c *counting) WithGroup(string) slog.Handler          { return c }
func (c *counting) Handle(_ context.Context, r slog.Record) error {
	switch r.Level {
	case slog.LevelError:
		c.errors.Add(1)
	case slog.LevelInfo:
		c.infos.Add(1)
	}
	return nil
}

// figuresQueue is a queue with figures of its own.
type figuresQueue struct {
	queue
	figures webhook.Figures
}

func (q *figuresQueue) Figures(context.Context, time.Time) (webhook.Figures, error) {
	return q.figures, nil
}

func TestMetricsCountAttemptsByOutcomeTheOldestDueAndEndpointsByState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := &figuresQueue{figures: webhook.Figures{OldestDue: 90 * time.Second, Endpoints: map[webhook.State]int{webhook.Active: 3, webhook.Disabled: 1}}}
		d := dispatcher(t, webhook.Config{Queue: q, Allow: loopback})
		_, close := receive(t, d, answering(http.StatusNotFound))
		stop := run(t, d)
		q.add(claim(inURL))
		time.Sleep(10 * time.Second)
		stop()
		close()
		registry := prometheus.NewPedanticRegistry()
		registry.MustRegister(d)
		families, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]float64{}
		for _, family := range families {
			for _, m := range family.GetMetric() {
				name := family.GetName()
				for _, label := range m.GetLabel() {
					name += " " + label.GetName() + "=" + label.GetValue()
				}
				got[name] = m.GetCounter().GetValue() + m.GetGauge().GetValue()
			}
		}
		want := map[string]float64{
			"palmares_webhook_attempts_total outcome=http_status": 2,
			"palmares_webhook_oldest_due_seconds":                 90,
			"palmares_webhook_endpoints state=active":             3,
			"palmares_webhook_endpoints state=disabled":           1,
			"palmares_webhook_endpoints state=failing":            0,
			"palmares_webhook_endpoints state=paused":             0,
			"palmares_webhook_endpoints state=suspended":          0,
		}
		for _, outcome := range []string{"delivered", "timeout", "dns", "connection", "tls", "blocked", "secret"} {
			want["palmares_webhook_attempts_total outcome="+outcome] = 0
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("series: -want +got\n%s", diff)
		}
	})
}
