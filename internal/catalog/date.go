package catalog

import "time"

// IsDate tells whether s is a day of the calendar written YYYY-MM-DD.
func IsDate(s string) bool {
	_, err := time.Parse(time.DateOnly, s)
	return err == nil && len(s) == len(time.DateOnly)
}

// Day is the UTC day of a moment, the only clock the catalogue knows.
func Day(t time.Time) string { return t.UTC().Format(time.DateOnly) }
