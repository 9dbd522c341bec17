// Package browser_test opens the website in a real Chromium, from the server that
// ships, over the demo catalogue.
//
// All tests share one server and one browser per typeface (see typeface; a few need a whole one); each test
// has tabs of its own, which share no cache and no history with others. Whatever a
// test is about, every tab is watched: a console message, a failed request or a
// request to another host fails the test (see watch). Tests wait for conditions, never
// for time to pass. A missing Chromium, font or axe-core fails the tests.
package browser_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"palmares/demo"
	"palmares/internal/account"
	"palmares/internal/api"
	"palmares/internal/catalog"
	"palmares/internal/content"
	"palmares/internal/keyring"
	"palmares/internal/server"
	"palmares/internal/site"
	"palmares/internal/snapshot"
	"palmares/internal/testkit/keyringtest"
)

// kit is what all tests share; TestMain sets it before the first test runs.
var kit struct {
	url string // of the server
	axe string // source of axe-core
}

func TestMain(m *testing.M) {
	flag.Parse()
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "browser tests:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// axePath is where `npm ci` in tools/browser puts axe-core.
const axePath = "../../tools/browser/node_modules/axe-core/axe.min.js"

func run(m *testing.M) (code int, err error) {
	axe, err := os.ReadFile(axePath)
	if err != nil {
		return 1, fmt.Errorf("axe-core is missing (%w): run `npm ci --prefix tools/browser` at the root of the repository", err)
	}
	kit.axe = string(axe)
	stopServer, err := serve()
	if err != nil {
		return 1, err
	}
	// Browsers stop first: the server waits for their connections.
	defer func() { err = errors.Join(err, stopServer()) }()
	defer func() {
		for _, c := range []*chromium{wideBrowser, narrowBrowser, wholeBrowser, machineBrowser} {
			err = errors.Join(err, c.close())
		}
		err = errors.Join(err, removePalmares())
	}()
	return m.Run(), nil
}

// serve starts the server on a loopback port of its own, as `palmares serve` does
// with an empty database, without quotas.
func serve() (stop func() error, err error) {
	ctx, cancel := context.WithCancel(context.Background())
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		cancel()
		return nil, err
	}
	kit.url = "http://" + listener.Addr().String()
	r, err := content.ReadFS(ctx, demo.Folder, content.Options{InMemory: true})
	if err != nil || len(r.Problems) > 0 {
		cancel()
		return nil, errors.Join(fmt.Errorf("the demo catalogue cannot be read: %w %v", err, r), listener.Close())
	}
	live, err := snapshot.NewLive(ctx, func(context.Context, *snapshot.Snapshot) (*snapshot.Snapshot, error) {
		c := r.Catalog
		c.URL = kit.url
		catalog.CarryOver(&catalog.Catalog{}, c, snapshot.NewestUpdate(c))
		s := snapshot.Build(c, 0, snapshot.NewestUpdate(c))
		return s, s.BuildIndex(ctx)
	})
	if err != nil {
		cancel()
		return nil, errors.Join(err, listener.Close())
	}
	pages := site.New(site.Config{
		BaseURL: kit.url, Document: api.Document(), Pictures: r.Pictures, Demo: func(*snapshot.Snapshot) bool { return true },
	})
	pages.Show(live.Snapshot())
	keys := keyring.New(keyringtest.Store{Find: func(context.Context, [32]byte) (account.Key, error) {
		return account.Key{}, account.ErrInvalidKey
	}}, time.Now)
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	handler := server.New(server.Config{
		Live: live, Keys: keys, Site: pages, Log: log, Requests: io.Discard, Metrics: server.NewMetrics(),
	})
	var running sync.WaitGroup
	var failure error
	running.Go(func() { failure = server.Run(ctx, listener, handler, server.Options{}, log) })
	stop = func() error {
		cancel()
		running.Wait()
		return failure
	}
	return stop, nil
}
