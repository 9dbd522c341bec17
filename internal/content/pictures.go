package content

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"palmares/internal/catalog"
	"palmares/internal/picture"
	"palmares/internal/problem"
)

// maxImagePath is the maximum length of the path of a picture, in bytes.
const maxImagePath = 200

type image struct {
	file    string // its path in the folder, in whatever Unicode form
	isUsed  bool   // by a record that is published
	inDraft bool   // by a draft
}

// A gallery has the pictures of a folder, by imageKey.
type gallery map[string]*image

// imageKey returns the path of a picture in the Unicode form NFC, in which all pictures
// are kept: some systems store é as two characters, most editors write one.
func imageKey(name string) string { return norm.NFC.String(name) }

// isImagePath reports whether s is the path of a picture as fields have it.
func isImagePath(s string) bool {
	return strings.HasPrefix(s, imageFolder+"/") && path.Clean(s) == s && isPortable(s)
}

// isPortable reports whether a path works on every system and in every URL.
func isPortable(s string) bool {
	return len(s) <= maxImagePath && utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool {
		return r == '\\' || unicode.IsControl(r) || isHidden(r)
	})
}

// isDigest reports whether s is a SHA-256 in lower-case hexadecimal.
func isDigest(s string) bool {
	return len(s) == hex.EncodedLen(sha256.Size) && strings.Trim(s, "0123456789abcdef") == ""
}

// listImages finds the files of images/. Links are never followed: there is no need
// for them, and they may form circles.
func (f *folder) listImages() error {
	f.images = gallery{}
	names := map[string]string{} // by name in lower case
	err := fs.WalkDir(f.fsys, imageFolder, func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			f.problem(name, 1, "folder-unreadable", rootCause(err))
			return fs.SkipDir
		case name != imageFolder && IsIgnored(e.Name()):
			if e.IsDir() {
				return fs.SkipDir
			}
			return nil
		case e.Type()&fs.ModeSymlink != 0:
			f.problem(name, 1, "image-link")
			return nil
		case e.IsDir():
			return nil
		case !e.Type().IsRegular():
			f.problem(name, 1, "irregular-file")
			return nil
		case !isPortable(name):
			f.problem(strings.ToValidUTF8(name, "?"), 1, "picture-path-odd", maxImagePath)
			return nil
		}
		key := imageKey(name)
		switch first, taken := names[strings.ToLower(key)]; {
		case taken && f.images[key] != nil:
			f.problem(name, 1, "same-name-accents")
			return nil
		case taken:
			f.problem(name, 1, "same-name-case", first)
		default:
			names[strings.ToLower(key)] = name
		}
		f.images[key] = &image{file: name}
		return nil
	})
	if err != nil {
		return problem.Wrap(err, "named-folder-unreadable", imageFolder, err)
	}
	return nil
}

// similar asks whether a picture was meant whose name differs only in case.
func (g gallery) similar(name string) problem.Text {
	if strings.HasPrefix(path.Base(name), ".") {
		return problem.New("hint-dot")
	}
	for known := range g {
		if strings.EqualFold(known, imageKey(name)) {
			return problem.New("meant", known)
		}
	}
	return problem.Text{}
}

// mark notes that a picture is used, and reports whether there is one.
func (g gallery) mark(name string, isDraft bool) bool {
	im, ok := g[imageKey(name)]
	if ok {
		im.isUsed = im.isUsed || !isDraft
		im.inDraft = im.inDraft || isDraft
	}
	return ok
}

// readPictures checks every file of images/ and sets the pictures of the catalogue to
// those in use. New ones go to the spool with their variants. Pictures are decoded one
// at a time, while the variants of the previous one are made.
func (f *folder) readPictures(ctx context.Context, opts Options, c *catalog.Catalog, spool *Pictures) error {
	m := variantMaker{spool: spool, work: make(chan *spooled)}
	var running sync.WaitGroup
	running.Go(func() {
		for s := range m.work {
			if m.err == nil {
				m.err = m.make(s)
			}
			s.checked = nil
		}
	})
	kept, err := f.inspectAll(ctx, opts, m.work)
	close(m.work)
	running.Wait()
	err = errors.Join(err, m.err)
	if err != nil {
		return err
	}
	for _, k := range kept {
		if k.failure != nil {
			f.tell(k.name, 1, k.failure)
			continue
		}
		if c.Pictures == nil {
			c.Pictures = map[string]catalog.Picture{}
		}
		p := k.picture
		p.Path, p.Source = k.name, k.source
		c.Pictures[k.name] = p
	}
	return nil
}

// A keptPicture is a file whose picture is part of the catalogue.
type keptPicture struct {
	name, source string
	*spooled
}

// A spooled is a picture of the folder, which several files may hold.
type spooled struct {
	picture catalog.Picture  // without variants until the maker has made them
	checked *picture.Picture // nil if the picture was published before
	failure error            // for the editors
}

// A variantMaker spools pictures and makes their variants, one picture after the other.
type variantMaker struct {
	spool *Pictures
	work  chan *spooled
	err   error
}

func (m *variantMaker) make(s *spooled) error {
	if err := m.spool.add(s.checked.File); err != nil {
		return err
	}
	var variants []picture.File
	variants, s.failure = s.checked.Variants()
	for _, v := range variants {
		s.picture.Variants = append(s.picture.Variants, catalog.Variant{
			Name: v.Name, Ext: v.Ext, Width: v.Width, Height: v.Height,
		})
		if err := m.spool.add(v); err != nil {
			return err
		}
	}
	return nil
}

// inspectAll checks every file of images/ and returns those that are kept. New pictures
// are sent to work.
func (f *folder) inspectAll(ctx context.Context, opts Options, work chan<- *spooled) ([]keptPicture, error) {
	var kept []keptPicture
	bySource := map[string]*spooled{}
	for _, name := range slices.Sorted(maps.Keys(f.images)) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		im := f.images[name]
		source, isElsewhere := opts.Elsewhere[im.file]
		var content []byte
		if !isElsewhere {
			var failure error
			content, failure = f.readImage(im.file)
			if failure != nil {
				f.tell(name, 1, failure)
				continue
			}
			sum := sha256.Sum256(content)
			source = hex.EncodeToString(sum[:])
		}
		s := bySource[source]
		if s == nil && opts.Known != nil {
			if p, known := opts.Known(source); known {
				s = &spooled{picture: p}
			}
		}
		isKept := im.isUsed || opts.Drafts && im.inDraft
		switch {
		case s != nil:
			f.warnAll(name, picture.NameWarnings(name, s.picture.Ext))
		default:
			s = f.inspect(name, content)
			if s == nil {
				continue
			}
			if isKept && len(f.problems) == 0 {
				work <- s
			} else {
				s.checked.Release()
			}
		}
		switch {
		case isKept:
			bySource[source] = s
			kept = append(kept, keptPicture{name, source, s})
		case !im.inDraft:
			f.warn(name, 1, "picture-unused")
		}
	}
	return kept, nil
}

// pictureEndings are those of files that are meant to be pictures.
var pictureEndings = []string{
	".png", ".jpg", ".jpeg", ".jpe", ".jfif", ".webp", ".gif", ".svg", ".svgz", ".bmp", ".tif", ".tiff", ".ico", ".heic",
	".heif", ".avif", ".jxl",
}

// inspect checks a picture that was not published before, and returns nil if it does not
// pass. Files other than pictures are allowed in the folder as long as nothing uses
// them.
func (f *folder) inspect(name string, content []byte) *spooled {
	checked, warnings, failure := picture.Inspect(name, content)
	if failure != nil {
		if im := f.images[name]; im.isUsed || im.inDraft || slices.Contains(pictureEndings, strings.ToLower(path.Ext(name))) {
			f.tell(name, 1, failure)
		} else {
			f.warnOf(name, 1, failure)
		}
		return nil
	}
	f.warnAll(name, warnings)
	return &spooled{
		picture: catalog.Picture{Hash: checked.Name, Ext: checked.Ext, Width: checked.Width, Height: checked.Height},
		checked: checked,
	}
}

func (f *folder) warnAll(name string, warnings []problem.Text) {
	for _, w := range warnings {
		f.warnOf(name, 1, w)
	}
}

// readImage returns the content of a picture, or a problem.
func (f *folder) readImage(name string) (content []byte, failure error) {
	file, err := f.fsys.Open(name)
	if err != nil {
		return nil, problem.New("file-unreadable", rootCause(err))
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, problem.New("file-unreadable", rootCause(err))
	}
	if err := picture.CheckSize(info.Size()); err != nil {
		return nil, err
	}
	content = make([]byte, info.Size()+1)
	n, err := io.ReadFull(file, content)
	switch {
	case err == nil:
		return nil, problem.New("file-changed")
	case !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
		return nil, problem.New("file-unreadable", rootCause(err))
	}
	return content[:n], nil
}
