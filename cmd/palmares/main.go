// Command palmares turns a folder of reviews into a public catalogue: an API, a
// site, and the tools to publish it.
//
// This package is the only one that knows flags and environment variables. Each command has a
// file.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"palmares/internal/systemd"
)

func main() {
	for _, pair := range os.Environ() { // in compose files and units, empty means not set
		if name, value, _ := strings.Cut(pair, "="); strings.HasPrefix(name, "PALMARES_") && value == "" {
			_ = os.Unsetenv(name) // fails only for impossible names
		}
	}
	// Signals are handled to the end: one more than needed must not kill a process that
	// is about to exit properly.
	ctx, _ := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	if err := installed.adopt(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "palmares:", err)
		os.Exit(exitFailure)
	}
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// commands is the whole command line: kong derives flags, environment variables and help
// from it.
type commands struct {
	Database string `help:"Database for the catalogue, accounts and keys: sqlite:PATH or postgres://…" default:"sqlite:data/palmares.db" env:"PALMARES_DATABASE"`

	Init     initCommand     `cmd:"" group:"Write:" help:"Write a content folder to start from, with one example of each kind of record."`
	Validate validateCommand `cmd:"" group:"Write:" help:"Read a content folder and print every problem as file:line: message."`
	Preview  previewCommand  `cmd:"" group:"Write:" help:"Show a content folder with its drafts, and reload the page when a file changes."`
	Sources  sourcesCommand  `cmd:"" group:"Write:" help:"The pages that prices were taken from: check, list, quote."`
	Import   importCommand   `cmd:"" group:"Write:" help:"Write a content folder from a spreadsheet."`
	Schema   schemaCommand   `cmd:"" group:"Write:" help:"Print the JSON Schema of a kind of record, for editors and programs."`

	Publish publishCommand `cmd:"" group:"Publish:" help:"Replace the catalogue with a content folder, in one transaction."`
	Log     logCommand     `cmd:"" group:"Publish:" help:"List the published versions, or what one of them changed."`
	Revert  revertCommand  `cmd:"" group:"Publish:" help:"Undo a version: publish what there was before it, for what nobody changed since."`
	Export  exportCommand  `cmd:"" group:"Publish:" help:"Write the published catalogue as a content folder."`
	Token   tokenCommand   `cmd:"" group:"Publish:" help:"Tokens for publishing from elsewhere: create, list, revoke."`
	Editor  editorCommand  `cmd:"" group:"Publish:" help:"Who may write at the desk: add, list, remove."`

	Serve  serveCommand  `cmd:"" group:"Run:" help:"Serve the API and the site."`
	Check  checkCommand  `cmd:"" group:"Run:" help:"Check settings, server, database, keys, backups, limits and memory: one line each."`
	Backup backupCommand `cmd:"" group:"Run:" help:"Write a verified copy of the database to a file, while it is served."`
	Copy   copyCommand   `cmd:"" group:"Run:" help:"Copy everything from one database to another, as from SQLite to PostgreSQL."`

	Account accountCommand `cmd:"" group:"Customers:" help:"Accounts: create, list, show, export, plan, delete."`
	Reader  readerCommand  `cmd:"" group:"Customers:" help:"People who follow something or report a mistake: remove."`
	Key     keyCommand     `cmd:"" group:"Customers:" help:"API keys: create, list, find, revoke."`
	Usage   usageCommand   `cmd:"" group:"Customers:" help:"List who sent the most requests on a day."`
	Webhook webhookCommand `cmd:"" group:"Customers:" help:"Webhooks: add, list, deliveries, resend, pause, resume, delete."`

	MCP      mcpCommand      `cmd:"" group:"More:" name:"mcp" help:"Offer the tools of a server to an assistant, on standard input and output."`
	Feed     feedCommand     `cmd:"" group:"More:" help:"The feed of changes under /data/v1: renew."`
	Conform  conformCommand  `cmd:"" group:"More:" help:"Check any server against the interface of the API: one line per promise."`
	Generate generateCommand `cmd:"" group:"More:" help:"Write a synthetic catalogue of any size as a content folder."`
	Shell    shellCommand    `cmd:"" group:"More:" name:"completion" help:"Print the completions of a shell: bash, zsh or fish."`
	Version  versionCommand  `cmd:"" group:"More:" help:"Print the version, the commit and the Go version."`
}

// Exit codes.
const (
	exitFailure = 1
	exitUsage   = 2 // the command line could not be understood
)

// secretOptions may have a password or a key in their value.
var secretOptions = []string{"--database", "--secret-key", "--smtp", "--stripe-key", "--stripe-webhook-secret"}

var (
	notAllowed      = regexp.MustCompile(`\(from envar |bool value must be|^--[a-z-]+ must be one of`)
	fromEnvironment = regexp.MustCompile(`(?s)\(from envar (\w+)=.*\)`)
	harmless        = regexp.MustCompile(`^(-*[a-z]*(-[a-z]+)*|-?[0-9]{1,6}[a-z]?|[0-9]{4}-[0-9]{2}-[0-9]{2})$`)
)

// withoutSecrets removes what kong quotes from its message: values of environment
// variables and, if one of the options is secret, all arguments that are neither plain
// words nor short numbers nor days.
func withoutSecrets(text string, args []string) string {
	text = fromEnvironment.ReplaceAllString(text, "(from $1)")
	isSecret := func(arg string) bool {
		return strings.HasPrefix(arg, "postgres") ||
			slices.ContainsFunc(secretOptions, func(option string) bool { return strings.HasPrefix(arg, option) })
	}
	if !slices.ContainsFunc(args, isSecret) {
		return text
	}
	for _, arg := range args {
		if strings.HasPrefix(arg, "--") {
			_, arg, _ = strings.Cut(arg, "=")
		}
		if !harmless.MatchString(arg) {
			text = strings.ReplaceAll(text, arg, "[…]")
		}
	}
	return text
}

// refuse says, also to systemd, why a command line is not run, and returns the exit code.
func refuse(stderr io.Writer, text string, code int) int {
	if manager, err := systemd.FromEnvironment(); err == nil {
		manager.Fail(text)
	}
	fmt.Fprintln(stderr, "palmares:", text)
	return code
}

// run is the whole program except the process around it.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if sentence := gone(args); sentence != "" {
		return refuse(stderr, sentence, exitUsage)
	}
	var cli commands
	exited := -1
	parser, err := kong.New(&cli,
		kong.Name("palmares"),
		kong.Description("Reviews, scores, prices and retirements of AI tools: a folder of Markdown becomes a public "+
			"API and a site."),
		kong.Writers(stdout, stderr),
		kong.NamedMapper("number", kong.MapperFunc(number)),
		kong.NamedMapper("duration", kong.MapperFunc(duration)),
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
		text := withoutSecrets(err.Error(), args)
		// Of values from the environment, of boolean options and of those with a few values kong returns only a text.
		if _, ours := errors.AsType[*invalidValue](err); ours || notAllowed.MatchString(err.Error()) {
			return refuse(stderr, text, exitFailure)
		}
		return refuse(stderr, text+"; run `palmares --help`", exitUsage)
	}
	for _, flag := range parsed.Flags() {
		name := variable(flag.Name)
		if len(flag.Envs) == 0 && !flag.Set && os.Getenv(name) != "" {
			return refuse(stderr, name+" is set, but this option is not read from the environment: write --"+flag.Name+
				", and unset it", exitUsage)
		}
	}
	inv := &invocation{
		ctx: ctx, stdout: stdout, stderr: stderr, database: cli.Database, now: time.Now,
	}
	err = parsed.Run(inv)
	switch {
	case err == nil:
		return 0
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		fmt.Fprintf(stderr, "palmares: %s\n", inv.say("interrupted"))
	default:
		fmt.Fprintf(stderr, "palmares: %s\n", message(err, inv.language))
	}
	return exitFailure
}
