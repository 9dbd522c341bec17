package server

import (
	"context"
	"io"
	"sync"
	"time"
)

// A Journal gathers what is logged and writes it a moment later, many records
// at once: a write for each request would cost more than the request's own work. A
// process that is killed loses the records of that moment, no more.
type Journal struct {
	out  io.Writer
	some chan struct{} // has a token while there is something to write

	mu      sync.Mutex
	waiting []byte
}

const (
	// journalDelay is short enough for somebody who watches the log.
	journalDelay = 50 * time.Millisecond
	// journalSize is when a writer stops gathering and writes by itself, so that a
	// slow log slows the server down instead of filling its memory.
	journalSize = 1 << 20
)

// NewJournal makes a journal over out. Nothing is written without Run, unless a
// great deal is logged.
func NewJournal(out io.Writer) *Journal {
	return &Journal{out: out, some: make(chan struct{}, 1)}
}

// Write takes one record.
func (j *Journal) Write(record []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.waiting = append(j.waiting, record...)
	if len(j.waiting) >= journalSize {
		return len(record), j.flush()
	}
	select {
	case j.some <- struct{}{}:
	default:
	}
	return len(record), nil
}

// flush writes what is waiting; the lock is held, so that records keep their order.
func (j *Journal) flush() error {
	_, err := j.out.Write(j.waiting)
	j.waiting = j.waiting[:0]
	return err
}

// Run writes until ctx ends, and then what is left.
func (j *Journal) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-j.some:
			select {
			case <-ctx.Done():
			case <-time.After(journalDelay):
			}
			j.mu.Lock()
			_ = j.flush() // a log that cannot be written has nowhere to say so
			j.mu.Unlock()
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.flush()
}
