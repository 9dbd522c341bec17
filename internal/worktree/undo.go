package worktree

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"palmares/internal/catalogdb"
)

// maxUndone is how many files a version may have changed to be taken back.
const maxUndone = 200

// Undo returns the changes that take back what a published version changed in the files. A Publication
// that Undoes the version has them, or the next one would bring everything back. A ConflictError lists files that were changed since.
func (f *Folder) Undo(ctx context.Context, version int64) ([]Change, error) {
	if f.repo == nil {
		var changes []Change
		data, err := os.ReadFile(f.beforeFile(version))
		if errors.Is(err, fs.ErrNotExist) {
			return nil, errUnknown
		}
		if err == nil {
			err = json.Unmarshal(data, &changes)
		}
		if err != nil {
			return nil, explain(err)
		}
		return changes, checkBases(changes, f.Read)
	}
	before, after, err := f.commitsOf(ctx, version)
	if err != nil {
		return nil, explain(err)
	}
	if before == "" {
		return nil, errUnknown
	}
	out, err := f.repo.git(ctx, "diff-tree", "-r", "-z", "--no-renames", "--name-only", before, after)
	if err != nil {
		return nil, explain(err)
	}
	paths := slices.DeleteFunc(strings.Split(out, "\x00"), func(full string) bool {
		return !strings.HasPrefix(full, f.repo.prefix) || CheckPath(strings.TrimPrefix(full, f.repo.prefix)) != nil
	})
	if len(paths) > maxUndone {
		return nil, &Error{text: "Cette version a changé trop de fichiers pour être annulée ici. Corrigez plutôt les fiches elles-mêmes."}
	}
	var changes []Change
	for _, full := range paths {
		now, err := f.repo.file(ctx, after, full)
		c := Change{Path: strings.TrimPrefix(full, f.repo.prefix), Base: Hash(now)}
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			c.Data, err = f.repo.file(ctx, before, full)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, explain(err)
		}
		changes = append(changes, c)
	}
	return changes, checkBases(changes, f.Read)
}

var errUnknown = &Error{text: "Les fichiers d’avant cette version ne sont pas connus ici. Corrigez plutôt la fiche elle-même."}

// Outside git, the bytes that the last versions replaced are kept beside the journal.
const (
	keptVersions = 50      // as many as the database can undo
	maxKept      = 8 << 20 // bytes of one version
)

func (f *Folder) beforeFile(version int64) string {
	return filepath.Join(f.private, "avant", fmt.Sprintf("%012d.json", version))
}

// remember keeps what a version is about to replace.
func (f *Folder) remember(version int64, changes []Change) error {
	var before []Change
	size := 0
	for _, c := range changes {
		old, err := f.Read(c.Path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		before = append(before, Change{Path: c.Path, Data: old, Base: Hash(c.Data)})
		size += len(old)
	}
	if size > maxKept {
		return nil
	}
	data, err := json.Marshal(before)
	if err != nil {
		return err
	}
	all, err := filepath.Glob(filepath.Join(f.private, "avant", "*.json")) // sorted
	for _, name := range all[:max(0, len(all)+1-keptVersions)] {
		err = errors.Join(err, os.Remove(name))
	}
	return errors.Join(err, f.replace(f.beforeFile(version), data))
}

// commitsOf returns the commits of a version and of the one before it; "" if they are not known.
func (f *Folder) commitsOf(ctx context.Context, version int64) (before, after string, err error) {
	const most = 1000
	versions, err := f.cfg.Store.Catalogue.Versions(ctx, most)
	if err != nil {
		return "", "", err
	}
	versions = slices.DeleteFunc(versions, func(v catalogdb.Version) bool { return v.Number > version || v.Revision == "" })
	if len(versions) == 0 || versions[0].Number != version || versions[0].Undoes > 0 || versions[0].Due != "" {
		return "", "", nil // no commit is about it
	}
	after = versions[0].Revision
	if i := slices.IndexFunc(versions, func(v catalogdb.Version) bool { return v.Revision != after }); i > 0 {
		before = versions[i].Revision
	}
	return before, after, nil
}
