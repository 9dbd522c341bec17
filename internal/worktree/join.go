package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A joint is what has to be written to bring the work tree from one commit to another.
type joint struct {
	*repository
	from, to string
	files    []joinedFile
}

// A joinedFile is a file that differs between the commits.
type joinedFile struct {
	path     string // from the top
	old, new string // ids of git; zeros for no file
	isGone   bool
}

// joinTo returns what has to be written so that the work tree has a commit: that itself, or a merge
// with what was committed in the work tree meanwhile. It is nil if there is nothing to do.
func (r *repository) joinTo(ctx context.Context, p *position, commit string, now time.Time) (*joint, error) {
	isThere, err := r.isAncestor(ctx, commit, p.head)
	if err != nil || isThere {
		return nil, err
	}
	isForward, err := r.isAncestor(ctx, p.head, commit)
	if err != nil {
		return nil, err
	}
	if !isForward {
		tree, conflicts, err := r.merge(ctx, p.head, commit)
		if err != nil {
			return nil, err
		}
		if len(conflicts) > 0 {
			return nil, &ConflictError{Paths: conflicts, Local: true}
		}
		commit, err = r.commitTree(ctx, tree, []string{p.head, commit}, program, now, mergeMessage)
		if err != nil {
			return nil, err
		}
	}
	j := &joint{repository: r, from: p.head, to: commit}
	return j, j.compare(ctx)
}

// compare finds the files, and refuses to write those that somebody is editing.
func (j *joint) compare(ctx context.Context) error {
	out, err := j.run(ctx, call{}, "diff-tree", "-r", "-z", "--no-renames", "--ignore-submodules", j.from, j.to)
	if err != nil {
		return err
	}
	parts := strings.Split(string(out), "\x00")
	for i := 0; i+1 < len(parts); i += 2 {
		var oldMode, newMode, status string
		f := joinedFile{path: parts[i+1]}
		if _, err := fmt.Sscanf(parts[i], ":%s %s %s %s %s", &oldMode, &newMode, &f.old, &f.new, &status); err != nil {
			return fmt.Errorf("git diff-tree printed %q: %w", parts[i], err)
		}
		f.isGone = status == "D"
		j.files = append(j.files, f)
	}
	edited, err := j.edited(ctx)
	if err == nil && len(edited) > 0 {
		err = &ConflictError{Paths: edited, Local: true}
	}
	return err
}

// edited returns the files that are neither as before nor as after.
func (j *joint) edited(ctx context.Context) (list []string, err error) {
	var present []string
	ids := map[string]string{}
	for _, f := range j.files {
		info, err := os.Lstat(j.onDisk(f.path))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			ids[f.path] = strings.Repeat("0", len(f.new))
		case err != nil:
			return nil, err
		case info.Mode().IsRegular():
			present = append(present, f.path)
		case info.Mode()&fs.ModeSymlink != 0:
			if ids[f.path], err = j.linkID(ctx, f.path); err != nil {
				return nil, err
			}
		}
	}
	out, err := j.run(ctx, call{input: []byte(strings.Join(present, "\n"))}, "hash-object", "--stdin-paths")
	if err != nil {
		return nil, err
	}
	for i, id := range strings.Fields(string(out)) {
		ids[present[i]] = id
	}
	for _, f := range j.files {
		if id := ids[f.path]; id != f.old && id != f.new {
			list = append(list, f.path)
		}
	}
	return list, nil
}

func (j *joint) linkID(ctx context.Context, path string) (string, error) {
	target, err := os.Readlink(j.onDisk(path))
	if err != nil {
		return "", err
	}
	out, err := j.run(ctx, call{input: []byte(target)}, "hash-object", "--stdin")
	return string(bytes.TrimSpace(out)), err
}

func (r *repository) onDisk(path string) string {
	return filepath.Join(r.top, filepath.FromSlash(path))
}

// write brings index, files and branch to the commit. Everything may have been done before.
func (j *joint) write(ctx context.Context, temp string, p *position) error {
	dir, err := os.MkdirTemp(temp, tempPrefix)
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	unlock, err := j.lockIndex(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	next, err := j.nextIndex(ctx, dir)
	if err != nil {
		return err
	}
	if err := j.writeFiles(ctx, dir, next); err != nil {
		return err
	}
	// So that git need not read the files again to know that they are as in the index. It fails
	// for those that somebody edits.
	_, _ = next.run(ctx, nil, "update-index", "-q", "--refresh")
	if err := os.Rename(next.file, filepath.Join(j.gitDir, "index")); err != nil {
		return err
	}
	_, err = j.git(ctx, "update-ref", "-m", "palmares: publication", p.branch, j.to, j.from)
	return err
}

// nextIndex returns the index of the work tree, with what others have put there, as it is after.
func (j *joint) nextIndex(ctx context.Context, dir string) (*index, error) {
	x := &index{j.repository, filepath.Join(dir, "index")}
	if err := copyFile(filepath.Join(j.gitDir, "index"), x.file); err != nil {
		return nil, err
	}
	_, err := x.run(ctx, nil, "read-tree", "-i", "-m", j.from, j.to)
	if err != nil {
		return nil, &Error{"Quelqu’un travaille directement dans le dossier du serveur, sur les mêmes fichiers\u00a0: " +
			"ces changements doivent d’abord y être enregistrés ou retirés.", err}
	}
	return x, nil
}

func copyFile(from, to string) error {
	data, err := os.ReadFile(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o600)
}

// writeFiles lets git write the new files beside the work tree, and moves them to their places.
func (j *joint) writeFiles(ctx context.Context, dir string, x *index) error {
	var paths bytes.Buffer
	for _, f := range j.files {
		if !f.isGone {
			paths.WriteString(f.path + "\x00")
		}
	}
	staged := filepath.Join(dir, "files")
	if _, err := x.run(ctx, paths.Bytes(), "checkout-index", "-z", "--stdin", "--force", "--prefix="+filepath.ToSlash(staged)+"/"); err != nil {
		return err
	}
	for _, f := range j.files { // first, as a folder may become a file
		if f.isGone {
			if err := j.remove(f.path); err != nil {
				return err
			}
		}
	}
	for _, f := range j.files {
		if !f.isGone {
			if err := moveFile(filepath.Join(staged, filepath.FromSlash(f.path)), j.onDisk(f.path)); err != nil {
				return err
			}
		}
	}
	return nil
}

// remove removes a file, and the folders that are empty then.
func (r *repository) remove(file string) error {
	if err := os.Remove(r.onDisk(file)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for dir := path.Dir(file); dir != "." && os.Remove(r.onDisk(dir)) == nil; dir = path.Dir(dir) {
	}
	return nil
}

// ourLock is what a lock file of the index says if it is ours; git's own hold an index.
const ourLock = "palmares\n"

// lockWait is how long another process may hold a lock. Most are held for milliseconds.
const lockWait = 5 * time.Second

// lockIndex locks the index of the work tree as git does.
func (j *joint) lockIndex(ctx context.Context) (unlock func(), err error) {
	lock := filepath.Join(j.gitDir, "index.lock")
	for end := time.Now().Add(lockWait); ; {
		file, err := os.OpenFile(lock, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			_, err = io.WriteString(file, ourLock)
			return func() { _ = os.Remove(lock) }, errors.Join(err, file.Close())
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		if text, _ := os.ReadFile(lock); string(text) == ourLock { // of a process that was killed
			_ = os.Remove(lock)
		}
		if time.Now().After(end) {
			return nil, &Error{"Une autre personne travaille en ce moment dans le dossier du serveur\u00a0: réessayez dans un instant.", err}
		}
		if err := pause(ctx); err != nil {
			return nil, err
		}
	}
}

func pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(50 * time.Millisecond):
		return nil
	}
}

// removeStaleLocks removes the lock files of references that a killed git left. git holds them for
// milliseconds.
func (r *repository) removeStaleLocks(ctx context.Context) error {
	common, err := r.git(ctx, "rev-parse", "--path-format=absolute", "--git-common-dir")
	if err != nil {
		return err
	}
	p, err := r.position(ctx)
	if err != nil {
		return err
	}
	locks := []string{
		filepath.Join(r.gitDir, "HEAD.lock"), filepath.Join(common, "packed-refs.lock"), filepath.Join(common, p.branch+".lock"),
	}
	if p.tracking != "" {
		locks = append(locks, filepath.Join(common, p.tracking+".lock"))
	}
	for _, lock := range slices.Compact(locks) {
		for {
			info, err := os.Stat(lock)
			if err != nil {
				break
			}
			if time.Since(info.ModTime()) > lockWait {
				if err := os.Remove(lock); err != nil && !errors.Is(err, fs.ErrNotExist) {
					return err
				}
				break
			}
			if err := pause(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}
