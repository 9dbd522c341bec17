package browser_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/css"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/chromedp"
)

// A chromium is a browser that all tests share. It starts when the first test needs
// it, with an empty profile, and can reach this machine and nothing else.
type chromium struct {
	typeface *typeface // nil for the fonts of the machine
	whole    bool      // with windows, as readers have it: see path
	once     sync.Once
	ctx      context.Context
	err      error
	stop     func() error // nil before it started
}

var (
	wideBrowser    = &chromium{typeface: &wide}
	narrowBrowser  = &chromium{typeface: &narrow}
	wholeBrowser   = &chromium{typeface: &wide, whole: true} // for hidden tabs, a clipboard and pages kept for going back
	machineBrowser = &chromium{whole: true}                  // for pictures, which show the site at its best
)

// context returns the browser's context for chromedp, and starts it if necessary.
func (c *chromium) context(t *testing.T) context.Context {
	t.Helper()
	c.once.Do(func() { c.err = c.start() })
	if c.err != nil {
		t.Fatal(c.err)
	}
	return c.ctx
}

// path returns the program: the same browser without windows, which takes two thirds of the time, if
// the machine has it and nothing that it lacks is needed.
func (c *chromium) path() (string, error) {
	const shell = "/usr/lib/chromium/chromium-headless-shell" // what is in PATH is a script that outlives it
	if _, err := os.Stat(shell); err == nil && !c.whole {
		return shell, nil
	}
	path, err := exec.LookPath("chromium")
	if err != nil {
		return "", fmt.Errorf("%w: install it (on Debian: sudo apt-get install chromium) and run the tests again", err)
	}
	return path, nil
}

func (c *chromium) start() error {
	path, err := c.path()
	if err != nil {
		return err
	}
	// Chromium writes to its home directory, whatever its profile.
	home, err := os.MkdirTemp("", "palmares-browser")
	if err != nil {
		return err
	}
	env := []string{"HOME=" + home, "XDG_CONFIG_HOME=" + home, "XDG_CACHE_HOME=" + home}
	if c.typeface != nil {
		config, err := c.typeface.configure(home)
		if err != nil {
			return errors.Join(err, os.RemoveAll(home))
		}
		env = append(env, "FONTCONFIG_FILE="+config)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path),
		chromedp.Env(env...),
		chromedp.DisableGPU,
		chromedp.Flag("disable-software-rasterizer", true),
		chromedp.Flag("num-raster-threads", "1"),
		// Each tab has a window of its own, for whose search box Chromium would start two pages.
		chromedp.Flag("disable-features", "Translate,WebUIOmniboxPopup,WebUIOmniboxAimPopup,SpareRendererForSitePerProcess"),
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
	c.ctx = ctx
	c.stop = func() error {
		cancel()
		release()
		return os.RemoveAll(home)
	}
	if err := chromedp.Do(ctx); err != nil {
		return fmt.Errorf("Chromium (%s) does not start: %w", path, err)
	}
	return nil
}

func (c *chromium) close() error {
	if c.stop == nil {
		return nil
	}
	return c.stop()
}

func TestABrowserKnowsNoOtherFontsThanItsTypeface(t *testing.T) {
	t.Parallel()
	for _, c := range []*chromium{wideBrowser, narrowBrowser} {
		b := openTab(t, c, desktop, kit.url)
		for _, path := range []string{"/", "/docs"} {
			b.goTo(path)
			call(b, dom.Enable, dom.EnableParams{})
			call(b, css.Enable, cdp.Empty{})
			document := call(b, dom.GetDocument, dom.GetDocumentParams{})
			all := call(b, dom.QuerySelectorAll, dom.QuerySelectorAllParams{NodeID: document.Root.NodeID, Selector: "h1, .deck, .kicker, .byline, pre, button, select"})
			for _, node := range all.NodeIDs {
				for _, f := range call(b, css.GetPlatformFontsForNode, css.GetPlatformFontsForNodeParams{NodeID: node}).Fonts {
					if !slices.ContainsFunc(c.typeface.families(), func(family string) bool { return strings.HasPrefix(f.FamilyName, family) }) {
						t.Errorf("%s, %s: %.0f letters are shown in %s", path, c.typeface.name, f.GlyphCount, f.FamilyName)
					}
				}
			}
		}
	}
}
