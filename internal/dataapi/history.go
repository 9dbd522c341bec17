package dataapi

import (
	"net/http"
	"time"

	"palmares/internal/catalog"
	"palmares/internal/web"
	"palmares/internal/wire"
)

const historyPrefix = "/data/v1/history/"

// A pricePeriod is a time in which a tool had one price.
type pricePeriod struct {
	From    *string         `json:"from"` // the first day; null if it is not known
	Pricing catalog.Pricing `json:"pricing"`
	Price   string          `json:"price"`
}

// A scorePeriod is a time in which a tool had one score.
type scorePeriod struct {
	From          *string  `json:"from"`
	Score         *float64 `json:"score"`
	Verifiability *float64 `json:"verifiability"`
	Obsolescence  *float64 `json:"obsolescence"`
	Note          string   `json:"note"`
}

func (p pricePeriod) from() *string { return p.From }
func (p scorePeriod) from() *string { return p.From }

// getHistory answers with the prices and scores of a tool, newest first, or with those of
// one day.
func getHistory(r *request) (web.Answer, error) {
	p := web.ParseParams(r.URL.RawQuery, func(name string) bool { return name == "at" })
	at := p.Matching("at", "un jour, AAAA-MM-JJ, au plus tard aujourd’hui (UTC)", func(s string) bool {
		return catalog.IsDate(s) && s <= catalog.Day(time.Now())
	})
	if err := p.Err(); err != nil {
		return web.Answer{}, err
	}
	tool := r.snap.Catalog.Tool(r.slug)
	if tool == nil {
		return noTool(r)
	}
	var body struct {
		Data struct {
			Slug  string        `json:"slug"`
			Price []pricePeriod `json:"price"`
			Score []scorePeriod `json:"score"`
		} `json:"data"`
		Meta struct {
			At *string `json:"at"`
		} `json:"meta"`
	}
	body.Data.Slug, body.Data.Price, body.Data.Score = tool.Slug, pricesOf(tool), scoresOf(tool)
	if at != "" {
		body.Meta.At = &at
		body.Data.Price, body.Data.Score = inForce(body.Data.Price, at), inForce(body.Data.Score, at)
	}
	b := wire.AppendJSON(nil, body)
	return web.Answer{Body: wire.NewBody(wire.Sum(b), b), Link: licenseLink}, nil
}

// noTool redirects to the current slug of a tool that was renamed, or says that there is
// none.
func noTool(r *request) (web.Answer, error) {
	if slug, ok := r.snap.Alias(r.slug); ok {
		return web.Answer{Status: http.StatusPermanentRedirect, Location: web.Location(historyPrefix+slug, r.URL.RawQuery)}, nil
	}
	if gone := r.snap.RetiredTool(r.slug); gone != nil {
		return web.Answer{}, web.ToolRetired(gone.Name, gone.RetiredAt, string(gone.Reason), gone.Successor)
	}
	return web.Answer{}, web.ToolNotFound(r.slug)
}

// pricesOf returns the periods of a tool's price, newest first. Each begins with a change;
// since when the oldest price was in force is not known.
func pricesOf(t *catalog.Tool) []pricePeriod {
	periods := make([]pricePeriod, 0, len(t.PriceHistory)+1)
	now := pricePeriod{Pricing: t.Pricing, Price: t.Price}
	for i := range t.PriceHistory {
		change := &t.PriceHistory[i]
		now.From = &change.ChangedAt
		periods = append(periods, now)
		now = pricePeriod{Pricing: change.OldPricing, Price: change.OldPrice}
	}
	return append(periods, now)
}

// scoresOf is pricesOf for scores.
func scoresOf(t *catalog.Tool) []scorePeriod {
	periods := make([]scorePeriod, 0, len(t.ScoreHistory)+1)
	now := scorePeriod{Score: t.Score, Verifiability: t.Verifiability, Obsolescence: t.Obsolescence}
	for i := range t.ScoreHistory {
		change := &t.ScoreHistory[i]
		now.From, now.Note = &change.ChangedAt, change.Note
		periods = append(periods, now)
		now = scorePeriod{Score: change.OldScore, Verifiability: change.OldVerifiability, Obsolescence: change.OldObsolescence}
	}
	return append(periods, now)
}

// inForce returns the one period that a day is in: the last of those that had begun.
func inForce[P interface{ from() *string }](periods []P, day string) []P {
	for i, p := range periods {
		if from := p.from(); from == nil || *from <= day {
			return periods[i : i+1]
		}
	}
	return nil // the oldest has no first day
}
