package desk

import (
	"cmp"
	"time"

	"palmares/internal/accountdb"
	"palmares/internal/chart"
	"palmares/internal/readership"
)

type readersPage struct {
	page
	Path  string // of the only page that is shown; "" for all
	IsOff bool   // nobody counts any more
	Chart *chart.Chart

	Pages, Hosts, Missed []accountdb.Views
}

// showReaders shows how often pages were read in 30 days.
func (d *desk) showReaders(r *request) (*response, error) {
	const most = 20 // of each
	data := readersPage{page: r.page("Audience"), Path: r.URL.Query().Get("page"), IsOff: !d.Site.CountsReaders()}
	now := d.Now().UTC()
	from, to := now.AddDate(0, 0, -29).Format(time.DateOnly), now.Format(time.DateOnly)
	days, err := d.Readership.Daily(r.Context(), data.Path, from)
	views := map[string]int{}
	for _, v := range days {
		views[v.Day] = v.Views
	}
	data.Chart = chart.OfDays("Vues", now, views, 0)
	var failed [3]error
	data.Pages, failed[0] = d.Readership.Top(r.Context(), readership.Pages, from, to, most)
	data.Hosts, failed[1] = d.Readership.Top(r.Context(), readership.Hosts, from, to, most)
	data.Missed, failed[2] = d.Readership.Missed(r.Context(), from, most)
	return render("readers", data), cmp.Or(err, failed[0], failed[1], failed[2])
}
