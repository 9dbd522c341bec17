package main

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

	"palmares/internal/store"
)

// revisionOptions say where a folder comes from, and what may be overwritten.
type revisionOptions struct {
	Revision string `help:"Revision to record with the version (default: HEAD of the git work tree the folder is in)." env:"PALMARES_REVISION" placeholder:"COMMIT"`
	Author   string `help:"Author to record with the version (default: the author of the revision)." env:"PALMARES_AUTHOR" placeholder:"NAME"`
	Force    bool   `help:"Publish although the folder does not contain the published revision." env:"PALMARES_FORCE"`
	Expect   *int64 `help:"Publish only if this is the published version; for folders outside git." env:"PALMARES_EXPECT" placeholder:"VERSION"`
}

// A checkout is the git repository around a folder.
type checkout struct {
	ctx     context.Context
	dir     string
	head    string // the revision that is published
	isClean bool   // the folder is as in head
}

// source finds out where a folder comes from. The checkout is nil outside git.
func (o *revisionOptions) source(ctx context.Context, dir string) (store.Source, *checkout, error) {
	// Outside git, the folder is taken for the revision that is given.
	s := store.Source{Revision: o.Revision, Author: o.Author, Clean: o.Revision != ""}
	c := &checkout{ctx: ctx, dir: dir, head: cmp.Or(o.Revision, "HEAD")}
	hash, err := c.git("rev-parse", "--verify", "--quiet", c.head+"^{commit}")
	var failed *exec.ExitError
	switch {
	case errors.Is(err, exec.ErrNotFound):
		if o.Revision == "" && !o.Force && o.Expect == nil && isInRepository(dir) {
			return s, nil, fmt.Errorf("%s is in a git repository, but there is no git on the PATH to find out whether it contains what is published: install git, say with --revision which commit the folder is, or pass --force", dir)
		}
		return s, nil, nil
	case errors.As(err, &failed) && failed.ExitCode() == 1:
		if o.Revision == "" {
			return s, nil, nil // a repository without a commit
		}
		return s, nil, fmt.Errorf("--revision %s is not a commit of the git repository around %s; give the one that the folder was taken from", o.Revision, dir)
	case errors.As(err, &failed) && strings.Contains(string(failed.Stderr), "not a git repository (or any"):
		return s, nil, nil
	case err != nil:
		return s, nil, fmt.Errorf("git cannot read the repository around %s: %w", dir, gitError(err))
	}
	c.head, s.Revision = hash, hash
	if s.Author == "" {
		if s.Author, err = c.git("log", "-1", "--format=%an", hash); err != nil {
			return s, nil, gitError(err)
		}
	}
	if c.isClean, err = c.compare(o.Revision != ""); err != nil {
		return s, nil, gitError(err)
	}
	s.Clean = c.isClean
	return s, c, nil
}

// isInRepository reports whether a folder is in a git repository, for when git cannot be
// asked.
func isInRepository(dir string) bool {
	if os.Getenv("GIT_DIR") != "" {
		return true
	}
	dir = realPath(dir)
	for parent := filepath.Dir(dir); ; dir, parent = parent, filepath.Dir(parent) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil || dir == parent {
			return err == nil
		}
	}
}

// realPath returns the absolute path of a folder without links, or as it is if there is
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
func (c *checkout) compare(isTold bool) (isClean bool, err error) {
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
	text  string
	stays bool // the published revision on record, even if the folder changes nothing
}

func (e *staleError) Error() string { return e.text }

// Is reports whether the error is that target.
func (e *staleError) Is(target error) bool { return e.stays && target == store.ErrRevisionStays }

// guard returns what keeps a publication from undoing another one's work.
func (o *revisionOptions) guard(c *checkout) func(store.Head) error {
	return func(published store.Head) error {
		switch {
		case o.Expect != nil && *o.Expect != published.Version:
			return &staleError{fmt.Sprintf("version %d is published, not %d: see `palmares log %d`, take over what it changed, and publish with --expect %d",
				published.Version, *o.Expect, published.Version, published.Version), true}
		case o.Force || o.Expect != nil || c == nil || published.Revision == "":
			return nil
		}
		return c.contains(published)
	}
}

// contains returns an error unless the checkout contains what is published.
func (c *checkout) contains(published store.Head) error {
	what := fmt.Sprintf("revision %.12s", published.Revision)
	if published.Author != "" {
		what += " by " + published.Author
	}
	_, err := c.git("merge-base", "--is-ancestor", published.Revision, c.head)
	if err == nil {
		if published.Clean || !c.isClean || published.Revision != c.head {
			return nil
		}
		return &staleError{what + " was published with uncommitted changes, which are missing here, and publishing this folder would undo them: have them committed and pushed, run `git pull` and publish again, or pass --force", false}
	}
	var failed *exec.ExitError
	if !errors.As(err, &failed) {
		return &staleError{gitError(err).Error(), true}
	}
	if shallow, err := c.git("rev-parse", "--is-shallow-repository"); err == nil && shallow == "true" {
		return &staleError{fmt.Sprintf("this clone is shallow, so it cannot be known whether it contains the published %s: run `git fetch --unshallow` (in a workflow: fetch-depth: 0), or pass --force", what), true}
	}
	_, err = c.git("merge-base", "--is-ancestor", c.head, published.Revision)
	isOlder := err == nil
	return &staleError{fmt.Sprintf("this folder does not contain the published %s, and publishing it would undo that work: run `git pull` and publish again, or pass --force", what), isOlder || !c.isClean}
}

// git runs a command in the folder and returns what it printed. Hooks of a repository
// are told where it is, relative to the current directory.
func (c *checkout) git(args ...string) (string, error) {
	cmd := exec.CommandContext(c.ctx, "git", args...)
	cmd.Env = append(os.Environ(), "LC_ALL=C", "LANGUAGE=", "GIT_LITERAL_PATHSPECS=1")
	if os.Getenv("GIT_DIR") == "" {
		cmd.Dir = c.dir
	}
	out, err := cmd.Output()
	return string(bytes.TrimSpace(out)), err
}

// gitError returns an error of git with what it printed.
func gitError(err error) error {
	var failed *exec.ExitError
	if errors.As(err, &failed) && len(failed.Stderr) > 0 {
		return fmt.Errorf("%s (%w)", bytes.TrimSpace(failed.Stderr), err)
	}
	return err
}
