package remote

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/klauspost/compress/zstd"

	"palmares/internal/web"
)

// maxWindow bounds the memory that a stream can make the decoder use. It is what zstd
// allows every decoder to require.
const maxWindow = 8 << 20

// unpack fills an empty folder from a stream. It returns a web.Error for what is wrong with the
// stream, and the checksums of the pictures that the client did not send, by path: their files in the
// folder are empty. isKnown reports whether the server has a picture.
func unpack(
	dir string, stream io.Reader, lim limits, isKnown func(sum string) bool,
) (elsewhere map[string]string, err error) {
	decoder, err := zstd.NewReader(stream, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, err
	}
	defer decoder.Close()
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	x := &unpacking{root: root, left: lim.bytes, isKnown: isKnown, elsewhere: map[string]string{}}
	if err := x.unpackTar(decoder, lim); err != nil {
		return nil, err
	}
	// The decoder takes any end between two frames for the end of the body.
	if _, err := io.ReadFull(stream, make([]byte, 1)); !errors.Is(err, io.EOF) {
		return nil, broken(err)
	}
	return x.elsewhere, nil
}

func (x *unpacking) unpackTar(stream io.Reader, lim limits) error {
	unpacked := &io.LimitedReader{R: stream, N: lim.stream + 1}
	tail := &tailReader{in: unpacked}
	archive := tar.NewReader(tail)
	for entries := 0; ; entries++ {
		header, err := archive.Next()
		switch {
		case unpacked.N <= 0 || entries >= lim.entries && err == nil:
			return tooLarge(lim)
		case errors.Is(err, io.EOF):
			// To the end of the stream, where its checksum is.
			_, err := io.Copy(io.Discard, tail)
			switch {
			case unpacked.N <= 0:
				return tooLarge(lim)
			case err != nil || tail.zeros < tarEnd:
				return broken(err)
			}
			return nil
		case err != nil:
			return broken(err)
		}
		if header.Size > x.left {
			return tooLarge(lim)
		}
		if err := x.add(header, archive); err != nil {
			if unpacked.N <= 0 {
				return tooLarge(lim)
			}
			return err
		}
	}
}

// tarEnd is how many zeros end a tar stream. The reader of the standard library does
// without them, and would take a stream that was cut between two files for a whole one.
const tarEnd = 1024

// A tailReader counts the zeros at the end of what was read.
type tailReader struct {
	in    io.Reader
	zeros int
}

func (r *tailReader) Read(b []byte) (int, error) {
	n, err := r.in.Read(b)
	text := len(bytes.TrimRight(b[:n], "\x00"))
	if text > 0 {
		r.zeros = 0
	}
	r.zeros += n - text
	return n, err
}

// unpacking is the state of one call of unpack.
type unpacking struct {
	root      *os.Root
	left      int64 // bytes that may still come
	isKnown   func(string) bool
	elsewhere map[string]string // see unpack
}

func (x *unpacking) add(header *tar.Header, content io.Reader) error {
	name := strings.TrimSuffix(header.Name, "/")
	if !isUploadName(name) {
		return invalidEntry(header.Name, "is not a path inside the folder")
	}
	var err error
	switch header.Typeflag {
	case tar.TypeDir:
		err = x.root.Mkdir(name, 0o700)
	case tar.TypeReg:
		err = x.addFile(name, header, content)
	default:
		return invalidEntry(name, "is neither a file nor a folder")
	}
	switch {
	case errors.Is(err, fs.ErrExist):
		return invalidEntry(name, "comes twice")
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
		return invalidEntry(name, "comes before its folder")
	case errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT):
		return newError(web.CodeNoSpace, noSpaceText)
	}
	return err
}

const noSpaceText = "the server has no space left for the folder: ask its operator to free some and try again; " +
	"nothing was changed"

func (x *unpacking) addFile(name string, header *tar.Header, content io.Reader) (err error) {
	if sum := header.PAXRecords[checksumRecord]; sum != "" {
		switch {
		case header.Size != 0:
			return invalidEntry(name, "has a checksum and content; it must have one of the two")
		case !x.isKnown(sum):
			return newError(web.CodeConflict, fmt.Sprintf("the server no longer has the picture %s: "+
				"publish again; nothing was changed", name))
		}
		x.elsewhere[name] = sum
	}
	file, err := x.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	n, err := io.Copy(file, content)
	x.left -= n
	if _, ours := errors.AsType[*fs.PathError](err); err != nil && !ours {
		return broken(err)
	}
	return err
}

// isUploadName reports whether name may be created: a relative path that every system
// takes for one, and not too long.
func isUploadName(name string) bool {
	const mostPath, mostName = 1000, 255
	return name != "." && fs.ValidPath(name) && filepath.IsLocal(filepath.FromSlash(name)) && len(name) <= mostPath &&
		!strings.ContainsRune(name, 0) && !slices.ContainsFunc(strings.Split(name, "/"), func(s string) bool { return len(s) > mostName })
}

func invalidEntry(name, what string) error {
	return newError(web.CodeInvalidUpload, fmt.Sprintf("%q in the upload %s; nothing was changed",
		web.Shorten(name), what))
}

func tooLarge(lim limits) error {
	return newError(web.CodePayloadTooLarge, fmt.Sprintf("the folder holds more than %d MiB or %d files: "+
		"publish it on the server itself, or scale down its pictures; nothing was changed", lim.bytes>>20, lim.entries))
}

// broken returns the error of a stream that cannot be read to its end.
func broken(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return newError(web.CodeInvalidUpload, "the upload stalled and was cut off: publish again; "+
			"nothing was changed")
	}
	if errors.Is(err, zstd.ErrWindowSizeExceeded) || errors.Is(err, zstd.ErrDecoderSizeExceeded) {
		return newError(web.CodeInvalidUpload, "the upload needs more memory to unpack than is allowed; "+
			"nothing was changed")
	}
	return newError(web.CodeInvalidUpload, "the upload is broken or incomplete: publish again; nothing was changed")
}
