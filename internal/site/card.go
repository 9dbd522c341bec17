package site

import (
	"cmp"
	"context"
	"net/http"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/french"
	"palmares/internal/markdown"
	"palmares/internal/sharecard"
)

const (
	// cardCacheSize bounds the memory for drawn cards: about 800 of them.
	cardCacheSize = 16 << 20
	// cardDrawings is how many are drawn at once. Each takes 30 ms and 2 MB.
	cardDrawings = 2
)

// sharedCard returns the card that is drawn for a page without a picture of its own. The
// folder is that of the page's address. The record must exist.
func (v *view) sharedCard(folder, slug string) *sharedImage {
	card := v.card(folder, slug)
	alt := card.Title
	for _, s := range card.Scores {
		if s.Value != "" {
			alt += ", "
			if len(card.Scores) > 1 {
				alt += s.Name + " "
			}
			alt += s.Value + " sur 10"
		}
	}
	return &sharedImage{
		URL: v.snap.Catalog.URL + cardPath(folder, slug, card), Width: sharecard.Width, Height: sharecard.Height,
		Alt: markdown.NoBreak(alt + " : " + card.Text),
	}
}

// cardPath returns the address of a card. Another picture has another address.
func cardPath(folder, slug string, card *sharecard.Card) string {
	return "/media/" + folder + "/" + slug + "." + card.Digest() + ".png"
}

// card returns the card of a page, or nil if there is no such page.
func (v *view) card(folder, slug string) *sharecard.Card {
	c := v.snap.Catalog
	card := &sharecard.Card{Site: c.Name, Host: v.host(), Palm: c.Settings.Logo == "", Slug: slug, Accent: v.theme.accent()}
	t := c.Tool(slug)
	switch folder {
	case "outils", "avis":
		if t == nil || folder == "avis" && t.Body == "" {
			return nil
		}
		card.Title, card.Text, card.Kicker = t.Name, markdown.NoBreak(t.Tagline), v.Label(t.Category)
		if folder == "avis" {
			card.Kicker = "Notre avis"
		}
		if t.Score != nil {
			card.Scores = []sharecard.Score{cardScore(t)}
		}
		return card
	case "comparatifs":
		x := v.comparison(slug)
		if x == nil {
			return nil
		}
		card.Title, card.Text, card.Kicker = markdown.NoBreak(x.Title), markdown.NoBreak(x.WinnerNote), "Comparatif"
		for _, side := range []string{x.ToolA, x.ToolB} {
			score := cardScore(c.Tool(side))
			score.Best = x.Winner == side
			card.Scores = append(card.Scores, score)
		}
		return card
	}
	if a := c.Article(slug); folder == "articles" && a != nil {
		card.Title, card.Text, card.Kicker = markdown.NoBreak(a.Title), v.articleRow(a).Text, "Article"
		if a.Sponsored {
			card.Kicker = "Article sponsorisé"
		}
		return card
	}
	return nil
}

func cardScore(t *catalog.Tool) sharecard.Score {
	s := sharecard.Score{Name: t.Name}
	if t.Score != nil {
		s.Value, s.Best = french.Figure(*t.Score), gradeOf(*t.Score).class == highScore
	}
	return s
}

// shareCard serves the cards. One that is out of date is replaced by that of the served
// version, which caches then keep as long as a page: previews of older links go on showing
// something, also while the nodes have different versions.
func (s *Site) shareCard(w http.ResponseWriter, r *request) {
	folder := r.PathValue("folder")
	name, isPNG := strings.CutSuffix(r.PathValue("file"), ".png")
	slug, digest, hasDigest := strings.Cut(name, ".")
	card := r.card(folder, slug)
	if !isPNG || !hasDigest || card == nil {
		kind := cmp.Or(catalog.KindIn(folder), catalog.ToolKind) // there are tools under avis, too
		if current := r.snap.Aliases[kind][slug]; current != "" && r.card(folder, current) != nil {
			s.write(w, r, redirect(cardPath(folder, current, r.card(folder, current)), ""), nil)
			return
		}
		s.write(w, r, s.failure(r, notFound("Cette image n’existe pas, ou plus.")), nil)
		return
	}
	control := cacheYear
	if digest != card.Digest() {
		control = cachePage
	}
	w.Header().Set("Cross-Origin-Resource-Policy", "cross-origin") // other sites show it
	draw := func(context.Context, string) ([]byte, error) { return card.PNG(), nil }
	s.writePicture(w, r, picture{hash: card.Digest(), ext: "png", control: control, read: draw, cache: s.cards})
}
