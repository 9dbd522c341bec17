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
	tally   = "[data-tally]" // how many there are, for readers who do not see
)

// field is a control of the form that filters a list.
func field(name string) chromedp.CSS {
	return chromedp.CSS(fmt.Sprintf("form[data-live] [name=%s]", name))
}

func TestSearchForgivesATypoAndAMissingAccent(t *testing.T) {
	t.Parallel()
	for _, scripts := range []bool{true, false} {
		t.Run(fmt.Sprintf("scripts %v", scripts), func(t *testing.T) {
			t.Parallel()
			b := newTab(t, phone)
			if !scripts {
				b.withoutScripts()
			}
			b.goTo("/")
			b.leave(chromedp.SendKeys(chromedp.CSS("main input[type=search]"), "etalonier"+kb.Enter))
			b.at("/outils?q=etalonier", "Recherche")
			if names := b.texts(results); len(names) == 0 || names[0] != "Étalonnier" {
				t.Fatalf("etalonier finds %q", names)
			}
			b.follow(results + " a")
			b.at("/outils/etalonnier", "Étalonnier")
		})
	}
}

func TestFiltersAnswerWithoutReloading(t *testing.T) {
	t.Parallel()
	b := newTab(t, desktop)
	b.goTo("/outils")
	all := b.texts(results)
	// A reload would lose what a script wrote on the window; a new element for
	// the tally would not be read out.
	eval[chromedp.Void](b, `window.mine = document.querySelector("[data-tally]").mine = "still here"; void 0`)
	// step waits for an address, hears the tally (N is the length of the list),
	// and gives the list.
	step := func(address, said string) []string {
		t.Helper()
		b.await(fmt.Sprintf(`location.pathname + location.search === %q && !document.querySelector("[aria-busy=true]")`, address))
		if kept := eval[string](b, `window.mine + " and " + document.querySelector("[data-tally][role=status]").mine`); kept != "still here and still here" {
			t.Fatalf("%s: the page was reloaded, or its tally replaced (%s)", address, kept)
		}
		names := b.texts(results)
		if got, want := b.text(tally), strings.Replace(said, "N", strconv.Itoa(len(names)), 1); got != want {
			t.Errorf("%s: the tally says %q, not %q", address, got, want)
		}
		return names
	}

	b.do(chromedp.SetValue(field("category"), "code"))
	code := step("/outils?category=code", "9 outils")
	if len(code) != 9 {
		t.Errorf("the category lists %q", code)
	}
	b.do(chromedp.SendKeys(field("score_min"), "7"))
	good := step("/outils?category=code&score_min=7", "N outils")
	if len(good) == 0 || len(good) >= len(code) || !subset(good, code) {
		t.Errorf("of %q, %q have 7 or more", code, good)
	}
	for _, score := range b.texts(".row .note") {
		if v, err := strconv.ParseFloat(strings.Replace(strings.Fields(score)[0], ",", ".", 1), 64); err != nil || v < 7 {
			t.Errorf("a tool with %q is among those with 7 or more", score)
		}
	}
	b.do(chromedp.SetValue(field("sort"), "name_desc"))
	backwards := step("/outils?category=code&score_min=7&sort=name_desc", "N outils")
	if slices.Equal(backwards, good) || !subset(backwards, good) || backwards[0] < backwards[len(backwards)-1] {
		t.Errorf("from Z to A: %q", backwards)
	}
	b.do(chromedp.Click(chromedp.CSS("a[data-clear]")))
	if names := step("/outils", "66 outils, page 1 sur 2"); !slices.Equal(names, all) {
		t.Errorf("without filters the list is %q", names)
	}
	b.do(chromedp.Click(chromedp.CSS("[data-pager] a[rel=next]")))
	second := step("/outils?page=2", "66 outils, page 2 sur 2")
	if len(second) != 16 || slices.Contains(all, second[0]) {
		t.Errorf("page 2 is %q", second)
	}
	b.do(chromedp.SendKeys(field("q"), "cordee"))
	if names := step("/outils?q=cordee", "N outil pour « cordee »"); len(names) == 0 || names[0] != "Cordée Libre" {
		t.Errorf("cordee finds %q", names)
	}

	// Each choice is a step that going back undoes, in the list and in the form.
	back := func(address, said string, names []string) {
		t.Helper()
		eval[chromedp.Void](b, `history.back(); void 0`)
		if got := step(address, said); !slices.Equal(got, names) {
			t.Errorf("back at %s the list is %q", address, got)
		}
	}
	back("/outils?page=2", "66 outils, page 2 sur 2", second)
	back("/outils", "66 outils, page 1 sur 2", all)
	back("/outils?category=code&score_min=7&sort=name_desc", "N outils", backwards)
	if form := formValues(b); form != "q= category=code score_min=7 obsolescence_max= sort=name_desc" {
		t.Errorf("back, the form says %s", form)
	}
	back("/outils?category=code&score_min=7", "N outils", good)
	back("/outils?category=code", "9 outils", code)
	back("/outils", "66 outils, page 1 sur 2", all)
	if form := formValues(b); form != "q= category= score_min= obsolescence_max= sort=" {
		t.Errorf("back at the beginning, the form says %s", form)
	}
}

func TestFiltersShowTheLastChoiceEvenWhenItIsTheOneShown(t *testing.T) {
	t.Parallel()
	b := newTab(t, desktop)
	b.goTo("/outils")
	all := b.texts(results)
	// An answer that comes when the test says so, or never when nobody wants it.
	eval[chromedp.Void](b, `(() => {
		const real = window.fetch;
		window.fetch = (href, options) => new Promise((resolve, reject) => {
			window.fetch = real;
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

func TestFiltersTakeFiguresWithAComma(t *testing.T) {
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

func TestFiltersWorkWithoutScripts(t *testing.T) {
	t.Parallel()
	b := newTab(t, desktop)
	b.withoutScripts()
	b.goTo("/outils")
	submit := chromedp.Click(chromedp.CSS("form[data-live] button"))

	b.leave(chromedp.SetValue(field("category"), "code"), chromedp.SendKeys(field("score_min"), "7"), submit)
	good := b.texts(results)
	if said := b.text(tally); len(good) == 0 || said != fmt.Sprintf("%d outils", len(good)) {
		t.Errorf("%q for %q", said, good)
	}
	if form := formValues(b); form != "q= category=code score_min=7 obsolescence_max= sort=" {
		t.Errorf("the form forgets what was chosen: %s", form)
	}
	b.leave(chromedp.SetValue(field("sort"), "name_desc"), submit)
	if backwards := b.texts(results); slices.Equal(backwards, good) || !subset(backwards, good) {
		t.Errorf("from Z to A: %q", backwards)
	}
	b.follow("a[data-clear]")
	b.at("/outils", "Les outils")
	b.follow("[data-pager] a[rel=next]")
	b.at("/outils?page=2", "Les outils")
	if second := b.texts(results); len(second) != 16 {
		t.Errorf("page 2 is %q", second)
	}
	b.leave(chromedp.SendKeys(field("q"), "cordee"), submit)
	if names := b.texts(results); len(names) == 0 || names[0] != "Cordée Libre" {
		t.Errorf("cordee finds %q", names)
	}
	b.back()
	b.at("/outils?page=2", "Les outils")

	for _, list := range []string{"/comparatifs", "/prix", "/cimetiere"} {
		b.goTo(list)
		before := b.text(tally)
		b.leave(chromedp.SetValue(field("category"), "code"), submit)
		if after := b.text(tally); after == before || strings.HasPrefix(after, "Aucun") {
			t.Errorf("%s: %q, filtered %q", list, before, after)
		}
	}
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
		// From anywhere a search is one link or one field away.
		if !eval[bool](without, `!!document.querySelector('form[action="/outils"] input[name=q], .menu a[href="/outils"]')`) {
			t.Errorf("%s: no way to search", p.path)
		}
	}
}

func subset(few, all []string) bool {
	return !slices.ContainsFunc(few, func(name string) bool { return !slices.Contains(all, name) })
}

// formValues gives what the form says, in its order.
func formValues(b *tab) string {
	b.t.Helper()
	return eval[string](b, `[...document.querySelectorAll("form[data-live] [name]")].map(e => e.name + "=" + e.value).join(" ")`)
}
