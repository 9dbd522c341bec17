package catalog

import "time"

// IsDate reports whether s is an existing day, written YYYY-MM-DD.
func IsDate(s string) bool {
	_, err := time.Parse(time.DateOnly, s)
	return err == nil && len(s) == len(time.DateOnly)
}

// Day returns the UTC day of t. The catalogue has no finer unit of time.
func Day(t time.Time) string { return t.UTC().Format(time.DateOnly) }
