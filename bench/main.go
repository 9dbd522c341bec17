// Command bench prints the figures that Palmarès promises: requests per second beside
// another version of it, a bare net/http handler and nginx, also over TLS, the pages of the site, the tools
// of assistants, what counting views costs, and the time and memory that a hundred thousand
// tools take; with -nodes what one node does on SQLite, and one to three on PostgreSQL.
//
// Absolute figures belong to the machine; the ratios are what to look at. Each is the median
// of ratios within rounds, in which wrk asks one server after the other. On a virtual
// machine, a round during which the host gave the processors to others is repeated.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

// A bench is one run.
type bench struct {
	ctx    context.Context
	binary string
	other  string // another version of palmares; may be empty
	tools  int    // of the large catalogue
	dir    string // temporary
	env    []string
	retry  time.Duration // left for repeating rounds that the host disturbed

	started []*process
}

// parts are what can be measured by itself.
var parts = []struct {
	name    string
	measure func(*bench) error
}{
	{"rates", (*bench).rates},
	{"tls", (*bench).encrypted},
	{"pages", (*bench).pages},
	{"views", (*bench).views},
	{"desk", (*bench).desk},
	{"size", (*bench).size},
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	b := &bench{ctx: ctx}
	flag.StringVar(&b.binary, "binary", "bin/palmares", "the palmares to measure")
	flag.StringVar(&b.other, "other", "", "another version of palmares to compare with, such as that of the commit before")
	flag.IntVar(&b.tools, "tools", 100_000, "how many tools the large catalogue has")
	flag.DurationVar(&b.retry, "retry", 10*time.Minute,
		"how long in all to repeat rounds that the host of this virtual machine disturbed")
	only := flag.String("only", "", "measure only these: some of rates,tls,pages,views,desk,size")
	nodes := flag.Bool("nodes", false, "measure one to three nodes on both databases, and nothing else")
	accounts := flag.Int("accounts", 4000, "how many Developer accounts, of a thousand requests each, the nodes serve")
	bare := flag.String("bare", "", "be the bare handler: send the response in this file")
	flag.Parse()
	var err error
	switch {
	case *bare != "":
		err = serveBare(ctx, *bare)
	case *nodes:
		err = b.run(func() error { return b.nodes(*accounts) })
	default:
		err = b.run(func() error { return b.measure(*only) })
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// run calls f with a temporary folder, and stops what is still running after it.
func (b *bench) run(f func() error) (err error) {
	b.dir, err = os.MkdirTemp("", "palmares-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	defer func() {
		for _, p := range b.started {
			_ = p.stop() // it may have ended
		}
	}()
	return f()
}

// measure measures the named parts, or all.
func (b *bench) measure(names string) error {
	for _, part := range parts {
		if names != "" && !slices.Contains(strings.Split(names, ","), part.name) {
			continue
		}
		if err := part.measure(b); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}
	return nil
}
