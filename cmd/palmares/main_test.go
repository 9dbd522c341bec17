package main

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"palmares/internal/keyring"
	"palmares/internal/node"
	"palmares/internal/sqldb"
	"palmares/internal/testkit"
)

// databases are migrated ones.
var databases = testkit.Migrated[*node.Database]{Open: node.Open}

// The test binary is also the program: under the name of one of these commands, it runs that.
func TestMain(m *testing.M) {
	testscript.Main(testRun{m}, map[string]func(){"palmares": main, "patient": patientMain})
}

// patientMain is palmares that waits a minute for its database where palmares waits a quarter
// of a second before it goes on without. What is exact while the database responds can be
// tested with it on a machine of any speed.
func patientMain() {
	keyring.StoreTimeout, sqldb.CountTimeout = time.Minute, time.Minute
	main()
}

// A testRun runs the tests with the environment of all commands.
type testRun struct{ m *testing.M }

func (r testRun) Run() int {
	// Nodes that share a PostgreSQL share a key. The demo takes a second to read: tests
	// that need it turn it on. Commands speak English, wherever the tests run.
	for name, value := range map[string]string{"PALMARES_SECRET_KEY": secretKey('0'), "PALMARES_DEMO": "off", "LC_ALL": "C"} {
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	return testkit.Run(r.m)
}

func TestCommandLine(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:      "testdata/script",
		Deadline: time.Now().Add(30 * time.Minute), // bounds a script that hangs, on any machine
		Setup: func(env *testscript.Env) error {
			program, err := exec.LookPath("palmares")
			env.Setenv("PALMARES", program)
			return err
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
