package billing

import (
	"testing"
	"time"

	"palmares/internal/account"
)

func TestTheEffectOfAReading(t *testing.T) {
	grace, keys := noon.Add(Grace), noon.Add(account.KeyGrace)
	paid := Subscription{ID: "sub_1", Status: Active, Granted: true}
	owing := Subscription{ID: "sub_1", Status: PastDue, Granted: true, GraceUntil: noon.Add(time.Hour)}
	for name, test := range map[string]struct {
		plan    account.Plan
		before  Subscription
		status  Status
		want    account.Plan
		granted bool
		grace   time.Time
		failed  bool      // the mail about the payment
		ended   time.Time // when keys are due, with the mail about the plan
	}{
		"the first payment":                  {plan: account.Developer, status: Active, want: account.Pro, granted: true},
		"a payment that is not made":         {plan: account.Developer, status: Incomplete, want: account.Developer},
		"a renewal":                          {plan: account.Pro, before: paid, status: Active, want: account.Pro, granted: true},
		"a payment fails":                    {plan: account.Pro, before: paid, status: PastDue, want: account.Pro, granted: true, grace: grace, failed: true},
		"it is read again":                   {plan: account.Pro, before: owing, status: PastDue, want: account.Pro, granted: true, grace: owing.GraceUntil},
		"it is paid after all":               {plan: account.Pro, before: owing, status: Active, want: account.Pro, granted: true},
		"the grace is over":                  {plan: account.Pro, before: Subscription{ID: "sub_1", Status: PastDue, Granted: true, GraceUntil: noon}, status: Unpaid, want: account.Developer, grace: noon, ended: keys},
		"the subscription ends":              {plan: account.Pro, before: paid, status: Canceled, want: account.Developer, ended: keys},
		"Pro by the operator, none paid":     {plan: account.Pro, status: Canceled, want: account.Pro},
		"Pro by the operator, a new payment": {plan: account.Pro, status: Active, want: account.Pro},
		"Pro by the operator, it fails":      {plan: account.Pro, before: Subscription{ID: "sub_1", Status: Active}, status: PastDue, want: account.Pro, grace: grace},
		"taken by the operator, paid again":  {plan: account.Developer, before: Subscription{ID: "sub_1", Status: Active}, status: Active, want: account.Pro, granted: true},
	} {
		e := EffectOf(test.plan, test.before, Reading{ID: "sub_1", Status: test.status}, noon)
		if e.Plan != test.want || e.Subscription.Granted != test.granted || e.Subscription.Status != test.status || !e.Subscription.GraceUntil.Equal(test.grace) ||
			e.PaymentFailed != test.failed || e.PlanEnded == test.ended.IsZero() || !e.KeysDue.Equal(test.ended) {
			t.Errorf("%s: %+v", name, e)
		}
	}
}
