package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// A repository is the git repository around a content folder.
type repository struct {
	top      string // its work tree
	prefix   string // the content folder in it: "" or as in contenu/
	gitDir   string
	patience time.Duration // with the upstream
	env      []string
}

// localLimit is how long a command may take that needs no network.
const localLimit = 2 * time.Minute

// openRepository returns the repository around a folder; nil if there is none.
func openRepository(ctx context.Context, dir string, patience time.Duration) (*repository, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	r := &repository{top: dir, patience: patience, env: environment()}
	out, err := r.git(ctx, "rev-parse", "--show-toplevel", "--absolute-git-dir", "--show-prefix")
	failed, isFailed := errors.AsType[*gitError](err)
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return nil, withoutGit(dir)
	case isFailed && strings.Contains(failed.said, "not a git repository (or any"):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("git cannot read the repository around %s: %w", dir, err)
	}
	lines := append(strings.Split(out, "\n"), "")
	r.top, r.gitDir, r.prefix = filepath.FromSlash(lines[0]), filepath.FromSlash(lines[1]), lines[2]
	if _, err := r.git(ctx, "merge-tree", "--write-tree", "HEAD", "HEAD"); err != nil {
		if _, err := r.git(ctx, "rev-parse", "--verify", "--quiet", "HEAD"); err != nil {
			return nil, fmt.Errorf("the git repository around %s has no commit yet: commit the folder first", dir)
		}
		return nil, fmt.Errorf("the desk needs git 2.38 or newer: %w", err)
	}
	if _, err := r.position(ctx); err != nil {
		return nil, err
	}
	if _, err := r.git(ctx, "cat-file", "-e", "HEAD:"+r.prefix+"catalogue.yaml"); err != nil {
		return nil, fmt.Errorf("%s is in a git repository, which does not have its catalogue.yaml: commit the folder first", dir)
	}
	r.env = append(r.env, r.sshCommand(ctx)...)
	return r, nil
}

// withoutGit returns an error if a folder is in a repository, which cannot be used.
func withoutGit(dir string) error {
	for parent := filepath.Dir(dir); ; dir, parent = parent, filepath.Dir(parent) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return fmt.Errorf("%s is a git repository, but there is no git on the PATH: install git", dir)
		}
		if dir == parent {
			return nil
		}
	}
}

// environment returns the variables for git: nothing asks questions, whatever terminal or desktop
// there is, and nothing of a repository elsewhere, as in a hook, is used.
func environment() []string {
	var list []string
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		switch name {
		case "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR",
			"GIT_ASKPASS", "SSH_ASKPASS", "GIT_EDITOR", "GIT_LITERAL_PATHSPECS":
		default:
			list = append(list, v)
		}
	}
	return append(list, "LC_ALL=C", "LANGUAGE=", "GIT_TERMINAL_PROMPT=0", "SSH_ASKPASS_REQUIRE=never",
		"GIT_OPTIONAL_LOCKS=0", "GIT_MERGE_AUTOEDIT=no")
}

// sshCommand returns the variable that keeps ssh from asking, unless the installation has a
// command of its own.
func (r *repository) sshCommand(ctx context.Context) []string {
	_, err := r.git(ctx, "config", "core.sshCommand")
	if err == nil || os.Getenv("GIT_SSH_COMMAND") != "" || os.Getenv("GIT_SSH") != "" {
		return nil
	}
	return []string{"GIT_SSH_COMMAND=ssh -o BatchMode=yes -o ConnectTimeout=10"}
}

// A gitError is git's error with what it printed.
type gitError struct {
	command string
	code    int    // -1 if it was ended
	said    string // on standard error
	out     string
	err     error
}

func (e *gitError) Error() string { return fmt.Sprintf("git %s: %s (%v)", e.command, e.said, e.err) }
func (e *gitError) Unwrap() error { return e.err }

// git runs a command at the top of the work tree and returns what it printed.
func (r *repository) git(ctx context.Context, args ...string) (string, error) {
	out, err := r.run(ctx, call{}, args...)
	return strings.TrimSuffix(string(out), "\n"), err
}

// A call is how a command is run, if not in the usual way.
type call struct {
	input []byte
	env   []string
	limit time.Duration // 0 for localLimit
}

// run runs a command. Hooks of the repository are left out, as nobody is there to see what they
// print, and everything ends in time.
func (r *repository) run(ctx context.Context, c call, args ...string) ([]byte, error) {
	if c.limit == 0 {
		c.limit = localLimit
	}
	ctx, cancel := context.WithTimeout(ctx, c.limit)
	defer cancel()
	settings := []string{
		"-c", "core.fsmonitor=false", "-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "commit.gpgSign=false",
		"-c", "push.gpgSign=false", "-c", "submodule.recurse=false", "-c", "push.recurseSubmodules=no",
		"-c", "core.quotePath=false", "-c", "core.fsync=all", "-c", "core.hooksPath=" + os.DevNull,
	}
	cmd := exec.CommandContext(ctx, "git", append(settings, args...)...)
	cmd.Dir = r.top
	cmd.Env = append(append([]string{}, r.env...), c.env...)
	if c.input != nil {
		cmd.Stdin = bytes.NewReader(c.input)
	}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // it removes its lock files
	cmd.WaitDelay = 3 * time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if err == nil {
		return stdout.Bytes(), nil
	}
	if errors.Is(err, exec.ErrNotFound) {
		return nil, err
	}
	code := -1
	if failed, ok := errors.AsType[*exec.ExitError](err); ok && ctx.Err() == nil {
		code = failed.ExitCode()
	}
	said := strings.TrimSpace(stderr.String())
	const most = 2000
	return stdout.Bytes(), &gitError{args[0], code, said[:min(len(said), most)], stdout.String(), errors.Join(err, ctx.Err())}
}

// exitCode returns how a command of git ended.
func exitCode(err error) int {
	if err == nil {
		return 0
	}
	if failed, ok := errors.AsType[*gitError](err); ok {
		return failed.code
	}
	return -1
}

// A position is where the work tree and its upstream are.
type position struct {
	branch, head string
	// The upstream, as it was last seen. remote is "" if there is none.
	remote, remoteBranch, tracking string
	upstream                       string // its commit; "" if it has none
}

// position returns where the work tree is.
func (r *repository) position(ctx context.Context) (p position, err error) {
	p.branch, err = r.git(ctx, "symbolic-ref", "--quiet", "HEAD")
	if exitCode(err) == 1 {
		return p, fmt.Errorf("the git repository %s is not on a branch: check one out, for example with git switch main", r.top)
	}
	if err != nil {
		return p, err
	}
	out, err := r.git(ctx, "for-each-ref", "--format=%(objectname) %(upstream) %(upstream:remotename) %(upstream:remoteref)", p.branch)
	if err != nil {
		return p, err
	}
	for line := range strings.SplitSeq(out, "\n") { // a branch a/b is listed for a as well
		fields := strings.Split(line, " ")
		const all = 4
		if len(fields) == all && p.head == "" {
			p.head, p.tracking, p.remote, p.remoteBranch = fields[0], fields[1], fields[2], fields[3]
		}
	}
	if p.tracking == "" || p.remote == "." { // a local branch
		p.remote = ""
		return p, nil
	}
	p.upstream, err = r.commitOf(ctx, p.tracking)
	return p, err
}

// commitOf returns the commit of a reference; "" if there is none.
func (r *repository) commitOf(ctx context.Context, name string) (string, error) {
	out, err := r.git(ctx, "rev-parse", "--verify", "--quiet", name+"^{commit}")
	if exitCode(err) == 1 {
		return "", nil
	}
	return out, err
}

// fetch finds out where the upstream is. An error means that it cannot be reached.
func (r *repository) fetch(ctx context.Context, p *position) error {
	if p.remote == "" {
		return nil
	}
	_, err := r.run(ctx, call{limit: r.patience}, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head",
		"--no-recurse-submodules", p.remote, "+"+p.remoteBranch+":"+p.tracking)
	if failed, ok := errors.AsType[*gitError](err); ok && strings.Contains(failed.said, "couldn't find remote ref") {
		return nil // nothing was ever pushed
	}
	if err != nil {
		return err
	}
	p.upstream, err = r.commitOf(ctx, p.tracking)
	return err
}

// push sends a commit to the upstream. errMoved: somebody else was faster. An Error: the upstream
// does not want it. Any other error means that it could not be reached.
func (r *repository) push(ctx context.Context, p *position, commit string) error {
	_, err := r.run(ctx, call{limit: r.patience}, "push", "--porcelain", "--no-follow-tags",
		p.remote, commit+":"+p.remoteBranch)
	failed, isFailed := errors.AsType[*gitError](err)
	if !isFailed {
		return err
	}
	for line := range strings.SplitSeq(failed.out, "\n") {
		if !strings.HasPrefix(line, "!") {
			continue
		}
		if strings.Contains(line, "[rejected]") || strings.Contains(line, "lock") || strings.Contains(line, "failed to update ref") {
			return errMoved
		}
		return &Error{"Le dépôt de l’équipe a refusé ces changements. Rien n’a été publié\u00a0: " +
			"demandez à la personne qui s’occupe du serveur.", err}
	}
	return err
}

// isAncestor reports whether a commit contains another.
func (r *repository) isAncestor(ctx context.Context, ancestor, of string) (bool, error) {
	_, err := r.git(ctx, "merge-base", "--is-ancestor", ancestor, of)
	if exitCode(err) == 1 {
		return false, nil
	}
	return err == nil, err
}
