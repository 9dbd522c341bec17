package web_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"palmares/internal/web"
)

// waitForStore sends a request whose caller cannot be looked up, and returns how the wait ended.
func waitForStore(ctx context.Context) (err error) {
	h := web.NewHandler(web.Config[int]{Callers: func(ctx context.Context, _ *http.Request) (web.Caller, error) {
		<-ctx.Done()
		err = ctx.Err()
		return web.Caller{}, web.NewError(web.CodeUnavailable, "")
	}})
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, "GET", "/", nil))
	return err
}

func TestARequestWaitsForTheStoreUntilItsDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		err := waitForStore(t.Context())
		if took := time.Since(begin); took != web.StoreTimeout || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("waited %s, %v; want %s", took, err, web.StoreTimeout)
		}
	})
}

func TestTheWaitForTheStoreEndsWithItsRequest(t *testing.T) {
	ctx, leave := context.WithCancel(t.Context())
	leave()
	if err := waitForStore(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
