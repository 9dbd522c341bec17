package webhook_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"palmares/internal/webhook"
)

func TestWhatAnAttemptMakesOfItsEndpoint(t *testing.T) {
	at := time.Date(2026, 11, 16, 12, 0, 0, 0, time.UTC)
	minutes := func(n int) time.Time { return at.Add(time.Duration(n) * time.Minute) }
	since := minutes(-30)
	failed := webhook.Verdict{State: webhook.Failed}
	for name, test := range map[string]struct {
		before  webhook.Endpoint
		verdict webhook.Verdict
		want    webhook.Endpoint
	}{
		"a success clears the failures": {
			webhook.Endpoint{State: webhook.Active, Failures: 12, FailingSince: since, NotBefore: minutes(3), ProbeAt: minutes(4), LastSuccessAt: minutes(-60)},
			webhook.Verdict{State: webhook.Delivered},
			webhook.Endpoint{State: webhook.Active, LastSuccessAt: at},
		},
		"a late success does not move the last one back": {
			webhook.Endpoint{State: webhook.Active, LastSuccessAt: minutes(1)},
			webhook.Verdict{State: webhook.Delivered},
			webhook.Endpoint{State: webhook.Active, LastSuccessAt: minutes(1)},
		},
		"the first failure": {
			webhook.Endpoint{State: webhook.Active},
			webhook.Verdict{State: webhook.Pending, NextAt: minutes(1)},
			webhook.Endpoint{State: webhook.Active, Failures: 1, FailingSince: at},
		},
		"the receiver asked for a pause": {
			webhook.Endpoint{State: webhook.Active},
			webhook.Verdict{State: webhook.Pending, NextAt: minutes(9), HoldUntil: minutes(9)},
			webhook.Endpoint{State: webhook.Active, Failures: 1, FailingSince: at, NotBefore: minutes(9)},
		},
		"a shorter pause does not end a longer one": {
			webhook.Endpoint{State: webhook.Active, Failures: 1, FailingSince: since, NotBefore: minutes(20)},
			webhook.Verdict{State: webhook.Pending, NextAt: minutes(9), HoldUntil: minutes(9)},
			webhook.Endpoint{State: webhook.Active, Failures: 2, FailingSince: since, NotBefore: minutes(20)},
		},
		"one failure before the breaker opens": {
			webhook.Endpoint{State: webhook.Active, Failures: webhook.BreakAfter - 2, FailingSince: since},
			failed,
			webhook.Endpoint{State: webhook.Active, Failures: webhook.BreakAfter - 1, FailingSince: since},
		},
		"the breaker opens": {
			webhook.Endpoint{State: webhook.Active, Failures: webhook.BreakAfter - 1, FailingSince: since},
			failed,
			webhook.Endpoint{State: webhook.Active, Failures: webhook.BreakAfter, FailingSince: since, ProbeAt: minutes(5), MailedFor: since},
		},
		"a burst of failures opens nothing": {
			webhook.Endpoint{State: webhook.Active, Failures: 40, FailingSince: at.Add(time.Millisecond - webhook.BreakSpread)},
			webhook.Verdict{State: webhook.Pending, NextAt: minutes(2)},
			webhook.Endpoint{State: webhook.Active, Failures: 41, FailingSince: at.Add(time.Millisecond - webhook.BreakSpread)},
		},
		"an open breaker waits although the delivery is due sooner": {
			webhook.Endpoint{State: webhook.Active, Failures: webhook.BreakAfter, FailingSince: since},
			webhook.Verdict{State: webhook.Pending, NextAt: minutes(2)},
			webhook.Endpoint{State: webhook.Active, Failures: webhook.BreakAfter + 1, FailingSince: since, ProbeAt: minutes(5), MailedFor: since},
		},
		"an open breaker waits as long as the receiver asked for": {
			webhook.Endpoint{State: webhook.Active, Failures: webhook.BreakAfter, FailingSince: since},
			webhook.Verdict{State: webhook.Pending, NextAt: minutes(60), HoldUntil: minutes(60)},
			webhook.Endpoint{State: webhook.Active, Failures: webhook.BreakAfter + 1, FailingSince: since, NotBefore: minutes(60), ProbeAt: minutes(5), MailedFor: since},
		},
		"an owner is not mailed about a paused endpoint": {
			webhook.Endpoint{State: webhook.Paused, Failures: webhook.BreakAfter - 1, FailingSince: since},
			failed,
			webhook.Endpoint{State: webhook.Paused, Failures: webhook.BreakAfter, FailingSince: since, ProbeAt: minutes(5)},
		},
		"nor twice about one that is disabled": {
			webhook.Endpoint{State: webhook.Active, Failures: webhook.BreakAfter - 1, FailingSince: since},
			webhook.Verdict{State: webhook.Failed, Gone: true},
			webhook.Endpoint{State: webhook.Disabled, Reason: webhook.Gone, DisabledAt: at, Failures: webhook.BreakAfter, FailingSince: since, ProbeAt: minutes(5)},
		},
		"410 disables": {
			webhook.Endpoint{State: webhook.Active},
			webhook.Verdict{State: webhook.Pending, NextAt: minutes(1), Gone: true},
			webhook.Endpoint{State: webhook.Disabled, Reason: webhook.Gone, DisabledAt: at, Failures: 1, FailingSince: at},
		},
		"410 disables a suspended endpoint": {
			webhook.Endpoint{State: webhook.Suspended},
			webhook.Verdict{State: webhook.Pending, NextAt: minutes(1), Gone: true},
			webhook.Endpoint{State: webhook.Disabled, Reason: webhook.Gone, DisabledAt: at, Failures: 1, FailingSince: at},
		},
		"410 leaves a paused endpoint paused": {
			webhook.Endpoint{State: webhook.Paused},
			webhook.Verdict{State: webhook.Pending, NextAt: minutes(1), Gone: true},
			webhook.Endpoint{State: webhook.Paused, Failures: 1, FailingSince: at},
		},
		"five days without a success disable": {
			webhook.Endpoint{State: webhook.Active, Failures: 3, FailingSince: at.Add(-webhook.DisableAfter)},
			failed,
			webhook.Endpoint{State: webhook.Disabled, Reason: webhook.Failing, DisabledAt: at, Failures: 4, FailingSince: at.Add(-webhook.DisableAfter)},
		},
		"a little less does not": {
			webhook.Endpoint{State: webhook.Active, Failures: 3, FailingSince: at.Add(time.Millisecond - webhook.DisableAfter)},
			failed,
			webhook.Endpoint{State: webhook.Active, Failures: 4, FailingSince: at.Add(time.Millisecond - webhook.DisableAfter)},
		},
		"five days since it was made active again": {
			webhook.Endpoint{State: webhook.Active, Failures: 3, FailingSince: at.Add(-30 * 24 * time.Hour), ResumedAt: at.Add(-webhook.DisableAfter)},
			failed,
			webhook.Endpoint{State: webhook.Disabled, Reason: webhook.Failing, DisabledAt: at, Failures: 4, FailingSince: at.Add(-30 * 24 * time.Hour), ResumedAt: at.Add(-webhook.DisableAfter)},
		},
		"a little less than that": {
			webhook.Endpoint{State: webhook.Active, Failures: 3, FailingSince: at.Add(-30 * 24 * time.Hour), ResumedAt: at.Add(time.Millisecond - webhook.DisableAfter)},
			failed,
			webhook.Endpoint{State: webhook.Active, Failures: 4, FailingSince: at.Add(-30 * 24 * time.Hour), ResumedAt: at.Add(time.Millisecond - webhook.DisableAfter)},
		},
		"one that is disabled keeps its reason": {
			webhook.Endpoint{State: webhook.Disabled, Reason: webhook.Gone, DisabledAt: since, Failures: 3, FailingSince: at.Add(-webhook.DisableAfter)},
			failed,
			webhook.Endpoint{State: webhook.Disabled, Reason: webhook.Gone, DisabledAt: since, Failures: 4, FailingSince: at.Add(-webhook.DisableAfter)},
		},
	} {
		test.verdict.Attempt = webhook.Attempt{Status: 500, Outcome: webhook.HTTPStatus}
		if test.verdict.State != webhook.Delivered {
			test.verdict.ProbeAt = minutes(5)
			test.want.LastFailure = webhook.Failure{At: at, Status: 500, Outcome: webhook.HTTPStatus}
		}
		if diff := cmp.Diff(test.want, test.before.After(test.verdict, at)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// Several attempts fail at once, and are stored in any order.
func TestFailuresStoredInAnotherOrderThanTheyEnded(t *testing.T) {
	at := time.Date(2026, 11, 16, 12, 0, 0, 0, time.UTC)
	failed := func(status webhook.Status) webhook.Verdict {
		return webhook.Verdict{State: webhook.Pending, Attempt: webhook.Attempt{Outcome: webhook.HTTPStatus, Status: status}}
	}
	w := webhook.Endpoint{State: webhook.Active}.After(failed(502), at).After(failed(503), at.Add(time.Second)).After(failed(500), at.Add(-time.Second))
	if w.LastError() != "réponse 503" || !w.FailingSince.Equal(at.Add(-time.Second)) || !w.LastFailure.At.Equal(at.Add(time.Second)) {
		t.Errorf("since %v, last %v: %q", w.FailingSince, w.LastFailure, w.LastError())
	}
	w = webhook.Endpoint{State: webhook.Active, Failures: webhook.BreakAfter - 1, FailingSince: at.Add(-webhook.BreakSpread), ProbeAt: at}.After(failed(500), at)
	if again := w.After(failed(500), at.Add(-time.Second)); w.MailedFor.IsZero() || !again.MailedFor.Equal(w.MailedFor) {
		t.Errorf("mailed for %v, and then again for %v", w.MailedFor, again.MailedFor)
	}
}

func TestARecoveryEndsAnOutageNotASingleFailure(t *testing.T) {
	at := time.Date(2026, 11, 16, 12, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		endpoint webhook.Endpoint
		want     bool
	}{
		"it works":            {webhook.Endpoint{LastSuccessAt: at.Add(-time.Hour)}, false},
		"a moment":            {webhook.Endpoint{Failures: 9, FailingSince: at.Add(time.Millisecond - webhook.ProbeEvery)}, false},
		"five minutes":        {webhook.Endpoint{Failures: 1, FailingSince: at.Add(-webhook.ProbeEvery)}, true},
		"ten failures":        {webhook.Endpoint{Failures: webhook.BreakAfter, FailingSince: at.Add(-time.Second)}, true},
		"it is spared":        {webhook.Endpoint{Failures: 1, FailingSince: at.Add(-time.Second), NotBefore: at.Add(time.Millisecond)}, true},
		"it was spared":       {webhook.Endpoint{Failures: 1, FailingSince: at.Add(-time.Second), NotBefore: at}, false},
		"spared and then not": {webhook.Endpoint{NotBefore: at.Add(time.Hour)}, false},
	} {
		if got := test.endpoint.Recovers(at); got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

func TestTheLastErrorIsThatOfTheFailuresThatGoOn(t *testing.T) {
	at := time.Date(2026, 11, 16, 12, 0, 0, 0, time.UTC)
	timeout := webhook.Failure{At: at, Outcome: webhook.Timeout}
	for name, test := range map[string]struct {
		endpoint webhook.Endpoint
		want     string
	}{
		"no answer":      {webhook.Endpoint{Failures: 1, FailingSince: at, LastFailure: timeout}, "pas de réponse à temps"},
		"a status":       {webhook.Endpoint{Failures: 3, FailingSince: at.Add(-time.Hour), LastFailure: webhook.Failure{At: at, Outcome: webhook.HTTPStatus, Status: 503}}, "réponse 503"},
		"it works again": {webhook.Endpoint{LastFailure: timeout}, ""},
	} {
		if got := test.endpoint.LastError(); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
