// Command bench prints the figures that Palmarès promises: requests per second
// against a bare net/http handler and nginx, which send the same headers and bytes, the cost
// of a page in a small and a large catalogue, what the pages of the site weigh and
// cost, a picture against a static asset, the feed of records, a thousand calls of assistants' tools a
// second, and the time and memory that a hundred thousand tools take; and with -nodes what one node does on SQLite, and one and two on
// PostgreSQL.
//
// Absolute figures belong to the machine; the ratios are what to look at, and
// each is measured in one run, with the same client, in alternating rounds. On a virtual
// machine, a round during which the host gave the processors to others is repeated.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	binary := flag.String("binary", "bin/palmares", "the palmares to measure")
	other := flag.String("other", "", "another version of palmares, whose requests per second are printed too")
	tools := flag.Int("tools", 100_000, "how many tools the large catalogue has")
	bare := flag.String("bare", "", "be the bare handler: send the answer in this file")
	nodes := flag.Bool("nodes", false, "measure one and two nodes on both databases, and nothing else")
	accounts := flag.Int("accounts", 2000, "how many Developer accounts send requests to the nodes; each may send a thousand")
	onlyRates := flag.Bool("only-rates", false, "measure requests per second, and nothing else")
	patience := flag.Duration("patience", 10*time.Minute, "how long in all to repeat rounds of requests that the host of this virtual machine disturbed")
	calls := flag.Duration("calls", time.Minute, "how long assistants' tools are called")
	onlyCalls := flag.Bool("only-calls", false, "measure the calls of assistants' tools, and nothing else")
	flag.Parse()
	var err error
	if *bare != "" {
		err = serveBare(ctx, *bare)
	} else {
		err = measure(ctx, *binary, func(b *bench) error {
			b.patience = *patience
			switch {
			case *nodes:
				return b.nodes(*accounts)
			case *onlyRates:
				return b.throughput(*other)
			case *onlyCalls:
				return b.calls(*calls)
			}
			return b.node(*other, *tools, *calls)
		})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// measure calls run with a bench that has a temporary folder.
func measure(ctx context.Context, binary string, run func(*bench) error) error {
	dir, err := os.MkdirTemp("", "palmares-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b := &bench{ctx: ctx, binary: binary, dir: dir}
	defer func() { // what still runs after an error
		for _, p := range b.started {
			_ = p.stop()
		}
	}()
	return run(b)
}

// node prints the figures of one server.
func (b *bench) node(other string, tools int, calls time.Duration) error {
	if err := b.throughput(other); err != nil {
		return err
	}
	b.pages(tools)
	if err := b.site(); err != nil {
		return err
	}
	if err := b.picture(); err != nil {
		return err
	}
	if err := b.feed(); err != nil {
		return err
	}
	if err := b.calls(calls); err != nil {
		return err
	}
	return b.size(tools)
}

// A bench is one run: the binary it measures and a folder for its files.
type bench struct {
	ctx    context.Context
	binary string
	dir    string
	env    []string // of the servers, added to ours

	patience time.Duration // left for repeating rounds
	started  []*process
}
