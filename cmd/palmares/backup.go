package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"palmares/internal/node"
	"palmares/internal/osfile"
)

type backupCommand struct {
	File string `arg:"" help:"File to write, which must not exist, or - for standard output." type:"path"`
}

func (c *backupCommand) Run(inv *invocation) error {
	if c.File == "-" && isTerminal(inv.stdout) {
		return errors.New("a backup is no text for a terminal: redirect it to a file or a program")
	}
	if !strings.HasPrefix(inv.database, "sqlite:") {
		return errors.New("the database is not a SQLite file: make a backup with pg_dump")
	}
	return inv.withExisting(func(st *node.Database) error {
		file, said := c.File, inv.stdout
		if c.File == "-" {
			beside := filepath.Dir(st.SQL.Name()) // which has room, and is on a disk
			dir, err := osfile.TempDir(beside)
			if err != nil {
				return err
			}
			defer os.RemoveAll(dir)
			if err := osfile.RemoveLeftovers(beside); err != nil {
				return err
			}
			file, said = filepath.Join(dir, "backup.db"), inv.stderr
		}
		size, version, err := st.Backup(inv.ctx, file)
		if err != nil {
			return err
		}
		if c.File == "-" {
			if err := copyFile(inv.stdout, file); err != nil {
				return err
			}
		}
		fmt.Fprintf(said, "%s: version %d of the catalogue, %.1f MB, verified\n", c.File, version, float64(size)/1e6)
		if err := node.NoteBackup(inv.database); err != nil {
			fmt.Fprintf(inv.stderr, "palmares: its date cannot be noted for `check` and the metrics: %v\n", err)
		}
		key := keyFile(inv.database)
		if _, err := os.Stat(key); err == nil {
			fmt.Fprintf(said, "keep %s in another place: it opens the secrets of webhooks\n", key)
		}
		return nil
	})
}

// copyFile writes the content of a file.
func copyFile(to io.Writer, name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(to, f)
	return err
}
