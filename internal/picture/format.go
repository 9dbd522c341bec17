package picture

import (
	"bytes"
	"image"
	"path"
	"slices"
	"strings"

	"palmares/internal/problem"
)

// format is one of the four formats the site serves.
type format struct {
	name    string
	ext     string
	endings []string // of file names
	parse   func(file []byte, lim limits) (*parsed, error)
	decode  func(file []byte) (image.Image, error)
}

var (
	pngFormat  = &format{"PNG", "png", []string{".png"}, parsePNG, decodePNG}
	jpegFormat = &format{"JPEG", "jpg", []string{".jpg", ".jpeg", ".jpe", ".jfif"}, parseJPEG, decodeJPEG}
	webpFormat = &format{"WebP", "webp", []string{".webp"}, parseWebP, decodeWebP}
	gifFormat  = &format{"GIF", "gif", []string{".gif"}, parseGIF, decodeGIF}
)

// formatOf goes by content. The name only helps to say what a file is that is not
// accepted anyway.
func formatOf(name string, file []byte) (*format, error) {
	starts := func(s string) bool { return bytes.HasPrefix(file, []byte(s)) }
	element, ending := firstElement(file), strings.ToLower(path.Ext(name))
	switch {
	case starts(pngSignature):
		return pngFormat, nil
	case starts("\xff\xd8"):
		return jpegFormat, nil
	case starts("RIFF") && len(file) >= 12 && string(file[8:12]) == "WEBP":
		return webpFormat, nil
	case starts("GIF87a"), starts("GIF89a"):
		return gifFormat, nil
	case starts("version https://git-lfs"):
		return nil, problem.New("git-lfs-pointer")
	case element == "svg", ending == ".svg", ending == ".svgz": // by its name if it is compressed
		return nil, problem.New("svg-picture-accepted")
	case element == "html":
		return nil, problem.New("html-page-picture")
	case isOfPhone(file):
		return nil, problem.New("phone-picture")
	}
	return nil, problem.New("unknown-format")
}

// isOfPhone reports whether a file is a picture as recent phones take them.
func isOfPhone(file []byte) bool {
	if len(file) < 12 || string(file[4:8]) != "ftyp" {
		return false
	}
	// The major brand, a version, then compatible brands.
	brands := string(file[8:min(len(file), 64)])
	return slices.ContainsFunc([]string{"avif", "avis", "heic", "heix", "hevc", "mif1", "msf1"},
		func(brand string) bool { return strings.Contains(brands, brand) })
}

// firstElement tells svg and html from all others, which are "".
func firstElement(file []byte) string {
	text := opening(file)
	if !strings.HasPrefix(text, "<") {
		return ""
	}
	svg, html := strings.Index(text, "<svg"), strings.Index(text, "<html")
	switch {
	case strings.HasPrefix(text, "<!doctype html"), html >= 0 && (svg < 0 || html < svg):
		return "html"
	case svg >= 0, strings.HasPrefix(text, "<!doctype svg"):
		return "svg"
	}
	return ""
}

// opening returns the start of a text file in lower case, also when it is UTF-16.
func opening(file []byte) string {
	text := string(file[:min(len(file), 4096)])
	text = strings.ReplaceAll(text, "\x00", "")
	for _, mark := range []string{"\xef\xbb\xbf", "\xff\xfe", "\xfe\xff"} {
		text = strings.TrimPrefix(text, mark)
	}
	return strings.ToLower(strings.TrimSpace(text))
}

// nameWarning compares the name with what the file is. The picture is served by its
// content, so nothing breaks; but other programs go by the name.
func nameWarning(f *format, name string) []problem.Text {
	ending := path.Ext(name)
	if slices.Contains(f.endings, strings.ToLower(ending)) {
		return nil
	}
	if ending == "" {
		return []problem.Text{problem.New("picture-without-ending", f.name, f.ext)}
	}
	return []problem.Text{problem.New("picture-other-ending", f.name, ending, f.ext)}
}

// NameWarnings returns what Inspect says about the name of a picture that passed it
// before, given the Ext that it found.
func NameWarnings(name, ext string) []problem.Text {
	for _, f := range []*format{pngFormat, jpegFormat, webpFormat, gifFormat} {
		if f.ext == ext {
			return nameWarning(f, name)
		}
	}
	return nil
}
