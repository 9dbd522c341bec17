package browser_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

const (
	results = ".row-name"    // the names in a list of tools
	tally   = "[data-tally]" // how many there are, read out by screen readers
)

// field selects a control of the filter form.
func field(name string) chromedp.CSS {
	return chromedp.CSS(fmt.Sprintf("form[data-live] [name=%s]", name))
}

func TestFiltersAreFoldedOnAPhoneOnly(t *testing.T) {
	t.Parallel()
	b := newTab(t, phone)
	b.withoutScripts()
	b.goTo("/outils?pricing=freemium")
	const isShown = `document.querySelector("form[data-live] [name=category]").checkVisibility({ contentVisibilityAuto: true })`
	if top := eval[float64](b, `document.querySelector("main .row").getBoundingClientRect().top`); eval[bool](b, isShown) || top > 650 {
		t.Errorf("on a phone the first result is at %v", top)
	}
	if said := b.text(".folded > summary"); said != "Filtres et tri (1)" {
		t.Errorf("the fold says %q", said)
	}
	b.do(chromedp.Click(chromedp.CSS(".folded > summary")))
	b.await(isShown)
	b.show(desktop)
	b.goTo("/outils")
	if !eval[bool](b, isShown) {
		t.Error("a wide page folds the filters")
	}
}

// A liveList is the list of tools in a tab that must never reload.
type liveList struct{ *tab }

// openLiveList opens the list. A reload would lose what a script wrote on the window,
// and screen readers would not read out the tally of a new element.
func openLiveList(t *testing.T) liveList {
	t.Helper()
	b := newTab(t, desktop)
	b.goTo("/outils")
	eval[chromedp.Void](b, `window.mine = document.querySelector("[data-tally]").mine = "still here"; void 0`)
	return liveList{b}
}

// arrivesAt waits for an address, checks the tally, in which N is the length of the list, and
// returns the list.
func (l liveList) arrivesAt(address, said string) []string {
	l.t.Helper()
	l.await(fmt.Sprintf(`location.pathname + location.search === %q && !document.querySelector("[aria-busy=true]")`, address))
	if kept := eval[string](l.tab, `window.mine + " and " + document.querySelector("[data-tally][role=status]").mine`); kept != "still here and still here" {
		l.t.Fatalf("%s: the page was reloaded, or its tally replaced (%s)", address, kept)
	}
	names := l.texts(results)
	if got, want := l.text(tally), strings.Replace(said, "N", strconv.Itoa(len(names)), 1); got != want {
		l.t.Errorf("%s: the tally says %q, want %q", address, got, want)
	}
	return names
}

// back goes one step back in the history, to this list.
func (l liveList) back(address, said string, names []string) {
	l.t.Helper()
	eval[chromedp.Void](l.tab, `history.back(); void 0`)
	if got := l.arrivesAt(address, said); !slices.Equal(got, names) {
		l.t.Errorf("back at %s the list is %q", address, got)
	}
}

func TestFiltersAnswerWithoutReloading(t *testing.T) {
	t.Parallel()
	b := openLiveList(t)
	all := b.texts(results)

	b.do(chromedp.SetValue(field("category"), "code"))
	code := b.arrivesAt("/outils?category=code", "9 outils")
	if len(code) != 9 {
		t.Errorf("the category lists %q", code)
	}
	b.do(chromedp.SendKeys(field("score_min"), "7"))
	good := b.arrivesAt("/outils?category=code&score_min=7", "N outils")
	if len(good) == 0 || len(good) >= len(code) || !subset(good, code) {
		t.Errorf("of %q, %q have 7 or more", code, good)
	}
	for _, score := range b.texts(".row .note") {
		if v, err := strconv.ParseFloat(strings.Replace(strings.Fields(score)[0], ",", ".", 1), 64); err != nil || v < 7 {
			t.Errorf("a tool with %q is among those with 7 or more", score)
		}
	}
	b.do(chromedp.SetValue(field("sort"), "name_desc"))
	backwards := b.arrivesAt("/outils?category=code&score_min=7&sort=name_desc", "N outils")
	if slices.Equal(backwards, good) || !subset(backwards, good) || backwards[0] < backwards[len(backwards)-1] {
		t.Errorf("from Z to A: %q", backwards)
	}
	b.do(chromedp.Click(chromedp.CSS("a[data-clear]")))
	if names := b.arrivesAt("/outils", "66 outils, page 1 sur 2"); !slices.Equal(names, all) {
		t.Errorf("without filters the list is %q", names)
	}
	b.do(chromedp.Click(chromedp.CSS("[data-pager] a[rel=next]")))
	second := b.arrivesAt("/outils?page=2", "66 outils, page 2 sur 2")
	if len(second) != 16 || slices.Contains(all, second[0]) {
		t.Errorf("page 2 is %q", second)
	}
	b.do(chromedp.SendKeys(field("q"), "cordee"))
	if names := b.arrivesAt("/outils?q=cordee", "N outil pour « cordee »"); len(names) == 0 || names[0] != "Cordée Libre" {
		t.Errorf("cordee finds %q", names)
	}

	// Going back undoes each choice, in the list and in the form.
	b.back("/outils?page=2", "66 outils, page 2 sur 2", second)
	b.back("/outils", "66 outils, page 1 sur 2", all)
	b.back("/outils?category=code&score_min=7&sort=name_desc", "N outils", backwards)
	if form := formValues(b.tab); form != "q= category=code pricing= price_max= score_min=7 sort=name_desc usage= criterion= tested_since= icp= obsolescence_max=" {
		t.Errorf("back, the form says %s", form)
	}
	b.back("/outils?category=code&score_min=7", "N outils", good)
	b.back("/outils?category=code", "9 outils", code)
	b.back("/outils", "66 outils, page 1 sur 2", all)
	if form := formValues(b.tab); form != "q= category= pricing= price_max= score_min= sort= usage= criterion= tested_since= icp= obsolescence_max=" {
		t.Errorf("back at the beginning, the form says %s", form)
	}
}

func TestFiltersShowTheLastChoiceEvenWhenItIsTheOneShown(t *testing.T) {
	t.Parallel()
	b := newTab(t, desktop)
	b.goTo("/outils")
	all := b.texts(results)
	// Responses to searches, of which slow typing makes several, arrive when the test says
	// so, or fail when they are cancelled.
	eval[chromedp.Void](b, `(() => {
		const real = window.fetch;
		window.fetch = (href, options) => !new URL(href, location.href).searchParams.get("q") ? real(href, options) :
			new Promise((resolve, reject) => {
				window.answer = () => resolve(real(href));
				options.signal.addEventListener("abort", () => reject(options.signal.reason));
			});
	})()`)
	const busy = `!!document.querySelector("[data-results][aria-busy]")`
	b.do(chromedp.SendKeys(field("q"), "babi"))
	b.await(busy)
	b.do(chromedp.SendKeys(field("q"), strings.Repeat(kb.Backspace, 4)))
	b.await("!" + busy)
	eval[chromedp.Void](b, `window.answer(); void 0`)
	b.at("/outils", "Les outils")
	if names := b.texts(results); !slices.Equal(names, all) {
		t.Errorf("without a search the list is %q", names)
	}
}

func TestFiltersAcceptDecimalCommas(t *testing.T) {
	t.Parallel()
	for _, scripts := range []bool{true, false} {
		t.Run(fmt.Sprintf("scripts %v", scripts), func(t *testing.T) {
			t.Parallel()
			b := newTab(t, desktop)
			if !scripts {
				b.withoutScripts()
			}
			b.goTo("/outils?score_min=7.5")
			want := b.texts(results)
			b.goTo("/outils")
			if scripts {
				b.do(chromedp.SendKeys(field("score_min"), "7,5"))
				b.await(`location.search === "?score_min=7.5" && !document.querySelector("[aria-busy]")`)
			} else {
				b.leave(chromedp.SendKeys(field("score_min"), "7,5"), chromedp.Click(chromedp.CSS("form[data-live] button")))
			}
			if names := b.texts(results); len(names) == 0 || !slices.Equal(names, want) {
				t.Errorf("7,5 lists %q, 7.5 %q", names, want)
			}
		})
	}
}

// The address of a ranking by weights is all that it needs: sliders, a form without scripts and the
// address alone lead to the same one.
func TestWeightsRankAlikeWithAndWithoutScripts(t *testing.T) {
	t.Parallel()
	const ranked = "table:has(th:nth-child(2) [href$='latence:3,memoire:1#page.outils']) th[scope=row] > a"
	const address = "/categories/chat?poids=latence:3,memoire:1"
	with, without, later := newTab(t, phone), newTab(t, desktop), newTab(t, desktop)
	with.goTo("/categories/chat")
	with.do(chromedp.Click(chromedp.CSS(".weigh summary")))
	for _, weight := range []string{"latence", "memoire"} {
		with.do(chromedp.Focus(chromedp.CSS("[name=poids-"+weight+"][type=range]")), chromedp.KeyEvent(kb.ArrowRight))
	}
	with.do(chromedp.Focus(chromedp.CSS("[name=poids-latence]")), chromedp.KeyEvent(kb.ArrowRight+kb.ArrowRight))
	with.await(`location.pathname + location.search === "` + address + `" && document.querySelectorAll("` + ranked + `").length > 0`)
	with.isAccessible("weights on a phone")
	want := with.texts(ranked)
	if said := with.text("[data-tally]"); len(want) < 5 || !strings.Contains(said, "Premier mot × 3, Longues conversations × 1") {
		t.Errorf("%q, said to be by %q", want, said)
	}
	without.withoutScripts()
	without.goTo("/categories/chat")
	without.do(chromedp.Click(chromedp.CSS(".weigh summary")), chromedp.SetValue(chromedp.CSS("[name=poids-latence][type=number]"), "3"), chromedp.SetValue(chromedp.CSS("[name=poids-memoire]"), "1"))
	without.follow("form[data-live] button")
	without.at(address, "Assistants de conversation")
	without.lists(ranked, want...)
	later.goTo(address)
	later.lists(ranked, want...)
	with.do(chromedp.Click(chromedp.CSS("a[data-clear]")))
	with.await(`location.search === "" && !document.querySelector("` + ranked + `") && document.querySelector("[name=poids-latence]").value === "0"`)
	eval[chromedp.Void](with, `history.back(); void 0`)
	with.await(`location.search !== "" && document.querySelector("` + ranked + `") && document.querySelector("[name=poids-latence]").value === "3"`)
	with.lists(ranked, want...)
}

func TestPagesSayTheSameWithoutScripts(t *testing.T) {
	t.Parallel()
	with, without := newTab(t, desktop), newTab(t, desktop)
	without.withoutScripts()
	const words = `:is(h1, h2, h3, p, dt, dd, th, td, li, pre)`
	for _, p := range kinds {
		with.open(p)
		without.open(p)
		said := without.texts("main " + words)
		if len(strings.Join(said, " ")) < 150 {
			t.Errorf("%s says no more than %q without scripts", p.path, said)
		}
		eval[chromedp.Void](with, `document.querySelectorAll("button[data-copy]").forEach(b => b.remove())`)
		for _, text := range with.texts("main " + words) {
			if !slices.Contains(said, text) {
				t.Errorf("%s says only with scripts: %q", p.path, text)
			}
		}
		// Every page has a search field or a link to one.
		if !eval[bool](without, `!!document.querySelector('form[action="/outils"] input[name=q], .menu a[href="/outils"]')`) {
			t.Errorf("%s: no way to search", p.path)
		}
	}
}

func subset(few, all []string) bool {
	return !slices.ContainsFunc(few, func(name string) bool { return !slices.Contains(all, name) })
}

// formValues returns the names and values of the form in order.
func formValues(b *tab) string {
	b.t.Helper()
	return eval[string](b, `[...document.querySelectorAll("form[data-live] [name]")].map(e => e.name + "=" + e.value).join(" ")`)
}
