package catalog_test

import (
	"errors"
	"testing"
	"time"

	"palmares/internal/catalog"
)

func TestTimesAreReadInTheZoneOfTheCatalogue(t *testing.T) {
	for _, test := range []struct{ zone, written, want string }{
		{"", "2026-12-01T09:00", "2026-12-01T08:00:00Z"},
		{"", "2026-07-01T09:00:30", "2026-07-01T07:00:30Z"},
		{"", "2026-12-01T09:00Z", "2026-12-01T09:00:00Z"},
		{"", "2026-12-01t09:00:00z", "2026-12-01T09:00:00Z"},
		{"", "2026-12-01T09:00:00.9-05:00", "2026-12-01T14:00:00Z"},
		{"", "2026-12-01", "2026-11-30T23:00:00Z"},
		{"America/New_York", "2026-12-01", "2026-12-01T05:00:00Z"},
		{"Asia/Kathmandu", "2026-12-01T09:00", "2026-12-01T03:15:00Z"},
		{"", "2028-02-29T12:00", "2028-02-29T11:00:00Z"},
		{"", "2028-02-29", "2028-02-28T23:00:00Z"},
		// Around the changes of the hour.
		{"", "2027-03-28T01:59", "2027-03-28T00:59:00Z"},
		{"", "2027-03-28T03:00", "2027-03-28T01:00:00Z"},
		{"", "2027-10-31T01:59", "2027-10-30T23:59:00Z"},
		{"", "2027-10-31T03:00", "2027-10-31T02:00:00Z"},
		{"", "2027-10-31T02:30+02:00", "2027-10-31T00:30:00Z"},
		{"", "2027-10-31T02:30+01:00", "2027-10-31T01:30:00Z"},
		{"", "2027-03-28", "2027-03-27T23:00:00Z"},
		{"Africa/Cairo", "2027-04-30", "2027-04-29T22:00:00Z"},   // begins at 01:00
		{"America/Havana", "2027-11-07", "2027-11-07T04:00:00Z"}, // has midnight twice
	} {
		c := &catalog.Catalog{Settings: catalog.Settings{Timezone: test.zone}}
		got, err := catalog.ParseTime(test.written, c.Zone())
		if err != nil || catalog.FormatTime(got) != test.want {
			t.Errorf("%s in %s is %s, %v; want %s", test.written, c.Zone(), catalog.FormatTime(got), err, test.want)
		}
	}
}

func TestATimeThatClocksSkipOrRepeatNamesBothInstants(t *testing.T) {
	for _, test := range []struct {
		written    string
		isTwice    bool
		one, other string
	}{
		{"2027-03-28T02:30", false, "2027-03-28T02:30:00+02:00", "2027-03-28T02:30:00+01:00"},
		{"2027-10-31T02:30", true, "2027-10-31T02:30:00+02:00", "2027-10-31T02:30:00+01:00"},
		{"2027-10-31T02:00:00", true, "2027-10-31T02:00:00+02:00", "2027-10-31T02:00:00+01:00"},
	} {
		_, err := catalog.ParseTime(test.written, (&catalog.Catalog{}).Zone())
		clock, ok := errors.AsType[*catalog.ClockError](err)
		if !ok || clock.IsTwice != test.isTwice || clock.Either != [2]string{test.one, test.other} {
			t.Errorf("%s: %v", test.written, err)
		}
	}
	for _, written := range []string{"", "demain", "2027-02-29", "2027-02-29T09:00", "2026-12-01 09:00", "2026-12-01T9:00", "2026-12-01T24:00", "2026-12-01T09:00:60Z", "2026-12-01T09", "2026-12-01T09:00+1"} {
		if got, err := catalog.ParseTime(written, time.UTC); err != catalog.ErrNoTime {
			t.Errorf("%q is %v, %v", written, got, err)
		}
	}
	for zone, want := range map[string]bool{"Europe/Paris": true, "UTC": true, "Local": false, "": false, "Europe/Lutèce": false, "../etc": false} {
		if catalog.IsZone(zone) != want {
			t.Errorf("%q is a zone: %t", zone, !want)
		}
	}
}
