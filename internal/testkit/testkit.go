// Package testkit holds what the tests of several packages share: databases, a
// clock, a log, HTTP replies, a proxy that breaks connections, and the check of
// responses against an OpenAPI document.
//
// Everything is real: PostgreSQL, listeners, processes. What a test starts ends with
// t.Cleanup. A machine without PostgreSQL fails the tests, because skipping them
// would let the two databases drift apart; PALMARES_TEST=quick selects SQLite only.
//
// The package imports nothing of Palmarès, so that every package can use it in its
// tests, including in-package tests.
//
// A package whose tests use PostgreSQL stops the server in TestMain:
//
//	func TestMain(m *testing.M) { os.Exit(testkit.Run(m)) }
package testkit

import (
	"context"
	"testing"
	"time"
)

// patience is how long Until waits. What tests wait for takes seconds at most on an
// idle machine; the rest is for a busy one.
const patience = 3 * time.Minute

// Until waits until happened reports true, and fails the test if that takes
// minutes. It gives up early when the test has failed meanwhile.
func Until(t testing.TB, what string, happened func() bool) {
	t.Helper()
	if !Await(func() bool {
		if happened() {
			return true
		}
		if t.Failed() {
			t.FailNow()
		}
		return false
	}) {
		t.Fatalf("%s did not happen within %s", what, patience)
	}
}

// Await is Until where there is no test to fail: it reports whether happened became
// true.
func Await(happened func() bool) bool {
	deadline := time.After(patience) // not the test's context, which has ended in a clean-up
	pause := time.NewTicker(10 * time.Millisecond)
	defer pause.Stop()
	for !happened() {
		select {
		case <-deadline:
			return false
		case <-pause.C:
		}
	}
	return true
}

// Listening runs listen, which calls its argument on every wake-up, until the test ends. It
// returns a function that waits for the next wake-up.
func Listening(t *testing.T, listen func(context.Context, func()) error) (woken func(what string)) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	wakes, ended := make(chan struct{}, 100), make(chan error, 1)
	go func() { ended <- listen(ctx, func() { wakes <- struct{}{} }) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return func(what string) {
		t.Helper()
		Until(t, "a wake-up by "+what, func() bool {
			select {
			case <-wakes:
				return true
			default:
				return false
			}
		})
	}
}
