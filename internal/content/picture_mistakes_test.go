package content

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	stdimage "image"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

// A picture of n by n pixels that does not compress to nothing.
func somePixels(n int) stdimage.Image {
	m := stdimage.NewGray(stdimage.Rect(0, 0, n, n))
	for i := range m.Pix {
		m.Pix[i] = byte(i * i >> 3)
	}
	return m
}

func somePNG(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, somePixels(16)); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func someJPEG(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, somePixels(16), nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// bomb returns a PNG that claims to be 100,000 pixels wide and high.
func bomb(t *testing.T) []byte {
	t.Helper()
	b := somePNG(t)
	header := b[12:29] // IHDR and its data
	binary.BigEndian.PutUint32(header[4:], 100_000)
	binary.BigEndian.PutUint32(header[8:], 100_000)
	binary.BigEndian.PutUint32(b[29:], crc32.ChecksumIEEE(header))
	return b
}

// A pictureFolder has one tool, whose review shows images/a.png.
func pictureFolder(fields string, images map[string][]byte) fstest.MapFS {
	folder := folderOf(map[string]string{"outils/essai.md": "---\n" + someFields + fields + "---\n![vue](../images/a.png)\n"})
	for name, content := range images {
		folder["images/"+name] = &fstest.MapFile{Data: content}
	}
	return folder
}

func TestMistakesInPictureFilesAreReportedWithTheirFile(t *testing.T) {
	picture, photo := somePNG(t), someJPEG(t)
	damaged := bytes.Clone(picture)
	damaged[len(damaged)-20] ^= 0xff
	for _, c := range []struct {
		name, file string
		content    []byte
		want       string
	}{
		{"an empty file", "a.png", nil, "images/a.png:1: the file is empty; export or copy the picture again"},
		{"half a PNG", "a.png", picture[:len(picture)/2], "images/a.png:1: the picture ends too early; it was probably not copied or downloaded completely, so copy it again"},
		{"half a JPEG", "a.png", photo[:len(photo)/2], "images/a.png:1: the picture ends too early; it was probably not copied or downloaded completely, so copy it again"},
		{"a damaged PNG", "a.png", damaged, "images/a.png:1: the picture is damaged"},
		{"a bomb", "a.png", bomb(t), "images/a.png:1: the picture is 100000 × 100000 pixels, and at most 24 megapixels are allowed; scale it down"},
		{"too many bytes", "a.png", append(bytes.Clone(picture), make([]byte, 11<<20)...), "images/a.png:1: the picture takes 11.0 MiB, and at most 10 MiB are allowed; scale it down"},
		{"an SVG", "a.png", []byte(`<svg xmlns="http://www.w3.org/2000/svg"/>`), "images/a.png:1: this is an SVG picture, which is not accepted because SVG can carry script; export it as PNG"},
		{"an SVG that nothing uses", "b.svg", []byte(`<svg xmlns="http://www.w3.org/2000/svg"/>`), "images/b.svg:1: this is an SVG picture, which is not accepted because SVG can carry script; export it as PNG"},
		{"a page", "a.png", []byte("<!doctype html><title>Not found</title>"), "images/a.png:1: this is an HTML page, not a picture; download the picture itself"},
		{"a pointer", "a.png", []byte("version https://git-lfs.github.com/spec/v1\n"), "images/a.png:1: this is a Git LFS pointer, not the picture; run `git lfs pull` and try again"},
		{"a photo of a phone", "a.png", []byte("\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic"), "images/a.png:1: this is an HEIC picture, which is not accepted; "},
		{"an AVIF", "a.png", []byte("\x00\x00\x00\x18ftypavif\x00\x00\x00\x00mif1avif"), "images/a.png:1: this is an AVIF picture, which is not accepted; "},
		{"a video", "a.png", []byte("\x00\x00\x00\x18ftypisom\x00\x00\x00\x00isommp42"), "images/a.png:1: this is a video, which is not accepted; "},
		{"a bitmap", "a.png", []byte("BM\x00\x00\x00\x00"), "which is not accepted; "},
		{"a text", "a.png", []byte("bonjour"), "images/a.png:1: this is not a picture in a known format; "},
		{"a name in two cases", "A.png", picture, "images/a.png:1: the name differs from images/A.png only in case, which many systems cannot store; rename one of the two"},
		{"a name with a backslash", `b\c.png`, picture, `images/b\c.png:1: the path of a picture must be UTF-8 text of at most 200 bytes without backslashes and control characters; rename it`},
		{"a name with a line break", "b\nc.png", picture, "the path of a picture must be UTF-8 text of at most 200 bytes without backslashes and control characters; rename it"},
		{"a long name", strings.Repeat("b", 200) + ".png", picture, "the path of a picture must be UTF-8 text of at most 200 bytes without backslashes and control characters; rename it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			folder := pictureFolder("", map[string][]byte{"a.png": picture})
			folder["images/"+c.file] = &fstest.MapFile{Data: c.content}
			expectOne(t, folder, c.want)
		})
	}
}

func TestMistakesInPictureFieldsAreReportedWithTheirLine(t *testing.T) {
	line := strings.Count("---\n"+someFields, "\n") + 1
	const want = "must be the path of a picture from the root of the folder, such as images/logo.png, not "
	for _, c := range []struct{ name, field, want string }{
		{"a picture that is missing", "logo: images/absent.png", `logo "images/absent.png" is not in the folder`},
		{"another case", "logo: images/A.PNG", `logo "images/A.PNG" is not in the folder; did you mean images/a.png?`},
		{"a path from the file", "image: ../images/a.png", "image " + want + `"../images/a.png"`},
		{"a path out of the folder", "image: images/../../a.png", "image " + want + `"images/../../a.png"`},
		{"a path from the root", "image: /images/a.png", "image " + want + `"/images/a.png"`},
		{"a name alone", "logo: a.png", "logo " + want + `"a.png"`},
		{"a picture of another host", "logo: https://x.example/a.png", "logo " + want + `"https://x.example/a.png"`},
		{"two pictures", "logo: [images/a.png]", "logo " + want + "a list"},
	} {
		t.Run(c.name, func(t *testing.T) {
			expectOne(t, pictureFolder(c.field+"\n", map[string][]byte{"a.png": somePNG(t)}), fmt.Sprintf("outils/essai.md:%d: %s", line, c.want))
		})
	}
}

// expectOne expects one problem, which contains want.
func expectOne(t *testing.T, folder fstest.MapFS, want string) {
	t.Helper()
	if c, problems := read(t, folder); len(problems) != 1 || c != nil || !strings.Contains(problems[0].String(), want) {
		t.Errorf("%v\nwant: %s", problems, want)
	}
}

func TestAPictureThatIsALinkIsAProblem(t *testing.T) {
	dir := t.TempDir()
	for name, f := range pictureFolder("", map[string][]byte{"a.png": somePNG(t)}) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("a.png", filepath.Join(dir, "images/b.png")); err != nil {
		t.Fatal(err)
	}
	_, problems, err := readDir(t, dir)
	if want := "images/b.png:1: links are not followed here; replace it with the file itself"; err != nil || len(problems) != 1 || problems[0].String() != want {
		t.Errorf("%v, %v; want %s", problems, err, want)
	}
}

func TestPicturesThatAreAcceptedWithAWarning(t *testing.T) {
	for _, c := range []struct {
		name, file string
		content    []byte
		want       string
	}{
		{"a JPEG with the name of a PNG", "a.png", someJPEG(t), "images/a.png:1: warning: this is a JPEG picture, but its name ends in .png; rename it to end in .jpg"},
		{"a picture that nothing uses", "b.png", somePNG(t), "images/b.png:1: warning: nothing uses this picture; "},
		{"a note beside the pictures", "sources.txt", []byte("Photos : Camille"), "images/sources.txt:1: warning: this is not a picture in a known format; "},
	} {
		t.Run(c.name, func(t *testing.T) {
			folder := pictureFolder("", map[string][]byte{"a.png": somePNG(t)})
			folder["images/"+c.file] = &fstest.MapFile{Data: c.content}
			r, err := ReadFS(t.Context(), folder, Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			if len(r.Problems) > 0 || len(r.Warnings) != 1 || !strings.HasPrefix(r.Warnings[0].String(), c.want) {
				t.Errorf("problems %v, warnings %v; want %s", r.Problems, r.Warnings, c.want)
			}
		})
	}
}

func TestACaptionThatIsNotShownIsAWarning(t *testing.T) {
	folder := pictureFolder("", map[string][]byte{"a.png": somePNG(t)})
	tool := folder["outils/essai.md"]
	first := 1 + strings.Count(string(tool.Data), "\n")
	tool.Data = append(tool.Data, `
Le ![logo](../images/a.png "La légende") bleu.

| a |
|---|
| ![logo](../images/a.png "La légende") |

![une](../images/a.png "Une")
![autre](../images/a.png "Autre")

[![vue](../images/a.png "La légende")](https://x.example)

- ![vue](../images/a.png "La légende")
`...)
	r, err := ReadFS(t.Context(), folder, Options{})
	if err != nil || len(r.Problems) > 0 {
		t.Fatal(err, r)
	}
	defer r.Close()
	const want = `outils/essai.md:%d: warning: the caption of the picture "../images/a.png" is not shown: a caption is shown only for a picture that stands alone in its paragraph`
	if got := fmt.Sprint(r.Warnings); got != fmt.Sprintf("["+want+" "+want+"]", first+1, first+5) {
		t.Error(got)
	}
}
