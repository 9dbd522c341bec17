package accountsite

import (
	"palmares/internal/account"
	"palmares/internal/chart"
)

// today is the usage of the current day and its quota.
type today struct {
	Uncounted bool
	Requests  int
	Limit     int // 0 for none
	Left      int
	Percent   int  // in percent
	Offer     bool // the Pro plan may be mentioned
}

func (p *pages) today(r *request) (today, error) {
	t := today{Uncounted: p.Quota == 0, Offer: r.offer}
	days, err := p.Store.Usage.ForAccount(r.Context(), r.owner.Account.ID, day(r.Now), day(r.Now))
	if err != nil {
		return t, err
	}
	for _, d := range days {
		t.Requests = int(d.Requests)
	}
	if p.Quota > 0 && r.owner.Account.Plan != account.Pro {
		t.Limit = p.Quota
		t.Left = max(0, t.Limit-t.Requests)
		t.Percent = min(100, 100*t.Requests/t.Limit)
	}
	return t, nil
}

type usagePage struct {
	page
	Today today
	Chart *chart.Chart
}

func (p *pages) showUsage(r *request) (*response, error) {
	data := usagePage{page: r.page("Usage")}
	var err error
	data.Today, err = p.today(r)
	if err != nil {
		return nil, err
	}
	stored, err := p.Store.Usage.ForAccount(r.Context(), r.owner.Account.ID, day(r.Now.AddDate(0, -1, 0)), day(r.Now))
	if err != nil {
		return nil, err
	}
	requests := map[string]int{}
	for _, d := range stored {
		requests[d.Day] = int(d.Requests)
	}
	data.Chart = chart.OfDays("Requêtes", r.Now, requests, data.Today.Limit)
	return render("usage", data), nil
}
