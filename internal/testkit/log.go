package testkit

import (
	"bytes"
	"strings"
	"sync"
)

// A Log collects what is written to it and may be read at any time, by any
// goroutine. The zero value is empty and ready to use.
type Log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// String returns everything that was written.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// Contains reports whether part was written.
func (l *Log) Contains(part string) bool { return strings.Contains(l.String(), part) }

// Count returns how often part was written.
func (l *Log) Count(part string) int { return strings.Count(l.String(), part) }
