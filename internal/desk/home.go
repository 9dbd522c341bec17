package desk

import "palmares/internal/deskdb"

// maxWarnings is how many records the home page shows of each kind of warning.
const maxWarnings = 5

type homePage struct {
	page
	Name       string
	Mine       []copyRow
	Waiting    []copyRow // what editors are asked to look at
	IsReady    bool      // some of it can be published
	Colleagues []copyRow
	Scheduled  []row
	Sources    []sourceList // that should be looked at
	Concerns   []concern
	Problems   []finding // of the folder
	Reports    int       // of readers, that nobody has settled
	Unsent     int       // publications that the server of the folder has not got yet
}

// A concern is a kind of warning worth acting on, and the first records that have it.
type concern struct {
	state
	Rows  []row
	Found int
}

func (d *desk) home(r *request) (*response, error) {
	records := d.rows(r.folder, r.Now)
	copies, err := d.copyRows(r, records)
	if err != nil {
		return nil, err
	}
	data := homePage{page: r.page("Rédaction"), Name: r.Name, Problems: findings(r.folder.Problems)}
	data.Unsent, err = d.Folder.Unsent(r.Context())
	if err != nil {
		return nil, err
	}
	data.Sources = listSources(r.folder, r.Now)
	if !d.isLocal() {
		data.Reports, err = d.Reports.Open(r.Context())
		if err != nil {
			return nil, err
		}
	}
	for _, c := range copies {
		switch {
		case data.IsEditor && (c.State == deskdb.CopyForReview || c.State == deskdb.CopyReady):
			c.IsOffered = c.State == deskdb.CopyReady
			data.Waiting, data.IsReady = append(data.Waiting, c), data.IsReady || c.IsOffered
		case c.IsMine:
			c.IsOffered = data.IsEditor
			data.Mine = append(data.Mine, c)
		default:
			data.Colleagues = append(data.Colleagues, c)
		}
	}
	for i := range records {
		if records[i].Due != "" {
			data.Scheduled = append(data.Scheduled, records[i])
		}
	}
	for _, s := range concerns {
		c := concern{state: s}
		for i := range records {
			if !s.has(&records[i]) {
				continue
			}
			if c.Found++; c.Found <= maxWarnings {
				c.Rows = append(c.Rows, records[i])
			}
		}
		if c.Found > 0 {
			data.Concerns = append(data.Concerns, c)
		}
	}
	return render("home", data), nil
}
