package main

import (
	"maps"
	"os"
	"slices"
	"strings"
)

const secondServer = "mirrors are gone: for a second server, run nodes on one PostgreSQL, put a CDN in front, " +
	"or have Litestream copy a SQLite database; docs/scaling.md says which of them is for what"

// goneNames are the commands and options that earlier builds had, and what to use instead.
var goneNames = map[string]string{
	"mirror": secondServer,
	"verify": "verify is gone: a copy is exact if its state is that of the server, which /data/v1/export and " +
		"/data/v1/changes have",
	"readership": "readership is gone as a command: the desk shows it at /redaction/audience, with a CSV file",
	"--mirror":   secondServer, "--mirror-interval": secondServer,
	"--export-space": "--export-space is gone: the folder of exports has the files of the served version and of " +
		"the one before, and no more; remove the option",
}

// gone returns the sentence about a command, an option or a variable that is gone; "" if none is asked for.
func gone(args []string) string {
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	command := ""
	for i, arg := range args {
		option, _, _ := strings.Cut(arg, "=")
		switch {
		case strings.HasPrefix(option, "--") && goneNames[option] != "":
			return goneNames[option]
		case command == "" && !strings.HasPrefix(arg, "-") && (i == 0 || args[i-1] != "--database"):
			command = arg
		}
	}
	for _, option := range slices.Sorted(maps.Keys(goneNames)) {
		name, isOption := strings.CutPrefix(option, "--")
		name = variable(name)
		if isOption && (command == "serve" || command == "check") && os.Getenv(name) != "" { // which have settings
			return goneNames[option] + " (" + name + " is set)"
		}
	}
	return goneNames[command]
}

// variable returns the name of the variable of an option.
func variable(option string) string {
	return "PALMARES_" + strings.ToUpper(strings.ReplaceAll(option, "-", "_"))
}
