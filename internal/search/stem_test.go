package search

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestFormsOfAWordHaveOneStem(t *testing.T) {
	s := newStemmer()
	for _, forms := range []string{
		"video videos", "logo logos", "menu menus", "agenda agendas", "outil outils", "modele modeles",
		"generer genere generes generee generees generez generant generation generateur", "premier premiere premiers premieres",
		"gratuit gratuite gratuits gratuites", "animal animaux", "tableau tableaux", "jeu jeux", "bijou bijoux",
		"nombreux nombreuse nombreuses", "rapide rapidement rapides", "traduction traductions",
	} {
		words := strings.Fields(forms)
		for _, word := range words[1:] {
			if got, want := s.stem(word), s.stem(words[0]); got != want {
				t.Errorf("%s has the stem %s, %s has %s", word, got, words[0], want)
			}
		}
	}
	for _, pair := range []string{"image imagine", "texte test", "son sonnet", "gpt4 gpt"} {
		a, b, _ := strings.Cut(pair, " ")
		if s.stem(a) == s.stem(b) {
			t.Errorf("%s and %s both have the stem %s", a, b, s.stem(a))
		}
	}
}

func FuzzStemsAreShortAndPlain(f *testing.F) {
	for _, word := range []string{"", "a", "ees", "eeees", "yyyy", "quququ", "aux", "eaux", "iere", "erent", "ementement", "sss", "xxx"} {
		f.Add(word)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var words []string
		split := splitter{emit: func(word []byte, _ bool) { words = append(words, string(word)) }}
		split.split(text)
		s := newStemmer()
		for _, word := range words {
			if len(word) > maxWord || word == "" {
				t.Errorf("%q has %d bytes", word, len(word))
			}
			stem := s.stem(word)
			if stem == "" || len(stem) > len(word)+1 || strings.ContainsAny(stem, "éèIUY") {
				t.Errorf("%q has the stem %q", word, stem)
			}
		}
	})
}

func TestWordsOfAText(t *testing.T) {
	for text, want := range map[string]string{
		"L’Œuvre d'art":                 "oeuvre art",
		"GPT-4":                         "gpt 4 +gpt4",
		"gpt4":                          "gpt4 +gpt +4",
		"vibe‑coder":                    "vibe coder +vibecoder",
		"e-mail, Node.js":               "e mail +email node js +nodejs",
		"2026-05-12":                    "2026 05 12",
		"aujourd’hui":                   "aujourd hui +aujourdhui",
		"mot\u00adcoupé":                "motcoupe",
		"10\u202f000\u00a0€":            "10 000",
		"a-b-c-d-e":                     "a b c d e",
		"-tiret- 'cité'":                "tiret cite",
		"Straße Łódź naïve":             "strasse lodz naive",
		"jusqu’à l’aube, qu’elle s’use": "a aube elle use",
		strings.Repeat("é", 60):         strings.Repeat("e", maxWord),
	} {
		var got []string
		split := splitter{emit: func(word []byte, extra bool) {
			if extra {
				got = append(got, "+"+string(word))
			} else {
				got = append(got, string(word))
			}
		}}
		split.split(text)
		if strings.Join(got, " ") != want {
			t.Errorf("%q has the words %q, not %q", text, got, want)
		}
	}
}

func TestATextHasTheSameWordsWhenReadInPieces(t *testing.T) {
	words := func(pieces []string) (words []string) {
		split := splitter{emit: func(word []byte, _ bool) { words = append(words, string(word)) }}
		for _, piece := range pieces {
			split.add(piece)
		}
		split.end()
		return words
	}
	pieces := rapid.OneOf(rapid.StringMatching(`[a-z]{1,12}`), rapid.StringMatching(`[ -~é’œ½]`), rapid.String())
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(pieces).Draw(t, "text"), "")
		if whole, split := words([]string{text}), words(strings.Split(text, "")); !slices.Equal(whole, split) {
			t.Fatalf("%q has the words %q, but %q when read by character", text, whole, split)
		}
	})
}

func TestBestReturnsTheLargestInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.SliceOf(rapid.Uint64Max(50)).Draw(t, "keys")
		n := rapid.IntRange(0, len(keys)).Draw(t, "n")
		want := slices.Clone(keys)
		slices.Sort(want)
		slices.Reverse(want)
		if got := best(slices.Clone(keys), n); !slices.Equal(got, want[:n]) {
			t.Fatalf("the %d best of %v: %v", n, keys, got)
		}
	})
}
