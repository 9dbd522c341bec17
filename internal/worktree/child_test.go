package worktree

func child() {}
