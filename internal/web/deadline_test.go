package web_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"palmares/internal/web"
)

func TestARequestWaitsForTheStoreUntilItsDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ctx web.StoreContext
		ctx.Start(t.Context())
		defer ctx.Stop()
		begin := time.Now()
		if deadline, ok := ctx.Deadline(); !ok || deadline != begin.Add(web.StoreTimeout) {
			t.Errorf("deadline %s, %v", deadline, ok)
		}
		time.Sleep(100 * time.Millisecond) // of the bubble: the timer starts late and ends on time
		if err := ctx.Err(); err != nil {
			t.Error(err)
		}
		derived, cancel := context.WithTimeout(&ctx, time.Minute)
		defer cancel()
		<-derived.Done()
		if took := time.Since(begin); took != web.StoreTimeout || !errors.Is(ctx.Err(), context.DeadlineExceeded) {
			t.Errorf("waited %s, %v; want %s", took, ctx.Err(), web.StoreTimeout)
		}
	})
}

func TestTheWaitForTheStoreEndsWithItsRequest(t *testing.T) {
	parent, leave := context.WithCancel(t.Context())
	var ctx web.StoreContext
	ctx.Start(parent)
	defer ctx.Stop()
	leave()
	<-ctx.Done()
	if !errors.Is(ctx.Err(), context.Canceled) {
		t.Error(ctx.Err())
	}
}
