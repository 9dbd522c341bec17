package readerdb_test

import (
	"fmt"
	"testing"

	"palmares/internal/readerdb"
	"palmares/internal/sqldb"
)

func TestReportsBeyondAPageAreCountedAndListed(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		ctx := t.Context()
		for i := range readerdb.MaxReports + 3 {
			err := sqldb.WriteOnce(ctx, s.SQL, `INSERT INTO reports (id, page, text, sealed, created_at, state, closed_by, closed_at)
				VALUES ($1, '', 'Faux.', '', '2026-11-16T09:30:00.000Z', '', '', '')`, fmt.Sprint("rep_", i))
			if err != nil {
				t.Fatal(err)
			}
		}
		list, more, err := s.Reports.OpenBetween(ctx, "2026-11-16", "2026-11-17")
		if len(list) != readerdb.MaxReports || more != 3 || err != nil {
			t.Errorf("%d reports and %d more, %v", len(list), more, err)
		}
		rest, err := s.Reports.List(ctx, readerdb.MaxReports)
		if len(rest) != 3 || err != nil {
			t.Errorf("%d reports on the second page, %v", len(rest), err)
		}
	})
}
