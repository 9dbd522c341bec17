// Package quotatest provides quota.Counters for tests.
package quotatest

import (
	"context"
	"errors"

	"palmares/internal/pseudonym"
	"palmares/internal/quota"
)

// Counters saves nothing, for a meter that counts in memory.
type Counters struct {
	// Usage is what was saved before, by day.
	Usage map[string]quota.Usage
}

// DayKey implements quota.Counters.
func (Counters) DayKey(_ context.Context, _ string, candidate pseudonym.Key) (pseudonym.Key, error) {
	return candidate, nil
}

// Load implements quota.Counters.
func (c Counters) Load(_ context.Context, day string) (quota.Usage, error) {
	return c.Usage[day], nil
}

// Save implements quota.Counters.
func (Counters) Save(context.Context, string, quota.Usage) error { return nil }

// Prune implements quota.Counters.
func (Counters) Prune(context.Context, string, string) error { return nil }

// Count implements quota.Counters. Nodes cannot share these.
func (Counters) Count(context.Context, string, quota.Usage) (quota.Tally, error) {
	return quota.Tally{}, errors.New("these counters are not shared")
}
