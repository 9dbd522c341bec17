package webhook_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"palmares/internal/webhook"
)

var noon = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

func TestAttemptsAreDueAtTheContractsTimes(t *testing.T) {
	want := []time.Duration{
		5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour,
		10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
	}
	failure := webhook.Result{At: noon, Duration: 3 * time.Second, Status: 500, Outcome: webhook.HTTPStatus}
	for i, delay := range want {
		v := webhook.Judge(i+1, failure, webhook.DefaultSchedule(), 0)
		if got := v.NextAt.Sub(noon.Add(3 * time.Second)); v.State != webhook.Pending || got != delay {
			t.Errorf("after attempt %d: %s in %s, want %s", i+1, v.State, got, delay)
		}
	}
	for _, c := range []struct {
		schedule webhook.Schedule
		probe    time.Duration
	}{
		{webhook.DefaultSchedule(), 5 * time.Minute},
		{webhook.Schedule{0, 100 * time.Millisecond, 10 * time.Millisecond}, 100 * time.Millisecond},
	} {
		if got := webhook.Judge(webhook.AlwaysTried, failure, c.schedule, 0).ProbeAt.Sub(noon.Add(3 * time.Second)); got != 0 {
			t.Errorf("with %s the second attempt already spares a receiver for %s", c.schedule, got)
		}
		if got := webhook.Judge(webhook.AlwaysTried+1, failure, c.schedule, 0).ProbeAt.Sub(noon.Add(3 * time.Second)); got != c.probe {
			t.Errorf("with %s a receiver that fails is spared for %s", c.schedule, got)
		}
	}
	if v := webhook.Judge(10, failure, webhook.DefaultSchedule(), 0); v.State != webhook.Failed || !v.NextAt.IsZero() {
		t.Errorf("after attempt 10: %+v", v)
	}
}

func TestJitterAndRetryAfterOnlyEverAdd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := webhook.DefaultSchedule()
		n := rapid.IntRange(1, 9).Draw(t, "attempt")
		wish := time.Duration(rapid.Int64Range(0, int64(48*time.Hour)).Draw(t, "retry after"))
		chance := rapid.Float64Range(0, 0.999999).Draw(t, "chance")
		r := webhook.Result{At: noon, Duration: time.Second, Status: 503, Outcome: webhook.HTTPStatus, RetryAfter: wish}
		got := webhook.Judge(n, r, s, chance).NextAt.Sub(noon.Add(time.Second))
		latest := max(s[n]+s[n]/10, min(wish, 24*time.Hour)) + time.Millisecond
		if got < s[n] || got < min(wish, 24*time.Hour) || got > latest {
			t.Fatalf("due in %s, with a delay of %s", got, s[n])
		}
	})
}

func TestWhatAnAnswerMeans(t *testing.T) {
	for _, c := range []struct {
		result webhook.Result
		state  webhook.DeliveryState
		gone   bool
	}{
		{webhook.Result{Status: 200, Outcome: webhook.OK}, webhook.Delivered, false},
		{webhook.Result{Status: 204, Outcome: webhook.OK}, webhook.Delivered, false},
		{webhook.Result{Status: 302, Outcome: webhook.HTTPStatus}, webhook.Pending, false},
		{webhook.Result{Status: 404, Outcome: webhook.HTTPStatus}, webhook.Pending, false},
		{webhook.Result{Status: 410, Outcome: webhook.HTTPStatus}, webhook.Pending, true},
		{webhook.Result{Status: 410, Outcome: webhook.Timeout}, webhook.Pending, false},
		{webhook.Result{Outcome: webhook.Blocked}, webhook.Pending, false},
	} {
		c.result.At, c.result.Duration, c.result.Response = noon, time.Second, "hello"
		v := webhook.Judge(1, c.result, webhook.DefaultSchedule(), 0)
		if v.State != c.state || v.Gone != c.gone || v.NextAt.IsZero() != (c.state != webhook.Pending) {
			t.Errorf("%+v: %+v", c.result, v)
		}
		want := webhook.Attempt{Number: 1, At: noon, Duration: time.Second, Status: webhook.Status(c.result.Status), Outcome: c.result.Outcome, Response: "hello"}
		if diff := cmp.Diff(want, v.Attempt); diff != "" {
			t.Errorf("%+v: -want +got\n%s", c.result, diff)
		}
	}
}

func TestARetryAfterSparesTheWholeEndpoint(t *testing.T) {
	judge := func(n int, r webhook.Result) webhook.Verdict {
		r.At, r.Duration = noon, time.Second+time.Microsecond
		return webhook.Judge(n, r, webhook.DefaultSchedule(), 0)
	}
	end := noon.Add(time.Second)
	for wish, want := range map[time.Duration]time.Time{
		0: {}, time.Second: end.Add(time.Second + time.Millisecond), 48 * time.Hour: end.Add(webhook.MaxRetryAfter + time.Millisecond),
	} {
		for _, n := range []int{1, 10} { // the last attempt too
			if v := judge(n, webhook.Result{Status: 503, Outcome: webhook.HTTPStatus, RetryAfter: wish}); !v.HoldUntil.Equal(want) {
				t.Errorf("attempt %d, %s: until %s, want %s", n, wish, v.HoldUntil, want)
			}
		}
	}
}

func TestWhatCannotBeSignedIsNotTriedAndWaitsAMinute(t *testing.T) {
	for _, n := range []int{1, 10, 11} {
		v := webhook.Judge(n, webhook.Result{At: noon, Outcome: webhook.Secret}, webhook.DefaultSchedule(), 0.5)
		if !v.Untried || v.State != webhook.Pending || v.Gone || !v.NextAt.Equal(noon.Add(time.Minute)) || !v.HoldUntil.IsZero() {
			t.Errorf("attempt %d: %+v", n, v)
		}
	}
}

func TestRetryAfterIsSecondsOrADate(t *testing.T) {
	for header, want := range map[string]time.Duration{
		"": 0, "0": 0, "120": 2 * time.Minute, " 7 ": 7 * time.Second, "000000000000007": 7 * time.Second, "86400": 24 * time.Hour, "86401": 24 * time.Hour, "99999": 24 * time.Hour,
		"99999999999999999999999": 24 * time.Hour, "-1": 0, "+1": 0, "1.5": 0, "1e3": 0, "soon": 0, "٣": 0,
		noon.Add(90 * time.Second).Format(http.TimeFormat): 90 * time.Second,
		noon.Add(-time.Hour).Format(http.TimeFormat):       0,
		noon.Add(48 * time.Hour).Format(http.TimeFormat):   24 * time.Hour,
		noon.Add(time.Minute).Format(time.RFC850):          time.Minute,
		noon.Add(time.Minute).Format(time.ANSIC):           time.Minute,
		noon.Format(time.RFC3339):                          0,
		"Fri, 31 Dec 9999 23:59:59 GMT":                    24 * time.Hour,
	} {
		if got := webhook.RetryAfter(header, noon); got != want {
			t.Errorf("%q: %s, want %s", header, got, want)
		}
	}
}

func FuzzRetryAfter(f *testing.F) {
	for _, seed := range []string{"", "0", "120", "99999999999999999999", "-1", "Sun, 15 Nov 2026 12:01:30 GMT", "Sunday, 15-Nov-26 12:01:30 GMT", "Fri, 31 Dec 9999 23:59:59 GMT"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		got := webhook.RetryAfter(header, noon)
		if got < 0 || got > webhook.MaxRetryAfter {
			t.Errorf("%q: %s", header, got)
		}
		if n, err := strconv.ParseUint(header, 10, 63); err == nil && !strings.HasPrefix(header, "+") {
			if want := time.Duration(min(n, 86400)) * time.Second; got != want {
				t.Errorf("%q: %s, want %s", header, got, want)
			}
		}
	})
}

func TestTheTextOfAScheduleIsRead(t *testing.T) {
	got, err := webhook.ParseSchedule("0s, 1s,2m")
	if diff := cmp.Diff(webhook.Schedule{0, time.Second, 2 * time.Minute}, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	for _, text := range []string{"", ",", "1s", "0s,", "0s,x", "0s,-1s", "0,5"} {
		if s, err := webhook.ParseSchedule(text); err == nil {
			t.Errorf("%q is read as %s", text, s)
		}
	}
}
