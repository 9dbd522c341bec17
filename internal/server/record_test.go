package server

import (
	"testing"
	"time"
)

func TestTimesInTheLogHaveOneForm(t *testing.T) {
	paris := time.FixedZone("", 3600)
	for _, at := range []time.Time{
		time.Date(2026, 11, 15, 8, 7, 6, 0, time.UTC), time.Date(2026, 1, 2, 3, 4, 5, 999_999_999, time.UTC),
		time.Date(2027, 1, 1, 0, 30, 0, 1000, paris), time.Date(2026, 12, 31, 23, 59, 59, 12_345_678, paris),
	} {
		if got, want := string(appendLogTime([]byte("x"), at)), "x"+at.UTC().Format(logTime); got != want {
			t.Errorf("%s, not %s", got, want)
		}
	}
}
