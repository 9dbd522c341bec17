// Package quota limits how many requests a caller makes in a UTC day.
//
// Requests are counted per account, whatever the number of its keys, or per network for
// callers without a key. What counts depends on the response: a 304 to a key, a refused
// key and server errors are free. Responses are built from memory in microseconds, so the
// API builds the response first and, if it counts, calls Take before writing it; a refusal
// replaces the response with a 429. Nothing is reserved and given back, so nobody is refused
// because of a request that turns out to be free, and every value of Remaining is given
// exactly once.
//
// On SQLite, which has one node, a request is counted in memory, without the database. Run
// saves the counts every half second; a crash loses those of the last second at most.
// On PostgreSQL, callers with a limit are counted in the database, many with one query, so
// that counts are exact on any number of nodes. The counters in memory are then used to
// refuse early, and as a fallback while the database is unreachable. A new day starts by
// swapping one pointer; its counters and key were prepared the day before.
//
// No address is kept, in memory or anywhere: a network is counted under its HMAC-SHA-256
// with a random key of the day. The key is stored beside the counts, so that a restart
// finds them again, and destroyed an hour after the end of the day. Then nothing leads
// from a count to an address any more.
//
// A request goes through the files from top to bottom: Meter.Take in meter.go, the query
// that counts it in shared.go, its day in clock.go, the day's counters in day.go and
// table.go. Run, in run.go, does the rest in the background.
package quota

import (
	"context"
	"log/slog"
	"math"
	"net/netip"
	"time"

	"palmares/internal/pseudonym"
)

// A Tier is a caller's daily limit. An account's plan determines it; see package account.
type Tier uint8

// The tiers, by their names in X-RateLimit-Tier. Free is the tier of the Developer plan.
const (
	Anonymous Tier = iota
	Free
	Pro
)

// Unlimited is the limit of Pro and what remains of it: the greatest number that every
// client can read as an integer.
const Unlimited = math.MaxInt32

func (t Tier) String() string { return tierNames[t] }

// Limit returns the number of requests in a day, Unlimited for Pro.
func (t Tier) Limit() int { return limits[t] }

var (
	tierNames = [...]string{Anonymous: "anonymous", Free: "free", Pro: "pro"}
	limits    = [...]int{Anonymous: 100, Free: 1000, Pro: Unlimited}
)

// A Subject is an account or a network whose requests are counted together.
type Subject struct {
	Tier    Tier
	Account string       // the account's ID; unused for Anonymous
	Network netip.Prefix // for Anonymous only: from clientip.Network
	// Calls, if it is not zero, is for Anonymous only: calls of tools are counted apart from
	// other requests, up to this number.
	Calls uint32
}

// limit returns how many requests are counted, and granted but for Pro.
func (s *Subject) limit() uint32 {
	if s.Tier == Anonymous && s.Calls > 0 {
		return s.Calls
	}
	return counted[s.Tier]
}

// A Grant is the result of counting a request.
type Grant struct {
	Tier      Tier
	Refused   bool // the day's requests are used up: respond 429
	Remaining int  // after this request
	Wait      int  // whole seconds until the reset, rounded up, at least 1
	reset     string
}

// ResetAt returns when the quota is reset, as in X-RateLimit-Reset and `reset_at`:
// `2026-11-16T00:00:00Z`.
func (g Grant) ResetAt() string { return g.reset }

// Counters stores the counts. The store's Usage is one. A day is `2026-11-15`. Except for
// Count the methods are never called concurrently.
type Counters interface {
	// DayKey stores candidate as the key of a day that has none yet, and returns the key
	// that the day has then, in one atomic step.
	DayKey(ctx context.Context, day string, candidate pseudonym.Key) (pseudonym.Key, error)
	// Load returns the totals of a day, each subject once.
	Load(ctx context.Context, day string) (Usage, error)
	// Save adds to the totals of a day in one transaction. No subject is in added twice.
	// Counts of accounts that no longer exist are ignored, or they would block all others.
	Save(ctx context.Context, day string, added Usage) error
	// Prune destroys the keys and the counts of networks of the days before networks, and
	// the counts of accounts of the days before accounts.
	Prune(ctx context.Context, networks, accounts string) error
	// Count grants requests of a day, to each subject as many as the limit of its tier
	// allows (all accounts in it are Free), in one atomic step that is exact across nodes.
	// Refused requests are not counted, and nothing is created for a subject that asks for
	// none. It is called only if Config.Shared is set, and concurrently only for day "",
	// which asks for nothing but the time.
	Count(ctx context.Context, day string, asked Usage) (Tally, error)
}

// Config is what a Meter needs. All fields are required except Shared.
type Config struct {
	Counters Counters
	// Shared says that nodes may share the Counters: callers with a limit are counted there.
	Shared bool
	Now    func() time.Time
	Log    *slog.Logger
}

// A Pseudonym identifies a network for one day. One bit is its family.
type Pseudonym pseudonym.Name

// Usage is how many requests accounts and networks made in a day.
type Usage struct {
	Accounts []AccountCount
	Networks []NetworkCount
}

// AccountCount is the number of requests of an account.
type AccountCount struct {
	Account  string
	Requests int64
}

// NetworkCount is the number of requests of a network.
type NetworkCount struct {
	Network  Pseudonym
	Requests int64
	Limit    int64 // for Count; 0 for the limit of Anonymous
}

// A Tally is the result of Counters.Count.
type Tally struct {
	Now  time.Time // by the store's clock
	Open bool      // it is that day; otherwise nothing was counted
	// The result for each subject; those that the store does not know are missing.
	Accounts map[string]Counted
	Networks map[Pseudonym]Counted
}

// Counted is the result for one subject.
type Counted struct {
	Granted int64 // of those requested
	Used    int64 // on that day so far, including those
}
