package sharecard

import (
	"bytes"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

var update = flag.Bool("update", false, "write the pictures in testdata")

var green = color.RGBA{0x0b, 0x5d, 0x45, 0xff}

var samples = map[string]Card{
	"tool": {
		Site: "Palmarès", Host: "palmares.example", Palm: true, Kicker: "Conversation", Title: "Babilune", Slug: "babilune",
		Text: "Un assistant posé, qui dit quand il ne sait pas", Scores: []Score{{Value: "8,4", Best: true}}, Accent: green,
	},
	"long": {
		Site: "Le guide des outils de bureau", Host: "guide.example", Kicker: "Notre avis", Title: "Bureau des colonnes infinies et des tableaux oubliés de l’administration",
		Text:   "Le tri des boîtes de réception partagées, efficace passé le premier mois, à condition que quelqu’un relise chaque matin ce que la machine a rangé",
		Scores: []Score{{Value: "6,6"}}, Accent: green,
	},
	"pair": {
		Site: "Palmarès", Host: "palmares.example", Palm: true, Kicker: "Comparatif", Title: "Mandibule ou Escouade\u00a0: lequel pour une équipe de trois\u00a0?",
		Scores: []Score{{"Mandibule", "8,1", true}, {"Escouade", "7,4", false}}, Accent: green,
	},
	"untested": {Site: "Palmarès", Host: "palmares.example", Title: "Œuf à la coque", Text: "Ça cuit.", Kicker: "Voix", Accent: green},
}

func drawn(t testing.TB, c Card) image.Image {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(c.PNG()))
	if err != nil {
		t.Fatal(err)
	}
	if img.Bounds() != image.Rect(0, 0, 1200, 630) {
		t.Fatalf("a card is of %v", img.Bounds())
	}
	return img
}

// Curves are flattened in floating point, which processors may round differently; so single
// pixels may differ a little from the stored pictures.
func TestAChangedDrawingHasAnotherVersion(t *testing.T) {
	for name, c := range samples {
		file := filepath.Join("testdata", fmt.Sprintf("%s.v%d.png", name, version))
		if *update {
			if err := os.WriteFile(file, c.PNG(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		stored, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		want, err := png.Decode(bytes.NewReader(stored))
		if err != nil {
			t.Fatal(err)
		}
		img, different := drawn(t, c), 0
		for y := range Height {
			for x := range Width {
				r, g, b, _ := img.At(x, y).RGBA()
				r2, g2, b2, _ := want.At(x, y).RGBA()
				if apart(r, r2)+apart(g, g2)+apart(b, b2) > 3*0x2000 {
					different++
				}
			}
		}
		if different > 0 {
			t.Errorf("%s: %d pixels differ from %s; if that is wanted, raise version, remove the old pictures and run the test with -update", name, different, file)
		}
	}
}

func apart(a, b uint32) uint32 { return max(a, b) - min(a, b) }

func TestTheSameCardHasTheSameBytes(t *testing.T) {
	for name, c := range samples {
		want := c.PNG()
		var wait sync.WaitGroup
		for range 4 {
			wait.Go(func() {
				if !bytes.Equal(c.PNG(), want) {
					t.Errorf("%s is drawn differently the second time", name)
				}
			})
		}
		wait.Wait()
		if len(want) > 40_000 {
			t.Errorf("%s takes %d bytes", name, len(want))
		}
	}
}

func TestEveryFieldChangesTheDigest(t *testing.T) {
	seen := map[string]int{}
	for i, c := range []Card{
		{},
		{Site: "a"},
		{Host: "a"},
		{Palm: true},
		{Kicker: "a"},
		{Title: "a"},
		{Slug: "a"},
		{Text: "a"},
		{Text: "ab"},
		{Title: "a", Slug: "b"},
		{Title: "ab"},
		{Accent: green},
		{Scores: []Score{{}}},
		{Scores: []Score{{Name: "a"}}},
		{Scores: []Score{{Value: "a"}}},
		{Scores: []Score{{Best: true}}},
		{Scores: []Score{{}, {}}},
	} {
		if other, ok := seen[c.Digest()]; ok {
			t.Errorf("cards %d and %d have the same digest", other, i)
		}
		seen[c.Digest()] = i
	}
}

// The corners of the largest and the smallest size, of one letter and of a novel.
func TestTextOfAnyLengthStaysInItsPlace(t *testing.T) {
	novel := strings.Repeat("Il était une fois un outil, ", 2000)
	word := strings.Repeat("Wm", 5000)
	scores := []Score{{Name: word, Value: "10,0", Best: true}, {Name: novel, Value: word}}
	for name, c := range map[string]Card{
		"nothing": {},
		"novel":   {Site: novel, Host: novel, Kicker: novel, Title: novel, Text: novel, Scores: scores},
		"word":    {Site: word, Host: word, Kicker: word, Title: word, Text: word, Palm: true, Scores: scores[:1]},
		"four":    {Site: "a", Title: word, Text: novel, Scores: append(scores, scores...)},
		"invalid": {Site: "\xff\xfe", Title: "\x00\x01", Text: "\u202e\u2066", Scores: []Score{{Value: "\U0010ffff"}}},
	} {
		img := drawn(t, c)
		for y := 20; y < Height; y++ { // below the bar
			for x := range Width {
				if img.At(x, y) != paper && (x < margin-8 || x > right+8 || y > Height-20) {
					t.Fatalf("%s: something is drawn at %d, %d", name, x, y)
				}
			}
		}
		for x := margin; x < right; x++ { // the rule is free of letters
			if img.At(x, ruleAt) != rule {
				t.Fatalf("%s: the rule is crossed at %d", name, x)
			}
		}
	}
}

func TestCharactersThatTheFontsLackAreReplacedOrLeftOut(t *testing.T) {
	for text, want := range map[string]string{
		"Élève, garçon, où, naïf, cœur, Œuvre, « 12 € »": "Élève, garçon, où, naïf, cœur, Œuvre, « 12 € »",
		"E\u0301cole":                        "École",
		"日本 Voix 🎉":                          "Voix",
		"\U0001d400\U0001d401":               "AB",
		"a\u200d\u202eb\u0000c":              "abc",
		"a \n\t b":                           "a b",
		"Quoi\u202f? \u2009Oui\u00a0!":       "Quoi\u00a0? Oui\u00a0!",
		"\uff21\uff22":                       "AB",
		"\xff":                               "",
		"Привет, Γειά":                       "Привет, Γειά",
		strings.Repeat("🎉", 1000) + "jamais": "",
	} {
		if got := drawable(text, bold()); got != want {
			t.Errorf("%q is drawn as %q, not %q", text, got, want)
		}
	}
	plain := Card{Site: "S", Title: "nihongo"}
	replaced := Card{Site: "S", Title: "日本語", Slug: "nihongo"}
	if !bytes.Equal(plain.PNG(), replaced.PNG()) {
		t.Error("a title without a drawable character is not replaced by the slug")
	}
}

func TestLinesEndBetweenWords(t *testing.T) {
	face := newCanvas(green).fit("un", regular(), 300, 3, 40).face
	lines, isWhole := wrap("un deux trois quatre cinq", face, 300, 3)
	if got := strings.Join(lines, "|"); got != "un deux trois|quatre cinq" || !isWhole {
		t.Errorf("got %s, %t", got, isWhole)
	}
	lines, isWhole = wrap("un deux trois quatre cinq", face, 300, 1)
	if got := strings.Join(lines, "|"); got != "un deux trois…" || isWhole {
		t.Errorf("got %s, %t", got, isWhole)
	}
}
