package desk

import (
	"palmares/internal/accountdb"
)

// maxWarnings is how many records the home page shows of each kind of warning.
const maxWarnings = 5

type homePage struct {
	page
	Name       string
	Mine       []copyRow
	Waiting    []copyRow // what editors are asked to look at
	Colleagues []copyRow
	Scheduled  []row
	Concerns   []concern
	Problems   []string // of the folder
	Unsent     int      // publications that the server of the folder has not got yet
}

// A concern is a kind of warning worth acting on, and the first records that have it.
type concern struct {
	Text  string
	State string // of the list that shows all of them
	Rows  []row
	Found int
}

func (d *desk) home(r *request) (*response, error) {
	e, err := d.folder(r.Context())
	if err != nil {
		return nil, err
	}
	records := d.rows(e, r.now)
	copies, err := d.copyRows(r, records)
	if err != nil {
		return nil, err
	}
	data := homePage{page: r.page("Rédaction"), Name: r.Name, Problems: findings(e.Problems)}
	data.Unsent, err = d.Folder.Unsent(r.Context())
	if err != nil {
		return nil, err
	}
	for _, c := range copies {
		switch {
		case data.IsEditor && (c.State == accountdb.CopyForReview || c.State == accountdb.CopyReady):
			data.Waiting = append(data.Waiting, c)
		case c.IsMine:
			data.Mine = append(data.Mine, c)
		default:
			data.Colleagues = append(data.Colleagues, c)
		}
	}
	prices := concern{Text: "Prix non vérifié depuis 90\u00a0jours", State: "prix"}
	tests := concern{Text: "Test de plus d’un an", State: "test"}
	warned := concern{Text: "Avertissement", State: "avertissement"}
	for _, x := range records {
		if x.Due != "" {
			data.Scheduled = append(data.Scheduled, x)
		}
		prices.add(x, x.OldPrice != "")
		tests.add(x, x.OldTest != "")
		warned.add(x, len(x.Warnings) > 0 && x.OldTest == "")
	}
	for _, c := range []concern{prices, tests, warned} {
		if c.Found > 0 {
			data.Concerns = append(data.Concerns, c)
		}
	}
	return render("home", data), nil
}

func (c *concern) add(r row, has bool) {
	if !has {
		return
	}
	if c.Found++; len(c.Rows) < maxWarnings {
		c.Rows = append(c.Rows, r)
	}
}
