package desk_test

import (
	"net/http"
	"testing"

	"palmares/internal/readership"
)

func TestEditorsDownloadTheViewsOfEveryPageAndFromEverySite(t *testing.T) {
	each(t, func(t *testing.T, n *newsroom) {
		if err := n.db.Readership.Save(t.Context(), &readership.Batch{Writer: "2026-11-15 x", Number: 1, Views: map[readership.Name]int64{
			{Day: "2026-09-01", Kind: readership.Pages, Name: "/"}:               7,
			{Day: "2026-11-14", Kind: readership.Pages, Name: "/outils"}:         2,
			{Day: "2026-11-15", Kind: readership.Pages, Name: "/outils"}:         3,
			{Day: "2026-11-15", Kind: readership.Pages, Name: "/"}:               4,
			{Day: "2026-11-15", Kind: readership.Hosts, Name: "-1+1.example"}:    2,
			{Day: "2026-11-15", Kind: readership.Hosts, Name: "forum.example,x"}: 1,
		}}); err != nil {
			t.Fatal(err)
		}
		n.as("Ada").get("/redaction/audience").OK().Contains(`href="/redaction/audience.csv"`)
		const month = "2026-11-14,page,/outils,2\r\n2026-11-15,page,/,4\r\n2026-11-15,page,/outils,3\r\n" +
			"2026-11-15,site,'-1+1.example,2\r\n2026-11-15,site,\"forum.example,x\",1\r\n"
		n.as("Ada").get("/redaction/audience.csv").OK().Equals("jour,genre,nom,vues\r\n"+month).
			HasHeader("Content-Type", "text/csv; charset=utf-8")
		n.as("Ada").get("/redaction/audience.csv?depuis=2026-09-01").OK().Equals("jour,genre,nom,vues\r\n2026-09-01,page,/,7\r\n" + month)
		n.as("Ada").get("/redaction/audience.csv?depuis=hier").Is(http.StatusUnprocessableEntity)
	})
}
