package worktree

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"palmares/internal/catalogdb"
)

// A journal says what was begun and must be finished.
type journal struct {
	Publication        // without its changes in git, which the commit has
	Commit      string // in git
	Stays       bool   // it is not pushed now
	Writing     bool   // it is published, and files in git may be half written
}

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
func (f *Folder) replace(to string, data []byte) error {
	file, err := os.CreateTemp(f.temp, "")
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	err = errors.Join(err, file.Chmod(0o644), file.Sync(), file.Close(), os.MkdirAll(filepath.Dir(to), 0o755))
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return os.Rename(file.Name(), to)
}

// forget removes the journal: what it says is done, or is not done at all.
func (f *Folder) forget() error { return os.RemoveAll(f.journalFile()) }

// recover finishes what the journal says, and removes what a killed process left. What cannot be
// published any more is forgotten.
func (f *Folder) recover(ctx context.Context) error {
	j := &journal{}
	data, err := os.ReadFile(f.journalFile())
	isBegun := !errors.Is(err, fs.ErrNotExist)
	if isBegun && err == nil {
		err = json.Unmarshal(data, j)
	}
	if isBegun && err != nil {
		return err
	}
	err = errors.Join(os.RemoveAll(f.temp), os.Mkdir(f.temp, 0o700))
	if err == nil && f.repo != nil {
		err = f.repo.removeLocks(ctx, j.Writing)
	}
	if err != nil || !isBegun {
		return err
	}
	isPublished, err := f.isPublished(ctx, j)
	switch {
	case err != nil:
		return err
	case isPublished:
		return f.write(ctx, j)
	}
	err = f.finish(ctx, j)
	if _, statErr := os.Stat(f.journalFile()); err != nil && errors.Is(statErr, fs.ErrNotExist) {
		f.cfg.Log.Warn("a publication of the desk that was interrupted was given up; nothing of it was published", "error", err)
		return nil
	}
	return err
}

// isPublished reports whether the database has what the journal says.
func (f *Folder) isPublished(ctx context.Context, j *journal) (bool, error) {
	if j.Writing {
		return true, nil
	}
	const most = 100 // nobody publishes more while a server restarts
	versions, err := f.cfg.Store.Catalogue.Versions(ctx, most)
	return slices.ContainsFunc(versions, func(v catalogdb.Version) bool {
		if j.Commit != "" {
			return v.Revision == j.Commit
		}
		return v.Number > j.Over && v.Due == "" && v.Revision == "" && v.Author == j.publisher()
	}), err
}

// finish pushes and publishes what the journal says, and writes it to the folder. If it was pushed and
// the database fails, or if nobody knows whether the database has it, the journal stays, as it does
// until everything is written.
func (f *Folder) finish(ctx context.Context, j *journal) error {
	if f.repo != nil && !j.Stays {
		if _, err := f.push(ctx, j.Commit); err != nil {
			return errors.Join(err, f.forget())
		}
	}
	version, err := f.store(ctx, j, false)
	switch {
	case isFinal(err):
		return errors.Join(err, f.forget())
	case err != nil:
		return &Error{"La publication est commencée, mais la base de données ne répond pas\u00a0: " +
			"elle sera achevée dès que possible, sans autre geste de votre part.", err}
	}
	if f.repo == nil {
		if err := f.remember(version, j.Changes); err != nil {
			f.cfg.Log.Warn("what a publication of the desk replaced could not be kept; it cannot be undone there", "error", err)
		}
	}
	if err := f.write(ctx, j); err != nil {
		f.cfg.Log.Warn("what was published could not be written to the desk's folder; it is tried again", "error", err)
	}
	return nil
}

// write brings the folder to what is published, keeps what was committed there meanwhile, and forgets
// the journal.
func (f *Folder) write(ctx context.Context, j *journal) error {
	if f.repo == nil {
		if err := f.writeChanges(j.Changes); err != nil {
			return err
		}
		return f.forget()
	}
	at, err := f.repo.position(ctx)
	if err != nil {
		return err
	}
	at.upstream = j.Commit
	commit, apart, err := f.commit(ctx, &at, &Publication{})
	if err == nil && apart != nil {
		err = apart
	}
	if err == nil && !j.Writing {
		err = f.repo.mayWrite(ctx, f.temp, at.head, commit)
	}
	if err != nil {
		return err
	}
	if commit != at.head {
		j.Writing = true
		if err := f.save(j); err != nil {
			return err
		}
		f.files.Lock()
		defer f.files.Unlock()
		if err := f.repo.write(ctx, at.branch, at.head, commit); err != nil {
			return err
		}
	}
	return f.forget()
}

// writeChanges writes files outside git.
func (f *Folder) writeChanges(changes []Change) error {
	err := checkBases(changes, f.Read)
	if conflict, ok := errors.AsType[*ConflictError](err); ok {
		conflict.Local = true
	}
	for _, c := range changes {
		if err != nil {
			break
		}
		to := filepath.Join(f.cfg.Dir, filepath.FromSlash(c.Path))
		if c.Data != nil {
			err = f.replace(to, c.Data)
		} else if err = os.Remove(to); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	return err
}
