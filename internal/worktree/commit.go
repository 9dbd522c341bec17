package worktree

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// signature returns the variables of git for the author of a publication: git wants a name. Merges,
// which nobody wrote, are the program's.
func signature(p *Publication, at time.Time) []string {
	clean := func(s string) string {
		return strings.TrimSpace(strings.Map(func(r rune) rune {
			if r < ' ' || r == '<' || r == '>' {
				return -1
			}
			return r
		}, s))
	}
	email := clean(p.AuthorEmail)
	name := cmp.Or(clean(p.AuthorName), strings.Split(email, "@")[0], "Palmarès")
	email = cmp.Or(email, "palmares@localhost")
	date := fmt.Sprintf("@%d +0000", at.Unix())
	return []string{
		"GIT_AUTHOR_NAME=" + name, "GIT_AUTHOR_EMAIL=" + email, "GIT_AUTHOR_DATE=" + date,
		"GIT_COMMITTER_NAME=" + name, "GIT_COMMITTER_EMAIL=" + email, "GIT_COMMITTER_DATE=" + date,
	}
}

// A base is what a commit is made on.
type base struct {
	tree    string
	parents []string
	settled []string       // files from the top that both changed, and about which changes decide
	apart   *ConflictError // why the upstream cannot be joined yet; nil if it is
}

// base returns what a commit with changes is made on: HEAD, the upstream, or a merge of the two, made
// without the work tree. Where both changed files, that needs changes of all of them; without any of
// them, the upstream waits.
func (f *Folder) base(ctx context.Context, at *position, changes []Change) (base, error) {
	alone := base{tree: at.head, parents: []string{at.head}}
	if at.upstream == "" {
		return alone, nil
	}
	common, err := f.repo.git(ctx, "merge-base", at.head, at.upstream)
	switch {
	case err != nil || common == at.upstream:
		return alone, err
	case common == at.head:
		return base{tree: at.upstream, parents: []string{at.upstream}}, nil
	}
	out, err := f.repo.run(ctx, call{}, "merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", at.head, at.upstream)
	if code := exitCode(err); code != 0 && code != 1 {
		return alone, err
	}
	parts := strings.Split(strings.TrimRight(string(out), "\x00"), "\x00")
	merge := base{tree: parts[0], parents: []string{at.head, at.upstream}, settled: slices.Compact(parts[1:])}
	apart := &ConflictError{Files: map[string][]byte{}}
	settled := 0
	for _, full := range merge.settled {
		path := strings.TrimPrefix(full, f.repo.prefix)
		if slices.ContainsFunc(changes, func(c Change) bool { return c.Path == path }) {
			settled++
		}
		apart.Paths = append(apart.Paths, path)
		theirs, err := f.repo.file(ctx, at.upstream, full)
		if err == nil {
			apart.Files[path] = theirs
		} else if !errors.Is(err, fs.ErrNotExist) {
			return alone, err
		}
	}
	switch settled {
	case len(merge.settled):
		return merge, nil
	case 0:
		alone.apart = apart
		return alone, nil
	}
	return alone, apart
}

// commit returns a commit with a publication that nothing refers to yet, and why it does not have what
// the upstream has; nil if it does.
func (f *Folder) commit(ctx context.Context, at *position, p *Publication) (commit string, apart *ConflictError, err error) {
	r := f.repo
	on, err := f.base(ctx, at, p.Changes)
	if err != nil {
		return "", nil, err
	}
	err = checkBases(p.Changes, func(path string) ([]byte, error) {
		held := on.tree
		if slices.Contains(on.settled, r.prefix+path) {
			held = at.upstream // her own she has written
		}
		return r.file(ctx, held, r.prefix+path)
	})
	if err != nil {
		return "", nil, err
	}
	tree, err := r.change(ctx, f.temp, on.tree, p.Changes)
	if err != nil {
		return "", nil, err
	}
	args := []string{"commit-tree", tree}
	for _, parent := range on.parents {
		args = append(args, "-p", parent)
	}
	before, err := r.git(ctx, "rev-parse", "--verify", on.parents[0]+"^{tree}")
	if err != nil || before == tree && len(on.parents) == 1 {
		return on.parents[0], on.apart, err
	}
	out, err := r.run(ctx, call{input: []byte(message(p)), env: signature(p, f.cfg.Now())}, args...)
	return string(bytes.TrimSpace(out)), on.apart, err
}

// message returns the message of a commit.
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
		lines = append(lines, verb+" "+strings.TrimSuffix(c.Path, path.Ext(c.Path))+"\n")
	}
	switch len(lines) {
	case 0:
		return "Réunit les changements de l’équipe\n"
	case 1:
		return lines[0]
	}
	return fmt.Sprintf("Publie %d changements\n\n%s", len(lines), strings.Join(lines, ""))
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
			files.put(path, func() ([]byte, error) { return r.file(ctx, commit, full) })
		}
	}
	return files, paths, nil
}
