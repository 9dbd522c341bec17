package main

import (
	"runtime/debug"
)

// version is that of the release that this source became or will become.
const version = "0.9.0"

// commit is set by the linker where Go does not record it.
var commit string

type versionCommand struct{}

// Run prints what this binary is.
func (versionCommand) Run(inv *invocation) error {
	of, goVersion := buildInfo()
	return inv.printf("palmares %s\ncommit %s\n%s\n", version, of, goVersion)
}

// buildInfo returns the commit and the Go version of this binary, as far as they are known.
func buildInfo() (of, goVersion string) {
	of, goVersion = "unknown", "unknown"
	if info, ok := debug.ReadBuildInfo(); ok {
		goVersion = info.GoVersion
		for _, kv := range info.Settings {
			if kv.Key == "vcs.revision" {
				of = kv.Value
			}
		}
	}
	if commit != "" {
		of = commit
	}
	return of, goVersion
}
