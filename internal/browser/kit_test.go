// Package browser_test visits the website as readers do: in a real Chromium, from
// the server that ships, over the demo catalogue.
//
// One browser and one server serve all tests of the package; each test has tabs
// of its own, which share no cache and no history with others. Whatever a test is
// about, a tab watches over it: a word in the console, a request that fails or
// that leaves for another host makes the test fail (see watch). Nothing waits for
// time to pass, only for what must happen. A machine without Chromium or axe-core
// fails: a page nobody opened proves nothing.
package browser_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"palmares/demo"
	"palmares/internal/account"
	"palmares/internal/api"
	"palmares/internal/catalog"
	"palmares/internal/content"
	"palmares/internal/keyring"
	"palmares/internal/keyring/keyringtest"
	"palmares/internal/server"
	"palmares/internal/site"
	"palmares/internal/snapshot"
)

// kit is what the tests of this binary share; TestMain makes it before the first
// of them, and nothing changes it afterwards.
var kit struct {
	browser context.Context
	url     string // of the server
	axe     string // the script that looks for barriers
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

// axePath is where tools/browser puts axe-core.
const axePath = "../../tools/browser/node_modules/axe-core/axe.min.js"

func run(m *testing.M) (code int, err error) {
	axe, err := os.ReadFile(axePath)
	if err != nil {
		return 1, fmt.Errorf("axe-core is missing (%w): run `npm ci --prefix tools/browser` at the root of the repository", err)
	}
	kit.axe = string(axe)
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		return 1, fmt.Errorf("%w: install it (on Debian: sudo apt-get install chromium) and run the tests again", err)
	}
	stopServer, err := serve()
	if err != nil {
		return 1, err
	}
	// The browser goes first: the server waits for its connections.
	defer func() { err = errors.Join(err, stopServer()) }()
	stopBrowser, err := launch(chromium)
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, stopBrowser()) }()
	return m.Run(), nil
}

// serve starts the server on a loopback port of its own, as `palmares serve` does
// over an empty database, without quotas.
func serve() (stop func() error, err error) {
	ctx, cancel := context.WithCancel(context.Background())
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		cancel()
		return nil, err
	}
	kit.url = "http://" + listener.Addr().String()
	live, err := snapshot.NewLive(ctx, func(ctx context.Context) (*snapshot.Snapshot, error) {
		c, problems, err := content.ReadFS(ctx, demo.Folder, nil)
		if err != nil || len(problems) > 0 {
			return nil, fmt.Errorf("the demo catalogue cannot be read: %w %v", err, problems)
		}
		c.URL = kit.url
		catalog.CarryOver(&catalog.Catalog{}, c, snapshot.NewestUpdate(c))
		return snapshot.Build(c, 0, snapshot.NewestUpdate(c)), nil
	})
	if err != nil {
		cancel()
		return nil, errors.Join(err, listener.Close())
	}
	pages := site.New(site.Config{
		Snapshot: live.Snapshot, BaseURL: kit.url, Document: api.Document(),
		Demo: func(*snapshot.Snapshot) bool { return true },
	})
	keys := keyring.New(keyringtest.Store{Find: func(context.Context, [32]byte) (account.Key, error) {
		return account.Key{}, account.ErrInvalidKey
	}}, time.Now)
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	handler := server.New(server.Config{
		Live: live, Keys: keys, Site: pages, Log: log, Requests: io.Discard, Metrics: server.NewMetrics(),
	})
	var running sync.WaitGroup
	var failure error
	running.Go(func() { pages.Run(ctx) })
	running.Go(func() { failure = server.Run(ctx, listener, handler, log) })
	stop = func() error {
		cancel()
		running.Wait()
		return failure
	}
	if err := awaitIndex(); err != nil {
		return nil, errors.Join(err, stop())
	}
	return stop, nil
}

// awaitIndex asks until a search finds a word that stands in a review only: the
// index of whole texts is built beside the server.
func awaitIndex() error {
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); {
		resp, err := http.Get(kit.url + "/outils?q=chaudi%C3%A8re")
		if err != nil {
			return err
		}
		body, err := io.ReadAll(resp.Body)
		if err = errors.Join(err, resp.Body.Close()); err != nil {
			return err
		}
		if strings.Contains(string(body), `href="/outils/babilune"`) {
			return nil
		}
	}
	return errors.New("after thirty seconds the search still finds no word of a review")
}

// launch starts a Chromium with an empty profile that can reach this machine and
// nothing else.
func launch(path string) (stop func() error, err error) {
	// Its home too is empty, and goes with it: Chromium writes there whatever
	// the profile.
	home, err := os.MkdirTemp("", "palmares-browser")
	if err != nil {
		return nil, err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path),
		chromedp.Env("HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_CACHE_HOME="+home),
		chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"),
		chromedp.Flag("hide-scrollbars", false),
		chromedp.Flag("disable-smooth-scrolling", true),
		chromedp.Flag("font-render-hinting", "none"),
		chromedp.Flag("lang", "fr-FR"),
	)
	allocator, release := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, cancel := chromedp.NewContext(allocator)
	stop = func() error {
		cancel()
		release()
		return os.RemoveAll(home)
	}
	if err := chromedp.Do(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("Chromium (%s) does not start: %w", path, err), stop())
	}
	kit.browser = ctx
	return stop, nil
}
