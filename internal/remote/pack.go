package remote

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"

	"github.com/klauspost/compress/zstd"

	"palmares/internal/content"
	"palmares/internal/publication"
)

// A packer writes a folder as a stream.
type packer struct {
	root   *os.Root
	parts  []content.Part
	name   string // of the folder in messages
	sink   publication.Sink
	byPath map[string]string // checksums of pictures
	lacked map[string]bool   // checksums of pictures that must be sent

	sent, total int64 // bytes of files
}

// findPictures computes the checksums of the pictures.
func (p *packer) findPictures() error {
	p.byPath = map[string]string{}
	for _, part := range p.parts {
		if !part.IsPicture {
			continue
		}
		sum := sha256.New()
		if err := p.copy(sum, part); err != nil {
			return err
		}
		p.byPath[part.Path] = hexSum(sum)
	}
	return nil
}

func hexSum(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }

// isSent reports whether the content of a part is part of the stream.
func (p *packer) isSent(part content.Part) bool {
	return !part.IsPicture || p.lacked[p.byPath[part.Path]]
}

func (p *packer) pack(to io.Writer) (err error) {
	for _, part := range p.parts {
		if p.isSent(part) {
			p.total += part.Size
		}
	}
	encoder, err := zstd.NewWriter(to, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(maxWindow))
	if err != nil {
		return err
	}
	archive := tar.NewWriter(encoder)
	for _, part := range p.parts {
		if err := p.add(archive, part); err != nil {
			return err // the stream stays without an end
		}
	}
	return errors.Join(archive.Close(), encoder.Close())
}

func (p *packer) add(archive *tar.Writer, part content.Part) error {
	header := &tar.Header{Name: part.Path, Typeflag: tar.TypeReg, Mode: 0o600, Size: part.Size, Format: tar.FormatPAX}
	switch {
	case part.IsFolder:
		header.Name, header.Typeflag, header.Mode = part.Path+"/", tar.TypeDir, 0o700
		return archive.WriteHeader(header)
	case !p.isSent(part):
		header.Size, header.PAXRecords = 0, map[string]string{checksumRecord: p.byPath[part.Path]}
		return archive.WriteHeader(header)
	}
	if err := archive.WriteHeader(header); err != nil {
		return err
	}
	sum := sha256.New()
	if err := p.copy(io.MultiWriter(archive, sum), part); err != nil {
		return err
	}
	if part.IsPicture && hexSum(sum) != p.byPath[part.Path] {
		return p.changed(part)
	}
	p.sent += part.Size
	p.sink.Progress("sending", int(p.sent), int(p.total))
	return nil
}

// copy writes the part of a file that is sent. The file must be as it was when the
// folder was listed, before and after.
func (p *packer) copy(to io.Writer, part content.Part) error {
	if part.Size == 0 {
		return nil
	}
	file, err := p.root.Open(part.Path)
	if err != nil {
		return &content.PartError{Path: part.Path, Err: err}
	}
	defer file.Close()
	if err := p.check(file, part); err != nil {
		return err
	}
	n, err := io.Copy(to, io.LimitReader(file, part.Size))
	switch {
	case err != nil:
		if _, ours := errors.AsType[*fs.PathError](err); ours {
			return &content.PartError{Path: part.Path, Err: err}
		}
		return err
	case n != part.Size:
		return p.changed(part)
	}
	return p.check(file, part)
}

func (p *packer) check(file *os.File, part content.Part) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if info.Size() != part.FileSize || !info.ModTime().Equal(part.ModTime) {
		return p.changed(part)
	}
	return nil
}

func (p *packer) changed(part content.Part) error {
	return fmt.Errorf("%s in %s changed while it was being sent: publish again; nothing was published",
		part.Path, p.name)
}
