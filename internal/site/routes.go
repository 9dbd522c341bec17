package site

import (
	"net/http"
	"strings"
	"sync"
	"time"

	"palmares/internal/catalog"
	"palmares/internal/reference"
	"palmares/internal/web"
)

// New returns the handler of the website. It must not be used before Show has been
// called.
func New(cfg Config) *Site {
	s := &Site{
		cfg: cfg, mux: http.NewServeMux(), assets: readAssets(), reference: reference.New(cfg.Document),
		hasMarkdown: map[string]bool{}, sections: map[string]bool{},
		withoutPro: sync.OnceValue(func() *reference.Reference { return reference.NewWithoutPro(cfg.Document) }),
		compressor: web.NewCompressor(),
		reads:      web.NewLimit(pictureReads, pictureTimeout),
		pictures:   newPictureCache(pictureCacheSize),
		cards:      newPictureCache(cardCacheSize),
		headers:    securityHeaders(strings.HasPrefix(cfg.BaseURL, "https://")),
	}
	if s.cfg.Places == nil {
		s.cfg.Places = web.NewPlaces(nil)
	}
	if s.cfg.Now == nil {
		s.cfg.Now = time.Now
	}
	s.handle("/{$}", s.home)
	s.handleList("/outils", s.listTools)
	s.handle("/outils/{slug}", s.showTool)
	s.handle(badgePath, s.badge)
	s.handle("/avis/{slug}", s.showReview)
	s.handle("/alternatives/{slug}", s.showAlternatives)
	s.register("/categories/{slug}", s.showCategory, true)
	s.handleList("/comparatifs", s.listComparisons)
	s.handle("/comparatifs/{slug}", s.showComparison)
	s.handleList("/articles", s.listArticles)
	s.handle("/articles/{slug}", s.showArticle)
	s.handleBoth(authorsPath, s.listAuthors)
	s.handle("/auteurs/{slug}", s.showAuthor)
	s.handleList(comparePath, s.compare)
	s.handleList("/prix", s.listPrices)
	s.handleList("/carte", s.showMap)
	s.handleList("/cimetiere", s.listRetired)
	s.handle(catalog.RetiredKind.Address+"{slug}", s.showRetired)
	s.handleBoth(upcomingPath, s.upcoming)
	s.handle("/calendrier.ics", s.icalendar)
	s.handleBoth(reference.Path, s.docs)
	for _, p := range s.reference.Pages() {
		s.handleBoth(p.Path, s.docs)
	}
	s.handleBoth(webhooksPath, s.webhooks)
	s.handleBoth(dataPath, s.dataGuide)
	s.handleBoth(assistantsPath, s.assistantsGuide)
	s.handleBoth("/donnees", s.dataset)
	s.handleBoth("/tarifs", s.plans)
	s.handleBoth("/licence", s.licence)
	s.handle("/confidentialite", s.privacy)
	s.register("/flux.atom", s.feed, true)
	s.handle(llmsPath, s.llms)
	s.handle("/robots.txt", s.robots)
	s.handle("/sitemap.xml", s.sitemap)
	s.handle("/static/{file}", s.asset)
	s.handle("/.well-known/security.txt", s.securityContact)
	s.handle("/.well-known/tdmrep.json", s.mining)
	s.handlePicture("/favicon.ico", s.icon)
	s.handlePicture("/apple-touch-icon.png", s.icon)
	s.handlePicture("/media/{file}", s.media)
	s.handlePicture("/media/{folder}/{file}", s.shareCard)
	s.handle("/{slug}", s.showPage)
	s.handle("/", s.notFound)
	return s
}
