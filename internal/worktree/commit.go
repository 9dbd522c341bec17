package worktree

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// sign returns the variables of git for somebody in a role: git wants a name.
func sign(role, name, email string, at time.Time) []string {
	clean := func(s string) string {
		return strings.TrimSpace(strings.Map(func(r rune) rune {
			if r < ' ' || r == '<' || r == '>' {
				return -1
			}
			return r
		}, s))
	}
	email = clean(email)
	name = cmp.Or(clean(name), strings.Split(email, "@")[0], "Palmarès")
	email = cmp.Or(email, "palmares@localhost")
	role = "GIT_" + role
	return []string{role + "_NAME=" + name, role + "_EMAIL=" + email, fmt.Sprintf("%s_DATE=@%d +0000", role, at.Unix())}
}

// merge returns a merge of HEAD and the upstream, made without the work tree. Where both changed files, that needs
// changes of all of them, and the merge has what the upstream has; without any of them, it is HEAD, the upstream waits,
// and apart says why.
func (f *Folder) merge(ctx context.Context, at *position, changes []Change) (commit string, apart *ConflictError, err error) {
	out, err := f.repo.run(ctx, call{}, "merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", at.head, at.upstream)
	if code := exitCode(err); code != 0 && code != 1 {
		return "", nil, err
	}
	parts := strings.Split(strings.TrimRight(string(out), "\x00"), "\x00")
	apart = &ConflictError{Files: map[string][]byte{}}
	var theirs []Change
	settled := 0
	for _, full := range slices.Compact(parts[1:]) {
		path := strings.TrimPrefix(full, f.repo.prefix)
		if slices.ContainsFunc(changes, func(c Change) bool { return c.Path == path }) {
			settled++
		}
		apart.Paths = append(apart.Paths, path)
		data, err := f.repo.file(ctx, at.upstream, full)
		if err == nil {
			apart.Files[path] = data
		} else if !errors.Is(err, fs.ErrNotExist) {
			return "", nil, err
		}
		theirs = append(theirs, Change{Path: path, Data: data})
	}
	switch settled {
	case len(theirs):
		tree, err := f.repo.change(ctx, f.temp, parts[0], theirs)
		if err != nil {
			return "", nil, err
		}
		commit, err = f.commitTree(ctx, tree, &Publication{}, at.head, at.upstream)
		return commit, nil, err
	case 0:
		return at.head, apart, nil
	}
	return "", nil, apart
}

// commitTree returns a commit of a tree, which nothing refers to yet. Merges, which nobody wrote, are the program's.
func (f *Folder) commitTree(ctx context.Context, tree string, p *Publication, parents ...string) (string, error) {
	args := []string{"commit-tree", tree}
	for _, parent := range parents {
		args = append(args, "-p", parent)
	}
	by, email := p.PublisherName, p.PublisherEmail
	if by+email == "" {
		by, email = p.AuthorName, p.AuthorEmail
	}
	now := f.cfg.Now()
	env := append(sign("AUTHOR", p.AuthorName, p.AuthorEmail, now), sign("COMMITTER", by, email, now)...)
	message := cmp.Or(strings.TrimSpace(p.Message), "Réunit les changements de l’équipe")
	out, err := f.repo.run(ctx, call{input: []byte(message + "\n"), env: env}, args...)
	return string(bytes.TrimSpace(out)), err
}

// commit returns a commit with a publication that nothing refers to yet, on HEAD, the upstream or a merge of the two, and
// why it does not have what the upstream has; nil if it does.
func (f *Folder) commit(ctx context.Context, at *position, p *Publication) (commit string, apart *ConflictError, err error) {
	r, on, common := f.repo, at.head, at.upstream
	if at.upstream != "" {
		common, err = r.git(ctx, "merge-base", at.head, at.upstream)
	}
	switch {
	case err != nil || common == at.upstream:
	case common == at.head:
		on = at.upstream
	default:
		on, apart, err = f.merge(ctx, at, p.Changes)
	}
	if err != nil {
		return "", nil, err
	}
	err = checkBases(p.Changes, func(path string) ([]byte, error) { return r.file(ctx, on, r.prefix+path) })
	if err != nil {
		return "", nil, err
	}
	tree, err := r.change(ctx, f.temp, on, p.Changes)
	if err != nil {
		return "", nil, err
	}
	before, err := r.git(ctx, "rev-parse", "--verify", on+"^{tree}")
	if err != nil || before == tree {
		return on, apart, err
	}
	commit, err = f.commitTree(ctx, tree, p, on)
	return commit, apart, err
}

// file returns a file of a commit or tree as it is in a work tree, not nil if it is empty. path is from the top.
func (r *repository) file(ctx context.Context, tree, path string) ([]byte, error) {
	out, err := r.run(ctx, call{}, "ls-tree", "-z", "--full-tree", tree, "--", ":(literal)"+path)
	if err != nil {
		return nil, err
	}
	if len(out) == 0 {
		return nil, fs.ErrNotExist
	}
	out, err = r.run(ctx, call{}, "cat-file", "--filters", tree+":"+path)
	return append([]byte{}, out...), err
}

// change returns a tree with changes, which it makes with an index in a temporary folder.
func (r *repository) change(ctx context.Context, temp, tree string, changes []Change) (string, error) {
	if len(changes) == 0 {
		return r.git(ctx, "rev-parse", "--verify", tree+"^{tree}")
	}
	env := []string{"GIT_INDEX_FILE=" + filepath.Join(temp, "index")}
	if _, err := r.run(ctx, call{env: env}, "read-tree", tree); err != nil {
		return "", err
	}
	var lines bytes.Buffer
	for _, c := range changes {
		path := r.prefix + c.Path
		if c.Data == nil {
			fmt.Fprintf(&lines, "0 %s\t%s\x00", strings.Repeat("0", len(tree)), path)
			continue
		}
		id, err := r.run(ctx, call{input: c.Data}, "hash-object", "-w", "--stdin", "--path="+path)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&lines, "100644 %s\t%s\x00", bytes.TrimSpace(id), path)
	}
	if _, err := r.run(ctx, call{env: env, input: lines.Bytes()}, "update-index", "-z", "--index-info"); err != nil {
		return "", err
	}
	out, err := r.run(ctx, call{env: env}, "write-tree")
	return string(bytes.TrimSpace(out)), err
}

// filesOf returns the content folder as it is with a journal: the one on disk, with the changes of the journal, or with
// the files of its commit where they differ, whose paths it returns.
func (f *Folder) filesOf(ctx context.Context, j *journal) (_ fs.FS, paths []string, err error) {
	if f.repo == nil {
		return f.With(j.Changes), nil, nil
	}
	r := f.repo
	diff, err := r.run(ctx, call{}, "diff", "--name-status", "-z", "--no-renames", "--no-ext-diff", "--ignore-submodules",
		j.Commit, "--", ":(literal)"+cmp.Or(r.prefix, "."))
	if err != nil {
		return nil, nil, err
	}
	others, err := r.run(ctx, call{}, "ls-files", "--others", "--directory", "-z", "--", ":(literal)"+cmp.Or(r.prefix, "."))
	if err != nil {
		return nil, nil, err
	}
	files := newOverlay(f.root.FS())
	inFolder := func(path string) string { return strings.TrimSuffix(strings.TrimPrefix(path, r.prefix), "/") }
	for path := range strings.SplitSeq(string(others), "\x00") {
		path = inFolder(path)
		if path != "" {
			files.hide(path)
			paths = append(paths, path)
		}
	}
	parts := strings.Split(string(diff), "\x00")
	for i := 0; i+1 < len(parts); i += 2 {
		status, full := parts[i], parts[i+1]
		path := inFolder(full)
		paths = append(paths, path)
		if status == "A" { // it is on disk only
			files.hide(path)
		} else {
			files.put(path, func() ([]byte, error) { return r.file(ctx, j.Commit, full) })
		}
	}
	return files, paths, nil
}
