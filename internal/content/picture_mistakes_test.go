package content

import (
	"bytes"
	"fmt"
	stdimage "image"
	"image/jpeg"
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

func someJPEG(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, somePixels(16), nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
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
	picture := drawing(16, 0)
	for _, c := range []struct {
		name, file string
		content    []byte
		want       string
	}{
		{"an empty file", "a.png", nil, "images/a.png:1: the file is empty; export or copy the picture again"},
		{"half a PNG", "a.png", picture[:len(picture)/2], "images/a.png:1: the picture ends too early; it was probably not copied or downloaded completely, so copy it again"},
		{"too many bytes", "a.png", append(bytes.Clone(picture), make([]byte, 11<<20)...), "images/a.png:1: the picture takes 11.0 MiB, and at most 10 MiB are allowed; scale it down"},
		{"an SVG", "a.png", []byte(`<svg xmlns="http://www.w3.org/2000/svg"/>`), "images/a.png:1: this is an SVG picture, which is not accepted because SVG can carry script; export it as PNG"},
		{"an SVG that nothing uses", "b.svg", []byte(`<svg xmlns="http://www.w3.org/2000/svg"/>`), "images/b.svg:1: this is an SVG picture, which is not accepted because SVG can carry script; export it as PNG"},
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
		{"a number", "logo: 3", "logo " + want + "the number 3"},
		{"a path with a backslash", `logo: images\logo.png`, "logo " + want},
		{"two pictures", "logo: [images/a.png]", "logo " + want + "a list"},
	} {
		t.Run(c.name, func(t *testing.T) {
			expectOne(t, pictureFolder(c.field+"\n", map[string][]byte{"a.png": drawing(16, 0)}), fmt.Sprintf("outils/essai.md:%d: %s", line, c.want))
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

func TestPicturesThatAreAcceptedWithAWarning(t *testing.T) {
	for _, c := range []struct {
		name, file string
		content    []byte
		want       string
	}{
		{"a JPEG with the name of a PNG", "a.png", someJPEG(t), "images/a.png:1: warning: this is a JPEG picture, but its name ends in .png; rename it to end in .jpg"},
		{"a picture that nothing uses", "b.png", drawing(16, 0), "images/b.png:1: warning: nothing uses this picture; "},
		{"a note beside the pictures", "sources.txt", []byte("Photos : Camille"), "images/sources.txt:1: warning: this is not a picture in a known format; "},
	} {
		t.Run(c.name, func(t *testing.T) {
			folder := pictureFolder("", map[string][]byte{"a.png": drawing(16, 0)})
			folder["images/"+c.file] = &fstest.MapFile{Data: c.content}
			r := readAll(t, folder, Options{})
			if len(r.Problems) > 0 || len(r.Warnings) != 1 || !strings.HasPrefix(r.Warnings[0].String(), c.want) {
				t.Errorf("problems %v, warnings %v; want %s", r.Problems, r.Warnings, c.want)
			}
		})
	}
}

func TestACaptionThatIsNotShownIsAWarning(t *testing.T) {
	folder := pictureFolder("", map[string][]byte{"a.png": drawing(16, 0)})
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
	r := readAll(t, folder, Options{})
	if len(r.Problems) > 0 {
		t.Fatal(r.Problems)
	}
	const want = `outils/essai.md:%d: warning: the caption of the picture "../images/a.png" is not shown: a caption is shown only for a picture that stands alone in its paragraph`
	if got := fmt.Sprint(r.Warnings); got != fmt.Sprintf("["+want+" "+want+"]", first+1, first+5) {
		t.Error(got)
	}
}
