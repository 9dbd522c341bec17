package site

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"strings"

	"palmares/internal/reference"
	"palmares/internal/wire"
)

//go:embed static
var staticFiles embed.FS

// assets are the styles, scripts and images of the pages. The name of each contains
// a hash of its content, so browsers may cache it forever: a changed file gets
// another name.
type assets struct {
	paths map[string]string    // by file name
	files map[string]*response // by the name under /static/
}

var assetTypes = map[string]string{
	".css": "text/css; charset=utf-8",
	".js":  "text/javascript; charset=utf-8",
	".svg": "image/svg+xml",
}

func readAssets() assets {
	a := assets{paths: map[string]string{}, files: map[string]*response{}}
	ours, err := fs.Sub(staticFiles, "static")
	if err != nil {
		panic(err) // only for an invalid path
	}
	a.add(ours)
	a.add(reference.Static())
	return a
}

// add adds the files of an embedded folder, which can always be read.
func (a *assets) add(folder fs.FS) {
	entries, err := fs.ReadDir(folder, ".")
	if err != nil {
		panic(err)
	}
	for _, e := range entries {
		body, err := fs.ReadFile(folder, e.Name())
		if err != nil {
			panic(err)
		}
		sum := sha256.Sum256(body)
		ext := path.Ext(e.Name())
		name := strings.TrimSuffix(e.Name(), ext) + "." + hex.EncodeToString(sum[:6]) + ext
		a.paths[e.Name()] = "/static/" + name
		a.files[name] = &response{
			status: http.StatusOK, kind: assetTypes[ext], cache: cacheYear, body: body, digest: wire.Digest(sum[:]),
		}
	}
}

func (s *Site) asset(r *request) (*response, error) {
	if a := s.assets.files[r.PathValue("file")]; a != nil {
		return a, nil
	}
	if a := r.themedAsset(r.PathValue("file")); a != nil {
		return a, nil
	}
	return nil, notFound("Ce fichier n’existe pas, ou plus sous ce nom.")
}
