package search

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"

	"palmares/internal/catalog"
)

// An index can be kept in a file: a million tools take seconds to read from there, and half
// a minute of a processor to index. The file has the identity of what was indexed, the fields of the
// index, each with its length, and a checksum.

var (
	// ErrOther means that a file has the index of another catalogue.
	ErrOther = errors.New("the file has the index of another catalogue")

	errDamaged = errors.New("the file is damaged")
)

// fileFields calls field with pointers to all that a file has of an index.
func (x *Index) fileFields(field func(any) error) error {
	for _, l := range []*lexicon{&x.forms, &x.stems, &x.roots, &x.names} {
		for _, p := range []any{&l.text, &l.ends, &l.shared} {
			if err := field(p); err != nil {
				return err
			}
		}
	}
	for _, p := range []any{
		&x.termOf, &x.used, &x.kinStart, &x.kin, &x.start, &x.docs, &x.weight, &x.inHeadings,
		&x.nameOf, &x.nameEnds, &x.boost, &x.pricing, &x.monthly,
	} {
		if err := field(p); err != nil {
			return err
		}
	}
	return nil
}

// Write writes the index, for Read. identity says what was indexed, and by which program.
func (x *Index) Write(to io.Writer, identity string) error {
	w := fileWriter{to: bufio.NewWriterSize(to, 1<<20), sum: crc32.New(crc32.MakeTable(crc32.Castagnoli))}
	err := errors.Join(w.field(&identity), w.field(&[]uint32{uint32(x.reviews)}), x.fileFields(w.field))
	if err != nil {
		return err
	}
	if err := binary.Write(w.to, binary.LittleEndian, w.sum.Sum32()); err != nil {
		return err
	}
	return w.to.Flush()
}

// A fileWriter writes fields and sums up what it writes.
type fileWriter struct {
	to  *bufio.Writer
	sum hash.Hash32
	buf []byte
}

func (w *fileWriter) write(b []byte) error {
	w.sum.Write(b)
	_, err := w.to.Write(b)
	return err
}

func (w *fileWriter) field(p any) error {
	switch p := p.(type) {
	case *string:
		return errors.Join(w.length(len(*p)), writeParts(w, []byte(*p)))
	case *[]uint8:
		return errors.Join(w.length(len(*p)), writeParts(w, *p))
	case *[]uint32:
		return errors.Join(w.length(len(*p)), writeParts(w, *p))
	case *[]uint64:
		return errors.Join(w.length(len(*p)), writeParts(w, *p))
	case *[]float32:
		return errors.Join(w.length(len(*p)), writeParts(w, *p))
	}
	panic(fmt.Sprintf("search: a file cannot have a %T", p))
}

func (w *fileWriter) length(n int) error {
	return w.write(binary.LittleEndian.AppendUint64(nil, uint64(n)))
}

// filePart is how many elements are converted at a time.
const filePart = 1 << 16

func writeParts[T any](w *fileWriter, all []T) (err error) {
	for len(all) > 0 && err == nil {
		n := min(filePart, len(all))
		if w.buf, err = binary.Append(w.buf[:0], binary.LittleEndian, all[:n]); err == nil {
			err = w.write(w.buf)
		}
		all = all[n:]
	}
	return err
}

// IsOf reports whether a file that Write wrote has that identity.
func IsOf(from io.Reader, identity string) bool {
	r := newFileReader(from, int64(8+len(identity)))
	var found string
	return r.field(&found) == nil && found == identity
}

// Read returns the index of c from a file of the given size that Write wrote with the same
// identity. The error is ErrOther if that file has another one.
func Read(from io.Reader, size int64, identity string, c *catalog.Catalog) (*Index, error) {
	r := newFileReader(from, size)
	var found string
	var reviews []uint32
	if err := r.field(&found); err != nil {
		return nil, err
	}
	if found != identity {
		return nil, ErrOther
	}
	x := &Index{tools: c.Tools, categories: categoryTexts(c), labels: labelWords(c)}
	x.workspaces.New = x.newWorkspace
	if err := errors.Join(r.field(&reviews), x.fileFields(r.field)); err != nil {
		return nil, err
	}
	var sum uint32
	if err := binary.Read(r.from, binary.LittleEndian, &sum); err != nil {
		return nil, err
	}
	if sum != r.sum.Sum32() || len(reviews) != 1 || len(x.boost) != len(c.Tools) {
		return nil, errDamaged
	}
	x.reviews = int(reviews[0])
	return x, nil
}

// A fileReader reads fields and sums up what it reads.
type fileReader struct {
	from *bufio.Reader
	rest int64 // bytes of the file
	sum  hash.Hash32
	buf  []byte
}

func newFileReader(from io.Reader, size int64) *fileReader {
	return &fileReader{from: bufio.NewReaderSize(from, 1<<20), rest: size, sum: crc32.New(crc32.MakeTable(crc32.Castagnoli))}
}

// read returns the next n bytes, until it is called again.
func (r *fileReader) read(n int) ([]byte, error) {
	if r.rest -= int64(n); r.rest < 0 {
		return nil, errDamaged
	}
	if cap(r.buf) < n {
		r.buf = make([]byte, n)
	}
	b := r.buf[:n]
	if _, err := io.ReadFull(r.from, b); err != nil {
		return nil, err
	}
	r.sum.Write(b)
	return b, nil
}

func (r *fileReader) field(p any) (err error) {
	switch p := p.(type) {
	case *string:
		var text []byte
		text, err = readParts[uint8](r)
		*p = string(text)
	case *[]uint8:
		*p, err = readParts[uint8](r)
	case *[]uint32:
		*p, err = readParts[uint32](r)
	case *[]uint64:
		*p, err = readParts[uint64](r)
	case *[]float32:
		*p, err = readParts[float32](r)
	}
	return err
}

func readParts[T any](r *fileReader) ([]T, error) {
	b, err := r.read(8)
	if err != nil {
		return nil, err
	}
	size := int64(binary.Size(*new(T)))
	n := binary.LittleEndian.Uint64(b)
	if n > uint64(r.rest/size) {
		return nil, errDamaged
	}
	all := make([]T, n)
	for rest := all; len(rest) > 0; {
		part := rest[:min(filePart, len(rest))]
		b, err := r.read(len(part) * int(size))
		if err != nil {
			return nil, err
		}
		if _, err := binary.Decode(b, binary.LittleEndian, part); err != nil {
			return nil, err
		}
		rest = rest[len(part):]
	}
	return all, nil
}
