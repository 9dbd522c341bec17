package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"palmares/internal/testkit"
)

// TestMain builds palmares, so that tests see real processes, exit codes and signals.
func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "palmares-test-")
	if err != nil {
		panic(err)
	}
	binary = filepath.Join(dir, "palmares")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		panic(fmt.Sprintf("%v: %s", err, out))
	}
	code := testkit.Run(m)
	if err := os.RemoveAll(dir); err != nil {
		panic(err)
	}
	os.Exit(code)
}

func TestCommandLine(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:      "testdata/script",
		Deadline: time.Now().Add(2 * time.Minute),
		Setup: func(env *testscript.Env) error {
			env.Setenv("PATH", filepath.Dir(binary)+string(os.PathListSeparator)+env.Getenv("PATH"))
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits": exits,
		},
	})
}

// exits runs palmares and wants an exit code: `exits 2 nonsense`. What it wrote
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
