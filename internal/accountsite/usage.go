package accountsite

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"palmares/internal/account"
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
	days, err := p.Store.Usage.ForAccount(r.Context(), r.owner.Account.ID, day(r.now), day(r.now))
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

// usageDays is how many days the chart shows, including today.
const usageDays = 30

type usagePage struct {
	page
	Today today
	Days  []usageDay // newest first
	Total int
	Chart usageChart
}

type usageDay struct {
	Day      string
	Requests int
}

func (p *pages) showUsage(r *request) (*answer, error) {
	data := usagePage{page: r.page("Usage")}
	var err error
	if data.Today, err = p.today(r); err != nil {
		return nil, err
	}
	first := r.now.UTC().AddDate(0, 0, 1-usageDays)
	stored, err := p.Store.Usage.ForAccount(r.Context(), r.owner.Account.ID, day(first), day(r.now))
	if err != nil {
		return nil, err
	}
	requests := map[string]int{}
	for _, d := range stored {
		requests[d.Day] = int(d.Requests)
		data.Total += int(d.Requests)
	}
	for i := range usageDays {
		name := day(r.now.UTC().AddDate(0, 0, -i))
		data.Days = append(data.Days, usageDay{name, requests[name]})
	}
	data.Chart = newUsageChart(data.Days, data.Today.Limit)
	return render("usage", data), nil
}

// A usageChart has a bar for each day. It holds coordinates and labels; the page shows
// the same figures in a table.
type usageChart struct {
	Width, Height int
	Left          int
	Bars          []usageBar
	Grid          []usageMark
	Ticks         []usageMark
	Quota         string // position of the quota line; "" if it is outside the chart
}

type usageBar struct{ X, Y, Width, Height string }

type usageMark struct {
	At    string
	Label int    // on the grid
	Day   string // on the time axis
}

// newUsageChart draws days, newest first.
func newUsageChart(days []usageDay, limit int) usageChart {
	const (
		width, height            = 420.0, 190.0
		right, above, below, gap = 4.0, 10.0, 26.0, 2.0
	)
	most := 0
	for _, d := range days {
		most = max(most, d.Requests)
	}
	step := roundStep(most)
	top := step * max(1, int(math.Ceil(float64(most)/float64(step))))
	left := 14 + 7*float64(len(strconv.Itoa(top)))
	slot := (width - left - right) / float64(len(days))
	y := func(n int) float64 { return height - below - float64(n)/float64(top)*(height-above-below) }

	c := usageChart{Width: width, Height: height, Left: int(left)}
	for n := 0; n <= top; n += step {
		c.Grid = append(c.Grid, usageMark{At: coordinate(y(n)), Label: n})
	}
	if limit > 0 && limit <= top {
		c.Quota = coordinate(y(limit))
	}
	for i := range days {
		d, x := days[len(days)-1-i], left+float64(i)*slot
		c.Bars = append(c.Bars, usageBar{
			X: coordinate(x + gap/2), Y: coordinate(y(d.Requests)), Width: coordinate(slot - gap), Height: coordinate(y(0) - y(d.Requests)),
		})
		if (len(days)-1-i)%7 == 0 { // a week apart, ending today
			t, err := time.Parse(time.DateOnly, d.Day)
			if err != nil {
				continue
			}
			c.Ticks = append(c.Ticks, usageMark{At: coordinate(min(x+slot/2, width-16)), Day: fmt.Sprintf("%d/%02d", t.Day(), t.Month())})
		}
	}
	return c
}

// roundStep returns a round number that divides most into five parts or fewer.
func roundStep(most int) int {
	for power := 1; ; power *= 10 {
		for _, factor := range []int{1, 2, 5} {
			if factor*power*5 >= most {
				return factor * power
			}
		}
	}
}

func coordinate(x float64) string { return strconv.FormatFloat(math.Round(x*10)/10, 'f', -1, 64) }
