// Package publication publishes a content folder: it reads the folder, shows what it
// finds, compares it with what is published, stores it and reports what changed.
//
// The command does this on its own machine and a server for clients elsewhere. Both must
// print the same messages, so all of them are produced here and passed to a Sink.
package publication

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"palmares/internal/catalog"
	"palmares/internal/catalogdb"
	"palmares/internal/content"
	"palmares/internal/problem"
)

// A Job is the publication of one folder. It is used once: Read, then Publish.
type Job struct {
	Dir    string
	Files  fs.FS  // the folder, if it is not as in Dir; nil for that
	Name   string // of the folder in messages
	Strict bool   // warnings stop the publication
	MaxAge int    // see content.Options
	Now    func() time.Time
	// Known and Elsewhere are the pictures that were published before; see
	// content.Options. They may be nil.
	Known     func(source string) (catalog.Picture, bool)
	Elsewhere map[string]string
	Sink      Sink

	// What follows is for Publish; see catalogdb.PublishOptions.

	AllowRemovals bool
	DryRun        bool
	Source        catalogdb.Source
	Guard         func(catalogdb.Head) error
}

// A Sink shows a publication to whoever started it. An error of a Sink ends the
// publication, unless it is stored already.
type Sink interface {
	// Progress is called often. total is 0 if it is not known.
	Progress(stage string, done, total int)
	Findings([]Finding) error
	// Report is called at the end.
	Report(lines ...problem.Text) error
}

// A Finding is a problem or a warning of a folder.
type Finding struct {
	File     string `json:"file"` // relative to the folder, with forward slashes
	Line     int    `json:"line"`
	Severity string `json:"severity"` // error or warning
	// Message is in the JSON in English, unless somebody replaced it by words of another language.
	Message problem.Text `json:"message"`
}

// A RefusedError says what in a folder keeps it from being published.
type RefusedError struct {
	problem.Text
	err error // may be nil
}

// Unwrap returns a catalogdb.RemovalsError if that is the reason.
func (e *RefusedError) Unwrap() error { return e.err }

func refused(code string, args ...any) *RefusedError {
	return &RefusedError{Text: problem.New(code, args...)}
}

// Read reads the folder and shows what it finds. A RefusedError means that there are
// problems, or warnings and Strict. Without an error the result must be closed.
func (j *Job) Read(ctx context.Context) (*content.Result, error) {
	files := j.Files
	if files == nil {
		root, err := content.Open(j.Dir)
		if err != nil {
			return nil, err
		}
		defer root.Close()
		files = root.FS()
	}
	read, err := content.ReadFS(ctx, files, content.Options{
		Progress: func(n int) { j.Sink.Progress("reading", n, 0) },
		Now:      j.Now(), Today: catalog.Day(j.Now()), MaxAge: j.MaxAge, Known: j.Known, Elsewhere: j.Elsewhere,
	})
	if err != nil {
		return nil, err
	}
	err = j.show(read.Problems, read.Warnings)
	if n := len(read.Problems); err == nil && n > 0 {
		err = refused("problems-in", n, j.Name)
	}
	if err == nil {
		err = j.refuse(read.Warnings)
	}
	if err != nil {
		return nil, errors.Join(err, read.Close())
	}
	return read, nil
}

// show shows warnings first: the problems, which must be fixed, stay on the screen.
func (j *Job) show(problems []content.Problem, warnings []content.Warning) error {
	all := make([]Finding, 0, len(problems)+len(warnings))
	for _, w := range warnings {
		all = append(all, Finding{w.File, w.Line, "warning", w.Text})
	}
	for _, p := range problems {
		all = append(all, Finding{p.File, p.Line, "error", p.Text})
	}
	return j.Sink.Findings(all)
}

// refuse returns an error if there are warnings and the job is strict.
func (j *Job) refuse(warnings []content.Warning) error {
	n := len(warnings)
	if n == 0 || !j.Strict {
		return nil
	}
	return refused("warnings-in", n, j.Name)
}

// Publish publishes what was read and reports what changed. It returns the version that
// is published then. A dry run may compare with nothing: then to is nil.
func (j *Job) Publish(ctx context.Context, to *catalogdb.Catalogue, read *content.Result) (int64, error) {
	next := read.Catalog
	read.Warnings = nil // which were shown
	if to == nil {
		old := &catalog.Catalog{}
		next.Advance(j.Now())
		today := catalog.Day(j.Now())
		catalog.CarryOver(old, next, today)
		none := func(string) []catalog.Section { return nil } // a report does not show them
		diff := catalog.Compare(old, next, none)
		return 1, j.Sink.Report(j.report(next, catalogdb.Publication{Diff: diff, Version: 1})...)
	}
	if !j.DryRun { // what was due before
		if _, err := to.Advance(ctx, j.Now); err != nil {
			return 0, err
		}
	}
	done, err := to.Publish(ctx, next, catalogdb.PublishOptions{
		AllowRemovals: j.AllowRemovals, DryRun: j.DryRun, Now: j.Now, Source: j.Source, Guard: j.Guard,
		Pictures: read.Pictures,
		Progress: func(p catalogdb.Progress) { j.Sink.Progress(p.Stage, p.Done, p.Total) },
		Check: func(old *catalog.Catalog, diff *catalog.Diff, today string) error {
			warnings := append(read.WarnJumps(old, diff), read.WarnUndated(diff.Undated(old, next, today))...)
			return errors.Join(j.show(nil, warnings), j.refuse(warnings))
		},
	})
	if removals, ok := errors.AsType[*catalogdb.RemovalsError](err); ok {
		return 0, &RefusedError{problem.New("removals", removals.Text()), removals}
	}
	if err != nil {
		return 0, err
	}
	return done.Version, j.Sink.Report(j.report(next, done)...)
}
