package content

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
)

// A spool keeps bytes in a temporary file, which on most systems has no name, so that
// nothing is left behind whatever happens. The zero value is empty. It is safe for
// concurrent use until it is closed.
type spool struct {
	mu   sync.Mutex
	file *os.File // nil until there is something
	size int64
}

type place struct{ offset, length int64 }

// add adds bytes. what names them in errors.
func (s *spool) add(b []byte, what string) (place, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		file, err := os.CreateTemp("", "palmares-"+what+"-")
		if err != nil {
			return place{}, fmt.Errorf("a temporary file for %s cannot be created: %w", what, err)
		}
		_ = os.Remove(file.Name()) // where that fails, close removes it
		s.file = file
	}
	if _, err := s.file.WriteAt(b, s.size); err != nil {
		return place{}, fmt.Errorf("the temporary file for %s cannot be written: free some space in %s, "+
			"or set TMPDIR to another folder (%w)", what, os.TempDir(), err)
	}
	at := place{s.size, int64(len(b))}
	s.size += at.length
	return at, nil
}

func (s *spool) read(at place) ([]byte, error) {
	b := make([]byte, at.length)
	_, err := s.file.ReadAt(b, at.offset)
	return b, err
}

// close removes the file. It may be called twice.
func (s *spool) close() error {
	if s.file == nil {
		return nil
	}
	name := s.file.Name()
	err := s.file.Close()
	if removal := os.Remove(name); removal != nil && !errors.Is(removal, fs.ErrNotExist) {
		err = errors.Join(err, removal)
	}
	s.file = nil
	return err
}
