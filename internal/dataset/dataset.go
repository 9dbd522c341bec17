// Package dataset is the export: one version of the catalogue as files that anybody can
// download, in formats that common programs read.
//
// The files hold the records in their canonical form, as package record defines them,
// and tables made from the same records. Their bytes depend on nothing but the version
// and this release: every node of one release writes the same, so that a download can go
// on from another node. Exports writes them when they are first asked for and keeps those of the
// served version and of the one before.
package dataset

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"

	"palmares/internal/catalog"
	"palmares/internal/snapshot"
)

// Format is the number of the form of the files. Whatever changes their bytes needs a new
// one.
const Format = 7

// Path is where exports are served.
const Path = "/data/v1/export"

// The files of an export.
const (
	catalogueFile = "catalogue.json"
	// ChunksFile has the texts of the top set, for which callers need a key. An export
	// without bodies has none. The standard library of Python reads gzipChunksFile.
	ChunksFile     = "chunks.ndjson.zst"
	gzipChunksFile = "chunks.ndjson.gz"
	toolTableFile  = "outils.csv"
	priceFile      = "prix.csv"
	proofTableFile = "preuves.csv"
	databaseFile   = "palmares.sqlite.zst"
)

// Files lists them in the order of the manifest.
var Files = func() (names []string) {
	for _, kind := range catalog.Kinds {
		names = append(names, FileOf(kind))
	}
	return append(names, ChunksFile, gzipChunksFile, toolTableFile, priceFile, proofTableFile, databaseFile)
}()

// FileOf returns the name of the file with the records of a kind.
func FileOf(kind *catalog.Kind) string {
	if kind == catalog.CatalogueKind {
		return catalogueFile
	}
	return kind.Folder + ".ndjson.zst"
}

// NeedsKey reports whether callers need a key for a file.
func NeedsKey(name string) bool { return name == ChunksFile || name == gzipChunksFile }

// contentTypes are the types of the files, by extension.
var contentTypes = map[string]string{
	".zst": "application/zstd", ".gz": "application/gzip", ".json": "application/json", ".csv": "text/csv; charset=utf-8",
}

// A Manifest describes an export.
type Manifest struct {
	Feed        string `json:"feed"`
	Version     int64  `json:"version"`
	Position    int64  `json:"position"` // in the feed, from which to follow it
	State       string `json:"state"`
	PublishedAt string `json:"published_at"`
	Credit      string `json:"credit"`
	Files       []File `json:"files"`
}

// A File is one file of an export.
type File struct {
	Path   string `json:"path"` // on the server
	Rows   int64  `json:"rows"` // records, or lines of a table without its header
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"` // in hexadecimal
	Type   string `json:"type"`
}

// Name returns the name of the file.
func (f *File) Name() string { return path.Base(f.Path) }

// An Export is the files of one version, on disk.
type Export struct {
	Manifest
	JSON []byte // the manifest as it is served
	dir  string
}

// File returns the file with a name; nil if the export has none.
func (x *Export) File(name string) *File {
	i := slices.IndexFunc(x.Files, func(f File) bool { return f.Name() == name })
	if i < 0 {
		return nil
	}
	return &x.Files[i]
}

// Open opens a file of the export. It fails if another process has just removed it.
func (x *Export) Open(f *File) (*os.File, error) { return os.Open(filepath.Join(x.dir, f.Name())) }

// nameOf returns the name of the export of a snapshot by a release: v<version>-<build>.
// The build stands for everything that decides about the bytes, so that two different
// exports never have one address: not in a rolling upgrade, and not after a database was
// replaced or restored.
func nameOf(s *snapshot.Snapshot, release string) string {
	h := sha256.New()
	feed := s.Feed
	for _, part := range []string{
		release, strconv.Itoa(Format), feed.ID, feed.State, strconv.FormatInt(feed.Last, 10),
		s.PublishedAt, s.Catalog.CreditLine(), s.Catalog.Settings.Dataset,
	} {
		h.Write(append([]byte(part), 0))
	}
	return "v" + strconv.FormatInt(s.Version, 10) + "-" + hex.EncodeToString(h.Sum(nil)[:6])
}

// Version returns the version of the export with a name, and whether that is the name of
// an export at all.
func Version(name string) (version int64, ok bool) {
	found := exportName.FindStringSubmatch(name)
	if found == nil {
		return 0, false
	}
	version, err := strconv.ParseInt(found[1], 10, 64)
	return version, err == nil
}

var exportName = regexp.MustCompile(`^v(0|[1-9][0-9]*)-[0-9a-f]{12}$`)

// isHeads reports whether the publisher gives away no bodies.
func isHeads(c *catalog.Catalog) bool { return c.Settings.Dataset == catalog.DatasetHead }
