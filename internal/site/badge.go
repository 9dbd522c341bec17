package site

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"fmt"
	"unicode/utf8"

	"palmares/internal/chronicle"
	"palmares/internal/french"
)

const badgePath = "/outils/{slug}/badge.svg"

// badge is the picture that a vendor shows on her own site: what this catalogue thinks of her tool,
// and since when, also once the tool is gone. It names no font, and its texts are fitted into their places.
func (s *Site) badge(r *request) (*response, error) {
	slug := r.PathValue("slug")
	f, ok := chronicle.Find(r.snap, slug)
	switch {
	case !ok:
		return nil, notFound("Aucun outil n’est connu sous ce nom.")
	case f.Slug != slug:
		return redirect("/outils/"+f.Slug+"/badge.svg", ""), nil
	}
	name, _ := splitName(r.snap.Catalog.Name)
	name, verdict := clip(name, maxBadgeName), "pas encore noté"
	switch t := f.Tool; {
	case f.Retired != nil:
		verdict = "retiré le " + french.Date(f.Retired.RetiredAt)
	case t == nil:
		verdict = "retiré du catalogue"
	case t.Score != nil:
		verdict = french.Figure(*t.Score) + "/10"
		fallthrough
	default:
		verdict += ", " + french.Date(cmp.Or(t.TestedAt, t.UpdatedAt))
	}
	left, right, accent := textWidth(name), textWidth(verdict), r.theme.accent()
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="24" role="img" aria-label="%s"><title>%[2]s</title>`+
		`<rect width="100%%" height="24" rx="4" fill="#%02x%02x%02x"/><path d="M%d 1v22h%dV1z" fill="#fbfaf6"/>`+
		`<g font-family="sans-serif" font-size="12"><text x="8" y="16" fill="#fff" textLength="%d" lengthAdjust="spacingAndGlyphs">%s</text>`+
		`<text x="%d" y="16" fill="#1d2b24" textLength="%d" lengthAdjust="spacingAndGlyphs">%s</text></g></svg>`,
		left+right+32, escapeXML(f.Name+"\u00a0: "+verdict+" sur "+name), accent.R, accent.G, accent.B, left+16, right+15,
		left, escapeXML(name), left+24, right, escapeXML(verdict))
	a := newResponse("image/svg+xml; charset=utf-8", b.Bytes())
	a.cache = cacheHour
	return a, nil
}

const maxBadgeName = 40 // characters

// textWidth returns about how wide a text of 12 pixels is.
func textWidth(text string) int { return 13 * utf8.RuneCountInString(text) / 2 }

func escapeXML(text string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(text)) // a buffer takes everything
	return b.String()
}
