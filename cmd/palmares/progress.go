package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"palmares/internal/problem"
)

// A progress shows the progress of a long operation: on a terminal in one line that is
// overwritten, elsewhere (a hook, a log) as a line now and then. A short operation shows
// nothing.
type progress struct {
	mu       sync.Mutex
	out      io.Writer
	language problem.Language
	terminal bool
	every    time.Duration
	next     time.Time
	shown    bool
}

func newProgress(inv *invocation) *progress {
	p := &progress{out: inv.stderr, language: inv.language, every: 2 * time.Second}
	if isTerminal(inv.stderr) {
		p.terminal, p.every = true, 100*time.Millisecond
	}
	p.next = time.Now().Add(max(p.every, 500*time.Millisecond))
	return p
}

// isTerminal reports whether somebody reads what is written there, or types what is read.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// show prints that n records of a stage are done, out of total unless it is 0. What is
// sent is counted in bytes.
func (p *progress) show(stage string, n, total int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if now.Before(p.next) {
		return
	}
	p.next = now.Add(p.every)
	name := problem.Named("stage-", stage)
	told := problem.New("progress", name, n)
	switch {
	case stage == "sending":
		told = problem.New("progress-sent", name, float64(n)/1e6, float64(total)/1e6, 100*n/max(total, 1))
	case total > 0:
		told = problem.New("progress-of", name, n, total, 100*n/total)
	}
	line := told.In(p.language)
	if p.terminal {
		fmt.Fprintf(p.out, "\r\x1b[K%s", line)
		p.shown = true
		return
	}
	fmt.Fprintln(p.out, line)
}

// done clears the line.
func (p *progress) done() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown {
		fmt.Fprint(p.out, "\r\x1b[K")
		p.shown = false
	}
}
