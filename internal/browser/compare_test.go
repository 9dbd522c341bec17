package browser_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// box selects the box of a tool in a list.
func box(slug string) chromedp.CSS {
	return chromedp.CSS(fmt.Sprintf(".tick input[value=%s]", slug))
}

const (
	compared = ".compared thead a[href^='/outils/']" // the names at the top of the columns
	chosen   = ".tray li span"                       // the names in the tray
)

// lists checks which tools are chosen.
func (b *tab) lists(selector string, names ...string) {
	b.t.Helper()
	if got := b.texts(selector); !slices.Equal(got, names) {
		b.t.Fatalf("at %s, %s are %q, want %q", b.lastURL(), selector, got, names)
	}
}

func TestToolsOfTwoPagesAreComparedAndTheAddressIsShared(t *testing.T) {
	t.Parallel()
	for _, s := range []screen{phone, desktop} {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			b := openTab(t, wholeBrowser, s, kit.url)
			b.goTo("/categories/agents")
			b.do(chromedp.Click(box("mandibule")), chromedp.Click(box("escouade")))
			b.lists(chosen, "Mandibule", "Escouade")
			b.goTo("/outils?q=babilune") // the choice survives
			b.lists(chosen, "Mandibule", "Escouade")
			b.do(chromedp.Click(box("babilune")))
			b.lists(chosen, "Mandibule", "Escouade", "Babilune")
			if s == phone { // it is checked on both
				b.isAccessible("the tray")
				b.show(s)
			}
			b.follow(".tray a")
			const address = "/comparer?outils=mandibule,escouade,babilune"
			b.at(address, "Mandibule, Escouade et Babilune")
			b.lists(compared, "Mandibule", "Escouade", "Babilune")
			if verdicts := b.texts("[aria-labelledby='page.verdicts'] h3"); len(verdicts) != 1 || !strings.Contains(verdicts[0], "Escouade") {
				t.Errorf("the verdicts are %q", verdicts)
			}
			other := openTab(t, wholeBrowser, s, kit.url) // with storage of its own
			other.goTo(address)
			other.lists(compared, "Mandibule", "Escouade", "Babilune")
			other.goTo("/outils")
			if other.lists(chosen); !eval[bool](other, `document.querySelector(".tray").hidden`) {
				t.Error("a choice appears in another browser")
			}
			b.back()
			b.await(`document.querySelectorAll(".tray li").length === 3`) // nothing is lost
			b.goTo("/comparer")
			b.lists(chosen, "Mandibule", "Escouade", "Babilune")
			b.follow(".tray a")
			b.follow(".without") // what is removed there is no longer chosen
			b.at("/comparer?outils=escouade,babilune", "Escouade et Babilune")
			b.goTo("/outils")
			b.lists(chosen, "Escouade", "Babilune")
			if cookies := eval[string](b, `document.cookie`); cookies != "" {
				t.Errorf("there are cookies: %s", cookies)
			}
		})
	}
}

func TestToolsAreComparedWithTheKeyboardAlone(t *testing.T) {
	t.Parallel()
	b := newTab(t, desktop)
	b.goTo("/categories/agents")
	// onto presses Tab until a condition on the focused element holds.
	onto := func(condition string) {
		t.Helper()
		for range 200 {
			b.do(chromedp.KeyEvent(kb.Tab))
			if covered := eval[string](b, coveredScript, chromedp.EvalAwaitPromise); covered != "" {
				t.Fatalf("the focus is covered: %s", covered)
			}
			if eval[bool](b, `(e => `+condition+`)(document.activeElement)`) {
				return
			}
		}
		t.Fatalf("Tab never leads to an element with %s", condition)
	}
	onto(`e.value === "mandibule"`)
	b.do(chromedp.KeyEvent(" "))
	onto(`e.type === "checkbox" && !e.checked`)
	b.do(chromedp.KeyEvent(" "))
	names := b.texts(chosen)
	if len(names) != 2 || names[0] != "Mandibule" {
		t.Fatalf("Space chooses %q", names)
	}
	if said := b.text("p[role=status].sr"); !strings.Contains(said, names[1]+" ajouté, 2 outils") {
		t.Errorf("screen readers hear %q", said)
	}
	b.do(chromedp.KeyEvent(kb.Tab)) // the link is next to the last box
	if got := eval[string](b, `document.activeElement.textContent + " " + document.activeElement.getAttribute("href")`); !strings.HasPrefix(got, "Comparer (2) ") || !strings.Contains(got, "outils=mandibule,") {
		t.Errorf("after the box the focus is on %q", got)
	}
	b.isAccessible("the link next to a box")
	onto(`!!e.closest(".tray li") && e.ariaLabel === "Retirer Mandibule"`) // past the whole list
	b.do(chromedp.KeyEvent(kb.Enter))
	b.lists(chosen, names[1])
	if next := eval[string](b, `document.activeElement.ariaLabel`); next != "Retirer "+names[1] {
		t.Errorf("after a removal the focus is on %q", next)
	}
	b.do(chromedp.KeyEvent(kb.Enter))
	if eval[bool](b, `!document.querySelector(".tray").hidden || document.activeElement.tagName !== "MAIN"`) {
		t.Error("after the last removal the tray stays, or the focus is lost")
	}
	b.goTo("/categories/agents")
	onto(`e.value === "escouade"`)
	b.do(chromedp.KeyEvent(" "))
	onto(`e.type === "checkbox" && !e.checked`)
	b.do(chromedp.KeyEvent(" "))
	b.leave(chromedp.KeyEvent(kb.Enter)) // in a box, it sends the form
	if got := b.texts(compared); len(got) != 2 || got[0] != "Escouade" {
		t.Errorf("Enter compares %q", got)
	}
}

// coveredScript returns the focused element if the tray covers a part of it, once the page
// has scrolled.
const coveredScript = `new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(() => {
	const e = document.activeElement, tray = document.querySelector(".tray");
	const under = tray && !tray.hidden && !tray.contains(e) && e !== document.body && e.tagName !== "MAIN";
	resolve(under && e.getBoundingClientRect().bottom > tray.getBoundingClientRect().top + 1 ? e.outerHTML.slice(0, 200) : "");
})))`

func TestAFifthToolIsNotAdded(t *testing.T) {
	t.Parallel()
	b := newTab(t, desktop)
	b.goTo("/categories/agents")
	values := eval[[]string](b, `[...document.querySelectorAll(".tick input")].slice(0, 6).map(e => e.value)`)
	for _, slug := range values {
		b.do(chromedp.Click(box(slug)))
	}
	if got := b.texts(chosen); len(got) != 4 {
		t.Fatalf("%q are chosen", got)
	}
	if said := b.text("p[role=status].sr"); !strings.Contains(said, "Quatre outils au plus") || eval[bool](b, fmt.Sprintf(`document.querySelector(".tick input[value=%s]").checked`, values[4])) {
		t.Errorf("after a fifth, screen readers hear %q", said)
	}
	if got := b.texts(".tray-go span"); !slices.Equal(got, []string{"Quatre au plus."}) {
		t.Errorf("after a sixth, the tray says %q", got)
	}
	b.do(chromedp.Click(box(values[0]))) // unticked
	b.do(chromedp.Click(box(values[4])))
	if got := b.texts(chosen); len(got) != 4 {
		t.Errorf("%q are chosen after one was exchanged", got)
	}
	b.do(chromedp.Click(chromedp.CSS(".tray-clear")))
	if eval[bool](b, `!!document.querySelector(".tick input:checked")`) {
		t.Error("a box is still ticked")
	}
}

func TestNewResultsShowTheChoice(t *testing.T) {
	t.Parallel()
	b := openLiveList(t)
	b.do(chromedp.SetValue(field("category"), "code"))
	b.arrivesAt("/outils?category=code", "9 outils")
	b.do(chromedp.Click(box("varlope")))
	b.do(chromedp.Click(chromedp.CSS("a[data-clear]")))
	b.arrivesAt("/outils", "66 outils, page 1 sur 2")
	if !eval[bool](b.tab, `document.querySelector(".tick input[value=varlope]").checked`) {
		t.Error("the box of a chosen tool is empty in new results")
	}
}

// The tray covers what is below it, which the layout check would report.
func TestTheTrayHoldsInWideAndNarrowFonts(t *testing.T) {
	t.Parallel()
	for _, c := range []*chromium{wideBrowser, narrowBrowser} {
		t.Run(c.typeface.name, func(t *testing.T) {
			t.Parallel()
			b := openTab(t, c, desktop, kit.url)
			b.goTo("/licence")
			eval[chromedp.Void](b, `sessionStorage.setItem("comparer", JSON.stringify([
				["a", "Bureau des Colonnes"], ["b", "Porte-Voix Local"], ["c", "Relecteur Tardif"], ["d", "Un nom si long qu’il ne tient sur aucun téléphone, même couché sur le côté"]]))`)
			b.goTo("/licence")
			b.lists(chosen, "Bureau des Colonnes", "Porte-Voix Local", "Relecteur Tardif", "Un nom si long qu’il ne tient sur aucun téléphone, même couché sur le côté")
			eval[chromedp.Void](b, `for (const e of document.querySelectorAll("main, header, footer, .demo")) e.hidden = true; void 0`)
			b.hasSoundLayout(c.typeface.name+"-tray", widths)
			for _, target := range eval[[]string](b, `[...document.querySelectorAll(".tray button, .tray a")].filter(e => e.offsetWidth < 24 || e.offsetHeight < 24).map(e => e.outerHTML)`) {
				t.Errorf("%s is too small to hit", target)
			}
		})
	}
}
