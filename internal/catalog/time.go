package catalog

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // the zones are the same on every machine
)

// DefaultZone is the time zone of a catalogue that names none.
const DefaultZone = "Europe/Paris"

// timeForm is how instants are kept: in UTC and of one width, so that they sort as text.
const timeForm = "2006-01-02T15:04:05Z"

// FormatTime returns an instant as records have it, without fractions of a second.
func FormatTime(t time.Time) string { return t.UTC().Format(timeForm) }

// IsTime reports whether s is an instant as FormatTime returns it.
func IsTime(s string) bool {
	t, err := time.Parse(timeForm, s)
	return err == nil && FormatTime(t) == s
}

// IsZone reports whether s names a time zone of the IANA database.
func IsZone(s string) bool {
	_, err := time.LoadLocation(s)
	return err == nil && s != "" && s != "Local"
}

// Zone returns the time zone of the catalogue.
func (c *Catalog) Zone() *time.Location {
	zone, err := time.LoadLocation(cmp.Or(c.Settings.Timezone, DefaultZone))
	if err != nil { // a later release knows it
		return time.UTC
	}
	return zone
}

// ErrNoTime: a text is no time.
var ErrNoTime = errors.New("no time")

// A ClockError is a time that the clocks of a zone skip or repeat, and the two instants that it may be.
type ClockError struct {
	IsTwice bool
	Either  [2]string
}

func (e *ClockError) Error() string {
	return "the clocks skip or repeat the time: write " + e.Either[0] + " or " + e.Either[1]
}

// ParseTime reads a time of a content folder: RFC 3339, with or without seconds; without an offset it
// is meant in a zone, and a day is its first minute there. The error is ErrNoTime or a
// ClockError.
func ParseTime(s string, zone *time.Location) (time.Time, error) {
	t, err := parseTime(s, zone)
	if len(FormatTime(t)) != len(timeForm) { // such a year would not sort
		return time.Time{}, ErrNoTime
	}
	return t, err
}

func parseTime(s string, zone *time.Location) (time.Time, error) {
	if IsDate(s) {
		return FirstMinute(s, zone), nil
	}
	if hours := len("2006-01-02T15"); len(s) <= hours || s[hours] != ':' { // package time accepts one digit
		return time.Time{}, ErrNoTime
	}
	s = strings.ToUpper(s)
	for _, form := range []string{time.RFC3339, "2006-01-02T15:04Z07:00"} {
		if t, err := time.Parse(form, s); err == nil {
			return t.UTC().Truncate(time.Second), nil
		}
	}
	for _, form := range []string{"2006-01-02T15:04:05", "2006-01-02T15:04"} {
		if wall, err := time.Parse(form, s); err == nil {
			return inZone(wall.Truncate(time.Second), zone)
		}
	}
	return time.Time{}, ErrNoTime
}

// inZone returns the instant at which the clocks of a zone show what wall shows in UTC.
func inZone(wall time.Time, zone *time.Location) (time.Time, error) {
	shown, all := instants(wall, zone)
	switch {
	case len(shown) == 1:
		return shown[0], nil
	case len(all) == 1: // two changes within two days
		return all[0], nil
	}
	write := func(t time.Time) string {
		return t.In(time.FixedZone("", int(wall.Sub(t).Seconds()))).Format(time.RFC3339)
	}
	return time.Time{}, &ClockError{len(shown) > 1, [2]string{write(all[0]), write(all[1])}}
}

// instants returns when the clocks of a zone show what wall shows in UTC, and when they would if they
// were not changed around that time; oldest first.
func instants(wall time.Time, zone *time.Location) (shown, all []time.Time) {
	for _, days := range []int{-1, 1} {
		_, offset := wall.AddDate(0, 0, days).In(zone).Zone()
		all = append(all, wall.Add(-time.Duration(offset)*time.Second))
	}
	slices.SortFunc(all, time.Time.Compare)
	all = slices.CompactFunc(all, time.Time.Equal)
	for _, t := range all {
		if t.In(zone).Format(time.DateTime) == wall.Format(time.DateTime) {
			shown = append(shown, t)
		}
	}
	return shown, all
}

// FirstMinute returns when a day, which must be one, begins in a zone. Some clocks skip midnight, or
// repeat it.
func FirstMinute(day string, zone *time.Location) time.Time {
	midnight, _ := time.Parse(time.DateOnly, day)
	shown, all := instants(midnight, zone)
	if len(shown) > 0 {
		return shown[0]
	}
	begin, _ := all[len(all)-1].In(zone).ZoneBounds()
	return begin.UTC()
}
