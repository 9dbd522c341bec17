package desk

import (
	"strconv"

	"palmares/internal/account"
	"palmares/internal/readerdb"
)

// reportsPage is what readers say is wrong.
type reportsPage struct {
	page
	Reports []readerdb.Report
	Next    int // the page after; 0 for none
}

func (d *records) listReports(r *request) (*response, error) {
	n, _ := strconv.Atoi(r.FormValue("page"))
	n = min(max(n, 1), 10_000)
	list, err := d.Reports.List(r.Context(), (n-1)*readerdb.MaxReports)
	if err != nil {
		return nil, err
	}
	for i := range list {
		list[i].CreatedAt = list[i].CreatedAt.In(zoneOf(r.folder))
		if !r.Role.Includes(account.Editor) {
			list[i].Address = ""
		}
	}
	data := reportsPage{page: r.page("Signalements"), Reports: list}
	if len(list) == readerdb.MaxReports {
		data.Next = n + 1
	}
	return render("reports", data), nil
}

func (d *records) closeReport(r *request) (*response, error) {
	state := r.PostForm.Get("etat")
	if state != readerdb.ReportFixed && state != readerdb.ReportNotSo {
		return nil, refused("Un signalement est corrigé, ou sans objet\u00a0: choisissez l’un des deux.")
	}
	if err := d.Reports.Close(r.Context(), r.PathValue("id"), state, r.Name, r.Now); err != nil {
		return nil, err
	}
	return seeOther(reportsPath, "regle"), nil
}
