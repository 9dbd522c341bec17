package main

import (
	"math"
	"os"
	"runtime/debug"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// memoryLimit returns how much memory this process may use: what is given, or the limit of
// its control group; 0 for none.
func memoryLimit(given byteCount) int64 {
	if given > 0 {
		return int64(given)
	}
	limit, err := memlimit.FromCgroup()
	if err != nil || limit > math.MaxInt64 {
		return 0 // no limit, or a system without control groups
	}
	return int64(limit)
}

// limitMemory has the garbage collector work harder before a limit is reached, unless
// GOMEMLIMIT says otherwise. A tenth is for what Go does not manage: SQLite, stacks of the
// system, the binary.
func limitMemory(limit int64) {
	if limit > 0 && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(limit / 10 * 9)
	}
}
