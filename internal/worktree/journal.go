package worktree

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"palmares/internal/catalogdb"
	"palmares/internal/content"
	"palmares/internal/publication"
)

// A journal says what was begun and must be finished.
type journal struct {
	Step          string
	Author        string
	Commit        string   // in git
	Changes       []Change // outside git
	Over          int64    // the version that is replaced; 0 for one that the commit contains
	AllowRemovals bool
	Stays         bool // it is not pushed now
}

// The steps of a publication after its preparation.
const (
	stepPublish = "publish" // push and store it
	stepWrite   = "write"   // bring the folder there
)

// tempPrefix begins the names of temporary folders.
const tempPrefix = "temp-"

func (f *Folder) journalFile() string { return filepath.Join(f.private, "journal.json") }

// save notes what is being done.
func (f *Folder) save(j *journal) error {
	data, err := json.Marshal(j)
	if err != nil {
		return err
	}
	return f.replace(f.journalFile(), data)
}

// replace writes a file so that it has the old or the new bytes, whatever is killed.
func (f *Folder) replace(to string, data []byte) (err error) {
	file, err := os.CreateTemp(f.private, tempPrefix)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if err = errors.Join(err, file.Chmod(0o644), file.Sync(), file.Close()); err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return moveFile(file.Name(), to)
}

// forget removes the journal: what it says is done, or is not done at all.
func (f *Folder) forget() error { return os.Remove(f.journalFile()) }

// recover finishes what the journal says. What cannot be published any more is forgotten.
func (f *Folder) recover(ctx context.Context) error {
	if err := f.removeLeftovers(ctx); err != nil {
		return err
	}
	data, err := os.ReadFile(f.journalFile())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	j := &journal{}
	if err := json.Unmarshal(data, j); err != nil {
		return err
	}
	if j.Step == stepPublish {
		isPublished, err := f.isPublished(ctx, j)
		if err != nil {
			return explain(err)
		}
		if isPublished {
			j.Step = stepWrite
		}
	}
	_, err = f.finish(ctx, j)
	if _, statErr := os.Stat(f.journalFile()); err != nil && errors.Is(statErr, fs.ErrNotExist) {
		f.cfg.Log.Warn("a publication of the desk that was interrupted was given up; nothing of it was published", "error", err)
		return nil
	}
	return err
}

// removeLeftovers removes what killed processes left.
func (f *Folder) removeLeftovers(ctx context.Context) error {
	left, err := filepath.Glob(filepath.Join(f.private, tempPrefix+"*"))
	for _, path := range left {
		err = errors.Join(err, os.RemoveAll(path))
	}
	if err == nil && f.repo != nil {
		err = f.repo.removeStaleLocks(ctx)
	}
	return err
}

// isPublished reports whether the database has what the journal says.
func (f *Folder) isPublished(ctx context.Context, j *journal) (bool, error) {
	const most = 100 // nobody publishes more while a server restarts
	versions, err := f.cfg.Store.Catalogue.Versions(ctx, most)
	return slices.ContainsFunc(versions, func(v catalogdb.Version) bool {
		if j.Commit != "" {
			return v.Revision == j.Commit
		}
		return v.Number > j.Over && v.Due == "" && v.Revision == "" && v.Author == j.Author
	}), err
}

// finish does what the journal says, and forgets it if it is done or cannot be done.
func (f *Folder) finish(ctx context.Context, j *journal) (done Result, err error) {
	if j.Step == stepPublish {
		done, err = f.finishPublication(ctx, j)
		if err != nil {
			return done, err
		}
		j.Step = stepWrite
		if err := f.save(j); err != nil {
			return done, err
		}
	}
	if err := f.write(ctx, j); err != nil {
		f.cfg.Log.Warn("what was published could not be written to the desk's folder; it is tried again", "error", err)
		if done.Version == 0 {
			return done, err
		}
		return done, nil
	}
	return done, f.forget()
}

// finishPublication pushes and publishes. If it was pushed and the database fails, or if nobody knows
// whether the database has it, the journal stays.
func (f *Folder) finishPublication(ctx context.Context, j *journal) (done Result, err error) {
	done.Unsent = j.Stays
	if f.repo != nil && !j.Stays {
		done.Unsent, err = f.push(ctx, j.Commit)
		if err != nil {
			return done, errors.Join(err, f.forget())
		}
	}
	done.Version, err = f.store(ctx, j, false)
	switch {
	case err == nil:
		return done, nil
	case isFinal(err):
		return done, errors.Join(err, f.forget())
	}
	return done, &Error{"La publication est commencée, mais la base de données ne répond pas\u00a0: " +
		"elle sera achevée dès que possible, sans autre geste de votre part.", err}
}

// push pushes a commit. isUnsent reports that the upstream could not be reached.
func (f *Folder) push(ctx context.Context, commit string) (isUnsent bool, err error) {
	at, err := f.repo.position(ctx)
	if err != nil || at.remote == "" {
		return false, err
	}
	err = f.repo.push(ctx, &at, commit)
	if errors.Is(err, errMoved) && f.repo.fetch(ctx, &at) == nil && at.upstream != "" {
		if isThere, _ := f.repo.isAncestor(ctx, commit, at.upstream); isThere {
			return false, nil // it was pushed before
		}
	}
	if _, isRefused := errors.AsType[*Error](err); err == nil || isRefused || errors.Is(err, errMoved) {
		return false, err
	}
	f.cfg.Log.Warn("what the desk published could not be pushed; it is tried again", "error", err)
	return true, nil
}

// readJob reads the folder as the journal has it. One that somebody edits meanwhile is read again.
func (f *Folder) readJob(ctx context.Context, job *publication.Job, j *journal) (*content.Result, error) {
	if f.repo == nil {
		job.Files = f.With(j.Changes)
		return job.Read(ctx)
	}
	for range attempts {
		files, before, err := f.filesOf(ctx, j.Commit)
		if err != nil {
			return nil, err
		}
		job.Files = files
		read, err := job.Read(ctx)
		_, after, diffErr := f.filesOf(ctx, j.Commit)
		if diffErr == nil && slices.Equal(before, after) {
			return read, err
		}
		if read != nil {
			diffErr = errors.Join(diffErr, read.Close())
		}
		if diffErr != nil {
			return nil, diffErr
		}
	}
	return nil, &Error{text: "Le dossier du serveur change sans cesse\u00a0: réessayez dans un instant."}
}

// write brings the folder to what is published.
func (f *Folder) write(ctx context.Context, j *journal) error {
	if f.repo == nil {
		return f.writeChanges(j.Changes)
	}
	for {
		at, err := f.repo.position(ctx)
		if err != nil {
			return err
		}
		joint, err := f.repo.joinTo(ctx, &at, j.Commit, f.cfg.Now())
		if conflict, ok := errors.AsType[*ConflictError](err); ok {
			f.inFolder(conflict)
		}
		if err != nil || joint == nil {
			return err
		}
		err = joint.write(ctx, f.private, &at)
		if err == nil {
			return nil
		}
		if now, positionErr := f.repo.position(ctx); positionErr != nil || now.head == at.head {
			return err // otherwise somebody committed meanwhile
		}
	}
}

// writeChanges writes files outside git.
func (f *Folder) writeChanges(changes []Change) error {
	err := checkBases(changes, f.read)
	if conflict, ok := errors.AsType[*ConflictError](err); ok {
		conflict.Local = true
	}
	if err != nil {
		return err
	}
	for _, c := range changes {
		to := filepath.Join(f.cfg.Dir, filepath.FromSlash(c.Path))
		if c.Data != nil {
			err = f.replace(to, c.Data)
		} else if err = os.Remove(to); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Unsent returns how many commits have not been sent to the upstream, as far as is known.
func (f *Folder) Unsent(ctx context.Context) (int, error) {
	if f.repo == nil {
		return 0, nil
	}
	at, err := f.repo.position(ctx)
	if err != nil || at.remote == "" {
		return 0, err
	}
	args := []string{"rev-list", "--count", at.head}
	if at.upstream != "" {
		args = append(args, "^"+at.upstream)
	}
	out, err := f.repo.git(ctx, args...)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(out))
}

// Send joins the folder and its upstream: what colleagues pushed comes into the folder, and what was
// not sent is pushed, after a merge if both moved on. A ConflictError lists the files that both
// changed: publishing them, with what colleagues have as their Base, settles that.
func (f *Folder) Send(ctx context.Context) error {
	unlock, err := f.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if f.repo == nil {
		return nil
	}
	for range attempts {
		if err = f.send(ctx); !errors.Is(err, errMoved) {
			return err
		}
	}
	return &Error{"Des collègues envoient des changements en ce moment\u00a0: réessayez dans une minute.", err}
}

func (f *Folder) send(ctx context.Context) error {
	at, err := f.repo.position(ctx)
	if err != nil || at.remote == "" {
		return err
	}
	if err := f.repo.fetch(ctx, &at); err != nil {
		return &Error{"Le dépôt de l’équipe ne répond pas\u00a0: l’envoi sera tenté de nouveau.", err}
	}
	base, err := f.base(ctx, &at, nil)
	if err != nil {
		return err
	}
	if base.apart != nil {
		return base.apart
	}
	to := base.parents[0]
	if err := f.mayJoin(ctx, &at, to); err != nil {
		return err
	}
	if to != at.upstream {
		if err := f.repo.push(ctx, &at, to); err != nil {
			if _, isRefused := errors.AsType[*Error](err); isRefused || errors.Is(err, errMoved) {
				return err
			}
			return &Error{"Le dépôt de l’équipe ne répond pas\u00a0: l’envoi sera tenté de nouveau.", err}
		}
	}
	if to == at.head {
		return nil
	}
	j := &journal{Step: stepWrite, Commit: to}
	if err := f.save(j); err != nil {
		return err
	}
	_, err = f.finish(ctx, j)
	return err
}
