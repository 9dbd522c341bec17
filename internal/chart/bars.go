package chart

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"palmares/internal/french"
	"palmares/internal/market"
)

// A Day is how many requests, or views of pages, a day had.
type Day struct {
	Day      string
	Requests int
}

// OfDays draws how many of what each of the 30 days to now had, in UTC, as bars, and the quota per day if
// there is one.
func OfDays(what string, now time.Time, counts map[string]int, quota int) *Chart {
	const gap = 2
	most, total := 0, 0
	days := make([]Day, 30) // newest first
	for i := range days {
		day := now.UTC().AddDate(0, 0, -i).Format(time.DateOnly)
		days[i] = Day{day, counts[day]}
		most, total = max(most, counts[day]), total+counts[day]
	}
	by := max(1, int(math.Round(math.Pow(10, roundUp(math.Log10(float64(most)/5)))))) // five parts or fewer
	top := by * max(1, int(math.Ceil(float64(most)/float64(by))))
	size := Size{width: 420, height: 190, right: 4, top: 10, bottom: 26, labelled: true}
	size.left = 14 + 7*float64(len(strconv.Itoa(top)))
	f := frame{size, axis{most: float64(top), step: float64(by), label: func(x float64) string { return french.Count(int(x)) }}}
	c := f.chart()
	c.Days, c.Total = days, total
	c.Summary = what + " par jour, en barres\u202f; les mêmes chiffres sont dans le tableau qui suit."
	if quota > 0 && quota <= top {
		c.Quota = coordinate(f.y(float64(quota)))
	}
	slot := (f.x(1) - f.left) / float64(len(days))
	for i := range days {
		ago := len(days) - 1 - i
		d, x := days[ago], f.left+float64(i)*slot
		y := f.y(float64(d.Requests))
		c.Bars = append(c.Bars, Bar{
			X: coordinate(x + gap/2), Y: coordinate(y), Width: coordinate(slot - gap), Height: coordinate(f.y(0) - y),
		})
		if ago%7 == 0 { // a week apart, ending today
			day := parseDay(d.Day)
			at := min(x+slot/2, float64(f.width)-16)
			c.Ticks = append(c.Ticks, Label{At: coordinate(at), Text: fmt.Sprintf("%d/%02d", day.Day(), day.Month())})
		}
	}
	return c
}

// Changes are rises above and falls below a line, by month. As in a Plot, positions are in
// percent.
type Changes struct {
	Zero    string
	Bars    []Bar
	Months  []Label
	Rows    []Label
	Table   []ChangesRow
	Summary string
}

// A ChangesRow is a month of Changes in a table.
type ChangesRow struct {
	Month    string
	Up, Down int
}

// OfMonths draws how many prices rose and fell in each month.
func OfMonths(months []market.PriceMonth) *Changes {
	up, down := 0, 0
	for _, m := range months {
		up, down = max(up, m.Up), max(down, m.Down)
	}
	const margin = 0.08                       // of the height, for the values beyond the bars
	unit := (1 - 2*margin) / float64(up+down) // of the height
	zero := margin + unit*float64(up)
	c := &Changes{Zero: percent(zero)}
	if up > 0 {
		c.Rows = append(c.Rows, Label{At: percent(margin), Text: strconv.Itoa(up)})
	}
	if down > 0 {
		c.Rows = append(c.Rows, Label{At: percent(1 - margin), Text: strconv.Itoa(down)})
	}
	width := 1 / float64(len(months))
	rises, falls := 0, 0
	for i, m := range months {
		day, err := time.Parse("2006-01", m.Month)
		if err != nil {
			panic(err) // it was formatted by us
		}
		name := french.ShortMonth(day)
		month, _, _ := strings.Cut(name, french.Space)
		c.Months = append(c.Months, Label{At: percent(width * (float64(i) + 0.5)), Text: month, Wide: i%3 != 0})
		c.Table = append(c.Table, ChangesRow{name, m.Up, m.Down})
		bar := func(y float64, n int, isDown bool) {
			if n > 0 {
				x := width * (float64(i) + 0.2)
				b := Bar{
					X: percent(x), Y: percent(y), Width: percent(width * 0.6), Height: percent(unit * float64(n)), Down: isDown,
					Text: strconv.Itoa(n), Middle: percent(x + width*0.3), End: percent(y),
				}
				if isDown {
					b.End = percent(y + unit*float64(n))
				}
				c.Bars = append(c.Bars, b)
			}
		}
		bar(zero-unit*float64(m.Up), m.Up, false)
		bar(zero, m.Down, true)
		rises, falls = rises+m.Up, falls+m.Down
	}
	c.Summary = "Changements de prix par mois\u00a0: " + french.Plural(rises, "hausse", "hausses") + ", " +
		french.Plural(falls, "baisse", "baisses") + " en douze mois."
	return c
}
