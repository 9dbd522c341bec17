package mail

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// fakeOutbox holds one mail, as the store would.
type fakeOutbox struct {
	mu    sync.Mutex
	claim Claim
	due   time.Time // zero: there is no mail
	last  Verdict
	lost  error // what Finish returns
}

func (s *fakeOutbox) Claim(_ context.Context, now time.Time, _ int) ([]Claim, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.due.IsZero() || s.due.After(now) {
		return nil, nil
	}
	s.due = now.Add(Lease)
	return []Claim{s.claim}, nil
}

func (s *fakeOutbox) Finish(_ context.Context, _ Claim, v Verdict) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lost != nil {
		return s.lost
	}
	s.due, s.last = v.RetryAt, v
	s.claim.Attempts++
	return nil
}

func (*fakeOutbox) Begin(context.Context, Claim) error { return nil }

func (*fakeOutbox) Oldest(context.Context) (time.Time, error) { return time.Time{}, nil }

func (*fakeOutbox) Check(_ context.Context, r Request) error {
	if r.To == inOrder {
		return ErrObsolete
	}
	return nil
}

func (s *fakeOutbox) verdict() Verdict {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last
}

func outboxWith(k Kind, about string) *fakeOutbox {
	return &fakeOutbox{claim: Claim{ID: "mal_1", Request: Request{To: "ada@example.org", Kind: k, About: about}, CreatedAt: time.Now()}, due: time.Now()}
}

// running runs a queue on the outbox until the test cancels, which waits for its end.
func running(t *testing.T, s *fakeOutbox, send func(context.Context, Message) error) (stop func()) {
	t.Helper()
	q := testQueue(s, fakeContent{}, send)
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := q.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	return func() {
		cancel()
		wg.Wait()
	}
}

func TestAMailServerThatIsDownIsTriedOnSchedule(t *testing.T) {
	for _, c := range []struct {
		kind     Kind
		about    string
		attempts []string // how long after the request, to the second
		last     time.Duration
	}{
		{kind: SignIn, attempts: []string{"0s", "30s", "2m30s", "12m30s", "42m30s", "1h0m0s"}, last: time.Hour},
		{kind: PaymentFailed, about: "2026-12-06", attempts: []string{"0s", "30s", "2m30s", "12m30s", "42m30s", "1h42m30s", "2h42m30s"}, last: 72 * time.Hour},
	} {
		t.Run(string(c.kind), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := outboxWith(c.kind, c.about)
				begin := time.Now()
				var tries []time.Duration
				stop := running(t, s, func(context.Context, Message) error {
					tries = append(tries, time.Since(begin).Round(5*time.Second))
					return &Failure{Class: failedConnect}
				})
				time.Sleep(c.last + time.Hour)
				stop()
				var first []string
				for _, at := range tries[:min(len(tries), len(c.attempts))] {
					first = append(first, at.String())
				}
				if diff := cmp.Diff(c.attempts, first); diff != "" {
					t.Error(diff)
				}
				if last := tries[len(tries)-1]; last != c.last {
					t.Errorf("the last attempt was after %s, want %s", last, c.last)
				}
				if v := s.verdict(); !v.RetryAt.IsZero() || v.Failure != failedConnect {
					t.Errorf("in the end: %+v, want it given up", v)
				}
			})
		})
	}
}

func TestAMailThatNobodySentInTimeIsNotSentAtAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := outboxWith(SignIn, "")
		s.claim.CreatedAt = time.Now().Add(-2 * time.Hour)
		stop := running(t, s, func(context.Context, Message) error {
			t.Error("a link was sent two hours after it was asked for")
			return nil
		})
		synctest.Wait()
		stop()
		if v := s.verdict(); !v.RetryAt.IsZero() {
			t.Errorf("its verdict is %+v", v)
		}
	})
}

func TestTheEndOfTheProgramLetsAMailFinish(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := outboxWith(SignIn, "")
		stop := running(t, s, func(ctx context.Context, _ Message) error {
			select {
			case <-time.After(stopGrace - time.Second):
				return nil
			case <-ctx.Done():
				return &Failure{Class: failedTimeout}
			}
		})
		synctest.Wait()
		stop()
		if v := s.verdict(); v != (Verdict{}) || s.claim.Attempts != 1 {
			t.Errorf("a mail that took a little longer got the verdict %+v", v)
		}
	})
}

func TestTheEndOfTheProgramDoesNotWaitForAServerThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := outboxWith(SignIn, "")
		stop := running(t, s, func(ctx context.Context, _ Message) error {
			<-ctx.Done()
			return &Failure{Class: failedTimeout}
		})
		synctest.Wait()
		begin := time.Now()
		stop()
		if took := time.Since(begin); took != stopGrace {
			t.Errorf("the end took %s, want %s", took, stopGrace)
		}
		if v := s.verdict(); v.RetryAt.IsZero() || v.Failure != failedTimeout {
			t.Errorf("the mail got the verdict %+v, want it to be tried again", v)
		}
	})
}

func TestAMailIsNotSentAgainWhenItsOutcomeCanBeStoredWithinTheLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := outboxWith(SignIn, "")
		s.lost = errors.New("busy")
		sent := 0
		stop := running(t, s, func(context.Context, Message) error { sent++; return nil })
		time.Sleep(Lease / 2)
		s.mu.Lock()
		s.lost = nil
		s.mu.Unlock()
		time.Sleep(2 * Lease)
		stop()
		if sent != 1 || s.claim.Attempts != 1 {
			t.Errorf("sent %d times, %d outcomes stored; want one of each", sent, s.claim.Attempts)
		}
	})
}

func TestAServerThatHangsIsGivenUpWithinTheLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := outboxWith(SignIn, "")
		begin := time.Now()
		ended := make(chan time.Duration, 10)
		stop := running(t, s, func(ctx context.Context, _ Message) error {
			<-ctx.Done()
			ended <- time.Since(begin)
			return &Failure{Class: failedTimeout}
		})
		if took := <-ended; took != sendTimeout || took >= Lease {
			t.Errorf("it was given up after %s, want %s, before %s", took, sendTimeout, Lease)
		}
		synctest.Wait()
		stop()
	})
}

func TestAMailWhoseLinkCannotBeMadeIsTriedAgain(t *testing.T) {
	q := testQueue(&fakeOutbox{}, fakeContent{}, nil)
	c := Claim{Request: Request{Kind: SignIn}, CreatedAt: time.Now()}
	outcome, v := q.judge(c, errors.New("the database cannot be reached"))
	if outcome != retried || v.RetryAt.IsZero() || v.Failure != failedInternal {
		t.Errorf("%s, %+v", outcome, v)
	}
}

func TestAMailToFollowersThatTheServerMayHaveIsNotSentAgain(t *testing.T) {
	q := testQueue(&fakeOutbox{}, fakeContent{}, nil)
	for _, test := range []struct {
		kind    Kind
		failure *Failure
		want    string
	}{
		{News, &Failure{Class: failedTimeout, Unclear: true}, sent},
		{News, &Failure{Class: failedServer}, retried},
		{SignIn, &Failure{Class: failedTimeout, Unclear: true}, retried},
	} {
		outcome, _ := q.judge(Claim{Request: Request{Kind: test.kind}, CreatedAt: time.Now()}, test.failure)
		if outcome != test.want {
			t.Errorf("%s after %+v is %s, want %s", test.kind, test.failure, outcome, test.want)
		}
	}
}
