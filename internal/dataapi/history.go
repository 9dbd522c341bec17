package dataapi

import (
	"net/http"
	"slices"
	"time"

	"palmares/internal/catalog"
	"palmares/internal/problem"
	"palmares/internal/web"
	"palmares/internal/wire"
)

const historyPrefix = "/data/v1/history/"

// A pricePeriod is a time in which a tool had one price.
type pricePeriod struct {
	From    *string         `json:"from"` // the first day; null if it is not known
	Pricing catalog.Pricing `json:"pricing"`
	Price   *string         `json:"price"` // null if it is not public
}

// A scorePeriod is a time in which a tool had one score.
type scorePeriod struct {
	From          *string  `json:"from"`
	Score         *float64 `json:"score"`
	Verifiability *float64 `json:"verifiability"`
	Obsolescence  *float64 `json:"obsolescence"`
	Note          string   `json:"note"`
}

// A criteriaPeriod is a time in which the criteria of a tool had the same values.
type criteriaPeriod struct {
	From     *string        `json:"from"`
	Criteria catalog.Values `json:"criteria"`
}

func (p pricePeriod) from() *string    { return p.From }
func (p scorePeriod) from() *string    { return p.From }
func (p criteriaPeriod) from() *string { return p.From }

// getHistory returns the prices and scores of a tool, newest first, or those of
// one day.
func getHistory(r *request) (web.Response, error) {
	p := web.ParseParams(r.URL.RawQuery, func(name string) bool { return name == "at" })
	today := catalog.Day(time.Now())
	at := p.Matching("at", problem.New("allow-day"), func(s string) bool {
		return catalog.IsDate(s) && s <= today
	})
	if err := p.Err(); err != nil {
		return web.Response{}, err
	}
	tool := r.Snapshot.Catalog.Tool(r.Slug)
	if tool == nil {
		return noTool(r)
	}
	var body struct {
		Data struct {
			Slug  string        `json:"slug"`
			Price []pricePeriod `json:"price"`
			Score []scorePeriod `json:"score"`

			Criteria []criteriaPeriod `json:"criteria"`
		} `json:"data"`
		Meta struct {
			At *string `json:"at"`
		} `json:"meta"`
	}
	body.Data.Slug, body.Data.Price, body.Data.Score = tool.Slug, pricesOf(tool), scoresOf(tool)
	body.Data.Criteria = criteriaOf(tool)
	if at != "" {
		body.Meta.At = &at
		body.Data.Price, body.Data.Score = inForce(body.Data.Price, at, today), inForce(body.Data.Score, at, today)
		body.Data.Criteria = inForce(body.Data.Criteria, at, today)
	}
	b := wire.AppendJSON(nil, body)
	return web.Response{Body: wire.NewBody(wire.Sum(b), b), Link: licenseLink}, nil
}

// noTool redirects to the current slug of a tool that was renamed, or says that there is
// none.
func noTool(r *request) (web.Response, error) {
	if slug, ok := r.Snapshot.Aliases[catalog.ToolKind][r.Slug]; ok {
		location := web.Location(historyPrefix+slug, r.URL.RawQuery)
		return web.Response{Status: http.StatusPermanentRedirect, Location: location}, nil
	}
	if gone := r.Snapshot.RetiredTool(r.Slug); gone != nil {
		return web.Response{}, web.ToolRetired(gone.Name, gone.RetiredAt, string(gone.Reason), gone.Successor)
	}
	return web.Response{}, web.ToolNotFound(r.Slug)
}

// pricesOf returns the periods of a tool's price, newest first, which is the current one.
// Each begins with a change, if that is known.
func pricesOf(t *catalog.Tool) (periods []pricePeriod) {
	for _, p := range t.Prices() {
		periods = append(periods, pricePeriod{null(p.ChangedAt), p.NewPricing, catalog.PublicPrice(p.NewPricing, p.NewPrice)})
	}
	return periods
}

// scoresOf is pricesOf for scores.
func scoresOf(t *catalog.Tool) []scorePeriod {
	history := t.ScoreHistory
	periods := make([]scorePeriod, 0, len(history)+2)
	if !t.HasDatedScore() {
		periods = append(periods, scorePeriod{
			Score: t.Score, Verifiability: t.Verifiability, Obsolescence: t.Obsolescence,
		})
	}
	for i := range history {
		e := &history[i]
		periods = append(periods, scorePeriod{
			From: &e.ChangedAt, Score: e.NewScore, Verifiability: e.NewVerifiability,
			Obsolescence: e.NewObsolescence, Note: e.Note,
		})
	}
	if n := len(history); n > 0 {
		e := &history[n-1]
		periods = append(periods, scorePeriod{
			Score: e.OldScore, Verifiability: e.OldVerifiability, Obsolescence: e.OldObsolescence,
		})
	}
	return periods
}

// criteriaOf is pricesOf for criteria; empty for a tool that never had any.
func criteriaOf(t *catalog.Tool) []criteriaPeriod {
	history, now := t.CriteriaHistory, t.Criteria
	periods := make([]criteriaPeriod, 0, len(history)+2)
	if len(history) == 0 && len(now) == 0 {
		return periods
	}
	if len(history) == 0 || !slices.Equal(history[0].After(now), now) {
		periods = append(periods, criteriaPeriod{Criteria: now})
	}
	for i := range history {
		e := &history[i]
		periods = append(periods, criteriaPeriod{From: &e.ChangedAt, Criteria: e.After(now)})
		now = e.Before(now)
	}
	if len(history) > 0 {
		periods = append(periods, criteriaPeriod{Criteria: now})
	}
	return periods
}

// inForce returns the one period that a day is in: today the current one, on any other
// day the last of those that are known to have begun, or else the oldest.
func inForce[P interface{ from() *string }](periods []P, day, today string) []P {
	if len(periods) == 0 {
		return periods
	}
	if day == today {
		return periods[:1]
	}
	for i, p := range periods {
		if from := p.from(); from != nil && *from <= day {
			return periods[i : i+1]
		}
	}
	return periods[len(periods)-1:]
}
