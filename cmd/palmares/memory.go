package main

import (
	"io/fs"
	"os"
	"path"
	"runtime/debug"
	"strconv"
	"strings"
)

// memoryLimit returns how much memory this process may use: what is given, or the limit of
// its control group; 0 for none.
func memoryLimit(given byteCount) int64 {
	if given > 0 {
		return int64(given)
	}
	group, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return 0 // not Linux
	}
	return groupLimit(os.DirFS("/sys/fs/cgroup"), string(group))
}

// groupLimit returns the lowest limit of a control group and of those above it; 0 for none.
// Inside a container, the group is named as outside, and its files are at the root.
func groupLimit(root fs.FS, group string) (limit int64) {
	lower := func(file string) {
		text, err := fs.ReadFile(root, file)
		n, parseErr := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
		// version 1 has a huge number for none
		if err == nil && parseErr == nil && n < 1<<60 && (limit == 0 || n < limit) {
			limit = n
		}
	}
	for line := range strings.Lines(group) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) != 3 || fields[1] != "" && fields[1] != "memory" {
			continue
		}
		folder, file := ".", "memory.max"
		if fields[1] == "memory" {
			folder, file = "memory", "memory.limit_in_bytes"
		}
		for at := strings.Trim(fields[2], "/"); at != "" && at != "."; at = path.Dir(at) {
			lower(path.Join(folder, at, file))
		}
		lower(path.Join(folder, file))
	}
	return limit
}

// limitMemory has the garbage collector work harder before a limit is reached, unless
// GOMEMLIMIT says otherwise. A tenth is for what Go does not manage: SQLite, stacks of the
// system, the binary.
func limitMemory(limit int64) {
	if limit > 0 && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(limit / 10 * 9)
	}
}
