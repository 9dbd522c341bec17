package dataapi

import (
	"context"
	"sync"

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
	ending context.Context

	mu   sync.Mutex
	open int
	of   map[quota.Subject]int
}

// NewStreams returns a limit of most requests. All of them end with ctx, and those to come:
// requests that wait get a response, and streams are closed between two events.
func NewStreams(ctx context.Context, most int) *Streams {
	return &Streams{most: most, ending: ctx, of: map[quota.Subject]int{}}
}

// Open returns how many requests are held open.
func (s *Streams) Open() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open
}

// Limit returns how many may be.
func (s *Streams) Limit() int { return s.most }

// callerOf returns whose requests are limited together: the plan of an account does not matter.
func callerOf(s quota.Subject) quota.Subject {
	s.Tier = 0
	return s
}

// enter counts a request until leave, or returns why it must not be held open.
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
