package server

import (
	"context"
	"io"
	"sync"
	"time"
)

// A LogBuffer collects log records and writes them in batches: one write per request
// would cost more than the rest of the request. A process that is killed loses the
// records of the last 50 ms.
type LogBuffer struct {
	out      io.Writer
	nonEmpty chan struct{} // has a token while there is something to write

	mu      sync.Mutex
	records []byte
}

const (
	// logDelay is short enough for somebody who follows the log.
	logDelay = 50 * time.Millisecond
	// logBufferSize is when Write writes by itself, so that a slow log slows the server
	// down instead of filling its memory.
	logBufferSize = 1 << 20
)

// NewLogBuffer returns a buffer in front of out. Unless it is full, nothing is written
// without Run.
func NewLogBuffer(out io.Writer) *LogBuffer {
	return &LogBuffer{out: out, nonEmpty: make(chan struct{}, 1)}
}

// Write adds one record.
func (l *LogBuffer) Write(record []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.records = append(l.records, record...)
	if len(l.records) >= logBufferSize {
		return len(record), l.flush()
	}
	select {
	case l.nonEmpty <- struct{}{}:
	default:
	}
	return len(record), nil
}

// flush writes all records. The lock is held meanwhile, so that they keep their order.
func (l *LogBuffer) flush() error {
	_, err := l.out.Write(l.records)
	l.records = l.records[:0]
	return err
}

// Run writes until ctx ends, and then what is left.
func (l *LogBuffer) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-l.nonEmpty:
			select {
			case <-ctx.Done():
			case <-time.After(logDelay):
			}
			l.mu.Lock()
			_ = l.flush() // there is nowhere to report that the log cannot be written
			l.mu.Unlock()
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.flush()
}
