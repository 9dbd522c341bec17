package site

import (
	"context"
	"fmt"
	"net/http"
	"path"
	"strings"

	"palmares/internal/sharecard"
)

// iconSizes are the sizes of the site's icons, in pixels, by path. Of the favicon it is that of the
// logo from which its sizes are made.
var iconSizes = map[string]int{"/favicon.ico": 48, "/apple-touch-icon.png": 180}

// icon serves the icons that browsers and telephones look for: the logo of the catalogue, or the palm.
func (s *Site) icon(w http.ResponseWriter, r *request) {
	size, ext, accent := iconSizes[r.URL.Path], strings.TrimPrefix(path.Ext(r.URL.Path), "."), r.theme.accent()
	logo := "" // the name of the picture
	if p, ok := r.snap.Catalog.Pictures[r.snap.Catalog.Settings.Logo]; ok {
		logo = atLeast(p, size).Name
	}
	hash := fmt.Sprintf("2-%s%d-%s-%v", ext, size, logo, accent) // raise the number when the drawing changes
	draw := func(ctx context.Context, _ string) ([]byte, error) {
		var file []byte
		if logo != "" {
			var err error
			file, err = s.readPicture(ctx, logo)
			if err != nil {
				return nil, err
			}
		}
		if ext == "ico" {
			return sharecard.Favicon(file, accent), nil
		}
		return sharecard.Icon(file, size, accent), nil
	}
	s.writePicture(w, r, picture{hash: hash, ext: ext, control: cachePage, read: draw, cache: s.cards})
}
