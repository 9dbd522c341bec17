package main

import (
	"math"

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
