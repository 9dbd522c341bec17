package mirror

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestADatabaseIsComparedWithAServerRecordByRecord(t *testing.T) {
	there, here := newOrigin(t), newOrigin(t)
	files := some(60)
	there.publish(files)
	here.clock.Advance(24 * time.Hour)
	here.publish(files) // its records have other dates
	client, err := NewClient(there.url, "")
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	compare := func() *Comparison {
		t.Helper()
		feed, err := here.store.Catalogue.Feed(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		found, err := client.Compare(t.Context(), feed)
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	if found := compare(); found.Equal() || len(found.Lines()) != maxLines+1 || !strings.Contains(found.Summary("x"), "61 different") {
		t.Errorf("databases of different days: %q", found.Lines())
	}
	copied := databases.OpenDSN(t, databases.SQLite(t))
	mirror := follow(t, there, copied)
	mirror.syncs(there)
	here.store = copied
	there.requests()
	if found := compare(); !found.Equal() || found.Records != 64 || there.requests()[changesPath] != 1 {
		t.Errorf("a mirror differs: %q", found.Lines())
	}
	delete(files, "outils/outil-7.md")
	setTool(files, "outil-8", "price: 1000 €/mois", "")
	setTool(files, "neuf", "price: 1 €/mois", "")
	there.publish(files)
	found := compare()
	want := []string{"outil neuf: missing here", "outil outil-7: missing there", "outil outil-8: different"}
	if !slices.Equal(found.Lines(), want) || found.Summary("https://x.example") !=
		"the database is not what https://x.example serves: 1 missing here, 1 missing there, 1 different; if it is a mirror, wait for its next copy, otherwise publish again" {
		t.Errorf("%q: %s", found.Lines(), found.Summary("https://x.example"))
	}
}
