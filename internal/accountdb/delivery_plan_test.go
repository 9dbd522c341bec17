package accountdb

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"palmares/internal/account"
	"palmares/internal/sqldb"
)

// plan returns how the database executes a query.
func plan(t *testing.T, s *kit, query string, args ...any) string {
	t.Helper()
	explain := "EXPLAIN QUERY PLAN "
	if s.SQL.Shared() {
		explain = "EXPLAIN (COSTS OFF) "
	}
	var lines []string
	err := s.SQL.Read(t.Context(), func(tx *sql.Tx) (err error) {
		lines, err = sqldb.Rows(t.Context(), tx, explain+query, func(scan sqldb.Scanner, line *string) error {
			if s.SQL.Shared() {
				return scan(line)
			}
			return scan(new(int), new(int), new(int), line)
		}, args...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines, "\n")
}

func TestAClaimReadsIndexesOnly(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		a := create(t, s, "ada@example.org", account.Pro)
		var endpoints []string
		for range 4 {
			endpoints = append(endpoints, endpoint(t, s, a.ID).ID)
		}
		tools(t, s, 2000, "1 €/mois", monday)
		exec(t, s, "ANALYZE")
		at, since := sqldb.FormatTime(monday), sqldb.FormatTime(monday.Add(-urgentFor))
		one, ids := sqldb.InAfter([]any{at}, endpoints)
		two, more := sqldb.InAfter([]any{at, since}, endpoints)
		for query, args := range map[string][]any{
			anyReady: {at, since}, selectReady: {at, since, 256},
			fmt.Sprintf(selectCandidates, ids): one, fmt.Sprintf(selectPings, more): two,
		} {
			got := plan(t, s, query, args...)
			for _, scan := range []string{"Seq Scan on deliveries", "SCAN d", "SCAN l"} {
				if strings.Contains(got, scan) {
					t.Errorf("%s\nis executed as\n%s", query, got)
				}
			}
			for _, index := range []string{"deliveries_new", "deliveries_again"} {
				if !strings.Contains(query, "d.sequence = 0") && !strings.Contains(got, index) {
					t.Errorf("%s\nis executed without %s, an index of what is due:\n%s", query, index, got)
				}
			}
		}
	})
}
