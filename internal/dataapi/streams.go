package dataapi

import (
	"net/http"
	"sync"
	"time"

	"palmares/internal/quota"
	"palmares/internal/web"
)

// streamsPerCaller is how many requests of one caller may be held open.
const streamsPerCaller = 2

// Streams are the requests that are held open until something is published: those that
// wait, and event streams. Their number is limited, per account or network and in all, so
// that they leave connections to others.
type Streams struct {
	most   int
	ending chan struct{} // closed by End

	mu   sync.Mutex
	open int
	of   map[quota.Subject]int
	// connections are those of event streams, to which something may be being written.
	connections map[*http.ResponseController]bool
}

// NewStreams returns a limit of most requests.
func NewStreams(most int) *Streams {
	return &Streams{
		most: most, ending: make(chan struct{}), of: map[quota.Subject]int{},
		connections: map[*http.ResponseController]bool{},
	}
}

// Open returns how many requests are held open.
func (s *Streams) Open() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open
}

// Limit returns how many may be.
func (s *Streams) Limit() int { return s.most }

// End makes all of them end, and those to come: requests that wait get a response, and
// streams are closed between two events. It is called once, when the server stops.
func (s *Streams) End() {
	close(s.ending)
	s.mu.Lock()
	defer s.mu.Unlock()
	for conn := range s.connections {
		_ = conn.SetWriteDeadline(time.Now().Add(endTimeout)) // its reader may have stopped reading
	}
}

// endTimeout is how long a stream may take to write its last events.
const endTimeout = 2 * time.Second

// callerOf returns whose requests are limited together: an account keeps its places when
// its plan changes.
func callerOf(s quota.Subject) quota.Subject {
	s.Tier = 0
	return s
}

// enter takes a place, or returns why there is none. leave frees it.
func (s *Streams) enter(subject quota.Subject) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.of[callerOf(subject)] >= streamsPerCaller:
		err := web.NewError(web.CodeTooManyStreams, "")
		err.RetryAfter = "30" // the longest wait
		return err
	case s.open >= s.most:
		return web.NewError(web.CodeUnavailable, "Trop de lecteurs attendent les changements en ce moment : "+
			"réessayez dans quelques secondes, ou lisez sans « wait » ni flux d’événements.")
	}
	s.open++
	s.of[callerOf(subject)]++
	return nil
}

func (s *Streams) leave(subject quota.Subject) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open--
	if s.of[callerOf(subject)]--; s.of[callerOf(subject)] == 0 {
		delete(s.of, callerOf(subject))
	}
}

// writes notes that a stream writes to a connection, until wrote.
func (s *Streams) writes(conn *http.ResponseController) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.connections[conn] = true
}

func (s *Streams) wrote(conn *http.ResponseController) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.connections, conn)
}

// hasEnded reports whether End was called.
func (s *Streams) hasEnded() bool {
	select {
	case <-s.ending:
		return true
	default:
		return false
	}
}
