package browser_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

func TestEveryKindOfLinkLeadsWhereItSays(t *testing.T) {
	t.Parallel()
	b := newTab(t, desktop)
	b.goTo("/")

	// From a tool to its review, alternatives, category and comparison.
	name := b.text(".ranks h3")
	b.follow(".ranks h3 a")
	tool := strings.TrimPrefix(b.lastURL(), kit.url+"/outils/")
	b.at("/outils/"+tool, name)
	b.follow(`main a[href^="/avis/"]`)
	b.at("/avis/"+tool, name)
	b.follow(fmt.Sprintf(`main a[href="/alternatives/%s"]`, tool))
	b.at("/alternatives/"+tool, "Alternatives à "+name)
	b.follow(`.crumbs a[href^="/categories/"]`)
	category := b.text("h1")
	if !strings.HasPrefix(b.lastURL(), kit.url+"/categories/") || category == "" {
		t.Errorf("the category is %s, %q", b.lastURL(), category)
	}
	b.follow(`main a[href^="/comparatifs/"]`)
	if !strings.HasPrefix(b.lastURL(), kit.url+"/comparatifs/") {
		t.Errorf("the comparison is %s", b.lastURL())
	}
	winner := b.text(".verdict-name")
	if names := b.texts("thead th a"); len(names) != 2 || !strings.Contains(strings.Join(names, " "), strings.TrimSpace(winner)) {
		t.Errorf("the winner %q is none of %q", winner, names)
	}
	b.follow(".crumbs a")
	b.at("/comparatifs", "Comparatifs")

	// Through the menus of every page.
	for _, link := range []struct{ menu, path, heading string }{
		{".menu", "/outils", "Les outils"},
		{".menu", "/comparatifs", "Comparatifs"},
		{".menu", "/prix", "Prix"},
		{".menu", "/carte", "La carte"},
		{".menu", "/cimetiere", "Cimetière"},
		{".menu", "/docs", "Documentation"},
		{".foot", "/tendances", "Tendances"},
		{".foot", "/tarifs", "Tarifs"},
		{".foot", "/licence", "Licence"},
		{".foot", "/confidentialite", "Confidentialité"},
		{".masthead", "/", "Les outils d’IA"},
	} {
		b.follow(fmt.Sprintf(`%s a[href=%q]`, link.menu, link.path))
		b.at(link.path, link.heading)
	}

	// From a price to its tool, and from an old name to the new one.
	b.goTo("/prix")
	name = b.text(".prices tbody th")
	b.follow(".prices tbody th a")
	if b.text("h1") != name {
		t.Errorf("the price of %s leads to %s", name, b.text("h1"))
	}
	b.goTo("/avis/cordee")
	b.at("/avis/cordee-libre", "Cordée Libre")
}

func TestContentsLeadToTheirSections(t *testing.T) {
	t.Parallel()
	for _, s := range []screen{phone, desktop} {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			b := newTab(t, s)
			for _, path := range []string{"/avis/babilune", "/docs"} {
				b.goTo(path)
				sections := eval[[]string](b, `[...document.querySelectorAll(".toc a")].map(a => decodeURIComponent(a.hash.slice(1)))`)
				if len(sections) < 5 {
					t.Fatalf("the contents of %s are %q", path, sections)
				}
				for i, id := range sections {
					// With the keyboard: the table of contents is sticky, and a mouse click
					// would have to wait until it stops moving.
					b.do(chromedp.Focus(chromedp.CSS(fmt.Sprintf(".toc li:nth-child(%d) a", i+1))), chromedp.KeyEvent(kb.Enter))
					b.await(fmt.Sprintf(`decodeURIComponent(location.hash) === "#" + %q`, id))
					b.sees(id)
				}
				// From another page too.
				last := sections[len(sections)-1]
				b.goTo("/licence")
				b.goTo(path + "#" + last)
				b.sees(last)
			}
		})
	}
}

func TestARetiredToolLeadsToItsNotice(t *testing.T) {
	t.Parallel()
	b := newTab(t, phone)
	b.goTo("/categories/code")
	b.follow(`main a[href^="/cimetiere/"]`)
	b.goTo("/cimetiere#storyplanche")
	b.sees("storyplanche")
	b.follow("#storyplanche h3 a")
	b.at("/cimetiere/storyplanche", "Storyplanche")
	b.goTo("/outils/storyplanche")
	b.at("/cimetiere/storyplanche", "Storyplanche")
	b.follow("main .more a")
	b.at("/outils/travelling-24", "Travelling 24")
}

func TestCopyButtonsReportTheResultAndReturnToTheirLabel(t *testing.T) {
	t.Parallel()
	b := newTab(t, desktop)
	b.goTo("/docs")
	eval[chromedp.Void](b, `(() => {
		window.button = document.querySelector("button[data-copy]:has(.sr)");
		window.before = [button.textContent, button.offsetWidth];
		window.announced = () => [...document.querySelectorAll("body > [role=status]")].map(e => e.textContent).filter(Boolean).join();
	})()`)
	for outcome, copying := range map[string]string{"Copié": `Promise.resolve()`, "Copie refusée": `Promise.reject(new DOMException("no", "NotAllowedError"))`} {
		eval[chromedp.Void](b, fmt.Sprintf(`(() => {
			navigator.clipboard.writeText = () => %s;
			button.click();
			button.click();
		})()`, copying))
		b.await(fmt.Sprintf(`button.firstChild.data === %q && window.announced() === %[1]q && !!button.querySelector(".sr") && button.offsetWidth >= before[1]`, outcome))
		b.await(`button.textContent === before[0] && button.offsetWidth === before[1] && window.announced() === ""`)
	}
}

func TestTheCreditLineIsCopied(t *testing.T) {
	t.Parallel()
	b := openTab(t, wholeBrowser, desktop, kit.url)
	b.goTo("/licence")
	line := b.text("#page\\.credit")
	b.do(chromedp.Click(chromedp.CSS("[data-copy]")))
	b.await(`document.querySelector("[data-copy]").innerText === "Copié"`)
	b.goTo("/outils")
	paste := func(p *input.DispatchKeyEventParams) { p.Commands = []string{"paste"} }
	b.do(chromedp.Focus(field("q")), chromedp.KeyEvent("v", chromedp.KeyModifiers(kb.ModifierCtrl), paste))
	b.await(`document.activeElement.value !== ""`)
	if got := get(b, chromedp.Value(field("q"))); strings.ReplaceAll(got, "\u00a0", " ") != line || !strings.Contains(line, "Palmarès") {
		t.Errorf("copied %q, want %q", got, line)
	}
}
