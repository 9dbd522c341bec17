package chart

import (
	"strings"
	"time"

	"palmares/internal/french"
	"palmares/internal/market"
)

// OfMedian draws a median price over time; label says of what.
func OfMedian(m *market.Median, label string) *Chart {
	most := 0.0
	for _, p := range m.Points {
		most = max(most, p.Euros)
	}
	f := newFrame(narrow, priceAxis(most, func(euros float64) string {
		if euros == 0 {
			return french.Euros(0)
		}
		return french.ShortEuros(euros)
	}))
	c := f.chart()
	end := len(m.Points) - 1
	first := parseDay(m.Points[0].Day)
	span := parseDay(m.Points[end].Day).Sub(first).Hours()
	x := func(i int) float64 { return f.x(parseDay(m.Points[i].Day).Sub(first).Hours() / span) }
	var line strings.Builder
	for i, p := range m.Points {
		command := "L"
		if i == 0 {
			command = "M"
		}
		line.WriteString(command + coordinate(x(i)) + " " + coordinate(f.y(p.Euros)))
	}
	c.Line = line.String()
	c.Area = c.Line + "V" + coordinate(f.y(0)) + "H" + coordinate(x(0)) + "Z"
	for _, i := range []int{0, end} {
		d := Dot{
			X: coordinate(x(i)), Y: coordinate(f.y(m.Points[i].Euros)), Text: french.ShortEuros(m.Points[i].Euros), Anchor: "start", IsStart: i == 0, x: x(i),
		}
		d.Label = d.Text + " en " + french.Month(parseDay(m.Points[i].Day))
		c.Dots = append(c.Dots, d)
		at := min(max(x(i), f.left+monthWidth/2), float64(f.width)-monthWidth/2)
		c.Ticks = append(c.Ticks, Label{At: coordinate(at), Text: french.ShortMonth(parseDay(m.Points[i].Day))})
	}
	c.name(f)
	c.Summary = label + "\u00a0: prix médian de " + french.ShortEuros(m.Points[0].Euros) + " il y a un an, " +
		french.ShortEuros(m.Points[end].Euros) + " aujourd’hui."
	return c
}

// parseDay reads a day that was formatted by us.
func parseDay(day string) time.Time {
	t, err := time.Parse(time.DateOnly, day)
	if err != nil {
		panic(err)
	}
	return t
}
