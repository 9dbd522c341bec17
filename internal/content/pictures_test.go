package content

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	goimage "image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"palmares/internal/catalog"
	"palmares/internal/problem"
)

// drawing returns a PNG of the given width that differs from others by its seed.
func drawing(width int, seed byte) []byte {
	img := goimage.NewNRGBA(goimage.Rect(0, 0, width, width/2+1))
	for y := range width/2 + 1 {
		for x := range width {
			img.Set(x, y, color.NRGBA{byte(x) ^ seed, byte(y), byte(x * y), 255})
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func hashOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// drawn has every drawing of a width up to 99.
type drawn struct{}

func (drawn) Read(_ context.Context, hash string) ([]byte, error) {
	for i := range 99 {
		if d := drawing(i+1, 0); hashOf(d) == hash {
			return d, nil
		}
	}
	return nil, fmt.Errorf("no drawing has the hash %s", hash)
}

// addPictures adds pictures that fields use.
func addPictures(c *catalog.Catalog) {
	c.Pictures = map[string]catalog.Picture{}
	for i, file := range []string{"images/logo.png", "images/a/b/image.png"} {
		content := drawing(20+i, 0)
		hash := hashOf(content)
		c.Pictures[file] = catalog.Picture{Path: file, Source: hash, Hash: hash, Ext: "png", Width: 20 + i, Height: (20+i)/2 + 1}
	}
	c.Tools[0].Logo, c.Tools[0].Image = "images/logo.png", "images/a/b/image.png"
	c.Comparisons[0].Image, c.Pages[0].Image, c.Settings.Logo = "images/a/b/image.png", "images/logo.png", "images/logo.png"
	c.Settings.ShareImage = "images/a/b/image.png"
}

// withImages returns a folder with a tool that has the given fields and body.
func withImages(fields, body string, images map[string]string) fstest.MapFS {
	files := map[string]string{"outils/boreal.md": strings.Replace(someTool, "---\n", "---\n"+fields, 1) + body}
	for name, content := range images {
		files[name] = content
	}
	return folderOf(files)
}

func TestPicturesInUseAreSpooledWithTheirVariants(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	wide, logo := drawing(1200, 1), drawing(30, 2)
	r := readAll(t, withImages("logo: images/logo.png\n", "\n![Écran](../images/ecrans/large.png)\n", map[string]string{
		"images/logo.png": string(logo), "images/ecrans/large.png": string(wide), "images/copie.png": string(logo), "images/.DS_Store": "x",
	}), Options{})
	if len(r.Problems) > 0 {
		t.Fatal(r.Problems)
	}
	if diff := cmp.Diff([]Warning{{"images/copie.png", 1, problem.New("picture-unused")}}, r.Warnings); diff != "" {
		t.Error(diff)
	}
	got := r.Catalog.Pictures
	if len(got) != 2 || len(got["images/ecrans/large.png"].Variants) == 0 || got["images/logo.png"].Width != 30 {
		t.Fatalf("pictures %+v", got)
	}
	for _, p := range got {
		for _, name := range p.Names() {
			content, err := r.Pictures.Read(t.Context(), name)
			if err != nil || hashOf(content) != name && !strings.HasPrefix(name, p.Hash+"-") {
				t.Errorf("%s: %d bytes, %v", name, len(content), err)
			}
		}
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestAKnownPictureIsNotDecodedAgain(t *testing.T) {
	content := "\x89PNG\r\n\x1a\n and then nothing that could be decoded"
	known := catalog.Picture{Path: "images/ancien.png", Hash: "abc", Ext: "png", Width: 3, Height: 4}
	r := readAll(t, withImages("logo: images/logo.jpg\n", "", map[string]string{"images/logo.jpg": content}), Options{
		Known: func(source string) (catalog.Picture, bool) { return known, source == hashOf([]byte(content)) },
	})
	known.Path, known.Source = "images/logo.jpg", hashOf([]byte(content))
	if r.Catalog == nil {
		t.Fatal(r.Problems)
	}
	if diff := cmp.Diff(map[string]catalog.Picture{known.Path: known}, r.Catalog.Pictures); diff != "" {
		t.Error(diff)
	}
	if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0].Text.English, "rename it to end in .png") {
		t.Errorf("warnings %v", r.Warnings)
	}
}

func TestLinksInImagesAreNotFollowed(t *testing.T) {
	dir := diskFolder(t, map[string]string{"outils/boreal.md": someTool, "images/a.png": string(drawing(30, 0))})
	for to, from := range map[string]string{"a.png": "images/lien.png", ".": "images/boucle", "/etc/passwd": "images/dehors.png"} {
		if err := os.Symlink(to, filepath.Join(dir, from)); err != nil {
			t.Fatal(err)
		}
	}
	_, problems, err := readDir(t, dir)
	if err != nil {
		t.Fatal(err)
	}
	const rejected = ":1: links are not followed here; replace it with the file itself"
	wantProblems(t, problems, "images/boucle"+rejected, "images/dehors.png"+rejected, "images/lien.png"+rejected)
}

func TestAPictureThatOnlyADraftUsesIsNotPublished(t *testing.T) {
	folder := withImages("draft: true\nlogo: images/a.png\n", "", map[string]string{"images/a.png": string(drawing(30, 0))})
	if r := readAll(t, folder, Options{}); len(r.Problems)+len(r.Warnings) > 0 || len(r.Catalog.Tools)+len(r.Catalog.Pictures) > 0 {
		t.Errorf("%+v", r)
	}
	if r := readAll(t, folder, Options{Drafts: true}); len(r.Problems)+len(r.Warnings) > 0 || len(r.Catalog.Tools) != 1 || len(r.Catalog.Pictures) != 1 {
		t.Errorf("%+v", r)
	}
}
