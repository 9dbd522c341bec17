package desk

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"

	"palmares/internal/catalog"
	"palmares/internal/content/document"
	"palmares/internal/deskdb"
	"palmares/internal/edition"
	"palmares/internal/french"
	"palmares/internal/sqldb"
)

type sharesPage struct {
	page
	Copy   copyRow
	Shares []deskdb.Share
	Made   string // the address of a link that was just made, which is shown once
	Until  string // the day on which it ends
}

func (d *copies) listShares(r *request, c *draft) (*response, error) { return d.showShares(r, c, "") }

func (d *copies) showShares(r *request, c *draft, token string) (*response, error) {
	if c.doc != nil && c.doc.Kind() == catalog.CatalogueKind {
		return nil, refused("Les réglages n’ont pas de page à partager.")
	}
	data := sharesPage{page: r.page("Partager"), Copy: c.copyRow}
	var err error
	data.Shares, err = d.Shares.List(r.Context(), c.ID, r.Now)
	for i := range data.Shares {
		s := &data.Shares[i]
		s.CreatedAt, s.ExpiresAt = s.CreatedAt.In(zoneOf(r.folder)), s.ExpiresAt.In(zoneOf(r.folder))
	}
	if token != "" && len(data.Shares) > 0 {
		data.Made, data.Until = d.BaseURL+sharedPath+"/"+token, data.Shares[0].ExpiresAt.Format(time.DateOnly)
	}
	return render("shares", data), err
}

// share makes a private link to the page of a working copy.
func (d *copies) share(r *request, c *draft) (*response, error) {
	token, _, err := d.Shares.Create(r.Context(), c.ID, r.Now)
	if errors.Is(err, sqldb.ErrTooMany) {
		return nil, refused("Cette copie a déjà 20\u00a0liens, le plus possible\u00a0: révoquez-en d’abord.")
	}
	if err != nil {
		return nil, err
	}
	return d.showShares(r, c, token)
}

func (d *copies) revokeShare(r *request, c *draft) (*response, error) {
	if err := d.Shares.Revoke(r.Context(), c.ID, r.PathValue("share")); err != nil && !errors.Is(err, sqldb.ErrNotFound) {
		return nil, err
	}
	return seeOther(c.Href()+"/partage", "revoque"), nil // also if it had ended meanwhile
}

// showShared shows what a private link leads to: the page of one record as it would be on the site, its
// review, and the pictures of the two. It knows nobody, and no other draft.
func (d *copies) showShared(r *request) (*response, error) {
	token, rest, _ := strings.Cut(r.PathValue("path"), "/")
	r.URL = &url.URL{Path: sharedPath} // whatever fails, the token is not logged
	s, err := d.Shares.Find(r.Context(), token, r.Now)
	if errors.Is(err, sqldb.ErrNotFound) {
		return sharedNotice(r, http.StatusNotFound, "Lien sans page",
			"Ce lien ne mène à aucune page\u00a0: il est incomplet, il a expiré, ou la rédaction l’a révoqué. Demandez-en un "+
				"autre à la personne qui vous l’a envoyé."), nil
	}
	if err != nil {
		return nil, err
	}
	c, e, err := d.sharedEdition(r.Context(), s.CopyID)
	if err != nil {
		return nil, err
	}
	if !e.HasPages() {
		return sharedNotice(r, http.StatusConflict, "Page en cours d’écriture",
			"La rédaction travaille en ce moment à cette page. Revenez plus tard\u00a0: le lien reste le même."), nil
	}
	pages, err := e.Pages(r.Context())
	if err != nil {
		return nil, err
	}
	shown := sharedRecord{prefix: sharedPath + "/" + token, pages: c.sharedPages(), site: pages, slug: path.Base(c.Address()), isNew: c.Base == "" || c.Replaces != ""}
	if page := shown.pages[rest]; page != "" {
		if r.Method == http.MethodGet {
			if err := d.Shares.CountView(r.Context(), s.ID); err != nil {
				d.Log.Warn("a view of a private link was not counted", "share", s.ID, "error", err)
			}
		}
		return &response{Write: shown.page(r, page, catalog.Day(s.ExpiresAt)).sendShared}, nil
	}
	if shown.has(r, "/"+rest) {
		return &response{Write: shown.serve(r, "/"+rest).sendShared}, nil
	}
	return sharedNotice(r, http.StatusNotFound, "Lien sans page", "Il n’y a pas de page à cette adresse."), nil
}

func sharedNotice(r *request, status int, title, text string) *response {
	a := render("shared", failurePage{page: r.page(title), Text: text})
	a.Status = status
	return a
}

// sharedEdition returns the folder as readers see it with a working copy in it, as if that were published.
func (d *copies) sharedEdition(ctx context.Context, id string) (*draft, *edition.Edition, error) {
	found, err := d.Copies.Find(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	c := &draft{copyRow: copyRow{WorkingCopy: found}}
	c.doc, err = document.Open(c.Path, c.Data)
	if err == nil {
		public := map[string]document.Value{"draft": {}}
		if c.hasHour() {
			public["publish_at"] = document.Value{}
		}
		if err := c.doc.SetAll(public); err != nil {
			return nil, nil, err
		}
		c.Data = c.doc.Bytes()
	}
	c.Path = strings.Replace(c.Path, ".next.md", ".md", 1)
	e, err := d.edition(ctx, c, true)
	return c, e, err
}

// sharedPages returns the addresses on the site of the pages that a link shows, by what follows its token.
func (c *draft) sharedPages() map[string]string {
	pages := map[string]string{"": c.Address()}
	if slug, isTool := strings.CutPrefix(c.Address(), "/outils/"); isTool && c.doc != nil && c.doc.Body() != "" {
		pages["avis"] = "/avis/" + slug
	}
	return pages
}

// A sharedRecord is what a private link shows.
type sharedRecord struct {
	prefix string
	pages  map[string]string
	site   http.Handler
	slug   string
	isNew  bool // the public site does not have it at this address
}

// serve returns the site's response for an address, as an anonymous visitor gets it.
func (s *sharedRecord) serve(r *request, path string) *recorder {
	inner := (&http.Request{Method: http.MethodGet, URL: &url.URL{Path: path}, Host: r.Host, Header: http.Header{}}).WithContext(r.Context())
	page := &recorder{header: http.Header{}, status: http.StatusOK}
	s.site.ServeHTTP(page, inner)
	return page
}

func (s *sharedRecord) has(r *request, picture string) bool {
	if !strings.HasPrefix(picture, "/media/") {
		return false
	}
	for _, address := range s.pages {
		page := s.serve(r, address).body.Bytes()
		i := bytes.Index(page, []byte(picture))
		if i >= 0 && bytes.ContainsAny(page[i+len(picture):i+len(picture)+1], `" `) {
			return true
		}
	}
	return false
}

// page returns a page with a sentence that says what it is. Its links lead to the public site.
func (s *sharedRecord) page(r *request, path, until string) *recorder {
	page := s.serve(r, path)
	body := relinkMedia(page.body.Bytes(), s.prefix)
	for rest, address := range s.pages {
		to := strings.TrimSuffix(s.prefix+"/"+rest, "/")
		for _, end := range []string{`"`, "#"} {
			body = bytes.ReplaceAll(body, []byte(` href="`+address+end), []byte(` href="`+to+end))
		}
	}
	if s.isNew { // the public site has no page of it
		body = regexp.MustCompile(`<a( [^>]*)? href="/[^"]*[/=,]`+regexp.QuoteMeta(s.slug)+`[/"#?.,&][^>]*>`).ReplaceAll(body, []byte("<a>"))
	}
	const masthead = `<header class="masthead">`
	notice := `<aside class="preview" aria-label="Brouillon"><p><strong>Brouillon.</strong> La rédaction vous montre cette page avant sa ` +
		`publication, jusqu’au ` + template.HTMLEscapeString(french.Date(until)) + `. Merci de ne pas transmettre son adresse.</p></aside>` + "\n"
	page.body = *bytes.NewBuffer(bytes.Replace(body, []byte(masthead), []byte(notice+masthead), 1))
	return page
}

// relinkMedia puts a prefix before the addresses of pictures in a page.
func relinkMedia(page []byte, prefix string) []byte {
	for _, before := range []string{`="`, "w, ", "x, "} {
		page = bytes.ReplaceAll(page, []byte(before+"/media/"), []byte(before+prefix+"/media/"))
	}
	return page
}

// sendShared sends what it kept to somebody who has a private link.
func (w *recorder) sendShared(to http.ResponseWriter, _ *http.Request) {
	h := to.Header()
	for _, name := range []string{"Content-Type", "Content-Security-Policy", "X-Content-Type-Options", "Strict-Transport-Security"} {
		if value := cmp.Or(w.header.Get(name), h.Get(name)); value != "" {
			h.Set(name, value)
		}
	}
	h.Set("Cache-Control", "no-store")
	h.Set("X-Robots-Tag", "noindex, nofollow")
	h.Set("Referrer-Policy", "no-referrer") // the address is a secret
	h.Set("Content-Length", strconv.Itoa(w.body.Len()))
	to.WriteHeader(w.status)
	_, _ = to.Write(w.body.Bytes()) // fails only when the client is gone
}
