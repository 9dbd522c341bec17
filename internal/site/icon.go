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

const faviconPath = "/favicon.ico"

// iconSizes are the sizes of the site's icons, in pixels, by path. Of the favicon it is that of the
// logo from which its sizes are made.
var iconSizes = map[string]int{
	faviconPath: 48, "/apple-touch-icon.png": 180, "/media/icone-192.png": 192, "/media/icone-512.png": 512,
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

// A webManifest describes the site to browsers that keep it beside applications
// (w3.org/TR/appmanifest).
type webManifest struct {
	Name            string         `json:"name"`
	ShortName       string         `json:"short_name"`
	Description     string         `json:"description,omitempty"`
	Language        string         `json:"lang"`
	ID              string         `json:"id"`
	StartURL        string         `json:"start_url"`
	Scope           string         `json:"scope"`
	Display         string         `json:"display"`
	ThemeColor      string         `json:"theme_color"`
	BackgroundColor string         `json:"background_color"`
	Icons           []manifestIcon `json:"icons"`
}

type manifestIcon struct {
	Source string `json:"src"`
	Sizes  string `json:"sizes"`
	Type   string `json:"type"`
}

// paperColour is the background of the pages in the light theme.
const paperColour = "#fbfaf6"

func (s *Site) manifest(r *request) (*response, error) {
	c := r.snap.Catalog
	short, _ := splitName(c.Name)
	m := webManifest{
		Name: c.Name, ShortName: short, Description: c.Settings.Description, Language: "fr", ID: "/", StartURL: "/",
		Scope: "/", Display: "browser", ThemeColor: paperColour, BackgroundColor: paperColour,
	}
	if r.theme != nil {
		m.ThemeColor = r.theme.Accent.String()
	}
	for _, path := range manifestIcons {
		size := strconv.Itoa(iconSizes[path])
		m.Icons = append(m.Icons, manifestIcon{path, size + "x" + size, pictureTypes["png"]})
	}
	return newResponse(manifestType, wire.AppendJSON(nil, m)), nil
}
