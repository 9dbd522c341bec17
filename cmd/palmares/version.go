package main

import (
	"runtime/debug"
)

// version is set by the linker for a release.
var version = "dev"

type versionCommand struct{}

// Run prints what this binary is.
func (versionCommand) Run(inv *invocation) error {
	commit, goVersion := buildInfo()
	return inv.printf("palmares %s\ncommit %s\n%s\n", version, commit, goVersion)
}

// buildInfo returns the commit and the Go version of this binary, as far as they are known.
func buildInfo() (commit, goVersion string) {
	commit, goVersion = "unknown", "unknown"
	if info, ok := debug.ReadBuildInfo(); ok {
		goVersion = info.GoVersion
		for _, kv := range info.Settings {
			if kv.Key == "vcs.revision" {
				commit = kv.Value
			}
		}
	}
	return commit, goVersion
}

// release names what this binary is: others may write other bytes from the same records.
func release() string {
	commit, goVersion := buildInfo()
	return version + " " + commit + " " + goVersion
}
