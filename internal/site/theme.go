package site

import (
	"cmp"
	"fmt"
	"image/color"
	"regexp"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/theme"
)

// pageTheme is a theme with the paths of its files.
type pageTheme struct {
	*theme.Theme
	Style, Icon string
}

// newTheme returns the theme of a catalogue; nil if its pages have the colours of the style sheet.
func newTheme(s *catalog.Settings) *pageTheme {
	t := theme.Of(s)
	if t == nil {
		return nil
	}
	style, _ := themed("theme", t)
	icon, _ := themed("icon", t)
	return &pageTheme{t, "/static/" + style, "/static/" + icon}
}

// accent returns the colour of pictures.
func (t *pageTheme) accent() color.RGBA {
	c := theme.Default.Accent
	if t != nil {
		c = t.Accent
	}
	return color.RGBA{c[0], c[1], c[2], 0xff}
}

// themed makes a file of a theme: its style sheet or its icon. The name says of which theme, so that
// every node has the files of every version.
func themed(kind string, t *theme.Theme) (name string, file *response) {
	text, ext := t.CSS(), ".css"
	if kind == "icon" {
		icon, err := staticFiles.ReadFile("static/icon.svg")
		if err != nil {
			panic(err) // it is embedded
		}
		ext = ".svg"
		text = strings.NewReplacer(theme.Default.Accent.String(), t.Accent.String(), theme.Default.Dark.String(), t.Dark.String()).Replace(string(icon))
	}
	file = newResponse(assetTypes[ext], []byte(text))
	file.cache = cacheYear
	return fmt.Sprintf("%s.%s.%s.%s.%x%s", kind, t.Accent.Hex(), t.Dark.Hex(), cmp.Or(t.Font, "serif"), file.digest[:6], ext), file
}

var themedName = regexp.MustCompile(`^(theme|icon)\.([0-9a-f]{6})\.([0-9a-f]{6})\.(serif|sans)\.`)

// themedAsset returns a file of any theme by its name, or nil. Only those of the theme of the pages are
// kept: anybody can invent others.
func (v *view) themedAsset(name string) *response {
	m := themedName.FindStringSubmatch(name)
	if m == nil {
		return nil
	}
	t := &theme.Theme{Font: strings.TrimPrefix(m[4], "serif")}
	t.Accent, _ = theme.Parse("#" + m[2])
	t.Dark, _ = theme.Parse("#" + m[3])
	own, file := themed(m[1], t)
	if own != name {
		return nil
	}
	file.passing = v.theme == nil || *v.theme.Theme != *t
	return file
}
