package worktree

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"
)

// A person is the author of a commit.
type person struct{ name, email string }

// program is the author of merges, which nobody wrote.
var program = person{"Palmarès", "palmares@localhost"}

// variables returns the author for git, which wants a name.
func (p person) variables(at time.Time) []string {
	clean := func(s string) string {
		return strings.TrimSpace(strings.Map(func(r rune) rune {
			if r < ' ' || r == '<' || r == '>' {
				return -1
			}
			return r
		}, s))
	}
	email := clean(p.email)
	name := cmp.Or(clean(p.name), strings.Split(email, "@")[0], program.name)
	date := fmt.Sprintf("@%d +0000", at.Unix())
	return []string{
		"GIT_AUTHOR_NAME=" + name, "GIT_AUTHOR_EMAIL=" + email, "GIT_AUTHOR_DATE=" + date,
		"GIT_COMMITTER_NAME=" + name, "GIT_COMMITTER_EMAIL=" + email, "GIT_COMMITTER_DATE=" + date,
	}
}

// commitTree makes a commit that nothing refers to yet.
func (r *repository) commitTree(ctx context.Context, tree string, parents []string, by person, at time.Time, message string) (string, error) {
	args := []string{"commit-tree", tree}
	for _, p := range parents {
		args = append(args, "-p", p)
	}
	out, err := r.run(ctx, call{input: []byte(message), env: by.variables(at)}, args...)
	return string(bytes.TrimSpace(out)), err
}

// file returns a file of a commit or tree as it is in a work tree. path is from the top.
func (r *repository) file(ctx context.Context, tree, path string) ([]byte, error) {
	out, err := r.run(ctx, call{}, "ls-tree", "-z", "--full-tree", tree, "--", ":(literal)"+path)
	if err != nil {
		return nil, err
	}
	if len(out) == 0 {
		return nil, fs.ErrNotExist
	}
	return r.run(ctx, call{}, "cat-file", "--filters", tree+":"+path)
}

// change returns a tree with changes, which it makes with an index in a temporary folder.
func (r *repository) change(ctx context.Context, temp, tree string, changes []Change) (string, error) {
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

// filesOf returns the content folder as it is in a commit: the one on disk, with the files of the
// commit where they differ. paths are those.
func (f *Folder) filesOf(ctx context.Context, commit string) (files *overlay, paths []string, err error) {
	r := f.repo
	diff, err := r.run(ctx, call{}, "diff", "--name-status", "-z", "--no-renames", "--no-ext-diff", "--ignore-submodules",
		commit, "--", ":(literal)"+cmp.Or(r.prefix, "."))
	if err != nil {
		return nil, nil, err
	}
	others, err := r.run(ctx, call{}, "ls-files", "--others", "--directory", "-z", "--", ":(literal)"+cmp.Or(r.prefix, "."))
	if err != nil {
		return nil, nil, err
	}
	files = newOverlay(f.root.FS())
	inFolder := func(path string) string { return strings.TrimSuffix(strings.TrimPrefix(path, r.prefix), "/") }
	for path := range strings.SplitSeq(string(others), "\x00") {
		if path = inFolder(path); path != "" {
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
			files.put(path, func() ([]byte, error) { return r.file(ctx, commit, full) })
		}
	}
	return files, paths, nil
}
