package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
)

// The magazine is published on these days.
var magazineDays = []time.Time{
	time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC), time.Date(2026, 11, 3, 9, 0, 0, 0, time.UTC), time.Date(2026, 11, 5, 9, 0, 0, 0, time.UTC),
}

// publishMagazine publishes the magazine as it was on each of its days, and returns the
// folder.
func publishMagazine(t *testing.T, database string) (dir string) {
	t.Helper()
	archive, err := txtar.ParseFile("testdata/magazine.txtar")
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	for name, content := range magazinePictures(t) {
		writeFile(t, filepath.Join(dir, "images", name), content)
	}
	for i, now := range magazineDays {
		for _, file := range archive.Files {
			name, today := strings.CutPrefix(file.Name, fmt.Sprintf("%d/", i+1))
			switch name = filepath.Join(dir, name); {
			case today && len(file.Data) > 0:
				writeFile(t, name, file.Data)
			case today:
				if err := os.Remove(name); err != nil {
					t.Fatal(err)
				}
			}
		}
		if out := publishOn(t, now, dir, database); !strings.Contains(out, fmt.Sprintf("published version %d:", i+1)) {
			t.Fatal(out)
		}
	}
	return dir
}

// publishOn publishes a folder at a time and returns what the command prints.
func publishOn(t *testing.T, now time.Time, dir, database string) string {
	t.Helper()
	var out bytes.Buffer
	c := publishCommand{Dir: dir, checkOptions: checkOptions{Format: "text"}}
	err := c.Run(&invocation{
		ctx: t.Context(), stdout: &out, stderr: &out, database: database, now: func() time.Time { return now },
	})
	if err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	return out.String()
}

func writeFile(t *testing.T, name string, content []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// magazinePictures are one of each format: with and without smaller versions, turned,
// transparent, animated.
func magazinePictures(t *testing.T) map[string][]byte {
	t.Helper()
	draw := func(width, height int, alpha uint8) *image.NRGBA {
		img := image.NewNRGBA(image.Rect(0, 0, width, height))
		for y := range height {
			for x := range width {
				img.SetNRGBA(x, y, color.NRGBA{uint8(x), uint8(y), uint8(x ^ y), alpha})
			}
		}
		return img
	}
	encode := func(img image.Image, encode func(io.Writer, image.Image) error) []byte {
		var b bytes.Buffer
		if err := encode(&b, img); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	photo := encode(draw(1200, 500, 255), func(w io.Writer, img image.Image) error { return jpeg.Encode(w, img, nil) })
	// A camera that was held upright: EXIF says to turn the picture.
	exif := "Exif\x00\x00MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00\x06\x00\x00\x00\x00\x00\x00"
	segment := append(binary.BigEndian.AppendUint16([]byte{0xff, 0xe1}, uint16(len(exif)+2)), exif...)
	frame := image.NewPaletted(image.Rect(0, 0, 200, 100), color.Palette{color.Black, color.White})
	moving := encode(nil, func(w io.Writer, _ image.Image) error {
		return gif.EncodeAll(w, &gif.GIF{Image: []*image.Paletted{frame, frame}, Delay: []int{10, 10}})
	})
	webp, err := os.ReadFile("../../internal/picture/testdata/metadata.webp")
	if err != nil {
		t.Fatal(err)
	}
	return map[string][]byte{
		"titre.png": encode(draw(64, 64, 100), png.Encode), "plume/logo.png": encode(draw(256, 256, 255), png.Encode),
		"banc.png": encode(draw(700, 300, 200), png.Encode), "brouillon.png": encode(draw(9, 9, 255), png.Encode),
		"plume/photo.jpg": slices.Concat(photo[:2], segment, photo[2:]), "mouvement.gif": moving, "ecran.webp": webp,
	}
}

// TestAnExportIsTheSameCatalogueInEveryDatabase follows every link of the site, asks the
// API for everything, and compares the answers of the original with those of copies.
func TestAnExportIsTheSameCatalogueInEveryDatabase(t *testing.T) {
	t.Parallel()
	last := magazineDays[len(magazineDays)-1]
	originals := []string{databases.SQLite(t), databases.Postgres(t)}
	exports := make([]string, len(originals))
	for i, database := range originals {
		publishMagazine(t, database)
		exports[i] = filepath.Join(t.TempDir(), "export")
		must(t, "export", exports[i], "--database", database)
		if out := publishOn(t, last.AddDate(0, 0, 7), exports[i], database); !strings.Contains(out, "nothing changed: version 3 stands") {
			t.Errorf("published where it was exported: %s", out)
		}
	}
	copies := []string{databases.SQLite(t), databases.Postgres(t)}
	for i, database := range copies {
		publishOn(t, last.Add(time.Hour), exports[i], database)
	}
	bulk := filepath.Join(t.TempDir(), "bulk")
	must(t, "export", bulk, "--jsonl", "--database", originals[0])
	copies = append(copies, databases.SQLite(t))
	publishOn(t, last.Add(time.Hour), bulk, copies[2])

	original := newCrawler(t, originals[0])
	original.slugs = []string{"plume-ide", "stylo", "lime", "lime-ou-scie", "scie-ou-plume", "futur", "nul"} // aliases, a draft, nothing
	original.start = []string{
		"/outils?q=plume", "/outils?q=relit+texte", "/outils/lime", "/categories/redaction", "/comparatifs/scie-ou-plume", "/comparatifs/lime-ou-scie.md", "/outils/varlope",
		"/outils/futur", "/api/v1/tools?sort=name_desc&limit=2", "/api/v1/tools?score_min=7&obsolescence_max=5", "/api/v1/tools?category=code&limit=1",
		"/api/v1/comparatifs?category=image", "/api/v1/pricing?limit=2&page=2", "/api/v1/cimetiere?reason=mort",
	}
	var others []*crawler
	for _, database := range append(copies, originals[1]) {
		others = append(others, newCrawler(t, database))
	}
	paths := original.crawl()
	for _, path := range paths {
		if path == "/" { // has what happened, as each database saw it
			continue
		}
		want := original.answer(path)
		for i, other := range others {
			if got := other.answer(path); got != want {
				t.Errorf("%s differs in copy %d:\n%.2000s\n\nis\n\n%.2000s", path, i, want, got)
			}
		}
	}
	t.Logf("%d answers", len(paths))
	for _, path := range []string{
		"/", "/outils/plume.md", "/avis/plume", "/alternatives/scie", "/outils/lime", "/categories/redaction", "/comparatifs/scie-ou-plume", "/methode", "/licence.md",
		"/sitemap.xml", "/llms.txt", "/prix", "/carte", "/cimetiere.md", "/api/v1/tools", "/api/v1/tools/stylo", "/api/v1/comparatifs/lime-ou-scie", "/api/v1/pricing/burin", "/api/embeddings/plume",
	} {
		if !slices.Contains(paths, path) {
			t.Errorf("%s was not compared", path)
		}
	}
	for _, ext := range []string{".png", ".jpg", ".webp", ".gif"} {
		if !slices.ContainsFunc(paths, func(p string) bool { return strings.HasPrefix(p, "/media/") && strings.HasSuffix(p, ext) }) {
			t.Errorf("no %s was compared", ext)
		}
	}
}
