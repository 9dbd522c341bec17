package content

import (
	"fmt"
	"strings"
	"testing"

	"palmares/internal/catalog"
)

func TestThemesAndAffiliateLinksSayWhatIsWrong(t *testing.T) {
	const (
		colour    = ` must be a colour such as "#7a1f3d", a # and six hexadecimal digits, in quotes, not `
		hard      = ", or on it, is hard to read: its contrast is below 4.5:1; the nearest colour that passes is "
		explain   = "affiliate_url needs a page that tells visitors about such links; write and publish pages/transparence.md"
		affiliate = "---\n" + someFields + "affiliate_url: https://boreal.example/?partenaire=essai\n---\n"
		page      = "---\ntitle: Transparence\n"
	)
	for _, c := range []struct {
		settings, tool, page string
		want                 string // the problem after its line
	}{
		{`theme: {accent: "#7A1F3D"}`, "", "", ""},
		{`theme: {accent_dark: "#e08aa5", font: sans}`, "", "", ""},
		{`theme: {accent: rouge}`, "", "", "6: accent in theme" + colour + `"rouge"`},
		{`theme: {accent: "#7a1"}`, "", "", "6: accent in theme" + colour + `"#7a1"`},
		{`theme: {accent: 123456}`, "", "", `6: accent in theme must be a colour such as "#7a1f3d", a # and six hexadecimal digits, in quotes, not the number 123456`},
		{"theme:\n  accent: #7a1f3d", "", "", `7: what follows # is a comment; put a colour in quotes, such as "#7a1f3d"`},
		{"theme: {accent: #7a1f3d, font: sans}", "", "", `6: what follows # is a comment; put a colour in quotes, such as "#7a1f3d"`},
		{"theme:\n  accent: # later", "", "", ""},
		{`theme: {accent: "#ffcc00"}`, "", "", "6: accent in theme: text in #ffcc00" + hard + "#806700"},
		{`theme: {accent_dark: "#7a1f3d"}`, "", "", "6: accent_dark in theme: text in #7a1f3d" + hard + "#ae7789"},
		{`theme: {font: comic}`, "", "", `6: font in theme must be serif or sans, not "comic"`},
		{`labels: {icp: hide, verifiability: Preuves, vibe-coder: Curieux}`, "", "", ""},
		{`labels: {icp: Public}`, "", "", `6: icp in labels must be show or hide, not "Public"`},
		{"", affiliate, "", "9: " + explain},
		{"", affiliate, page + "draft: true\n---\n", "9: " + explain},
		{"", affiliate, page + "unpublish_at: 2030-01-01\n---\n", "9: " + explain + " (from 2029-12-31T23:00:00Z on)"},
		{"", affiliate, page + "---\n", ""},
		{"", "---\n" + someFields + "draft: true\naffiliate_url: https://a.example\n---\n", "", ""},
		{"", "---\n" + someFields + "affiliate_url: a.example\n---\n", "", "9: affiliate_url must be an absolute http or https URL, such as https://outil.example/page, without a fragment (#…), not \"a.example\""},
	} {
		files := map[string]string{catalog.SettingsFile: someCatalogue + c.settings + "\n"}
		if c.tool != "" {
			files["outils/boreal.md"] = c.tool
		}
		if c.page != "" {
			files["pages/transparence.md"] = c.page
		}
		r := readAll(t, folderOf(files), Options{})
		wantFrench(t, r)
		var got []string
		for _, p := range r.Problems {
			got = append(got, fmt.Sprintf("%d: %s", p.Line, p.Text))
		}
		if strings.Join(got, "\n") != c.want {
			t.Errorf("%s%s%s:\n%s\nwant\n%s", c.settings, c.tool, c.page, got, c.want)
		}
	}
}
