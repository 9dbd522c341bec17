package snapshot

import (
	"slices"

	"palmares/internal/catalog"
)

// LatestTools returns, in the order of the catalogue, the tools with a change on one of the
// last days, of as many days as it takes to find n tools.
func (s *Snapshot) LatestTools(n int) []*catalog.Tool {
	days := make([]string, len(s.Catalog.Tools)) // by tool
	for i, t := range s.Catalog.Tools {
		days[i] = lastChange(t)
	}
	sorted := slices.Sorted(slices.Values(days))
	since := ""
	if n <= len(sorted) {
		since = sorted[len(sorted)-n]
	}
	var latest []*catalog.Tool
	for i, day := range days {
		if day >= since {
			latest = append(latest, s.Catalog.Tools[i])
		}
	}
	return latest
}

// lastChange returns the last day on which the date or a history of a tool tells a change.
func lastChange(t *catalog.Tool) string {
	last := t.UpdatedAt
	for i := range t.PriceHistory {
		last = max(last, t.PriceHistory[i].ChangedAt)
	}
	for i := range t.ScoreHistory {
		if s := &t.ScoreHistory[i]; s.ChangesScore() {
			last = max(last, s.ChangedAt)
		}
	}
	return last
}
