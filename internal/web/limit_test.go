package web_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"palmares/internal/web"
)

func TestWhatFindsNoRoomWaitsInOrderAndIsRefusedAfterAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limit := web.NewLimit(10, time.Second)
		enter := func(ctx context.Context, size int) <-chan error {
			entered := make(chan error, 1)
			go func() { entered <- limit.Enter(ctx, size) }()
			synctest.Wait()
			return entered
		}
		is := func(what string, entered <-chan error, want bool) {
			t.Helper()
			synctest.Wait()
			if (len(entered) == 1) != want {
				t.Errorf("%s: entered or refused %v, want %v", what, !want, want)
			}
		}
		refused := func(what string, entered <-chan error) {
			t.Helper()
			is(what, entered, true)
			if e := web.AsError(<-entered); e.Status() != 503 {
				t.Errorf("%s: %v", what, e)
			}
		}
		first := enter(t.Context(), 6)
		is("what has room", first, true)
		large, small := enter(t.Context(), 100), enter(t.Context(), 4)
		is("what needs all", large, false)
		is("a small one behind it", small, false)
		leaving, leave := context.WithCancel(t.Context())
		gone := enter(leaving, 1)
		leave()
		refused("who left", gone)
		time.Sleep(time.Second)
		refused("the large one, in time", large)
		is("the small one, as nobody is before it", small, true)
		third := enter(t.Context(), 5)
		is("the third", third, false)
		limit.Leave(6)
		is("the third, in its turn", third, true)
		limit.Leave(4)
		limit.Leave(5)
		is("one that is larger than the limit, alone", enter(t.Context(), 100), true)
		limit.Leave(100)
		is("after all", enter(t.Context(), 10), true)
	})
}
