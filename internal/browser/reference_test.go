package browser_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// A trial is the form of the reference page that calls one operation.
type trial struct {
	b    *tab
	form string
}

// unfold shows the trial of an operation.
func unfold(b *tab, path string) trial {
	b.t.Helper()
	form := fmt.Sprintf("form[data-try=%q]", path)
	b.do(chromedp.Click(chromedp.CSS(fmt.Sprintf("details:has(> %s) > summary", form))))
	return trial{b, form}
}

// control selects a field of the form.
func (c trial) control(selector string) chromedp.CSS { return chromedp.CSS(c.form + " " + selector) }

// sends submits the form, waits for a status and returns the body.
func (c trial) sends(status string) string {
	c.b.t.Helper()
	c.b.do(chromedp.Click(c.control("button")))
	c.b.await(fmt.Sprintf(`document.querySelector('details:has(> %s) [data-status]').innerText.startsWith(%q)`, c.form, status))
	return c.shown("body")
}

// shown returns the text of a part of the answer.
func (c trial) shown(part string) string {
	c.b.t.Helper()
	return eval[string](c.b, fmt.Sprintf(`document.querySelector('details:has(> %s) [data-%s]').innerText`, c.form, part))
}

func TestACallIsTriedOnTheReferencePage(t *testing.T) {
	t.Parallel()
	for _, s := range []screen{phone, desktop} {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			b := newTab(t, s)
			b.goTo("/docs/outils")

			list := unfold(b, "/api/v1/tools")
			b.do(chromedp.SetValue(list.control("[name=limit]"), "2"), chromedp.SetValue(list.control("[name=category]"), "voix"),
				chromedp.Clear(list.control("[name=score_min]")))
			var tools struct {
				Data []struct{ Category string }
			}
			if err := json.Unmarshal([]byte(list.sends("200 ")), &tools); err != nil || len(tools.Data) != 2 || tools.Data[0].Category != "voix" {
				t.Errorf("two tools of a category: %+v, %v", tools, err)
			}
			if line := list.shown("curl"); !strings.Contains(line, kit.url+"/api/v1/tools?") || !strings.Contains(line, "limit=2") {
				t.Errorf("the line to copy is %s", line)
			}

			b.do(chromedp.SendKeys(list.control("[name=score_min]"), "7,5"))
			list.sends("200 ")
			if line := list.shown("curl"); !strings.Contains(line, "score_min=7.5") {
				t.Errorf("with a comma, the line to copy is %s", line)
			}

			one := unfold(b, "/api/v1/tools/{slug}")
			b.do(chromedp.SetValue(one.control("[name=slug]"), "babilune"))
			if body := one.sends("200 "); !strings.Contains(body, `"Babilune"`) {
				t.Errorf("one tool: %s", body)
			}
			b.do(chromedp.SetValue(one.control("[name=slug]"), "jamais-vu"))
			b.watch.forgive(kit.url + "/api/v1/tools/jamais-vu")
			if body := one.sends("404 "); !strings.Contains(body, `"code"`) {
				t.Errorf("a tool that does not exist: %s", body)
			}

			// Every operation has a trial.
			if operations, trials := len(b.texts("section.operation")), len(b.texts("form[data-try]")); trials != operations || trials != 2 {
				t.Errorf("%d operations, %d trials", operations, trials)
			}
		})
	}
}

func TestALanguageChosenOnceIsShownEverywhere(t *testing.T) {
	t.Parallel()
	b := newTab(t, desktop)
	b.goTo("/docs/outils")
	b.do(chromedp.Click(chromedp.CSS("[data-samples] details:nth-child(3) > summary")))
	const open = `[...document.querySelectorAll("[data-samples]")].map(s => [...s.querySelectorAll("details[open] > summary")].map(e => e.innerText).join())`
	b.await(`new Set(` + open + `).size === 1 && ` + open + `[0] === "Python"`)
}
