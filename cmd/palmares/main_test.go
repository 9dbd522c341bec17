package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"palmares/internal/store"
	"palmares/internal/testkit"
)

// The tests see real processes, exit codes and signals. Both binaries are built
// without the race detector: a process starts much faster, and these tests start many.
var (
	// shipped is palmares as users run it.
	shipped string
	// patient waits a minute for its database where palmares waits a quarter of a second
	// before it goes on without. What is exact while the database answers can be
	// tested with it on a machine of any speed.
	patient string
)

// patience are the constants that patient is built with.
var patience = map[string]string{"StoreTimeout": "time.Minute", "countTimeout": "time.Minute"}

// databases are migrated ones.
var databases = testkit.Migrated[*store.Store]{Open: store.Open}

func TestMain(m *testing.M) { os.Exit(buildAndRun(m)) }

func buildAndRun(m *testing.M) (code int) {
	dir, err := os.MkdirTemp("", "palmares-test-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	shipped, patient = filepath.Join(dir, "palmares"), filepath.Join(dir, "patient", "palmares")
	if err := build(shipped, nil); err != nil {
		panic(err)
	}
	overlay, err := patientSource()
	if err != nil {
		panic(err)
	}
	if err := build(patient, overlay); err != nil {
		panic(err)
	}
	return testkit.Run(m)
}

// build builds palmares with some of its source files replaced: contents by path.
func build(binary string, overlay map[string]string) error {
	dir, err := os.MkdirTemp("", "palmares-overlay-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	replace := map[string]string{}
	for path, contents := range overlay {
		file := filepath.Join(dir, fmt.Sprint(len(replace)))
		if err := os.WriteFile(file, []byte(contents), 0o600); err != nil {
			return err
		}
		if path, err = filepath.Abs(path); err != nil {
			return err
		}
		replace[path] = file
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return err
	}
	list := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(list, text, 0o600); err != nil {
		return err
	}
	if out, err := exec.Command("go", "build", "-overlay", list, "-o", binary, ".").CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	return nil
}

// patientSource returns the source files that declare the constants of patience,
// with their new values.
func patientSource() (map[string]string, error) {
	overlay, found := map[string]string{}, 0
	err := filepath.WalkDir("../../internal", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for name, value := range patience {
			declaration := regexp.MustCompile(`(?m)^(const |\t)` + name + `\s+= .*$`)
			if declaration.Match(text) {
				text = declaration.ReplaceAll(text, []byte("${1}"+name+" = "+value))
				overlay[path] = string(text)
				found++
			}
		}
		return nil
	})
	if err == nil && found != len(patience) {
		err = fmt.Errorf("the tests build palmares with other values for %v, and found %d declarations of them", patience, found)
	}
	return overlay, err
}

func TestCommandLine(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:      "testdata/script",
		Deadline: time.Now().Add(30 * time.Minute), // bounds a script that hangs, on any machine
		Setup: func(env *testscript.Env) error {
			env.Setenv("PALMARES", shipped)
			env.Setenv("PATH", filepath.Dir(shipped)+string(os.PathListSeparator)+env.Getenv("PATH"))
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits": exits,
		},
	})
}

// exits runs palmares and expects an exit code: `exits 2 nonsense`. What it wrote
// can be matched with stdout and stderr as after exec.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	err := ts.Exec("palmares", args[1:]...)
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		ts.Fatalf("palmares %v: %v", args[1:], err)
	}
	if got := strconv.Itoa(exit.ExitCode()); got != args[0] {
		ts.Fatalf("palmares %v: exit %s, not %s", args[1:], got, args[0])
	}
}
