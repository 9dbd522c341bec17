package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/alecthomas/kong"

	"palmares/internal/catalog"
	"palmares/internal/content"
)

// checkOptions are the options of the commands that read a content folder.
type checkOptions struct {
	Strict bool   `help:"Fail if there are warnings." env:"PALMARES_STRICT"`
	MaxAge maxAge `help:"Warn about tests and price checks that are older than this number of days." placeholder:"DAYS" env:"PALMARES_MAX_AGE"`
	Format format `help:"How to print problems and warnings: text, json (one object per line) or github (annotations of a workflow)." default:"text" env:"PALMARES_FORMAT"`
}

// maxAge is a number of days; 0 until given.
type maxAge int

// maxMaxAge is a century.
const maxMaxAge = 36_525

// Decode reads a number of days.
func (n *maxAge) Decode(ctx *kong.DecodeContext) error {
	x, err := wholeNumber(ctx, "a number of days", maxMaxAge)
	*n = maxAge(x)
	return err
}

// format is how findings are printed.
type format string

// UnmarshalText reads a format.
func (f *format) UnmarshalText(b []byte) error {
	switch *f = format(b); *f {
	case "text", "json", "github":
		return nil
	}
	return &invalidValue{fmt.Sprintf("%q is not a format: expected text, json or github", b)}
}

// read reads a content folder and prints its problems and warnings to out. Pictures that
// are known are not decoded again; known may be nil. It fails if
// there are problems, or warnings that --strict does not allow. Otherwise the result must
// be closed.
func (c *checkOptions) read(inv *invocation, dir string, out *findings, known func(string) (catalog.Picture, bool)) (*content.Result, error) {
	report := newProgress(inv.stderr)
	read, err := content.Read(inv.ctx, dir, content.Options{
		Progress: func(n int) { report.show("reading", n, 0) },
		Today:    catalog.Day(inv.now()), MaxAge: int(c.MaxAge), Known: known,
	})
	report.done()
	if err != nil {
		return nil, err
	}
	if err := out.print(read.Problems, read.Warnings); err != nil {
		return nil, errors.Join(err, read.Close())
	}
	if n := len(read.Problems); n > 0 {
		err = fmt.Errorf("%s in %s: fix %s and run the command again", plural(n, "problem"), dir, pronoun(n))
	} else {
		err = c.refuse(dir, read.Warnings)
	}
	if err != nil {
		return nil, errors.Join(err, read.Close())
	}
	return read, nil
}

// refuse returns an error if there are warnings and --strict was given.
func (c *checkOptions) refuse(dir string, warnings []content.Warning) error {
	n := len(warnings)
	if n == 0 || !c.Strict {
		return nil
	}
	return fmt.Errorf("%s in %s: fix %s, or run the command without --strict", plural(n, "warning"), dir, pronoun(n))
}

func pronoun(n int) string {
	if n == 1 {
		return "it"
	}
	return "them"
}

// findings prints the problems and warnings of a folder.
type findings struct {
	out    io.Writer
	dir    string // the folder, relative to the current directory
	format format
}

// newFindings returns where a command prints its findings, and where the rest of its
// output goes: standard output holds nothing else in the formats for programs.
func (c *checkOptions) newFindings(inv *invocation, dir string, text io.Writer) (f *findings, rest io.Writer) {
	f = &findings{out: text, dir: fromHere(dir), format: c.Format}
	if c.Format == "text" {
		return f, inv.stdout
	}
	f.out = inv.stdout
	return f, inv.stderr
}

// fromHere returns a path relative to the current directory, so that editors and CI find
// the files in it.
func fromHere(dir string) string {
	if !filepath.IsAbs(dir) {
		return dir
	}
	here, err := os.Getwd()
	if err != nil {
		return dir
	}
	relative, err := filepath.Rel(here, dir)
	if err != nil {
		return dir
	}
	return relative
}

// A finding is a problem or a warning.
type finding struct {
	File     string `json:"file"`
	Line     int    `json:"line"`
	Severity string `json:"severity"` // error or warning
	Message  string `json:"message"`
}

// print prints warnings first: the problems, which must be fixed, stay on the screen.
func (f *findings) print(problems []content.Problem, warnings []content.Warning) error {
	out := bufio.NewWriter(f.out)
	for _, w := range warnings {
		f.printOne(out, finding{w.File, w.Line, "warning", w.Text})
	}
	for _, p := range problems {
		f.printOne(out, finding{p.File, p.Line, "error", p.Text})
	}
	return out.Flush()
}

func (f *findings) printOne(out io.Writer, x finding) {
	x.File = filepath.Join(f.dir, filepath.FromSlash(x.File))
	switch {
	case f.format == "json":
		encoder := json.NewEncoder(out)
		encoder.SetEscapeHTML(false)
		_ = encoder.Encode(x) // fails only if out does, and Flush reports that
	case f.format == "github":
		fmt.Fprintf(out, "::%s file=%s,line=%d::%s\n", x.Severity, annotationProperty.Replace(x.File), x.Line, annotationText.Replace(x.Message))
	case x.Severity == "warning":
		fmt.Fprintf(out, "%s:%d: warning: %s\n", x.File, x.Line, x.Message)
	default:
		fmt.Fprintf(out, "%s:%d: %s\n", x.File, x.Line, x.Message)
	}
}

// The escapes of workflow commands: https://docs.github.com/actions/reference/workflow-commands-for-github-actions
var (
	annotationText     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	annotationProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)
