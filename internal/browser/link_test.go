package browser_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

func TestMenusLeadWhereTheySay(t *testing.T) {
	t.Parallel()
	b := newTab(t, desktop)
	b.goTo("/")
	for _, link := range []struct{ menu, path, heading string }{
		{".menu", "/outils", "Les outils"},
		{".menu", "/comparatifs", "Comparatifs"},
		{".menu", "/prix", "Prix"},
		{".menu", "/carte", "La carte"},
		{".menu", "/cimetiere", "Cimetière"},
		{".menu", "/docs", "Documentation"},
		{".foot", "/tarifs", "Tarifs"},
		{".foot", "/licence", "Licence"},
		{".foot", "/confidentialite", "Confidentialité"},
		{".masthead", "/", "Les outils d’IA"},
	} {
		b.follow(fmt.Sprintf(`%s a[href=%q]`, link.menu, link.path))
		b.at(link.path, link.heading)
	}
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
