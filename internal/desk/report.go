package desk

import "palmares/internal/accountdb"

// reportsPage is what readers say is wrong.
type reportsPage struct {
	page
	Reports []accountdb.Report
}

func (d *desk) listReports(r *request) (*response, error) {
	list, err := d.Reports.List(r.Context())
	if err != nil {
		return nil, err
	}
	return render("reports", reportsPage{page: r.page("Signalements"), Reports: list}), nil
}

func (d *desk) closeReport(r *request) (*response, error) {
	state := r.PostForm.Get("etat")
	if state != accountdb.ReportFixed && state != accountdb.ReportNotSo {
		return nil, refused("Un signalement est corrigé, ou sans objet\u00a0: choisissez l’un des deux.")
	}
	if err := d.Reports.Close(r.Context(), r.PathValue("id"), state, r.Name, r.now); err != nil {
		return nil, err
	}
	return seeOther(reportsPath, "regle"), nil
}
