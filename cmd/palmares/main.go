// Command palmares turns a folder of reviews into a public catalogue: an API, a
// site, and the tools to publish it.
//
// This package is the only place for flags, environment and wiring; each command
// has a file. Everything below takes what it needs as arguments.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"palmares/internal/store"
)

func main() {
	for _, pair := range os.Environ() { // in compose files and units, empty means not given
		if name, value, _ := strings.Cut(pair, "="); strings.HasPrefix(name, "PALMARES_") && value == "" {
			_ = os.Unsetenv(name) // fails only for names that cannot be
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// commands is the whole command line: kong makes flags, environment variables
// and help of it.
type commands struct {
	Database string `help:"Where the catalogue, accounts and keys are kept: sqlite:PATH or postgres://…" default:"sqlite:data/palmares.db" env:"PALMARES_DATABASE"`

	Serve    serveCommand    `cmd:"" help:"Serve the API and the site."`
	Validate validateCommand `cmd:"" help:"Read a content folder and print every problem as file:line: sentence."`
	Publish  publishCommand  `cmd:"" help:"Make a content folder the whole catalogue, in one transaction."`
	Export   exportCommand   `cmd:"" help:"Write the published catalogue as a content folder."`
	Generate generateCommand `cmd:"" help:"Write a synthetic catalogue of any size as a content folder."`
	Account  accountCommand  `cmd:"" help:"Accounts: create, list, plan, delete."`
	Key      keyCommand      `cmd:"" help:"API keys: create, list, revoke."`
	Webhook  webhookCommand  `cmd:"" help:"Webhooks: add, list, deliveries, resend."`
	Version  versionCommand  `cmd:"" help:"Print the version, the commit and the Go version."`
}

// A session is what a command runs with.
type session struct {
	ctx      context.Context
	stdout   io.Writer
	stderr   io.Writer
	database string
	now      func() time.Time
}

// open opens the database of the command line.
func (s *session) open() (*store.Store, error) { return store.Open(s.ctx, s.database) }

// withStore runs do over the database and closes it.
func (s *session) withStore(do func(*store.Store) error) error {
	st, err := s.open()
	if err != nil {
		return err
	}
	return errors.Join(do(st), st.Close())
}

// The exit codes: a command line that cannot be understood, and everything else
// that fails.
const (
	exitFailure = 1
	exitUsage   = 2
)

// A refusedValue is an option that was understood and whose value is not allowed.
type refusedValue struct{ text string }

func (e *refusedValue) Error() string { return e.text }

// isRefusal tells a value that is not allowed from a command line that cannot be
// understood. Of a value from the environment, or of a yes-or-no option, kong
// gives nothing but a text.
func isRefusal(err error) bool {
	_, ours := errors.AsType[*refusedValue](err)
	return ours || strings.Contains(err.Error(), "(from envar ") || strings.Contains(err.Error(), "bool value must be")
}

// run is the whole program but for the process around it.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var cli commands
	exited := -1
	parser, err := kong.New(&cli,
		kong.Name("palmares"),
		kong.Description("Reviews, scores, prices and obituaries of AI tools: a folder of Markdown becomes a public API and a site."),
		kong.Writers(stdout, stderr),
		kong.Exit(func(code int) { exited = code }), // only --help exits
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true}),
	)
	if err != nil {
		fmt.Fprintln(stderr, "palmares:", err)
		return exitFailure
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	parsed, err := parser.Parse(args)
	if exited >= 0 {
		return exited
	}
	if err != nil {
		if isRefusal(err) {
			fmt.Fprintf(stderr, "palmares: %v\n", err)
			return exitFailure
		}
		fmt.Fprintf(stderr, "palmares: %v; run `palmares --help`\n", err)
		return exitUsage
	}
	err = parsed.Run(&session{ctx: ctx, stdout: stdout, stderr: stderr, database: cli.Database, now: time.Now})
	switch {
	case err == nil:
		return 0
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		fmt.Fprintln(stderr, "palmares: interrupted; nothing was changed")
	default:
		fmt.Fprintf(stderr, "palmares: %s\n", strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return exitFailure
}
