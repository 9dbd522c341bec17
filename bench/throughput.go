package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const (
	rounds      = 5
	connections = 32
	roundTime   = "4s"
)

// throughput compares the whole server, with a key, to a bare handler.
func (b *bench) throughput() error {
	if _, err := exec.LookPath("wrk"); err != nil {
		return fmt.Errorf("wrk is missing: apt-get install wrk")
	}
	database := "sqlite:" + filepath.Join(b.dir, "throughput.db")
	if _, _, err := b.run("account", "create", "bench@example.org", "--plan", "pro", "--database", database); err != nil {
		return err
	}
	key, _, err := b.run("key", "create", "bench@example.org", "--name", "bench", "--database", database)
	if err != nil {
		return err
	}
	key = strings.TrimSpace(key)
	whole, err := b.start(b.binary, "serve", "--listen", "localhost:0", "--database", database)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	fmt.Printf("Requests per second, %d connections, medians of %d rounds of %s (wrk):\n", connections, rounds, roundTime)
	_, list, err := get(whole.url+"/api/v1/tools?limit=1", key)
	if err != nil {
		return err
	}
	slug := regexp.MustCompile(`"slug":"([^"]+)"`).FindSubmatch(list)[1]
	for _, path := range []string{"/api/v1/tools/" + string(slug), "/api/v1/tools"} {
		bare, err := b.start(self, "-bare", whole.url+path+"#"+key)
		if err != nil {
			return err
		}
		var ours, theirs []float64
		for range rounds {
			for _, side := range []struct {
				url  string
				into *[]float64
			}{{bare.url, &theirs}, {whole.url, &ours}} {
				rate, err := b.wrk(side.url+path, key)
				if err != nil {
					return err
				}
				*side.into = append(*side.into, rate)
			}
		}
		fmt.Printf("  %-28s palmares %7.0f   bare net/http %7.0f   ratio %.2f (at least 0.85)\n",
			path, median(ours), median(theirs), median(ours)/median(theirs))
		if err := bare.stop(); err != nil {
			return err
		}
	}
	return whole.stop()
}

var rate = regexp.MustCompile(`Requests/sec:\s+([0-9.]+)`)

// wrk returns how many requests a second a URL answers, with a key if it is not empty.
func (b *bench) wrk(url, key string, headers ...string) (float64, error) {
	args := []string{"-t", "1", "-c", strconv.Itoa(connections), "-d", roundTime}
	if key != "" {
		headers = append(headers, "Authorization: Bearer "+key)
	}
	for _, h := range headers {
		args = append(args, "-H", h)
	}
	out, err := exec.CommandContext(b.ctx, "wrk", append(args, url)...).CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("wrk: %w: %s", err, out)
	}
	found := rate.FindSubmatch(out)
	if found == nil || strings.Contains(string(out), "Non-2xx") || strings.Contains(string(out), "Socket errors") {
		return 0, fmt.Errorf("wrk on %s: %s", url, out)
	}
	return strconv.ParseFloat(string(found[1]), 64)
}

func median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	return x[len(x)/2]
}

// serveBare is the simplest Go server: it sends the headers and the body of one
// answer, taken once from the real server, to every request.
func serveBare(ctx context.Context, target string) error {
	url, key, _ := strings.Cut(target, "#")
	resp, body, err := get(url, key)
	if err != nil {
		return err
	}
	resp.Header.Del("Date")       // net/http sets its own
	resp.Header.Del("Connection") // of the one request that asked
	handler := func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		for name, values := range resp.Header {
			h[name] = values
		}
		w.WriteHeader(http.StatusOK)
		_, _ = w.Write(body)
	}
	listener, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "http://%s\n", listener.Addr())
	srv := &http.Server{Handler: http.HandlerFunc(handler)}
	go func() { <-ctx.Done(); srv.Close() }()
	if err := srv.Serve(listener); err != http.ErrServerClosed {
		return err
	}
	return nil
}
