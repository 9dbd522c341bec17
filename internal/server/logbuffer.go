package server

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// A LogBuffer collects log records and writes them in batches: one write per request
// would cost more than the rest of the request. Nobody waits for the log: while it
// cannot be written, as when it is a pipe that nobody reads, records are kept as long as
// there is room, and then dropped and counted. A process that is killed loses the records
// of the last 50 ms.
type LogBuffer struct {
	out      io.Writer
	nonEmpty chan struct{} // has a token while there is something to write
	dropped  atomic.Int64  // in all

	mu      sync.Mutex
	records []byte
	missing int // records dropped since those in records

	torn bool // the last write ended within a record; of Run only
}

const (
	// logDelay is short enough for somebody who follows the log.
	logDelay = 50 * time.Millisecond
	// logBufferSize is the most that is kept: far more than a busy server logs in that time, 6 MB a second.
	logBufferSize = 4 << 20
	// logStopTimeout is how long the last records may take.
	logStopTimeout = time.Second
)

// NewLogBuffer returns a buffer in front of out. Nothing is written without Run.
func NewLogBuffer(out io.Writer) *LogBuffer {
	return &LogBuffer{out: out, nonEmpty: make(chan struct{}, 1)}
}

// Dropped returns how many records were dropped.
func (l *LogBuffer) Dropped() int64 { return l.dropped.Load() }

// Write adds one record, or drops it if there is no room. It never blocks or fails.
func (l *LogBuffer) Write(record []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	// After a gap nothing is added until a record can say so in its place.
	if l.missing > 0 || len(l.records)+len(record) > logBufferSize {
		l.drop(1)
		wake(l.nonEmpty) // perhaps it can be written again
		return len(record), nil
	}
	l.records = append(l.records, record...)
	wake(l.nonEmpty)
	return len(record), nil
}

// drop is called with the lock held.
func (l *LogBuffer) drop(records int) {
	l.missing += records
	l.dropped.Add(int64(records))
}

func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default: // it has a token
	}
}

// Run writes until ctx ends, and then what is left, unless that takes more than a second.
func (l *LogBuffer) Run(ctx context.Context) error {
	written := make(chan struct{})
	go func() {
		defer close(written)
		l.run(ctx)
	}()
	<-ctx.Done()
	select {
	case <-written:
	case <-time.After(logStopTimeout):
	}
	return nil
}

func (l *LogBuffer) run(ctx context.Context) {
	var spare []byte
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-l.nonEmpty:
			select {
			case <-ctx.Done():
			case <-time.After(logDelay):
			}
			spare = l.flush(spare)
		}
	}
	l.flush(spare)
}

// flush writes all records, while others are collected in spare, and returns their
// buffer. What cannot be written is dropped.
func (l *LogBuffer) flush(spare []byte) []byte {
	l.mu.Lock()
	batch, missing := l.records, l.missing
	l.records, l.missing = spare[:0], 0
	l.mu.Unlock()
	records := len(batch)
	if missing > 0 {
		batch = fmt.Appendf(batch,
			`{"time":"%s","level":"WARN","msg":"the log could not be written in time, and records were dropped","dropped":%d}`+"\n",
			time.Now().UTC().Format(logTime), missing)
	}
	n, err := l.write(batch)
	if err != nil {
		l.mu.Lock()
		l.missing += missing // which nobody knows yet
		l.drop(bytes.Count(batch[min(n, records):records], []byte("\n")))
		l.mu.Unlock()
	}
	return batch
}

// write writes a batch, on a new line after one that was not written whole.
func (l *LogBuffer) write(batch []byte) (int, error) {
	if l.torn && len(batch) > 0 {
		if _, err := l.out.Write([]byte("\n")); err != nil {
			return 0, err
		}
		l.torn = false
	}
	n, err := l.out.Write(batch)
	l.torn = n > 0 && batch[n-1] != '\n'
	return n, err
}
