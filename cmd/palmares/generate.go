package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/alecthomas/kong"

	"palmares/internal/content"
	"palmares/internal/synthetic"
)

type generateCommand struct {
	Dir      string    `arg:"" help:"The folder to write; it must be absent or empty."`
	Tools    toolCount `help:"How many tools." default:"1000" env:"PALMARES_TOOLS"`
	Seed     seed      `help:"The same seed gives the same bytes." default:"1" env:"PALMARES_SEED"`
	Markdown bool      `help:"Write one Markdown file per record instead of JSON lines." env:"PALMARES_MARKDOWN"`
}

// maxTools leaves room for comparisons and obituaries in the two million records
// a folder may have.
const maxTools = 1_500_000

type toolCount int

// Decode reads a number of tools.
func (n *toolCount) Decode(ctx *kong.DecodeContext) error {
	text, err := number(ctx)
	if err != nil {
		return err
	}
	x, err := strconv.Atoi(text)
	if err != nil || x < 0 || x > maxTools {
		return &refusedValue{fmt.Sprintf("%q is not a number of tools: give a whole number from 0 to %d", text, maxTools)}
	}
	*n = toolCount(x)
	return nil
}

type seed uint64

// Decode reads a seed.
func (n *seed) Decode(ctx *kong.DecodeContext) error {
	text, err := number(ctx)
	if err != nil {
		return err
	}
	x, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return &refusedValue{fmt.Sprintf("%q is not a seed: give a whole number from 0 to %d", text, uint64(math.MaxUint64))}
	}
	*n = seed(x)
	return nil
}

// number takes the value of an option. Left to itself, kong would take -1 for
// another option.
func number(ctx *kong.DecodeContext) (string, error) {
	token := ctx.Scan.Pop()
	if token.IsEOL() {
		return "", errors.New("a number is missing behind it")
	}
	return token.String(), nil
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
