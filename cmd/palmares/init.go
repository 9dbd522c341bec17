package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"palmares/starter"
)

type initCommand struct {
	Dir string `arg:"" help:"Folder to write; it must not exist or be empty, but for .git."`
}

func (c *initCommand) Run(inv *invocation) error {
	entries, err := os.ReadDir(c.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		if e.Name() != ".git" {
			return fmt.Errorf("%s holds %s already; give a folder that does not exist or is empty", c.Dir, e.Name())
		}
	}
	err = fs.WalkDir(starter.Folder(), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		target := filepath.Join(c.Dir, filepath.FromSlash(name))
		if e.IsDir() {
			return os.MkdirAll(target, 0o755)
		}
		text, err := fs.ReadFile(starter.Folder(), name)
		if err != nil {
			return err
		}
		return os.WriteFile(target, text, 0o644)
	})
	if err == nil {
		err = installed.own(c.Dir, inv.stderr)
	}
	return inv.result(err, "%s holds an example of each kind of record. Look at it with `palmares preview "+
		"%[1]s`; its README.md (in French) says the rest.\n", c.Dir)
}
