package content

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"palmares/internal/picture"
	"palmares/internal/problem"
)

// Pictures holds the bytes of the pictures of a folder that the store does not have yet, with their variants, in
// memory or in a temporary file, which on most systems has no name, so that nothing is left behind whatever happens.
type Pictures struct {
	inMemory map[string][]byte // by name; nil for those in a file
	file     *os.File          // nil until there is something
	size     int64
	places   map[string]place
}

type place struct{ offset, length int64 }

func (p *Pictures) add(f picture.File) error {
	if p.inMemory != nil {
		p.inMemory[f.Name] = f.Bytes
		return nil
	}
	if _, known := p.places[f.Name]; known {
		return nil
	}
	if p.file == nil {
		file, err := os.CreateTemp("", "palmares-pictures-")
		if err != nil {
			return problem.Wrap(err, "temporary-file", err)
		}
		_ = os.Remove(file.Name()) // where that fails, Close removes it
		p.file, p.places = file, map[string]place{}
	}
	if _, err := p.file.WriteAt(f.Bytes, p.size); err != nil {
		return problem.Wrap(err, "temporary-file-full", os.TempDir(), err)
	}
	p.places[f.Name] = place{p.size, int64(len(f.Bytes))}
	p.size += int64(len(f.Bytes))
	return nil
}

// Read returns the bytes of a picture or variant by the name of its file.
func (p *Pictures) Read(_ context.Context, name string) ([]byte, error) {
	if content, ok := p.inMemory[name]; ok {
		return content, nil
	}
	at, ok := p.places[name]
	if !ok {
		return nil, problem.New("no-new-picture", name)
	}
	content := make([]byte, at.length)
	_, err := p.file.ReadAt(content, at.offset)
	return content, err
}

// Close removes the temporary file. It may be called twice.
func (p *Pictures) Close() error {
	p.places = nil
	if p.file == nil {
		return nil
	}
	name := p.file.Name()
	err := p.file.Close()
	if removal := os.Remove(name); removal != nil && !errors.Is(removal, fs.ErrNotExist) {
		err = errors.Join(err, removal)
	}
	p.file = nil
	return err
}
