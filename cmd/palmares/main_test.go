package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"palmares/internal/pgtest"
)

// The test binary is palmares itself when a script calls it, so that scripts see
// real processes, exit codes and signals.
func TestMain(m *testing.M) {
	process := func() {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
	}
	if os.Getenv(asPalmares) != "" {
		process()
	}
	testscript.Main(withPostgres{m}, map[string]func(){"palmares": process})
}

// withPostgres stops the PostgreSQL that tests started.
type withPostgres struct{ m *testing.M }

func (w withPostgres) Run() int { return pgtest.Run(w.m) }

func TestCommandLine(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:      "testdata/script",
		Deadline: time.Now().Add(2 * time.Minute),
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
