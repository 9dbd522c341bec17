package main

import (
	"errors"
	"fmt"
	"io"

	"palmares/internal/catalog"
	"palmares/internal/content"
)

type validateCommand struct {
	Dir string `arg:"" help:"Content folder."`
}

// Run prints every problem of a folder.
func (c *validateCommand) Run(inv *invocation) error {
	read, err := readFolder(inv, c.Dir, inv.stdout)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(inv.stdout, "%s: no problem in %s\n", c.Dir, counts(read.Catalog))
	return errors.Join(err, read.Close())
}

// readFolder reads a content folder; all its problems go to out. The result must be
// closed.
func readFolder(inv *invocation, dir string, out io.Writer) (*content.Result, error) {
	report := newProgress(inv.stderr)
	read, err := content.Read(inv.ctx, dir, content.Options{Progress: func(n int) { report.show("reading", n, 0) }})
	report.done()
	if err != nil {
		return nil, err
	}
	if len(read.Problems) == 0 {
		return read, nil
	}
	for _, p := range read.Problems {
		fmt.Fprintln(out, p)
	}
	if err := read.Close(); err != nil {
		return nil, err
	}
	return nil, errors.New(plural(len(read.Problems), "problem") + " in " + dir + ": fix them and run the command again")
}

func counts(c *catalog.Catalog) string {
	return fmt.Sprintf("%s, %s, %s, %s", plural(len(c.Tools), "tool"), plural(len(c.Comparisons), "comparison"),
		plural(len(c.Retired), "retired tool"), pluralAs(len(c.Categories), "category", "categories"))
}

func plural(n int, noun string) string { return pluralAs(n, noun, noun+"s") }

func pluralAs(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
