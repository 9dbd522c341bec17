package site

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"path"
	"strings"

	"palmares/internal/wire"
)

//go:embed static
var staticFiles embed.FS

// assets are the style, script and pictures of the pages, each under a name that
// holds a hash of its content: a browser may keep it for ever, since a changed
// file has another name.
type assets struct {
	paths map[string]string  // by file name, where it is served
	files map[string]*answer // by served name
}

var assetKinds = map[string]string{
	".css": "text/css; charset=utf-8",
	".js":  "text/javascript; charset=utf-8",
	".svg": "image/svg+xml",
}

func readAssets() assets {
	a := assets{paths: map[string]string{}, files: map[string]*answer{}}
	entries, err := staticFiles.ReadDir("static")
	if err != nil {
		panic(err) // the folder is inside the binary
	}
	for _, e := range entries {
		body, err := staticFiles.ReadFile("static/" + e.Name())
		if err != nil {
			panic(err)
		}
		sum := sha256.Sum256(body)
		ext := path.Ext(e.Name())
		name := strings.TrimSuffix(e.Name(), ext) + "." + hex.EncodeToString(sum[:6]) + ext
		a.paths[e.Name()] = "/static/" + name
		a.files[name] = &answer{status: 200, kind: assetKinds[ext], cache: cacheYear, body: body, digest: wire.Digest(sum[:])}
	}
	return a
}

func (s *Site) asset(r *request) (*answer, error) {
	if a := s.assets.files[r.PathValue("file")]; a != nil {
		return a, nil
	}
	return nil, notFound("Ce fichier n’existe pas, ou plus sous ce nom.")
}
