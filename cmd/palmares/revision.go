package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
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
	ctx  context.Context
	dir  string
	head string // the revision that is published
}

// source finds out where a folder comes from. The checkout is nil outside git.
func (o *revisionOptions) source(ctx context.Context, dir string) (store.Source, *checkout, error) {
	s := store.Source{Revision: o.Revision, Author: o.Author}
	c := &checkout{ctx: ctx, dir: dir, head: o.Revision}
	if c.head == "" {
		c.head = "HEAD"
	}
	hash, err := c.git("rev-parse", "--verify", "--quiet", c.head+"^{commit}")
	var failed *exec.ExitError
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return s, nil, nil
	case errors.As(err, &failed) && failed.ExitCode() == 1:
		if o.Revision == "" {
			return s, nil, nil // a repository without a commit
		}
		return s, nil, fmt.Errorf("--revision %s is not a commit of the git repository around %s; give the one that the folder was taken from", o.Revision, dir)
	case errors.As(err, &failed) && strings.Contains(string(failed.Stderr), "not a git repository"):
		return s, nil, nil
	case err != nil:
		return s, nil, fmt.Errorf("git cannot read the repository around %s: %w", dir, gitError(err))
	}
	c.head, s.Revision, s.Clean = hash, hash, true
	if s.Author == "" {
		if s.Author, err = c.git("log", "-1", "--format=%an", hash); err != nil {
			return s, nil, gitError(err)
		}
	}
	if o.Revision == "" {
		changed, err := c.git("status", "--porcelain", "--", ".")
		if err != nil {
			return s, nil, gitError(err)
		}
		s.Clean = changed == ""
	}
	return s, c, nil
}

// guard returns what keeps a publication from undoing another one's work; nil for
// nothing.
func (o *revisionOptions) guard(c *checkout) func(store.Head) error {
	return func(published store.Head) error {
		switch {
		case o.Expect != nil && *o.Expect != published.Version:
			return fmt.Errorf("version %d is published, not %d: see `palmares log %d`, take over what it changed, and publish with --expect %d",
				published.Version, *o.Expect, published.Version, published.Version)
		case o.Force || o.Expect != nil || c == nil || published.Revision == "":
			return nil
		}
		return c.contains(published)
	}
}

// contains returns an error unless the checkout contains the published revision.
func (c *checkout) contains(published store.Head) error {
	_, err := c.git("merge-base", "--is-ancestor", published.Revision, c.head)
	if err == nil {
		return nil
	}
	var failed *exec.ExitError
	if !errors.As(err, &failed) {
		return gitError(err)
	}
	what := fmt.Sprintf("the published revision %.12s", published.Revision)
	if published.Author != "" {
		what += " by " + published.Author
	}
	if shallow, err := c.git("rev-parse", "--is-shallow-repository"); err == nil && shallow == "true" {
		return fmt.Errorf("this clone is shallow, so it cannot be known whether it contains %s: run `git fetch --unshallow` (in a workflow: fetch-depth: 0), or pass --force", what)
	}
	return fmt.Errorf("this folder does not contain %s, and publishing it would undo that work: run `git pull` and publish again, or pass --force", what)
}

// git runs a command in the folder and returns what it printed. Hooks of a repository
// are told where it is, relative to the current directory.
func (c *checkout) git(args ...string) (string, error) {
	cmd := exec.CommandContext(c.ctx, "git", args...)
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
