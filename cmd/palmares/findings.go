package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"palmares/internal/content"
	"palmares/internal/problem"
	"palmares/internal/publication"
)

// languageOption is for the commands that say what is wrong with a content folder.
type languageOption struct {
	Lang language `help:"Language of problems, warnings and reports, fr or en (default: that of the locale)." placeholder:"LANGUAGE"`
}

// language is fr or en; "" until given.
type language string

func (l *language) UnmarshalText(b []byte) error {
	*l = language(b)
	if *l != "fr" && *l != "en" {
		return &invalidValue{fmt.Sprintf("%q is not a language: expected fr or en", b)}
	}
	return nil
}

// speak makes a command say everything in the language.
func (o *languageOption) speak(inv *invocation) {
	locale := cmp.Or(string(o.Lang), os.Getenv("LC_ALL"), os.Getenv("LC_MESSAGES"), os.Getenv("LANG"))
	if strings.HasPrefix(locale, "fr") {
		inv.language = problem.French
	}
}

// checkOptions are the options of the commands that read a content folder.
type checkOptions struct {
	languageOption `embed:""`
	Strict         bool   `help:"Fail if there are warnings."`
	MaxAge         int    `help:"Warn about tests and price checks that are older than this number of days." placeholder:"DAYS" type:"number" what:"a number of days" range:"1-36525"`
	Format         string `help:"How to print problems and warnings: text, json (one object per line) or github (annotations of a workflow)." default:"text" enum:"text,json,github"`
}

// job returns the job of reading a content folder. Its results are shown by out.
func (c *checkOptions) job(inv *invocation, dir string, out *printer) *publication.Job {
	return &publication.Job{Dir: dir, Name: dir, Strict: c.Strict, MaxAge: c.MaxAge, Now: inv.now, Sink: out}
}

// A printer is the publication.Sink of a command.
type printer struct {
	findings io.Writer
	report   io.Writer
	progress *progress
	dir      string // the folder, relative to the current directory
	format   string
	language problem.Language
}

// newPrinter returns a printer that prints findings to text, unless they are for
// programs: then they go to standard output, which holds nothing else.
func (c *checkOptions) newPrinter(inv *invocation, dir string, text io.Writer) *printer {
	p := &printer{
		findings: text, report: inv.stdout, progress: newProgress(inv), dir: fromHere(dir), format: c.Format, language: inv.language,
	}
	if c.Format != "text" {
		p.findings, p.report = inv.stdout, inv.stderr
	}
	return p
}

// Progress shows how far a long operation is.
func (p *printer) Progress(stage string, done, total int) { p.progress.show(stage, done, total) }

// Report prints the result.
func (p *printer) Report(lines ...problem.Text) error {
	p.progress.done()
	_, err := fmt.Fprintln(p.report, problem.Join("\n", lines...).In(p.language))
	return err
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

// Findings prints problems and warnings in the format of the command: all of them for programs,
// and for people the first of those that say the same.
func (p *printer) Findings(all []publication.Finding) error {
	p.progress.done()
	out := bufio.NewWriter(p.findings)
	show := func(i int) {
		x := all[i]
		x.File, x.Message = filepath.Join(p.dir, filepath.FromSlash(x.File)), problem.Words(x.Message.In(p.language))
		switch p.format {
		case "json":
			encoder := json.NewEncoder(out)
			encoder.SetEscapeHTML(false)
			_ = encoder.Encode(x) // fails only if out does, and Flush reports that
		case "github":
			fmt.Fprintf(out, "::%s file=%s,line=%d::%s\n", x.Severity, annotationProperty.Replace(x.File), x.Line,
				annotationText.Replace(x.Message.English))
		default:
			fmt.Fprintf(out, "%s:%d: %s\n", x.File, x.Line, sentence(all[i]).In(p.language))
		}
	}
	if p.format != "text" {
		for i := range all {
			show(i)
		}
		return out.Flush()
	}
	content.Group(len(all), func(i int) string { return sentence(all[i]).English }, show, func(i, others int) {
		fmt.Fprintln(out, problem.New("and-more", others, "--format json", sentence(all[i])).In(p.language))
	})
	return out.Flush()
}

// sentence returns what people read of a finding.
func sentence(x publication.Finding) problem.Text {
	if x.Severity == "warning" {
		return problem.New("warning", x.Message)
	}
	return x.Message
}

// The escapes of workflow commands: https://docs.github.com/actions/reference/workflow-commands-for-github-actions
var (
	annotationText     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	annotationProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)
