package content

import (
	"palmares/internal/catalog"
	"palmares/internal/theme"
)

func isColour(s string) bool {
	_, ok := theme.Parse(s)
	return ok
}

// checkTheme reports colours in which text is hard to read.
func (d *decoder) checkTheme(t *catalog.Theme) {
	for _, check := range []struct {
		field, given string
		mode         *theme.Mode
	}{{"accent", t.Accent, &theme.Light}, {"accent_dark", t.AccentDark, &theme.Dark}} {
		if c, ok := theme.Parse(check.given); ok && check.mode.Contrast(c) < theme.MinContrast {
			d.report(d.lineOf(check.field), "hard-to-read", d.label(check.field), c, check.mode.Nearest(c))
		}
	}
}

// checkAffiliates checks that a page tells visitors about affiliate links, if there are any.
func (f *folder) checkAffiliates(x index) {
	page, known := x[catalog.PageKind][catalog.TransparencyPage]
	if known && !page.by.isHidden && !page.by.isDraft() {
		return
	}
	for _, r := range f.present() {
		if r.tool() != nil && r.affiliateLine > 0 && !r.isDraft() {
			f.problem(r.file, r.affiliateLine, "affiliate-without-page", catalog.TransparencyPage)
			return // one page is enough for all
		}
	}
}
