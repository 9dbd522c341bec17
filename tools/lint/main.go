// Command lint is the analyzers of vet and staticcheck as one tool of `go vet`, which keeps what
// it found in Go's build cache. It analyzes only the packages of this repository: what others
// declare is read from their compiled form.
package main

import (
	"encoding/json"
	"log"
	"os"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/scannererr"
	"golang.org/x/tools/go/analysis/suite/vet"
	"golang.org/x/tools/go/analysis/unitchecker"
	"honnef.co/go/tools/analysis/lint"
	"honnef.co/go/tools/simple"
	"honnef.co/go/tools/staticcheck"
	"honnef.co/go/tools/stylecheck"
	"honnef.co/go/tools/unused"
)

// unusedCode reports what unused.Analyzer only returns. `go vet` gives it each package together
// with its tests.
var unusedCode = &analysis.Analyzer{
	Name:     "unusedcode",
	Doc:      "reports code that nothing uses",
	Requires: []*analysis.Analyzer{unused.Analyzer.Analyzer},
	Run: func(pass *analysis.Pass) (any, error) {
		for _, o := range pass.ResultOf[unused.Analyzer.Analyzer].(unused.Result).Unused {
			for file := range pass.Fset.Iterate {
				if file.Name() == o.Position.Filename {
					pass.Reportf(file.Pos(o.Position.Offset), "%s %s is unused", o.Kind, o.Name)
				}
			}
		}
		return nil, nil
	},
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("lint: ")
	if skipped(os.Args[len(os.Args)-1]) {
		return
	}
	analyzers := []*analysis.Analyzer{unusedCode}
	for _, a := range vet.Suite {
		if a != scannererr.Analyzer { // most scans here end with a comparison that a failure would break
			analyzers = append(analyzers, a)
		}
	}
	for _, suite := range [][]*lint.Analyzer{staticcheck.Analyzers, simple.Analyzers, stylecheck.Analyzers} {
		for _, a := range suite {
			if !a.Doc.NonDefault {
				analyzers = append(analyzers, a.Analyzer)
			}
		}
	}
	unitchecker.Main(analyzers...)
}

// exits are the packages with functions that do not return, which only analyzing them shows.
var exits = []string{"runtime", "syscall", "os", "log", "testing"}

// skipped reports whether the argument is the configuration of a package that is only imported
// here, and then writes the empty result that `go vet` expects.
func skipped(path string) bool {
	if !strings.HasSuffix(path, ".cfg") {
		return false
	}
	data, err := os.ReadFile(path)
	if err != nil {
		log.Fatal(err)
	}
	var config struct {
		ImportPath, VetxOutput string
		VetxOnly               bool
	}
	if err := json.Unmarshal(data, &config); err != nil {
		log.Fatalf("%s: %v", path, err)
	}
	if !config.VetxOnly || slices.Contains(exits, config.ImportPath) || strings.HasPrefix(config.ImportPath, "palmares/") {
		return false
	}
	if err := os.WriteFile(config.VetxOutput, nil, 0o666); err != nil {
		log.Fatal(err)
	}
	return true
}
