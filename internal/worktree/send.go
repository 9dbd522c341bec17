package worktree

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"strings"
)

// away says that the upstream cannot be reached.
const away = "Le dossier commun de l’équipe ne répond pas\u00a0: l’envoi sera tenté de nouveau."

// push pushes a commit. isUnsent reports that the upstream could not be reached. errMoved: somebody
// else was faster. An Error: the upstream does not want it.
func (f *Folder) push(ctx context.Context, commit string) (isUnsent bool, err error) {
	r := f.repo
	at, err := r.position(ctx)
	if err != nil || at.remote == "" || at.upstream == commit {
		return false, err
	}
	_, err = r.run(ctx, call{limit: r.patience}, "push", "--porcelain", "--no-follow-tags", at.remote, commit+":"+at.remoteBranch)
	failed, isFailed := errors.AsType[*gitError](err)
	if !isFailed {
		return false, err
	}
	var answer string // about the branch
	for line := range strings.SplitSeq(failed.out, "\n") {
		if strings.HasPrefix(line, "!") {
			answer = line
		}
	}
	switch {
	case answer == "":
		f.cfg.Log.Warn("what the desk published could not be pushed; it is tried again", "error", err)
		return true, nil
	case !strings.Contains(answer, "[rejected]") && !strings.Contains(answer, "lock") && !strings.Contains(answer, "failed to update ref"):
		return false, &Error{"Le dossier commun de l’équipe a refusé ces changements. Rien n’a été publié\u00a0: " +
			"demandez à la personne qui s’occupe du serveur.", err}
	case r.fetch(ctx, &at) == nil && at.upstream != "":
		if common, _ := r.git(ctx, "merge-base", commit, at.upstream); common == commit {
			return false, nil // it was pushed before
		}
	}
	return false, errMoved
}

// Unsent returns how many commits have not been sent to the upstream, as far as is known.
func (f *Folder) Unsent(ctx context.Context) (int, error) {
	if f.repo == nil {
		return 0, nil
	}
	at, err := f.repo.position(ctx)
	if err != nil || at.remote == "" {
		return 0, err
	}
	args := []string{"rev-list", "--count", at.head}
	if at.upstream != "" {
		args = append(args, "^"+at.upstream)
	}
	out, err := f.repo.git(ctx, args...)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(out)
}

// Send joins the folder and its upstream: what colleagues pushed comes into the folder, and what was
// not sent is pushed, after a merge if both moved on. A ConflictError lists the files that both
// changed: publishing them, with what colleagues have as their Base, settles that.
func (f *Folder) Send(ctx context.Context) error {
	unlock, err := f.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if f.repo == nil {
		return nil
	}
	for range attempts {
		err = f.send(ctx)
		if !errors.Is(err, errMoved) {
			return explain(err)
		}
	}
	return &Error{"Des collègues envoient des changements en ce moment\u00a0: réessayez dans une minute.", err}
}

func (f *Folder) send(ctx context.Context) error {
	j := &journal{}
	unsent, err := f.prepare(ctx, j)
	err = cmp.Or(err, unsent)
	if err != nil {
		return err
	}
	isUnsent, err := f.push(ctx, j.Commit)
	if err != nil {
		return err
	}
	if isUnsent {
		return &Error{text: away}
	}
	return f.write(ctx, j)
}
