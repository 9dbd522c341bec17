package publication

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"time"

	"palmares/internal/catalog"
	"palmares/internal/catalogdb"
	"palmares/internal/content"
	"palmares/internal/osfile"
	"palmares/internal/problem"
)

// An Undo takes a published version back.
type Undo struct {
	Version int64
	Force   bool // records that were changed since are taken back as well
	DryRun  bool
	Token   string // name of the token that it is done with; "" for the local command
	Now     func() time.Time
	TempDir string // for the folder that is checked; "" for that of the system
	Sink    Sink
}

// undoAttempts is how often an undo is tried while others publish.
const undoAttempts = 5

// Run makes a version without what Version changed, and reports that. It returns the version that
// is published then.
func (u *Undo) Run(ctx context.Context, to *catalogdb.Catalogue) (version int64, err error) {
	if !u.DryRun { // what was due before
		if _, err := to.Advance(ctx, u.Now); err != nil {
			return 0, err
		}
	}
	for range undoAttempts {
		version, err = u.run(ctx, to)
		if !errors.Is(err, catalogdb.ErrUndoMoved) {
			break
		}
	}
	return version, err
}

func (u *Undo) run(ctx context.Context, to *catalogdb.Catalogue) (int64, error) {
	undo, err := to.Undo(ctx, u.Version, u.Force)
	if what, ok := errors.AsType[problem.Text](err); ok {
		return 0, &RefusedError{Text: what}
	}
	if err == nil {
		err = u.check(ctx, undo)
	}
	if err != nil {
		return 0, err
	}
	checked := undo.Base
	undo, err = to.Undo(ctx, u.Version, u.Force)
	if err == nil && undo.Base != checked {
		err = catalogdb.ErrUndoMoved
	}
	if err != nil {
		return 0, err
	}
	done, err := to.Publish(ctx, undo.Next, catalogdb.PublishOptions{
		Now: u.Now, AllowRemovals: true, DryRun: u.DryRun, Undo: undo, Source: catalogdb.Source{Token: u.Token},
		Progress: func(p catalogdb.Progress) { u.Sink.Progress(p.Stage, p.Done, p.Total) },
	})
	if err != nil {
		return 0, err
	}
	return done.Version, u.Sink.Report(u.report(undo, done)...)
}

// check refuses a catalogue that could not be published as a folder: what was changed since may need
// something that the version added. It removes Next, so that large catalogues are in memory once.
func (u *Undo) check(ctx context.Context, undo *catalogdb.Undo) (err error) {
	dir, err := osfile.TempDir(u.TempDir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	bare := *undo.Next
	bare.Pictures, bare.Held = nil, nil // they have been checked, and are named by empty files
	if err := content.Write(ctx, dir, &bare, content.WriteOptions{}); err != nil {
		return err
	}
	pictures := map[string]catalog.Picture{}
	maps.Copy(pictures, undo.Next.Pictures)
	maps.Copy(pictures, undo.Next.Held)
	known, elsewhere := map[string]catalog.Picture{}, map[string]string{}
	for path, p := range pictures {
		known[p.Source], elsewhere[path] = p, p.Source
		file := filepath.Join(dir, filepath.FromSlash(path))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o777), os.WriteFile(file, nil, 0o666)); err != nil {
			return err
		}
	}
	undo.Next = nil
	job := Job{
		Dir: dir, Name: "what would be published", Now: u.Now, Elsewhere: elsewhere, Sink: problemsOf{u.Sink},
		Known: func(source string) (catalog.Picture, bool) { p, ok := known[source]; return p, ok },
	}
	read, err := job.Read(ctx)
	if _, ok := errors.AsType[*RefusedError](err); ok {
		advice := problem.New("undo-correct")
		if len(undo.Left) > 0 {
			advice = problem.New("undo-force")
		}
		return refused("undo-incomplete", u.Version, advice)
	}
	if err != nil {
		return err
	}
	return read.Close()
}

// problemsOf is a Sink of the problems only: warnings are about folders.
type problemsOf struct{ Sink }

func (s problemsOf) Findings(all []Finding) error {
	var problems []Finding
	for _, f := range all {
		if f.Severity == "error" {
			problems = append(problems, f)
		}
	}
	if problems == nil {
		return nil
	}
	return s.Sink.Findings(problems)
}

// report returns what an undo changed, what it left, and what is still to be done elsewhere.
func (u *Undo) report(undo *catalogdb.Undo, done catalogdb.Publication) []problem.Text {
	r := newChangeReport(&done.Diff)
	for _, slug := range done.Diff.Of(catalog.ToolKind).Added {
		if parts := done.Diff.Parts["outils/"+slug]; len(parts) > 0 && undo.Undid == 0 {
			r.add("alias", problem.New("line-alias", "outils/"+slug, problem.New("alias-leads", parts[0].Old)))
		}
	}
	for _, left := range undo.Left {
		r.add("left", problem.New("line-left", left.Name, problem.New("left-since", left.Since)))
	}
	totals := r.totals()
	if done.Diff.Empty() {
		return append(r.lines, problem.New("nothing-undone", done.Version, u.Version))
	}
	code := "published-undo"
	if u.DryRun {
		code = "would-publish-undo"
	}
	return append(r.lines, problem.New(code, done.Version, u.Version, totals, Counts(undo.Next)), folderAdvice(undo))
}

// folderAdvice says what the folder, which an undo does not change, still holds.
func folderAdvice(undo *catalogdb.Undo) problem.Text {
	s := undo.Source
	switch {
	case undo.Undid > 0:
		return problem.New("undid-an-undo", undo.Version, undo.Undid)
	case s.Revision == "":
		return problem.New("folder-has-undone")
	case !s.Clean:
		return problem.New("folder-has-undone-and-more", s.Revision)
	}
	return problem.New("folder-has-undone-commit", s.Revision)
}
