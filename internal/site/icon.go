package site

import (
	"context"
	"fmt"
	"net/http"
	"path"
	"strconv"
	"strings"

	"palmares/internal/sharecard"
	"palmares/internal/wire"
)

// iconSizes are the sizes of the site's icons, in pixels, by path. Of the favicon it is that of the
// logo from which its sizes are made.
var iconSizes = map[string]int{
	"/favicon.ico": 48, "/apple-touch-icon.png": 180, "/media/icone-192.png": 192, "/media/icone-512.png": 512,
}

// manifestIcons are those that browsers ask a manifest for, by path.
var manifestIcons = []string{"/media/icone-192.png", "/media/icone-512.png"}

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

// paperColour is the background of the pages in the light theme.
const paperColour = "#fbfaf6"

// manifest describes the site to browsers that keep it beside applications (w3.org/TR/appmanifest).
func (s *Site) manifest(r *request) (*response, error) {
	c, colour := r.snap.Catalog, paperColour
	if r.theme != nil {
		colour = r.theme.Accent.String()
	}
	icons := each(manifestIcons, func(path string) object {
		size := strconv.Itoa(iconSizes[path])
		return object{"src", path, "sizes", size + "x" + size, "type", pictureTypes["png"]}
	})
	short, _ := splitName(c.Name)
	return newResponse("application/manifest+json", wire.AppendJSON(nil, object{
		"name", c.Name, "short_name", short, "description", c.Settings.Description, "lang", "fr", "id", "/",
		"start_url", "/", "scope", "/", "display", "browser", "theme_color", colour, "background_color", paperColour,
		"icons", icons,
	})), nil
}
