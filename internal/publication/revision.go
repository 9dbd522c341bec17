package publication

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"palmares/internal/catalogdb"
	"palmares/internal/problem"
)

// A Revision says where a folder comes from, and what publishing it may overwrite. The zero value
// leaves everything to git.
type Revision struct {
	Commit string // that the folder was taken from; "" for HEAD of the git repository around it
	Author string // "" for the author of the commit
	Force  bool   // whatever is published may be overwritten
	Expect *int64 // the published version; nil for whichever git finds to be contained in the folder
	GitDir string // the variable GIT_DIR, which hooks of a repository have
}

// A Checkout is the git repository around a folder.
type Checkout struct {
	ctx     context.Context
	dir     string
	gitDir  string
	head    string // the revision that is published
	isClean bool   // the folder is as in head
}

// Source finds out where a folder comes from. The checkout is nil outside git.
func (r *Revision) Source(ctx context.Context, dir string) (catalogdb.Source, *Checkout, error) {
	// Outside git, the folder is taken for the revision that is given.
	s := catalogdb.Source{Revision: r.Commit, Author: r.Author, Clean: r.Commit != ""}
	c := &Checkout{ctx: ctx, dir: dir, gitDir: r.GitDir, head: cmp.Or(r.Commit, "HEAD")}
	hash, err := c.git("rev-parse", "--verify", "--quiet", c.head+"^{commit}")
	failed, isFailed := errors.AsType[*exec.ExitError](err)
	switch {
	case errors.Is(err, exec.ErrNotFound):
		if r.Commit == "" && !r.Force && r.Expect == nil && c.isInRepository() {
			return s, nil, problem.New("no-git", dir)
		}
		return s, nil, nil
	case isFailed && failed.ExitCode() == 1:
		if r.Commit == "" {
			return s, nil, nil // a repository without a commit
		}
		return s, nil, problem.New("no-such-commit", r.Commit, dir)
	case isFailed && strings.Contains(string(failed.Stderr), "not a git repository (or any"):
		return s, nil, nil
	case err != nil:
		return s, nil, problem.Wrap(err, "git-unreadable", dir, gitError(err))
	}
	c.head, s.Revision = hash, hash
	if s.Author == "" {
		s.Author, err = c.git("log", "-1", "--format=%an", hash)
		if err != nil {
			return s, nil, gitError(err)
		}
	}
	c.isClean, err = c.compare(r.Commit != "")
	if err != nil {
		return s, nil, gitError(err)
	}
	s.Clean = c.isClean
	return s, c, nil
}

// isInRepository reports whether the folder is in a git repository, for when git cannot be
// asked.
func (c *Checkout) isInRepository() bool {
	if c.gitDir != "" {
		return true
	}
	dir := realPath(c.dir)
	for parent := filepath.Dir(dir); ; dir, parent = parent, filepath.Dir(parent) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil || dir == parent {
			return err == nil
		}
	}
}

// realPath returns the absolute path of a folder without links, or dir itself if that has
// none.
func realPath(dir string) string {
	if absolute, err := filepath.Abs(dir); err == nil {
		dir = absolute
	}
	if resolved, err := filepath.EvalSymlinks(dir); err == nil {
		dir = resolved
	}
	return dir
}

// compare reports whether the folder is as in the revision. One outside the work tree was
// taken from it, as by a hook, if that is what the command was told.
func (c *Checkout) compare(isTold bool) (isClean bool, err error) {
	top, err := c.git("rev-parse", "--show-toplevel")
	if err != nil && isTold {
		return true, nil // a bare repository
	}
	if err != nil {
		return false, err
	}
	folder := realPath(c.dir)
	if inside, err := filepath.Rel(realPath(top), folder); err != nil || !filepath.IsLocal(inside) {
		return isTold, nil
	}
	changed, err := c.git("diff", "--name-only", c.head, "--", folder)
	if err != nil || changed != "" {
		return false, err
	}
	added, err := c.git("ls-files", "--others", "--exclude-standard", "--", folder)
	return added == "", err
}

// A staleError says why a folder would undo another one's work.
type staleError struct {
	problem.Text
	stays bool // the published revision on record, even if the folder changes nothing
}

// Is reports whether the error is that target.
func (e *staleError) Is(target error) bool { return e.stays && target == catalogdb.ErrRevisionStays }

// Guard returns the Guard of a Job: it keeps a publication from undoing another one's work.
// Git knows of versions that have a revision only, so from the first such version on, somebody
// has to confirm what is published over a version without one, or from a folder without one.
func (r *Revision) Guard(c *Checkout) func(catalogdb.Head) error {
	return func(published catalogdb.Head) error {
		switch {
		case r.Expect != nil && !published.Is(*r.Expect):
			return &staleError{problem.New("not-expected",
				published.Version, *r.Expect, published.Version, published.Version), true}
		case r.Force || r.Expect != nil || published.Version == 0:
			return nil
		case c == nil && r.Commit == "":
			if published.Revision == "" {
				return nil // git was never used
			}
			return ask(published, problem.New("no-revision-here"))
		case c != nil && published.Revision != "":
			if err := c.contains(published); err != nil {
				return err
			}
		}
		if published.Revision == "" || published.Earlier {
			return ask(published, problem.Text{})
		}
		return nil
	}
}

// ask returns the error for a folder of which git cannot tell whether it contains what is published.
func ask(published catalogdb.Head, folder problem.Text) error {
	v, how := published.Version, problem.New("from-git", revisionOf(published))
	if published.Revision == "" || published.Earlier {
		how = problem.New("from-folder")
		if published.By != "" {
			how = problem.New("by", how, published.By)
		}
	}
	return &staleError{problem.New("may-undo", v, how, folder, v, v), false}
}

// revisionOf names the published revision and its author.
func revisionOf(published catalogdb.Head) problem.Text {
	what := problem.New("revision", published.Revision)
	if published.Author != "" {
		what = problem.New("revision-by", what, published.Author)
	}
	return what
}

// contains returns an error unless the checkout contains what is published.
func (c *Checkout) contains(published catalogdb.Head) error {
	what := revisionOf(published)
	_, err := c.git("merge-base", "--is-ancestor", published.Revision, c.head)
	if err == nil {
		if published.Clean || !c.isClean || published.Revision != c.head {
			return nil
		}
		return &staleError{problem.New("published-uncommitted", what), false}
	}
	if _, isFailed := errors.AsType[*exec.ExitError](err); !isFailed {
		return &staleError{problem.Of(gitError(err)), true}
	}
	shallow, err := c.git("rev-parse", "--is-shallow-repository")
	if err == nil && shallow == "true" {
		return &staleError{problem.New("clone-shallow", what), true}
	}
	_, err = c.git("merge-base", "--is-ancestor", c.head, published.Revision)
	isOlder := err == nil
	stays := isOlder || !c.isClean
	return &staleError{problem.New("folder-behind", what), stays}
}

// git runs a command in the folder and returns what it printed. Hooks of a repository
// are told where it is, relative to the current directory.
func (c *Checkout) git(args ...string) (string, error) {
	cmd := exec.CommandContext(c.ctx, "git", args...)
	cmd.Env = append(cmd.Environ(), "LC_ALL=C", "LANGUAGE=", "GIT_LITERAL_PATHSPECS=1")
	if c.gitDir == "" {
		cmd.Dir = c.dir
	}
	out, err := cmd.Output()
	return string(bytes.TrimSpace(out)), err
}

// gitError returns an error of git with what it printed.
func gitError(err error) error {
	if failed, ok := errors.AsType[*exec.ExitError](err); ok && len(failed.Stderr) > 0 {
		return fmt.Errorf("%s (%w)", bytes.TrimSpace(failed.Stderr), err)
	}
	return err
}
