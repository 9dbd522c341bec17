package main

import (
	"fmt"
	"strconv"

	"palmares/internal/content"
	"palmares/internal/synthetic"
)

type generateCommand struct {
	Dir      string    `arg:"" help:"The folder to write; it must be absent or empty."`
	Tools    toolCount `help:"How many tools." default:"1000" env:"PALMARES_TOOLS" placeholder:"N"`
	Seed     seed      `help:"The same seed gives the same bytes." default:"1" env:"PALMARES_SEED" placeholder:"S"`
	Markdown bool      `help:"Write one Markdown file per record instead of JSON lines." env:"PALMARES_MARKDOWN"`
}

// maxTools leaves room for comparisons and obituaries in the two million records
// a folder may have.
const maxTools = 1_500_000

type toolCount int

// UnmarshalText reads a number of tools.
func (n *toolCount) UnmarshalText(b []byte) error {
	x, err := strconv.Atoi(string(b))
	if err != nil || x < 0 || x > maxTools {
		return &refusedValue{fmt.Sprintf("%q is not a number of tools: give a whole number from 0 to %d", b, maxTools)}
	}
	*n = toolCount(x)
	return nil
}

type seed uint64

// UnmarshalText reads a seed.
func (n *seed) UnmarshalText(b []byte) error {
	x, err := strconv.ParseUint(string(b), 10, 64)
	if err != nil {
		return &refusedValue{fmt.Sprintf("%q is not a seed: give a whole number from 0 to 18446744073709551615", b)}
	}
	*n = seed(x)
	return nil
}

// Run writes a synthetic catalogue.
func (c *generateCommand) Run(s *session) error {
	made := synthetic.Catalog(int(c.Tools), uint64(c.Seed))
	format := content.JSONL
	if c.Markdown {
		format = content.Markdown
	}
	show := newProgress(s.stderr)
	err := content.Write(s.ctx, c.Dir, made, format, func(n int) { show.show("writing", n, 0) })
	show.done()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.stdout, "%s: %s\n", c.Dir, counts(made))
	return err
}
