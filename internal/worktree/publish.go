package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"palmares/internal/catalogdb"
	"palmares/internal/publication"
)

// A Publication is what somebody publishes.
type Publication struct {
	Changes       []Change
	AuthorName    string
	AuthorEmail   string
	Message       string // of the commit; "" for one that names the files
	AllowRemovals bool   // tools may disappear
	Over          int64  // the published version that she has seen and replaces; 0 for the one that the folder contains
}

// A Result is what was published.
type Result struct {
	Version int64 // that is published now
	Unsent  bool  // the upstream could not be reached, or is to be joined first
}

// attempts is how often a publication begins again because a colleague was faster.
const attempts = 5

// Publish pulls, writes the files, commits and pushes them, and publishes the folder. With an error
// nothing was changed, unless its text says otherwise: a ConflictError, a RefusedError, a StaleError,
// or an Error; catalogdb.RemovalsError is in one if tools would disappear.
func (f *Folder) Publish(ctx context.Context, p Publication) (Result, error) {
	if err := checkPaths(p.Changes); err != nil {
		return Result{}, err
	}
	unlock, err := f.lock(ctx)
	if err != nil {
		return Result{}, err
	}
	defer unlock()
	for range attempts {
		var done Result
		done, err = f.attempt(ctx, &p)
		if !errors.Is(err, errMoved) {
			return done, explain(err)
		}
	}
	return Result{}, &Error{"Des collègues publient en ce moment\u00a0: réessayez dans une minute. Rien n’a été publié.", err}
}

// explain returns an error with a French sentence.
func explain(err error) error {
	if err == nil {
		return nil
	}
	if removals, ok := errors.AsType[*catalogdb.RemovalsError](err); ok {
		return &Error{"Des outils publiés disparaîtraient\u00a0: " + strings.Join(removals.Slugs, ", ") +
			". Faites-en une fiche du cimetière, ou indiquez leur ancien nom dans la fiche qui les remplace.", err}
	}
	_, isConflict := errors.AsType[*ConflictError](err)
	_, isOurs := errors.AsType[*Error](err)
	if isConflict || isOurs || isFinal(err) {
		return err
	}
	return &Error{"La publication n’a pas abouti, et rien n’a été changé\u00a0: réessayez, ou prévenez la personne qui s’occupe du serveur.", err}
}

func (f *Folder) attempt(ctx context.Context, p *Publication) (Result, error) {
	j, err := f.prepare(ctx, p)
	if err != nil {
		return Result{}, err
	}
	if _, err := f.store(ctx, j, true); err != nil {
		return Result{}, err
	}
	if err := f.save(j); err != nil {
		return Result{}, err
	}
	return f.finish(context.WithoutCancel(ctx), j) // from here on it goes forward
}

// prepare finds out what would be published, and whether it can be written.
func (f *Folder) prepare(ctx context.Context, p *Publication) (*journal, error) {
	j := &journal{Step: stepPublish, Author: p.AuthorName, AllowRemovals: p.AllowRemovals, Over: p.Over}
	if f.repo != nil {
		return j, f.prepareCommit(ctx, p, j)
	}
	head, err := f.cfg.Store.Catalogue.Head(ctx)
	if err != nil {
		return nil, err
	}
	if j.Over == 0 {
		j.Over = head.Version
	}
	j.Changes = p.Changes
	return j, checkBases(p.Changes, f.read)
}

// checkBases returns a ConflictError for files that are no longer what the changes replace.
func checkBases(changes []Change, read func(path string) ([]byte, error)) error {
	conflict := ConflictError{Files: map[string][]byte{}}
	for _, c := range changes {
		data, err := read(c.Path)
		now, err := hashOf(data, err)
		if err != nil {
			return err
		}
		if now == c.Base || c.Data != nil && now == Hash(c.Data) || c.Data == nil && now == "" {
			continue
		}
		conflict.Paths = append(conflict.Paths, c.Path)
		if now != "" {
			conflict.Files[c.Path] = data
		}
	}
	if conflict.Paths != nil {
		return &conflict
	}
	return nil
}

// prepareCommit makes the commit that would be published.
func (f *Folder) prepareCommit(ctx context.Context, p *Publication, j *journal) error {
	r := f.repo
	at, err := r.position(ctx)
	if err != nil {
		return err
	}
	if err := r.fetch(ctx, &at); err != nil {
		f.cfg.Log.Warn("the upstream of the desk's folder cannot be reached; what is published is sent later", "error", err)
		j.Stays = true
	}
	base, err := f.base(ctx, &at, p.Changes)
	if err != nil {
		return err
	}
	if base.apart != nil {
		f.cfg.Log.Warn("the desk's folder and its upstream changed the same files, and somebody must choose; until then "+
			"nothing is sent", "files", base.apart.Paths)
		j.Stays = true
	}
	err = checkBases(p.Changes, func(path string) ([]byte, error) {
		return r.file(ctx, base.heldBy(r.prefix+path), r.prefix+path)
	})
	if err != nil {
		return err
	}
	tree, err := r.change(ctx, f.private, base.tree, p.Changes)
	if err != nil {
		return err
	}
	j.Commit = base.parents[0]
	before, err := r.git(ctx, "rev-parse", "--verify", base.parents[0]+"^{tree}")
	if err != nil {
		return err
	}
	if tree != before || len(base.parents) > 1 {
		j.Commit, err = r.commitTree(ctx, tree, base.parents, person{p.AuthorName, p.AuthorEmail}, f.cfg.Now(), message(p))
		if err != nil {
			return err
		}
	}
	return f.mayJoin(ctx, &at, j.Commit)
}

// mayJoin returns an error if the work tree could not be brought to a commit.
func (f *Folder) mayJoin(ctx context.Context, at *position, commit string) error {
	j, err := f.repo.joinTo(ctx, at, commit, f.cfg.Now())
	if conflict, ok := errors.AsType[*ConflictError](err); ok {
		f.inFolder(conflict)
	}
	if err != nil || j == nil {
		return err
	}
	dir, err := os.MkdirTemp(f.private, tempPrefix)
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	_, err = j.nextIndex(ctx, dir)
	return err
}

// inFolder makes the paths of a conflict those of the content folder.
func (f *Folder) inFolder(c *ConflictError) {
	for i, path := range c.Paths {
		c.Paths[i] = strings.TrimPrefix(path, f.repo.prefix)
	}
}

// A base is what a commit is made on.
type base struct {
	tree    string
	parents []string
	settled []string       // files from the top that both changed, and of which a change decides
	apart   *ConflictError // why the upstream cannot be joined yet; nil if it is
}

// heldBy returns the tree in which a file is what a change must know.
func (b *base) heldBy(path string) string {
	if slices.Contains(b.settled, path) {
		return b.parents[1] // the upstream's; her own she has written
	}
	return b.tree
}

// base returns what a commit with changes is made on: HEAD, the upstream, or a merge of the two. Where
// both changed files, that needs changes of all of them; without any of them, the upstream waits.
func (f *Folder) base(ctx context.Context, at *position, changes []Change) (base, error) {
	r := f.repo
	on := func(commit string) base { return base{tree: commit, parents: []string{commit}} }
	if at.upstream == "" {
		return on(at.head), nil
	}
	if isThere, err := r.isAncestor(ctx, at.upstream, at.head); err != nil || isThere {
		return on(at.head), err
	}
	if isForward, err := r.isAncestor(ctx, at.head, at.upstream); err != nil || isForward {
		return on(at.upstream), err
	}
	tree, conflicts, err := r.merge(ctx, at.head, at.upstream)
	if err != nil {
		return base{}, err
	}
	if len(conflicts) == 0 {
		merged, err := r.commitTree(ctx, tree, []string{at.head, at.upstream}, program, f.cfg.Now(), mergeMessage)
		return on(merged), err
	}
	settled := 0
	for _, c := range changes {
		if slices.Contains(conflicts, r.prefix+c.Path) {
			settled++
		}
	}
	if settled == len(conflicts) {
		return base{tree: tree, parents: []string{at.head, at.upstream}, settled: conflicts}, nil
	}
	apart, err := f.conflict(ctx, at.upstream, conflicts)
	if err == nil && settled > 0 {
		err = apart
	}
	alone := on(at.head)
	alone.apart = apart
	return alone, err
}

// conflict returns the error for files that both changed, with the upstream's.
func (f *Folder) conflict(ctx context.Context, upstream string, paths []string) (*ConflictError, error) {
	c := &ConflictError{Paths: paths, Files: map[string][]byte{}}
	for i, full := range paths {
		data, err := f.repo.file(ctx, upstream, full)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		c.Paths[i] = strings.TrimPrefix(full, f.repo.prefix)
		if err == nil {
			c.Files[c.Paths[i]] = data
		}
	}
	return c, nil
}

// message returns the message of the commit.
func message(p *Publication) string {
	if p.Message != "" {
		return strings.TrimSpace(p.Message) + "\n"
	}
	var lines []string
	for _, c := range p.Changes {
		verb := "Modifie"
		switch {
		case c.Data == nil:
			verb = "Retire"
		case c.Base == "":
			verb = "Ajoute"
		}
		lines = append(lines, verb+" "+strings.TrimSuffix(c.Path, path.Ext(c.Path)))
	}
	if len(lines) == 1 {
		return lines[0] + "\n"
	}
	return fmt.Sprintf("Publie %d changements\n\n%s\n", len(lines), strings.Join(lines, "\n"))
}

// findings is a publication.Sink that keeps the problems.
type findings struct{ problems []publication.Finding }

func (*findings) Progress(string, int, int) {}
func (*findings) Report(string) error       { return nil }

func (s *findings) Findings(all []publication.Finding) error {
	for _, f := range all {
		if f.Severity == "error" {
			s.problems = append(s.problems, f)
		}
	}
	return nil
}

// store validates what the journal has and publishes it, or with isTrial only finds out whether
// that is possible.
func (f *Folder) store(ctx context.Context, j *journal, isTrial bool) (version int64, err error) {
	known, err := f.cfg.Store.Pictures.Known(ctx)
	if err != nil {
		return 0, err
	}
	var found findings
	job := &publication.Job{
		Dir: f.cfg.Dir, Name: f.cfg.Dir, Now: f.cfg.Now, Known: known, Sink: &found, AllowRemovals: j.AllowRemovals, DryRun: isTrial,
		Source: catalogdb.Source{Author: j.Author},
	}
	origin := &publication.Revision{}
	if j.Over != 0 || f.repo == nil {
		origin.Expect = &j.Over
	}
	var checkout *publication.Checkout
	if f.repo != nil {
		job.Source.Revision, job.Source.Clean = j.Commit, true
		if job.Source.Author, err = f.repo.git(ctx, "log", "-1", "--format=%an", j.Commit); err != nil {
			return 0, err
		}
		checkout = publication.At(ctx, f.repo.top, j.Commit)
	}
	guard := origin.Guard(checkout)
	job.Guard = func(head catalogdb.Head) error {
		if guard(head) == nil {
			return nil
		}
		return &StaleError{Version: head.Version, By: head.By, Unsent: f.repo != nil && head.Revision != "" && !head.Earlier}
	}
	read, err := f.readJob(ctx, job, j)
	if _, ok := errors.AsType[*publication.RefusedError](err); ok {
		return 0, &RefusedError{found.problems}
	}
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, read.Close()) }()
	return job.Publish(ctx, f.cfg.Store.Catalogue, read)
}
