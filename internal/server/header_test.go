package server

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"palmares/internal/catalog"
	"palmares/internal/keyring"
	"palmares/internal/snapshot"
	"palmares/internal/testkit/keyringtest"
)

// serving returns a server of a catalogue, without keys and without a site.
func serving(c *catalog.Catalog) http.Handler {
	return New(Config{
		Live: snapshot.Fixed(snapshot.Build(c, 1, "2026-01-01")), Keys: keyring.New(keyringtest.Store{}, time.Now), Site: http.NotFoundHandler(),
		Log: slog.New(slog.DiscardHandler), Requests: io.Discard, Metrics: NewMetrics(),
	})
}

func TestCachedResponsesToLongAddressesStayOnOneConnection(t *testing.T) {
	c := &catalog.Catalog{Name: "Essai", URL: "https://essai.example", Categories: []catalog.Category{{Slug: "code", Label: "Code"}}}
	for _, slug := range []string{"a", "b", "c"} {
		c.Tools = append(c.Tools, &catalog.Tool{Slug: slug, Name: slug, Category: "code", Tier: 3, UpdatedAt: "2026-01-01"})
	}
	handler := serving(c)
	conn := call(t, run(t, handler, func(string) bool { return true }))
	for length := 3500; length < 8<<10; length += 57 { // heads of 4 kB, which is all that one request of the lane has
		for _, condition := range []string{"", "", "If-None-Match: *\r\n"} { // the second time from the cache
			address := "/api/v1/tools?limit=2&page=2&x="
			address += strings.Repeat("x", length-len(address))
			fmt.Fprintf(conn.conn, "GET %s HTTP/1.1\r\nHost: x\r\n%s\r\n", address, condition)
			resp, err := http.ReadResponse(conn.in, nil)
			if err != nil {
				t.Fatalf("%d bytes: %v", length, err)
			}
			body, err := io.ReadAll(resp.Body)
			if err != nil || resp.Close || resp.StatusCode == 200 && int64(len(body)) != resp.ContentLength || resp.StatusCode > 304 {
				t.Fatalf("%d bytes: %d %v %q %v", length, resp.StatusCode, resp.Header, body, err)
			}
		}
	}
}

func TestAReservationAgainstMiningIsInEveryResponse(t *testing.T) {
	c := &catalog.Catalog{Name: "Essai", URL: "https://essai.example", Categories: []catalog.Category{{Slug: "code", Label: "Code"}}}
	c.Settings.AITraining = catalog.TrainingDenied
	handler := serving(c)
	inBothLanes(t, func(t *testing.T, front func(string) bool) {
		address := run(t, handler, front)
		for _, path := range []string{"/", "/api/v1/tools", "/api/v1/rien", "/data/v1/openapi.json", "/.well-known/api-catalog"} {
			for _, answer := range askThrice(t, "http://"+address+path, nil) {
				if !strings.Contains(answer, "Tdm-Reservation [1]\n") {
					t.Errorf("%s: %.400s", path, answer)
				}
			}
		}
	})
}
