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
	stepWriting = "writing" // files may be half written
)

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
func (f *Folder) forget() error { return os.Remove(f.journalFile()) }

// recover finishes what the journal says, and removes what a killed process left. What cannot be
// published any more is forgotten.
func (f *Folder) recover(ctx context.Context) error {
	j := &journal{}
	data, err := os.ReadFile(f.journalFile())
	if err == nil {
		err = json.Unmarshal(data, j)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	err = errors.Join(os.RemoveAll(f.temp), os.Mkdir(f.temp, 0o700))
	if err == nil && f.repo != nil {
		err = f.repo.removeLocks(ctx, j.Step == stepWriting)
	}
	if err == nil && j.Step == stepPublish {
		err = f.skipPublished(ctx, j)
	}
	if err != nil || j.Step == "" {
		return err
	}
	_, err = f.finish(ctx, j)
	if _, statErr := os.Stat(f.journalFile()); err != nil && errors.Is(statErr, fs.ErrNotExist) {
		f.cfg.Log.Warn("a publication of the desk that was interrupted was given up; nothing of it was published", "error", err)
		return nil
	}
	return err
}

// skipPublished goes on to the next step if the database has what the journal says.
func (f *Folder) skipPublished(ctx context.Context, j *journal) error {
	const most = 100 // nobody publishes more while a server restarts
	versions, err := f.cfg.Store.Catalogue.Versions(ctx, most)
	if slices.ContainsFunc(versions, func(v catalogdb.Version) bool {
		if j.Commit != "" {
			return v.Revision == j.Commit
		}
		return v.Number > j.Over && v.Due == "" && v.Revision == "" && v.Author == j.Author
	}) {
		j.Step = stepWrite
	}
	return err
}

// finish does what the journal says, and forgets it if it is done or cannot be done.
func (f *Folder) finish(ctx context.Context, j *journal) (done Result, err error) {
	if j.Step == stepPublish {
		done, err = f.finishPublication(ctx, j)
		if err != nil {
			return done, err
		}
		j.Step = stepWrite
		err = f.save(j)
	}
	if err == nil {
		err = f.write(ctx, j)
	}
	if err == nil {
		return done, f.forget()
	}
	f.cfg.Log.Warn("what was published could not be written to the desk's folder; it is tried again", "error", err)
	if done.Version > 0 {
		return done, nil
	}
	return done, err
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
	if err == nil {
		return done, nil
	}
	if isFinal(err) {
		return done, errors.Join(err, f.forget())
	}
	return done, &Error{"La publication est commencée, mais la base de données ne répond pas\u00a0: " +
		"elle sera achevée dès que possible, sans autre geste de votre part.", err}
}

// write brings the folder to what is published, and keeps what was committed there meanwhile.
func (f *Folder) write(ctx context.Context, j *journal) error {
	if f.repo == nil {
		return f.writeChanges(j.Changes)
	}
	at, err := f.repo.position(ctx)
	if err != nil {
		return err
	}
	at.upstream = j.Commit
	base, err := f.base(ctx, &at, nil)
	if err == nil && base.apart != nil {
		err = base.apart
	}
	if err != nil || base.tree == at.head {
		return err
	}
	if j.Step == stepWrite {
		if err := f.repo.mayWrite(ctx, f.temp, at.head, base.tree); err != nil {
			return err
		}
		j.Step = stepWriting
		if err := f.save(j); err != nil {
			return err
		}
	}
	f.files.Lock()
	defer f.files.Unlock()
	return f.repo.write(ctx, at.branch, at.head, base.tree)
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
