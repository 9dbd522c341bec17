package main

import (
	"errors"

	"palmares/internal/problem"
	"palmares/internal/publication"
)

type validateCommand struct {
	Dir          string `arg:"" help:"Content folder."`
	checkOptions `embed:""`
}

// Run prints every problem and warning of a folder. It needs no database, and therefore
// does not know which records changed without a new date.
func (c *validateCommand) Run(inv *invocation) error {
	c.speak(inv)
	out := c.newPrinter(inv, c.Dir, inv.stdout)
	job := c.job(inv, c.Dir, out)
	read, err := job.Read(inv.ctx)
	out.progress.done()
	if err != nil {
		return err
	}
	var warnings problem.Text
	if n := len(read.Warnings); n > 0 {
		warnings = problem.New("and-warnings", n)
	}
	err = out.Report(problem.New("no-problem", c.Dir, publication.Counts(read.Catalog), warnings))
	return errors.Join(err, read.Close())
}
