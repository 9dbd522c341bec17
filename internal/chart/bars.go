package chart

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"palmares/internal/french"
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
			day := now.UTC().AddDate(0, 0, -ago)
			at := min(x+slot/2, float64(f.width)-16)
			c.Ticks = append(c.Ticks, Label{At: coordinate(at), Text: fmt.Sprintf("%d/%02d", day.Day(), day.Month())})
		}
	}
	return c
}
