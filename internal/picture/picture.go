// Package picture turns a file of a content folder's images/ into what the site
// serves: the same picture without its metadata, and smaller versions of it.
//
// A browser reads only a few parts of a picture file. Inspect copies those parts
// and nothing else, so EXIF and GPS data, XMP, comments, thumbnails and whatever
// follows the end of the picture disappear because they were never copied, and
// the compressed pixels stay byte for byte what they were. There is one exception:
// a JPEG that its EXIF data turns is turned here and encoded again, because the
// EXIF data that says so is removed.
//
// What is served is what was checked: sizes are read from the copied header
// before memory is allocated for pixels, then the copy is decoded to the end. So
// every file that passes is complete, and no file can claim more than the limits
// below.
//
// A result is named by the hash of its bytes; inspecting a result again changes
// nothing. A smaller version is named by the picture that it was made from and its
// width, because its bytes may differ between processors and releases.
package picture

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"image"
	"image/jpeg"
	"image/png"
	"io"

	"palmares/internal/problem"
)

// Limits of a file. Memory needed while one picture is decoded is at most about
// 16 bytes per pixel, 400 MB, for the worst kind of file (a progressive JPEG
// without chroma subsampling); an ordinary JPEG of 1600 × 1200 needs 3 MB.
const (
	MaxBytes  = 10 << 20
	MaxPixels = 24_000_000
)

type limits struct {
	bytes  int
	pixels int
	// All frames of an animation together. Browsers decode each frame anew, so many
	// large frames cost readers what one huge picture would.
	framePixels int
}

var published = limits{bytes: MaxBytes, pixels: MaxPixels, framePixels: 10 * MaxPixels}

// File is a picture file as it is stored and served.
type File struct {
	Bytes         []byte
	Name          string // SHA-256 of Bytes in lower-case hexadecimal; of a smaller version, see Variants
	Ext           string // png, jpg, webp or gif
	Width, Height int
}

// Picture is a file that passed Inspect. It keeps the decoded pixels for Variants,
// so a caller that inspects many pictures calls Variants or Release on each before
// the next. A Picture must not be used by several goroutines at once.
type Picture struct {
	File
	Animated bool

	format *format
	colour colour
	pixels image.Image // nil once used
}

// colour is how the numbers of a picture become colours. Variants are encoded from
// those numbers, so they need the same description.
type colour struct {
	profile   []byte // ICC profile, nil for sRGB
	pngChunks []byte // the chunks of a PNG that describe colour, profile included
	pngOnly   bool   // those chunks say what a JPEG cannot
}

// parsed is what the structure of a file says, before any pixel is decoded.
type parsed struct {
	bytes         []byte // the parts a browser needs
	width, height int
	colour        colour
	orientation   int // of a JPEG, 1 to 8 as in EXIF; 0 and 1 are upright
	animated      bool
	warnings      []problem.Text
}

// Inspect checks the file and returns it as the site serves it. The error is one
// sentence for the person who put the file there, without the file's name; so are
// the warnings, which stop nothing.
func Inspect(name string, file []byte) (*Picture, []problem.Text, error) {
	return inspect(published, name, file)
}

func inspect(lim limits, name string, file []byte) (*Picture, []problem.Text, error) {
	if len(file) == 0 {
		return nil, nil, problem.New("file-empty")
	}
	if len(file) > lim.bytes {
		return nil, nil, tooManyBytes(len(file), lim)
	}
	f, err := formatOf(name, file)
	if err != nil {
		return nil, nil, err
	}
	in, err := f.parse(file, lim)
	if err != nil {
		return nil, nil, err
	}
	warnings := append(nameWarning(f, name), in.warnings...)
	turn := in.orientation > 1
	if turn {
		if err := turnJPEG(in); err != nil {
			return nil, warnings, err
		}
	}
	if len(in.bytes) > lim.bytes {
		return nil, warnings, tooManyBytes(len(in.bytes), lim)
	}
	sum := sha256.Sum256(in.bytes)
	p := &Picture{
		File:     File{in.bytes, hex.EncodeToString(sum[:]), f.ext, in.width, in.height},
		Animated: in.animated, format: f, colour: in.colour,
	}
	if turn {
		return p, warnings, nil // decoded just now
	}
	p.pixels, err = f.decode(p.Bytes)
	if err != nil {
		return nil, warnings, damaged(err)
	}
	if p.Animated {
		p.Release()
	}
	return p, warnings, nil
}

// Release frees the decoded pixels of a picture whose variants are not needed.
func (p *Picture) Release() { p.pixels = nil }

// CheckSize returns the error of a file of n bytes that is too large to be read at all.
func CheckSize(n int64) error {
	if n > MaxBytes {
		return tooManyBytes(int(n), published)
	}
	return nil
}

func tooManyBytes(n int, lim limits) error {
	return problem.New("picture-too-heavy", float64(n)/(1<<20), float64(lim.bytes)/(1<<20))
}

// check is called with the size from a header, before memory is allocated.
func (lim limits) check(width, height int) error {
	if width <= 0 || height <= 0 {
		return problem.New("picture-no-pixels")
	}
	if width > lim.pixels/height {
		return problem.New("picture-too-large", width, height, float64(lim.pixels)/1e6)
	}
	return nil
}

var errCutOff = problem.New("picture-cut-off")

// damaged is the sentence for an error of a decoder.
func damaged(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return errCutOff
	}
	how := problem.New("is-damaged")
	if errors.As(err, new(jpeg.UnsupportedError)) || errors.As(err, new(png.UnsupportedError)) {
		how = problem.New("is-unreadable")
	}
	return problem.New("picture-broken", how, err)
}
