package main

import (
	"errors"
	"fmt"
	"strings"

	"palmares/internal/catalog"
)

type validateCommand struct {
	Dir          string `arg:"" help:"Content folder."`
	checkOptions `embed:""`
}

// Run prints every problem and warning of a folder. It needs no database, and therefore
// does not know which records changed without a new date.
func (c *validateCommand) Run(inv *invocation) error {
	out, rest := c.newFindings(inv, c.Dir, inv.stdout)
	read, err := c.read(inv, c.Dir, out, nil)
	if err != nil {
		return err
	}
	warnings := ""
	if n := len(read.Warnings); n > 0 {
		warnings = "; " + plural(n, "warning")
	}
	_, err = fmt.Fprintf(rest, "%s: no problem in %s%s\n", c.Dir, counts(read.Catalog), warnings)
	return errors.Join(err, read.Close())
}

func counts(c *catalog.Catalog) string {
	all := []string{
		plural(len(c.Tools), "tool"), plural(len(c.Comparisons), "comparison"),
		plural(len(c.Retired), "retired tool"), pluralAs(len(c.Categories), "category", "categories"),
	}
	if n := len(c.Pages); n > 0 {
		all = append(all, plural(n, "page"))
	}
	if n := len(c.Pictures); n > 0 {
		all = append(all, plural(n, "picture"))
	}
	return strings.Join(all, ", ")
}

func plural(n int, noun string) string { return pluralAs(n, noun, noun+"s") }

func pluralAs(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
