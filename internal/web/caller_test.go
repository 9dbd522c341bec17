package web_test

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"palmares/internal/account"
	"palmares/internal/keyring"
	"palmares/internal/quota"
	"palmares/internal/testkit"
	"palmares/internal/testkit/keyringtest"
	"palmares/internal/testkit/quotatest"
	"palmares/internal/web"
)

func TestFailedLookupsOfKeysAreLoggedOnceAnEpisode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log testkit.Log
		g := &web.Gate{Log: slog.New(slog.NewTextHandler(&log, nil)), Keys: keyring.New(keyringtest.Store{
			Find: func(context.Context, [32]byte) (account.Key, error) { return account.Key{}, errors.New("down") },
		}, time.Now)}
		fail := func(times int) {
			for range times {
				r := httptest.NewRequestWithContext(t.Context(), "GET", "/api/v1/tools", nil)
				r.Header.Set("Authorization", "Bearer "+account.NewKey(rand.Reader))
				if _, err := g.Authorize(t.Context(), r); err == nil {
					t.Error("a key that could not be looked up was accepted")
				}
				time.Sleep(time.Second)
			}
		}
		fail(100)
		if n := log.Count("could not look up"); n != 1 {
			t.Errorf("100 failures are logged %d times", n)
		}
		time.Sleep(time.Hour)
		fail(1)
		if n := log.Count("could not look up"); n != 2 {
			t.Errorf("the next episode is logged %d times", n-1)
		}
	})
}

// hangingCounters respond once, when the meter begins.
type hangingCounters struct {
	quotatest.Counters
	hangs bool
}

func (c *hangingCounters) Count(ctx context.Context, _ string, _ quota.Usage) (quota.Tally, error) {
	if c.hangs {
		<-ctx.Done()
		return quota.Tally{}, ctx.Err()
	}
	c.hangs = true
	return quota.Tally{Now: time.Now()}, nil
}

func TestARequestWaitsForItsKeyAndItsCountTogether(t *testing.T) {
	for lookup, status := range map[time.Duration]int{100 * time.Millisecond: 200, time.Hour: 503} {
		synctest.Test(t, func(t *testing.T) {
			gate := &web.Gate{Log: slog.New(slog.DiscardHandler), Keys: keyring.New(keyringtest.Store{
				Find: func(ctx context.Context, _ [32]byte) (account.Key, error) {
					select {
					case <-time.After(lookup):
						return account.Key{AccountID: "acc_ada"}, nil
					case <-ctx.Done():
						return account.Key{}, ctx.Err()
					}
				},
			}, time.Now)}
			meter, err := quota.New(t.Context(), quota.Config{
				Counters: &hangingCounters{}, Shared: true, Now: time.Now, Log: slog.New(slog.DiscardHandler),
			})
			if err != nil {
				t.Fatal(err)
			}
			h := web.NewHandler(web.Config[int]{
				Callers: gate.Authorize, Meter: meter,
				Fallback: func(*web.Request[int]) (web.Response, error) { return web.Response{}, nil },
			})
			r := httptest.NewRequestWithContext(t.Context(), "GET", "/", nil)
			r.Header.Set("Authorization", "Bearer "+account.NewKey(rand.Reader))
			begin, w := time.Now(), httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if took := time.Since(begin); took != keyring.StoreTimeout || w.Code != status {
				t.Errorf("a lookup of %s: %d after %s, want %d after %s", lookup, w.Code, took, status, keyring.StoreTimeout)
			}
		})
	}
}
