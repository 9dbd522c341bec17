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
	"palmares/internal/keyring/keyringtest"
	"palmares/internal/testkit"
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
