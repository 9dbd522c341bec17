package theme

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"palmares/internal/catalog"
)

var (
	variable   = regexp.MustCompile(`--([a-z-]+):(#[0-9a-f]+)`)
	ruleText   = regexp.MustCompile(`([^{}]+)\{([^{}]*)\}`)
	foreground = regexp.MustCompile(`(?:^|;)color:var\(--([a-z-]+)\)`)
	background = regexp.MustCompile(`(?:^|;)background:(?:var\(--([a-z-]+)\)|color-mix\(in srgb,var\(--([a-z-]+)\) 88%,var\(--([a-z-]+)\)\))`)
)

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// declarations returns where the style sheet declares the colours of both modes.
func declarations(t *testing.T) (light, dark string) {
	t.Helper()
	head, _, _ := strings.Cut(read(t, "../site/static/site.css"), "*,::before")
	light, dark, _ = strings.Cut(head, "@media")
	return light, dark
}

// variables adds the colours that a text declares, by name.
func variables(text string, into map[string]Colour) {
	for _, m := range variable.FindAllStringSubmatch(text, -1) {
		value := m[2]
		if len(value) == 4 {
			value = "#" + strings.Repeat(value[1:2], 2) + strings.Repeat(value[2:3], 2) + strings.Repeat(value[3:4], 2)
		}
		into[m[1]], _ = Parse(value)
	}
}

// A pair is text on a surface, by variables. Of a mixed surface, 12 parts of 100 are of another one.
type pair struct{ text, surface, mixed string }

// pairs returns all pairs of the style sheets: those of one rule, and every text without a surface of
// its own on every surface without a text of its own.
func pairs(css string) map[pair]string {
	found, texts, surfaces := map[pair]string{}, map[string]bool{"ink": true}, map[string]bool{"paper": true}
	for _, rule := range ruleText.FindAllStringSubmatch(css, -1) {
		text, surface := foreground.FindStringSubmatch(rule[2]), background.FindStringSubmatch(rule[2])
		switch {
		case text != nil && surface != nil:
			found[pair{text[1], surface[1] + surface[2], surface[3]}] = rule[1]
		case text != nil && text[1] != "on-accent":
			texts[text[1]] = true
		case surface != nil && surface[1] != "accent" && surface[1] != "ink":
			surfaces[surface[1]] = true
		case surface != nil && !strings.Contains(rule[2], `content:""`) && surface[1] == "accent":
			found[pair{"on-accent", "accent", ""}] = rule[1]
		}
	}
	for text := range texts {
		for surface := range surfaces {
			found[pair{text, surface, ""}] = text + " on " + surface
		}
	}
	return found
}

// Every text of the style sheets is compared with every surface that it can be on, in 500 themes.
func TestWhateverAccentIsAcceptedCanBeReadEverywhere(t *testing.T) {
	var css string
	files, err := filepath.Glob("../*/static/*.css")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if filepath.Base(file) != "print.css" {
			css += read(t, file)
		}
	}
	all := pairs(css)
	if _, ok := all[pair{"accent", "tint", ""}]; !ok || len(all) < 11 {
		t.Fatalf("the style sheets have only the pairs %v", all)
	}
	light, dark := declarations(t)
	r := rand.New(rand.NewPCG(40, 3))
	refused := 0
	for range 500 {
		var given [2]Colour
		for i := range given {
			given[i] = Colour{uint8(r.IntN(256)), uint8(r.IntN(256)), uint8(r.IntN(256))}
		}
		shades := [2]Colour{Light.Nearest(given[0]), Dark.Nearest(given[1])}
		for i, m := range []*Mode{&Light, &Dark} {
			if (shades[i] == given[i]) != (m.Contrast(given[i]) >= MinContrast) || m.Contrast(shades[i]) < MinContrast {
				t.Errorf("for %s, %s is proposed", given[i], shades[i])
			}
			if shades[i] != given[i] {
				refused++
			}
		}
		for _, chosen := range []catalog.Theme{{Accent: shades[0].String()}, {Accent: shades[0].String(), AccentDark: shades[1].String()}} {
			own := Of(&catalog.Settings{Theme: []catalog.Theme{chosen}})
			day, night, _ := strings.Cut(own.CSS(), "@media")
			night, _, _ = strings.Cut(night, "@media print")
			for _, declared := range [][]string{{light, day}, {light, dark, night}} {
				colours := map[string]Colour{}
				for _, text := range declared {
					variables(text, colours)
				}
				for p, where := range all {
					surface := colours[p.surface]
					if p.mixed != "" {
						surface = surface.mix(colours[p.mixed], 0.12)
					}
					if c := Contrast(colours[p.text], surface); c < MinContrast {
						t.Errorf("accent %s, %s: %s on %s is %.2f at %s", own.Accent, own.Dark, p.text, p.surface, c, where)
					}
				}
			}
		}
	}
	if refused < 100 || refused > 900 {
		t.Errorf("%d of 1000 colours are refused", refused)
	}
}

func TestTheModesAreThoseOfTheStyleSheet(t *testing.T) {
	light, dark := declarations(t)
	for _, c := range []struct {
		declared string
		mode     *Mode
		accent   Colour
	}{{light, &Light, Default.Accent}, {dark, &Dark, Default.Dark}} {
		colours := map[string]Colour{}
		variables(c.declared, colours)
		if c.mode.paper != colours["paper"] || c.mode.raised != colours["raised"] || c.accent != colours["accent"] {
			t.Errorf("the style sheet has %v, the mode is %v", colours, c.mode)
		}
		if Contrast(colours["accent"], colours["paper"]) < MinContrast {
			t.Error("the default accent cannot be read")
		}
	}
}

// An accent may be any colour that can be read, that of the text included.
func TestGradesDifferInMoreThanColours(t *testing.T) {
	form := regexp.MustCompile(`background:|border-radius:[^;]+|dashed`)
	seen := map[string]string{}
	for _, rule := range ruleText.FindAllStringSubmatch(read(t, "../site/static/site.css"), -1) {
		name := strings.TrimSpace(rule[1])
		switch name {
		case ".ring", ".note-high", ".note-low", ".note-none":
			is := strings.Join(form.FindAllString(rule[2], -1), " ")
			if other, ok := seen[is]; ok {
				t.Errorf("%s and %s are both %q", name, other, is)
			}
			seen[is] = name
		}
	}
	if len(seen) != 4 {
		t.Errorf("the style sheet has only %v", seen)
	}
}
