package main

import (
	"bytes"
	"encoding/pem"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// image writes the OCI image of the binaries for Linux, as an archive of an image layout. It has
// what deploy/Dockerfile says.
func (r *release) image(stage string, binaries []binary) error {
	base, err := r.layer([]entry{
		{path: "data/", mode: 0o755, owner: 65532},
		{path: "etc/", mode: 0o755},
		{path: "etc/ssl/", mode: 0o755},
		{path: "etc/ssl/certs/", mode: 0o755},
		{path: "etc/ssl/certs/ca-certificates.crt", content: authorities(), mode: 0o644},
		{path: "licenses/", mode: 0o755},
		{path: "licenses/LICENSE", content: r.texts["LICENSE"], mode: 0o644},
		{path: "licenses/THIRD-PARTY-LICENSES", content: r.texts["THIRD-PARTY-LICENSES"], mode: 0o644},
	})
	if err != nil {
		return err
	}
	index := v1.ImageIndex(empty.Index)
	for _, b := range binaries {
		if b.os != "linux" {
			continue
		}
		program, err := os.ReadFile(b.path)
		if err != nil {
			return err
		}
		own, err := r.layer([]entry{{path: "palmares", content: program, mode: 0o755}})
		if err != nil {
			return err
		}
		image, err := r.imageOf(b, base, own)
		if err != nil {
			return err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add: image, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: b.os, Architecture: b.arch}},
		})
	}
	dir := filepath.Join(stage, "image")
	folder, err := layout.Write(dir, empty.Index)
	if err != nil {
		return err
	}
	if err := folder.AppendIndex(index, layout.WithAnnotations(map[string]string{
		"org.opencontainers.image.ref.name": r.version,
		"io.containerd.image.name":          "localhost/palmares:" + r.version,
	})); err != nil {
		return err
	}
	return r.archiveFolder(os.DirFS(dir), "_oci.tar")
}

// layer returns a layer with some files.
func (r *release) layer(entries []entry) (v1.Layer, error) {
	var file bytes.Buffer
	if err := writeTar(&file, entries, r.time); err != nil {
		return nil, err
	}
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(file.Bytes())), nil
	}, tarball.WithMediaType(types.OCILayer), tarball.WithCompressedCaching)
}

// imageOf returns the image of a binary.
func (r *release) imageOf(b binary, layers ...v1.Layer) (v1.Image, error) {
	image := mutate.MediaType(mutate.ConfigMediaType(empty.Image, types.OCIConfigJSON), types.OCIManifestSchema1)
	at := v1.Time{Time: r.time}
	for _, layer := range layers {
		var err error
		image, err = mutate.Append(image, mutate.Addendum{
			Layer: layer, History: v1.History{Created: at, CreatedBy: "make release"},
		})
		if err != nil {
			return nil, err
		}
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.Created, config.OS, config.Architecture = at, b.os, b.arch
	config.Config = v1.Config{
		User:       "65532:65532",
		WorkingDir: "/data",
		Env: []string{
			"TMPDIR=/data", "PALMARES_EXPORT_DIR=/data/export", "PALMARES_DATABASE=sqlite:/data/palmares.db",
			"PALMARES_LISTEN=:8080", "PALMARES_DEMO=off",
		},
		ExposedPorts: map[string]struct{}{"8080/tcp": {}},
		Volumes:      map[string]struct{}{"/data": {}},
		Entrypoint:   []string{"/palmares"},
		Cmd:          []string{"serve"},
		Labels: map[string]string{
			"org.opencontainers.image.version":  r.version,
			"org.opencontainers.image.revision": r.commit,
			"org.opencontainers.image.licenses": "Apache-2.0",
		},
	}
	return mutate.ConfigFile(image, config)
}

// authorities returns the certificates that Mozilla trusts without a condition.
func authorities() []byte {
	var file bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			_ = pem.Encode(&file, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}) // a buffer takes all
		}
	}
	return file.Bytes()
}

// archiveFolder writes an archive of all files in a folder, in the order of their paths.
func (r *release) archiveFolder(dir fs.FS, suffix string) error {
	var entries []entry
	err := fs.WalkDir(dir, ".", func(path string, file fs.DirEntry, err error) error {
		if err != nil || path == "." {
			return err
		}
		if file.IsDir() {
			entries = append(entries, entry{path: path + "/", mode: 0o755})
			return nil
		}
		content, err := fs.ReadFile(dir, path)
		entries = append(entries, entry{path: path, content: content, mode: 0o644})
		return err
	})
	if err != nil {
		return err
	}
	var file bytes.Buffer
	if err := writeTar(&file, entries, r.time); err != nil {
		return err
	}
	return r.write(suffix, file.Bytes())
}
