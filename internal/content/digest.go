package content

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
)

// A Digest identifies what Read looks at in a folder.
type Digest struct {
	// Content is that of all names and bytes.
	Content [sha256.Size]byte
	// Stamps is that of all sizes and times of change. A folder that changed and was
	// changed back has the same Content.
	Stamps [sha256.Size]byte
}

// DigestOf returns the digest of a folder whose files have at least a number of bytes. It
// returns the zero value for a smaller one, and for one in which something cannot be read
// as a file (see PartError). elsewhere is as in Options.
func DigestOf(ctx context.Context, root *os.Root, least int64, elsewhere map[string]string) (d Digest, err error) {
	parts, err := Parts(root.FS())
	if _, ok := errors.AsType[*PartError](err); ok {
		return d, nil
	}
	if err != nil {
		return d, err
	}
	var size int64
	stamps := sha256.New()
	for i := range parts {
		p := &parts[i]
		size += p.Size
		writeText(stamps, p.Path)
		writeNumbers(stamps, p.FileSize, p.ModTime.Unix(), int64(p.ModTime.Nanosecond()))
	}
	if size < least {
		return d, nil
	}
	pieces := piecesOf(parts)
	sums := make([][sha256.Size]byte, len(pieces))
	failures := make([]error, runtime.GOMAXPROCS(0))
	var next atomic.Int64
	var workers sync.WaitGroup
	for i := range failures {
		workers.Go(func() {
			h := digester{root: root, elsewhere: elsewhere, sum: sha256.New(), buf: make([]byte, 256<<10)}
			for failures[i] == nil {
				n := int(next.Add(1)) - 1
				if n >= len(pieces) {
					return
				}
				if failures[i] = ctx.Err(); failures[i] == nil {
					sums[n], failures[i] = h.piece(&pieces[n])
				}
			}
		})
	}
	workers.Wait()
	if err := errors.Join(failures...); err != nil {
		if ctx.Err() != nil {
			return d, ctx.Err()
		}
		return d, nil // Read reports what is wrong with the file
	}
	all := sha256.New()
	for i := range sums {
		all.Write(sums[i][:])
	}
	all.Sum(d.Content[:0])
	stamps.Sum(d.Stamps[:0])
	return d, nil
}

// A piece is what one worker hashes at once: several small files, or a range of a large
// one.
type piece struct {
	parts  []Part
	offset int64 // of the range
}

// pieceBytes is the size of a piece, but for its last file. Every digest depends on it.
const pieceBytes = 4 << 20

func piecesOf(parts []Part) (pieces []piece) {
	var size int64
	first := 0
	flush := func(end int) {
		if first < end {
			pieces = append(pieces, piece{parts: parts[first:end]})
		}
		first, size = end, 0
	}
	for i := range parts {
		p := &parts[i]
		if !p.IsPicture && p.Size > pieceBytes {
			flush(i)
			for at := int64(0); at < p.Size; at += pieceBytes {
				pieces = append(pieces, piece{parts[i : i+1], at})
			}
			first = i + 1
			continue
		}
		if size += p.Size; size >= pieceBytes {
			flush(i + 1)
		}
	}
	flush(len(parts))
	return pieces
}

// A digester hashes pieces, one at a time.
type digester struct {
	root      *os.Root
	elsewhere map[string]string
	sum       hash.Hash
	buf       []byte
}

func (h *digester) piece(p *piece) (sum [sha256.Size]byte, err error) {
	h.sum.Reset()
	for i := range p.parts {
		part := &p.parts[i]
		writeText(h.sum, part.Path)
		switch {
		case part.IsFolder:
			writeText(h.sum, "folder")
		case part.IsPicture:
			err = h.picture(part)
		default:
			writeText(h.sum, "file")
			writeNumbers(h.sum, part.Size, p.offset)
			err = h.file(h.sum, part, p.offset, min(part.Size-p.offset, pieceBytes))
		}
		if err != nil {
			return sum, err
		}
	}
	h.sum.Sum(sum[:0])
	return sum, nil
}

// picture hashes the SHA-256 of a picture, which is all that is known of one elsewhere.
func (h *digester) picture(p *Part) error {
	source, isElsewhere := h.elsewhere[p.Path]
	if !isElsewhere {
		sum := sha256.New()
		if err := h.file(sum, p, 0, p.Size); err != nil {
			return err
		}
		source = hex.EncodeToString(sum.Sum(nil))
	}
	writeText(h.sum, source)
	return nil
}

// file hashes a range of a file.
func (h *digester) file(sum hash.Hash, p *Part, offset, length int64) error {
	if length == 0 {
		return nil
	}
	file, err := h.root.Open(p.Path)
	if err != nil {
		return err
	}
	defer file.Close()
	n, err := io.CopyBuffer(sum, struct{ io.Reader }{io.NewSectionReader(file, offset, length)}, h.buf)
	if err == nil && n < length {
		err = io.ErrUnexpectedEOF
	}
	return err
}

func writeText(sum hash.Hash, s string) {
	writeNumbers(sum, int64(len(s)))
	io.WriteString(sum, s) //nolint:errcheck // a hash never fails
}

func writeNumbers(sum hash.Hash, all ...int64) {
	var b [8]byte
	for _, n := range all {
		binary.BigEndian.PutUint64(b[:], uint64(n)) //nolint:gosec // any bits will do
		sum.Write(b[:])
	}
}
