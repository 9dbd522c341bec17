package publication

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"palmares/internal/catalog"
	"palmares/internal/catalogdb"
	"palmares/internal/content"
	"palmares/internal/osfile"
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
	if errors.Is(err, catalogdb.ErrCannotUndo) || errors.Is(err, catalogdb.ErrNoVersion) {
		return 0, refused("%v", err)
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
	return done.Version, u.Sink.Report(u.report(undo, done))
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
		advice := "publish a corrected folder instead"
		if len(undo.Left) > 0 {
			advice = "take back what was changed since as well, with --force, or " + advice
		}
		return refused("without version %d the catalogue would not be complete, as listed: %s", u.Version, advice)
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
func (u *Undo) report(undo *catalogdb.Undo, done catalogdb.Publication) string {
	r := newChangeReport(&done.Diff)
	for _, slug := range done.Diff.Of(catalog.ToolKind).Added {
		if parts := done.Diff.Parts["outils/"+slug]; len(parts) > 0 && undo.Undid == 0 {
			const advice = " leads there; list it in the file, or it ends with the next publication"
			r.line("alias", "outils/"+slug, ": "+parts[0].Old+advice)
		}
	}
	for _, left := range undo.Left {
		r.line("left", left.Name, fmt.Sprintf(": changed since, in version %d; --force takes it back, too", left.Since))
	}
	totals := strings.Join(r.totals(), ", ")
	if done.Diff.Empty() {
		fmt.Fprintf(&r.out, "nothing changed: version %d stands, and has nothing of version %d to take back\n", done.Version, u.Version)
		return r.out.String()
	}
	verb := "published"
	if u.DryRun {
		verb = "would publish"
	}
	fmt.Fprintf(&r.out, "%s version %d, which undoes version %d: %s; now %s\n%s\n", verb, done.Version, u.Version, totals,
		Counts(undo.Next), folderAdvice(undo))
	return r.out.String()
}

// folderAdvice says what the folder, which an undo does not change, still holds.
func folderAdvice(undo *catalogdb.Undo) string {
	s := undo.Source
	switch {
	case undo.Undid > 0:
		return fmt.Sprintf("version %d undid version %d: if the folder was changed back as well, change it again, "+
			"or the next publication undoes it again", undo.Version, undo.Undid)
	case s.Revision == "":
		return "the folder still has the undone text: change it back as well, or the next publication brings it back"
	case !s.Clean:
		return fmt.Sprintf("the folder still has the undone text, which is commit %.12s and changes that were not committed: "+
			"change it back as well, or the next publication brings it back", s.Revision)
	}
	return fmt.Sprintf("the folder still has the undone text: revert the commit %.12s as well, "+
		"or the next publication brings it back", s.Revision)
}
