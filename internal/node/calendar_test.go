package node

import (
	"context"
	"database/sql"
	"log/slog"
	"strings"
	"testing"
	"time"

	"palmares/internal/catalog"
	"palmares/internal/catalogdb"
	"palmares/internal/sqldb"
	"palmares/internal/testkit"
)

func TestWhatCannotBePublishedAtItsHourIsSaidOnceByLogMailAndMetric(t *testing.T) {
	st := openOffline(t, testkit.SQLite(t))
	hour := time.Date(2026, 12, 1, 8, 0, 0, 0, time.UTC)
	c := &catalog.Catalog{
		Name: "Essai", URL: "https://essai.example", Categories: []catalog.Category{{Slug: "code", Label: "Code"}},
		Settings: catalog.Settings{Contact: "redaction@essai.example"},
		Scheduled: []catalog.Scheduled{{Due: catalog.FormatTime(hour), Record: &catalog.Tool{
			Slug: "plume", Name: "Plume", Domain: "plume.example", Category: "code", ICP: "mixte", Pricing: "payant", Price: "1 €/mois", Tagline: "x", Tier: 3,
		}}},
	}
	clock := hour.Add(-time.Minute)
	now := func() time.Time { return clock }
	if _, err := st.Catalogue.Publish(t.Context(), c, catalogdb.PublishOptions{Now: now}); err != nil {
		t.Fatal(err)
	}
	err := st.SQL.Write(t.Context(), func(tx *sql.Tx) error {
		return sqldb.Exec(t.Context(), tx, `UPDATE scheduled SET document = replace(document, '"code"', '"perdue"')`)
	})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	calendar := &calendar{store: st, now: now, log: slog.New(slog.NewTextHandler(&out, nil))}
	for _, at := range []time.Time{clock, hour, hour.Add(time.Second)} {
		clock = at
		if err := calendar.advance(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	mails, err := sqldb.Read(t.Context(), st.SQL, func(tx *sql.Tx) ([]string, error) {
		return sqldb.Rows(context.WithoutCancel(t.Context()), tx, `SELECT address || ' ' || kind || ' ' || about FROM mails`, sqldb.ScanText)
	})
	if want := "redaction@essai.example schedule_stuck outils/plume 2026-12-01T08:00:00Z"; err != nil || len(mails) != 1 || mails[0] != want {
		t.Errorf("got %q, %v", mails, err)
	}
	if head, err := st.Catalogue.Head(t.Context()); head.Version != 1 || err != nil {
		t.Errorf("version %d was made of nothing, %v", head.Version, err)
	}
	if said := strings.Count(out.String(), "its category perdue is not declared any more"); said != 1 || calendar.stuck.Load() != 1 {
		t.Errorf("said %d times, %d are stuck: %s", said, calendar.stuck.Load(), &out)
	}
}
