package search

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"palmares/internal/catalog"
	"palmares/internal/synthetic"
)

// step returns how the tools of one catalogue became those of the next.
func step(before, after *catalog.Catalog) catalog.Step {
	s := catalog.Step{Moved: make([]int32, len(before.Tools))}
	kept := map[int32]bool{}
	for i := range before.Tools {
		t := before.Tools[i]
		at, ok := slices.BinarySearchFunc(after.Tools, t.Slug, func(t *catalog.Tool, slug string) int { return strings.Compare(t.Slug, slug) })
		if s.Moved[i] = -1; ok && reflect.DeepEqual(t, after.Tools[at]) {
			s.Moved[i] = int32(at)
			kept[int32(at)] = true
		}
	}
	for i := range int32(len(after.Tools)) {
		if !kept[i] {
			s.Fresh = append(s.Fresh, i)
		}
	}
	return s
}

// A press publishes random catalogues. Its vocabulary is small, so that words come and go,
// also those of phrases, stop words, and those that are part of the plan.
type press struct {
	*rand.Rand
	c     *catalog.Catalog
	words []string
	plan  []string // headings that many reviews have
}

func newPress(seed uint64) *press {
	p := &press{Rand: rand.New(rand.NewPCG(seed, 1)), c: &catalog.Catalog{}}
	p.words = append(vocabulary(p.Rand, 400), strings.Fields(`compte rendu site internet sans code monteur montage monter de la
		GPT-4 vibe-coder l’image open source en ligne son planning plans plan essais essai 2024-11-02 日本`)...)
	p.plan = []string{"Points forts", "Prix", "Notre essai", "Compte rendu", "Sans code", p.text(1), p.text(2)}
	p.c.Categories = []catalog.Category{{Slug: "texte", Label: "Écriture"}, {Slug: "code", Label: "Développement", Aliases: []string{"dev"}}}
	return p
}

func (p *press) text(words int) string {
	text := make([]string, words)
	for i := range text {
		text[i] = p.words[int(float64(len(p.words))*p.Float64()*p.Float64())] // some are rare
	}
	return strings.Join(text, " ")
}

func (p *press) tool(slug string) *catalog.Tool {
	t := &catalog.Tool{Slug: slug, Name: p.text(1 + p.IntN(2)), Tagline: p.text(p.IntN(6)), Price: fmt.Sprintf("%d €/mois", p.IntN(50))}
	t.Category = []string{"texte", "code", "inconnue"}[p.IntN(3)]
	t.Pricing = catalog.Pricings[p.IntN(len(catalog.Pricings))]
	if p.IntN(3) == 0 {
		t.Name = "Même nom"
	}
	for range p.IntN(3) {
		t.Aliases = append(t.Aliases, strings.ReplaceAll(p.text(2), " ", "-"))
	}
	if p.IntN(2) == 0 {
		score := float64(p.IntN(10))
		t.Score = &score
	}
	for range p.IntN(4) {
		heading := p.plan[int(float64(len(p.plan))*p.Float64()*p.Float64())]
		if p.IntN(3) == 0 {
			heading = p.text(2)
		}
		t.Body += "## " + heading + "\n\n" + p.text(p.IntN(12)) + "\n\n"
	}
	return t
}

// publish returns the next catalogue, with so many tools added, changed and removed.
func (p *press) publish(added, changed, removed int) *catalog.Catalog {
	next := *p.c
	next.Tools = slices.Clone(p.c.Tools)
	p.Shuffle(len(next.Tools), func(i, j int) { next.Tools[i], next.Tools[j] = next.Tools[j], next.Tools[i] })
	next.Tools = next.Tools[min(removed, len(next.Tools)):]
	for i := range min(changed, len(next.Tools)) {
		slug := next.Tools[i].Slug
		if p.IntN(4) == 0 {
			slug = fmt.Sprintf("outil-%08d", p.IntN(1e8)) // renamed
		}
		next.Tools[i] = p.tool(slug)
	}
	for range added {
		next.Tools = append(next.Tools, p.tool(fmt.Sprintf("outil-%08d", p.IntN(1e8))))
	}
	next.Sort()
	p.c = &next
	return p.c
}

func TestTheNextIndexIsTheOneThatBuildMakes(t *testing.T) {
	for seed := range uint64(8) {
		p := newPress(seed)
		before := p.c
		x, err := Build(t.Context(), before)
		if err != nil {
			t.Fatal(err)
		}
		for number := range 60 {
			size := len(p.c.Tools)
			switch few := 1 + size/20; p.IntN(20) {
			case 0:
				p.publish(0, 0, 0)
			case 1:
				p.publish(0, size, 0)
			case 2:
				p.publish(0, 0, size)
			case 3, 4, 5:
				p.publish(p.IntN(60), p.IntN(few), 0)
			default:
				p.publish(p.IntN(few+4), p.IntN(few), p.IntN(few))
			}
			p.c.Categories = slices.Clone(p.c.Categories)
			switch p.IntN(40) {
			case 0:
				p.c.Categories[0].Label = p.text(2)
			case 1:
				p.c.Categories[1].Aliases = []string{p.text(1)}
			}
			next, err := x.Next(t.Context(), p.c, step(before, p.c))
			if err != nil {
				t.Fatal(err)
			}
			built, err := Build(t.Context(), p.c)
			if err != nil {
				t.Fatal(err)
			}
			if different := differences(next, built); len(different) > 0 {
				t.Fatalf("history %d, catalogue %d of %d tools after %d: %q differ", seed, number, len(p.c.Tools), size, different)
			}
			x, before = next, p.c
		}
	}
}

func TestTheNextIndexIsTheSameOnManyCores(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(5))
	before, other := synthetic.Catalog(6_600, 1), synthetic.Catalog(2_100, 2) // enough for two parts each
	after := *before
	after.Tools = slices.Clone(before.Tools)
	for i := range other.Tools {
		slug := after.Tools[3*i].Slug
		after.Tools[3*i] = other.Tools[i]
		after.Tools[3*i].Slug = slug
	}
	x, err := Build(t.Context(), before)
	if err != nil {
		t.Fatal(err)
	}
	s := step(before, &after)
	next, err := x.Next(t.Context(), &after, s)
	if err != nil {
		t.Fatal(err)
	}
	built, err := Build(t.Context(), &after)
	if err != nil {
		t.Fatal(err)
	}
	if different := differences(next, built); len(different) > 0 {
		t.Errorf("%q differ", different)
	}
}

func TestTextsThatStayAreNotReadAgain(t *testing.T) {
	p := newPress(1)
	before := p.publish(50, 0, 0)
	x, err := Build(t.Context(), before)
	if err != nil {
		t.Fatal(err)
	}
	after := p.publish(1, 0, 0)
	s := step(before, after)
	for i := range after.Tools {
		after.Tools[i].Tagline = "Un hippopotame"
	}
	if x, err = x.Next(t.Context(), after, s); err != nil {
		t.Fatal(err)
	}
	if found := x.Search(Query{Text: "hippopotame", Limit: 100}); found.Total != 1 {
		t.Errorf("the text of %d tools was read, want that of the new one", found.Total)
	}
}

func TestTheNextIndexIsNotMadeAfterTheEndOfTheContext(t *testing.T) {
	p := newPress(1)
	before := p.publish(50, 0, 0)
	x, err := Build(t.Context(), before)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	after := p.publish(1, 1, 1)
	if _, err := x.Next(ctx, after, step(before, after)); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
}
