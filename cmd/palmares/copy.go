package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"palmares/internal/node"
	"palmares/internal/vault"
)

type copyCommand struct {
	From      string `arg:"" help:"Database to copy: sqlite:PATH or postgres://…"`
	To        string `arg:"" help:"Database to copy to, which must be empty."`
	SecretKey string `help:"The key that seals the secrets of webhooks in FROM (default: the file beside a SQLite database)." env:"PALMARES_SECRET_KEY" placeholder:"KEY"`
}

func (c *copyCommand) Run(inv *invocation) (err error) {
	switch {
	case c.From == c.To || isSameFile(c.From, c.To):
		return errors.New("FROM and TO are the same database: give TO the path or the URL of a new one")
	case isAbsent(c.From):
		return fmt.Errorf("there is no database %s: check its path", c.From)
	}
	if strings.Contains(c.From+c.To, "sqlite:"+installed.folder) {
		if err := installed.become(inv.stderr); err != nil {
			return err
		}
	}
	from, err := node.OpenOffline(inv.ctx, c.From)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	keys := vault.KeySource{Given: c.SecretKey, File: keyFile(c.From)}
	secrets, err := keys.Usable(inv.ctx, from.Secrets())
	if err != nil {
		return err
	}
	if _, err := keys.Sealer(); err == nil {
		secrets = true // certificates are sealed, too
	}
	to, err := node.OpenOffline(inv.ctx, c.To)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	file := keyFile(c.To)
	if secrets && file != "" {
		if err := keys.Save(file); err != nil {
			return err
		}
	}
	progress := newProgress(inv)
	defer progress.done()
	done, err := node.Copy(inv.ctx, from, to,
		func(table string, done, total int64) { progress.show(table, int(done), int(total)) })
	if err != nil {
		return err
	}
	progress.done()
	fmt.Fprintf(inv.stdout, "copied %d rows: version %d of the catalogue with %d tools, %d accounts\n",
		done.Rows, done.Version, done.Tools, done.Accounts)
	if secrets && file == "" {
		fmt.Fprintln(inv.stdout, "start the servers with the same PALMARES_SECRET_KEY as before"+keys.Where())
	}
	return nil
}

// isSameFile reports whether two databases are one file.
func isSameFile(a, b string) bool {
	one, isFile := strings.CutPrefix(a, "sqlite:")
	other, isFileToo := strings.CutPrefix(b, "sqlite:")
	if !isFile || !isFileToo {
		return false
	}
	x, err := os.Stat(one)
	y, err2 := os.Stat(other)
	return err == nil && err2 == nil && os.SameFile(x, y)
}
