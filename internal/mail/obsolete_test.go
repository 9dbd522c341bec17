package mail

import (
	"testing"
	"time"
)

func TestAMailThatIsNoLongerTrueIsObsolete(t *testing.T) {
	end := time.Date(2026, 12, 6, 12, 0, 0, 0, time.UTC)
	failed, ended := PaymentFailedTo("ada@example.org", end), PlanEndedTo("ada@example.org", end)
	for name, test := range map[string]struct {
		request Request
		now     Standing
		want    bool
	}{
		"it is still owed":            {failed, Standing{Pro: true, GraceUntil: end}, false},
		"the same day":                {failed, Standing{Pro: true, GraceUntil: end.Add(time.Hour)}, false},
		"it was paid":                 {failed, Standing{Pro: true}, true},
		"it was paid and fails again": {failed, Standing{Pro: true, GraceUntil: end.AddDate(0, 1, 0)}, true},
		"Pro has ended":               {failed, Standing{GraceUntil: end}, true},
		"the plan has ended":          {ended, Standing{}, false},
		"it is Pro again":             {ended, Standing{Pro: true}, true},
		"other mails are not checked": {Request{Kind: SignIn}, Standing{Pro: true}, false},
	} {
		if got := test.request.Obsolete(test.now); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if failed.About != "2026-12-06" || ended.About != "2026-12-06" {
		t.Errorf("the mails are about %s and %s", failed.About, ended.About)
	}
}
