package browser_test

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"palmares/internal/testkit"
)

// A pageKind is an example of a kind of page.
type pageKind struct {
	name, path string
	status     int64 // 0 for 200
}

func (p pageKind) answer() int64 {
	if p.status == 0 {
		return 200
	}
	return p.status
}

// kinds has one page of every public kind.
var kinds = []pageKind{
	{name: "home", path: "/"},
	{name: "tools", path: "/outils"},
	{name: "search", path: "/outils?q=transcription"},
	{name: "search with conditions", path: "/outils?q=montage+vidoe+gratuit+%C3%A0+moins+de+30+%E2%82%AC"},
	{name: "empty search", path: "/outils?q=xyzzyxyzzy"},
	{name: "refused filter", path: "/outils?score_min=beaucoup&limit=5", status: 400},
	{name: "tool", path: "/outils/babilune"},
	{name: "review", path: "/avis/babilune"},
	{name: "alternatives", path: "/alternatives/babilune"},
	{name: "category", path: "/categories/agents"},
	{name: "weights", path: "/categories/chat?poids=exactitude:4,pieges:3,memoire:2"},
	{name: "refused weights", path: "/categories/chat?poids=exactitude:beaucoup", status: 400},
	{name: "comparisons", path: "/comparatifs"},
	{name: "comparison", path: "/comparatifs/mandibule-vs-escouade"},
	{name: "choice", path: "/comparer"},
	{name: "two compared", path: "/comparer?outils=ocrelune,bureau-des-colonnes"},
	{name: "three of a category compared", path: "/comparer?outils=babilune,murmurine,tacautac"},
	{name: "four compared", path: "/comparer?outils=babilune,comptoir-bleu,varlope,relecteur-tardif"},
	{name: "refused choice", path: "/comparer?outils=babilune,jaserin,babilun,varlope,x", status: 404},
	{name: "prices", path: "/prix"},
	{name: "map", path: "/carte"},
	{name: "map of a category", path: "/carte?category=code"},
	{name: "refused map", path: "/carte?pricing=beaucoup", status: 400},
	{name: "upcoming", path: "/a-venir"},
	{name: "cemetery", path: "/cimetiere"},
	{name: "retired tool", path: "/cimetiere/helice-flux"},
	{name: "page", path: "/methode"},
	{name: "reference", path: "/docs"},
	{name: "operations", path: "/docs/outils"},
	{name: "webhooks", path: "/docs/webhooks"},
	{name: "dataset", path: "/donnees"},
	{name: "plans", path: "/tarifs"},
	{name: "licence", path: "/licence"},
	{name: "privacy", path: "/confidentialite"},
	{name: "not found", path: "/nulle-part", status: 404},
}

func TestTheWatchFindsWhatItIsFor(t *testing.T) {
	t.Parallel()
	b := newTab(t, desktop)
	for name, script := range map[string]string{
		"an error in the console":    `console.error("oh")`,
		"a warning in the console":   `console.warn("oh")`,
		"an exception":               `setTimeout(() => { throw new Error("oh") })`,
		"a rejection":                `Promise.reject(new Error("oh"))`,
		"a script in the page":       `document.body.append(Object.assign(document.createElement("script"), { textContent: "1" }))`,
		"a style in an attribute":    `document.body.setAttribute("style", "color:red")`,
		"a request that fails":       `fetch("/nulle-part")`,
		"a request to another host":  `fetch("http://ailleurs.example/").catch(() => {})`,
		"an image from another host": `document.body.append(Object.assign(new Image(), { src: "http://ailleurs.example/i.png" }))`,
		"a page of another host":     `document.body.append(Object.assign(document.createElement("iframe"), { src: "http://ailleurs.example/" }))`,
	} {
		b.goTo("/licence")
		b.watch.check()
		eval[chromedp.Void](b, script+"; void 0")
		// Network errors are reported when the request ends.
		testkit.Until(t, "noticing "+name, func() bool {
			b.watch.read()
			return len(b.watch.complaints) > 0
		})
		b.watch.complaints = nil
	}
}

func TestPagesLogNoErrorsAndLoadAtMostAHundredKilobytesFromTheirHost(t *testing.T) {
	t.Parallel()
	b := newTab(t, phone)
	call(b, network.SetCacheDisabled, network.SetCacheDisabledParams{CacheDisabled: true})
	for _, p := range kinds {
		b.open(p)
		total, parts := b.watch.transferred()
		t.Logf("%-15s %6.0f bytes: %s", p.name, total, strings.Join(parts, ", "))
		if total > 100_000 || total < 1000 || len(parts) < 4 {
			t.Errorf("%s has %.0f bytes: %s", p.path, total, strings.Join(parts, ", "))
		}
	}
	if len(b.watch.requests) < len(kinds) {
		t.Errorf("%d requests seen for %d pages: the watch misses some", len(b.watch.requests), len(kinds))
	}
}
