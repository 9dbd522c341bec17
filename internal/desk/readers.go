package desk

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"net/http"
	"strconv"
	"time"

	"palmares/internal/chart"
	"palmares/internal/dataset"
	"palmares/internal/forms"
	"palmares/internal/readerdb"
	"palmares/internal/readership"
)

type readersPage struct {
	page
	Path  string // of the only page that is shown; "" for all
	IsOff bool   // nobody counts any more
	Chart *chart.Chart

	Pages, Hosts, Missed []readerdb.Views
}

// showReaders shows how often pages were read in 30 days.
func (d *records) showReaders(r *request) (*response, error) {
	const most = 20 // of each
	data := readersPage{page: r.page("Audience"), Path: r.URL.Query().Get("page"), IsOff: !d.Site.CountsReaders()}
	now := d.Now().UTC()
	from, to := monthBefore(now), now.Format(time.DateOnly)
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

// monthBefore returns the first of the 30 days that are shown.
func monthBefore(now time.Time) string { return now.UTC().AddDate(0, 0, -29).Format(time.DateOnly) }

// sendReaders sends the views of every page, and from every host, day by day, since one that may be chosen.
func (d *records) sendReaders(r *request) (*response, error) {
	since := cmp.Or(r.URL.Query().Get("depuis"), monthBefore(d.Now()))
	if _, err := time.Parse(time.DateOnly, since); err != nil {
		return nil, refused("depuis n’est pas un jour\u00a0: écrivez-le comme 2026-11-01.")
	}
	days, err := d.Readership.Daily(r.Context(), "", since)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	out := csv.NewWriter(&b) // which keeps the first error; a buffer has none
	out.UseCRLF = true
	_ = out.Write([]string{"jour", "genre", "nom", "vues"})
	for _, day := range days {
		for _, kind := range []struct{ stored, label string }{{readership.Pages, "page"}, {readership.Hosts, "site"}} {
			all, err := d.Readership.Top(r.Context(), kind.stored, day.Day, day.Day, 1_000_000)
			if err != nil {
				return nil, err
			}
			for _, v := range all {
				_ = out.Write([]string{v.Day, kind.label, dataset.Cell(v.Name), strconv.Itoa(v.Views)})
			}
		}
	}
	out.Flush()
	return forms.File(http.StatusOK, "text/csv; charset=utf-8", b.Bytes(), "Content-Disposition", `attachment; filename="audience.csv"`), nil
}
