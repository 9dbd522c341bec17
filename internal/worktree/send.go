package worktree

import (
	"context"
	"errors"
	"strconv"
)

// push pushes a commit. isUnsent reports that the upstream could not be reached.
func (f *Folder) push(ctx context.Context, commit string) (isUnsent bool, err error) {
	at, err := f.repo.position(ctx)
	if err != nil || at.remote == "" {
		return false, err
	}
	err = f.repo.push(ctx, &at, commit)
	if errors.Is(err, errMoved) && f.repo.fetch(ctx, &at) == nil && at.upstream != "" {
		if common, _ := f.repo.git(ctx, "merge-base", commit, at.upstream); common == commit {
			return false, nil // it was pushed before
		}
	}
	if _, isRefused := errors.AsType[*Error](err); err == nil || isRefused || errors.Is(err, errMoved) {
		return false, err
	}
	f.cfg.Log.Warn("what the desk published could not be pushed; it is tried again", "error", err)
	return true, nil
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
		if err = f.send(ctx); !errors.Is(err, errMoved) {
			return explain(err)
		}
	}
	return &Error{"Des collègues envoient des changements en ce moment\u00a0: réessayez dans une minute.", err}
}

func (f *Folder) send(ctx context.Context) error {
	const away = "Le dépôt de l’équipe ne répond pas\u00a0: l’envoi sera tenté de nouveau."
	at, err := f.repo.position(ctx)
	if err != nil || at.remote == "" {
		return err
	}
	if err := f.repo.fetch(ctx, &at); err != nil {
		return &Error{away, err}
	}
	base, err := f.base(ctx, &at, nil)
	if err == nil && base.apart != nil {
		err = base.apart
	}
	if err == nil {
		err = f.repo.mayWrite(ctx, f.temp, at.head, base.tree)
	}
	if err != nil {
		return err
	}
	if base.tree != at.upstream {
		isUnsent, err := f.push(ctx, base.tree)
		if err != nil {
			return err
		}
		if isUnsent {
			return &Error{text: away}
		}
	}
	if base.tree == at.head {
		return nil
	}
	j := &journal{Step: stepWrite, Commit: base.tree}
	if err := f.save(j); err != nil {
		return err
	}
	_, err = f.finish(ctx, j)
	return err
}
