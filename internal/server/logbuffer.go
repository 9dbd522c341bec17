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
// cannot be written, as when it is a pipe that nobody reads, records are collected as long as
// there is room, and then dropped and counted. A process that is killed loses the records
// of the last 50 ms.
type LogBuffer struct {
	out      io.Writer
	nonEmpty chan struct{} // has a token while there is something to write
	dropped  atomic.Int64

	mu      sync.Mutex
	records []byte

	// For flush only.
	reported int64 // dropped records that the log mentions
	torn     bool  // the last write ended within a record
}

const (
	// logDelay is short enough for somebody who follows the log.
	logDelay = 50 * time.Millisecond
	// logBufferSize limits the memory; a busy server logs 6 MB a second.
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
	if len(l.records)+len(record) > logBufferSize {
		l.dropped.Add(1)
	} else {
		l.records = append(l.records, record...)
	}
	select {
	case l.nonEmpty <- struct{}{}:
	default: // it has a token
	}
	return len(record), nil
}

// Run writes until ctx ends, and then what is left, unless that takes more than a second.
func (l *LogBuffer) Run(ctx context.Context) error {
	written := make(chan struct{})
	go func() {
		defer close(written)
		for ctx.Err() == nil {
			select {
			case <-ctx.Done():
			case <-l.nonEmpty:
				time.Sleep(logDelay)
				l.flush()
			}
		}
		l.flush()
	}()
	<-ctx.Done()
	select {
	case <-written:
	case <-time.After(logStopTimeout):
	}
	return nil
}

// flush writes all records, and how many were dropped after them. What cannot be written is
// dropped.
func (l *LogBuffer) flush() {
	l.mu.Lock()
	batch, dropped := l.records, l.dropped.Load()
	l.records = nil
	l.mu.Unlock()
	records := len(batch)
	if dropped > l.reported {
		batch = fmt.Appendf(batch, `{"time":"%s","level":"WARN","msg":"the log could not be written in time, `+
			`and records were dropped","dropped":%d}`+"\n", time.Now().Format(time.RFC3339Nano), dropped-l.reported)
	}
	n, err := l.write(batch)
	if err != nil {
		l.dropped.Add(int64(bytes.Count(batch[min(n, records):records], []byte("\n"))))
		return
	}
	l.reported = dropped
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
