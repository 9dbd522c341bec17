package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"palmares/internal/publication"
)

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
	r := &repository{top: dir, patience: patience, env: environment()}
	out, err := r.git(ctx, "rev-parse", "--show-toplevel", "--absolute-git-dir", "--show-prefix")
	if err != nil { // there is no repository, or no git for it
		_, _, err = new(publication.Revision).Source(ctx, dir)
		return nil, err
	}
	lines := append(strings.Split(out, "\n"), "")
	r.top, r.gitDir, r.prefix = filepath.FromSlash(lines[0]), filepath.FromSlash(lines[1]), lines[2]
	if _, err := r.git(ctx, "cat-file", "-e", "HEAD:"+r.prefix+"catalogue.yaml"); err != nil {
		return nil, fmt.Errorf("%s is in a git repository that does not have its catalogue.yaml: commit the folder first", dir)
	}
	if _, err := r.git(ctx, "merge-tree", "--write-tree", "HEAD", "HEAD"); err != nil {
		return nil, fmt.Errorf("the desk needs git 2.38 or newer: %w", err)
	}
	if _, err := r.git(ctx, "config", "core.sshCommand"); err != nil && os.Getenv("GIT_SSH_COMMAND")+os.Getenv("GIT_SSH") == "" {
		r.env = append(r.env, "GIT_SSH_COMMAND=ssh -o BatchMode=yes -o ConnectTimeout=10")
	}
	_, err = r.position(ctx)
	return r, err
}

// environment returns the variables for git: nothing asks questions, whatever terminal or desktop
// there is, and nothing of a repository elsewhere, as in a hook, is used.
func environment() []string {
	foreign := []string{
		"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR",
		"GIT_LITERAL_PATHSPECS", "GIT_ASKPASS", "SSH_ASKPASS",
	}
	kept := slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(foreign, name)
	})
	return append(kept, "LC_ALL=C", "LANGUAGE=", "GIT_TERMINAL_PROMPT=0", "SSH_ASKPASS_REQUIRE=never", "GIT_OPTIONAL_LOCKS=0")
}

// A gitError is git's error with what it printed.
type gitError struct {
	command string
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
	said := strings.TrimSpace(stderr.String())
	const most = 2000
	return stdout.Bytes(), &gitError{args[0], said[:min(len(said), most)], stdout.String(), errors.Join(err, ctx.Err())}
}

// exitCode returns how a command of git ended; -1 if it was killed, or never began.
func exitCode(err error) int {
	if err == nil {
		return 0
	}
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		return failed.ExitCode()
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
	fields := append(strings.Split(out, " "), "", "", "")
	p.head, p.tracking, p.remote, p.remoteBranch = fields[0], fields[1], fields[2], fields[3]
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

// quoted finds the files that git complains about.
var quoted = regexp.MustCompile("'(.+)'")

// mayWrite returns a ConflictError if somebody is editing files that differ between two commits. It
// uses a copy of the index, in a temporary folder.
func (r *repository) mayWrite(ctx context.Context, temp, from, to string) error {
	if from == to {
		return nil
	}
	env := []string{"GIT_INDEX_FILE=" + filepath.Join(temp, "copy")}
	index, err := os.ReadFile(filepath.Join(r.gitDir, "index"))
	if err == nil {
		err = os.WriteFile(filepath.Join(temp, "copy"), index, 0o600)
	}
	if err != nil {
		return err
	}
	_, _ = r.run(ctx, call{env: env}, "update-index", "-q", "--refresh") // it fails if files are edited
	_, err = r.run(ctx, call{env: env}, "read-tree", "--dry-run", "-m", "-u", from, to)
	failed, ok := errors.AsType[*gitError](err)
	if !ok {
		return err
	}
	conflict := &ConflictError{Local: true}
	for _, match := range quoted.FindAllStringSubmatch(failed.said, -1) {
		conflict.Paths = append(conflict.Paths, strings.TrimPrefix(match[1], r.prefix))
	}
	if conflict.Paths == nil {
		return err
	}
	return conflict
}

// write brings index, files and branch from one commit to another. It may have been begun before.
func (r *repository) write(ctx context.Context, branch, from, to string) error {
	diff := func(filter string) ([]byte, error) {
		return r.run(ctx, call{}, "diff-tree", "-r", "-z", "--no-renames", "--name-only", "--diff-filter="+filter, from, to)
	}
	gone, err := diff("D")
	if err != nil {
		return err
	}
	changed, err := diff("d")
	if err != nil {
		return err
	}
	if _, err := r.git(ctx, "read-tree", "-i", "-m", from, to); err != nil {
		return err
	}
	for file := range strings.SplitSeq(strings.TrimSuffix(string(gone), "\x00"), "\x00") {
		for ; file != "" && file != "." && os.Remove(filepath.Join(r.top, filepath.FromSlash(file))) == nil; file = path.Dir(file) {
		}
	}
	if _, err := r.run(ctx, call{input: changed}, "checkout-index", "--force", "-z", "--stdin"); err != nil {
		return err
	}
	_, _ = r.git(ctx, "update-index", "-q", "--refresh") // it fails if other files are edited
	_, err = r.git(ctx, "update-ref", "-m", "palmares: publication", branch, to, from)
	return err
}

// lockWait is how long others may hold a lock. git holds its lock files for milliseconds.
const lockWait = 5 * time.Second

// removeLocks removes the lock files that a killed git left; that of the index only if it was ours.
func (r *repository) removeLocks(ctx context.Context, isIndexOurs bool) error {
	p, err := r.position(ctx)
	if err != nil {
		return err
	}
	names := []string{"HEAD", "packed-refs", p.branch}
	if p.tracking != "" {
		names = append(names, p.tracking)
	}
	if isIndexOurs {
		names = append(names, "index")
	}
	for _, name := range names {
		lock, err := r.git(ctx, "rev-parse", "--path-format=absolute", "--git-path", name+".lock")
		if err != nil {
			return err
		}
		found, err := os.Stat(lock)
		if err != nil {
			continue
		}
		select {
		case <-time.After(lockWait - time.Since(found.ModTime())):
		case <-ctx.Done():
			return ctx.Err()
		}
		if now, err := os.Stat(lock); err == nil && now.ModTime().Equal(found.ModTime()) {
			_ = os.Remove(lock) // what it blocks fails otherwise, and says so
		}
	}
	return nil
}
