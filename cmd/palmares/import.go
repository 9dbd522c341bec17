package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/alecthomas/kong"

	"palmares/internal/content"
	"palmares/internal/problem"
	"palmares/internal/publication"
	"palmares/internal/spreadsheet"
)

type importCommand struct {
	CSV csvCommand `cmd:"" name:"csv" help:"Write a content folder from a spreadsheet of tools, saved as CSV."`
}

type csvCommand struct {
	File    string  `arg:"" help:"CSV file; its first row names the columns."`
	Dir     string  `arg:"" help:"Folder to write; it must not exist or be empty."`
	Map     string  `help:"YAML file that says which column is which field; without it, the beginning of one is printed." placeholder:"FILE"`
	Partial partial `help:"Write the rows that have no problem, and the others to this file, to be corrected and imported. Without a file, the command fails if there are others." placeholder:"FILE"`
}

// partial says whether rows may be left out, and the name of the file that they are written to.
type partial struct {
	isAllowed bool
	file      string // "" for none
}

// Decode reads the name of a file, if one follows.
func (p *partial) Decode(ctx *kong.DecodeContext) error {
	p.isAllowed = true
	if next := ctx.Scan.Peek(); !next.IsEOL() && !strings.HasPrefix(next.String(), "-") {
		p.file = ctx.Scan.Pop().String()
	}
	return nil
}

// maxSpreadsheet is the size of the largest file that is read.
const maxSpreadsheet = 256 << 20

// Run writes a content folder, or prints every problem as file:line: message.
func (c *csvCommand) Run(inv *invocation) error {
	file, err := readAtMost(c.File, maxSpreadsheet)
	if err != nil {
		return err
	}
	table, err := spreadsheet.Parse(file)
	if err != nil {
		return fmt.Errorf("%s: %w", c.File, err)
	}
	if c.Map == "" {
		_, err := fmt.Fprint(inv.stdout, spreadsheet.Template(table))
		return errors.Join(err, errors.New("--map is missing; save the above, with the fields that `palmares schema "+
			"outil` lists, and give the file's name"))
	}
	text, err := readAtMost(c.Map, 1<<20)
	if err != nil {
		return err
	}
	mapping, err := spreadsheet.ParseMapping(text)
	if err != nil {
		return fmt.Errorf("%s: %w", c.Map, err)
	}
	result, err := spreadsheet.Convert(inv.ctx, table, mapping)
	if err != nil {
		return fmt.Errorf("%s: %w", c.Map, err)
	}
	return c.write(inv, table, result)
}

// write says what was found, and writes the folder.
func (c *csvCommand) write(inv *invocation, table *spreadsheet.Table, result *spreadsheet.Result) error {
	for _, column := range result.Unmapped {
		fmt.Fprintf(inv.stderr, "%s:1: warning: the column %q is not mapped and was left out\n", c.File, column)
	}
	wrong := map[int]bool{}
	for _, p := range result.Problems {
		if p.Line > 0 {
			wrong[p.Line] = true
		}
	}
	content.Group(len(result.Problems), func(i int) string { return result.Problems[i].Text }, func(i int) {
		if p := result.Problems[i]; p.Line == 0 {
			fmt.Fprintf(inv.stderr, "%s: %s\n", c.Map, p.Text)
		} else {
			fmt.Fprintf(inv.stderr, "%s:%d: %s\n", c.File, p.Line, p.Text)
		}
	}, func(i, others int) { fmt.Fprintf(inv.stderr, "and %d more: %s\n", others, result.Problems[i].Text) })
	found := fmt.Sprintf("%s in %s of %d", problem.New("n-problems", len(result.Problems)),
		problem.New("n-rows", len(wrong)), result.Rows)
	switch {
	case result.Catalog == nil && len(result.Problems) == 0:
		return errors.New("the table has no rows below the names of its columns; nothing was written")
	case result.Catalog == nil:
		return errors.New(found + "; nothing was written")
	case len(result.Problems) > 0 && !c.Partial.isAllowed:
		return errors.New(found + "; nothing was written: correct them, or write the other rows with --partial FILE")
	}
	if err := c.writeRest(table, wrong); err != nil {
		return err
	}
	if err := content.Write(inv.ctx, c.Dir, result.Catalog, content.WriteOptions{}); err != nil {
		if len(wrong) > 0 && c.Partial.file != "" {
			err = errors.Join(err, os.Remove(c.Partial.file))
		}
		return err
	}
	var more []string
	if table.Encoding != "UTF-8" {
		more = append(more, "read as "+table.Encoding)
	}
	if len(wrong) > 0 && c.Partial.file != "" {
		more = append(more, found+" left out, which "+c.Partial.file+" holds: correct and import it")
	}
	_, err := fmt.Fprintln(inv.stdout,
		strings.Join(append([]string{c.Dir + ": " + publication.Counts(result.Catalog).English}, more...), "; "))
	if err == nil && len(wrong) > 0 && c.Partial.file == "" {
		err = errors.New(found + " left out: correct them, or give --partial a file that they are written to")
	}
	return err
}

// writeRest writes the rows that are left out to the file that was given for them.
func (c *csvCommand) writeRest(table *spreadsheet.Table, wrong map[int]bool) error {
	if len(wrong) == 0 || c.Partial.file == "" {
		return nil
	}
	f, err := os.OpenFile(c.Partial.file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists already; give --partial another file. Nothing was written", c.Partial.file)
	}
	if err != nil {
		return err
	}
	return errors.Join(table.Write(f, wrong), f.Close())
}

// readAtMost returns the contents of a file that is not larger than limit.
func readAtMost(name string, limit int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("%s is larger than %d MiB", name, limit>>20)
	}
	return data, err
}
