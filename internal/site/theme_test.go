package site_test

import (
	"bytes"
	"image/color"
	"image/png"
	"regexp"
	"strings"
	"testing"

	"palmares/internal/catalog"
)

// everyKind are pages of the small catalogue, of every kind that says something about tools.
var everyKind = []string{
	"/", "/outils", "/outils.md", "/outils/abeille", "/outils/abeille.md", "/outils/bourdon", "/avis/abeille", "/avis/abeille.md", "/alternatives/abeille",
	"/alternatives/abeille.md", "/categories/chat", "/comparatifs", "/comparatifs/abeille-vs-bourdon", "/comparatifs/abeille-vs-bourdon.md",
	"/comparer?outils=abeille,bourdon", "/comparer.md?outils=abeille,bourdon", "/prix", "/carte", "/flux.atom", "/llms.txt",
}

func TestAThemeColoursPagesIconsAndPictures(t *testing.T) {
	c := small()
	v := open(t, c)
	plain := v.get("/outils/abeille").ok().saysNot("theme")

	red := color.RGBA{0x7a, 0x1f, 0x3d, 0xff}
	c.Settings.Theme = []catalog.Theme{{Accent: "#7a1f3d", AccentDark: "#e08aa5", Font: catalog.FontSans}}
	v.publish(c, 2)
	page := v.get("/outils/abeille").ok().says(
		`<meta name="theme-color" content="#7a1f3d" media="(prefers-color-scheme: light)">`, `<meta name="theme-color" content="#e08aa5" media="(prefers-color-scheme: dark)">`)
	page.is("Content-Security-Policy", plain.header.Get("Content-Security-Policy"))
	find := func(pattern string) string {
		m := regexp.MustCompile(pattern).FindStringSubmatch(page.body)
		if m == nil {
			t.Fatalf("the page does not match %s", pattern)
		}
		return m[1]
	}
	sheet, icon := find(`href="(/static/theme[^"]+)"`), find(`rel="icon" href="([^"]+)"`)
	const year = "public, max-age=31536000, immutable"
	v.get(sheet).ok().is("Cache-Control", year).is("Content-Type", "text/css; charset=utf-8").says("--accent:#7a1f3d", "--accent:#e08aa5", "--serif:var(--sans)")
	v.get(icon).ok().is("Cache-Control", year).is("Content-Type", "image/svg+xml").says("g{color:#7a1f3d}", "g{color:#e08aa5}")
	for _, path := range []string{find(`property="og:image" content="https://essai.example([^"]+)"`), "/apple-touch-icon.png"} {
		img, err := png.Decode(bytes.NewReader([]byte(v.get(path).ok().body)))
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for y := range img.Bounds().Dy() {
			for x := 0; x < img.Bounds().Dx() && !found; x++ {
				found = color.RGBAModel.Convert(img.At(x, y)) == red
			}
		}
		if !found {
			t.Errorf("%s has nothing in the accent", path)
		}
	}
	// Pages that caches keep refer to files of former versions; invented names have none.
	c.Settings.Theme = nil
	v.publish(c, 3)
	v.get(sheet).ok().says("--accent:#7a1f3d")
	v.get(strings.Replace(sheet, "7a1f3d", "7a1f3e", 1)).answers(404)
	if v.get("/outils/abeille").ok().body != plain.body {
		t.Error("a page without a theme depends on the one that it had")
	}
}

func TestPagesUseTheWordsOfThePublisher(t *testing.T) {
	c := small()
	c.Tools[0].Obsolescence, c.Tools[1].Obsolescence = number(2), number(6)
	c.Tools[0].ScoreHistory = []catalog.ScoreChange{{ChangedAt: "2026-09-01", OldVerifiability: number(7), NewVerifiability: number(9), OldObsolescence: number(3), NewObsolescence: number(2)}}
	ours := []string{"érifiab", "bsolescence", "vérifier", "Vibe coder", "vibe coder", "gentic engineer", "deux profils"}
	v := open(t, c)
	v.get("/comparatifs/abeille-vs-bourdon").ok().says("Vérifiabilité", `<span class="gauge-risk"><svg`, "Vibe coders et agentic engineers")
	v.get("/alternatives/bourdon").ok().says("Plus facile à vérifier (9,0 contre 5,0)", "Vise les deux profils")

	c.Settings.Labels = []catalog.Labels{{Verifiability: "Preuves", Obsolescence: "Usure", VibeCoder: "Curieux", AgenticEngineer: "Équipes"}}
	v.publish(c, 2)
	for _, path := range everyKind {
		page := v.get(path).ok()
		page.body = strings.ReplaceAll(page.body, "obsolescence_max", "")
		page.saysNot(ours...)
	}
	v.get("/outils/abeille").ok().says("<dt>Preuves</dt>", "<dt>Usure</dt>", "moins, c’est mieux", "Curieux et Équipes", "<th role=\"columnheader\" scope=\"col\">Usure</th>")
	v.get("/outils/abeille.md").ok().says("- Preuves\u00a0: 9,0/10", "- Usure\u00a0: 2,0/10", "- Pour qui\u00a0: Curieux et Équipes")
	v.get("/alternatives/bourdon").ok().says("Preuves (9,0 contre 5,0)", "Usure, où moins vaut mieux (2,0 contre 6,0)", "Pour qui\u00a0: Curieux et Équipes plutôt que Curieux")
	v.get("/outils").ok().says("Usure max.", ">Curieux\u00a0(1)<")
	for _, path := range []string{"/docs/outils", "/docs/outils.md"} {
		v.get(path).ok().says("Vérifiabilité («\u00a0Preuves\u00a0» sur ce site) sur 10", "Obsolescence («\u00a0Usure\u00a0» sur ce site) maximale", "(Curieux)", "(Équipes)").saysNot("sans écrire de code")
	}

	c.Settings.Labels = []catalog.Labels{{ICP: catalog.ICPHide}}
	v.publish(c, 3)
	for _, path := range everyKind {
		v.get(path).ok().saysNot("Pour qui", "ibe coder", "profils")
	}
}

func TestAffiliateLinksAreLabelledAndChangeNothingElse(t *testing.T) {
	c := small()
	v := open(t, c)
	others := append([]string{"/outils/bourdon.md", "/carte.md", "/prix.md"}, everyKind...)
	before := map[string]string{}
	for _, path := range others {
		before[path] = v.get(path).body
	}
	c.Tools[1].AffiliateURL = "https://regie.example/?vers=bourdon&par=essai"
	c.Pages = []catalog.Page{{Slug: "transparence", Title: "Transparence", Menu: catalog.MenuNone, Body: "Ce que nous gagnons."}}
	c.Tools[1].Body = ""
	v.publish(c, 2)
	page := v.get("/outils/bourdon").ok().says(
		`<a href="https://regie.example/?vers=bourdon&amp;par=essai" rel="sponsored nofollow noopener">bourdon.example</a> <a class="hint" href="/transparence">lien affilié, sans effet sur la note ni le classement</a>`).saysNot(`href="https://bourdon.example"`)
	if n := strings.Count(page.body, "regie.example"); n != 1 {
		t.Errorf("the page has %d affiliate addresses", n)
	}
	v.get("/outils/abeille").ok().says(`<a href="https://abeille.example" rel="noopener nofollow">`).saysNot("affilié")
	for _, path := range others {
		if path == "/outils/bourdon" || path == "/llms.txt" || path == "/flux.atom" { // which have the page, and the hash of the record
			continue
		}
		if v.get(path).body != before[path] {
			t.Errorf("%s changes with an affiliate link", path)
		}
	}
}

func TestSearchEnginesAndOtherSitesAreShownWhatThePublisherChose(t *testing.T) {
	c := magazine()
	c.Settings.ShareImage = "images/bureau.jpg"
	c.Tools[1].TitleTag, c.Tools[1].Description = "Bourdon : notre test", "Tout sur Bourdon."
	v, _ := openMagazine(t, c)
	v.get("/outils/bourdon").ok().says("<title>Bourdon\u00a0: notre test – Essai</title>", `<meta name="description" content="Tout sur Bourdon.">`, "<h1>Bourdon</h1>")
	v.get("/outils").ok().says(`<meta property="og:image" content="https://essai.example/media/`+hashOf("d")+`.jpg">`, `content="summary_large_image"`)
	v.get("/outils/bourdon").ok().saysNot(hashOf("d"))
}
